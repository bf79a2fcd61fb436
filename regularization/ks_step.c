/* The step of Mikkola & Aarseth (1998). With h0 = h at its begin,
 *     u'' = h0 u/2 + F,  F = q + (h - h0) u/2,   q = R L^T(u) P/2,
 *     h'  = 2 u'.L^T(u) P,
 *     R'' = 2 h0 R + S,  S = R'' - 2 h0 R,       t' = R.
 * F, h' and S are interpolated by polynomials through their values and derivatives at both ends of the step and, if
 * there is one, at the begin of the step before. For polynomial F and S the oscillators have closed solutions in
 * Stumpff functions, u = u0 c_0 + u0' tau c_1 + sum_k F^(k) tau^(k+2) c_(k+2)(-h0 tau^2/2), t = R0 tau c_1 + R0' tau^2
 * c_2 + sum_k S^(k) tau^(k+3) c_(k+3)(-2 h0 tau^2), which are the Taylor series with the coefficients modified such
 * that two-body motion is exact. */
#include "regularization/ks_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CORRECTIONS = 12 };

/* Above this strength the perturbation at the predicted position is not that at the corrected one. */
static const double GAMMA_STRONG = 0.02;

/* A step shorter than this part of the usual one does not tell higher derivatives from noise. */
static const double SHORT = 0.1;

/* hi + lo + change; returns the new hi. A factor of 1 +- 2^-53 would be rounded in a way that depends on the component,
 * and rounding of 10^7 steps would add up: without lo the eccentricity changes by 10^-10 in 10^6 orbits.
 * (By value: gcc 12 with -O3 gets the order wrong of a copy that is then changed in place through pointers.) */
static double accumulate(double hi, double change, double *lo)
{
    double add = change + *lo, sum = hi + add;
    *lo = add - (sum - hi);
    return sum;
}

void ks_move(struct ks_pair *pair, const struct ks_node *from, const struct ks_value *value, struct ks_node *to)
{
    double excess = ks_excess(pair->m, value->h, value->u, value->up), both = value->h < 0 ? excess : 0.0;
    for (int i = 0; i < 4; i++) {
        to->u[i] = accumulate(from->u[i], value->du[i] + both * value->u[i], &pair->u_lo[i]);
        to->up[i] = accumulate(from->up[i], value->dup[i] + excess * value->up[i], &pair->up_lo[i]);
    }
    to->h = pair->h = value->h;
}

/* F, h', S and their derivatives at a node, with respect to the energy h0. */
static void values(const struct ks_node *n, double h0, double y[KS_PARTS], double yp[KS_PARTS])
{
    double half = 0.5 * (n->h - h0);
    for (int i = 0; i < 4; i++) {
        y[AT_F + i] = n->q[i] + half * n->u[i];
        yp[AT_F + i] = n->qp[i] + 0.5 * n->hp * n->u[i] + half * n->up[i];
    }
    y[AT_H] = n->hp;
    yp[AT_H] = n->hpp;
    y[AT_S] = n->r2 - 2.0 * h0 * n->r;
    yp[AT_S] = n->r3 - 2.0 * h0 * n->rp;
}

/* Derivatives at node a of the polynomials through a, b at distance s, and c (may be NULL) at distance -w. */
static void interpolate(const struct ks_node *a, const struct ks_node *b, double s, const struct ks_node *c, double w,
                        double d[KS_ORDERS][KS_PARTS])
{
    double y[3][KS_PARTS], yp[3][KS_PARTS];
    values(a, a->h, y[0], yp[0]);
    values(b, a->h, y[1], yp[1]);
    if (c) values(c, a->h, y[2], yp[2]);
    double z = w * w * (w + s) * (w + s), zp = -2.0 * w * (w + s) * (2.0 * w + s);
    for (int i = 0; i < KS_PARTS; i++) {
        /* Newton's form: y + yp tau + e tau^2 + f tau^2 (tau - s) + [g + k (tau + w)] tau^2 (tau - s)^2 */
        double slope = (y[1][i] - y[0][i]) / s, e = (slope - yp[0][i]) / s, f = ((yp[1][i] - slope) / s - e) / s;
        double g = 0, k = 0;
        if (c) {
            double missing = y[2][i] - (y[0][i] + w * (-yp[0][i] + w * (e - f * (w + s))));
            double missing_p = yp[2][i] - (yp[0][i] + w * (-2.0 * e + f * (3.0 * w + 2.0 * s)));
            g = missing / z;
            k = (missing_p - zp * g) / z;
        }
        d[0][i] = y[0][i];
        d[1][i] = yp[0][i];
        d[2][i] = 2.0 * (e + s * (-f + s * (g + w * k)));
        d[3][i] = 6.0 * (f - s * (2.0 * g - (s - 2.0 * w) * k));
        d[4][i] = 24.0 * (g + (w - 2.0 * s) * k);
        d[5][i] = 120.0 * k;
    }
}

