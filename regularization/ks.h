/** Kustaanheimo-Stiefel regularization of a perturbed pair: u'' = h u/2 + R L^T(u) P/2, h' = 2 u'.L^T(u) P, t' = R.
 *
 *  A pair is a plain struct without pointers: it may be copied and compared byte by byte, written to a checkpoint and
 *  read back, and continues bit for bit. Nothing is allocated and nothing is global; different pairs may be worked on
 *  by different threads. The perturbation is passed to each call as a function (ks_perturb_fn) or, for stars
 *  on polynomials, as arrays (struct ks_field).
 *
 *  A pair's life:
 *      ks_init(&pair, ...);                     two bodies -> u, u', h
 *      ks_start(&pair, perturb, context, err);  perturbation now, size of the next step
 *      ks_advance(&pair, t, ...);               all steps that end at or before t: pair.t <= t < pair.t + pair.dt
 *      ks_predict(&pair, t, x, v);              relative state at a time within the last or next step
 *      ks_start(&pair, ...);                    again, whenever the set of perturbers changed
 *      ks_finish(&pair, t, ...);                a last step that ends at exactly t
 *      ks_relative(&pair, x, v); ks_components(...);   -> two bodies
 *  and in between, as often as one likes, ks_unperturbed(&pair, t, err) in place of ks_advance and ks_finish.
 *
 *  Time is pair.t + pair.t_lo, pair.t the double nearest to it: steps of 1e-16 of the time still count. Times that
 *  callers pass are doubles and taken as exact.
 *  Units: any with G = 1. x is the position of body 0 seen from body 1, x = x[0] - x[1], and v its velocity. P is the
 *  acceleration that others give to body 0, less that which they give to body 1.
 *  Slow-down: with pair.kappa > 1 the internal motion takes kappa times as long, and the perturbation acts kappa times
 *  as strongly, so that one slowed period does what kappa periods do. Then v is still the orbital velocity (that of
 *  energy and angular momentum), but the positions change by v/kappa per unit of time: the time
 *  derivative of a force between a component and another body needs v/kappa, which perturb functions get.
 *
 *  Papers: Kustaanheimo & Stiefel 1965; Mikkola & Aarseth 1998 (Stumpff-modified Hermite scheme, iteration without new
 *  evaluation of the perturbation); Fukushima 2005 (rectification); Mikkola & Aarseth 1996 (slow-down); used so by
 *  Nitadori & Aarseth 2012. docs/algorithms/pairs.md has the formulas and where they deviate. */
#ifndef KS_H
#define KS_H

#include "common/nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Perturbation of a pair at one time. */
struct ks_perturbation {
    double p[3];     /**< acceleration of body 0 minus acceleration of body 1, both by others only */
    double pdot[3];  /**< d p/dt, the components moving with the xdot given */
    double turn[3];  /**< the part of p that only turns the orbit, as a Coriolis force does: it does not count for the
                          strength gamma, by which steps and slow-down are chosen; t_scale has to say how fast */
    double t_scale;  /**< shortest time in which the perturbers change: min of distance/relative speed, or whatever else
                          the caller thinks of; limits slow-down. 0: unknown, then there is no automatic slow-down */
    double t_near;   /**< shortest time in which a perturber that is nearer to a member than the other one comes to it:
                          min of distance/relative speed; limits steps. 0: there is none */
    double power[2]; /**< any rate that is to be integrated along the motion in time, and its derivative, as that at
                        which the perturbers' potential changes: pair->work has the integral */
    double kappa; /**< set by the library: slow-down, which may be about to change from that of the pair; kappa xdot is
                       the orbital velocity, on which forces like Coriolis's depend */
};

/** Perturbation at time t + t_lo, with body 0 at x relative to body 1, d x/dt = xdot. The centre of mass is the
 *  caller's: body 0 is at x_cm + x mass[1]/(mass[0] + mass[1]), body 1 at x_cm - x mass[0]/(mass[0] + mass[1]); the
 *  same with xdot. Must depend on its arguments and on data that does not change during the call of the library, and on
 *  nothing else.
 *  @param[out] out  zeroed by the library before the call, but for kappa
 *  @return NBC_OK, or a status that ends the call of the library with it: the pair is then as it was after its last
 *          complete step. */
