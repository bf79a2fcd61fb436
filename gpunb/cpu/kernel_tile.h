/* The force kernel for many targets: sources in tiles (cpu/tiles.c). Many tiles as a whole, and most cells of the
 * others, are beyond the sphere of a target: for them the differences of positions relative to the tile or to the cell
 * are exact enough, and there is no test. The other cells are summed as kernel_cpu.h does. Needs from simd_*.h what
 * kernel_pair.h names. */
#ifndef GPUNB_CPU_KERNEL_TILE_H
#define GPUNB_CPU_KERNEL_TILE_H

#include "gpunb/cpu/kernel_pair.h"

#include <math.h>

/* Cells and tiles are compared in float: roundings of distances, of spheres and of the test itself stay far below this.
 */
#define CELL_MARGIN 1.00001f

/* Where a source is nearer than this part of the radius of its cell or tile, relative positions are too coarse: they
 * have an error of 2^-25 of the radius, and of the distance of the target from the centre. */
#define COARSE 0.25f

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
static inline __attribute__((always_inline)) vf outside(vf x, const float *half)
{
    return vf_max(vf_abs(x) - vf_load(half), vf_set1(0.0f));
}

/* A bit for each tile of the chunk of whose sources none can be a neighbour, is too near for its position relative to
 * the tile, or is the target itself. Bits of tiles that are not there mean nothing. */
static inline __attribute__((always_inline)) uint32_t
far_tiles(const struct gpunb_tile_job *job, const struct gpunb_target *t, const int two, const int weighted)
{
    const struct gpunb_tile_bounds *b = job->bounds;
    const int64_t own = t->place - (int64_t)job->first;
    const vf margin = vf_set1(CELL_MARGIN);
    uint32_t near = 0;
    for (int at = 0; at < CHUNK_TILES; at += SIMD_W) {
        vf d2 = vf_set1(TINY_R2), v2 = vf_set1(0.0f);
        for (int k = 0; k < 3; k++) {
            const vf low = vf_set1(two ? t->xl[k] : 0.0f) - vf_load(b->low[k] + at);
            const vf x = (vf_set1(t->xh[k]) - vf_load(b->high[k] + at)) + low;
            const vf v = vf_load(b->v[k] + at) - vf_set1(t->v[k]), d = outside(x, b->half[k] + at);
            d2 = vf_fma(d, d, d2);
            v2 = vf_fma(v, v, v2);
        }
        const vf reach = vf_set1(t->dt) * (vf_sqrt(v2) + vf_load(b->speed + at));
        vf sphere = vf_set1(t->h);
        if (weighted) sphere = sphere * vf_load(b->weight + at);
        const vf limit = vf_max((sphere + reach) * margin, vf_set1(COARSE) * vf_load(b->radius + at));
        near |= vm_bits(vm_not_above(d2, vf_fma(limit, limit, vf_set1(2 * TINY_R2)))) << at;
    }
    if (own >= 0 && own < CPU_CHUNK * CPU_CELL) near |= 1u << own / (TILE_CELLS * CPU_CELL);
    return ~near;
}

/* A bit for each cell that may hold a neighbour, or a source too near for its relative position. */
static inline __attribute__((always_inline)) uint32_t
near_cells(const struct gpunb_tile *tile, const struct gpunb_target *t, const struct seen *seen, const int weighted)
{
    const vf reach = vf_set1(reach_of(tile, t) * CELL_MARGIN), sphere = vf_set1(t->h * CELL_MARGIN);
    uint32_t near = 0;
    for (int at = 0; at < TILE_CELLS; at += SIMD_W) {
        const vf dx = outside(vf_load(seen->x[0] + at), tile->half[0] + at),
                 dy = outside(vf_load(seen->x[1] + at), tile->half[1] + at),
                 dz = outside(vf_load(seen->x[2] + at), tile->half[2] + at);
        vf all = sphere + reach;
        if (weighted) all = vf_fma(sphere, vf_load(tile->weight + at), reach);
        const vf limit = vf_max(all, vf_set1(COARSE) * vf_load(tile->radius + at));
        const vf d2 = vf_fma(dz, dz, vf_fma(dy, dy, dx * dx));
        near |= vm_bits(vm_not_above(d2, vf_fma(limit, limit, vf_set1(TINY_R2)))) << at;
    }
    return near;
}

