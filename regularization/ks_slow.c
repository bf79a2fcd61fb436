/* Slow-down (Mikkola & Aarseth 1996). The periodic part of the perturbation's effect varies kappa times as much as
 * without slow-down, and only its average is the secular orbit. When kappa changes, the deviation from the average
 * of the last period is multiplied by the ratio of the factors: without that, its momentary value at each change
 * would persist, and where changes follow an outer orbit, grow. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "regularization/ks_internal.h"

#define PI 3.14159265358979323846

/* kappa periods must be this much shorter than the time in which perturbers change. */
static const double SLOW_PERIODS = 0.2;

/* A factor is changed when it is too large, or could be larger by the first number; then it is set to the second
 * part of the largest possible one. Every change costs an evaluation of the perturbation, and a step of lower order. */
static const double SLOW_TOLERANCE = 1.25, SLOW_RESERVE = 0.9;

/* Deviations are small quantities: above this part of their reference only the energy is corrected. */
static const double SMALL = 0.1;

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = a[j] * b[k] - a[k] * b[j];
    }
}

static void find_orbit(const struct ks_pair *pair, struct ks_orbit *o)
{
    double x[3], v[3], vl[3];
    ks_relative(pair, x, v);
    cross(x, v, o->l);
    cross(v, o->l, vl);
    for (int i = 0; i < 3; i++) o->e[i] = vl[i] / pair->m - x[i] / pair->now.r;
    o->h = pair->h;
}

/* sum += wa a + wb b */
static void add(struct ks_orbit *sum, double wa, const struct ks_orbit *a, double wb, const struct ks_orbit *b)
{
    sum->h += wa * a->h + wb * b->h;
    for (int i = 0; i < 3; i++) {
        sum->e[i] += wa * a->e[i] + wb * b->e[i];
        sum->l[i] += wa * a->l[i] + wb * b->l[i];
    }
}

void ks_forget_average(struct ks_pair *pair, int mean)
{
    if (mean) {
        memset(&pair->mean, 0, sizeof pair->mean);
        memset(&pair->drift, 0, sizeof pair->drift);
    }
    memset(&pair->sum, 0, sizeof pair->sum);
    pair->swing = pair->time = 0;
    if (pair->options.gamma_slow > 0) find_orbit(pair, &pair->last);
    pair->begin = pair->last;
}

/* From part a to part b of a step of dtau from `last` to `to`: averaged quantities are linear in it, and so is R. */
static void add_part(struct ks_pair *pair, double dtau, double a, double b, const struct ks_orbit *to, double r_from)
{
    double r = pair->now.r, from = 0.5 * dtau * (b - a) * (r_from + a * (r - r_from));
    double until = 0.5 * dtau * (b - a) * (r_from + b * (r - r_from));
    add(&pair->sum, from * (1 - a) + until * (1 - b), &pair->last, from * a + until * b, to);
    pair->time += from + until;
}

/* The average is that of the middle of the period; to its end half of the change in the period is added. */
static void end_period(struct ks_pair *pair, double dtau, double at, double rest, const struct ks_orbit *to,
                       double r_from)
{
    struct ks_orbit end = {0}, zero = {0}, before = pair->drift;
    int known = pair->mean.h < 0;
    add(&end, 1 - at, &pair->last, at, to);
    pair->drift = pair->mean = zero;
    add(&pair->drift, 1, &end, -1, &pair->begin);
    add(&pair->mean, 1 / pair->time, &pair->sum, 0.5, &pair->drift);
    if (known) add(&pair->mean, 1.0 / 12, &pair->drift, -1.0 / 12, &before);
    pair->begin = end;
    pair->sum = zero;
    pair->time = 0;
    add_part(pair, dtau, at, 1, to, r_from);
    pair->swing = rest;
}

int ks_average_orbit(struct ks_pair *pair, double dtau, double r_from)
{
    struct ks_orbit to;
    if (!(pair->options.gamma_slow > 0)) return 0;
    if (pair->h >= 0) {
        ks_forget_average(pair, 1);
        return 0;
    }
    find_orbit(pair, &to);
    double part = dtau * sqrt(-2.0 * pair->h) / (2.0 * PI), missing = 1.0 - pair->swing;
    int whole = part > 0 && part >= missing;
    add_part(pair, dtau, 0, whole ? missing / part : 1, &to, r_from);
    pair->swing += part;
    if (whole) end_period(pair, dtau, missing / part, part - missing, &to, r_from);
    pair->last = to;
    return whole;
}

double ks_choose_slowdown(struct ks_pair *pair)
{
    const struct ks_options *o = &pair->options;
    double scale = pair->t_scale;
    pair->t_scale = 0;
    if (!(o->kappa_max > 1) || !(scale > 0)) return pair->kappa;
    double b = sqrt(-2.0 * pair->h), period = 2.0 * PI * pair->m / (b * b * b);
    double wanted = fmin(o->gamma_slow / fmax(pair->gamma_apo, DBL_MIN), SLOW_PERIODS * scale / period);
    wanted = fmin(o->kappa_max, wanted);
    int change = wanted < pair->kappa || SLOW_RESERVE * wanted > SLOW_TOLERANCE * pair->kappa;
    return change ? fmax(1.0, SLOW_RESERVE * wanted) : pair->kappa;
}

