/* Multiply-adds as fast as a processor makes them, in vectors of simd_*.h, which is included before: chains that do not
 * wait for each other, as many as hide the latency of one. */
#ifndef BENCH_RATES_KERNEL_H
#define BENCH_RATES_KERNEL_H

enum { RATES_CHAINS = 12 };

/* @return multiply-adds that were made; *keep: a sum of all, so that none is left out */
static inline double make_multiply_adds(int turns, float *keep)
{
    vf chain[RATES_CHAINS];
    const vf factor = vf_set1(0.999f), more = vf_set1(0.001f);
    for (int c = 0; c < RATES_CHAINS; c++) chain[c] = vf_set1((float)c);
    for (int t = 0; t < turns; t++) {
#pragma GCC unroll 12
        for (int c = 0; c < RATES_CHAINS; c++) chain[c] = vf_fma(chain[c], factor, more);
    }
    _Alignas(64) float lane[SIMD_W];
    for (int c = 0; c < RATES_CHAINS; c++) {
        vf_store(lane, chain[c]);
        for (int l = 0; l < SIMD_W; l++) *keep += lane[l];
    }
    return (double)turns * RATES_CHAINS * SIMD_W;
}

#endif