typedef int (*ks_perturb_fn)(void *context, double t, double t_lo, const double x[3], const double xdot[3],
                             struct ks_perturbation *out);

/** Options of the user. */
struct ks_options {
    double eta;        /**< ETAU: step in units of the oscillation, 2 pi/eta steps an orbit, a third as many where gamma
                            is below 10^-5; 0 < eta <= 0.5 */
    double gamma_slow; /**< slow-down is chosen after every whole period such that kappa gamma_apo <= gamma_slow, and
                            that kappa periods are a fifth of t_scale at most, and lowered at once if kappa gamma
                            exceeds twice gamma_slow. 0: never by itself. 1e-5 is usual */
    double kappa_max;  /**< largest kappa chosen; < 1 is taken as 1 */
};

/** One earlier point of a step sequence; private to the library, here so that a pair is one plain struct. */
struct ks_node {
    double u[4], up[4], q[4], qp[4]; /* q = u'' - h u/2 and its derivative */
    double h, hp, hpp;
    double r, rp, r2, r3; /* R and its derivatives by tau */
};

/** An orbit: energy per reduced mass, Laplace's vector (of length e, towards the pericentre), angular momentum per
 *  reduced mass. */
struct ks_orbit {
    double h, e[3], l[3];
};

/** A pair. All members may be read; functions alone write them. tau is the fictitious time, a prime a derivative by
 *  it. */
struct ks_pair {
    double mass[2];
    double m; /**< mass[0] + mass[1] */
    struct ks_options options;

    double t, t_lo; /**< time of this state */
    double dt;      /**< length of the next step in time, predicted; > 0 */
    double dtau;    /**< the next step in fictitious time; > 0 */

    double h;     /**< energy of relative motion per reduced mass, as integrated; the binding energy is -h mu */
    double kappa; /**< slow-down factor, >= 1 */
    struct ks_node now;
    double u_lo[4], up_lo[4]; /* rounding errors of u and u', as t_lo of t */

    double p[3], pdot[3]; /**< perturbation of the present state, not multiplied by kappa */
    double gamma;         /**< its strength |p| R^2/m */
    double gamma_apo;     /**< largest gamma between the last two apocentres, or since the last one if that is larger;
                               estimated after ks_init and ks_unperturbed */
    double gamma_run;     /**< largest gamma since the last apocentre */
    double t_scale;       /**< smallest t_scale in the present period */
    double t_near;        /**< that of the present state */
    double r_max;         /**< largest separation met since ks_init */
    double power[2];      /**< of the perturbation, at the present state */
    double work;          /**< its integral since ks_init or ks_take_work */
    struct ks_orbit mean; /**< average over a period, brought to the end of the last one; mean.h = 0: none is over since
                               ks_start */
    struct ks_orbit drift;            /**< its change in a period */
    struct ks_orbit begin, sum, last; /* of the present period: at its begin, integral over time, at its present end */
    double swing, time;               /* how much of it is over, in periods and in time/kappa */

    double d[4][6];        /* second to fifth derivatives of F = q + (h - h_now) u/2, h', and S = R'' - 2 h_now R */
    struct ks_node before; /* the state one step earlier */
    double dtau_before;    /* its distance; 0: there is none */
    double phase;          /* periods of the oscillation since the last apocentre was counted */

    int64_t n_step;    /**< steps since ks_init */
    int64_t n_eval;    /**< calls of the perturb function since ks_init */
    int64_t n_orbit;   /**< apocentres passed by ks_step since ks_init, plus whole periods of ks_unperturbed */
    int32_t perturbed; /**< 0: the last ks_start had no perturb function */
    int32_t level;     /* -1: no ks_start yet; derivatives in d: 0 none, 1 from one step, 2 from two */
};

/** Elements of the osculating orbit. */
struct ks_elements {
    double a;      /**< semi-major axis, negative if h > 0 */
    double e;      /**< eccentricity */
    double period; /**< not slowed; infinite unless h < 0 */
    double r;      /**< separation */
    double rdot;   /**< dr/dt of the orbit, not slowed */
};

