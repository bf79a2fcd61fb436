/* The force kernel for pairs of targets: common terms of a pair are computed once, and both of its bodies get their
 * force. Some targets of one tile meet the cells of another one. A cell, or a vector of it, keeps its sums in
 * registers while targets pass by, whose own sums are in memory, a lane for each source. Needs from simd_*.h the
 * names of kernel_pair.h, and
 *   vf_unless(m, a)         a, 0 where m;   vm_both(a, b)
 *   vf_add_each(sums, a)    each lane of a is added to its double
 *   vf_add_totals(sums, p)  the lanes of each of eight vectors are added to its double */
#ifndef GPUNB_CPU_KERNEL_MUTUAL_H
#define GPUNB_CPU_KERNEL_MUTUAL_H

#include "gpunb/cpu/kernel_tile.h"

#include <math.h>

/* Targets that pass by at a time: additions to a float sum of a source. */
enum { PASSING = 32, PASSING_CELLS = PASSING / CPU_CELL };

/* The targets that pass by, in the frame of the tile of the others, positions as two floats. */
struct passing {
    _Alignas(64) float x[3][PASSING], low[3][PASSING];
    float xh[3][PASSING], xl[3][PASSING], v[3][PASSING], m[PASSING];
    float dt[PASSING], h2[PASSING];
    float sums[PASSING][MUTUAL_SUMS][SIMD_W];
    int n;
};

static inline const float *row_of(const struct gpunb_cell *cell, int row)
{
    return cell->xh + row * CPU_CELL;
}

static void let_pass(const struct gpunb_mutual_job *job, size_t first, struct passing *p)
{
    enum { X = 0, V = 3, M = 6, LOW = 7 }; /* rows of a cell */
    const size_t left = job->n_i - first;
    p->n = left < PASSING ? (int)left : PASSING;
    for (size_t part = 0; part < PASSING_CELLS; part++) {
        const size_t c = first / CPU_CELL + part, at = part * CPU_CELL;
        const size_t known =
            c * CPU_CELL < job->n_i ? c : first / CPU_CELL; /* else any: lanes past the end do not count */
        const struct gpunb_cell *cell = &job->cells_i[known];
        const struct gpunb_mutual_cell *of = &job->of_i[known];
        for (int k = 0; k < 3; k++) {
            memcpy(p->xh[k] + at, row_of(cell, X + k), sizeof cell->xh);
            memcpy(p->xl[k] + at, row_of(cell, LOW + k), sizeof cell->xh);
            memcpy(p->v[k] + at, row_of(cell, V + k), sizeof cell->xh);
        }
        memcpy(p->m + at, row_of(cell, M), sizeof cell->xh);
        memcpy(p->dt + at, of->dt, sizeof of->dt);
        memcpy(p->h2 + at, of->h2, sizeof of->h2);
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < PASSING; i++) {
            const double low = job->twofloat ? (double)p->xl[k][i] : 0.0;
            gpunb_split((double)p->xh[k][i] - job->tile->centre[k] + low, &p->x[k][i], &p->low[k][i]);
        }
    memset(p->sums, 0, (size_t)p->n * sizeof p->sums[0]);
}

/* Bounds of the cells met: a box about `at`, and the largest sphere and step of its targets. */
struct met {
    float at[3], half[3], radius, weight, h, dt;
};

/* A bit for each passing target that is near to the cells met: either may be the other's neighbour, or relative
 * positions are too coarse (kernel_tile.h). */
static inline __attribute__((always_inline)) uint32_t near_of(const struct gpunb_tile *tile, const struct passing *p,
                                                              const struct met *met, const int weighted)
{
    const vf zero = vf_set1(0.0f), margin = vf_set1(CELL_MARGIN), coarse = vf_set1(COARSE * met->radius);
    uint32_t near = 0;
    for (int i = 0; i < PASSING; i += SIMD_W) {
        vf d2 = vf_set1(TINY_R2), v2 = zero;
        for (int k = 0; k < 3; k++) {
            const vf x = (vf_load(p->x[k] + i) - vf_set1(met->at[k])) + vf_load(p->low[k] + i);
            const vf d = vf_max(vf_abs(x) - vf_set1(met->half[k]), zero);
            const vf v = vf_load(p->v[k] + i) - vf_set1(tile->v[k]);
            d2 = vf_fma(d, d, d2);
            v2 = vf_fma(v, v, v2);
        }
        const vf reach = (vf_sqrt(v2) + vf_set1(tile->speed)) * vf_max(vf_load(p->dt + i), vf_set1(met->dt));
        vf own = vf_sqrt(vf_load(p->h2 + i)), others = vf_set1(met->h);
        if (weighted) {
            own = own * vf_set1(met->weight);
            others = others * vf_sqrt(vf_max(vf_load(p->m + i), zero));
        }
        const vf limit = vf_max((vf_max(own, others) + reach) * margin, coarse);
        near |= vm_bits(vm_not_above(d2, vf_fma(limit, limit, vf_set1(2 * TINY_R2)))) << i;
    }
    return near & UINT32_MAX >> (32 - p->n);
}

