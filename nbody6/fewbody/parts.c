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

/* Force of unit mass at x, v. */
static void add_force(double m, const double x[3], const double v[3], double acc[3], double jerk[3])
{
    double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    if (!(r2 > 0)) return;
    double alpha = 3 * (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / r2, w = m / (r2 * sqrt(r2));
    for (int k = 0; k < 3; k++) {
        acc[k] += w * x[k];
        jerk[k] += w * (v[k] - alpha * x[k]);
    }
}

void nb6_parts_force(double mass, const double x[3], const double v[3], const struct nb6_parts *own,
                     const struct nb6_parts *other, double acc[3], double jerk[3])
{
    double a[3] = {0, 0, 0}, j[3] = {0, 0, 0};
    for (int m = 0; m < own->n; m++)
        for (int k = 0; k < other->n; k++) {
            double dx[3], dv[3];
            for (int d = 0; d < 3; d++) {
                dx[d] = x[d] + (other->x[k][d] - own->x[m][d]);
                dv[d] = v[d] + (other->v[k][d] - own->v[m][d]);
            }
            add_force(own->mass[m] * other->mass[k], dx, dv, a, j);
        }
    add_force(-1, x, v, a, j);
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
