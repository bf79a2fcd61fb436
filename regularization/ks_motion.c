/* Motion to a given time: many steps, a last step that ends there, unperturbed motion, and prediction. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "regularization/ks_internal.h"

/* Part of a step by which its predicted length may be wrong. */
static const double MARGIN = 1e-3;

/* Iterations of the length of a step that ends at a time, of which two or three are used. */
enum { MOST_ENDS = 60 };
/* Part of a step that may be left to the series at its end: that is of high order. */
static const double SETTLED = 1e-3;
/* A bracket of a time 2^DOUBLINGS guesses away at most, and to the last bit. */
enum { DOUBLINGS = 40, BISECTIONS = 100 };

static double time_left(const struct ks_pair *pair, double t)
{
    return (t - pair->t) - pair->t_lo;
}

/* Time/kappa, R and R' at a distance s of the present state: R is an oscillator with 2h, driven by S. */
static void time_series(const struct ks_node *n, double d[KS_ORDERS][KS_PARTS], int degree, double s, double *t,
                        double *r, double *rp)
{
    double c[KEPLER_STUMPFF_MAX + 1], time = 0, separation = 0, slope = 0;
    kepler_stumpff(-2.0 * n->h * s * s, c);
    for (int k = degree; k >= 0; k--) {
        time = time * s + d[k][AT_S] * c[k + 3];
        separation = separation * s + d[k][AT_S] * c[k + 2];
        slope = slope * s + d[k][AT_S] * c[k + 1];
    }
    *t = s * (n->r * c[1] + s * (n->rp * c[2] + s * time));
    *r = n->r * c[0] + s * (n->rp * c[1] + s * separation);
    *rp = n->rp * c[0] + s * (2.0 * n->h * n->r * c[1] + slope);
}

/* Where iteration begins: within a step or two by the first terms of the series, else as in two-body motion. */
static int first_guess(const struct ks_pair *pair, double dt, double *dtau)
{
    const struct ks_node *n = &pair->now;
    double s = dt / (pair->kappa * n->r), bend = 0.5 * s * n->rp / n->r, periods;
    if (pair->level > 0 && fabs(dt) < 2.0 * pair->dt && fabs(bend) < 0.25) {
        *dtau = s / (1.0 + bend / (1.0 + bend));
        return NBC_OK;
    }
    int status = kepler_anomaly(pair->m, n->r, n->rp, pair->h, dt / pair->kappa, dtau, &periods);
    if (status) return NBC_NON_FINITE;
    if (pair->h < 0) *dtau += periods * 2.0 * 3.14159265358979323846 / sqrt(-2.0 * pair->h);
    return NBC_OK;
}

/* The series may not be the time of an orbit any more, and iteration may not converge. A root that is bracketed
 * between now and twice a guess, four times, ... is always found.   @return NBC_NON_FINITE if none is */
static int bisect_time(const struct ks_pair *pair, double d[KS_ORDERS][KS_PARTS], int degree, double dt, double guess,
                       double *dtau)
{
    double near = 0, far = guess, t = 0, r, rp;
    for (int i = 0; i < DOUBLINGS; i++) {
        time_series(&pair->now, d, degree, far, &t, &r, &rp);
        if (!((t - dt / pair->kappa) * dt < 0)) break;
        near = far;
        far *= 2.0;
    }
    if (!isfinite(t) || (t - dt / pair->kappa) * dt < 0) return NBC_NON_FINITE;
    for (int i = 0; i < BISECTIONS; i++) {
        double s = 0.5 * (near + far);
        time_series(&pair->now, d, degree, s, &t, &r, &rp);
        *((t - dt / pair->kappa) * dt < 0 ? &near : &far) = s;
    }
    *dtau = 0.5 * (near + far);
    return NBC_OK;
}

/* Laguerre's iteration, as for Kepler's equation. */
int ks_solve_time(const struct ks_pair *pair, double dt, double *dtau)
{
    double s, t, r, rp, d[KS_ORDERS][KS_PARTS];
    int status = first_guess(pair, dt, &s);
    if (status) return status;
    const double guess = *dtau = s;
    if (pair->level < 0 || !pair->perturbed) return NBC_OK;
    int degree = ks_derivatives(pair, dt > 0, d);
    for (int i = 0; i < 50; i++) {
        time_series(&pair->now, d, degree, s, &t, &r, &rp);
        double f = t - dt / pair->kappa, root = sqrt(fabs(16.0 * r * r - 20.0 * f * rp));
        double change = -5.0 * f / (r + root);
        s += change;
        if (!isfinite(s)) return NBC_NON_FINITE;
        /* The error after a step is the cube of that before, in units of the orbit's scale. */
        *dtau = s;
        if (fabs(change) <= 1e-7 * fabs(s)) return NBC_OK;
    }
    return bisect_time(pair, d, degree, dt, guess, dtau);
}