/** An orbit as a curve in space: two conjugate half-diameters of an ellipse about its centre, and how the distance
 *  varies along it, over its mean, which is the semi-major axis. The angle is the eccentric anomaly, counted from some
 *  place of the orbit. */
struct ks_ellipse {
    double centre[3], by_cosine[3], by_sine[3]; /**< the position is centre + c by_cosine + s by_sine */
    double share_cosine, share_sine;            /**< the distance is a (1 + c share_cosine + s share_sine) */
};

/** Make a pair of two bodies. Nothing is known of perturbers yet: ks_start must follow.
 *  @param[in]  options  see there; eta must be in (0, 0.5]
 *  @param[in]  mass     both >= 0, sum > 0
 *  @param[in]  x,v      of both bodies; differences are taken in double
 *  @param[in]  t        time
 *  @param[out] pair     all of it, padding included
 *  @return NBC_OK; NBC_BAD_ARGUMENT (mass, eta, or coincident bodies); NBC_NON_FINITE. pair is unset then. */
int ks_init(struct ks_pair *pair, const struct ks_options *options, const double mass[2], const double x[2][3],
            const double v[2][3], double t, struct nbc_error *err);

/** Evaluate the perturbation at the present time and choose the next step. Needed after ks_init, ks_unperturbed and
 *  ks_set_slowdown, and whenever the perturbation changed discontinuously (another set of perturbers, a kick).
 *  Derivatives from earlier steps are forgotten. Keeps kappa, unless the perturbation is too strong for it (struct
 *  ks_options): then there are two evaluations.
 *  @param[in] perturb  NULL: no perturbation
 *  @return NBC_OK; NBC_NON_FINITE (of perturb); the status of perturb */
int ks_start(struct ks_pair *pair, ks_perturb_fn perturb, void *context, struct nbc_error *err);

/** One step of pair->dtau, with one evaluation of the perturbation (two in the first step after ks_start and where
 *  gamma > 0.02), and the choice of the next. After each whole period slow-down is chosen anew if options.gamma_slow
 *  > 0.
 *  @return NBC_OK; NBC_BAD_STATE (no ks_start); NBC_NON_FINITE; the status of perturb. pair is unchanged on failure. */
int ks_step(struct ks_pair *pair, ks_perturb_fn perturb, void *context, struct nbc_error *err);

/** All steps that end at or before t_end: afterwards pair->t <= t_end < pair->t + pair->dt, unless it was later before.
 *  (A step that would end within a thousandth of its length before t_end is not made: dt is a prediction.)
 *  @return as ks_step; NBC_INTERNAL if the time does not grow any more */
int ks_advance(struct ks_pair *pair, double t_end, ks_perturb_fn perturb, void *context, struct nbc_error *err);

/** The same, at most max_steps of them. Any slices to the same t_end make the same steps, and so the same bits.
 *  @param[in]  max_steps  0: none, says only whether there are any
 *  @param[out] done       1: all steps are made, 0: there are more; 0 on failure
 *  @return as ks_advance */
int ks_advance_some(struct ks_pair *pair, double t_end, int64_t max_steps, ks_perturb_fn perturb, void *context,
                    int *done, struct nbc_error *err);

/** ks_advance and then a shorter step that ends at exactly t_end (pair->t == t_end, pair->t_lo == 0). If the pair
 *  is ahead of t_end by at most its last step, it steps back. The next step is chosen as always: integration may go on.
 *  @return as ks_advance; NBC_BAD_ARGUMENT if the pair is ahead by more than its last step; NBC_INTERNAL if no step
 * ends there */
int ks_finish(struct ks_pair *pair, double t_end, ks_perturb_fn perturb, void *context, struct nbc_error *err);

/** Two-body motion without perturbation to exactly t_end, over any part or number of periods, on any conic; with
 *  slow-down over 1/kappa of the time. ks_start must follow before the next step.
 *  @param[in] t_end  >= or < pair->t
 *  @return NBC_OK; NBC_NON_FINITE; NBC_INTERNAL (kepler_anomaly failed). pair is unchanged on failure. */
int ks_unperturbed(struct ks_pair *pair, double t_end, struct nbc_error *err);

