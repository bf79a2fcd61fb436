/* Portable kernels: vectors of 16 bytes, compiled for the baseline of the platform. */
#include "gpunb/backend.h"
#include "gpunb/cpu/cpu.h"
#include "gpunb/cpu/regular.h"

#include "gpunb/cpu/simd_portable.h"

#include "gpunb/cpu/kernel_cpu.h"
#include "gpunb/cpu/kernel_curve.h"
#include "gpunb/cpu/kernel_local.h"
#include "gpunb/cpu/kernel_moving.h"
#include "gpunb/cpu/kernel_mutual.h"
#include "gpunb/cpu/kernel_pack.h"
#include "gpunb/cpu/kernel_pot.h"
#include "gpunb/cpu/kernel_predict.h"
#include "gpunb/cpu/kernel_series.h"
#include "gpunb/cpu/kernel_softened.h"
#include "gpunb/cpu/kernel_tile.h"

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
    .add_series = add_series,
    .softened = softened,
    .pack = pack,
    .predict = predict,
};

static const struct gpunb_tree_method tree = GPUNB_CPU_TREE(add_terms, add_bodies, add_locals, add_field, add_moving);

const struct gpunb_backend gpunb_backend_portable = {
    .name = "portable",
    .description = "any processor, 4 floats at a time",
    .ns_per_pair = 2.0,
    GPUNB_CPU_OPS(kernels, tree, why_unavailable),
};
