/** Regular force (stage of the block step), on a device: forces on some members of the block from all bodies, and new
 *  neighbour lists. Neighbours are left out of the sums, and noted as bits. A slice of the sources has whole chunks
 *  of NB6_DEV_LANES. */
#ifndef NB6_STAGES_REGULAR_H
#define NB6_STAGES_REGULAR_H

#include "common/hd.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"
#include "nbody6/step/rules.h"

#include <math.h>
#include <stdint.h>

/** Position of sources that take no part: outside of any neighbour sphere, with a square that fits a float. */
#define NB6_DEV_FAR 1e18f
/** Squares of distances up to this are zero: 1/r^3 would not fit a float. */
#define NB6_DEV_TINY_R2 1e-37f
/** A target as seen by its sums. */
struct nb6_dev_viewer {
    struct nb6_dev_source at;
    float h, dt;   /**< radius of the sphere; length of its regular step */
    int32_t place; /**< of the target itself among the sources */
    int weighted;
};

/** A source at the block time. */
NBC_HD struct nb6_dev_source nb6_dev_source_of(const struct nb6_dev *dev, int64_t j)
{
    struct nb6_dev_source source;
    const int takes_part = j < dev->n && dev->level[j] >= 0;
    double x[3] = {0, 0, 0}, v[3] = {0, 0, 0};
    if (takes_part) nb6_predict(&dev->body[j], nb6_time_to_double(dev->control->t - dev->body[j].t0), x, v);
    source.mass = takes_part ? (float)dev->body[j].mass : 0.0f;
    source.size = dev->rules.weighted ? sqrtf(source.mass) : 1.0f;
    source.spare = 0.0f;
    for (int k = 0; k < 3; k++) {
        source.high[k] = takes_part ? (float)x[k] : NB6_DEV_FAR;
        source.low[k] = takes_part ? (float)(x[k] - (double)source.high[k]) : 0.0f;
        source.v[k] = (float)v[k];
    }
    return source;
}

NBC_HD void nb6_dev_predict_source(const struct nb6_dev *dev, int64_t j)
{
    dev->source[j] = nb6_dev_source_of(dev, j);
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

/** A target at a given position.   @param[in] at  as nb6_dev_source_of returns it */
NBC_HD struct nb6_dev_viewer nb6_dev_view_from(const struct nb6_dev *dev, const struct nb6_dev_target *target,
                                               const struct nb6_dev_source *at)
{
    struct nb6_dev_viewer viewer;
    viewer.place = target->place;
    viewer.at = *at;
    viewer.h = (float)(target->r_nb * dev->rules.per_radius);
    viewer.dt = (float)nb6_step_length(target->level);
    viewer.weighted = dev->rules.weighted;
    return viewer;
}

NBC_HD struct nb6_dev_viewer nb6_dev_view(const struct nb6_dev *dev, const struct nb6_dev_target *target)
{
    const struct nb6_dev_source at = nb6_dev_source_of(dev, target->body); /* other sources may not be predicted yet */
    return nb6_dev_view_from(dev, target, &at);
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

/** Square of the radius of the sphere for neighbours of a size. */
NBC_HD float nb6_dev_limit2(const struct nb6_dev_viewer *viewer, float size)
{
    const float limit = viewer->h * size, limit2 = limit * limit;
    return limit2 > NB6_DEV_TINY_R2 ? limit2 : NB6_DEV_TINY_R2;
}

NBC_HD float nb6_dev_differences(const struct nb6_dev_source *from, const struct nb6_dev_source *to, float dx[3],
                                 float dv[3])
{
    for (int k = 0; k < 3; k++) {
        dx[k] = (to->high[k] - from->high[k]) + (to->low[k] - from->low[k]);
        dv[k] = to->v[k] - from->v[k];
    }
    return dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2];
}

/** NA12 eq. 10 and 11.   @param[in] rinv  1/r; 0: nothing is added */
NBC_HD void nb6_dev_add_pair(const float dx[3], const float dv[3], float mass, float rinv, float sum[6])
{
    const float rv = dx[0] * dv[0] + dx[1] * dv[1] + dx[2] * dv[2];
    const float rinv2 = rinv * rinv, mr3 = mass * rinv * rinv2, alpha = -3.0f * rinv2 * rv;
    for (int k = 0; k < 3; k++) {
        sum[k] += mr3 * dx[k];
        sum[3 + k] += mr3 * (dv[k] + alpha * dx[k]);
    }
}

/** A source, unless it is in the sphere now or after the step (NA12 eq. 4), as the target itself is.
 *  @return 1: it is, and nothing was added */
NBC_HD int nb6_dev_add_source(const struct nb6_dev_viewer *viewer, const struct nb6_dev_source *source, float limit2,
                              float sum[6])
{
    float dx[3], dv[3], p2 = 0;
    const float r2 = nb6_dev_differences(&viewer->at, source, dx, dv);
    for (int k = 0; k < 3; k++) p2 += (dx[k] + viewer->dt * dv[k]) * (dx[k] + viewer->dt * dv[k]);
    const int is_neighbour = fminf(r2, p2) < limit2;
    nb6_dev_add_pair(dx, dv, source->mass, is_neighbour ? 0.0f : nbc_inverse_root(r2), sum);
    return is_neighbour;
}

/** Clear the bit of the target itself among the neighbours in a chunk. */
NBC_HD uint32_t nb6_dev_others(const struct nb6_dev_viewer *viewer, int64_t chunk, uint32_t bits)
{
    return viewer->place / NB6_DEV_LANES == chunk ? bits & ~(1u << viewer->place % NB6_DEV_LANES) : bits;
}

#endif
