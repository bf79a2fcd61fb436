/* Whether a pair from a file is consistent, as the functions of this library leave it. */
#include "regularization/check.h"
#include "regularization/ks_internal.h"

#include <math.h>

/* A sound pair must never be refused, since a long run depends on it. So a relation is only required to the accuracy
 * with which it holds for any pair, any perturbers, and any drift of its numbers in 10^9 orbits. */

/* The sum of four squares, in another order. */
static const double ROUNDED = 1e-9;

/* Beyond any perturbation that a pair has until it ends: this many times its own force. */
static const double STRONGEST = 1e12;

static double norm4(const double a[4])
{
    return sqrt(ks_dot4(a, a));
}

/* Names of the members of a node that are looked at. */
struct node_names {
    const char *r, *rp, *hp, *hpp, *r2, *r3, *q, *qp, *up;
};

/* The square of u is r, and derivatives with respect to the fictitious time are of the size of the motion: they need
 * not be those of just this u and q, which a new perturbation or a mean over orbits changes alone. */
static void check_node(const struct ks_node *n, double m, double dtau, const struct node_names *name,
                       struct nbc_misfit *misfit)
{
    const double r = ks_dot4(n->u, n->u), up2 = ks_dot4(n->up, n->up), q = norm4(n->q), qp = norm4(n->qp);
    nbc_unless(r > 0 && fabs(n->r - r) <= ROUNDED * r, misfit, name->r, n->r, "|u|^2, and > 0");
    if (misfit->member) return;
    const double energy = fabs(n->h) + m / r, rate = sqrt(energy); /* the latter in fictitious time */
    nbc_unless(up2 <= STRONGEST * energy * r, misfit, name->up, sqrt(up2), "a velocity that h lets the pair have");
    nbc_unless(fabs(n->rp) <= STRONGEST * r * rate, misfit, name->rp, n->rp, "a velocity that h lets the pair have");
    nbc_unless(fabs(n->r2) <= STRONGEST * r * energy, misfit, name->r2, n->r2, "an acceleration of a pair");
    nbc_unless(fabs(n->r3) <= STRONGEST * r * energy * rate, misfit, name->r3, n->r3, "the change of one");
    nbc_unless(fabs(n->hp) <= STRONGEST * energy * rate, misfit, name->hp, n->hp,
               "the change of h while there is a pair");
    nbc_unless(fabs(n->hpp) <= STRONGEST * energy * energy, misfit, name->hpp, n->hpp, "the change of hp");
    nbc_unless(q * sqrt(r) <= STRONGEST * m, misfit, name->q, q, "a perturbation under which there is a pair");
    nbc_unless(qp * sqrt(r) * dtau <= STRONGEST * STRONGEST * m, misfit, name->qp, qp,
               "the change of a perturbation under which there is a pair");
}

/* The present state. */
static void check_now(const struct ks_pair *pair, struct nbc_misfit *misfit)
{
    static const struct node_names names = {"now.r",  "now.rp", "now.hp", "now.hpp", "now.r2",
                                            "now.r3", "now.q",  "now.qp", "now.up"};
    const double size = fmax(pair->r_max, ks_dot4(pair->now.u, pair->now.u)), energy = fabs(pair->h) + pair->m / size;
    nbc_unless(fabs(pair->now.h - pair->h) <= STRONGEST * energy, misfit, "now.h", pair->now.h, "about h");
    check_node(&pair->now, pair->m, pair->dtau, &names, misfit);
    for (int i = 0; i < 4; i++) {
        nbc_unless(fabs(pair->u_lo[i]) <= ROUNDED * sqrt(size), misfit, "u_lo", pair->u_lo[i],
                   "less than the last digit of u in this orbit");
        nbc_unless(fabs(pair->up_lo[i]) <= ROUNDED * sqrt(energy * size), misfit, "up_lo", pair->up_lo[i],
                   "less than the last digit of up in this orbit");
    }
}

/* The state before counts where there is one. */
static void check_before(const struct ks_pair *pair, struct nbc_misfit *misfit)
{
    static const struct node_names names = {"before.r",  "before.rp", "before.hp", "before.hpp", "before.r2",
                                            "before.r3", "before.q",  "before.qp", "before.up"};
    if (pair->dtau_before > 0) check_node(&pair->before, pair->m, pair->dtau_before, &names, misfit);
}

static void check_constants(const struct ks_pair *pair, struct nbc_misfit *misfit)
{
    const double *mass = pair->mass;
    nbc_unless(mass[0] >= 0 && mass[1] >= 0, misfit, "mass", fmin(mass[0], mass[1]), "a number >= 0");
    nbc_unless(pair->m > 0 && fabs(pair->m - mass[0] - mass[1]) <= ROUNDED * pair->m, misfit, "m", pair->m,
               "mass[0] + mass[1], and > 0");
    nbc_unless(pair->options.eta > 0 && pair->options.eta <= 0.5, misfit, "options.eta", pair->options.eta,
               "a number > 0 and <= 0.5");
    nbc_unless(pair->kappa >= 1 && pair->kappa <= STRONGEST, misfit, "kappa", pair->kappa, "a number from 1 to 1e12");
}

