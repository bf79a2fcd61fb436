#include "nbody6/fewbody/parts.h"

#include "nbody6/galaxy/external.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

void nb6_parts_of_point(struct nb6_parts *parts)
{
    parts->n = 1;
    parts->mass[0] = 1;
    memset(parts->x[0], 0, sizeof parts->x[0]);
    memset(parts->v[0], 0, sizeof parts->v[0]);
}

/* Side by side, in the lanes of vectors. */
enum { LANES = 2 };
_Static_assert(CHAIN_MAX % LANES == 0, "room for whole vectors");

/* Changes the fourth power of no distance but zero, at which there is no force then, and no division by zero. */
static const double AT_ORIGIN = 1e-290;

/* Forces of n parts, or on them, at the distances d, with velocities w: a whole number of vectors. */
static void add_lanes(int n, const double m[], double d[3][CHAIN_MAX], double w[3][CHAIN_MAX], double acc[3],
                      double jerk[3])
{
    double scale[CHAIN_MAX], alpha[CHAIN_MAX];
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const double r2 = d[0][i] * d[0][i] + d[1][i] * d[1][i] + d[2][i] * d[2][i];
        const double inv2 = r2 / (r2 * r2 + AT_ORIGIN);
        scale[i] = m[i] * inv2 * sqrt(inv2);
        alpha[i] = 3 * (d[0][i] * w[0][i] + d[1][i] * w[1][i] + d[2][i] * w[2][i]) * inv2;
    }
    for (int k = 0; k < 3; k++) {
        double sum[2][LANES] = {{0}};
        for (int i = 0; i < n; i += LANES)
            for (int l = 0; l < LANES; l++) {
                sum[0][l] += scale[i + l] * d[k][i + l];
                sum[1][l] += scale[i + l] * (w[k][i + l] - alpha[i + l] * d[k][i + l]);
            }
        for (int l = 0; l < LANES; l++) {
            acc[k] += sum[0][l];
            jerk[k] += sum[1][l];
        }
    }
}

/* Force of unit mass at x, v, times a mass, where one of both is divided into parts.
 * @param[in] sign  1: that at x, v; -1: the other one */
static void add_force(const struct nb6_parts *parts, double sign, double mass, const double x[3], const double v[3],
                      double acc[3], double jerk[3])
{
    double d[3][CHAIN_MAX], w[3][CHAIN_MAX], m[CHAIN_MAX];
    int n = parts->n;
    for (int i = 0; i < n; i++) {
        m[i] = mass * parts->mass[i];
        for (int k = 0; k < 3; k++) {
            d[k][i] = x[k] + sign * parts->x[i][k];
            w[k][i] = v[k] + sign * parts->v[i][k];
        }
    }
    for (; n % LANES != 0; n++) { /* without mass */
        m[n] = 0;
        for (int k = 0; k < 3; k++) d[k][n] = w[k][n] = 1;
    }
    add_lanes(n, m, d, w, acc, jerk);
}

void nb6_parts_force(double mass, const double x[3], const double v[3], const struct nb6_parts *own,
                     const struct nb6_parts *other, double acc[3], double jerk[3])
{
    const int by_own = own->n > other->n;
    const struct nb6_parts *few = by_own ? other : own, *many = by_own ? own : other;
    const double sign = by_own ? 1 : -1; /* of places in `few` */
    struct nb6_parts point;
    double a[3] = {0, 0, 0}, j[3] = {0, 0, 0};
    for (int m = 0; m < few->n; m++) {
        double dx[3], dv[3];
        for (int d = 0; d < 3; d++) {
            dx[d] = x[d] + sign * few->x[m][d];
            dv[d] = v[d] + sign * few->v[m][d];
        }
        add_force(many, -sign, few->mass[m], dx, dv, a, j);
    }
    nb6_parts_of_point(&point);
    add_force(&point, 1, -1, x, v, a, j);
    for (int d = 0; d < 3; d++) {
        acc[d] += mass * a[d];
        jerk[d] += mass * j[d];
    }
}

double nb6_parts_potential(const double x[3], const struct nb6_parts *own, const struct nb6_parts *other)
{
    double sum = 1 / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int m = 0; m < own->n; m++)
        for (int k = 0; k < other->n; k++) {
            double r2 = 0;
            for (int d = 0; d < 3; d++) {
                double dx = x[d] + (other->x[k][d] - own->x[m][d]);
                r2 += dx * dx;
            }
            sum -= own->mass[m] * other->mass[k] / sqrt(r2);
        }
    return sum;
}

double nb6_parts_tidal(const struct nb6_external *external, double t, const double centre[3],
                       const struct nb6_parts *own)
{
    double sum = 0;
    for (int m = 0; m < own->n; m++)
        sum += own->mass[m] * nb6_external_relative_potential(external, t, centre, own->x[m]);
    return sum;
}
