/** Second and third derivatives of the force between two bodies, also of those moved by a change of a list. */
#ifndef NB6_PAIR_DERIVATIVES_H
#define NB6_PAIR_DERIVATIVES_H

#include "common/hd.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"
#include "nbody6/state/corrected.h"
#include "nbody6/step/corrector.h"

#include <math.h>
#include <stdint.h>

/** Those of the force of body j on body i, both at one time (Aarseth 2003, Gravitational N-Body Simulations), added to
 * snap and crackle. */
NBC_HD void nb6_add_pair_derivatives(const struct nb6_body *bi, const struct nb6_body *bj, double snap[3],
                                     double crackle[3])
{
    double x[3], v[3], a[3], j[3], r2 = 0, xv = 0, vv = 0, xa = 0, va = 0, xj = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = bj->x0[k] - bi->x0[k];
        v[k] = bj->v0[k] - bi->v0[k];
        a[k] = bj->acc[k] - bi->acc[k];
        j[k] = bj->jerk[k] - bi->jerk[k];
        r2 += x[k] * x[k];
        xv += x[k] * v[k];
        vv += v[k] * v[k];
        xa += x[k] * a[k];
        va += v[k] * a[k];
        xj += x[k] * j[k];
    }
    if (!(r2 > 0)) return;
    double inv2 = 1 / r2, m = bj->mass * inv2 * sqrt(inv2);
    double alpha = xv * inv2, beta = (vv + xa) * inv2 + alpha * alpha;
    double gamma = (3 * va + xj) * inv2 + alpha * (3 * beta - 4 * alpha * alpha);
    for (int k = 0; k < 3; k++) {
        double f0 = m * x[k], f1 = m * v[k] - 3 * alpha * f0, f2 = m * a[k] - 6 * alpha * f1 - 3 * beta * f0;
        snap[k] += f2;
        crackle[k] += m * j[k] - 9 * alpha * f2 - 9 * beta * f1 - 3 * gamma * f0;
    }
}

/** Body with its state and acceleration predicted to t. */
NBC_HD struct nb6_body nb6_body_at(const struct nb6_body *body, nb6_time t)
{
    struct nb6_body now = *body;
    double s = nb6_time_to_double(t - body->t0);
    nb6_predict(body, s, now.x0, now.v0);
    for (int k = 0; k < 3; k++) now.acc[k] += s * body->jerk[k];
    return now;
}

/** Move the derivatives of a new neighbour from the regular force to the irregular one; sign -1: those of a neighbour
 *  that left. */
NBC_HD void nb6_add_change(const struct nb6_body *body, const struct nb6_body *neighbour, nb6_time t, double sign,
                           struct nb6_corrected *c)
{
    struct nb6_body other = nb6_body_at(neighbour, t);
    double snap[3] = {0, 0, 0}, crackle[3] = {0, 0, 0};
    nb6_add_pair_derivatives(body, &other, snap, crackle);
    for (int k = 0; k < 3; k++) {
        c->snap_irr[k] += sign * snap[k];
        c->snap_reg[k] -= sign * snap[k];
        c->crackle_irr[k] += sign * crackle[k];
        c->crackle_reg[k] -= sign * crackle[k];
    }
}

/** The derivatives of a corrected body, both parts being those of its old list, become those of the new one.
 *  @param[in] body  all   @param[in] mass  of the body   @param[in] old [n_old], list [n]  ascending */
NBC_HD void nb6_derivatives_of_change(const struct nb6_body *body, double mass, nb6_time t, int64_t n_old,
                                      const int32_t *old, int64_t n, const int32_t *list, struct nb6_corrected *c)
{
    struct nb6_list_walk walk = {old, list, n_old, n, 0, 0};
    struct nb6_body own;
    double sign;
    own.mass = mass;
    nb6_copy3(own.x0, c->x);
    nb6_copy3(own.v0, c->v);
    for (int k = 0; k < 3; k++) {
        own.acc[k] = c->acc_irr[k] + c->acc_reg[k];
        own.jerk[k] = c->jerk_irr[k] + c->jerk_reg[k];
    }
    for (int32_t j = nb6_list_next_change(&walk, &sign); j >= 0; j = nb6_list_next_change(&walk, &sign))
        nb6_add_change(&own, &body[j], t, sign, c);
}

#endif
