/* AVX-512; compiled with the flags of that instruction set, or else only a row that reports it as absent. */
#include "gpuirr/backend.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__FMA__)

#include "gpuirr/cpu/simd_avx512.h"

#include "gpuirr/cpu/kernel.h"

static const char *missing(void)
{
    return nbc_isa_missing(NBC_ISA_AVX512);
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

const struct gpuirr_backend gpuirr_backend_avx512 = {
    .name = "avx512",
    .description = "AVX-512, 16 floats at a time",
    .ns_per_pair = 3,
    .missing = missing,
    GPUIRR_COMPACT_OPS,
    .predict = predict_range,
    .forces = forces,
};
