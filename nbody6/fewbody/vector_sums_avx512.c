/* Sums by AVX-512; compiled with the flags of that instruction set, or else without functions. */
#include "nbody6/fewbody/vector_sums.h"

extern const struct nb6_vector_sums nb6_vector_sums_avx512;

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "nbody6/fewbody/vector_sums_kernel.h"

const struct nb6_vector_sums nb6_vector_sums_avx512 = {add_tides, add_pulls, add_potentials, set_forces};
#else
const struct nb6_vector_sums nb6_vector_sums_avx512 = {0};
#endif
