/** The point of an orbit (orbit.h) at a time, for hosts and devices. Private to nbody6/galaxy. */
#ifndef NB6_ORBIT_AT_H
#define NB6_ORBIT_AT_H

#include "common/hd.h"
#include "nbody6/galaxy/attraction.h"
#include "nbody6/galaxy/field_state.h"
#include "nbody6/galaxy/jet.h"

#include <math.h>
#include <string.h>

/** The point at a time: x, v, and the galaxy's acceleration with its derivatives along the orbit. */
struct nb6_orbit_point {
    double x[3], v[3], acc[3], jerk[3], snap[3];
};

/* Length of a piece over the time in which a path turns: on a Kepler orbit of e = 0.6 energies are right to 4e-13
 * between the ends then; with twice that to 4e-12. */
#define NB6_ORBIT_PIECE 0.05
/* None is longer, in N-body units, nor shorter: an orbit that needs it meets the centre. */
#define NB6_ORBIT_PIECE_MAX 32.0
#define NB6_ORBIT_PIECE_MIN 0x1p-20

NBC_HD void nb6_orbit_path(const double x[3], const double v[3], struct nb6_jet path[3])
{
    for (int k = 0; k < 3; k++) path[k] = nb6_jet_line(x[k], v[k]);
}

/** Gradient of the galaxy's acceleration at x from its centre, times a vector. */
NBC_HD void nb6_orbit_gradient(const struct nb6_external *external, const double x[3], const double along[3],
                               double out[3])
{
    struct nb6_jet path[3], acc[3];
    nb6_orbit_path(x, along, path);
    nb6_attraction(external->parameter, path, 1, acc);
    for (int k = 0; k < 3; k++) out[k] = acc[k].c[1];
}