/* The next step: consistent with its length in time, and not many oscillations. Before ks_start there is none. */
static void check_step(const struct ks_pair *pair, struct nbc_misfit *misfit)
{
    const double longest = 4e3 / sqrt(fabs(pair->h) + pair->m / fmax(pair->now.r, pair->r_max));
    if (pair->level < 0 || misfit->member) return;
    nbc_unless(pair->dtau > 0 && pair->dtau <= longest, misfit, "dtau", pair->dtau,
               "a number > 0, less than a thousand oscillations");
    const double dt = ks_time_after(pair, pair->dtau);
    nbc_unless(pair->dt > 0 && pair->dt <= 1e9 * dt && dt <= 1e9 * pair->dt, misfit, "dt", pair->dt,
               "about the time that dtau takes, > 0");
    nbc_unless(pair->dtau_before <= longest, misfit, "dtau_before", pair->dtau_before,
               "less than a thousand oscillations");
}

/* Derivatives of the perturbation over some steps. */
static void check_derivatives(const struct ks_pair *pair, struct nbc_misfit *misfit)
{
    const double r = pair->now.r, q = STRONGEST * pair->m / sqrt(r);
    double longest = STRONGEST * STRONGEST / (pair->dtau * pair->dtau);
    if (pair->level < 1 || misfit->member) return;
    for (int k = 0; k < 4; k++, longest *= STRONGEST / pair->dtau)
        for (int i = 0; i < KS_PARTS; i++) {
            const double scale = i < AT_H ? q : i == AT_H ? 4 * q * sqrt(pair->m + fabs(pair->h) * r) / r : q * sqrt(r);
            nbc_unless(fabs(pair->d[k][i]) <= scale * longest, misfit, "d", pair->d[k][i],
                       "derivatives of a perturbation under which there is a pair");
        }
}

static double norm3(const double a[3])
{
    return sqrt(ks_dot3(a, a));
}

/* An orbit of the pair's size, or a change of one: sums are over part of a period. */
static void check_orbit(const struct ks_pair *pair, const struct ks_orbit *orbit, double duration, const char *member,
                        struct nbc_misfit *misfit)
{
    const double h = fabs(pair->h) + pair->m / pair->now.r, r = fmax(pair->r_max, pair->now.r);
    const double most = STRONGEST * duration, e = 1 + h * r / pair->m, l = sqrt(pair->m * r + h * r * r);
    nbc_unless(fabs(orbit->h) <= most * h, misfit, member, orbit->h, "an energy of this pair");
    nbc_unless(norm3(orbit->e) <= most * e * e, misfit, member, norm3(orbit->e), "an eccentricity of this pair");
    nbc_unless(norm3(orbit->l) <= most * l, misfit, member, norm3(orbit->l), "an angular momentum of this pair");
}

static void check_averages(const struct ks_pair *pair, struct nbc_misfit *misfit)
{
    const double r = fmax(pair->r_max, pair->now.r), period = 100 * sqrt(r * r * r / pair->m);
    if (misfit->member) return;
    nbc_unless(pair->phase >= 0 && pair->phase <= 2, misfit, "phase", pair->phase, "a number from 0 to 2");
    nbc_unless(pair->swing >= 0 && pair->swing <= 2, misfit, "swing", pair->swing, "a number from 0 to 2");
    nbc_unless(pair->time >= 0 && pair->time <= period, misfit, "time", pair->time, "less than some periods");
    check_orbit(pair, &pair->mean, 1, "mean", misfit);
    check_orbit(pair, &pair->drift, 1, "drift", misfit);
    check_orbit(pair, &pair->begin, 1, "begin", misfit);
    check_orbit(pair, &pair->last, 1, "last", misfit);
    check_orbit(pair, &pair->sum, period, "sum", misfit);
}

static void check_strength(const struct ks_pair *pair, struct nbc_misfit *misfit)
{
    const double r = pair->now.r, own = pair->m / (r * r), rate = sqrt(pair->m / (r * r * r));
    const double gamma = fmax(pair->gamma, fmax(pair->gamma_apo, pair->gamma_run));
    if (misfit->member) return;
    nbc_unless(norm3(pair->p) <= STRONGEST * own, misfit, "p", norm3(pair->p),
               "a perturbation under which there is a pair");
    nbc_unless(norm3(pair->pdot) <= STRONGEST * STRONGEST * STRONGEST * own * rate, misfit, "pdot", norm3(pair->pdot),
               "a change of p under which there is a pair");
    nbc_unless(gamma <= STRONGEST, misfit, "gamma", gamma, "a strength under which there is a pair");
}

void ks_check(const struct ks_pair *pair, struct nbc_misfit *misfit)
{
    *misfit = (struct nbc_misfit){0};
    check_constants(pair, misfit);
    if (!misfit->member) check_now(pair, misfit);
    if (!misfit->member) check_before(pair, misfit);
    check_step(pair, misfit);
    check_derivatives(pair, misfit);
    check_strength(pair, misfit);
    check_averages(pair, misfit);
}