/* Add a pair to both sums, from 1/r^3, as a multiple of mr3_unit, and the like. d: from the source to the target: a
 * difference whose second term is in memory is one operation. */
static inline __attribute__((always_inline)) void add_both(const struct relative *d, const struct vf_powers *w,
                                                           vf on_target, vf on_source, const int want_pot,
                                                           float of_target[MUTUAL_SUMS][SIMD_W], struct sums *of_source)
{
    const vf alpha = vf_fma(d->dz, d->dvz, vf_fma(d->dy, d->dvy, d->dx * d->dvx)) * w->rinv2_3;
    const vf jx = vf_fnma(alpha, d->dx, d->dvx), jy = vf_fnma(alpha, d->dy, d->dvy), jz = vf_fnma(alpha, d->dz, d->dvz);
    const vf here = w->mr3 * on_target, there = w->mr3 * on_source;
    vf_store(of_target[0], vf_fnma(here, d->dx, vf_load(of_target[0])));
    vf_store(of_target[1], vf_fnma(here, d->dy, vf_load(of_target[1])));
    vf_store(of_target[2], vf_fnma(here, d->dz, vf_load(of_target[2])));
    vf_store(of_target[3], vf_fnma(here, jx, vf_load(of_target[3])));
    vf_store(of_target[4], vf_fnma(here, jy, vf_load(of_target[4])));
    vf_store(of_target[5], vf_fnma(here, jz, vf_load(of_target[5])));
    of_source->ax = vf_fma(there, d->dx, of_source->ax);
    of_source->ay = vf_fma(there, d->dy, of_source->ay);
    of_source->az = vf_fma(there, d->dz, of_source->az);
    of_source->jx = vf_fma(there, jx, of_source->jx);
    of_source->jy = vf_fma(there, jy, of_source->jy);
    of_source->jz = vf_fma(there, jz, of_source->jz);
    if (want_pot) {
        vf_store(of_target[6], vf_fma(w->mr, on_target, vf_load(of_target[6])));
        of_source->pot = vf_fma(w->mr, on_source, of_source->pot);
    }
}

static inline __attribute__((always_inline)) struct relative far_apart(const struct gpunb_far_cell *cell,
                                                                       const float from[3][CPU_CELL], int at,
                                                                       const float x[3][PASSING],
                                                                       const struct passing *p, int i)
{
    return (struct relative){.dx = vf_set1(x[0][i]) - vf_load(from[0] + at),
                             .dy = vf_set1(x[1][i]) - vf_load(from[1] + at),
                             .dz = vf_set1(x[2][i]) - vf_load(from[2] + at),
                             .dvx = vf_set1(p->v[0][i]) - vf_load(cell->vx + at),
                             .dvy = vf_set1(p->v[1][i]) - vf_load(cell->vy + at),
                             .dvz = vf_set1(p->v[2][i]) - vf_load(cell->vz + at)};
}

/* A vector of a cell and the targets listed; all that pass if there is no list. */
static inline __attribute__((always_inline)) void
meet_far(const struct gpunb_far_cell *cell, const float from[3][CPU_CELL], int at, const float x[3][PASSING],
         struct passing *p, const uint8_t *list, int n, const int two, const int want_pot, struct sums *total)
{
    const vf one = vf_set1(1.0f), m = vf_load(cell->m + at);
    struct sums sums = *total;
    for (int k = 0; k < n; k++) {
        const int i = list ? list[k] : k;
        const struct relative d = far_apart(cell, from, at, x, p, i);
        const struct vf_powers w = vf_powers(one, square_of_distance(&d), two);
        add_both(&d, &w, m, vf_set1(p->m[i]), want_pot, p->sums[i], &sums);
    }
    *total = sums;
}

static inline void note(struct gpunb_sink *sink, int32_t number)
{
    if (sink->found < sink->cap) sink->list[sink->found] = number;
    sink->found++;
}