/** Norm (Frobenius) of that gradient: no difference of accelerations is more than it times the distance. */
NB6_CALLED double nb6_orbit_strongest(const struct nb6_external *external, const double x[3])
{
    double sum = 0, row[3];
    for (int k = 0; k < 3; k++) {
        const double unit[3] = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
        nb6_orbit_gradient(external, x, unit, row);
        sum += row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    return sqrt(sum);
}

/* ---- the ends of pieces ---- */

NBC_HD void nb6_orbit_derivative(const struct nb6_external *external, const double y[6], double dy[6])
{
    const double nothing[3] = {0, 0, 0};
    struct nb6_jet path[3], acc[3];
    nb6_orbit_path(y, nothing, path);
    nb6_attraction(external->parameter, path, 0, acc);
    for (int k = 0; k < 3; k++) {
        dy[k] = y[3 + k];
        dy[3 + k] = acc[k].c[0];
    }
}

/* Modified midpoint rule with n steps, whose error is a series in the square of the step. */
NBC_HD void nb6_orbit_midpoint(const struct nb6_external *external, const double y[6], double h, int n, double out[6])
{
    double before[6], now[6], dy[6];
    const double step = h / n;
    nb6_orbit_derivative(external, y, dy);
    for (int c = 0; c < 6; c++) {
        before[c] = y[c];
        now[c] = y[c] + step * dy[c];
    }
    for (int k = 1; k < n; k++) {
        nb6_orbit_derivative(external, now, dy);
        for (int c = 0; c < 6; c++) {
            const double next = before[c] + 2 * step * dy[c];
            before[c] = now[c];
            now[c] = next;
        }
    }
    nb6_orbit_derivative(external, now, dy);
    for (int c = 0; c < 6; c++) out[c] = 0.5 * (before[c] + now[c] + step * dy[c]);
}

enum { NB6_ORBIT_ROWS = 5 };

/* Extrapolated to steps of no length. Errors of order 10 in h, and of rounding, which more rows make larger:
 * differences from the start are extrapolated, which are small beside it. */
NBC_HD void nb6_orbit_advance(const struct nb6_external *external, const double y[6], double h, double out[6])
{
    double table[NB6_ORBIT_ROWS][6];
    for (int row = 0; row < NB6_ORBIT_ROWS; row++) {
        nb6_orbit_midpoint(external, y, h, 2 * (row + 1), table[row]);
        for (int c = 0; c < 6; c++) table[row][c] -= y[c];
        for (int k = row - 1; k >= 0; k--) { /* Neville's scheme, in place */
            const double ratio = (double)(row + 1) / (k + 1), weight = 1 / (ratio * ratio - 1);
            for (int c = 0; c < 6; c++) table[k][c] = table[k + 1][c] + weight * (table[k + 1][c] - table[k][c]);
        }
    }
    for (int c = 0; c < 6; c++) out[c] = y[c] + table[0][c];
}

/* An end of a piece: position, velocity; the galaxy's acceleration and its derivative along the orbit. */
struct nb6_orbit_end {
    double t, x[3], v[3], acc[3], jerk[3];
};

NBC_HD void nb6_orbit_set_forces(const struct nb6_external *external, struct nb6_orbit_end *end)
{
    struct nb6_jet path[3], acc[3];
    nb6_orbit_path(end->x, end->v, path);
    nb6_attraction(external->parameter, path, 1, acc);
    for (int k = 0; k < 3; k++) {
        end->acc[k] = acc[k].c[0];
        end->jerk[k] = acc[k].c[1];
    }
}

NB6_CALLED void nb6_orbit_step(const struct nb6_external *external, const struct nb6_orbit_end *from, double h,
                               struct nb6_orbit_end *to)
{
    const double y[6] = {from->x[0], from->x[1], from->x[2], from->v[0], from->v[1], from->v[2]};
    double out[6];
    nb6_orbit_advance(external, y, h, out);
    to->t = from->t + h;
    memcpy(to->x, out, sizeof to->x);
    memcpy(to->v, out + 3, sizeof to->v);
    nb6_orbit_set_forces(external, to);
}

/* Power of two, so that the times of ends are exact. */
NBC_HD double nb6_orbit_piece(double strongest)
{
    const double h = fmin(NB6_ORBIT_PIECE_MAX, NB6_ORBIT_PIECE / sqrt(strongest));
    if (!(h > NB6_ORBIT_PIECE_MIN)) return NB6_ORBIT_PIECE_MIN;
    return nbc_power_of_two(ilogb(h));
}

/* The next piece, also short enough for its end, where the tide may be stronger. */
NBC_HD void nb6_orbit_next(const struct nb6_external *external, const struct nb6_orbit_end *from,
                           struct nb6_orbit_end *to)
{
    double h = nb6_orbit_piece(nb6_orbit_strongest(external, from->x));
    nb6_orbit_step(external, from, h, to);
    while (h > NB6_ORBIT_PIECE_MIN && !(nb6_orbit_piece(nb6_orbit_strongest(external, to->x)) >= 0.5 * h)) {
        h *= 0.5;
        nb6_orbit_step(external, from, h, to);
    }
}

/* ---- between them ---- */

/* u = (t - t0)/h: a Taylor polynomial about the begin, and u^4 times one about the end that makes that right. */
NBC_HD void nb6_orbit_interpolate(const struct nb6_orbit_end *from, const struct nb6_orbit_end *to, double t,
                                  double x[3], double v[3])
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

NBC_HD struct nb6_orbit_end nb6_orbit_get_end(const struct nb6_orbit *orbit, int k)
{
    struct nb6_orbit_end end;
    end.t = orbit->t[k];
    memcpy(end.x, orbit->x[k], sizeof end.x);
    memcpy(end.v, orbit->v[k], sizeof end.v);
    memcpy(end.acc, orbit->acc[k], sizeof end.acc);
    memcpy(end.jerk, orbit->jerk[k], sizeof end.jerk);
    return end;
}

/* Before the first piece that is kept: step by step back. */
NBC_HD void nb6_orbit_go_back(const struct nb6_external *external, double t, double x[3], double v[3])
{
    struct nb6_orbit_end at = nb6_orbit_get_end(&external->orbit, 0), to;
    while (at.t > t) {
        nb6_orbit_step(external, &at, -fmin(at.t - t, nb6_orbit_piece(nb6_orbit_strongest(external, at.x))), &to);
        at = to;
    }
    memcpy(x, at.x, sizeof at.x);
    memcpy(v, at.v, sizeof at.v);
}

NBC_HD void nb6_orbit_place(const struct nb6_external *external, double t, double x[3], double v[3])
{
    const struct nb6_orbit *orbit = &external->orbit;
    struct nb6_orbit_end from, to;
    int k = 1;
    if (t < orbit->t[0]) {
        nb6_orbit_go_back(external, t, x, v);
        return;
    }
    while (k < NB6_ORBIT_ENDS - 1 && orbit->t[k] < t) k++;
    from = nb6_orbit_get_end(orbit, k - 1);
    to = nb6_orbit_get_end(orbit, k);
    while (to.t < t) {
        from = to;
        nb6_orbit_next(external, &from, &to);
        if (!(to.t > from.t)) break; /* at the centre: not finite, which nb6_orbit_reach reports */
    }
    nb6_orbit_interpolate(&from, &to, t, x, v);
}

NBC_HD void nb6_orbit_find(const struct nb6_external *external, double t, struct nb6_orbit_point *point)
{
    struct nb6_jet path[3], acc[3];
    struct nb6_place at;
    nb6_orbit_place(external, t, point->x, point->v);
    nb6_place_at(external->parameter, point->x, &at);
    nb6_orbit_path(point->x, point->v, path);
    nb6_attraction_at(external->parameter, &at, path, 0, acc);
    for (int k = 0; k < 3; k++) path[k].c[2] = acc[k].c[0] / 2;
    nb6_attraction_at(external->parameter, &at, path, 2, acc);
    for (int k = 0; k < 3; k++) {
        point->acc[k] = acc[k].c[0];
        point->jerk[k] = acc[k].c[1];
        point->snap[k] = 2 * acc[k].c[2];
    }
}

/** The point at any time. It has the same bits whether the orbit was extended to it before or not, at times after the
 *  first piece that is still kept. */
NB6_CALLED void nb6_orbit_at(const struct nb6_external *external, double t, struct nb6_orbit_point *point)
{
    const struct nb6_orbit *orbit = &external->orbit;
    if (t != orbit->now_t) {
        nb6_orbit_find(external, t, point);
        return;
    }
    memcpy(point->x, orbit->now_x, sizeof point->x);
    memcpy(point->v, orbit->now_v, sizeof point->v);
    memcpy(point->acc, orbit->now_acc, sizeof point->acc);
    memcpy(point->jerk, orbit->now_jerk, sizeof point->jerk);
    memcpy(point->snap, orbit->now_snap, sizeof point->snap);
}

#endif
