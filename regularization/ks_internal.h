/** Private interface between the files of the KS integrator. */
#ifndef KS_INTERNAL_H
#define KS_INTERNAL_H

#include "regularization/kepler.h"
#include "regularization/ks.h"

/* Interpolated quantities: F (4 components), h', S. */
enum { AT_F = 0, AT_H = 4, AT_S = 5, KS_PARTS = 6, KS_ORDERS = 6 };

/* State at some distance of a node. */
struct ks_value {
    double u[4], up[4], h;
    double du[4], dup[4]; /* u and u' less those of the node */
    double dt;            /* time passed, slow-down included */
};

/* As fmin and fmax, of numbers: those are calls. */
static inline double ks_min(double a, double b)
{
    return a < b ? a : b;
}

static inline double ks_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double ks_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double ks_dot4(const double a[4], const double b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* x = L(u) w; with w = u the position, with w = 2 u'/R the velocity. */
static inline void ks_matrix(const double u[4], const double w[4], double x[3])
{
    x[0] = u[0] * w[0] - u[1] * w[1] - u[2] * w[2] + u[3] * w[3];
    x[1] = u[1] * w[0] + u[0] * w[1] - u[3] * w[2] - u[2] * w[3];
    x[2] = u[2] * w[0] + u[3] * w[1] + u[0] * w[2] + u[1] * w[3];
}

/* w = L^T(u) p */
static inline void ks_transpose(const double u[4], const double p[3], double w[4])
{
    w[0] = u[0] * p[0] + u[1] * p[1] + u[2] * p[2];
    w[1] = -u[1] * p[0] + u[0] * p[1] + u[3] * p[2];
    w[2] = -u[2] * p[0] - u[3] * p[1] + u[0] * p[2];
    w[3] = u[3] * p[0] - u[2] * p[1] + u[1] * p[2];
}

/* Position and orbital velocity of u, u'. */
void ks_to_space(const double u[4], const double up[4], double x[3], double v[3]);

/* u, u' of position and orbital velocity. */
void ks_from_space(const double x[3], const double v[3], double r, double u[4], double up[4]);

/* Node at u, u', h (already in it) under a perturbation. */
void ks_fill_node(struct ks_node *node, double kappa, const double p[3], const double pdot[3]);

/* ks_start, but averages go on. */
int ks_restart(struct ks_pair *pair, ks_perturb_fn perturb, void *context, struct nbc_error *err);

/* Factor, less one, by which u and u' (u' alone, unless h < 0) have to be longer for the energy h. */
double ks_rectification_factor(double m, double h, const double u[4], const double up[4]);

/* u, u', h at the end of a step: of `value`, rectified, with the rounding errors in pair->u_lo, up_lo. */
void ks_move(struct ks_pair *pair, const struct ks_node *from, const struct ks_value *value, struct ks_node *to);

/* State at dtau from `node`, with derivatives d of order 0 .. degree. */
void ks_evaluate(const struct ks_node *node, double kappa, double d[KS_ORDERS][KS_PARTS], int degree, double dtau,
                 struct ks_value *value);

/* Time from pair->now to dtau after it, as ks_evaluate. */
double ks_time_after(const struct ks_pair *pair, double dtau);

/* All derivatives at pair->now; returns the degree to be used in a direction. */
int ks_derivatives(const struct ks_pair *pair, int forwards, double d[KS_ORDERS][KS_PARTS]);

/* dtau after which the predicted time is dt later; NBC_NON_FINITE if there is none. */
int ks_solve_time(const struct ks_pair *pair, double dt, double *dtau);

/* The perturbation at a state: calls perturb unless the pair has none. */
int ks_evaluate_perturbation(struct ks_pair *pair, ks_perturb_fn perturb, void *context, double t, double t_lo,
                             const double u[4], const double up[4], struct ks_perturbation *out, struct nbc_error *err);

/* One step of dtau, of either sign, without a choice of the next. The pair is half-changed on failure. */
int ks_make_step(struct ks_pair *pair, double dtau, ks_perturb_fn perturb, void *context, struct nbc_error *err);

/* gamma of a perturbation at the present separation. */
double ks_strength(const struct ks_pair *pair, const struct ks_perturbation *perturbation);

/* gamma and quantities derived from it; estimate: also guess the largest of an orbit. */
void ks_note_perturbation(struct ks_pair *pair, const struct ks_perturbation *perturbation, int estimate);

/* Bookkeeping of a step of dtau from a state with R' = rp_old; 1 if an apocentre was passed. */
int ks_passed_apocentre(struct ks_pair *pair, double dtau, double rp_old);

/* Averages elements over a step of dtau that began at separation r_from; 1 if a whole period is over. */
int ks_average_orbit(struct ks_pair *pair, double dtau, double r_from);

/* A new period to average over begins here; mean: the last average is lost as well. */
void ks_forget_average(struct ks_pair *pair, int mean);

/* The slow-down factor for the next period; to be called once after each. */
double ks_choose_slowdown(struct ks_pair *pair);

/* The slow-down factor, lowered if the present perturbation is far above that for which it was chosen. */
double ks_limit_slowdown(const struct ks_pair *pair);

/* pair->dtau and pair->dt for the next step. */
void ks_choose_step(struct ks_pair *pair);

/* t + t_lo += dt */
void ks_add_time(double dt, double *t, double *t_lo);

#endif
