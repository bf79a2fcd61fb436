/* A pair from two bodies and back, and the calls that steps are made with. */
#include "regularization/ks_internal.h"

#include <math.h>
#include <string.h>

int ks_init(struct ks_pair *pair, const struct ks_options *options, const double mass[2], const double x[2][3],
            const double v[2][3], double t, struct nbc_error *err)
{
    double dx[3], dv[3], m = mass[0] + mass[1];
    for (int i = 0; i < 3; i++) {
        dx[i] = x[0][i] - x[1][i];
        dv[i] = v[0][i] - v[1][i];
    }
    double r = sqrt(ks_dot3(dx, dx)), v2 = ks_dot3(dv, dv), h = 0.5 * v2 - m / r;
    if (!isfinite(m) || !isfinite(r) || !isfinite(v2) || !isfinite(t))
        return nbc_fail(err, NBC_NON_FINITE,
                        "ks_init: mass, position, velocity or time is NaN or infinite (m = %g, r = %g, "
                        "v^2 = %g, t = %g)",
                        m, r, v2, t);
    if (!(mass[0] >= 0 && mass[1] >= 0 && m > 0))
        return nbc_fail(err, NBC_BAD_ARGUMENT,
                        "ks_init: masses %g and %g: none may be negative, and one must be positive", mass[0], mass[1]);
    if (!(options->eta > 0 && options->eta <= 0.5))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "ks_init: eta = %g is not in (0, 0.5]", options->eta);
    if (!(r > 0) || !isfinite(h))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "ks_init: both bodies are at the same position (distance %g)", r);

    memset(pair, 0, sizeof *pair);
    pair->mass[0] = mass[0];
    pair->mass[1] = mass[1];
    pair->m = m;
    pair->options = *options;
    pair->t = t;
    pair->h = pair->now.h = h;
    pair->kappa = 1.0;
    pair->phase = 0.8;
    pair->level = -1;
    ks_from_space(dx, dv, r, pair->now.u, pair->now.up);
    double excess = ks_rectification_factor(m, h, pair->now.u, pair->now.up);
    for (int i = 0; i < 4; i++) {
        if (h < 0) pair->now.u[i] += excess * pair->now.u[i];
        pair->now.up[i] += excess * pair->now.up[i];
    }
    ks_fill_node(&pair->now, 1.0, pair->p, pair->pdot);
    pair->r_max = pair->now.r;
    return NBC_OK;
}

int ks_restart(struct ks_pair *pair, ks_perturb_fn perturb, void *context, struct nbc_error *err)
{
    struct ks_pair next = *pair;
    struct ks_perturbation out;
    next.perturbed = perturb != NULL;
    for (double kappa = next.kappa;; next.kappa = kappa) {
        const struct ks_node *n = &next.now;
        int status = ks_evaluate_perturbation(&next, perturb, context, next.t, next.t_lo, n->u, n->up, &out, err);
        if (status) return status;
        next.gamma = ks_strength(&next, &out);
        kappa = ks_limit_slowdown(&next);
        if (kappa == next.kappa) break;
    }
    ks_fill_node(&next.now, next.kappa, out.p, out.pdot);
    memcpy(next.p, out.p, sizeof out.p);
    memcpy(next.pdot, out.pdot, sizeof out.pdot);
    memcpy(next.power, out.power, sizeof out.power);
    memset(next.d, 0, sizeof next.d);
    next.dtau_before = 0;
    next.level = 0;
    ks_note_perturbation(&next, &out, 1);
    ks_choose_step(&next);
    *pair = next;
    return NBC_OK;
}

int ks_start(struct ks_pair *pair, ks_perturb_fn perturb, void *context, struct nbc_error *err)
{
    int status = ks_restart(pair, perturb, context, err);
    if (!status) ks_forget_average(pair, 1);
    return status;
}

int ks_step(struct ks_pair *pair, ks_perturb_fn perturb, void *context, struct nbc_error *err)
{
    if (pair->level < 0) return nbc_fail(err, NBC_BAD_STATE, "ks_step: call ks_start first");
    if (pair->perturbed && !perturb)
        return nbc_fail(err, NBC_BAD_STATE,
                        "ks_step: no perturb function, but ks_start had one: call ks_start without");
    struct ks_pair next = *pair;
    double dtau = next.dtau;
    int status = ks_make_step(&next, dtau, perturb, context, err);
    if (status) return status;
    next.n_step++;
    ks_passed_apocentre(&next, dtau, pair->now.rp);
    int whole = ks_average_orbit(&next, dtau, pair->now.r);
    double kappa = whole ? ks_choose_slowdown(&next) : ks_limit_slowdown(&next);
    if (kappa != next.kappa) {
        ks_set_slowdown(&next, kappa);
        status = ks_restart(&next, perturb, context, err);
        if (status) return status;
    }
    ks_choose_step(&next);
    if (!(next.t > pair->t || (next.t == pair->t && next.t_lo > pair->t_lo)))
        return nbc_fail(err, NBC_INTERNAL, "ks_step: the time does not grow at %.17g: step %g", pair->t, pair->dt);
    if (!isfinite(next.dt))
        return nbc_fail(err, NBC_NON_FINITE, "ks_step: no length of the step after time %.17g", next.t);
    *pair = next;
    return NBC_OK;
}

double ks_take_work(struct ks_pair *pair)
{
    const double work = pair->work;
    pair->work = 0;
    return work;
}

int ks_shift_time(struct ks_pair *pair, double shift)
{
    if (!isfinite(pair->t + shift)) return NBC_NON_FINITE;
    ks_add_time(shift, &pair->t, &pair->t_lo);
    return NBC_OK;
}
