/* The force kernel: one source for all instruction sets. The including file has included simd_*.h, which defines
 *   SIMD_W           floats in a vector: 4, 8 or 16
 *   SIMD_BLOCK       targets that share one load of a vector of sources
 *   vf, vm           vector of floats; mask of its lanes
 *   vf_load, vf_store, vf_set1, vf_fma (a*b + c)
 *   vf_powers_but(m, r2, skip)   m/r, 1/r^2, m/r^3 to float precision, 0 where skip
 *   vm_either_lt(a, b, t)    a < t or b < t
 *   vm_with_lane(m, lane), vm_bits(m)
 * Nothing here depends on the number of threads. */
#ifndef GPUNB_KERNEL_CPU_H
#define GPUNB_KERNEL_CPU_H

#include "gpunb/cpu.h"

#include <string.h>

enum {
    TILE = 2 * SIMD_W,         /* cells between two flushes of the float sums: 32 additions for each lane */
    PARTS = CPU_CELL / SIMD_W, /* vectors in a cell */
    N_SUMS = 7,                /* acc, jerk, pot */
    CELLS_PER_WORD = 64 / CPU_CELL
};

/* Squares of distances up to this are taken as zero: 1/r^3 of such a pair would not fit a float. Added to the limit of
 * the neighbour test, it sends these pairs, and with them the target itself, to the rare path at no cost. */
#define TINY_R2 1e-37f

/* What a tile leaves behind: float sums of each lane, and a bit for each source that is a neighbour or at distance 0.
 */
struct tile_result {
    vf sums[SIMD_BLOCK][N_SUMS];
    uint16_t hits[SIMD_BLOCK][TILE];
};

/* One tile on N targets. `two`, `weighted`, `want_pot` and N are constants wherever this is inlined.
 * `own_cell[b]`: the cell of the tile that holds target b itself, -1 if none: that lane is left out. */
static inline __attribute__((always_inline)) void tile(const struct gpunb_cell *cells, int n_cells,
                                                       const struct gpunb_target *targets, const int *own_cell,
                                                       const int two, const int weighted, const int want_pot,
                                                       const int N, struct tile_result *result)
{
    const vf zero = vf_set1(0.0f), tiny = vf_set1(TINY_R2), minus3 = vf_set1(-3.0f);
    vf ax[SIMD_BLOCK], ay[SIMD_BLOCK], az[SIMD_BLOCK], jx[SIMD_BLOCK], jy[SIMD_BLOCK], jz[SIMD_BLOCK], ph[SIMD_BLOCK];
    for (int b = 0; b < N; b++) ax[b] = ay[b] = az[b] = jx[b] = jy[b] = jz[b] = ph[b] = zero;
    for (int c = 0; c < n_cells; c++) {
        const struct gpunb_cell *cell = &cells[c];
        unsigned bits[SIMD_BLOCK] = {0};
#pragma GCC unroll 4
        for (int p = 0; p < PARTS; p++) {
            const int at = p * SIMD_W;
            const vf xh = vf_load(cell->xh + at), yh = vf_load(cell->yh + at), zh = vf_load(cell->zh + at);
            const vf vx = vf_load(cell->vx + at), vy = vf_load(cell->vy + at), vz = vf_load(cell->vz + at);
            const vf m = vf_load(cell->m + at);
#pragma GCC unroll 4
            for (int b = 0; b < N; b++) {
                const struct gpunb_target *t = &targets[b];
                vf dx = xh - vf_set1(t->xh[0]), dy = yh - vf_set1(t->xh[1]), dz = zh - vf_set1(t->xh[2]);
                if (two) {
                    dx = dx + (vf_load(cell->xl + at) - vf_set1(t->xl[0]));
                    dy = dy + (vf_load(cell->yl + at) - vf_set1(t->xl[1]));
                    dz = dz + (vf_load(cell->zl + at) - vf_set1(t->xl[2]));
                }
                vf dvx = vx - vf_set1(t->v[0]), dvy = vy - vf_set1(t->v[1]), dvz = vz - vf_set1(t->v[2]);
                vf r2 = vf_fma(dz, dz, vf_fma(dy, dy, dx * dx));
                vf rv = vf_fma(dz, dvz, vf_fma(dy, dvy, dx * dvx));
                /* NA12 eq. 4 */
                vf dt = vf_set1(t->dt), h2 = vf_set1(t->h2);
                vf px = vf_fma(dt, dvx, dx), py = vf_fma(dt, dvy, dy), pz = vf_fma(dt, dvz, dz);
                vf p2 = vf_fma(pz, pz, vf_fma(py, py, px * px));
                vf limit = h2 + tiny;
                if (weighted) limit = vf_fma(m, h2, tiny);
                vm skip = vm_either_lt(r2, p2, limit);
                if (__builtin_expect(c == own_cell[b], 0)) skip = vm_with_lane(skip, t->self % CPU_CELL - at);
                bits[b] |= vm_bits(skip) << at;
                /* NA12 eq. 10, 11 */
                const struct vf_powers w = vf_powers_but(m, r2, skip);
                const vf mr3 = w.mr3, alpha = minus3 * rv * w.rinv2;
                ax[b] = vf_fma(mr3, dx, ax[b]);
                ay[b] = vf_fma(mr3, dy, ay[b]);
                az[b] = vf_fma(mr3, dz, az[b]);
                jx[b] = vf_fma(mr3, vf_fma(alpha, dx, dvx), jx[b]);
                jy[b] = vf_fma(mr3, vf_fma(alpha, dy, dvy), jy[b]);
                jz[b] = vf_fma(mr3, vf_fma(alpha, dz, dvz), jz[b]);
                if (want_pot) ph[b] = ph[b] + w.mr;
            }
        }
        for (int b = 0; b < N; b++) result->hits[b][c] = (uint16_t)bits[b];
    }
    for (int b = 0; b < N; b++) {
        const vf all[N_SUMS] = {ax[b], ay[b], az[b], jx[b], jy[b], jz[b], ph[b]};
        memcpy(result->sums[b], all, sizeof all);
    }
}

