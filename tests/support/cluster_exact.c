#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "tests/support/cluster.h"

/* Substeps 2, 4, ... 16: eight results of the modified midpoint rule; their errors are series in the squared
 * substep. */
enum { ROWS = 8 };

static void forces(const struct cluster *c, const long double *x, long double *acc)
{
    memset(acc, 0, (size_t)c->n * 3 * sizeof *acc);
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = 0; j < i; j++) {
            long double d[3], r2 = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = x[3 * j + k] - x[3 * i + k];
                r2 += d[k] * d[k];
            }
            long double inverse = 1 / (r2 * sqrtl(r2));
            for (int k = 0; k < 3; k++) {
                acc[3 * i + k] += c->mass[j] * inverse * d[k];
                acc[3 * j + k] -= c->mass[i] * inverse * d[k];
            }
        }
}

/* The moving masses of a cluster, in a field or not. */
struct motion {
    const struct cluster *c;
    const struct nb6_external *field; /* NULL: none */
};

/* State vectors hold 3 n positions and then 3 n velocities. */
static void slope(const struct motion *m, const long double *y, long double *dy)
{
    const size_t half = 3 * (size_t)m->c->n;
    memcpy(dy, y + half, half * sizeof *dy);
    forces(m->c, y, dy + half);
    if (!m->field) return;
    const long double t_x = m->field->t_x, t_z = m->field->t_z, coriolis = m->field->coriolis;
    for (size_t k = 0; k < half; k += 3) {
        dy[half + k] += t_x * y[k] + coriolis * y[half + k + 1];
        dy[half + k + 1] -= coriolis * y[half + k];
        dy[half + k + 2] += t_z * y[k + 2];
    }
}

/* Modified midpoint rule with Gragg's smoothing. */
static void midpoint(const struct motion *motion, size_t size, int substeps, long double h, const long double *y,
                     long double *result, long double *work)
{
    long double s = h / substeps, *before = work, *now = work + size, *dy = work + 2 * size;
    memcpy(before, y, size * sizeof *y);
    slope(motion, y, dy);
    for (size_t k = 0; k < size; k++) now[k] = y[k] + s * dy[k];
    for (int m = 1; m < substeps; m++) {
        slope(motion, now, dy);
        for (size_t k = 0; k < size; k++) {
            long double next = before[k] + 2 * s * dy[k];
            before[k] = now[k];
            now[k] = next;
        }
    }
    slope(motion, now, dy);
    for (size_t k = 0; k < size; k++) result[k] = 0.5L * (now[k] + before[k] + s * dy[k]);
}

/* Aitken-Neville extrapolation to substep zero; row[m] belongs to 2 (m + 1) substeps. */
static void extrapolate(size_t size, long double *row[ROWS])
{
    for (int order = 1; order < ROWS; order++)
        for (int m = ROWS - 1; m >= order; m--) {
            long double ratio = (long double)(m + 1) / (m + 1 - order), weight = 1 / (ratio * ratio - 1);
            for (size_t k = 0; k < size; k++) row[m][k] += weight * (row[m][k] - row[m - 1][k]);
        }
}

void cluster_integrate_exactly(struct cluster *cluster, double t, double h)
{
    cluster_integrate_in_field(cluster, NULL, t, h);
}

void cluster_integrate_in_field(struct cluster *cluster, const struct nb6_external *field, double t, double h)
{
    const struct motion motion = {cluster, field};
    size_t half = 3 * (size_t)cluster->n, size = 2 * half;
    long double *y = nbc_alloc((ROWS + 4) * size, sizeof *y), *row[ROWS];
    if (!y) fail_msg("no memory for the reference integrator");
    for (int m = 0; m < ROWS; m++) row[m] = y + (size_t)(m + 1) * size;
    for (size_t k = 0; k < half; k++) {
        y[k] = (&cluster->x[0][0])[k];
        y[half + k] = (&cluster->v[0][0])[k];
    }
    int64_t steps = llround(fabs(t) / h);
    for (int64_t step = 0; step < steps; step++) {
        for (int m = 0; m < ROWS; m++)
            midpoint(&motion, size, 2 * (m + 1), (long double)t / steps, y, row[m], y + (ROWS + 1) * size);
        extrapolate(size, row);
        memcpy(y, row[ROWS - 1], size * sizeof *y);
    }
    for (size_t k = 0; k < half; k++) {
        (&cluster->x[0][0])[k] = (double)y[k];
        (&cluster->v[0][0])[k] = (double)y[half + k];
    }
    nbc_free(y);
}
