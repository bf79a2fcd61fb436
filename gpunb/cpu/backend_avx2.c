/* AVX2 with FMA kernels; compiled with the flags of that instruction set, or else only a row that reports it as
 * absent. */
#include "gpunb/backend.h"
#include "gpunb/cpu/cpu.h"
#include "gpunb/cpu/regular.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpunb/cpu/simd_avx2.h"

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
    const char *missing = nbc_isa_missing(NBC_ISA_AVX2);
    return missing ? missing : "";
}

static const struct gpunb_cpu_kernels kernels = {
    .block = SIMD_BLOCK,
    .worth_tiles = 256,
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

#else

static const char *why_unavailable(void)
{
    return "not compiled in";
}

static const struct gpunb_cpu_kernels kernels;
static const struct gpunb_tree_method tree;

#endif

const struct gpunb_backend gpunb_backend_avx2 = {
    .name = "avx2",
    .description = "AVX2 and FMA, 8 floats at a time",
    .ns_per_pair = 0.85,
    GPUNB_CPU_OPS(kernels, tree, why_unavailable),
};