/* What the state after dtau is made of, where the derivatives do not come in. */
struct arc {
    double swing, turn;   /* tau c_1 and c_0 - 1 of u */
    double lag, bend;     /* tau c_1 and tau^2 c_2 of t */
    double u[KS_ORDERS];  /* tau^(k+2) c_(k+2) of u */
    double up[KS_ORDERS]; /* tau^(k+1) c_(k+1) of u */
    double t[KS_ORDERS];  /* tau^(k+3) c_(k+3) of t */
    double h[KS_ORDERS];  /* tau^(k+1)/(k+1)! */
};

static void make_arc(double h, double dtau, struct arc *arc)
{
    double cu[KEPLER_STUMPFF_MAX + 1], ct[KEPLER_STUMPFF_MAX + 1], power = dtau, factorial = 1.0;
    double z = dtau * dtau * h;
    kepler_stumpff(-0.5 * z, cu);
    kepler_stumpff(-2.0 * z, ct);
    arc->swing = dtau * cu[1];
    arc->turn = 0.5 * z * cu[2];
    arc->lag = dtau * ct[1];
    arc->bend = dtau * dtau * ct[2];
    for (int k = 0; k < KS_ORDERS; k++) {
        factorial *= k + 1;
        arc->h[k] = power / factorial;
        arc->up[k] = power * cu[k + 1];
        arc->u[k] = power * dtau * cu[k + 2];
        arc->t[k] = power * dtau * dtau * ct[k + 3];
        power *= dtau;
    }
}

static void follow(const struct arc *arc, const struct ks_node *n, double kappa, double d[KS_ORDERS][KS_PARTS],
                   int degree, struct ks_value *value)
{
    double u[4] = {0}, up[4] = {0}, dt = 0, dh = 0;
    for (int k = degree; k >= 0; k--) {
        for (int i = 0; i < 4; i++) {
            u[i] += d[k][AT_F + i] * arc->u[k];
            up[i] += d[k][AT_F + i] * arc->up[k];
        }
        dh += d[k][AT_H] * arc->h[k];
        dt += d[k][AT_S] * arc->t[k];
    }
    for (int i = 0; i < 4; i++) {
        value->du[i] = arc->swing * n->up[i] + (arc->turn * n->u[i] + u[i]);
        value->dup[i] = 0.5 * n->h * arc->swing * n->u[i] + (arc->turn * n->up[i] + up[i]);
        value->u[i] = n->u[i] + value->du[i];
        value->up[i] = n->up[i] + value->dup[i];
    }
    value->h = n->h + dh;
    value->dt = kappa * (n->r * arc->lag + (n->rp * arc->bend + dt));
}

void ks_evaluate(const struct ks_node *n, double kappa, double d[KS_ORDERS][KS_PARTS], int degree, double dtau,
                 struct ks_value *value)
{
    struct arc arc;
    make_arc(n->h, dtau, &arc);
    follow(&arc, n, kappa, d, degree, value);
}

/* Ahead of the last step high derivatives are extrapolated, and there a lower degree is the better one. */
int ks_derivatives(const struct ks_pair *pair, int forwards, double d[KS_ORDERS][KS_PARTS])
{
    values(&pair->now, pair->now.h, d[0], d[1]);
    memcpy(d[2], pair->d, sizeof pair->d);
    return pair->level < 1 ? 1 : forwards || pair->level < 2 ? 3 : 5;
}

/* Derivatives at distance s of the node that d belongs to, the energy of reference moved to that of b, which is there.
 */
static void shift(double d[KS_ORDERS][KS_PARTS], double s, const struct ks_node *a, const struct ks_node *b,
                  double out[4][KS_PARTS])
{
    double dh = b->h - a->h, upp[4], uppp[4];
    for (int i = 0; i < KS_PARTS; i++) {
        out[0][i] = d[2][i] + s * (d[3][i] + s * (d[4][i] / 2 + s * d[5][i] / 6));
        out[1][i] = d[3][i] + s * (d[4][i] + s * d[5][i] / 2);
        out[2][i] = d[4][i] + s * d[5][i];
        out[3][i] = d[5][i];
    }
    for (int i = 0; i < 4; i++) {
        upp[i] = 0.5 * b->h * b->u[i] + b->q[i];
        uppp[i] = 0.5 * (b->h * b->up[i] + b->hp * b->u[i]) + b->qp[i];
        out[0][AT_F + i] -= 0.5 * dh * upp[i];
        out[1][AT_F + i] -= 0.5 * dh * uppp[i];
        out[2][AT_F + i] -= 0.5 * dh * (0.5 * b->h * upp[i] + out[0][AT_F + i]);
        out[3][AT_F + i] -= 0.5 * dh * (0.5 * b->h * uppp[i] + out[1][AT_F + i]);
    }
    out[0][AT_S] -= 2.0 * dh * b->r2;
    out[1][AT_S] -= 2.0 * dh * b->r3;
    out[2][AT_S] -= 2.0 * dh * (2.0 * b->h * b->r2 + out[0][AT_S]);
    out[3][AT_S] -= 2.0 * dh * (2.0 * b->h * b->r3 + out[1][AT_S]);
}

