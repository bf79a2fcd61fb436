/* The field on relative motions, in a frame that follows an orbit or rests: differences between two places. */
#include "nbody6/galaxy/moving.h"

#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/jet.h"
#include "nbody6/galaxy/moving_source.h"
#include "nbody6/galaxy/orbit.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- differences of forces */

/* Members nearer than this part of the length to their centre of mass have the mean gradient between both, at the two
 * places of Gauss: the next term is 1/4320 of the fourth power of it. From there on a difference of two forces loses no
 * more than three figures beside that. The middle alone is enough where the square of it is nothing. */
static const double NEAR = 1e-3, MIDDLE = 1e-8;

static void add_gradient(const struct nb6_moving_source *s, double factor, const double x[3], double out[3])
{
    struct nb6_jet path[3], acc[3];
    for (int k = 0; k < 3; k++) path[k] = (struct nb6_jet){{s->x[k], x[k]}};
    nb6_source_acceleration(s, path, 1, acc);
    for (int k = 0; k < 3; k++) out[k] += factor * acc[k].c[1];
}

/* The gradient times x changes by this as the centre moves: the second derivative along v and x, from those along v + y
 * and v - y, where y is x made as long as v so that neither is lost beside the other. */
static void add_change(const struct nb6_moving_source *s, double factor, const double x[3], double out[3])
{
    const double size = sqrt(dot(x, x)), speed = sqrt(dot(s->v, s->v));
    if (!(size > 0) || !(speed > 0)) return;
    for (int sign = -1; sign < 2; sign += 2) {
        struct nb6_jet path[3], acc[3];
        for (int k = 0; k < 3; k++) path[k] = (struct nb6_jet){{s->x[k], s->v[k] + sign * speed / size * x[k]}};
        nb6_source_acceleration(s, path, 2, acc);
        for (int k = 0; k < 3; k++) out[k] += factor * sign * 0.5 * size / speed * acc[k].c[2];
    }
}

/* The part u of the way from a centre to a member. */
static struct nb6_moving_source on_the_way(const struct nb6_moving_source *s, double u, const double x[3],
                                           const double xdot[3])
{
    struct nb6_moving_source at = *s;
    for (int k = 0; k < 3; k++) {
        at.x[k] += u * x[k];
        at.v[k] += u * xdot[k];
    }
    return at;
}

static void add_mean_gradient(const struct nb6_moving_source *s, int points, const double x[3], const double xdot[3],
                              double acc[3], double jerk[3])
{
    const double gauss[2] = {0.21132486540518711775, 0.78867513459481288225};
    for (int m = 0; m < points; m++) {
        const struct nb6_moving_source at = on_the_way(s, points == 1 ? 0.5 : gauss[m], x, xdot);
        add_gradient(&at, 1.0 / points, x, acc);
        add_gradient(&at, 1.0 / points, xdot, jerk);
        add_change(&at, 1.0 / points, x, jerk);
    }
}

static void add_difference_of_two(const struct nb6_moving_source *s, const double x[3], const double xdot[3],
                                  double acc[3], double jerk[3])
{
    struct nb6_jet path[2][3], force[2][3];
    for (int m = 0; m < 2; m++) {
        for (int k = 0; k < 3; k++) path[m][k] = (struct nb6_jet){{s->x[k] + m * x[k], s->v[k] + m * xdot[k]}};
        nb6_source_acceleration(s, (const struct nb6_jet *)path[m], 1, force[m]);
    }
    for (int k = 0; k < 3; k++) {
        acc[k] += force[1][k].c[0] - force[0][k].c[0];
        jerk[k] += force[1][k].c[1] - force[0][k].c[1];
    }
}

/* Force difference of the gas, by its formula. */
static void add_gas_difference(const struct nb6_moving_source *s, const double x[3], const double xdot[3],
                               double acc[3], double jerk[3])
{
    double centre[2][3], a[3], j[3], potential;
    memcpy(centre[0], s->x, sizeof centre[0]);
    memcpy(centre[1], s->v, sizeof centre[1]);
    nb6_gas_difference(s->external->parameter, (const double(*)[3])centre, x, xdot, a, j, &potential);
    for (int k = 0; k < 3; k++) {
        acc[k] += s->mass[0] * a[k];
        jerk[k] += s->mass[0] * j[k] + s->mass[1] * a[k];
    }
}

static void add_difference(const struct nb6_moving_source *s, const double x[3], const double xdot[3], double acc[3],
                           double jerk[3])
{
    double sum[2];
    if (s->mass[0] > 0) {
        add_gas_difference(s, x, xdot, acc, jerk);
        return;
    }
    nb6_source_inverse_squares(s, sum);
    const double part2 = dot(x, x) * sum[0];
    if (part2 < NEAR * NEAR)
        add_mean_gradient(s, part2 < MIDDLE * MIDDLE ? 1 : 2, x, xdot, acc, jerk);
    else
        add_difference_of_two(s, x, xdot, acc, jerk);
}