/* Neighbours of target i, and the targets that it is a neighbour of, among the sources of a cell. Those without a
 * sphere have none, although pairs at no distance are left out of their sums. */
static void note_both(const struct gpunb_mutual_job *job, size_t i, size_t cell, uint32_t of_i, uint32_t of_j)
{
    const size_t at = cell * CPU_CELL;
    const struct gpunb_mutual_cell *own = &job->of_i[i / CPU_CELL], *others = &job->of_j[cell];
    const float h2 = own->h2[i % CPU_CELL], m = job->weighted ? job->cells_i[i / CPU_CELL].m[i % CPU_CELL] : 1.0f;
    for (; of_i; of_i &= of_i - 1) {
        const int l = __builtin_ctz(of_i);
        if ((job->weighted ? job->cells_j[cell].m[l] : 1.0f) * h2 > 0.0f)
            note(&job->sinks_i[i], job->number_j[at + (size_t)l]);
    }
    for (; of_j; of_j &= of_j - 1) {
        const int l = __builtin_ctz(of_j);
        if (m * others->h2[l] > 0.0f) note(&job->sinks_j[at + (size_t)l], job->number_i[i]);
    }
}

/* A vector of a cell and one target, with both tests of NA12 eq. 4.   @param[out] bits  of sources, by direction */
static inline __attribute__((always_inline)) void meet_near(const struct gpunb_cell *cell,
                                                            const struct gpunb_mutual_cell *of, int at,
                                                            struct passing *p, int i, const int two, const int weighted,
                                                            const int want_pot, struct sums *sums, uint32_t bits[2])
{
    const struct gpunb_target t = {.xh = {p->xh[0][i], p->xh[1][i], p->xh[2][i]},
                                   .xl = {p->xl[0][i], p->xl[1][i], p->xl[2][i]},
                                   .v = {p->v[0][i], p->v[1][i], p->v[2][i]},
                                   .dt = p->dt[i],
                                   .h2 = p->h2[i]};
    const struct relative d = relative_to(&t, cell, at, two);
    const vf r2 = square_of_distance(&d), m = vf_load(cell->m + at), m_i = vf_set1(p->m[i]), dt = vf_load(of->dt + at);
    const vm skip = inside_sphere(&t, &d, r2, m, weighted);
    const vf px = vf_fma(dt, d.dvx, d.dx), py = vf_fma(dt, d.dvy, d.dy), pz = vf_fma(dt, d.dvz, d.dz),
             p2 = vf_fma(pz, pz, vf_fma(py, py, px * px)), h2 = vf_load(of->h2 + at), tiny = vf_set1(TINY_R2);
    vf limit = h2 + tiny;
    if (weighted) limit = vf_fma(m_i, h2, tiny);
    const vm skip_back = vm_either_lt(r2, p2, limit);
    const struct vf_powers w = vf_powers_but(vf_set1(1.0f), r2, vm_both(skip, skip_back), two);
    const vf zero = vf_set1(0.0f);
    const struct relative back = {zero - d.dx, zero - d.dy, zero - d.dz, zero - d.dvx, zero - d.dvy, zero - d.dvz};
    add_both(&back, &w, vf_unless(skip, m), vf_unless(skip_back, m_i), want_pot, p->sums[i], sums);
    bits[0] |= vm_bits(skip) << at;
    bits[1] |= vm_bits(skip_back) << at;
}

static inline __attribute__((always_inline)) void flush_sources(struct gpunb_mutual_cell *of, int at,
                                                                const struct sums *sums, const int want_pot)
{
    vf_add_each(of->met[0] + at, sums->ax);
    vf_add_each(of->met[1] + at, sums->ay);
    vf_add_each(of->met[2] + at, sums->az);
    vf_add_each(of->met[3] + at, sums->jx);
    vf_add_each(of->met[4] + at, sums->jy);
    vf_add_each(of->met[5] + at, sums->jz);
    if (want_pot) vf_add_each(of->met[6] + at, sums->pot);
}

static void flush_passing(const struct gpunb_mutual_job *job, size_t first, const struct passing *p)
{
    for (int i = 0; i < p->n; i++) {
        const size_t place = first + (size_t)i;
        vf_add_totals(job->of_i[place / CPU_CELL].passed[place % CPU_CELL], p->sums[i][0]);
    }
}

