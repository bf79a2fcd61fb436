/* The kernel of softened forces (MTM13 eq. 1): sums without a test, of which several targets share each load of a
 * vector of sources. Sources of a tile that is not too near have positions relative to its centre (kernel_tile.h), all
 * others two floats. Needs from simd_*.h what kernel_pair.h names, and vf_softened(m, r2), softened_unit. */
#ifndef GPUNB_CPU_KERNEL_SOFTENED_H
#define GPUNB_CPU_KERNEL_SOFTENED_H

#include "gpunb/cpu/kernel_tile.h"

enum {
    SOFTENED_BLOCK = SIMD_W == 16 ? 4 : 1, /* targets that share a load, as far as there are registers for their sums */
    SOFTENED_PIECE = STRETCH < TILE_CELLS ? STRETCH : TILE_CELLS /* cells of one tile between two flushes */
};

/* Sums of each lane. */
struct softened_sums {
    vf x, y, z, pot;
};

/* dx, dy, dz: from the source to the target: a difference whose second term is in memory is one operation. */
static inline __attribute__((always_inline)) void add_softened(vf dx, vf dy, vf dz, vf m, vf softening2,
                                                               const int want_pot, struct softened_sums *sums)
{
    const vf r2 = vf_fma(dz, dz, vf_fma(dy, dy, vf_fma(dx, dx, softening2)));
    const struct vf_softened w = vf_softened(m, r2);
    sums->x = vf_fnma(w.mr3, dx, sums->x);
    sums->y = vf_fnma(w.mr3, dy, sums->y);
    sums->z = vf_fnma(w.mr3, dz, sums->z);
    if (want_pot) sums->pot = vf_fma(w.mr, w.times, sums->pot);
}

/* Cells [c, end) of a tile that is not near, on N targets. */
static inline __attribute__((always_inline)) void far_softened(const struct gpunb_tile *tile, size_t c, size_t end,
                                                               const struct gpunb_softened_target *t, vf softening2,
                                                               const int want_pot, const int N,
                                                               struct softened_sums *total)
{
    struct softened_sums sums[SOFTENED_BLOCK];
    struct place place[SOFTENED_BLOCK];
    for (int b = 0; b < N; b++) {
        sums[b] = total[b];
        place[b] = place_of((float)(t[b].x[0] - tile->centre[0]), (float)(t[b].x[1] - tile->centre[1]),
                            (float)(t[b].x[2] - tile->centre[2]));
    }
    for (; c < end; c++) {
        const struct gpunb_far_cell *cell = &tile->cell[c];
#pragma GCC unroll 4
        for (int at = 0; at < CPU_CELL; at += SIMD_W) {
            const vf x = vf_load(cell->in_tile[0] + at), y = vf_load(cell->in_tile[1] + at),
                     z = vf_load(cell->in_tile[2] + at), m = vf_load(cell->m + at);
#pragma GCC unroll 4
            for (int b = 0; b < N; b++)
                add_softened(place[b].x - x, place[b].y - y, place[b].z - z, m, softening2, want_pot, &sums[b]);
        }
    }
    for (int b = 0; b < N; b++) total[b] = sums[b];
}

/* Cells [c, end) on N targets, with differences of two-float numbers. `masses`: masses in one cell as seen by each
 * target; NULL: those of the cells. */
static inline __attribute__((always_inline)) void near_softened(const struct gpunb_cell *cells, size_t c, size_t end,
                                                                const struct gpunb_softened_target *t, vf softening2,
                                                                const float (*masses)[CPU_CELL], const int two,
                                                                const int want_pot, const int N,
                                                                struct softened_sums *total)
{
    struct softened_sums sums[SOFTENED_BLOCK];
    for (int b = 0; b < N; b++) sums[b] = total[b];
    for (; c < end; c++) {
        const struct gpunb_cell *cell = &cells[c];
#pragma GCC unroll 4
        for (int at = 0; at < CPU_CELL; at += SIMD_W) {
            const vf x = vf_load(cell->xh + at), y = vf_load(cell->yh + at), z = vf_load(cell->zh + at);
#pragma GCC unroll 4
            for (int b = 0; b < N; b++) {
                vf dx = vf_set1(t[b].xh[0]) - x, dy = vf_set1(t[b].xh[1]) - y, dz = vf_set1(t[b].xh[2]) - z;
                if (two) {
                    dx = dx + (vf_set1(t[b].xl[0]) - vf_load(cell->xl + at));
                    dy = dy + (vf_set1(t[b].xl[1]) - vf_load(cell->yl + at));
                    dz = dz + (vf_set1(t[b].xl[2]) - vf_load(cell->zl + at));
                }
                add_softened(dx, dy, dz, vf_load((masses ? masses[b] : cell->m) + at), softening2, want_pot, &sums[b]);
            }
        }
    }
    for (int b = 0; b < N; b++) total[b] = sums[b];
}

/* Cell c of the chunk, in which a target or more leave out themselves. */
static inline __attribute__((always_inline)) void own_softened(const struct gpunb_softened_chunk *job, size_t c,
                                                               const struct gpunb_softened_target *t, vf softening2,
                                                               const int two, const int want_pot, const int N,
                                                               struct softened_sums *sums)
{
    _Alignas(64) float masses[SOFTENED_BLOCK][CPU_CELL];
    for (int b = 0; b < N; b++) {
        const int64_t lane = t[b].place - (int64_t)(job->first + c * CPU_CELL);
        memcpy(masses[b], job->cells[c].m, sizeof masses[b]);
        if (lane >= 0 && lane < CPU_CELL) masses[b][lane] = 0.0f;
    }
    near_softened(job->cells, c, c + 1, t, softening2, (const float(*)[CPU_CELL])masses, two, want_pot, N, sums);
}

