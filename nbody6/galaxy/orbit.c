#include "nbody6/galaxy/orbit.h"

#include "common/nbc.h"
#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/jet.h"

#include <math.h>
#include <string.h>

/* Length of a piece over the time in which a path turns: on a Kepler orbit of e = 0.6 energies are right to 4e-13
 * between the ends then; with twice that to 4e-12. */
static const double PIECE = 0.05;
/* None is longer, in N-body units, nor shorter: an orbit that needs it meets the centre. */
static const double PIECE_MAX = 32, PIECE_MIN = 0x1p-20;

static void set_path(const double x[3], const double v[3], struct nb6_jet path[3])
{
    for (int k = 0; k < 3; k++) path[k] = (struct nb6_jet){{x[k], v[k]}};
}

void nb6_orbit_gradient(const struct nb6_external *external, const double x[3], const double along[3], double out[3])
{
    struct nb6_jet path[3], acc[3];
    set_path(x, along, path);
    nb6_galaxy_acceleration(external->parameter, path, 1, acc);
    for (int k = 0; k < 3; k++) out[k] = acc[k].c[1];
}

double nb6_orbit_strongest(const struct nb6_external *external, const double x[3])
{
    double sum = 0, row[3];
    for (int k = 0; k < 3; k++) {
        const double unit[3] = {k == 0, k == 1, k == 2};
        nb6_orbit_gradient(external, x, unit, row);
        sum += row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    return sqrt(sum);
}

/* ---- the ends of pieces ---- */

static void derivative(const struct nb6_external *external, const double y[6], double dy[6])
{
    static const double nothing[3];
    struct nb6_jet path[3], acc[3];
    set_path(y, nothing, path);
    nb6_galaxy_acceleration(external->parameter, path, 0, acc);
    for (int k = 0; k < 3; k++) {
        dy[k] = y[3 + k];
        dy[3 + k] = acc[k].c[0];
    }
}

/* Modified midpoint rule with n steps, whose error is a series in the square of the step. */
static void midpoint(const struct nb6_external *external, const double y[6], double h, int n, double out[6])
{
    double before[6], now[6], dy[6];
    const double step = h / n;
    derivative(external, y, dy);
    for (int c = 0; c < 6; c++) {
        before[c] = y[c];
        now[c] = y[c] + step * dy[c];
    }
    for (int k = 1; k < n; k++) {
        derivative(external, now, dy);
        for (int c = 0; c < 6; c++) {
            const double next = before[c] + 2 * step * dy[c];
            before[c] = now[c];
            now[c] = next;
        }
    }
    derivative(external, now, dy);
    for (int c = 0; c < 6; c++) out[c] = 0.5 * (before[c] + now[c] + step * dy[c]);
}

enum { ROWS = 5 };

/* Extrapolated to steps of no length. Errors of order 10 in h, and of rounding, which more rows make larger:
 * differences from the start are extrapolated, which are small beside it. */
static void advance(const struct nb6_external *external, const double y[6], double h, double out[6])
{
    double table[ROWS][6];
    for (int row = 0; row < ROWS; row++) {
        midpoint(external, y, h, 2 * (row + 1), table[row]);
        for (int c = 0; c < 6; c++) table[row][c] -= y[c];
        for (int k = row - 1; k >= 0; k--) { /* Neville's scheme, in place */
            const double ratio = (double)(row + 1) / (k + 1), weight = 1 / (ratio * ratio - 1);
            for (int c = 0; c < 6; c++) table[k][c] = table[k + 1][c] + weight * (table[k + 1][c] - table[k][c]);
        }
    }
    for (int c = 0; c < 6; c++) out[c] = y[c] + table[0][c];
}

/* An end of a piece: position, velocity; the galaxy's acceleration and its derivative along the orbit. */
struct end {
    double t, x[3], v[3], acc[3], jerk[3];
};

static void set_forces(const struct nb6_external *external, struct end *end)
{
    struct nb6_jet path[3], acc[3];
    set_path(end->x, end->v, path);
    nb6_galaxy_acceleration(external->parameter, path, 1, acc);
    for (int k = 0; k < 3; k++) {
        end->acc[k] = acc[k].c[0];
        end->jerk[k] = acc[k].c[1];
    }
}

static void step(const struct nb6_external *external, const struct end *from, double h, struct end *to)
{
    const double y[6] = {from->x[0], from->x[1], from->x[2], from->v[0], from->v[1], from->v[2]};
    double out[6];
    advance(external, y, h, out);
    to->t = from->t + h;
    memcpy(to->x, out, sizeof to->x);
    memcpy(to->v, out + 3, sizeof to->v);
    set_forces(external, to);
}

/* Power of two, so that the times of ends are exact. */
static double length_of_piece(double strongest)
{
    int exponent;
    const double h = fmin(PIECE_MAX, PIECE / sqrt(strongest));
    if (!(h > PIECE_MIN)) return PIECE_MIN;
    frexp(h, &exponent);
    return ldexp(1, exponent - 1);
}

/* The next piece, also short enough for its end, where the tide may be stronger. */
static void next(const struct nb6_external *external, const struct end *from, struct end *to)
{
    double h = length_of_piece(nb6_orbit_strongest(external, from->x));
    step(external, from, h, to);
    while (h > PIECE_MIN && !(length_of_piece(nb6_orbit_strongest(external, to->x)) >= 0.5 * h)) {
        h *= 0.5;
        step(external, from, h, to);
    }
}

/* ---- between them ---- */

/* u = (t - t0)/h: a Taylor polynomial about the begin, and u^4 times one about the end that makes that right. */
static void interpolate(const struct end *from, const struct end *to, double t, double x[3], double v[3])
{
    const double h = to->t - from->t, u = (t - from->t) / h, w = u - 1, u2 = u * u, u3 = u2 * u, u4 = u2 * u2;
    for (int k = 0; k < 3; k++) {
        const double c1 = h * from->v[k], c2 = h * h * from->acc[k] / 2, c3 = h * h * h * from->jerk[k] / 6;
        const double r0 = (to->x[k] - from->x[k]) - c1 - c2 - c3, r1 = h * to->v[k] - c1 - 2 * c2 - 3 * c3;
        const double r2 = h * h * to->acc[k] / 2 - c2 - 3 * c3, r3 = h * h * h * to->jerk[k] / 6 - c3;
        const double q0 = r0, q1 = r1 - 4 * q0, q2 = r2 - 4 * q1 - 6 * q0, q3 = r3 - 4 * q2 - 6 * q1 - 4 * q0;
        const double q = q0 + w * (q1 + w * (q2 + w * q3)), q_dot = q1 + w * (2 * q2 + w * 3 * q3);
        x[k] = from->x[k] + (u * (c1 + u * (c2 + u * c3)) + u4 * q);
        v[k] = (c1 + u * (2 * c2 + u * 3 * c3) + 4 * u3 * q + u4 * q_dot) / h;
    }
}

static struct end get_end(const struct nb6_orbit *orbit, int k)
{
    struct end end = {.t = orbit->t[k]};
    memcpy(end.x, orbit->x[k], sizeof end.x);
    memcpy(end.v, orbit->v[k], sizeof end.v);
    memcpy(end.acc, orbit->acc[k], sizeof end.acc);
    memcpy(end.jerk, orbit->jerk[k], sizeof end.jerk);
    return end;
}

static void put_end(struct nb6_orbit *orbit, int k, const struct end *end)
{
    orbit->t[k] = end->t;
    memcpy(orbit->x[k], end->x, sizeof end->x);
    memcpy(orbit->v[k], end->v, sizeof end->v);
    memcpy(orbit->acc[k], end->acc, sizeof end->acc);
    memcpy(orbit->jerk[k], end->jerk, sizeof end->jerk);
}

/* Before the first piece that is kept: step by step back. */
static void go_back(const struct nb6_external *external, double t, double x[3], double v[3])
{
    struct end at = get_end(&external->orbit, 0), to;
    while (at.t > t) {
        step(external, &at, -fmin(at.t - t, length_of_piece(nb6_orbit_strongest(external, at.x))), &to);
        at = to;
    }
    memcpy(x, at.x, sizeof at.x);
    memcpy(v, at.v, sizeof at.v);
}

static void place(const struct nb6_external *external, double t, double x[3], double v[3])
{
    const struct nb6_orbit *orbit = &external->orbit;
    struct end from, to;
    int k = 1;
    if (t < orbit->t[0]) {
        go_back(external, t, x, v);
        return;
    }
    while (k < NB6_ORBIT_ENDS - 1 && orbit->t[k] < t) k++;
    from = get_end(orbit, k - 1);
    to = get_end(orbit, k);
    while (to.t < t) {
        from = to;
        next(external, &from, &to);
        if (!(to.t > from.t)) break; /* at the centre: not finite, which nb6_orbit_reach reports */
    }
    interpolate(&from, &to, t, x, v);
}

static void find(const struct nb6_external *external, double t, struct nb6_orbit_point *point)
{
    struct nb6_jet path[3], acc[3];
    place(external, t, point->x, point->v);
    set_path(point->x, point->v, path);
    nb6_galaxy_acceleration(external->parameter, path, 1, acc);
    for (int k = 0; k < 3; k++) path[k].c[2] = acc[k].c[0] / 2;
    nb6_galaxy_acceleration(external->parameter, path, 2, acc);
    for (int k = 0; k < 3; k++) {
        point->acc[k] = acc[k].c[0];
        point->jerk[k] = acc[k].c[1];
        point->snap[k] = 2 * acc[k].c[2];
    }
}

void nb6_orbit_at(const struct nb6_external *external, double t, struct nb6_orbit_point *point)
{
    const struct nb6_orbit *orbit = &external->orbit;
    if (t != orbit->now_t) {
        find(external, t, point);
        return;
    }
    memcpy(point->x, orbit->now_x, sizeof point->x);
    memcpy(point->v, orbit->now_v, sizeof point->v);
    memcpy(point->acc, orbit->now_acc, sizeof point->acc);
    memcpy(point->jerk, orbit->now_jerk, sizeof point->jerk);
    memcpy(point->snap, orbit->now_snap, sizeof point->snap);
}

/* ---- along it ---- */

static int check_end(const struct nb6_external *external, const struct end *end, struct nbc_error *err)
{
    double sum = end->t;
    for (int k = 0; k < 3; k++) sum += end->x[k] + end->v[k] + end->acc[k] + end->jerk[k];
    if (isfinite(sum) && length_of_piece(nb6_orbit_strongest(external, end->x)) > PIECE_MIN) return NBC_OK;
    return nbc_fail(err, NBC_NON_FINITE,
                    "the orbit of the cluster meets the centre of the galaxy; change RG or VG of &INXTRNL0");
}

static int extend(struct nb6_external *external, struct nbc_error *err)
{
    struct nb6_orbit *orbit = &external->orbit;
    const struct end from = get_end(orbit, NB6_ORBIT_ENDS - 1);
    struct end to;
    next(external, &from, &to);
    const int status = check_end(external, &to, err);
    if (status) return status;
    for (int k = 1; k < NB6_ORBIT_ENDS; k++) {
        const struct end end = get_end(orbit, k);
        put_end(orbit, k - 1, &end);
    }
    put_end(orbit, NB6_ORBIT_ENDS - 1, &to);
    return NBC_OK;
}

/* The outward tide: the angular velocity squared and the gradient along the radius (King 1962, AJ 67, 471). */
static double pull_outward(const struct nb6_external *external, const struct end *end)
{
    const double *x = end->x, *v = end->v;
    double out[3], l2 = 0, pull = 0, r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    nb6_orbit_gradient(external, x, x, out);
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        const double l = x[a] * v[b] - x[b] * v[a];
        l2 += l * l;
        pull += x[k] * out[k];
    }
    return l2 / (r2 * r2) + pull / r2;
}

