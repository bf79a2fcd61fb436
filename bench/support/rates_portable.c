#include "bench/support/rates.h"

#include "gpunb/cpu/simd_portable.h"

#include "bench/support/rates_kernel.h"

double rates_multiply_adds_portable(int turns, float *keep)
{
    return make_multiply_adds(turns, keep);
}
