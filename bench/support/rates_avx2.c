#include "bench/support/rates.h"

#include "gpunb/cpu/simd_avx2.h"

#include "bench/support/rates_kernel.h"

double rates_multiply_adds_avx2(int turns, float *keep)
{
    return make_multiply_adds(turns, keep);
}
