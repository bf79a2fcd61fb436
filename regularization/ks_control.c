/* What is decided between steps: the next step, and what was met in an orbit. */
#include <float.h>
#include <math.h>

#include "regularization/ks_internal.h"

#define PI 3.14159265358979323846

/* Perturbations below this strength may change within a step; at it the step follows their change. */
static const double GAMMA_FOLLOW = 1e-3;

/* The first step of a pair has nothing to interpolate with but its ends. */
static const double FIRST = 0.25;

int ks_evaluate_perturbation(struct ks_pair *pair, ks_perturb_fn perturb, void *context, double t, double t_lo,
                             const double u[4], const double up[4], struct ks_perturbation *out, struct nbc_error *err)
{
    *out = (struct ks_perturbation){.kappa = pair->kappa};
    if (!pair->perturbed) return NBC_OK;
    double x[3], xdot[3];
    ks_to_space(u, up, x, xdot);
    for (int i = 0; i < 3; i++) xdot[i] /= pair->kappa;
    int status = perturb(context, t, t_lo, x, xdot, out);
    pair->n_eval++;
    if (status)
        return nbc_fail(err, status, "ks: the perturb function failed at time %.17g: %s", t, nbc_status_text(status));
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += fabs(out->p[i]) + fabs(out->pdot[i]);
    if (!isfinite(sum))
        return nbc_fail(err, NBC_NON_FINITE,
                        "ks: the perturb function returned NaN or infinity at time %.17g, at separation "
                        "%g: does a perturber coincide with a member of the pair?",
                        t, sqrt(ks_dot3(x, x)));
    return NBC_OK;
}

double ks_strength(const struct ks_pair *pair, const struct ks_perturbation *out)
{
    const double p[3] = {out->p[0] - out->turn[0], out->p[1] - out->turn[1], out->p[2] - out->turn[2]};
    return sqrt(ks_dot3(p, p)) * pair->now.r * pair->now.r / pair->m;
}

void ks_note_perturbation(struct ks_pair *pair, const struct ks_perturbation *out, int estimate)
{
    double r = pair->now.r;
    pair->gamma = ks_strength(pair, out);
    if (r > pair->r_max) pair->r_max = r;
    if (out->t_scale > 0 && (!(pair->t_scale > 0) || out->t_scale < pair->t_scale)) pair->t_scale = out->t_scale;
    if (pair->gamma > pair->gamma_run) pair->gamma_run = pair->gamma;
    double largest = pair->gamma_run;
    if (estimate && pair->h < 0 && pair->gamma_apo == 0) {
        struct ks_elements el;
        ks_elements(pair, &el);
        double growth = el.a * (1.0 + el.e) / r; /* a tide grows as R, gamma as R^3 */
        largest = fmax(largest, fmin(pair->gamma * growth * growth * growth, fmax(pair->gamma, 0.1)));
    }
    if (largest > pair->gamma_apo) pair->gamma_apo = largest;
}

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

/* eta times the time scale of the oscillator or of free fall, shorter where perturbed (Aarseth's 1 + 1000 gamma), and
 * not longer than the perturbation takes to change. The largest gamma of the orbit stands in for gamma, so that steps
 * are of the same length all the way round: then errors of an orbit cancel. */
void ks_choose_step(struct ks_pair *pair)
{
    double swing = 0.5 / fabs(pair->h), fall = fmax(pair->now.r, pair->r_max) / pair->m;
    double gamma = fmax(pair->gamma, pair->gamma_apo);
    double dtau = pair->options.eta * sqrt(fmin(swing, fall)) / cbrt(1.0 + 1000.0 * gamma);
    if (pair->n_step == 0) dtau *= FIRST;
    double change = pair->kappa * pair->now.r * sqrt(ks_dot3(pair->pdot, pair->pdot));
    if (change > 0) {
        double weight = fmin(1.0, sqrt(gamma / GAMMA_FOLLOW));
        dtau = fmin(dtau, 2.0 * pair->options.eta * sqrt(ks_dot3(pair->p, pair->p)) / (change * weight) + DBL_MIN);
    }
    pair->dtau = dtau;

    double d[KS_ORDERS][KS_PARTS];
    struct ks_value value;
    int degree = ks_derivatives(pair, 1, d);
    ks_evaluate(&pair->now, pair->kappa, d, pair->perturbed ? degree : 0, dtau, &value);
    pair->dt = value.dt;
}
