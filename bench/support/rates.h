/** Loops of multiply-adds in the vectors of each backend on processors.
 *  @param[out] keep  a sum of all, which is to be used   @return multiply-adds that were made */
#ifndef BENCH_RATES_H
#define BENCH_RATES_H

double rates_multiply_adds_avx512(int turns, float *keep);
double rates_multiply_adds_avx2(int turns, float *keep);
double rates_multiply_adds_portable(int turns, float *keep);

#endif
