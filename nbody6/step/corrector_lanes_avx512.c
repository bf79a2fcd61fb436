/* Lanes by AVX-512; compiled with the flags of that instruction set, or else without functions. */
#include "nbody6/step/corrector_lanes.h"

extern const struct nb6_corrector_lane_set nb6_corrector_lanes_avx512;

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "nbody6/step/corrector_lanes_kernel.h"

const struct nb6_corrector_lane_set nb6_corrector_lanes_avx512 = {predict, correct, choose};
#else
const struct nb6_corrector_lane_set nb6_corrector_lanes_avx512 = {0};
#endif
