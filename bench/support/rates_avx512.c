#include "bench/support/rates.h"

#include "gpunb/cpu/simd_avx512.h"

#include "bench/support/rates_kernel.h"

double rates_multiply_adds_avx512(int turns, float *keep)
{
    return make_multiply_adds(turns, keep);
}