/* Solve the corrector for the end b of the step by iteration; the perturbation stays as it is. */
static void correct(const struct ks_pair *pair, const struct ks_perturbation *out, const struct arc *arc, double s,
                    const struct ks_node *c, struct ks_node *b, double d[KS_ORDERS][KS_PARTS], struct ks_value *value)
{
    for (int i = 0; i < CORRECTIONS; i++) {
        ks_fill_node(b, pair->kappa, out->p, out->pdot);
        interpolate(&pair->now, b, s, c, pair->dtau_before, d);
        follow(arc, &pair->now, pair->kappa, d, c ? 5 : 3, value);
        double moved = 0, moved_p = 0;
        for (int k = 0; k < 4; k++) {
            moved = fmax(moved, fabs(value->u[k] - b->u[k]));
            moved_p = fmax(moved_p, fabs(value->up[k] - b->up[k]));
            b->u[k] = value->u[k];
            b->up[k] = value->up[k];
        }
        double moved_h = fabs(value->h - b->h), h = fabs(b->h) + pair->m / b->r;
        b->h = value->h;
        if (moved <= 4 * DBL_EPSILON * sqrt(b->r) && moved_p <= 4 * DBL_EPSILON * sqrt(h * b->r) &&
            moved_h <= 4 * DBL_EPSILON * h)
            break;
    }
}

/* Where the begin of the step before helps to interpolate a step s. */
static const struct ks_node *helper(const struct ks_pair *pair, double s)
{
    double w = pair->dtau_before;
    return s > 0 && w > 0.2 * s && w < 5.0 * s ? &pair->before : NULL;
}

int ks_make_step(struct ks_pair *pair, double s, ks_perturb_fn perturb, void *context, struct nbc_error *err)
{
    double d[KS_ORDERS][KS_PARTS];
    struct ks_value value;
    struct ks_node b = {0};
    struct ks_perturbation out = {0};
    const struct ks_node *c = helper(pair, s);
    int degree = ks_derivatives(pair, s > 0, d), short_step = s < SHORT * pair->dtau;
    struct arc arc;
    make_arc(pair->now.h, s, &arc);
    follow(&arc, &pair->now, pair->kappa, d, pair->perturbed ? degree : 0, &value);
    int tries = pair->perturbed && (degree < 3 || pair->gamma > GAMMA_STRONG) ? 2 : 1;
    for (int i = 0; i < tries; i++) {
        double t = pair->t, t_lo = pair->t_lo;
        ks_add_time(value.dt, &t, &t_lo);
        int status = ks_evaluate_perturbation(pair, perturb, context, t, t_lo, value.u, value.up, &out, err);
        if (status) return status;
        memcpy(b.u, value.u, sizeof b.u);
        memcpy(b.up, value.up, sizeof b.up);
        b.h = value.h;
        if (pair->perturbed) correct(pair, &out, &arc, s, c, &b, d, &value);
    }
    ks_move(pair, &pair->now, &value, &b);
    ks_fill_node(&b, pair->kappa, out.p, out.pdot);
    if (!isfinite(b.r) || !isfinite(b.r3) || !isfinite(b.hpp) || !isfinite(value.dt) || !(b.r > 0))
        return nbc_fail(err, NBC_NON_FINITE,
                        "ks_step: no finite state after a step of %g at time %.17g: separation %g, "
                        "perturbation %g of the pair's own force",
                        pair->dt, pair->t, pair->now.r, pair->gamma);
    ks_add_time(value.dt, &pair->t, &pair->t_lo);

    if (short_step) ks_derivatives(pair, 1, d); /* those of the last full step stay the better ones */
    if (pair->perturbed && !(short_step && pair->level < 1)) shift(d, s, &pair->now, &b, pair->d);
    if (!short_step) {
        pair->before = pair->now;
        pair->dtau_before = s;
        pair->level = pair->perturbed ? (c ? 2 : 1) : 0;
    } else {
        pair->dtau_before = fmax(0.0, pair->dtau_before + s);
    }
    pair->now = b;
    memcpy(pair->p, out.p, sizeof out.p);
    memcpy(pair->pdot, out.pdot, sizeof out.pdot);
    ks_note_perturbation(pair, &out, 0);
    return NBC_OK;
}
