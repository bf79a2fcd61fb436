/* Sums by AVX2 and FMA; compiled with the flags of that instruction set, or else without functions. */
#include "nbody6/fewbody/vector_sums.h"

extern const struct nb6_vector_sums nb6_vector_sums_avx2;

#if defined(__AVX2__) && defined(__FMA__)
#include "nbody6/fewbody/vector_sums_kernel.h"

const struct nb6_vector_sums nb6_vector_sums_avx2 = {add_tides, add_pulls, add_potentials, set_forces};
#else
const struct nb6_vector_sums nb6_vector_sums_avx2 = {0};
#endif
