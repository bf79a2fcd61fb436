/** Irregular corrector and regular corrector (stages of the block step), on a device, with new steps and radii, into
 *  the scratch of the block. This is the form of the emulation; on a device a warp has a member, with a component in
 *  each lane (cuda/corrector.cuh). */
#ifndef NB6_STAGES_CORRECT_H
#define NB6_STAGES_CORRECT_H

#include "common/hd.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/galaxy/device_field.h"
#include "nbody6/state/body.h"
#include "nbody6/step/corrector.h"
#include "nbody6/step/pair_derivatives.h"
#include "nbody6/step/rules.h"

#include <math.h>
#include <stdint.h>

/** Irregular force of a member from the sum over its list, what systems add to it, and the field at x, v.
 *  @param[in] now  nb6_device_field_at of the block time */
NBC_HD void nb6_dev_set_force(const struct nb6_dev *dev, const struct nb6_orbit_point *now, const double list[6],
                              const double reg[3], const double x[3], const double v[3], struct nb6_corrected *c)
{
    double ext_acc[3] = {0, 0, 0}, ext_jerk[3] = {0, 0, 0}, inner[3];
    for (int k = 0; k < 3; k++) inner[k] = list[k] + reg[k];
    if (dev->rules.field.active)
        nb6_device_field_force(&dev->rules.field, nb6_time_to_double(dev->control->t), now, x, v, inner, ext_acc,
                               ext_jerk);
    for (int k = 0; k < 3; k++) {
        c->acc_irr[k] = list[k] + ext_acc[k];
        c->jerk_irr[k] = list[3 + k] + ext_jerk[k];
    }
}

/** Rounding errors of the forces on a member. A third derivative of 0 over a step h counts as not significant. */
NBC_HD void nb6_dev_set_noise(const struct nb6_dev *dev, int32_t i, const struct nb6_dev_point *point, double h,
                              const struct nb6_higher *higher, struct nb6_corrected *c)
{
    const struct nb6_star *star = &dev->star[i];
    c->noise_irr = c->noise_total = 0;
    if (!nb6_dev_is_in_double(dev) &&
        !nb6_derivatives_may_be_noise(h, (double)nb6_dev_noise_of(point, star->nnb + NB6_DEV_LEAVING),
                                      nb6_norm2(c->jerk_irr), nb6_norm2(higher->snap), nb6_norm2(higher->crackle)))
        return;
    c->noise_irr = nb6_dev_noise_beside(dev, i, point);
    for (int lane = 0; lane < NB6_DEV_LANES; lane++)
        c->noise_irr += (double)nb6_dev_noise_lane(dev, point, nb6_dev_list(dev, i), star->nnb, dev->control->t, lane);
    c->noise_total = c->noise_irr + dev->rules.step.noise_reg_most;
}

/** Irregular corrector of a member, from the sum over its list. The field is taken again at the corrected state, as the
 *  host engine does (irregular.c). */
