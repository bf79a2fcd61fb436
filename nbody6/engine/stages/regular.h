/** Regular force (stage of the block step), on a device: forces on some members of the block from all bodies, and new
 *  neighbour lists. Neighbours are left out of the sums, and noted as bits. A slice of the sources has whole chunks
 *  of NB6_DEV_LANES. */
#ifndef NB6_STAGES_REGULAR_H
#define NB6_STAGES_REGULAR_H

#include "common/hd.h"
#include "gpunb/device/sums.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"
#include "nbody6/step/rules.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/** A source at the block time. */
NBC_HD struct gpunb_dev_source nb6_dev_source_of(const struct nb6_dev *dev, int64_t j)
{
    double x[3] = {GPUNB_DEV_FAR, GPUNB_DEV_FAR, GPUNB_DEV_FAR}, v[3] = {0, 0, 0};
    const int takes_part = j < dev->n && dev->level[j] >= 0;
    if (takes_part) nb6_predict(&dev->body[j], nb6_time_to_double(dev->control->t - dev->body[j].t0), x, v);
    return gpunb_dev_source_at(x, v, takes_part ? (float)dev->body[j].mass : 0.0f, dev->rules.weighted);
}

NBC_HD void nb6_dev_predict_source(const struct nb6_dev *dev, int64_t j)
{
    dev->sums.source[j] = nb6_dev_source_of(dev, j);
}

/** The pairs that the force on a target of this block counts for. */
NBC_HD int64_t nb6_dev_pairs_of_target(const struct nb6_dev *dev)
{
    return dev->pairs_by_tree > 0 ? dev->pairs_by_tree : dev->rules.step.n_source;
}

/** Target m of this round, whose first one is dev->reg[first]. */
NBC_HD void nb6_dev_set_target(const struct nb6_dev *dev, int64_t first, int64_t m)
{
    struct nb6_dev_target *target = &dev->target[m];
    target->member = dev->reg[first + m];
    target->body = target->place = dev->irr[target->member];
    target->nnb = -1;
    target->level = dev->star[target->body].level_reg;
    target->r_nb = dev->star[target->body].r_nb;
}

/** Square of the radius of the sphere of a body for a neighbour of mass 1, or any. */
NBC_HD double nb6_dev_sphere2(const struct nb6_dev *dev, double r_nb)
{
    return r_nb * r_nb / dev->rules.unit;
}

/** A target at a given position.   @param[in] at  as nb6_dev_source_of returns it */
NBC_HD struct gpunb_dev_viewer nb6_dev_view_from(const struct nb6_dev *dev, const struct nb6_dev_target *target,
                                                 const struct gpunb_dev_source *at)
{
    struct gpunb_dev_viewer viewer;
    viewer.at = *at;
    viewer.r_nb2 = nb6_dev_sphere2(dev, target->r_nb);
    viewer.dt_reg = nb6_step_length(target->level);
    viewer.h = (float)(target->r_nb * dev->rules.per_radius);
    viewer.dt = (float)viewer.dt_reg;
    viewer.place = target->place;
    viewer.is_wanted = target->nnb < 0;
    return viewer;
}

NBC_HD struct gpunb_dev_viewer nb6_dev_view(const struct nb6_dev *dev, const struct nb6_dev_target *target)
{
    const struct gpunb_dev_source at = nb6_dev_source_of(dev, target->body); /* others may not be predicted yet */
    return nb6_dev_view_from(dev, target, &at);
}

/** The size of the total acceleration of body i at its last irregular step. */
NBC_HD double nb6_dev_last_size(const struct nb6_dev *dev, int32_t i)
{
    const double *acc = dev->body[i].acc;
    return sqrt(acc[0] * acc[0] + acc[1] * acc[1] + acc[2] * acc[2]);
}

/** The regular force on body i, whose sphere has this radius, for GPUNB: the list goes to nb6_dev_staged_list. */
NBC_HD struct gpunb_dev_asked nb6_dev_asked_for(const struct nb6_dev *dev, int32_t i, double r_nb)
{
    struct gpunb_dev_asked asked;
    memset(&asked, 0, sizeof asked);
    asked.r_nb2 = nb6_dev_sphere2(dev, r_nb);
    asked.dt_reg = nb6_step_length(dev->star[i].level_reg);
    asked.size_last = (float)nb6_dev_last_size(dev, i);
    asked.source = i;
    asked.row = (int32_t)(!dev->row_now[i] * dev->n_max + i);
    return asked;
}

/** nb6_radius_for_system of body i. */
NBC_HD double nb6_dev_radius_for_system(const struct nb6_dev *dev, int32_t i, double r_nb, int64_t nnb)
{
    if (i < dev->first_centre || dev->rules.fixed_radii) return r_nb;
    const double wanted =
        dev->watch[i] & NB6_DEV_ASK ? dev->correction[i].radius : dev->system[i - dev->first_centre].radius;
    return nb6_radius_with_system(r_nb, wanted, dev->rules.system_limit, nnb);
}

/** Chunks of a slice: [*first, *end). */
NBC_HD void nb6_dev_slice(const struct nb6_dev *dev, int64_t slice, int64_t slices, int64_t *first, int64_t *end)
{
    const int64_t chunks = nb6_dev_chunks(dev);
    *first = chunks * slice / slices;
    *end = chunks * (slice + 1) / slices;
}

#endif
