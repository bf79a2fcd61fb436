/* The force kernel for few targets: sources in the order of their numbers. One source for all instruction sets; needs
 * from simd_*.h what kernel_pair.h names. */
#ifndef GPUNB_CPU_KERNEL_CPU_H
#define GPUNB_CPU_KERNEL_CPU_H

#include "gpunb/cpu/kernel_pair.h"

enum { CELLS_PER_WORD = 64 / CPU_CELL };

/* A bit for each source that is a neighbour or at distance 0. */
struct hits {
    uint16_t of[SIMD_BLOCK][STRETCH];
};

/* Some cells on N targets. `two`, `weighted`, `want_pot` and N are constants wherever this is inlined (KERNEL_BY_3).
 * `own_cell[b]`: the cell that holds target b itself, -1 if none does: that lane is left out. */
static inline __attribute__((always_inline)) void stretch(const struct gpunb_cell *cells, int n_cells,
                                                          const struct gpunb_target *targets, const int *own_cell,
                                                          const int N, double lanes[][N_SUMS][N_LANES],
                                                          struct hits *hits, const int two, const int weighted,
                                                          const int want_pot)
{
    struct sums sums[SIMD_BLOCK];
    for (int b = 0; b < N; b++) sums[b] = no_sums();
    for (int c = 0; c < n_cells; c++) {
        const struct gpunb_cell *cell = &cells[c];
        unsigned bits[SIMD_BLOCK] = {0};
#pragma GCC unroll 4
        for (int at = 0; at < CPU_CELL; at += SIMD_W) {
#pragma GCC unroll 4
            for (int b = 0; b < N; b++) {
                const struct gpunb_target *t = &targets[b];
                const struct relative d = relative_to(t, cell, at, two);
                const vf r2 = square_of_distance(&d), m = vf_load(cell->m + at);
                vm skip = inside_sphere(t, &d, r2, m, weighted);
                if (__builtin_expect(c == own_cell[b], 0)) skip = vm_with_lane(skip, t->self % CPU_CELL - at);
                bits[b] |= vm_bits(skip) << at;
                const struct vf_powers powers = vf_powers_but(m, r2, skip, two);
                add_pairs(&sums[b], &d, &powers, want_pot);
            }
        }
        for (int b = 0; b < N; b++) hits->of[b][c] = (uint16_t)bits[b];
    }
    for (int b = 0; b < N; b++) flush(lanes[b], &sums[b], want_pot);
}

/* Sources that were left out are neighbours, unless they are the target, padding, or at distance 0 from a target whose
 * sphere has no size for them. */
static void collect_word_with_care(const struct gpunb_cpu_job *job, const struct gpunb_cell *cells, uint64_t word,
                                   size_t first, const struct gpunb_target *target, struct gpunb_sink *sink)
{
    for (; word; word &= word - 1) {
        const int bit = __builtin_ctzll(word);
        const size_t j = first + (size_t)bit;
        if (j >= job->n_j) return;
        if ((int32_t)j == target->self) continue;
        const float weight = job->weighted ? cells[bit / CPU_CELL].m[bit % CPU_CELL] : 1.0f;
        if (!(weight * target->h2 > 0.0f)) continue;
        if (sink->found < sink->cap) sink->list[sink->found] = (int32_t)j;
        sink->found++;
    }
}

/* The number of set bits in a word is hard to predict for a processor: the first ones are written whether or not
 * they exist, as far as there is room. */
static inline void collect_word(uint64_t word, size_t first, struct gpunb_sink *sink)
{
    enum { AT_ONCE = 6 };
    int32_t *to = sink->list + sink->found;
    const size_t found = (size_t)__builtin_popcountll(word);
    for (size_t at = 0; at < AT_ONCE; at++, word &= word - 1)
        to[at] = (int32_t)first + __builtin_ctzll(word | UINT64_C(1) << 63);
    for (size_t at = AT_ONCE; at < found; at++, word &= word - 1) to[at] = (int32_t)first + __builtin_ctzll(word);
    sink->found += found;
}

/* Collect the sources that a target has left out in some cells, which begin with source j_first. */
static void collect(const struct gpunb_cpu_job *job, const struct gpunb_cell *cells, int n_cells, size_t j_first,
                    const struct gpunb_target *target, const uint16_t *hits, struct gpunb_sink *sink)
{
    enum { SOURCES = CELLS_PER_WORD * CPU_CELL };
    const int simple = !job->weighted && target->h2 > 0.0f;
    for (int c = 0; c < n_cells; c += CELLS_PER_WORD) {
        const size_t first = j_first + (size_t)c * CPU_CELL;
        const uint64_t own = (uint64_t)target->self - first; /* large for those that are not here, and for none */
        uint64_t word;
        memcpy(&word, hits + c, sizeof word);
        if (!word) continue; /* nearly all among many sources */
        if (!simple || first + SOURCES > job->n_j || sink->found + SOURCES > sink->cap) {
            collect_word_with_care(job, cells + c, word, first, target, sink);
            continue;
        }
        if (own < SOURCES) word &= ~(UINT64_C(1) << own);
        collect_word(word, first, sink);
    }
}

static inline __attribute__((always_inline)) void chunk(const struct gpunb_cpu_job *job, const int N)
{
    double lanes[SIMD_BLOCK][N_SUMS][N_LANES] = {0};
    for (size_t first = 0; first < job->n_cells; first += STRETCH) {
        const struct gpunb_cell *cells = job->cells + first;
        const size_t j_first = job->j_first + first * CPU_CELL;
        const int n_cells = (int)(job->n_cells - first < STRETCH ? job->n_cells - first : STRETCH);
        struct hits hits;
        int own_cell[SIMD_BLOCK];
        for (int b = 0; b < N; b++) {
            int64_t ahead = (int64_t)job->targets[b].self - (int64_t)j_first;
            own_cell[b] = ahead >= 0 && ahead < STRETCH * CPU_CELL ? (int)(ahead / CPU_CELL) : -1;
        }
        if (n_cells < STRETCH) memset(&hits, 0, sizeof hits);
        KERNEL_BY_3(job->twofloat, job->weighted, job->want_pot, stretch, cells, n_cells, job->targets, own_cell, N,
                    lanes, &hits);
        for (int b = 0; b < N; b++) collect(job, cells, n_cells, j_first, &job->targets[b], hits.of[b], &job->sinks[b]);
    }
    for (int b = 0; b < N; b++) lanes_to_sum(lanes[b], job->twofloat, &job->sums[b]);
}

static void regf_block(const struct gpunb_cpu_job *job)
{
    chunk(job, SIMD_BLOCK);
}

static void regf_one(const struct gpunb_cpu_job *job)
{
    chunk(job, 1);
}

#endif