int ks_predict(const struct ks_pair *pair, double t, double x[3], double v[3])
{
    double dtau, dt = time_left(pair, t), d[KS_ORDERS][KS_PARTS];
    struct ks_value value;
    int status = ks_solve_time(pair, dt, &dtau);
    if (status) return status;
    int degree = ks_derivatives(pair, dt > 0, d);
    ks_evaluate(&pair->now, pair->kappa, d, pair->level >= 0 && pair->perturbed ? degree : 0, dtau, &value);
    double xn[3], vn[3];
    ks_to_space(value.u, value.up, xn, vn);
    for (int i = 0; i < 3; i++)
        if (!isfinite(xn[i]) || !isfinite(vn[i])) return NBC_NON_FINITE;
    memcpy(x, xn, sizeof xn);
    memcpy(v, vn, sizeof vn);
    return NBC_OK;
}

static int has_step_before(const struct ks_pair *pair, double t_end)
{
    return time_left(pair, t_end) >= pair->dt * (1.0 + MARGIN);
}

int ks_advance_some(struct ks_pair *pair, double t_end, int64_t max_steps, ks_perturb_fn perturb, void *context,
                    int *done, struct nbc_error *err)
{
    *done = 0;
    if (pair->level < 0) return nbc_fail(err, NBC_BAD_STATE, "ks_advance: call ks_start first");
    for (int64_t count = 0; has_step_before(pair, t_end); count++) {
        if (count >= max_steps) return NBC_OK;
        int status = ks_step(pair, perturb, context, err);
        if (status) return status;
    }
    *done = 1;
    return NBC_OK;
}

int ks_advance(struct ks_pair *pair, double t_end, ks_perturb_fn perturb, void *context, struct nbc_error *err)
{
    int done;
    return ks_advance_some(pair, t_end, INT64_MAX, perturb, context, &done, err);
}

/* The difference between the time after a step and t_end, bridged by the series at its end: for remainders in which
 * nothing else changes. */
static void settle(struct ks_pair *pair, double t_end)
{
    double left = time_left(pair, t_end), d[KS_ORDERS][KS_PARTS], dtau = left / (pair->kappa * pair->now.r);
    struct ks_value value;
    struct ks_node *n = &pair->now;
    int degree = ks_derivatives(pair, left > 0, d);
    ks_evaluate(n, pair->kappa, d, pair->perturbed ? degree : 0, dtau, &value);
    ks_move(pair, n, &value, n);
    for (int i = 0; i < 3; i++) pair->p[i] += left * pair->pdot[i];
    ks_fill_node(n, pair->kappa, pair->p, pair->pdot);
    pair->work += left * (pair->power[0] + 0.5 * left * pair->power[1]);
    pair->power[0] += left * pair->power[1];
    pair->t = t_end;
    pair->t_lo = 0;
}

/* Where the last step began, a little before that: time relative to now. */
static double last_step(const struct ks_pair *pair)
{
    double t, r, rp, d[KS_ORDERS][KS_PARTS];
    int degree = ks_derivatives(pair, 0, d);
    time_series(&pair->now, d, pair->perturbed ? degree : 0, -1.01 * pair->dtau_before, &t, &r, &rp);
    return pair->kappa * t;
}

/* A step that ends at t_end, except for the remainder for the series. The corrected time of the end differs from the
 * predicted one by which the first dtau was chosen: Newton's iteration, with bisection where that leaves the
 * bracket. Where the corrected time jumps, the best result may be accurate to SETTLED only.
 * @param[in,out] dtau  length of the step
 * @param[out] next     the pair after it */
