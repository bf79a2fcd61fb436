/* The field about a place as a polynomial: its force on the members of a tight system then costs no more than the
 * attraction of some bodies, whatever the components of the galaxy. Fields are gradients, so that derivatives of any
 * order are the same for all orders of their indices: the one with d indices y or z, of which e are z, has index
 * d (d + 1)/2 + e. */
#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/jet.h"
#include "nbody6/galaxy/moving.h"
#include "nbody6/galaxy/moving_source.h"
#include "nbody6/galaxy/orbit.h"

#include <math.h>
#include <string.h>

/* Members, and the centre that moves on, stay within this part of the length in which the field changes. The first
 * terms left out contribute 10 times the third power of it to forces, 1e-11 of the tide, and 15 times its square to the
 * rate at which the tide changes as the centre moves. */
static const double NEAR = 1e-4;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- derivatives at the place */

/* First to third derivatives along x, y, z, x + y, x + z and y + z have them all. */
static void set_derivatives(const struct nb6_moving_source *s, struct nb6_external_series *to)
{
    static const double along[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    double first[6][3], second[6][3], third[6][3];
    for (int m = 0; m < 6; m++) {
        struct nb6_jet path[3], acc[3];
        for (int k = 0; k < 3; k++) path[k] = (struct nb6_jet){{s->x[k], along[m][k]}};
        nb6_source_acceleration(s, (const struct nb6_jet *)path, 3, acc);
        for (int k = 0; k < 3; k++) {
            first[m][k] = acc[k].c[1];
            second[m][k] = 2 * acc[k].c[2];
            third[m][k] = 6 * acc[k].c[3];
        }
    }
    const double *X = third[0], *Y = third[1], *Z = third[2], *XY = third[3], *XZ = third[4], *YZ = third[5];
    const double g[6] = {first[0][0], first[0][1], first[0][2], first[1][1], first[1][2], first[2][2]};
    const double h[10] = {second[0][0],
                          second[0][1],
                          second[0][2],
                          second[1][0],                                       /* xxx xxy xxz xyy */
                          0.5 * (second[3][2] - second[0][2] - second[1][2]), /* xyz */
                          second[2][0],
                          second[1][1],
                          second[1][2],
                          second[2][1],
                          second[2][2]};
    const double a = (XY[2] - X[2] - Y[2]) / 3; /* xxyz + xyyz */
    const double b = (XZ[1] - X[1] - Z[1]) / 3; /* xxyz + xyzz */
    const double c = (YZ[0] - Y[0] - Z[0]) / 3; /* xyyz + xyzz */
    const double k[15] = {X[0],
                          X[1],
                          X[2],                             /* xxxx xxxy xxxz */
                          (XY[0] - X[0] - Y[0]) / 3 - X[1], /* xxyy */
                          0.5 * (a + b - c),                /* xxyz */
                          (XZ[0] - X[0] - Z[0]) / 3 - X[2], /* xxzz */
                          Y[0],
                          0.5 * (a - b + c),
                          0.5 * (b - a + c),
                          Z[0], /* xyyy xyyz xyzz xzzz */
                          Y[1],
                          Y[2],
                          (YZ[1] - Y[1] - Z[1]) / 3 - Y[2],
                          Z[1],
                          Z[2]};
    memcpy(to->gradient, g, sizeof g);
    memcpy(to->second, h, sizeof h);
    memcpy(to->third, k, sizeof k);
}

/* Frobenius. */
static double norm(const double g[6])
{
    return sqrt(g[0] * g[0] + g[3] * g[3] + g[5] * g[5] + 2 * (g[1] * g[1] + g[2] * g[2] + g[4] * g[4]));
}

int nb6_moving_expand(const struct nb6_external *external, double t, const double x[3],
                      struct nb6_external_series *series)
{
    static const double nothing[3];
    struct nb6_moving_source source[2];
    struct nb6_orbit_point r;
    double inverse[2];
    if (!nb6_moving_has_galaxy(external)) return 0;
    nb6_moving_sources(external, t, x, nothing, source);
    nb6_source_inverse_squares(&source[0], inverse);
    nb6_orbit_at(external, t, &r);
    const double *const path[NB6_SERIES_PATH] = {r.x, r.v, r.acc, r.jerk, r.snap};
    for (int k = 0; k < NB6_SERIES_PATH; k++) memcpy(series->path[k], path[k], sizeof series->path[k]);
    memcpy(series->x, x, sizeof series->x);
    series->t = t;
    series->inverse_square = inverse[0];
    set_derivatives(&source[0], series);
    series->strongest = nb6_moving_has_gas(external) ? nb6_moving_strongest(external, t, x) : norm(series->gradient);
    series->is_set = 1;
    return 1;
}

/* ---- about a place nearby */

/* One order less: the derivative along y of tensors with order + 1 indices. */
static void along(int order, const double *of, const double y[3], double *out)
{
    for (int d = 0, i = 0; d <= order; d++)
        for (int e = 0; e <= d; e++, i++) out[i] = of[i] * y[0] + of[i + d + 1] * y[1] + of[i + d + 2] * y[2];
}

/* a + factor b */
static void sum(int n, const double *a, double factor, const double *b, double *out)
{
    for (int i = 0; i < n; i++) out[i] = a[i] + factor * b[i];
}

/* The field of the galaxy about the centre at one time. */
struct here {
    double g[6], h[10], g_dot[6], h_dot[10]; /* derivatives in time as the centre moves */
    const double *k;
    double tiny2;        /* where a square of a distance is less, the first terms have all that rounding leaves */
    double v[3], acc[3]; /* of the frame */
};

static const double MIDDLE = 1e-8;

/* The frame, s after the time of the series, and how far it has come. The next term of the way is the fifth power of
 * NEAR. */
static void frame_at(const struct nb6_external_series *series, double s, double way[3], struct here *to)
{
    const double(*p)[3] = series->path;
    for (int k = 0; k < 3; k++) {
        way[k] = s * (p[1][k] + s / 2 * (p[2][k] + s / 3 * (p[3][k] + s / 4 * p[4][k])));
        to->v[k] = p[1][k] + s * (p[2][k] + s / 2 * (p[3][k] + s / 3 * p[4][k]));
        to->acc[k] = p[2][k] + s * (p[3][k] + s / 2 * p[4][k]);
    }
}

/* @return 0: the centre is too far from the place of the series */
static int set_here(const struct nb6_external_series *s, double t, const double centre[2][3], struct here *to)
{
    double y[3], v[3], ky[10], hy[6], between[10];
    frame_at(s, t - s->t, y, to);
    for (int k = 0; k < 3; k++) {
        y[k] += centre[0][k] - s->x[k];
        v[k] = to->v[k] + centre[1][k];
    }
    if (!(dot(y, y) * s->inverse_square < NEAR * NEAR)) return 0;
    along(3, s->third, y, ky);
    sum(10, s->second, 1, ky, to->h);
    sum(10, s->second, 0.5, ky, between);
    along(2, between, y, hy);
    sum(6, s->gradient, 1, hy, to->g);
    along(2, to->h, v, to->g_dot);
    along(3, s->third, v, to->h_dot);
    to->k = s->third;
    to->tiny2 = MIDDLE * MIDDLE / s->inverse_square;
    return 1;
}

/* (g + factor h x + second k x x) times a vector */
static void apply(const struct here *s, double factor, const double hx[6], double second, const double kxx[6],
                  const double y[3], double out[3])
{
    double part[6], matrix[6];
    sum(6, s->g, factor, hx, part);
    sum(6, part, second, kxx, matrix);
    along(1, matrix, y, out);
}

/* The galaxy on one member, and the change of its potential in time (nb6_moving_rate).
 * @param[in] xdot  NULL: without jerk and rate[1] */
static void pull_of(const struct here *s, const double x[3], const double *xdot, double acc[3], double jerk[3],
                    double rate[2])
{
    double hx[6], kx[10], kxx[6] = {0}, more[3], part[6];
    along(2, s->h, x, hx);
    if (!(dot(x, x) < s->tiny2)) {
        along(3, s->k, x, kx);
        along(2, kx, x, kxx);
    }
    apply(s, 1.0 / 2, hx, 1.0 / 6, kxx, x, acc);
    rate[0] = -dot(s->v, acc);
    if (!xdot) return;
    apply(s, 1, hx, 1.0 / 2, kxx, xdot, jerk);
    along(2, s->h_dot, x, hx);
    sum(6, s->g_dot, 0.5, hx, part);
    along(1, part, x, more);
    for (int k = 0; k < 3; k++) jerk[k] += more[k];
    rate[1] = -dot(s->acc, acc) - dot(s->v, jerk);
}

/* The same of gas.   @param[in] gas  its mass and derivatives */
static void add_gas(const struct nb6_external *external, const double gas[4], const double centre[2][3],
                    const double x[3], const double *xdot, double acc[3], double jerk[3], double rate[2])
{
    static const double nothing[3];
    const double *u = xdot ? xdot : nothing;
    double a[3], j[3], potential;
    nb6_gas_difference(external->parameter, centre, x, u, a, j, &potential);
    for (int k = 0; k < 3; k++) {
        acc[k] += gas[0] * a[k];
        jerk[k] += gas[0] * j[k] + gas[1] * a[k];
    }
    rate[0] += gas[1] * potential;
    rate[1] += gas[2] * potential - gas[1] * (dot(a, centre[1]) + dot(a, u));
}

double nb6_moving_near_time(const struct nb6_external *external, double t, const double centre[2][3])
{
    struct nb6_moving_source source[2];
    double inverse[2];
    if (!nb6_moving_has_galaxy(external)) return 0;
    nb6_moving_sources(external, t, centre[0], centre[1], source);
    nb6_source_inverse_squares(&source[0], inverse);
    return NEAR / sqrt(dot(source[0].v, source[0].v) * inverse[0]);
}

int nb6_moving_near(const struct nb6_external *external, const struct nb6_external_series *series, double t,
                    const double centre[2][3], int n, const double mass[], const double (*x)[3],
                    const double (*xdot)[3], double acc[][3], double jerk[][3], double power[2])
{
    const double limit2 = NEAR * NEAR / series->inverse_square;
    double gas[4];
    struct here here;
    for (int m = 0; m < n; m++)
        if (!(dot(x[m], x[m]) < limit2)) return 0;
    if (!set_here(series, t, centre, &here)) return 0;
    nb6_gas_mass(external->parameter, t, nb6_gas_is_leaving(external->parameter, t), gas);
    power[0] = power[1] = 0;
    for (int m = 0; m < n; m++) {
        const double *change = xdot ? xdot[m] : NULL;
        double rate[2] = {0, 0};
        memset(jerk[m], 0, sizeof jerk[m]);
        pull_of(&here, x[m], change, acc[m], jerk[m], rate);
        if (gas[0] > 0) add_gas(external, gas, centre, x[m], change, acc[m], jerk[m], rate);
        for (int k = 0; k < 2; k++) power[k] += mass[m] * rate[k];
    }
    return 1;
}