/* A target and a vector of far sources, up to what their distances give. */
struct far_pairs {
    vf dx, dy, dz;
    struct vf_powers powers;
};

/* A target in the frame of a cell or tile. */
struct place {
    vf x, y, z;
};

static inline __attribute__((always_inline)) struct place place_of(float x, float y, float z)
{
    return (struct place){vf_set1(x), vf_set1(y), vf_set1(z)};
}

static inline __attribute__((always_inline)) struct place place_in(const struct seen *seen, int cell)
{
    return place_of(seen->x[0][cell], seen->x[1][cell], seen->x[2][cell]);
}

/* Sources at `at` of a cell; `from`: their positions in the frame of `place`. */
static inline __attribute__((always_inline)) struct far_pairs
far_pairs(const struct gpunb_far_cell *cell, const float from[3][CPU_CELL], int at, struct place place, const int two)
{
    const vf dx = vf_load(from[0] + at) - place.x, dy = vf_load(from[1] + at) - place.y,
             dz = vf_load(from[2] + at) - place.z;
    const vf r2 = vf_fma(dz, dz, vf_fma(dy, dy, dx * dx));
    return (struct far_pairs){dx, dy, dz, vf_powers(vf_load(cell->m + at), r2, two)};
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

/* Cells [c, end) of a tile that is far. If a vector is a cell, here and below, its distances are a step ahead of the
 * sums: the chain of operations from one to the other is long. There are not the registers for it otherwise. */
static inline __attribute__((always_inline)) void add_far_tile(const struct gpunb_tile *tile, int c, int end,
                                                               const struct gpunb_target *t, const int two,
                                                               const int want_pot, struct sums *total)
{
    const struct place place = place_of((float)(t->x[0] - tile->centre[0]), (float)(t->x[1] - tile->centre[1]),
                                        (float)(t->x[2] - tile->centre[2]));
    struct sums sums = *total;
    struct far_pairs pairs = far_pairs(&tile->cell[c], tile->cell[c].in_tile, 0, place, two);
    for (; c < end; c++) {
        const struct gpunb_far_cell *cell = &tile->cell[c];
        if (SIMD_W == CPU_CELL) {
            const struct gpunb_far_cell *after = c + 1 < end ? cell + 1 : cell;
            const struct far_pairs next = far_pairs(after, after->in_tile, 0, place, two);
            add_far_pairs(cell, 0, t, &pairs, want_pot, &sums);
            pairs = next;
        } else {
#pragma GCC unroll 4
            for (int at = 0; at < CPU_CELL; at += SIMD_W) {
                pairs = far_pairs(cell, cell->in_tile, at, place, two);
                add_far_pairs(cell, at, t, &pairs, want_pot, &sums);
            }
        }
    }
    *total = sums;
}

/* Some cells of a tile without a neighbour, and all pairs far enough. */
static inline __attribute__((always_inline)) void add_far(const struct gpunb_tile *tile, const struct gpunb_target *t,
                                                          const struct seen *seen, uint32_t far, const int two,
                                                          const int want_pot, struct sums *total)
{
    if (!far) return;
    struct sums sums = *total;
    int c = __builtin_ctz(far);
    const struct gpunb_far_cell *cell = &tile->cell[c];
    struct far_pairs pairs;
    if (SIMD_W == CPU_CELL) pairs = far_pairs(cell, cell->in_cell, 0, place_in(seen, c), two);
    while (far) {
        far &= far - 1;
        const int next_c = far ? __builtin_ctz(far) : c;
        const struct gpunb_far_cell *next = &tile->cell[next_c];
        if (SIMD_W == CPU_CELL) {
            const struct far_pairs next_pairs = far_pairs(next, next->in_cell, 0, place_in(seen, next_c), two);
            add_far_pairs(cell, 0, t, &pairs, want_pot, &sums);
            pairs = next_pairs;
        } else {
            const struct place place = place_in(seen, c);
#pragma GCC unroll 4
            for (int at = 0; at < CPU_CELL; at += SIMD_W) {
                pairs = far_pairs(cell, cell->in_cell, at, place, two);
                add_far_pairs(cell, at, t, &pairs, want_pot, &sums);
            }
        }
        c = next_c;
        cell = next;
    }
    *total = sums;
}

/* Sources of a cell that were left out of the sums, the target itself apart. */
struct left_out {
    uint32_t cell, bits;
};

/* They are neighbours, unless they are padding, or at distance 0 from a target whose sphere has no size for them. */
static void collect_with_care(const struct gpunb_tile_job *job, const struct gpunb_target *target, struct left_out left,
                              struct gpunb_sink *sink)
{
    const int32_t *number = job->number + left.cell * CPU_CELL;
    for (unsigned bits = left.bits; bits; bits &= bits - 1) {
        const int lane = __builtin_ctz(bits);
        const float weight = job->weighted ? job->cells[left.cell].m[lane] : 1.0f;
        if (number[lane] < 0 || !(weight * target->h2 > 0.0f)) continue;
        if (sink->found < sink->cap) sink->list[sink->found] = number[lane];
        sink->found++;
    }
}

/* Their existence is hard to predict for a processor: the first of a cell are written whether or not they exist, as
 * far as there is room. */
static inline void collect_near(const struct gpunb_tile_job *job, const struct gpunb_target *target,
                                const struct left_out *left, int n, struct gpunb_sink *sink)
{
    enum { AT_ONCE = 6 };
    const int simple = !job->weighted && target->h2 > 0.0f;
    for (int k = 0; k < n; k++) {
        const int32_t *number = job->number + left[k].cell * CPU_CELL;
        if (!simple || number[CPU_CELL - 1] < 0 || sink->found + CPU_CELL > sink->cap) {
            collect_with_care(job, target, left[k], sink);
            continue;
        }
        int32_t *to = sink->list + sink->found;
        const size_t found = (size_t)__builtin_popcount(left[k].bits);
        unsigned bits = left[k].bits;
        for (size_t at = 0; at < AT_ONCE; at++, bits &= bits - 1) to[at] = number[__builtin_ctz(bits | 1u << 15)];
        for (size_t at = AT_ONCE; at < found; at++, bits &= bits - 1) to[at] = number[__builtin_ctz(bits)];
        sink->found += found;
    }
}

static inline __attribute__((always_inline)) void add_near(const struct gpunb_tile_job *job, size_t first,
                                                           const struct gpunb_target *t, uint32_t near, const int two,
                                                           const int weighted, const int want_pot, struct sums *total,
                                                           struct gpunb_sink *sink)
{
    struct sums sums = *total;
    struct left_out left[TILE_CELLS];
    int n = 0;
    for (; near; near &= near - 1) {
        const size_t c = first + (size_t)__builtin_ctz(near);
        const struct gpunb_cell *cell = &job->cells[c];
        const int64_t own = t->place - (int64_t)(job->first + c * CPU_CELL);
        unsigned bits = 0;
#pragma GCC unroll 4
        for (int at = 0; at < CPU_CELL; at += SIMD_W) {
            const struct relative d = relative_to(t, cell, at, two);
            const vf r2 = square_of_distance(&d), m = vf_load(cell->m + at);
            vm skip = inside_sphere(t, &d, r2, m, weighted);
            if (__builtin_expect(own >= at && own < at + SIMD_W, 0)) skip = vm_with_lane(skip, (int)own - at);
            bits |= vm_bits(skip) << at;
            const struct vf_powers powers = vf_powers_but(m, r2, skip, two);
            add_pairs(&sums, &d, &powers, want_pot);
        }
        if (__builtin_expect(own >= 0 && own < CPU_CELL, 0)) bits &= ~(1u << own);
        left[n] = (struct left_out){(uint32_t)c, bits};
        n += bits != 0;
    }
    *total = sums;
    collect_near(job, t, left, n, sink);
}

/* The tile of the chunk whose first cell this is, on one target. Sums of more than a stretch are flushed. */
static inline __attribute__((always_inline)) void one_tile(const struct gpunb_tile_job *job, size_t first,
                                                           const struct gpunb_target *t, int far, const int two,
                                                           const int weighted, const int want_pot, struct sums *sums,
                                                           double lanes[N_SUMS][N_LANES], struct gpunb_sink *sink)
{
    const struct gpunb_tile *tile = &job->tiles[first / TILE_CELLS];
    const size_t left = job->n_cells - first;
    const int n = left < TILE_CELLS ? (int)left : TILE_CELLS;
    const uint32_t all = UINT32_MAX >> (32 - n) & UINT32_MAX << (first == 0 ? job->skip : 0);
    uint32_t near = 0;
    struct seen seen;
    if (!far) {
        const int64_t own = t->place - (int64_t)(job->first + first * CPU_CELL);
        see(tile, t, &seen);
        near = near_cells(tile, t, &seen, weighted);
        if (own >= 0 && own < TILE_CELLS * CPU_CELL) near |= 1u << own / CPU_CELL;
        near &= all;
    }
    for (int c = 0; c < n; c += STRETCH) {
        const uint32_t part = (uint32_t)((UINT64_C(1) << STRETCH) - 1) << c;
        if (c > 0) {
            flush(lanes, sums, want_pot);
            *sums = no_sums();
        }
        if (far) {
            add_far_tile(tile, c, n < c + STRETCH ? n : c + STRETCH, t, two, want_pot, sums);
            continue;
        }
        add_far(tile, t, &seen, all & ~near & part, two, want_pot, sums);
        if (near & part) add_near(job, first, t, near & part, two, weighted, want_pot, sums, sink);
    }
}

/* Cells that pass by a target until its sums are flushed. Float differences, whose pairs have errors of some 1e-7, may
 * have longer float sums: flushes are 3 percent of the time with vectors of 8. */
enum {
    ROUND = STRETCH > TILE_CELLS ? STRETCH : TILE_CELLS,
    FLOAT_ROUND = ROUND > 2 * TILE_CELLS ? ROUND : 2 * TILE_CELLS
};

static inline __attribute__((always_inline)) void all_tiles(const struct gpunb_tile_job *job, const int two,
                                                            const int weighted, const int want_pot)
{
    double lanes[CPU_UNIT][N_SUMS][N_LANES];
    uint32_t far[CPU_UNIT];
    memset(lanes, 0, job->count * sizeof lanes[0]);
    for (size_t k = 0; k < job->count; k++) far[k] = far_tiles(job, &job->targets[k], two, weighted);
    const size_t round = two ? ROUND : FLOAT_ROUND;
    for (size_t first = 0; first < job->n_cells; first += round)
        for (size_t k = 0; k < job->count; k++) {
            struct sums sums = no_sums();
            for (size_t c = first; c < first + round && c < job->n_cells; c += TILE_CELLS)
                one_tile(job, c, &job->targets[k], far[k] >> c / TILE_CELLS & 1, two, weighted, want_pot, &sums,
                         lanes[k], &job->sinks[k]);
            flush(lanes[k], &sums, want_pot);
        }
    for (size_t k = 0; k < job->count; k++) lanes_to_sum(lanes[k], two, &job->sums[k]);
}

static void put_in_order(int32_t *row, size_t n, size_t cap, uint64_t *marks, uint64_t *words)
{
    for (size_t k = 0; k < n; k++) {
        const uint32_t number = (uint32_t)row[k];
        marks[number / 64] |= UINT64_C(1) << number % 64;
        words[number / 4096] |= UINT64_C(1) << number / 64 % 64;
    }
    for (size_t s = 0, k = 0; k < n; s++) {
        for (uint64_t some = words[s]; some; some &= some - 1) {
            const size_t w = s * 64 + (size_t)__builtin_ctzll(some);
            const uint64_t all = marks[w], rest = all & (all - 1);
            const size_t found = (size_t)__builtin_popcountll(all);
            /* Most words have one mark or two, a number that is hard to predict. */
            row[k] = (int32_t)(w * 64) + __builtin_ctzll(all);
            if (k + 1 < cap) row[k + 1] = (int32_t)(w * 64) + __builtin_ctzll(rest | UINT64_C(1) << 63);
            uint64_t left = rest & (rest - 1);
            for (size_t at = k + 2; at < k + found; at++, left &= left - 1)
                row[at] = (int32_t)(w * 64) + __builtin_ctzll(left);
            k += found;
            marks[w] = 0;
        }
        words[s] = 0;
    }
}

static void regf_tiles(const struct gpunb_tile_job *job)
{
    KERNEL_BY_3(job->twofloat, job->weighted, job->want_pot, all_tiles, job);
}

#endif
