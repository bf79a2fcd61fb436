/* Lanes by AVX2; compiled with the flags of that instruction set, or else without functions. */
#include "nbody6/step/corrector_lanes.h"

extern const struct nb6_corrector_lane_set nb6_corrector_lanes_avx2;

#if defined(__AVX2__) && defined(__FMA__)
#include "nbody6/step/corrector_lanes_kernel.h"

const struct nb6_corrector_lane_set nb6_corrector_lanes_avx2 = {predict, correct, choose};
#else
const struct nb6_corrector_lane_set nb6_corrector_lanes_avx2 = {0};
#endif
