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

/* Nothing is moved by less than this part of it. */
static const double ROUNDING = 4 * DBL_EPSILON;

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
    double excess = ks_rectification_factor(pair->m, value->h, value->u, value->up), both = value->h < 0 ? excess : 0.0;
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

/* Factors of the state after dtau that do not depend on derivatives. */
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

/* Contribution of F, h' and S to the state after dtau. */
struct driven {
    double u[4], up[4], h, t;
};

static void set_value(const struct arc *arc, const struct ks_node *n, double kappa, const struct driven *driven,
                      struct ks_value *value)
{
    for (int i = 0; i < 4; i++) {
        value->du[i] = arc->swing * n->up[i] + (arc->turn * n->u[i] + driven->u[i]);
        value->dup[i] = 0.5 * n->h * arc->swing * n->u[i] + (arc->turn * n->up[i] + driven->up[i]);
        value->u[i] = n->u[i] + value->du[i];
        value->up[i] = n->up[i] + value->dup[i];
    }
    value->h = n->h + driven->h;
    value->dt = kappa * (n->r * arc->lag + (n->rp * arc->bend + driven->t));
}

static void drive(const struct arc *arc, const double d[KS_ORDERS][KS_PARTS], int degree, struct driven *driven)
{
    memset(driven, 0, sizeof *driven);
    for (int k = degree; k >= 0; k--) {
        for (int i = 0; i < 4; i++) {
            driven->u[i] += d[k][AT_F + i] * arc->u[k];
            driven->up[i] += d[k][AT_F + i] * arc->up[k];
        }
        driven->h += d[k][AT_H] * arc->h[k];
        driven->t += d[k][AT_S] * arc->t[k];
    }
}

static void follow(const struct arc *arc, const struct ks_node *n, double kappa, double d[KS_ORDERS][KS_PARTS],
                   int degree, struct ks_value *value)
{
    struct driven driven;
    drive(arc, d, degree, &driven);
    set_value(arc, n, kappa, &driven, value);
}

void ks_evaluate(const struct ks_node *n, double kappa, double d[KS_ORDERS][KS_PARTS], int degree, double dtau,
                 struct ks_value *value)
{
    struct arc arc;
    make_arc(n->h, dtau, &arc);
    follow(&arc, n, kappa, d, degree, value);
}

/* Ahead of the last step high derivatives are extrapolated, and there a lower degree is the better one. */
static int degree_of(const struct ks_pair *pair, int forwards)
{
    return pair->level < 1 ? 1 : forwards || pair->level < 2 ? 3 : 5;
}

int ks_derivatives(const struct ks_pair *pair, int forwards, double d[KS_ORDERS][KS_PARTS])
{
    values(&pair->now, pair->now.h, d[0], d[1]);
    memcpy(d[2], pair->d, sizeof pair->d);
    return degree_of(pair, forwards);
}

double ks_time_after(const struct ks_pair *pair, double s)
{
    const struct ks_node *n = &pair->now;
    const double driver[] = {n->r2 - 2.0 * n->h * n->r, n->r3 - 2.0 * n->h * n->rp, pair->d[0][AT_S], pair->d[1][AT_S]};
    double c[KEPLER_STUMPFF_MAX + 1], driven = 0;
    kepler_stumpff(-2.0 * n->h * s * s, c);
    for (int k = pair->perturbed ? degree_of(pair, 1) : 0; k >= 0; k--) driven = driven * s + driver[k] * c[k + 3];
    return pair->kappa * s * (n->r * c[1] + s * (n->rp * c[2] + s * driven));
}

/* Derivatives at distance s of the node that d belongs to, the energy of reference moved to that of b, which is there.
 */