/* Some revolutions, to find the weakest tide. */
enum { PIECES_AHEAD = 1024 };

/* The tide where it is weakest, so that the tidal radius is largest: a star bound there stays bound, though it may be
 * outside the radius for a while at the pericentre. NBODY6 takes the tide at the beginning of the orbit. */
static int set_tide(struct nb6_external *external, const struct end *begin, struct nbc_error *err)
{
    static const double up[3] = {0, 0, 1};
    struct end at = *begin, to;
    double out[3];
    int status = check_end(external, &at, err);
    for (int k = 0; k < PIECES_AHEAD && !status; k++) {
        const double pull = pull_outward(external, &at);
        if (k == 0 || pull < external->t_x) {
            external->t_x = pull;
            nb6_orbit_gradient(external, at.x, up, out);
            external->t_z = out[2];
        }
        next(external, &at, &to);
        at = to;
        status = check_end(external, &at, err);
    }
    return status;
}

int nb6_orbit_reach(struct nb6_external *external, double t, struct nbc_error *err)
{
    struct nb6_orbit *orbit = &external->orbit;
    struct nb6_orbit_point now;
    int status = NBC_OK;
    if (t == orbit->now_t) return NBC_OK;
    while (orbit->t[NB6_ORBIT_ENDS - 1] < t && !status) status = extend(external, err);
    if (status) return status;
    find(external, t, &now);
    orbit->now_t = t;
    memcpy(orbit->now_x, now.x, sizeof now.x);
    memcpy(orbit->now_v, now.v, sizeof now.v);
    memcpy(orbit->now_acc, now.acc, sizeof now.acc);
    memcpy(orbit->now_jerk, now.jerk, sizeof now.jerk);
    memcpy(orbit->now_snap, now.snap, sizeof now.snap);
    return NBC_OK;
}

int nb6_orbit_begin(struct nb6_external *external, const double x[3], const double v[3], struct nbc_error *err)
{
    struct nb6_orbit *orbit = &external->orbit;
    struct end begin = {.t = 0}, to;
    memcpy(begin.x, x, sizeof begin.x);
    memcpy(begin.v, v, sizeof begin.v);
    set_forces(external, &begin);
    orbit->now_t = -1;
    const int status = set_tide(external, &begin, err);
    if (status) return NBC_BAD_INPUT; /* err has a message */
    for (int k = 0; k < NB6_ORBIT_ENDS; k++) {
        put_end(orbit, k, &begin);
        next(external, &begin, &to);
        begin = to;
    }
    return nb6_orbit_reach(external, 0, err);
}
