/* The force kernel for many targets: sources in tiles (cpu_tiles.c). Most cells of a tile are beyond the sphere of a
 * target: for them the differences of positions relative to the cell are exact enough, and there is no test. The
 * other cells are summed as kernel_cpu.h does. Needs from simd_*.h what kernel_pair.h names. */
#ifndef GPUNB_KERNEL_TILE_H
#define GPUNB_KERNEL_TILE_H

#include "gpunb/kernel_pair.h"

#include <math.h>

/* Cells are compared in float: roundings of distances, of spheres and of the test itself stay far below this. */
#define CELL_MARGIN 1.00001f

/* Where a source is nearer than this part of the radius of its cell, relative positions are too coarse: they have an
 * error of 2^-25 of the radius, and of the distance of the target from the centre. */
#define COARSE 0.5f

/* A target from the centres of the cells of a tile. */
struct seen {
    _Alignas(64) float x[3][TILE_CELLS];
};

/* Positions relative to the tile as two floats, so that nothing is lost near a cell. */
static inline __attribute__((always_inline)) void see(const struct gpunb_tile *tile, const struct gpunb_target *t,
                                                      struct seen *seen)
{
    for (int k = 0; k < 3; k++) {
        float high, low;
        gpunb_split(t->x[k] - tile->centre[k], &high, &low);
        for (int at = 0; at < TILE_CELLS; at += SIMD_W)
            vf_store(seen->x[k] + at, (vf_set1(high) - vf_load(tile->at[k] + at)) + vf_set1(low));
    }
}

/* How far a sphere of radius h can come in a step, and the sources of the tile to meet it. */
static inline float reach_of(const struct gpunb_tile *tile, const struct gpunb_target *t)
{
    const float vx = tile->v[0] - t->v[0], vy = tile->v[1] - t->v[1], vz = tile->v[2] - t->v[2];
    return t->dt * (sqrtf(vx * vx + vy * vy + vz * vz) + tile->speed);
}

/* How far a point is outside of a box in one direction. */
static inline __attribute__((always_inline)) vf outside(const float *seen, const float *half)
{
    return vf_max(vf_abs(vf_load(seen)) - vf_load(half), vf_set1(0.0f));
}

/* A bit for each cell that may hold a neighbour, or a source too near for its relative position. */
static inline __attribute__((always_inline)) uint32_t
near_cells(const struct gpunb_tile *tile, const struct gpunb_target *t, const struct seen *seen, const int weighted)
{
    const vf reach = vf_set1(reach_of(tile, t) * CELL_MARGIN), sphere = vf_set1(t->h * CELL_MARGIN);
    uint32_t near = 0;
    for (int at = 0; at < TILE_CELLS; at += SIMD_W) {
        const vf dx = outside(seen->x[0] + at, tile->half[0] + at), dy = outside(seen->x[1] + at, tile->half[1] + at),
                 dz = outside(seen->x[2] + at, tile->half[2] + at);
        vf all = sphere + reach;
        if (weighted) all = vf_fma(sphere, vf_load(tile->weight + at), reach);
        const vf limit = vf_max(all, vf_set1(COARSE) * vf_load(tile->radius + at));
        const vf d2 = vf_fma(dz, dz, vf_fma(dy, dy, dx * dx));
        near |= vm_bits(vm_not_above(d2, vf_fma(limit, limit, vf_set1(TINY_R2)))) << at;
    }
    return near;
}

/* A target and a vector of sources of a far cell, up to what their distances give. */
struct far_pairs {
    vf dx, dy, dz;
    struct vf_powers powers;
};

static inline __attribute__((always_inline)) struct far_pairs far_pairs(const struct gpunb_tile *tile, int c, int at,
                                                                        const struct seen *seen)
{
    const struct gpunb_far_cell *cell = &tile->cell[c];
    const vf dx = vf_load(cell->x + at) - vf_set1(seen->x[0][c]), dy = vf_load(cell->y + at) - vf_set1(seen->x[1][c]),
             dz = vf_load(cell->z + at) - vf_set1(seen->x[2][c]);
    const vf r2 = vf_fma(dz, dz, vf_fma(dy, dy, dx * dx));
    return (struct far_pairs){dx, dy, dz, vf_powers(vf_load(cell->m + at), r2)};
}

static inline __attribute__((always_inline)) void add_far_pairs(const struct gpunb_far_cell *cell, int at,
                                                                const struct gpunb_target *t, const struct far_pairs *p,
                                                                const int want_pot, struct sums *sums)
{
    const struct relative d = {p->dx,
                               p->dy,
                               p->dz,
                               vf_load(cell->vx + at) - vf_set1(t->v[0]),
                               vf_load(cell->vy + at) - vf_set1(t->v[1]),
                               vf_load(cell->vz + at) - vf_set1(t->v[2])};
    add_pairs(sums, &d, &p->powers, want_pot);
}

/* Cells without a neighbour, and all pairs far enough. If a vector is a cell, its distances are a step ahead of the
 * sums: the chain of operations from one to the other is long. There are not the registers for it otherwise. */