double ks_limit_slowdown(const struct ks_pair *pair)
{
    double allowed = pair->options.gamma_slow;
    if (!(allowed > 0)) return pair->kappa;
    if (pair->h >= 0) return 1.0; /* no period to average over */
    if (pair->kappa * pair->gamma <= 2.0 * allowed) return pair->kappa;
    return fmin(pair->kappa, fmax(1.0, allowed / pair->gamma));
}

double ks_energy(const struct ks_pair *pair)
{
    double mean = pair->mean.h + pair->swing * pair->drift.h;
    return pair->mean.h < 0 && pair->kappa > 1 ? mean + (pair->h - mean) / pair->kappa : pair->h;
}

/* The orbit that o is to become: of energy h, in the plane of l, its pericentre in the direction of e. Of e and l,
 * which both determine the eccentricity, the more accurate one is used. */
static int make_consistent(struct ks_orbit *o, double m)
{
    double l2 = ks_dot3(o->l, o->l), along = ks_dot3(o->e, o->l) / l2, e2, e = 0;
    for (int i = 0; i < 3; i++) o->e[i] -= along * o->l[i];
    e2 = ks_dot3(o->e, o->e);
    if (e2 > 0.5) {
        e = sqrt(fmax(0.0, 1.0 + 2.0 * o->h * l2 / (m * m)) / e2);
        for (int i = 0; i < 3; i++) o->e[i] *= e;
    } else {
        double l = m * sqrt((1.0 - e2) / (-2.0 * o->h * l2));
        for (int i = 0; i < 3; i++) o->l[i] *= l;
    }
    return isfinite(e) && l2 > 0;
}

/* u, u' on an orbit, in the direction of the present separation as far as the orbit's plane has it. */
static int move_to(struct ks_pair *pair, struct ks_orbit *o)
{
    double x[3], v[3], sum[3], m = pair->m, r, outwards;
    if (!make_consistent(o, m)) return 0;
    ks_relative(pair, x, v);
    double l2 = ks_dot3(o->l, o->l), along = ks_dot3(x, o->l) / l2;
    for (int i = 0; i < 3; i++) x[i] -= along * o->l[i];
    r = sqrt(ks_dot3(x, x));
    outwards = 1.0 + ks_dot3(o->e, x) / r;
    for (int i = 0; i < 3; i++) {
        x[i] /= r;
        sum[i] = o->e[i] + x[i];
    }
    cross(o->l, sum, v);
    r = l2 / (m * outwards);
    for (int i = 0; i < 3; i++) {
        x[i] *= r;
        v[i] *= m / l2;
    }
    if (!(outwards > 0) || !isfinite(r + ks_dot3(v, v))) return 0;
    ks_from_space(x, v, r, pair->now.u, pair->now.up);
    return 1;
}

/* Makes the deviation from the mean orbit `ratio` times what it is. */
static void scale_deviation(struct ks_pair *pair, double ratio)
{
    struct ks_orbit o = {0}, now;
    find_orbit(pair, &now);
    add(&o, 1 - ratio, &pair->mean, pair->swing * (1 - ratio), &pair->drift);
    add(&o, ratio, &now, 0, &now);
    if (!(o.h < 0)) return;
    double off = 0, rest = 1.0 - sqrt(ks_dot3(now.e, now.e));
    for (int i = 0; i < 3; i++) off = fmax(off, fabs(o.e[i] - now.e[i]));
    if (off < SMALL * rest && move_to(pair, &o)) {
        memset(pair->u_lo, 0, sizeof pair->u_lo);
        memset(pair->up_lo, 0, sizeof pair->up_lo);
    }
    pair->h = pair->now.h = o.h;
    double excess = ks_rectification_factor(pair->m, o.h, pair->now.u, pair->now.up);
    for (int i = 0; i < 4; i++) {
        pair->now.u[i] += excess * pair->now.u[i];
        pair->now.up[i] += excess * pair->now.up[i];
    }
    pair->now.r = ks_dot4(pair->now.u, pair->now.u);
    pair->now.rp = 2.0 * ks_dot4(pair->now.u, pair->now.up);
}

void ks_set_slowdown(struct ks_pair *pair, double kappa)
{
    if (!(kappa >= 1.0) || !isfinite(kappa)) kappa = 1.0;
    if (kappa == pair->kappa) return;
    if (pair->mean.h < 0 && pair->h < 0) scale_deviation(pair, kappa / pair->kappa);
    struct ks_orbit drift = pair->drift;
    memset(&pair->drift, 0, sizeof drift);
    add(&pair->drift, kappa / pair->kappa, &drift, 0, &drift);
    pair->kappa = kappa;
    pair->level = -1;
    ks_forget_average(pair, 0);
}
