/** Stages 5 and 7: correctors, new steps and radii, into the scratch of the block, as the emulation makes them. On a
 *  device a warp does so, a component in each lane (device_corrector.cuh). */
#ifndef NB6_DEV_CORRECT_H
#define NB6_DEV_CORRECT_H

#include "common/hd.h"
#include "nbody6/state/body.h"
#include "nbody6/step/corrector.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/dev_state.h"
#include "nbody6/step/pair_derivatives.h"
#include "nbody6/step/rules.h"

#include <math.h>
#include <stdint.h>

/** Irregular corrector of a member, from the sum over its list. */
NBC_HD void nb6_dev_correct_irregular(const struct nb6_dev *dev, int64_t slot, const struct nb6_dev_point *point,
                                      const struct nb6_dev_sum *sum)
{
    const int32_t i = dev->irr[slot];
    const struct nb6_star *star = &dev->star[i];
    const nb6_time t = dev->control->t;
    const double h = nb6_time_to_double(t - dev->body[i].t0);
    struct nb6_corrected *c = &dev->corrected[slot];
    struct nb6_higher higher;
    dev->old_sum[slot] = *sum;
    nb6_copy3(c->acc_irr, sum->acc);
    nb6_copy3(c->jerk_irr, sum->jerk);
    nb6_correct_irregular(star, h, point->x, point->v, c, &higher);
    nb6_copy3(c->snap_irr, higher.snap);
    nb6_copy3(c->crackle_irr, higher.crackle);
    c->level_irr = nb6_next_irregular_level(&dev->rules.step, star, c, &higher, h, INFINITY, t);
    c->level_reg = nb6_regular_level_beside(star->level_reg, c->level_irr, dev->rules.step.all_are_neighbours);
    if (!nb6_irregular_is_sound(c)) dev->flag[slot] |= NB6_DEV_UNSOUND_IRR;
}

/** Regular corrector of a target, from its regular sum and the irregular one over its new list. */
NBC_HD void nb6_dev_correct_regular(const struct nb6_dev *dev, int64_t m, const struct nb6_dev_sum *regular,
                                    const struct nb6_dev_sum *new_sum)
{
    const struct nb6_dev_target *target = &dev->target[m];
    const int32_t slot = target->slot, i = dev->irr[slot];
    const struct nb6_star *star = &dev->star[i];
    const struct nb6_dev_sum *old = &dev->old_sum[slot];
    const nb6_time t = dev->control->t;
    const double h = nb6_time_to_double(t - star->t0_reg);
    struct nb6_corrected *c = &dev->corrected[slot];
    struct nb6_higher higher;
    nb6_correct_regular(star, h, regular->acc, regular->jerk, new_sum->acc, new_sum->jerk, old->acc, old->jerk, c,
                        &higher);
    if (dev->rules.step.seen_between_steps)
        nb6_derivatives_of_change(dev->body, dev->body[i].mass, t, star->nnb, nb6_dev_list(dev, i), target->nnb,
                                  nb6_dev_staged_list(dev, i), c);
    c->nnb = target->nnb;
    c->r_nb = nb6_next_radius(&dev->rules.radius, target->r_nb, c->nnb);
    nb6_next_regular_level(&dev->rules.step, star, &higher, h, t, c);
    if (!nb6_regular_is_sound(c)) dev->flag[slot] |= NB6_DEV_UNSOUND_REG;
}

#endif