/* Cell c, all of whose sources are far from all that pass. */
static inline __attribute__((always_inline)) void meet_far_cell(const struct gpunb_mutual_job *job, size_t c,
                                                                struct passing *p, const int two, const int want_pot)
{
    const struct gpunb_far_cell *cell = &job->tile->cell[job->first_j + c];
    for (int at = 0; at < CPU_CELL; at += SIMD_W) {
        struct sums sums = no_sums();
        meet_far(cell, cell->in_tile, at, p->x, p, NULL, p->n, two, want_pot, &sums);
        flush_sources(&job->of_j[c], at, &sums, want_pot);
    }
}

static inline struct met cell_of(const struct gpunb_mutual_job *job, size_t c)
{
    const struct gpunb_tile *tile = job->tile;
    const size_t at = job->first_j + c;
    struct met met = {
        .radius = tile->radius[at], .weight = tile->weight[at], .h = job->of_j[c].h, .dt = job->of_j[c].dt_most};
    for (int k = 0; k < 3; k++) {
        met.at[k] = tile->at[k][at];
        met.half[k] = tile->half[k][at];
    }
    return met;
}

/* Cell c: far targets relative to its centre, then near ones. */
static inline __attribute__((always_inline)) void meet_cell(const struct gpunb_mutual_job *job, size_t first, size_t c,
                                                            struct passing *p, const int two, const int weighted,
                                                            const int want_pot)
{
    const struct gpunb_far_cell *cell = &job->tile->cell[job->first_j + c];
    const struct met met = cell_of(job, c);
    const uint32_t near = near_of(job->tile, p, &met, weighted);
    const uint32_t there = UINT32_MAX >> (job->n_j - c * CPU_CELL < CPU_CELL ? 32 - (job->n_j - c * CPU_CELL) : 16);
    _Alignas(64) float x[3][PASSING];
    uint32_t bits[PASSING][2];
    uint8_t list[PASSING];
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        list[n] = (uint8_t)i;
        n += !(near >> i & 1);
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < PASSING; i += SIMD_W)
            vf_store(x[k] + i, (vf_load(p->x[k] + i) - vf_set1(met.at[k])) + vf_load(p->low[k] + i));
    for (int at = 0; at < CPU_CELL; at += SIMD_W) {
        struct sums sums = no_sums();
        meet_far(cell, cell->in_cell, at, (const float(*)[PASSING])x, p, list, n, two, want_pot, &sums);
        for (uint32_t left = near; left; left &= left - 1) {
            const int i = __builtin_ctz(left);
            if (at == 0) bits[i][0] = bits[i][1] = 0;
            meet_near(&job->cells_j[c], &job->of_j[c], at, p, i, two, weighted, want_pot, &sums, bits[i]);
        }
        flush_sources(&job->of_j[c], at, &sums, want_pot);
    }
    for (uint32_t left = near; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        if ((bits[i][0] | bits[i][1]) & there)
            note_both(job, first + (size_t)i, c, bits[i][0] & there, bits[i][1] & there);
    }
}

static struct met tile_of(const struct gpunb_mutual_job *job)
{
    const struct gpunb_tile_bounds *b = job->bounds;
    const size_t at = job->at, n = (job->n_j + CPU_CELL - 1) / CPU_CELL;
    struct met met = {
        .half = {b->half[0][at], b->half[1][at], b->half[2][at]}, .radius = b->radius[at], .weight = b->weight[at]};
    for (size_t c = 0; c < n; c++) {
        met.h = fmaxf(met.h, job->of_j[c].h);
        met.dt = fmaxf(met.dt, job->of_j[c].dt_most);
    }
    return met;
}

static inline __attribute__((always_inline)) void meet(const struct gpunb_mutual_job *job, const int two,
                                                       const int weighted, const int want_pot)
{
    const struct met tile = tile_of(job);
    const size_t n_cells = (job->n_j + CPU_CELL - 1) / CPU_CELL;
    struct passing p;
    for (size_t first = 0; first < job->n_i; first += PASSING) {
        let_pass(job, first, &p);
        const int far = !near_of(job->tile, &p, &tile, weighted);
        for (size_t c = 0; c < n_cells; c++) {
            if (far)
                meet_far_cell(job, c, &p, two, want_pot);
            else
                meet_cell(job, first, c, &p, two, weighted, want_pot);
        }
        flush_passing(job, first, &p);
    }
}

static void regf_mutual(const struct gpunb_mutual_job *job)
{
    KERNEL_BY_3(job->twofloat, job->weighted, job->want_pot, meet, job);
}

#endif
