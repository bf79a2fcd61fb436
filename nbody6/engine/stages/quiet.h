/** Tests of few-body systems against surrounding bodies, on a device: whether a *quiet* pair, on which nothing acts,
 *  may have a perturber; and the tide of the bodies beyond the list of a system. */
#ifndef NB6_STAGES_QUIET_H
#define NB6_STAGES_QUIET_H

#include "common/hd.h"
#include "nbody6/engine/stages/candidates.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/fewbody/tide_sum.h"
#include "nbody6/galaxy/device_field.h"
#include "nbody6/state/body.h"

#include <math.h>
#include <stdint.h>

/** Whether a centre of mass that was just committed has to be tested: the rule of choose() in pairs/perturbers.c. */
NBC_HD int nb6_dev_quiet_looks(const struct nb6_dev *dev, int32_t i, int is_regular)
{
    if (!(dev->watch[i] & NB6_DEV_QUIET)) return 0;
    return is_regular || !(dev->system[i - dev->first_centre].t_check > nb6_time_to_double(dev->control->t));
}

/** Whether the galaxy acts on the relative motion of a quiet pair: the rule of is_galactic() in pairs/perturbers.c. */
NBC_HD int nb6_dev_galaxy_acts(const struct nb6_dev *dev, int32_t i)
{
    const struct nb6_perturber_rule *rule = &dev->system[i - dev->first_centre].perturber;
    const struct nb6_body *body = &dev->body[i];
    if (!dev->rules.field.active) return 0;
    const double strongest =
        nb6_device_field_strongest(&dev->rules.field, nb6_time_to_double(dev->control->t), body->x0);
    return strongest * rule->r2 * sqrt(rule->r2) / body->mass > dev->rules.gamma_min;
}

/** The test of one lane, for every `step`-th neighbour from `first` on, at the time of the last block, which has
 *  moved the pair. It includes all bodies that nb6_pair_select would select.
 *  @param[out] safe  none of them can be a perturber within this time   @return 1: one of them may be now */
NBC_HD int nb6_dev_quiet_lane(const struct nb6_dev *dev, int32_t i, int first, int step, double *safe)
{
    const struct nb6_perturber_rule *rule = &dev->system[i - dev->first_centre].perturber;
    const int32_t *list = nb6_dev_list(dev, i);
    const double dt = nb6_step_length(dev->star[i].level_irr);
    int found = first == 0 && nb6_dev_galaxy_acts(dev, i);
    *safe = INFINITY;
    for (int32_t k = first; k < dev->star[i].nnb; k += step) {
        struct nb6_dev_seen seen;
        nb6_dev_look_from(dev, i, list[k], &seen);
        found |= nb6_may_perturb(rule, dev->body[list[k]].mass, seen.x, seen.v, seen.r2, dt, safe);
    }
    return found;
}

/** No perturber was found: set the time of the next test. */
NBC_HD void nb6_dev_quiet_goes_on(const struct nb6_dev *dev, int32_t i, double safe)
{
    dev->system[i - dev->first_centre].t_check = nb6_time_to_double(dev->body[i].t0) + safe;
}

/** Square of the distance of the farthest of every n-th neighbour, from number `first` on, of a body whose time the
 *  block time is. */
NBC_HD double nb6_dev_farthest2(const struct nb6_dev *dev, int32_t i, int32_t first, int32_t n)
{
    const int32_t *list = nb6_dev_list(dev, i);
    double farthest = 0;
    for (int32_t k = first; k < dev->star[i].nnb; k += n) {
        struct nb6_dev_seen seen;
        nb6_dev_look_from(dev, i, list[k], &seen);
        farthest = fmax(farthest, seen.r2);
    }
    return farthest;
}

/** Add the tide of body j on body i, whose time the block time is, unless it is i or a neighbour.
 *  @param[in] farthest2  bodies at larger squared distances are no neighbours */
NBC_HD void nb6_dev_add_far_tide(const struct nb6_dev *dev, int32_t i, int32_t j, double farthest2,
                                 struct nb6_dev_tide *tide)
{
    const double ROUNDING = 1 + 1e-9;
    struct nb6_dev_seen seen;
    nb6_dev_look_from(dev, i, j, &seen);
    if (j == i || (seen.r2 <= farthest2 * ROUNDING && nb6_dev_is_in_list(nb6_dev_list(dev, i), dev->star[i].nnb, j)))
        return;
    nb6_add_tide(dev->body[j].mass, seen.x, seen.v, tide->field, tide->field_dot);
}

#endif