void nb6_moving_relative(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                         const double v[3], const double xdot[3], const double acc[3], double ext_acc[3],
                         double ext_jerk[3])
{
    (void)v;
    (void)acc;
    struct nb6_moving_source source[2];
    const int n = nb6_moving_sources(external, t, centre[0], centre[1], source);
    memset(ext_acc, 0, 3 * sizeof *ext_acc);
    memset(ext_jerk, 0, 3 * sizeof *ext_jerk);
    for (int m = 0; m < n; m++) add_difference(&source[m], x, xdot, ext_acc, ext_jerk);
}

double nb6_moving_strongest(const struct nb6_external *external, double t, const double x[3])
{
    static const double nothing[3];
    struct nb6_moving_source source[2];
    const int n = nb6_moving_sources(external, t, x, nothing, source);
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double unit[3] = {k == 0, k == 1, k == 2};
        double row[3] = {0, 0, 0};
        for (int m = 0; m < n; m++) add_gradient(&source[m], 1, unit, row);
        sum += row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    return sqrt(sum);
}

/* ---- potentials */

/* Below this part of the length the potential beyond its value and slope at the centre is an integral over the gradient
 * on the way, by the rule of Gauss with eight points, whose error is 1e-16 of it; from there on it is a difference. */
static const double FAR = 0.25;

static double potential_on_the_way(const struct nb6_moving_source *s, const double x[3])
{
    static const double nothing[3];
    static const double place[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
    static const double weight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
    double sum = 0;
    for (int m = 0; m < 8; m++) {
        const double u = 0.5 + (m < 4 ? 0.5 : -0.5) * place[m % 4];
        const struct nb6_moving_source at = on_the_way(s, u, x, nothing);
        double out[3] = {0, 0, 0};
        add_gradient(&at, 1, x, out);
        sum -= 0.5 * weight[m % 4] * (1 - u) * dot(x, out);
    }
    return sum;
}

static double gas_potential(const struct nb6_moving_source *s, const double x[3])
{
    static const double nothing[3];
    double centre[2][3] = {{s->x[0], s->x[1], s->x[2]}}, acc[3], jerk[3], potential;
    nb6_gas_difference(s->external->parameter, (const double(*)[3])centre, x, nothing, acc, jerk, &potential);
    return s->mass[0] * potential;
}

static double relative_potential(const struct nb6_moving_source *s, const double x[3])
{
    static const double nothing[3];
    const double *p = s->external->parameter;
    double sum[2];
    if (s->mass[0] > 0) return gas_potential(s, x);
    nb6_source_inverse_squares(s, sum);
    if (dot(x, x) * sum[0] < FAR * FAR) return potential_on_the_way(s, x);
    const struct nb6_moving_source there = on_the_way(s, 1, x, nothing);
    struct nb6_jet path[3], acc[3];
    for (int k = 0; k < 3; k++) path[k] = (struct nb6_jet){{s->x[k]}};
    nb6_source_acceleration(s, path, 0, acc);
    const double slope[3] = {acc[0].c[0], acc[1].c[0], acc[2].c[0]};
    return nb6_galaxy_potential(p, there.x) - nb6_galaxy_potential(p, s->x) + dot(x, slope);
}

double nb6_moving_relative_potential(const struct nb6_external *external, double t, const double centre[3],
                                     const double x[3])
{
    static const double nothing[3];
    struct nb6_moving_source source[2];
    const int n = nb6_moving_sources(external, t, centre, nothing, source);
    double sum = 0;
    for (int m = 0; m < n; m++) sum += relative_potential(&source[m], x);
    return sum;
}

/* ---- change of the potential in time */

int nb6_moving_does_work(const struct nb6_external *external)
{
    return nb6_moving_has_galaxy(external) ||
           (nb6_moving_has_gas(external) && external->parameter[NB6_GALAXY_GAS_RATE] > 0);
}

/* Of the galaxy it is -V times the difference of the forces, V the velocity of the frame. Of the gas it is that of its
 * mass, which is taken away from the forces first. */
void nb6_moving_rate(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                     const double xdot[3], const double acc[3], const double jerk[3], double rate[2])
{
    struct nb6_moving_source source[2];
    const int n = nb6_moving_sources(external, t, centre[0], centre[1], source);
    double pull[3], change[3];
    memcpy(pull, acc, sizeof pull);
    memcpy(change, jerk, sizeof change);
    for (int m = 0; m < n; m++) {
        struct nb6_moving_source *s = &source[m];
        double a[3] = {0, 0, 0}, j[3] = {0, 0, 0}, mass[4];
        if (!(s->mass[0] > 0)) continue;
        if (n > 1 || s->mass[1] != 0) add_difference(s, x, xdot, a, j);
        for (int k = 0; k < 3; k++) {
            pull[k] -= a[k];
            change[k] -= j[k];
        }
        if (s->mass[1] == 0) continue;
        nb6_gas_mass(external->parameter, t, 1, mass);
        const double one = relative_potential(s, x) / mass[0],
                     v[3] = {centre[1][0] + xdot[0], centre[1][1] + xdot[1], centre[1][2] + xdot[2]};
        rate[0] += mass[1] * one;
        rate[1] += mass[2] * one - mass[1] * dot(a, v) / mass[0];
    }
    if (!nb6_moving_has_galaxy(external)) return;
    struct nb6_orbit_point r;
    nb6_orbit_at(external, t, &r);
    rate[0] -= dot(r.v, pull);
    rate[1] -= dot(r.acc, pull) + dot(r.v, change);
}
