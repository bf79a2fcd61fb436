#include "nbody6/galaxy/moving_source.h"

#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/jet.h"
#include "nbody6/galaxy/moving.h"
#include "nbody6/galaxy/orbit.h"

#include <math.h>
#include <string.h>

void nb6_source_acceleration(const struct nb6_moving_source *s, const struct nb6_jet path[3], int order,
                             struct nb6_jet acc[3])
{
    const struct nb6_jet mass = {{s->mass[0]}};
    if (s->mass[0] > 0)
        nb6_gas_acceleration(s->external->parameter, &mass, path, order, acc);
    else
        nb6_galaxy_acceleration(s->external->parameter, path, order, acc);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

int nb6_moving_sources(const struct nb6_external *external, double t, const double x[3], const double v[3],
                       struct nb6_moving_source source[2])
{
    int n = 0;
    if (nb6_moving_has_galaxy(external)) {
        struct nb6_orbit_point r;
        nb6_orbit_at(external, t, &r);
        source[n] = (struct nb6_moving_source){.external = external};
        for (int k = 0; k < 3; k++) {
            source[n].x[k] = r.x[k] + x[k];
            source[n].v[k] = r.v[k] + v[k];
        }
        n++;
    }
    if (nb6_moving_has_gas(external)) {
        double mass[4];
        nb6_gas_mass(external->parameter, t, nb6_gas_is_leaving(external->parameter, t), mass);
        source[n] = (struct nb6_moving_source){.external = external, .mass = {mass[0], mass[1]}};
        memcpy(source[n].x, x, sizeof source[n].x);
        memcpy(source[n].v, v, sizeof source[n].v);
        n++;
    }
    return n;
}

/* ---- lengths within which fields change */

static void add_inverse_square(double length2, double rate, double sum[2])
{
    sum[0] += 1 / length2;
    sum[1] -= rate / (length2 * length2);
}

void nb6_source_inverse_squares(const struct nb6_moving_source *s, double sum[2])
{
    const double *p = s->external->parameter, *x = s->x, *v = s->v, r2 = dot(x, x), rate = 2 * dot(x, v);
    const double height = p[NB6_GALAXY_DISK_HEIGHT];
    sum[0] = sum[1] = 0;
    if (s->mass[0] > 0) {
        add_inverse_square(r2 + p[NB6_GALAXY_GAS_R2], rate, sum);
        return;
    }
    if (p[NB6_GALAXY_DISK_MASS] > 0) add_inverse_square(x[2] * x[2] + height * height, 2 * x[2] * v[2], sum);
    const int cusp = p[NB6_GALAXY_POINT_MASS] > 0 || p[NB6_GALAXY_BULGE_MASS] > 0 || p[NB6_GALAXY_CUT_BULGE_MASS] > 0 ||
                     p[NB6_GALAXY_NFW_MASS] > 0;
    if (cusp)
        add_inverse_square(r2, rate, sum);
    else if (p[NB6_GALAXY_HALO_V2] > 0)
        add_inverse_square(r2 + p[NB6_GALAXY_HALO_R2], rate, sum);
}

void nb6_moving_scale(const struct nb6_external *external, double t, const double centre[2][3],
                      struct nb6_external_scale *scale)
{
    struct nb6_moving_source source[2];
    const int n = nb6_moving_sources(external, t, centre[0], centre[1], source);
    double all[2] = {0, 0}, turns = 0;
    for (int m = 0; m < n; m++) {
        double sum[2];
        nb6_source_inverse_squares(&source[m], sum);
        all[0] += sum[0];
        all[1] += sum[1];
        turns += dot(source[m].v, source[m].v) * sum[0];
    }
    scale->length = 1 / sqrt(all[0]);
    scale->length_dot = -0.5 * scale->length * all[1] / all[0];
    scale->speed = scale->length * sqrt(turns);
}
