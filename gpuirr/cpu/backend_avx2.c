/* AVX2 and FMA; compiled with the flags of that instruction set, or else only a row that reports it as absent. */
#include "gpuirr/backend.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpuirr/cpu/simd_avx2.h"

#include "gpuirr/cpu/kernel.h"

static const char *missing(void)
{
    return nbc_isa_missing(NBC_ISA_AVX2);
}

#else

#include "gpuirr/cpu/compact.h"

static const char *missing(void)
{
    return "not compiled in";
}

#define predict_range NULL
#define forces NULL

#endif

const struct gpuirr_backend gpuirr_backend_avx2 = {
    .name = "avx2",
    .description = "AVX2, 8 floats at a time",
    .ns_per_pair = 3.5,
    .missing = missing,
    GPUIRR_COMPACT_OPS,
    .predict = predict_range,
    .forces = forces,
};
