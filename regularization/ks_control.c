/* Decisions between steps: the next step, and the extremes of an orbit. */
#include "regularization/ks_internal.h"

#include <float.h>
#include <math.h>

#define PI 3.14159265358979323846

/* Perturbations below this strength may change within a step; at it the step follows their change. */
static const double GAMMA_FOLLOW = 1e-3;

/* Weaker perturbations than this have longer steps, up to three times as long, some ten an orbit for eta = 0.2:
 * errors of equal steps cancel around an orbit, and where the perturbers change little in one, more steps do not make
 * the orbit better (docs/trials.md). Not so the first two steps after a start, which are of lower order. */
static const double GAMMA_LONGER = 3e-4, LONGEST = 3;

/* Largest factor of shortening for that reason. In a head-on collision the tide goes to zero with the separation:
 * with steps in which it changes little the collision would take infinitely many. Far from apocentre it does not
 * matter. */
static const double SHORTEST = 1e-3;

/* Part of the time in which a perturber that is nearer to a member than the other member reaches it. Until it
 * dominates the perturbation, the change of that does not predict its effect: a star that falls to a heavy member
 * within a step would act on no member. So each step halves its distance at most. */
static const double OF_NEAR = 0.5;

/* The first step of a pair can only interpolate between its ends. */
static const double FIRST = 0.25;

int ks_passed_apocentre(struct ks_pair *pair, double dtau, double rp_old)
{
    if (pair->h >= 0) {
        pair->gamma_apo = pair->gamma_run = pair->gamma;
        return 0;
    }
    /* On a circle R' is rounding noise: most of a period must have passed, and 1.5 are enough. */
    pair->phase += dtau * sqrt(-2.0 * pair->h) / (2.0 * PI);
    int turned = rp_old > 0 && pair->now.rp <= 0;
    if (!((turned && pair->phase >= 0.8) || pair->phase >= 1.5)) return 0;
    pair->phase = 0;
    pair->n_orbit++;
    pair->gamma_apo = pair->gamma_run;
    pair->gamma_run = pair->gamma;
    return 1;
}

/* Cube of the factor. */
static double longer_where_weak(double gamma)
{
    return gamma > 0 ? ks_min(LONGEST * LONGEST * LONGEST, ks_max(1.0, GAMMA_LONGER / gamma)) : 1.0;
}

/* eta times the time scale of the oscillator or of free fall, shorter where perturbed (Aarseth's 1 + 1000 gamma),
 * and not longer than the time in which the perturbation changes. The largest gamma of the orbit stands in for
 * gamma, so that steps have the same length all the way round: then errors of an orbit cancel. */
void ks_choose_step(struct ks_pair *pair)
{
    double swing = 0.5 / fabs(pair->h), fall = ks_max(pair->now.r, pair->r_max) / pair->m;
    double gamma = ks_max(pair->gamma, pair->gamma_apo);
    double whole = sqrt(ks_dot3(pair->p, pair->p)) * pair->now.r * pair->now.r / pair->m; /* with what only turns it */
    double longer = pair->level == 2 ? longer_where_weak(ks_max(gamma, whole)) : 1.0;
    double dtau = pair->options.eta * sqrt(ks_min(swing, fall)) * cbrt(longer / (1.0 + 1000.0 * gamma));
    if (pair->n_step == 0) dtau *= FIRST;
    double change = pair->kappa * pair->now.r * sqrt(ks_dot3(pair->pdot, pair->pdot));
    if (change > 0) {
        double weight = ks_min(1.0, sqrt(gamma / GAMMA_FOLLOW));
        double lasts = 2.0 * pair->options.eta * sqrt(ks_dot3(pair->p, pair->p)) / (change * weight) + DBL_MIN;
        dtau = ks_min(dtau, ks_max(lasts, SHORTEST * dtau));
    }
    if (pair->t_near > 0)
        dtau = ks_min(dtau, ks_max(OF_NEAR * pair->t_near / (pair->kappa * pair->now.r), SHORTEST * dtau));
    pair->dtau = dtau;
    pair->dt = ks_time_after(pair, dtau);
}
