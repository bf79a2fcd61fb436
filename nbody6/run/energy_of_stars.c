#include "nbody6/run/energy_of_stars.h"

#include "nbody6/analysis/frame.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/run/remake.h"
#include "nbody6/state/body.h"

#include <math.h>

/* m/r at the place of star i due to star j; merged stars contribute nothing: they have no mass. */
static double attraction(const double *mass, const double (*x)[3], int64_t i, int64_t j)
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) r2 += (x[i][k] - x[j][k]) * (x[i][k] - x[j][k]);
    return r2 > 0 ? mass[j] / sqrt(r2) : 0;
}

static double alone(double t, const double *x, const double *v, const struct nb6_external *external)
{
    return 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) +
           (external->active ? nb6_external_potential(external, t, x) : 0);
}

double nb6_energy_of_new_stars(const struct nb6_census *c, double t, const struct nb6_external *external)
{
    double sum = 0;
    for (int64_t i = c->kept; i < c->n; i++) {
        double per_mass = alone(t, c->x[i], c->v[i], external);
        for (int64_t j = 0; j < i; j++) per_mass -= attraction(c->mass, (const double(*)[3])c->x, i, j);
        sum += c->mass[i] * per_mass;
    }
    return sum;
}

double nb6_energy_of_old_stars(const struct nb6_frame *f, const nb6_index *moved, const struct nb6_external *external)
{
    double sum = 0;
    for (int64_t i = 0; i < f->n; i++) {
        if (moved[i] >= 0 || !(f->mass[i] > 0)) continue;
        double per_mass = alone(f->t, f->x[i], f->v[i], external);
        for (int64_t j = 0; j < f->n; j++)
            if (moved[j] >= 0 || j < i) per_mass -= attraction(f->mass, (const double(*)[3])f->x, i, j);
        sum += f->mass[i] * per_mass;
    }
    return sum;
}
