/* SIMD backends: a target of a block, packed, and its results. */
#include "gpunb/cpu/target.h"

#include <math.h>

void gpunb_cpu_pack_target(const struct gpunb_cpu_state *cpu, const struct gpunb_block *block, size_t i,
                           struct gpunb_target *target)
{
    for (int k = 0; k < 3; k++) {
        gpunb_split(block->x[i][k], &target->xh[k], &target->xl[k]);
        target->x[k] = (double)target->xh[k] + (cpu->twofloat ? (double)target->xl[k] : 0.0);
        target->v[k] = (float)block->v[i][k];
    }
    /* Larger radii and steps have the same effect, and their squares and products would not fit a float. */
    target->dt = (float)fmin(block->dt_reg[i], 1e20);
    target->h2 = (float)fmin(block->r_nb2[i], 1e37);
    target->h = sqrtf(target->h2);
    target->self = block->self ? block->self[i] : -1;
    target->place = -1;
}

void gpunb_cpu_add(struct gpunb_sum *total, const struct gpunb_sum *part)
{
    for (int k = 0; k < 3; k++) {
        total->acc[k] += part->acc[k];
        total->jerk[k] += part->jerk[k];
    }
    total->pot += part->pot;
}

/* Words of marks: a bit for each source, and a bit for each word of these. */
static size_t words_of(size_t n)
{
    return (n + 63) / 64;
}

static size_t marks_of(const struct gpunb_cpu_state *cpu)
{
    return words_of(cpu->n_j) + words_of(words_of(cpu->n_j));
}

int gpunb_cpu_grow_marks(struct gpunb_cpu_state *cpu, int threads)
{
    const size_t n = (size_t)threads * marks_of(cpu);
    void *marks = gpunb_cpu_grow(&cpu->marks, n, sizeof(uint64_t));
    if (marks) memset(marks, 0, n * sizeof(uint64_t));
    return marks != NULL;
}

void gpunb_cpu_finish_target(const struct gpunb_cpu_state *cpu, const struct gpunb_block *block, size_t i,
                             const struct gpunb_target *target, const struct gpunb_sum *total, size_t found, int thread)
{
    if (thread >= 0 && found <= block->nb_cap) {
        uint64_t *marks = (uint64_t *)cpu->marks.data + (size_t)thread * marks_of(cpu);
        cpu->kernels->put_in_order(block->nblist + i * block->list_stride, found, block->nb_cap, marks,
                                   marks + words_of(cpu->n_j));
    }
    double all = total->pot;
    for (int k = 0; k < 3; k++) all += total->acc[k] + total->jerk[k];
    if (!isfinite(all)) {
        gpunb_cpu_exact(cpu, block, i, target);
        return;
    }
    memcpy(block->acc[i], total->acc, sizeof total->acc);
    memcpy(block->jerk[i], total->jerk, sizeof total->jerk);
    if (block->pot) block->pot[i] = -total->pot;
    block->nnb[i] = (int32_t)found;
}