/* The variants of the tile that a call may want, each inlined once for one target and once for SIMD_BLOCK. */
static inline __attribute__((always_inline)) void any_tile(const struct gpunb_cpu_job *job,
                                                           const struct gpunb_cell *cells, int n_cells,
                                                           const int *own_cell, const int N, struct tile_result *result)
{
    const struct gpunb_target *t = job->targets;
    switch (job->twofloat << 2 | job->weighted << 1 | job->want_pot) {
    case 0:
        tile(cells, n_cells, t, own_cell, 0, 0, 0, N, result);
        break;
    case 1:
        tile(cells, n_cells, t, own_cell, 0, 0, 1, N, result);
        break;
    case 2:
        tile(cells, n_cells, t, own_cell, 0, 1, 0, N, result);
        break;
    case 3:
        tile(cells, n_cells, t, own_cell, 0, 1, 1, N, result);
        break;
    case 4:
        tile(cells, n_cells, t, own_cell, 1, 0, 0, N, result);
        break;
    case 5:
        tile(cells, n_cells, t, own_cell, 1, 0, 1, N, result);
        break;
    case 6:
        tile(cells, n_cells, t, own_cell, 1, 1, 0, N, result);
        break;
    default:
        tile(cells, n_cells, t, own_cell, 1, 1, 1, N, result);
        break;
    }
}

/* The rare path: sources that the tile left out are neighbours, unless they are the target, padding, or at distance 0
 * from a target whose sphere has no size for them. */
static void collect(const struct gpunb_cpu_job *job, const struct gpunb_cell *cells, int n_cells, size_t j_first,
                    const struct gpunb_target *target, const uint16_t *hits, struct gpunb_sink *sink)
{
    for (int c = 0; c < n_cells; c += CELLS_PER_WORD) {
        uint64_t word;
        memcpy(&word, hits + c, sizeof word);
        for (; word; word &= word - 1) {
            int bit = __builtin_ctzll(word);
            size_t j = j_first + (size_t)c * CPU_CELL + (size_t)bit;
            if (j >= job->n_j) return;
            if ((int32_t)j == target->self) continue;
            float weight = job->weighted ? cells[c + bit / CPU_CELL].m[bit % CPU_CELL] : 1.0f;
            if (!(weight * target->h2 > 0.0f)) continue;
            if (sink->found < sink->cap) sink->list[sink->found] = (int32_t)j;
            sink->found++;
        }
    }
}

static void lanes_to_sum(double lanes[N_SUMS][SIMD_W], struct gpunb_sum *sum)
{
    double all[N_SUMS];
    for (int q = 0; q < N_SUMS; q++) {
        for (int half = SIMD_W / 2; half > 0; half /= 2)
            for (int l = 0; l < half; l++) lanes[q][l] += lanes[q][l + half];
        all[q] = lanes[q][0];
    }
    memcpy(sum->acc, all, sizeof sum->acc);
    memcpy(sum->jerk, all + 3, sizeof sum->jerk);
    sum->pot = all[6];
}

static inline __attribute__((always_inline)) void chunk(const struct gpunb_cpu_job *job, const int N)
{
    double lanes[SIMD_BLOCK][N_SUMS][SIMD_W] = {0};
    for (size_t first = 0; first < job->n_cells; first += TILE) {
        const struct gpunb_cell *cells = job->cells + first;
        const size_t j_first = job->j_first + first * CPU_CELL;
        const int n_cells = (int)(job->n_cells - first < TILE ? job->n_cells - first : TILE);
        struct tile_result result;
        int own_cell[SIMD_BLOCK];
        for (int b = 0; b < N; b++) {
            int64_t ahead = (int64_t)job->targets[b].self - (int64_t)j_first;
            own_cell[b] = ahead >= 0 && ahead < TILE * CPU_CELL ? (int)(ahead / CPU_CELL) : -1;
        }
        if (n_cells < TILE) memset(result.hits, 0, sizeof result.hits);
        any_tile(job, cells, n_cells, own_cell, N, &result);
        for (int b = 0; b < N; b++) {
            for (int q = 0; q < N_SUMS; q++) {
                float part[SIMD_W];
                vf_store(part, result.sums[b][q]);
                for (int l = 0; l < SIMD_W; l++) lanes[b][q][l] += (double)part[l];
            }
            collect(job, cells, n_cells, j_first, &job->targets[b], result.hits[b], &job->sinks[b]);
        }
    }
    for (int b = 0; b < N; b++) lanes_to_sum(lanes[b], &job->sums[b]);
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
