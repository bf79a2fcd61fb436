/* Sums for any processor, and the choice among all. */
#include "nbody6/fewbody/vector_sums_kernel.h"

#include "common/nbc.h"

#include <stddef.h>

static const struct nb6_vector_sums baseline = {add_tides, add_pulls, add_potentials, set_forces};
#if defined(__x86_64__)
extern const struct nb6_vector_sums nb6_vector_sums_avx2, nb6_vector_sums_avx512;
static const struct nb6_vector_sums *const sets[] = {
    [NBC_ISA_BASELINE] = &baseline, [NBC_ISA_AVX2] = &nb6_vector_sums_avx2, [NBC_ISA_AVX512] = &nb6_vector_sums_avx512};
#else
static const struct nb6_vector_sums *const sets[] = {[NBC_ISA_BASELINE] = &baseline};
#endif

enum { LEVELS = (int)(sizeof sets / sizeof sets[0]) };

const struct nb6_vector_sums *nb6_vector_sums_of(enum nbc_isa level)
{
    const int is_there = (int)level < LEVELS && sets[level]->add_tides && !nbc_isa_missing(level);
    return is_there ? sets[level] : NULL;
}

const struct nb6_vector_sums *nb6_vector_sums_best(void)
{
    for (int level = LEVELS - 1; level > NBC_ISA_BASELINE; level--)
        if (nb6_vector_sums_of((enum nbc_isa)level)) return sets[level];
    return &baseline;
}