static void shift(double d[KS_ORDERS][KS_PARTS], double s, const struct ks_node *a, const struct ks_node *b,
                  double out[4][KS_PARTS])
{
    double dh = b->h - a->h, upp[4], uppp[4];
    for (int i = 0; i < KS_PARTS; i++) {
        out[0][i] = d[2][i] + s * (d[3][i] + s * (0.5 * d[4][i] + s * (1.0 / 6.0) * d[5][i]));
        out[1][i] = d[3][i] + s * (d[4][i] + s * 0.5 * d[5][i]);
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

/* Polynomials through the begin of a step of s, its end and, if there is one, a node at -w, in Newton's form,
 *     y + y' tau + e tau^2 + f tau^2 (tau - s) + [g + k (tau + w)] tau^2 (tau - s)^2.
 * The end determines e and f of each part. All else is linear in these two, with factors that all parts share: so
 * their contribution is computed once for a step, and the corrector changes e and f alone. */
struct polynomials {
    double s, inverse, inverse2;
    double d[KS_ORDERS][KS_PARTS]; /* derivatives at the begin where e and f are zero */
    double by_e[KS_ORDERS], by_f[KS_ORDERS];
    double e[KS_PARTS], f[KS_PARTS];
};

/* Second to fifth derivatives of [c + k tau] tau^2 (tau - s)^2. */
static void expand(double s, double c, double k, double d[4])
{
    d[0] = 2.0 * s * s * c;
    d[1] = 6.0 * s * (s * k - 2.0 * c);
    d[2] = 24.0 * (c - 2.0 * s * k);
    d[3] = 120.0 * k;
}

/* @param[in] c  the node at -w; NULL: there is none */
static void begin_polynomials(const struct ks_node *a, double s, const struct ks_node *c, double w,
                              struct polynomials *p)
{
    const double factors[2][KS_ORDERS] = {{0, 0, 2.0}, {0, 0, -2.0 * s, 6.0}};
    p->s = s;
    p->inverse = 1.0 / s;
    p->inverse2 = p->inverse * p->inverse;
    memcpy(p->by_e, factors[0], sizeof p->by_e);
    memcpy(p->by_f, factors[1], sizeof p->by_f);
    values(a, a->h, p->d[0], p->d[1]);
    if (!c) {
        memset(p->d[2], 0, 4 * sizeof p->d[2]);
        return;
    }
    double y[KS_PARTS], yp[KS_PARTS], d[4];
    const double q = 1.0 / (w + s), scale = q * q / (w * w), turn = 2.0 * (2.0 * w + s) * q / w;
    values(c, a->h, y, yp);
    for (int i = 0; i < KS_PARTS; i++) {
        double missing = y[i] - (p->d[0][i] - w * p->d[1][i]);
        double k = scale * (yp[i] - p->d[1][i] + turn * missing);
        expand(s, scale * missing + w * k, k, d);
        for (int n = 0; n < 4; n++) p->d[n + 2][i] = d[n];
    }
    expand(s, -q * q * (1.0 + 2.0 * w * q), -2.0 * q * q * q, d);
    for (int n = 0; n < 4; n++) p->by_e[n + 2] += d[n];
    expand(s, q * (1.0 + w * q), q * q, d);
    for (int n = 0; n < 4; n++) p->by_f[n + 2] += d[n];
}

static void set_part(struct polynomials *p, int i, double y, double yp)
{
    double off = y - (p->d[0][i] + p->s * p->d[1][i]);
    p->e[i] = off * p->inverse2;
    p->f[i] = (yp - p->d[1][i] - 2.0 * off * p->inverse) * p->inverse2;
}

static void get_derivatives(const struct polynomials *p, double d[KS_ORDERS][KS_PARTS])
{
    for (int k = 0; k < KS_ORDERS; k++)
        for (int i = 0; i < KS_PARTS; i++) d[k][i] = p->d[k][i] + (p->by_e[k] * p->e[i] + p->by_f[k] * p->f[i]);
}

/* Contribution of polynomials to the end of a step: without e and f, and by them. */
struct driving {
    struct driven rest;
    double u[2], up[2], h[2], t[2];
};

static double sum_of(const double a[KS_ORDERS], const double b[KS_ORDERS])
{
    double sum = 0;
    for (int k = KS_ORDERS - 1; k >= 0; k--) sum += a[k] * b[k];
    return sum;
}

static void begin_driving(const struct arc *arc, const struct polynomials *p, struct driving *by)
{
    drive(arc, p->d, KS_ORDERS - 1, &by->rest);
    for (int m = 0; m < 2; m++) {
        const double *factor = m == 0 ? p->by_e : p->by_f;
        by->u[m] = sum_of(factor, arc->u);
        by->up[m] = sum_of(factor, arc->up);
        by->h[m] = sum_of(factor, arc->h);
        by->t[m] = sum_of(factor, arc->t);
    }
}

static void follow_to_end(const struct driving *by, const struct polynomials *p, const struct arc *arc,
                          const struct ks_node *n, double kappa, struct ks_value *value)
{
    struct driven driven;
    const double *e = p->e, *f = p->f;
    for (int i = 0; i < 4; i++) {
        driven.u[i] = by->rest.u[i] + (by->u[0] * e[AT_F + i] + by->u[1] * f[AT_F + i]);
        driven.up[i] = by->rest.up[i] + (by->up[0] * e[AT_F + i] + by->up[1] * f[AT_F + i]);
    }
    driven.h = by->rest.h + (by->h[0] * e[AT_H] + by->h[1] * f[AT_H]);
    driven.t = by->rest.t + (by->t[0] * e[AT_S] + by->t[1] * f[AT_S]);
    set_value(arc, n, kappa, &driven, value);
}

/* The energy of the end, which the forces there follow at once: or each of both would be one turn behind. */
static double take_energy(const struct driving *by, struct polynomials *p, const struct ks_node *a, struct ks_node *b)
{
    set_part(p, AT_H, b->hp, b->hpp);
    double h = a->h + (by->rest.h + (by->h[0] * p->e[AT_H] + by->h[1] * p->f[AT_H])), change = h - b->h;
    b->h = h;
    b->r2 += change * b->r;
    b->r3 += 2.0 * change * b->rp;
    return change;
}

/* The end of the step in this iteration.   @return the square of its change, in units of the rounding error */
static double take_end(const struct ks_value *value, double m, double moved_h, struct ks_node *b)
{
    double moved = 0, moved_p = 0, h = fabs(b->h) + m / b->r;
    for (int k = 0; k < 4; k++) {
        double du = value->u[k] - b->u[k], dup = value->up[k] - b->up[k];
        moved += du * du;
        moved_p += dup * dup;
        b->u[k] = value->u[k];
        b->up[k] = value->up[k];
    }
    return ((moved * h + moved_p) * h + moved_h * moved_h * b->r) / (b->r * h * h * ROUNDING * ROUNDING);
}

/* Solve the corrector for the end b of the step by iteration at constant perturbation. With a weak perturbation each
 * iteration changes the end by a constant part of the change before: once the next change would be negligible, it is
 * skipped. (By gamma 8 iterations alternate, and such a stop would leave 6e-12.) */
static void correct(const struct ks_pair *pair, const struct ks_perturbation *out, const struct arc *arc, double s,
                    const struct ks_node *c, struct ks_node *b, double d[KS_ORDERS][KS_PARTS], struct ks_value *value)
{
    struct polynomials p;
    struct driving by;
    const int is_weak = pair->kappa * pair->gamma < GAMMA_STRONG;
    double before = 0;
    begin_polynomials(&pair->now, s, c, pair->dtau_before, &p);
    begin_driving(arc, &p, &by);
    for (int i = 0; i < CORRECTIONS; i++) {
        ks_fill_node(b, pair->kappa, out->p, out->pdot);
        double moved_h = take_energy(&by, &p, &pair->now, b), y[KS_PARTS], yp[KS_PARTS];
        values(b, pair->now.h, y, yp);
        for (int k = 0; k < KS_PARTS; k++) set_part(&p, k, y[k], yp[k]);
        follow_to_end(&by, &p, arc, &pair->now, pair->kappa, value);
        double moved = take_end(value, pair->m, moved_h, b);
        if (moved <= 1 || (is_weak && moved * moved <= before)) break;
        before = moved;
    }
    get_derivatives(&p, d);
}

/* Where the begin of the step before helps to interpolate a step s. */
static const struct ks_node *helper(const struct ks_pair *pair, double s)
{
    double w = pair->dtau_before;
    return s > 0 && w > 0.2 * s && w < 5.0 * s ? &pair->before : NULL;
}

/* w' = power dt/dtau, by Hermite's rule of fourth order: in equal steps of tau, around orbits, far better than that. */
static void add_work(struct ks_pair *pair, double s, const struct ks_node *b, const double power[2])
{
    const struct ks_node *node[2] = {&pair->now, b};
    const double *at[2] = {pair->power, power}, kappa = pair->kappa;
    double rate[2], slope[2];
    for (int m = 0; m < 2; m++) {
        rate[m] = kappa * node[m]->r * at[m][0];
        slope[m] = kappa * (node[m]->rp * at[m][0] + kappa * node[m]->r * node[m]->r * at[m][1]);
    }
    pair->work += 0.5 * s * ((rate[0] + rate[1]) + s / 6.0 * (slope[0] - slope[1]));
    memcpy(pair->power, power, sizeof pair->power);
}

int ks_make_step(struct ks_pair *pair, double s, ks_perturb_fn perturb, void *context, struct nbc_error *err)
{
    double d[KS_ORDERS][KS_PARTS];
    struct ks_value value;
    struct ks_node b;
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
    add_work(pair, s, &b, out.power);

    if (short_step) ks_derivatives(pair, 1, d); /* those of the last full step stay the better ones */
    if (pair->perturbed && !(short_step && pair->level < 1)) shift(d, s, &pair->now, &b, pair->d);
    if (!short_step) {
        pair->before = pair->now;
        pair->dtau_before = s;
        pair->level = pair->perturbed ? (c ? 2 : 1) : 0;
    } else if (pair->dtau_before > 0) {
        pair->dtau_before = fmax(0.0, pair->dtau_before + s);
    }
    pair->now = b;
    memcpy(pair->p, out.p, sizeof out.p);
    memcpy(pair->pdot, out.pdot, sizeof out.pdot);
    ks_note_perturbation(pair, &out, 0);
    return NBC_OK;
}
