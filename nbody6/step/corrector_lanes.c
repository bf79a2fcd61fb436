/* Lanes for any processor, and the choice among all. */
#include "nbody6/step/corrector_lanes_kernel.h"

#include <stddef.h>

static const struct nb6_corrector_lane_set baseline = {predict, correct, choose};
#if defined(__x86_64__)
extern const struct nb6_corrector_lane_set nb6_corrector_lanes_avx2, nb6_corrector_lanes_avx512;
static const struct nb6_corrector_lane_set *const sets[] = {[NBC_ISA_BASELINE] = &baseline,
                                                            [NBC_ISA_AVX2] = &nb6_corrector_lanes_avx2,
                                                            [NBC_ISA_AVX512] = &nb6_corrector_lanes_avx512};
#else
static const struct nb6_corrector_lane_set *const sets[] = {[NBC_ISA_BASELINE] = &baseline};
#endif

enum { LEVELS = (int)(sizeof sets / sizeof sets[0]) };

const struct nb6_corrector_lane_set *nb6_corrector_lanes_of(enum nbc_isa level)
{
    const int is_there = (int)level < LEVELS && sets[level]->predict && !nbc_isa_missing(level);
    return is_there ? sets[level] : NULL;
}

const struct nb6_corrector_lane_set *nb6_corrector_lanes_best(void)
{
    for (int level = LEVELS - 1; level > NBC_ISA_BASELINE; level--)
        if (nb6_corrector_lanes_of((enum nbc_isa)level)) return sets[level];
    return &baseline;
}
