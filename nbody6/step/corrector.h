/** Both correctors of a body, and its record after the block. */
#ifndef NB6_CORRECTOR_H
#define NB6_CORRECTOR_H

#include "common/hd.h"
#include "nbody6/state/body.h"
#include "nbody6/state/corrected.h"
#include "nbody6/step/hermite.h"

#include <math.h>

NBC_HD void nb6_copy3(double to[3], const double from[3])
{
    for (int k = 0; k < 3; k++) to[k] = from[k];
}

/** The regular force, extrapolated to t. */
NBC_HD void nb6_regular_at(const struct nb6_star *star, nb6_time t, double acc[3])
{
    double s = nb6_time_to_double(t - star->t0_reg);
    for (int k = 0; k < 3; k++) acc[k] = star->acc_reg[k] + s * star->jerk_reg[k];
}

/** State and derivatives at the end of an irregular step h from the force there, in c.
 *  @param[in] x, v  predicted */
NBC_HD void nb6_correct_irregular(const struct nb6_star *star, double h, const double x[3], const double v[3],
                                  struct nb6_corrected *c, struct nb6_higher *higher)
{
    nb6_hermite_interpolate(h, star->acc_irr, star->jerk_irr, c->acc_irr, c->jerk_irr, higher);
    nb6_copy3(c->x, x);
    nb6_copy3(c->v, v);
    nb6_hermite_correct(h, higher, c->x, c->v);
}

/** The same for a regular step h. Like is compared with like (NA12 eq. 13): the old list's regular force at the new
 * time is F_R(L', t) + F_I(L', t) - F_I(L, t), all three at the same predicted state.
 *  @param[in] acc, jerk  F_R(L', t)   @param[in] come_acc, come_jerk  F_I(L', t) - F_I(L, t) */
NBC_HD void nb6_correct_regular(const struct nb6_star *star, double h, const double acc[3], const double jerk[3],
                                const double come_acc[3], const double come_jerk[3], struct nb6_corrected *c,
                                struct nb6_higher *higher)
{
    double old_reg[3], old_reg_jerk[3];
    for (int k = 0; k < 3; k++) {
        old_reg[k] = acc[k] + come_acc[k];
        old_reg_jerk[k] = jerk[k] + come_jerk[k];
    }
    nb6_hermite_interpolate(h, star->acc_reg, star->jerk_reg, old_reg, old_reg_jerk, higher);
    nb6_hermite_correct(h, higher, c->x, c->v);
    for (int k = 0; k < 3; k++) {
        c->acc_reg[k] = acc[k];
        c->jerk_reg[k] = jerk[k];
        c->acc_irr[k] += come_acc[k];
        c->jerk_irr[k] += come_jerk[k];
        c->snap_reg[k] = higher->snap[k];
        c->crackle_reg[k] = higher->crackle[k];
    }
}

/** Is the result of the irregular, or of both correctors finite? */
NBC_HD int nb6_irregular_is_sound(const struct nb6_corrected *c)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += c->x[k] + c->v[k] + c->acc_irr[k] + c->jerk_irr[k];
    return isfinite(sum) != 0;
}

NBC_HD int nb6_regular_is_sound(const struct nb6_corrected *c)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += c->x[k] + c->v[k] + c->acc_reg[k] + c->jerk_reg[k] + c->acc_irr[k];
    return isfinite(sum) != 0;
}

/** The corrected state becomes the record. Totals are those of the irregular part at t and the regular part there. */
NBC_HD void nb6_commit_corrected(const struct nb6_corrected *c, nb6_time t, int is_regular, struct nb6_body *body,
                                 struct nb6_star *star)
{
    nb6_copy3(body->x0, c->x);
    nb6_copy3(body->v0, c->v);
    body->t0 = t;
    nb6_copy3(star->acc_irr, c->acc_irr);
    nb6_copy3(star->jerk_irr, c->jerk_irr);
    nb6_copy3(star->snap_irr, c->snap_irr);
    nb6_copy3(star->crackle_irr, c->crackle_irr);
    star->level_irr = c->level_irr;
    star->level_reg = c->level_reg;
    if (is_regular) {
        nb6_copy3(star->acc_reg, c->acc_reg);
        nb6_copy3(star->jerk_reg, c->jerk_reg);
        nb6_copy3(star->snap_reg, c->snap_reg);
        nb6_copy3(star->crackle_reg, c->crackle_reg);
        star->t0_reg = t;
        star->r_nb = c->r_nb;
        star->nnb = c->nnb;
    }
    nb6_regular_at(star, t, body->acc);
    for (int k = 0; k < 3; k++) {
        body->acc[k] = star->acc_irr[k] + body->acc[k];
        body->jerk[k] = star->jerk_irr[k] + star->jerk_reg[k];
    }
}

#endif