/** Relative position and orbital velocity (d x/dt = v/kappa) at a time from one step before to the end of the next
 *  step, from the derivatives at hand. After ks_init or ks_unperturbed: two-body motion. Other times are extrapolated.
 *  @return NBC_OK; NBC_NON_FINITE (t, or a time so far away that there is no prediction) */
int ks_predict(const struct ks_pair *pair, double t, double x[3], double v[3]);

/** Both bodies from the centre of mass and the relative state. May be used with v or with xdot = v/kappa.
 *  @param[in] x_cm,v_cm  centre of mass
 *  @param[in] x,v        relative, of body 0 seen from body 1 */
void ks_components(const struct ks_pair *pair, const double x_cm[3], const double v_cm[3], const double x[3],
                   const double v[3], double x_out[2][3], double v_out[2][3]);

/** Relative state at pair->t, without any prediction. */
void ks_relative(const struct ks_pair *pair, double x[3], double v[3]);

/** Osculating elements at pair->t, from u, u' and the integrated h. */
void ks_elements(const struct ks_pair *pair, struct ks_elements *elements);

/** The osculating ellipse at pair->t. n points of it, equally spaced in eccentric anomaly, each with its share of the
 *  period, give means over a period of polynomials in x up to degree n - 2 exactly.
 *  @return NBC_OK; NBC_BAD_STATE: the pair is not bound; nothing is written then */
int ks_get_ellipse(const struct ks_pair *pair, struct ks_ellipse *ellipse);

/** Time until the next apocentre (of the slowed motion) if h < 0, infinity else; two-body estimate. */
double ks_time_to_apocentre(const struct ks_pair *pair);

/** Count time from another origin: every time in the pair grows by shift, its motion is the same. t + t_lo changes by
 *  exactly shift, to 2^-106 of the larger of both times; perturbers must be shifted by the caller.
 *  @return NBC_OK; NBC_NON_FINITE (pair is unchanged then) */
int ks_shift_time(struct ks_pair *pair, double shift);

/** Energy of relative motion per reduced mass, without the extra variation within a period by slow-down: with kappa >
 *  1 the perturbation makes h vary kappa times as much. h itself if kappa = 1, or if no whole period has passed since
 *  ks_start. */
double ks_energy(const struct ks_pair *pair);

/** The integral of the perturbation's power so far, which begins anew. */
double ks_take_work(struct ks_pair *pair);

/** Set the slow-down factor, 1 for none; may be done at any time. The variation of the orbit within a period, if its
 *  mean is known, becomes that of the new factor, so that no part of it stays. ks_start must follow, except where the
 *  factor did not change.
 *  @param[in] kappa  >= 1 and finite, else it is taken as 1 */
void ks_set_slowdown(struct ks_pair *pair, double kappa);

/* ---- Perturbers as arrays */

/** Sum over point masses, in the order of the array: the perturbation of body 0 at w0 x and body 1 at -w1 x from the
 *  centre of mass, w0 = mass[1]/m, w1 = mass[0]/m. Adds to out->p and out->pdot; lowers out->t_scale if there is a
 *  perturber (0 counts as none yet). A perturber at the very place of a component gives a non-finite result, which the
 *  library refuses.
 *  @param[in] n      perturbers
 *  @param[in] m      [n] masses
 *  @param[in] dx,dv  [n][3] position and velocity relative to the centre of mass
 *  @param[in] x,xdot as given to the perturb function */
void ks_tide(const struct ks_pair *pair, size_t n, const double *m, const double (*dx)[3], const double (*dv)[3],
             const double x[3], const double xdot[3], struct ks_perturbation *out);

/** Bodies on polynomials of third order about their own times: x + v s + acc s^2/2 + jerk s^3/6, s = t - t0. */
struct ks_path {
    double x[3], v[3], acc[3], jerk[3];
    double t0;
    double mass;
};

/** Context of ks_perturb_paths. */
struct ks_field {
    const struct ks_pair *pair;
    struct ks_path centre;       /**< the centre of mass; its mass is not used */
    size_t n;                    /**< perturbers */
    const struct ks_path *paths; /**< [n] */
};

/** A perturb function: `context` is a struct ks_field. */
int ks_perturb_paths(void *context, double t, double t_lo, const double x[3], const double xdot[3],
                     struct ks_perturbation *out);

#ifdef __cplusplus
}
#endif
#endif
