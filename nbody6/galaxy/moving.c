#include "nbody6/galaxy/moving.h"

#include "common/nbc.h"
#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/jet.h"
#include "nbody6/galaxy/moving_field.h"
#include "nbody6/galaxy/orbit.h"
#include "nbody6/input/config.h"

#include <math.h>

void nb6_moving_set_gas(const struct nb6_tide_config *tide, struct nb6_external *external)
{
    double *p = external->parameter;
    p[NB6_GALAXY_GAS_MASS] = tide->gas_mass;
    p[NB6_GALAXY_GAS_R2] = tide->gas_length * tide->gas_length;
    p[NB6_GALAXY_GAS_RATE] = tide->gas_rate;
    p[NB6_GALAXY_GAS_DELAY] = tide->gas_delay;
}

void nb6_moving_force(const struct nb6_external *external, double t, const double x[3], const double v[3],
                      const double acc[3], double ext_acc[3], double ext_jerk[3])
{
    (void)acc; /* without a Coriolis force */
    struct nb6_orbit_point r;
    nb6_moving_at(external, t, &r);
    nb6_moving_field_force(external, t, &r, x, v, ext_acc, ext_jerk);
}

double nb6_moving_noise(const struct nb6_external *external, double t, const double x[3], const double v[3])
{
    (void)v;
    struct nb6_orbit_point r;
    nb6_moving_at(external, t, &r);
    return nb6_moving_field_noise(external, &r, x);
}

void nb6_moving_higher(const struct nb6_external *external, double t, const double x[3], const double v[3],
                       const double acc[3], const double jerk[3], const double inner[3], double snap[3],
                       double crackle[3])
{
    (void)inner; /* the fourth derivative of the path is not in these */
    struct nb6_jet body[3], force[3];
    struct nb6_orbit_point r;
    nb6_moving_at(external, t, &r);
    for (int k = 0; k < 3; k++) body[k] = (struct nb6_jet){{x[k], v[k], acc[k] / 2, jerk[k] / 6}};
    nb6_moving_along_path(external, t, &r, body, 3, force);
    for (int k = 0; k < 3; k++) {
        snap[k] = 2 * force[k].c[2];
        crackle[k] = 6 * force[k].c[3];
    }
}

/* ---- energies ---- */

double nb6_moving_potential(const struct nb6_external *external, double t, const double x[3])
{
    const double *p = external->parameter;
    double sum = 0;
    if (nb6_moving_has_galaxy(external)) {
        struct nb6_orbit_point r;
        nb6_orbit_at(external, t, &r);
        const double there[3] = {r.x[0] + x[0], r.x[1] + x[1], r.x[2] + x[2]};
        sum = nb6_galaxy_potential(p, there) - nb6_galaxy_potential(p, r.x);
        sum += x[0] * r.acc[0] + x[1] * r.acc[1] + x[2] * r.acc[2];
    }
    if (nb6_moving_has_gas(external)) {
        double mass[4];
        nb6_gas_mass(p, t, nb6_gas_is_leaving(p, t), mass);
        sum += mass[0] * nb6_gas_potential(p, x);
    }
    return sum;
}

int nb6_moving_extend_to(struct nb6_external *external, double t, struct nbc_error *err)
{
    return nb6_moving_has_galaxy(external) ? nb6_orbit_reach(external, t, err) : NBC_OK;
}

double nb6_moving_known_until(const struct nb6_external *external)
{
    return nb6_moving_has_galaxy(external) ? external->orbit.t[NB6_ORBIT_ENDS - 1] : INFINITY;
}

double nb6_moving_longest_step(const struct nb6_external *external, double t)
{
    return nb6_moving_field_longest_step(external, t);
}

double nb6_moving_work(const struct nb6_external *external, const struct nb6_moment *from, const struct nb6_moment *to)
{
    return nb6_moving_field_work(external, from, to);
}

double nb6_moving_jump(const struct nb6_external *external)
{
    const double *p = external->parameter;
    return nb6_moving_has_gas(external) && p[NB6_GALAXY_GAS_RATE] > 0 ? p[NB6_GALAXY_GAS_DELAY] : INFINITY;
}