static int step_to(const struct ks_pair *pair, double t_end, double *dtau, struct ks_pair *next, ks_perturb_fn perturb,
                   void *context, struct nbc_error *err)
{
    const double left = time_left(pair, t_end);
    double s = *dtau, near = 0, far = 0, missing = left; /* far = 0: not known */
    for (int i = 0; i < MOST_ENDS; i++) {
        *next = *pair;
        *dtau = s;
        int status = ks_make_step(next, s, perturb, context, err);
        if (status) return status;
        missing = time_left(next, t_end);
        if (fabs(missing) <= 1e-9 * fabs(left)) return NBC_OK;
        *(missing * left > 0 ? &near : &far) = s;
        s += missing / (next->kappa * next->now.r);
        if (far != 0 && !((s - near) * (s - far) < 0)) s = 0.5 * (near + far);
    }
    if (fabs(missing) <= SETTLED * fabs(left)) return NBC_OK;
    return nbc_fail(err, NBC_INTERNAL,
                    "ks_finish: no step from time %.17g ends at %.17g: the perturbation is %g of the pair's own force",
                    pair->t, t_end, next->gamma);
}

int ks_finish(struct ks_pair *pair, double t_end, ks_perturb_fn perturb, void *context, struct nbc_error *err)
{
    int status = ks_advance(pair, t_end, perturb, context, err);
    if (status) return status;
    double left = time_left(pair, t_end), dtau;
    if (left == 0) return NBC_OK;
    if (left < 0 && left < last_step(pair))
        return nbc_fail(err, NBC_BAD_ARGUMENT,
                        "ks_finish: time %.17g is before the last step of the pair, which ended at %.17g", t_end,
                        pair->t);
    status = ks_solve_time(pair, left, &dtau);
    if (status) return nbc_fail(err, status, "ks_finish: no step leads from time %.17g to %.17g", pair->t, t_end);
    struct ks_pair next;
    status = step_to(pair, t_end, &dtau, &next, perturb, context, err);
    if (status) return status;
    settle(&next, t_end);
    next.n_step++;
    ks_passed_apocentre(&next, dtau, pair->now.rp);
    ks_average_orbit(&next, dtau, pair->now.r);
    ks_choose_step(&next);
    *pair = next;
    return NBC_OK;
}

/* Orbits may be far shorter than the interval: the count then stays at the largest. */
static int64_t add_orbits(int64_t before, double periods)
{
    const double room = (double)(INT64_MAX / 2 - before);
    return periods < room ? before + (int64_t)periods : INT64_MAX / 2;
}

int ks_unperturbed(struct ks_pair *pair, double t_end, struct nbc_error *err)
{
    struct ks_pair next = *pair;
    struct ks_node *n = &next.now;
    static const double none[3] = {0};
    double left = time_left(pair, t_end), s, periods;
    if (!isfinite(left)) return nbc_fail(err, NBC_NON_FINITE, "ks_unperturbed: time %g", t_end);
    ks_fill_node(n, next.kappa, none, none);
    int status = kepler_anomaly(next.m, n->r, n->rp, next.h, left / next.kappa, &s, &periods);
    if (status)
        return nbc_fail(err, status, "ks_unperturbed: Kepler's equation has no solution from time %.17g to %.17g",
                        pair->t, t_end);
    double d[KS_ORDERS][KS_PARTS] = {{0}};
    struct ks_value value;
    d[0][AT_S] = next.m;
    ks_evaluate(n, next.kappa, d, 0, s, &value);
    ks_move(&next, n, &value, n);
    ks_fill_node(n, next.kappa, none, none);
    if (!isfinite(n->r) || !(n->r > 0) || !isfinite(n->r3))
        return nbc_fail(err, NBC_NON_FINITE, "ks_unperturbed: no finite state at time %.17g", t_end);
    next.t = t_end;
    next.t_lo = 0;
    memset(next.p, 0, sizeof next.p);
    memset(next.pdot, 0, sizeof next.pdot);
    memset(next.power, 0, sizeof next.power);
    memset(next.d, 0, sizeof next.d);
    memset(&next.before, 0, sizeof next.before);
    ks_forget_average(&next, 1);
    next.dtau_before = next.gamma = next.gamma_apo = next.gamma_run = next.t_scale = next.t_near = 0;
    next.phase = 0.8;
    next.n_orbit = add_orbits(next.n_orbit, fabs(periods));
    next.level = -1;
    next.r_max = fmax(next.r_max, n->r);
    *pair = next;
    return NBC_OK;
}
