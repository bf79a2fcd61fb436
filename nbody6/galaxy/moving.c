#include "nbody6/galaxy/moving.h"

#include "common/nbc.h"
#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/jet.h"
#include "nbody6/galaxy/orbit.h"
#include "nbody6/input/config.h"

#include <math.h>
#include <string.h>

/* Steps that end at or after the begin of the gas's leaving, or begin with it, are no longer than this part of the time
 * in which half of it goes: the force at their ends does not show when the change began. Later steps follow from the
 * derivatives of the force. */
static const double ACROSS_BEGIN = 1.0 / 64;

int nb6_moving_has_galaxy(const struct nb6_external *external)
{
    const double *p = external->parameter;
    return p[NB6_GALAXY_POINT_MASS] > 0 || p[NB6_GALAXY_BULGE_MASS] > 0 || p[NB6_GALAXY_DISK_MASS] > 0 ||
           p[NB6_GALAXY_HALO_V2] > 0 || p[NB6_GALAXY_CUT_BULGE_MASS] > 0 || p[NB6_GALAXY_NFW_MASS] > 0;
}

static double norm(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

int nb6_moving_has_gas(const struct nb6_external *external)
{
    return external->parameter[NB6_GALAXY_GAS_MASS] > 0;
}

void nb6_moving_set_gas(const struct nb6_tide_config *tide, struct nb6_external *external)
{
    double *p = external->parameter;
    p[NB6_GALAXY_GAS_MASS] = tide->gas_mass;
    p[NB6_GALAXY_GAS_R2] = tide->gas_length * tide->gas_length;
    p[NB6_GALAXY_GAS_RATE] = tide->gas_rate;
    p[NB6_GALAXY_GAS_DELAY] = tide->gas_delay;
}

/* ---- forces along a path ---- */

/* Force of the galaxy on a body whose path in the frame has these coefficients, minus the force on the frame. */
static void add_galaxy(const struct nb6_external *external, double t, const struct nb6_jet body[3], int order,
                       struct nb6_jet acc[3])
{
    struct nb6_orbit_point r;
    struct nb6_jet path[3], frame[3], there[3], here[3];
    nb6_orbit_at(external, t, &r);
    for (int k = 0; k < 3; k++) {
        frame[k] = (struct nb6_jet){{r.x[k], r.v[k], r.acc[k] / 2, r.jerk[k] / 6}};
        path[k] = nb6_jet_add(&frame[k], &body[k], order);
        here[k] = (struct nb6_jet){{r.acc[k], r.jerk[k], r.snap[k] / 2}};
    }
    nb6_galaxy_acceleration(external->parameter, path, order, there);
    if (order > 2) nb6_galaxy_acceleration(external->parameter, frame, order, here);
    for (int k = 0; k < 3; k++)
        for (int m = 0; m <= order; m++) acc[k].c[m] += there[k].c[m] - here[k].c[m];
}

static void add_gas(const struct nb6_external *external, double t, const struct nb6_jet body[3], int order,
                    struct nb6_jet acc[3])
{
    const double *p = external->parameter;
    struct nb6_jet force[3];
    double mass[4];
    nb6_gas_mass(p, t, nb6_gas_is_leaving(p, t), mass);
    const struct nb6_jet series = {{mass[0], mass[1], mass[2] / 2, mass[3] / 6}};
    nb6_gas_acceleration(p, &series, body, order, force);
    for (int k = 0; k < 3; k++) acc[k] = nb6_jet_add(&acc[k], &force[k], order);
}

static void along_path(const struct nb6_external *external, double t, const struct nb6_jet body[3], int order,
                       struct nb6_jet acc[3])
{
    memset(acc, 0, 3 * sizeof *acc);
    if (nb6_moving_has_galaxy(external)) add_galaxy(external, t, body, order, acc);
    if (nb6_moving_has_gas(external)) add_gas(external, t, body, order, acc);
}

void nb6_moving_force(const struct nb6_external *external, double t, const double x[3], const double v[3],
                      const double acc[3], double ext_acc[3], double ext_jerk[3])
{
    (void)acc; /* without a Coriolis force */
    struct nb6_jet body[3], force[3];
    for (int k = 0; k < 3; k++) body[k] = (struct nb6_jet){{x[k], v[k]}};
    along_path(external, t, body, 1, force);
    for (int k = 0; k < 3; k++) {
        ext_acc[k] = force[k].c[0];
        ext_jerk[k] = force[k].c[1];
    }
}

/* Forces of the galaxy on a body and on the frame are right to some roundings of themselves, places to one of the
 * distance from the centre, over which a force changes by about itself. */
double nb6_moving_noise(const struct nb6_external *external, double t, const double x[3], const double v[3])
{
    (void)v;
    double noise = 0;
    if (nb6_moving_has_galaxy(external)) {
        struct nb6_orbit_point r;
        nb6_orbit_at(external, t, &r);
        noise += 0x1p-50 * norm(r.acc);
    }
    if (nb6_moving_has_gas(external)) {
        const double r2 = external->parameter[NB6_GALAXY_GAS_R2] + norm(x) * norm(x);
        noise += 0x1p-52 * external->parameter[NB6_GALAXY_GAS_MASS] * norm(x) / (r2 * sqrt(r2));
    }
    return noise;
}

void nb6_moving_higher(const struct nb6_external *external, double t, const double x[3], const double v[3],
                       const double acc[3], const double jerk[3], const double inner[3], double snap[3],
                       double crackle[3])
{
    (void)inner; /* the fourth derivative of the path is not in these */
    struct nb6_jet body[3], force[3];
    for (int k = 0; k < 3; k++) body[k] = (struct nb6_jet){{x[k], v[k], acc[k] / 2, jerk[k] / 6}};
    along_path(external, t, body, 3, force);
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

/* Partial derivative in time of the potential at x, and its derivative along the path of the body. Of the galaxy:
 * x F' - V (F(R + x) - F), V = R', which is of second order in x. */
static void add_galactic_rate(const struct nb6_external *external, const struct nb6_moment *at, double rate[2])
{
    struct nb6_orbit_point r;
    struct nb6_jet path[3], there[3];
    nb6_orbit_at(external, at->t, &r);
    for (int k = 0; k < 3; k++) path[k] = (struct nb6_jet){{r.x[k] + at->x[k], r.v[k] + at->v[k]}};
    nb6_galaxy_acceleration(external->parameter, path, 1, there);
    for (int k = 0; k < 3; k++) {
        const double pull = there[k].c[0] - r.acc[k], change = there[k].c[1] - r.jerk[k];
        rate[0] += at->x[k] * r.jerk[k] - r.v[k] * pull;
        rate[1] += at->v[k] * r.jerk[k] + at->x[k] * r.snap[k] - r.acc[k] * pull - r.v[k] * change;
    }
}

static void add_gas_rate(const struct nb6_external *external, const struct nb6_moment *at, int leaving, double rate[2])
{
    const double *x = at->x, *v = at->v, phi = nb6_gas_potential(external->parameter, x);
    double mass[4];
    nb6_gas_mass(external->parameter, at->t, leaving, mass);
    rate[0] += mass[1] * phi;
    rate[1] += mass[2] * phi - mass[1] * phi * phi * phi * (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]);
}

static double work(const struct nb6_external *external, const struct nb6_moment *from, const struct nb6_moment *to)
{
    const struct nb6_moment *const ends[2] = {from, to};
    const double h = to->t - from->t;
    const int leaving = nb6_gas_is_leaving(external->parameter, from->t + 0.5 * h);
    double rate[2][2] = {{0, 0}, {0, 0}};
    for (int m = 0; m < 2; m++) {
        if (nb6_moving_has_galaxy(external)) add_galactic_rate(external, ends[m], rate[m]);
        if (nb6_moving_has_gas(external)) add_gas_rate(external, ends[m], leaving, rate[m]);
    }
    return h / 2 * (rate[0][0] + rate[1][0] + h / 6 * (rate[0][1] - rate[1][1]));
}

/* Cubic polynomial through both ends. */
static void between(const struct nb6_moment *from, const struct nb6_moment *to, double t, double x[3], double v[3])
{
    const double h = to->t - from->t, s = (t - from->t) / h;
    for (int k = 0; k < 3; k++) {
        const double d = to->x[k] - from->x[k], a = h * from->v[k] - d, b = d - h * to->v[k];
        x[k] = from->x[k] + s * d + s * (1 - s) * ((1 - s) * a + s * b);
        v[k] = (d + (1 - 2 * s) * ((1 - s) * a + s * b) + s * (1 - s) * (b - a)) / h;
    }
}

/* The gas begins to leave within a step: it is two here. */
double nb6_moving_work(const struct nb6_external *external, const struct nb6_moment *from, const struct nb6_moment *to)
{
    const double begin = external->parameter[NB6_GALAXY_GAS_DELAY];
    double x[3], v[3];
    if (!(to->t > from->t)) return 0;
    if (!(external->parameter[NB6_GALAXY_GAS_RATE] > 0) || begin <= from->t || begin >= to->t)
        return work(external, from, to);
    between(from, to, begin, x, v);
    const struct nb6_moment middle = {begin, x, v};
    return work(external, from, &middle) + work(external, &middle, to);
}

int nb6_moving_extend_to(struct nb6_external *external, double t, struct nbc_error *err)
{
    return nb6_moving_has_galaxy(external) ? nb6_orbit_reach(external, t, err) : NBC_OK;
}

double nb6_moving_longest_step(const struct nb6_external *external, double t)
{
    const double *p = external->parameter, wait = p[NB6_GALAXY_GAS_DELAY] - t;
    if (!nb6_moving_has_gas(external) || !(p[NB6_GALAXY_GAS_RATE] > 0) || wait < 0) return INFINITY;
    return fmax(wait / 2, ACROSS_BEGIN / p[NB6_GALAXY_GAS_RATE]);
}

double nb6_moving_jump(const struct nb6_external *external)
{
    const double *p = external->parameter;
    return nb6_moving_has_gas(external) && p[NB6_GALAXY_GAS_RATE] > 0 ? p[NB6_GALAXY_GAS_DELAY] : INFINITY;
}