/* Cells [c, end) of the chunk on N targets; those cells that hold a target itself apart. */
static inline __attribute__((always_inline)) void near_piece(const struct gpunb_softened_chunk *job, size_t c,
                                                             size_t end, const struct gpunb_softened_target *t,
                                                             vf softening2, const int two, const int want_pot,
                                                             const int N, struct softened_sums *sums)
{
    while (c < end) {
        size_t stop = end;
        for (int b = 0; want_pot && b < N; b++) {
            const int64_t ahead = t[b].place - (int64_t)(job->first + c * CPU_CELL);
            if (ahead >= 0 && c + (size_t)ahead / CPU_CELL < stop) stop = c + (size_t)ahead / CPU_CELL;
        }
        near_softened(job->cells, c, stop, t, softening2, NULL, two, want_pot, N, sums);
        if (stop < end) own_softened(job, stop, t, softening2, two, want_pot, N, sums);
        c = stop + 1;
    }
}

/* A bit for each tile of the chunk whose sources are too near for their positions relative to it, or that holds the
 * source that the target leaves out. All bits if there are no tiles. */
static inline __attribute__((always_inline)) uint32_t near_tiles(const struct gpunb_softened_chunk *job,
                                                                 const struct gpunb_softened_target *t)
{
    const struct gpunb_tile_bounds *bounds = job->bounds;
    const int64_t own = t->place - (int64_t)job->first;
    uint32_t near = 0;
    if (!job->tiles) return UINT32_MAX;
    for (int at = 0; at < CHUNK_TILES; at += SIMD_W) {
        vf d2 = vf_set1(TINY_R2);
        for (int k = 0; k < 3; k++) {
            const vf low = vf_set1(t->xl[k]) - vf_load(bounds->low[k] + at);
            const vf d = outside((vf_set1(t->xh[k]) - vf_load(bounds->high[k] + at)) + low, bounds->half[k] + at);
            d2 = vf_fma(d, d, d2);
        }
        const vf limit = vf_set1(COARSE) * vf_load(bounds->radius + at);
        near |= vm_bits(vm_not_above(d2, vf_fma(limit, limit, vf_set1(2 * TINY_R2)))) << at;
    }
    if (own >= 0 && own < CPU_CHUNK * CPU_CELL) near |= 1u << own / (TILE_CELLS * CPU_CELL);
    return near;
}

/* Cells [first, first + STRETCH) of the chunk on N targets. */
static inline __attribute__((always_inline)) void softened_round(const struct gpunb_softened_chunk *job, size_t first,
                                                                 const struct gpunb_softened_target *t,
                                                                 const uint32_t *near, const int two,
                                                                 const int want_pot, const int N,
                                                                 double lanes[][SOFTENED_SUMS][N_LANES])
{
    const size_t left = job->n_cells - first, last = first + (left < STRETCH ? left : STRETCH);
    const vf softening2 = vf_set1(job->softening2), zero = vf_set1(0.0f);
    struct softened_sums sums[SOFTENED_BLOCK];
    uint32_t any = 0;
    for (int b = 0; b < N; b++) {
        sums[b] = (struct softened_sums){zero, zero, zero, zero};
        any |= near[b];
    }
    for (size_t c = first; c < last; c += SOFTENED_PIECE) {
        const size_t end = last < c + SOFTENED_PIECE ? last : c + SOFTENED_PIECE, tile = c / TILE_CELLS;
        if (any >> tile & 1)
            near_piece(job, c, end, t, softening2, two, want_pot, N, sums);
        else
            far_softened(&job->tiles[tile], c - tile * TILE_CELLS, end - tile * TILE_CELLS, t, softening2, want_pot, N,
                         sums);
    }
    for (int b = 0; b < N; b++) {
        vf_add_to(lanes[b][0], sums[b].x);
        vf_add_to(lanes[b][1], sums[b].y);
        vf_add_to(lanes[b][2], sums[b].z);
        if (want_pot) vf_add_to(lanes[b][3], sums[b].pot);
    }
}

static inline __attribute__((always_inline)) void softened_chunk(const struct gpunb_softened_chunk *job, const int two,
                                                                 const int want_pot)
{
    double lanes[CPU_UNIT][SOFTENED_SUMS][N_LANES];
    uint32_t near[CPU_UNIT];
    memset(lanes, 0, job->count * sizeof lanes[0]);
    for (size_t k = 0; k < job->count; k++) near[k] = near_tiles(job, &job->targets[k]);
    for (size_t first = 0; first < job->n_cells; first += STRETCH) {
        size_t k = 0;
        for (; k + SOFTENED_BLOCK <= job->count; k += SOFTENED_BLOCK)
            softened_round(job, first, job->targets + k, near + k, two, want_pot, SOFTENED_BLOCK, lanes + k);
        for (; k < job->count; k++) softened_round(job, first, job->targets + k, near + k, two, want_pot, 1, lanes + k);
    }
    for (size_t k = 0; k < job->count; k++)
        for (int q = 0; q < SOFTENED_SUMS; q++) {
            for (int half = N_LANES / 2; half > 0; half /= 2)
                for (int l = 0; l < half; l++) lanes[k][q][l] += lanes[k][q][l + half];
            job->sums[k][q] = lanes[k][q][0] * softened_unit(q == 3);
        }
}

static void softened(const struct gpunb_softened_chunk *job)
{
    KERNEL_BY_2(job->twofloat, job->want_pot, softened_chunk, job);
}

#endif
