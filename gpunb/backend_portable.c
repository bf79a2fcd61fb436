/* Portable kernels: vectors of 16 bytes, compiled for the baseline of the platform. */
#include "gpunb/backend.h"
#include "gpunb/cpu.h"

#include "gpunb/simd_portable.h"

#include "gpunb/kernel_cpu.h"
#include "gpunb/kernel_curve.h"
#include "gpunb/kernel_mutual.h"
#include "gpunb/kernel_pack.h"
#include "gpunb/kernel_pot.h"
#include "gpunb/kernel_predict.h"
#include "gpunb/kernel_softened.h"
#include "gpunb/kernel_tile.h"

static const char *why_unavailable(void)
{
    return "";
}

static const struct gpunb_cpu_kernels kernels = {
    .block = SIMD_BLOCK,
    .worth_tiles = 128,
    .regf_block = regf_block,
    .regf_one = regf_one,
    .regf_tiles = regf_tiles,
    .regf_mutual = regf_mutual,
    .mutual_unit = mr3_unit,
    .put_in_order = put_in_order,
    .curve = curve,
    .potential = potential,
    .softened = softened,
    .pack = pack,
    .predict = predict,
};

const struct gpunb_backend gpunb_backend_portable = {
    .name = "portable",
    .description = "any processor, 4 floats at a time",
    .ns_per_pair = 2.0,
    GPUNB_CPU_OPS(kernels, why_unavailable),
};