NBC_HD void nb6_dev_correct_irregular(const struct nb6_dev *dev, int64_t member, const struct nb6_dev_point *point,
                                      const struct gpunb_dev_sum *sum)
{
    const int32_t i = dev->irr[member];
    const struct nb6_star *star = &dev->star[i];
    const nb6_time t = dev->control->t;
    const double h = nb6_time_to_double(t - dev->body[i].t0);
    struct nb6_corrected *c = &dev->corrected[member];
    const int is_watched = dev->watch[i] & (NB6_DEV_ASK | NB6_DEV_REMOTE);
    const struct nb6_dev_correction *add = &dev->correction[i];
    struct nb6_higher higher;
    struct nb6_orbit_point now;
    double list[6], reg[3], longest = nb6_device_field_longest_step(&dev->rules.field, nb6_time_to_double(t));
    if (is_watched) longest = fmin(longest, add->longest);
    nb6_device_field_at(&dev->rules.field, nb6_time_to_double(t), &now);
    nb6_regular_at(star, t, reg);
    for (int k = 0; k < 3; k++) {
        list[k] = sum->acc[k] + (is_watched ? add->acc[k] : 0);
        list[3 + k] = sum->jerk[k] + (is_watched ? add->jerk[k] : 0);
    }
    nb6_dev_set_force(dev, &now, list, reg, point->x, point->v, c);
    nb6_correct_irregular(star, h, point->x, point->v, c, &higher);
    if (dev->rules.field.active) {
        nb6_dev_set_force(dev, &now, list, reg, c->x, c->v, c);
        nb6_correct_irregular(star, h, point->x, point->v, c, &higher);
    }
    nb6_dev_set_noise(dev, i, point, h, &higher, c);
    nb6_copy3(c->snap_irr, higher.snap);
    nb6_copy3(c->crackle_irr, higher.crackle);
    c->level_irr = nb6_next_irregular_level(&dev->rules.step, star, c, &higher, h, longest, t);
    c->level_reg = nb6_regular_level_beside(star->level_reg, c->level_irr, dev->rules.step.all_are_neighbours);
    if (!nb6_irregular_is_sound(c)) dev->flag[member] |= NB6_DEV_UNSOUND_IRR;
}

/** The change of the irregular sum on a target by the change of its list. A body that has come or gone and is near is
 *  flagged. */
NBC_HD struct gpunb_dev_sum nb6_dev_change_of_force(const struct nb6_dev *dev, const struct nb6_dev_target *target)
{
    const int32_t i = target->body;
    const nb6_time t = dev->control->t;
    const struct nb6_dev_point point = nb6_dev_predict(dev, i, t);
    struct nb6_list_walk walk = {
        nb6_dev_list(dev, i), nb6_dev_staged_list(dev, i), dev->star[i].nnb, target->nnb, 0, 0};
    struct gpunb_dev_sum sum;
    double sign;
    gpunb_dev_clear(&sum);
    for (int32_t j = nb6_list_next_change(&walk, &sign); j >= 0; j = nb6_list_next_change(&walk, &sign)) {
        const struct nb6_body other = nb6_body_at(&dev->body[j], t);
        if (nb6_dev_add_change(&other, sign, &point, &sum)) dev->flag[target->member] |= NB6_DEV_NEAR;
    }
    return sum;
}

/** Regular corrector of a target, from its regular sum. */
NBC_HD void nb6_dev_correct_regular(const struct nb6_dev *dev, int64_t m, const struct gpunb_dev_sum *regular)
{
    const struct nb6_dev_target *target = &dev->target[m];
    const int32_t member = target->member, i = target->body;
    const struct nb6_star *star = &dev->star[i];
    const struct gpunb_dev_sum change = nb6_dev_change_of_force(dev, target);
    const nb6_time t = dev->control->t;
    const double h = nb6_time_to_double(t - star->t0_reg);
    struct nb6_corrected *c = &dev->corrected[member];
    struct nb6_higher higher;
    nb6_correct_regular(star, h, regular->acc, regular->jerk, change.acc, change.jerk, c, &higher);
    if (dev->rules.step.seen_between_steps)
        nb6_derivatives_of_change(dev->body, dev->body[i].mass, t, star->nnb, nb6_dev_list(dev, i), target->nnb,
                                  nb6_dev_staged_list(dev, i), c);
    c->nnb = target->nnb;
    c->r_nb = nb6_next_radius(&dev->rules.radius, target->r_nb, c->nnb);
    c->r_nb = nb6_dev_radius_for_system(dev, i, c->r_nb, c->nnb);
    c->noise_reg = (double)nb6_noise_of_regular(&dev->rules.step, c->x, star->nnb, star->r_nb);
    if (dev->pairs_by_tree > 0) c->noise_reg += dev->rules.step.noise_by_tree * nb6_dev_last_size(dev, i);
    nb6_next_regular_level(&dev->rules.step, star, &higher, h, t, c);
    if (!nb6_regular_is_sound(c)) dev->flag[member] |= NB6_DEV_UNSOUND_REG;
}

#endif
