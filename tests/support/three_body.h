/** Three bodies by Newton's equations in 80-bit arithmetic, and how the third moves relative to the centre of mass of
 * the first two: the reference for tests of regularization. */
#ifndef THREE_BODY_H
#define THREE_BODY_H

#include <stddef.h>

#include "regularization/ks.h"

struct three_body {
    long double mass[3], x[3][3], v[3][3];
};

/** Advance by dt with Gragg-Bulirsch-Stoer extrapolation, relative error of a step below 1e-17. 0, or 1 if steps
 * vanish. */
int three_body_advance(struct three_body *s, long double dt);

/** Pair (a, e, mass[2]) at its apocentre in the x-y plane, body 2 on a conic (a_out, e_out; a_out < 0 is a hyperbola)
 * of inclination `inclination` about the y-axis, at anomaly `anomaly` (eccentric, or hyperbolic). Centre of mass at
 * rest. */
void three_body_hierarchy(struct three_body *s, const double mass[3], double a, double e, double a_out, double e_out,
                          double inclination, double anomaly);

/** Position and velocity of body 0 relative to body 1. */
void three_body_inner(const struct three_body *s, double x[3], double v[3]);
/** Energy of the relative motion of bodies 0 and 1 per reduced mass. */
long double three_body_binding(const struct three_body *s);

/** Motion of body 2 relative to the centre of mass of 0 and 1, at n + 1 times 0, dt, .. n dt, and the states there. */
struct three_path {
    size_t n;
    double dt;
    struct three_body *states; /* [n + 1] */
    double (*d)[4][3];         /* [n + 1] position and three derivatives */
    const struct ks_pair *pair;
};
/** 0 if there was memory and every step converged. */
int three_path_make(struct three_path *path, const struct three_body *begin, double dt, size_t n);
void three_path_free(struct three_path *path);
/** A perturb function; `context` is a struct three_path. Interpolates by polynomials of seventh order. */
int three_path_perturb(void *context, double t, double t_lo, const double x[3], const double xdot[3],
                       struct ks_perturbation *out);

#endif
