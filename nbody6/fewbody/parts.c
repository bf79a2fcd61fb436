#include "nbody6/fewbody/parts.h"

#include "nbody6/fewbody/vector_sums.h"
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

/* Side by side; each lane has a sum of its own. */
enum { LANES = 2 };

static void add_terms(int n, const struct nb6_part_terms *t, double acc[3], double jerk[3])
{
    for (int k = 0; k < 3; k++) {
        double sum[2][LANES] = {{0}};
        for (int i = 0; i < n; i += LANES)
            for (int l = i; l < i + LANES; l++) {
                sum[0][l - i] += t->scale[l] * t->d[k][l];
                sum[1][l - i] += t->scale[l] * (t->w[k][l] - t->alpha[l] * t->d[k][l]);
            }
        for (int l = 0; l < LANES; l++) {
            acc[k] += sum[0][l];
            jerk[k] += sum[1][l];
        }
    }
}

_Static_assert(CHAIN_MAX % LANES == 0, "room for whole lanes");

/* Force of unit mass at x, v, times a mass, where one of both is divided into parts.
 * @param[in] sign  1: that at x, v; -1: the other one */
static void add_force(const struct nb6_vector_sums *sums, const struct nb6_parts *parts, double sign, double mass,
                      const double x[3], const double v[3], double acc[3], double jerk[3])
{
    struct nb6_part_terms t;
    int n = parts->n;
    for (int i = 0; i < n; i++) {
        t.m[i] = mass * parts->mass[i];
        for (int k = 0; k < 3; k++) {
            t.d[k][i] = x[k] + sign * parts->x[i][k];
            t.w[k][i] = v[k] + sign * parts->v[i][k];
        }
    }
    for (; n % LANES != 0; n++) { /* without mass */
        t.m[n] = 0;
        for (int k = 0; k < 3; k++) t.d[k][n] = t.w[k][n] = 1;
    }
    sums->set_forces(n, &t);
    add_terms(n, &t, acc, jerk);
}

void nb6_parts_force(const struct nb6_vector_sums *sums, double mass, const double x[3], const double v[3],
                     const struct nb6_parts *own, const struct nb6_parts *other, double acc[3], double jerk[3])
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
        add_force(sums, many, -sign, few->mass[m], dx, dv, a, j);
    }
    nb6_parts_of_point(&point);
    add_force(sums, &point, 1, -1, x, v, a, j);
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
