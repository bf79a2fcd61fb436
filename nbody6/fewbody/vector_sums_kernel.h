/* The sums of nbody6/fewbody/vector_sums.h. Loops over lanes become vectors of the width for which a file is compiled.
 */
#include "nbody6/fewbody/vector_sums.h"
#include "nbody6/state/pull.h"

#include <math.h>

enum { LANES = NB6_LANES };

/* With w = m/r^3 and q = x.v/r^2 the tide is 3 w x x/r^2 - w, and its derivative (3 w x/r^2) (v - 5 q x/2) + (v - 5 q
 * x/2) (3 w x/r^2) + 3 w q. */
static inline void add_cell(const struct nb6_source_cell *s, const double at[3], const double v_at[3],
                            struct nb6_tide_sums *sums)
{
    double x[3][LANES], w[LANES], q[LANES], scale[LANES], y[3][LANES], z[3][LANES];
    for (int a = 0; a < 3; a++)
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            x[a][l] = s->x[a][l] - at[a];
            z[a][l] = s->v[a][l] - v_at[a];
        }
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        const double inv2 = 1 / (x[0][l] * x[0][l] + x[1][l] * x[1][l] + x[2][l] * x[2][l]);
        w[l] = s->m[l] * inv2 * sqrt(inv2);
        q[l] = (x[0][l] * z[0][l] + x[1][l] * z[1][l] + x[2][l] * z[2][l]) * inv2;
        scale[l] = 3 * w[l] * inv2;
        sums->trace[l] += w[l];
        sums->trace_dot[l] -= 3 * w[l] * q[l];
    }
    for (int a = 0; a < 3; a++)
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            y[a][l] = scale[l] * x[a][l];
            z[a][l] -= 2.5 * q[l] * x[a][l];
        }
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++)
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                sums->field[k][l] += y[a][l] * x[b][l];
                sums->field_dot[k][l] += y[a][l] * z[b][l] + z[a][l] * y[b][l];
            }
}

static void add_tides(int64_t n, const struct nb6_source_cell *cell, const double x[3], const double v[3],
                      struct nb6_tide_sums *sums)
{
    struct nb6_tide_sums local = *sums;
    for (int64_t k = 0; k < n; k++) add_cell(&cell[k], x, v, &local);
    *sums = local;
}

static void add_pulls(int64_t n, const struct nb6_source_cell *cell, const double at[3], const double v_at[3],
                      struct nb6_pull_sums *sums)
{
    struct nb6_pull_sums local = *sums;
    for (int64_t k = 0; k < n; k++) {
        const struct nb6_source_cell *s = &cell[k];
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            const double x = s->x[0][l] - at[0], y = s->x[1][l] - at[1], z = s->x[2][l] - at[2];
            const double vx = s->v[0][l] - v_at[0], vy = s->v[1][l] - v_at[1], vz = s->v[2][l] - v_at[2];
            const double r2 = x * x + y * y + z * z, inv2 = r2 / (r2 * r2 + NB6_AT_ORIGIN);
            const double w = s->m[l] * inv2 * sqrt(inv2), alpha = 3 * (x * vx + y * vy + z * vz) * inv2;
            local.acc[0][l] += w * x;
            local.acc[1][l] += w * y;
            local.acc[2][l] += w * z;
            local.jerk[0][l] += w * (vx - alpha * x);
            local.jerk[1][l] += w * (vy - alpha * y);
            local.jerk[2][l] += w * (vz - alpha * z);
        }
    }
    *sums = local;
}

static void add_potentials(int64_t n, const struct nb6_source_cell *cell, const double at[3], double sums[LANES])
{
    double local[LANES];
    for (int l = 0; l < LANES; l++) local[l] = sums[l];
    for (int64_t k = 0; k < n; k++) {
        const struct nb6_source_cell *s = &cell[k];
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            const double x = s->x[0][l] - at[0], y = s->x[1][l] - at[1], z = s->x[2][l] - at[2];
            const double r2 = x * x + y * y + z * z;
            local[l] += s->m[l] * sqrt(r2 / (r2 * r2 + NB6_AT_ORIGIN));
        }
    }
    for (int l = 0; l < LANES; l++) sums[l] = local[l];
}

static void set_forces(int n, struct nb6_part_terms *t)
{
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const double r2 = t->d[0][i] * t->d[0][i] + t->d[1][i] * t->d[1][i] + t->d[2][i] * t->d[2][i];
        const double inv2 = r2 / (r2 * r2 + NB6_AT_ORIGIN);
        t->scale[i] = t->m[i] * inv2 * sqrt(inv2);
        t->alpha[i] = 3 * (t->d[0][i] * t->w[0][i] + t->d[1][i] * t->w[1][i] + t->d[2][i] * t->w[2][i]) * inv2;
    }
}