static inline __attribute__((always_inline)) void add_far(const struct gpunb_tile *tile, const struct gpunb_target *t,
                                                          const struct seen *seen, uint32_t far, const int want_pot,
                                                          struct sums *total)
{
    if (!far) return;
    struct sums sums = *total;
    int c = __builtin_ctz(far);
    struct far_pairs pairs = far_pairs(tile, c, 0, seen);
    while (far) {
        far &= far - 1;
        const int after = far ? __builtin_ctz(far) : c;
        if (SIMD_W == CPU_CELL) {
            const struct far_pairs next = far_pairs(tile, after, 0, seen);
            add_far_pairs(&tile->cell[c], 0, t, &pairs, want_pot, &sums);
            pairs = next;
        } else {
#pragma GCC unroll 4
            for (int at = 0; at < CPU_CELL; at += SIMD_W) {
                pairs = far_pairs(tile, c, at, seen);
                add_far_pairs(&tile->cell[c], at, t, &pairs, want_pot, &sums);
            }
        }
        c = after;
    }
    *total = sums;
}

/* Sources that were left out of the sums are neighbours, unless they are the target, padding, or at distance 0 from a
 * target whose sphere has no size for them. */
static void collect_near(const struct gpunb_tile_job *job, const struct gpunb_target *target, size_t cell,
                         unsigned bits, struct gpunb_sink *sink)
{
    const int32_t *number = job->number + cell * CPU_CELL;
    for (; bits; bits &= bits - 1) {
        const int lane = __builtin_ctz(bits);
        if (number[lane] < 0 || number[lane] == target->self) continue;
        const float weight = job->weighted ? job->cells[cell].m[lane] : 1.0f;
        if (!(weight * target->h2 > 0.0f)) continue;
        if (sink->found < sink->cap) sink->list[sink->found] = number[lane];
        sink->found++;
    }
}

static inline __attribute__((always_inline)) void add_near(const struct gpunb_tile_job *job, size_t first,
                                                           const struct gpunb_target *t, uint32_t near, const int two,
                                                           const int weighted, const int want_pot, struct sums *total,
                                                           struct gpunb_sink *sink)
{
    struct sums sums = *total;
    for (; near; near &= near - 1) {
        const size_t c = first + (size_t)__builtin_ctz(near);
        const struct gpunb_cell *cell = &job->cells[c];
        unsigned bits = 0;
#pragma GCC unroll 4
        for (int at = 0; at < CPU_CELL; at += SIMD_W) {
            const struct relative d = relative_to(t, cell, at, two);
            const vf r2 = square_of_distance(&d), m = vf_load(cell->m + at);
            vm skip = inside_sphere(t, &d, r2, m, weighted);
            const int64_t own = t->place - (int64_t)(job->first + c * CPU_CELL) - at;
            if (__builtin_expect(own >= 0 && own < SIMD_W, 0)) skip = vm_with_lane(skip, (int)own);
            bits |= vm_bits(skip) << at;
            const struct vf_powers powers = vf_powers_but(m, r2, skip);
            add_pairs(&sums, &d, &powers, want_pot);
        }
        if (bits) collect_near(job, t, c, bits, sink);
    }
    *total = sums;
}

/* The tile of the chunk whose first cell this is, on one target. */
static inline __attribute__((always_inline)) void one_tile(const struct gpunb_tile_job *job, size_t first,
                                                           const struct gpunb_target *t, const int two,
                                                           const int weighted, const int want_pot,
                                                           double lanes[N_SUMS][N_LANES], struct gpunb_sink *sink)
{
    const struct gpunb_tile *tile = &job->tiles[first / TILE_CELLS];
    const size_t left = job->n_cells - first;
    const uint32_t all = UINT32_MAX >> (32 - (left < TILE_CELLS ? left : TILE_CELLS));
    const int64_t place = (int64_t)(job->first + first * CPU_CELL), own = t->place - place;
    struct seen seen;
    see(tile, t, &seen);
    uint32_t near = near_cells(tile, t, &seen, weighted);
    if (own >= 0 && own < TILE_CELLS * CPU_CELL) near |= 1u << own / CPU_CELL;
    near &= all;
    for (int c = 0; c < TILE_CELLS; c += STRETCH) {
        const uint32_t part = (uint32_t)((UINT64_C(1) << STRETCH) - 1) << c;
        struct sums sums = no_sums();
        add_far(tile, t, &seen, all & ~near & part, want_pot, &sums);
        if (near & part) add_near(job, first, t, near & part, two, weighted, want_pot, &sums, sink);
        flush(lanes, &sums, want_pot);
    }
}

static inline __attribute__((always_inline)) void all_tiles(const struct gpunb_tile_job *job, const int two,
                                                            const int weighted, const int want_pot)
{
    double lanes[CPU_UNIT][N_SUMS][N_LANES];
    memset(lanes, 0, job->count * sizeof lanes[0]);
    for (size_t first = 0; first < job->n_cells; first += TILE_CELLS)
        for (size_t k = 0; k < job->count; k++)
            one_tile(job, first, &job->targets[k], two, weighted, want_pot, lanes[k], &job->sinks[k]);
    for (size_t k = 0; k < job->count; k++) lanes_to_sum(lanes[k], &job->sums[k]);
}

static void regf_tiles(const struct gpunb_tile_job *job)
{
    switch (job->twofloat << 2 | job->weighted << 1 | job->want_pot) {
    case 0:
        all_tiles(job, 0, 0, 0);
        break;
    case 1:
        all_tiles(job, 0, 0, 1);
        break;
    case 2:
        all_tiles(job, 0, 1, 0);
        break;
    case 3:
        all_tiles(job, 0, 1, 1);
        break;
    case 4:
        all_tiles(job, 1, 0, 0);
        break;
    case 5:
        all_tiles(job, 1, 0, 1);
        break;
    case 6:
        all_tiles(job, 1, 1, 0);
        break;
    default:
        all_tiles(job, 1, 1, 1);
        break;
    }
}

#endif
