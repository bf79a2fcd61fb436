/* The perturbation at a state, its strength, and how far ahead it is smooth. */
#include "regularization/ks_internal.h"

#include <math.h>

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
    double sum = fabs(out->power[0]) + fabs(out->power[1]);
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
    pair->t_near = out->t_near;
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
