/** Stage 6 on a device: regular forces of some members of the block from all bodies, and their new lists, in two steps.
 *  First all pairs are summed but those that are *close*: nearer than a neighbour could be, whatever its direction, and
 *  noted as bits. Then these few are looked at one by one. A slice of the sources has whole chunks of NB6_DEV_LANES. */
#ifndef NB6_DEV_REGULAR_H
#define NB6_DEV_REGULAR_H

#include "common/hd.h"
#include "nbody6/state/body.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/dev_state.h"

#include <math.h>
#include <stdint.h>

/** Where those are who take no part: farther than any sphere reaches, and squares of it fit a float. */
#define NB6_DEV_FAR 1e18f
/** Squares of distances up to this are zero: 1/r^3 would not fit a float. */
#define NB6_DEV_TINY_R2 1e-37f
/** More than the roundings of a reach and of what it is compared with. */
#define NB6_DEV_REACH_MARGIN 1.00001f

/** A target as its sums see it. */
struct nb6_dev_viewer {
    struct nb6_dev_source at;
    float h, dt, speed; /**< of the sphere; of its regular step; its own */
    int32_t body;
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

NBC_HD float nb6_dev_speed(const struct nb6_dev_source *source)
{
    const float *v = source->v;
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/** Predict a source.   @return its speed */
NBC_HD float nb6_dev_predict_source(const struct nb6_dev *dev, int64_t j)
{
    dev->source[j] = nb6_dev_source_of(dev, j);
    return nb6_dev_speed(&dev->source[j]);
}

/** Target m of this round, whose first one is dev->reg[first]. */
NBC_HD void nb6_dev_set_target(const struct nb6_dev *dev, int64_t first, int64_t m)
{
    struct nb6_dev_target *target = &dev->target[m];
    target->slot = dev->reg[first + m];
    target->body = dev->irr[target->slot];
    target->nnb = -1;
    target->level = dev->star[target->body].level_reg;
    target->r_nb = dev->star[target->body].r_nb;
}

NBC_HD struct nb6_dev_viewer nb6_dev_view(const struct nb6_dev *dev, const struct nb6_dev_target *target)
{
    struct nb6_dev_viewer viewer;
    viewer.body = target->body;
    viewer.at = nb6_dev_source_of(dev, viewer.body); /* the others may not be there yet */
    viewer.h = (float)(target->r_nb * dev->rules.per_radius);
    viewer.dt = (float)nb6_step_length(target->level);
    viewer.weighted = dev->rules.weighted;
    viewer.speed = nb6_dev_speed(&viewer.at);
    return viewer;
}

/** Chunks of a slice: [*first, *end). */
NBC_HD void nb6_dev_slice(const struct nb6_dev *dev, int64_t slice, int64_t slices, int64_t *first, int64_t *end)
{
    const int64_t chunks = nb6_dev_chunks(dev);
    *first = chunks * slice / slices;
    *end = chunks * (slice + 1) / slices;
}

/** How far a source of a chunk goes at most, seen from the viewer, within his step.   @param[in] speed  of the chunk */
NBC_HD float nb6_dev_way(const struct nb6_dev_viewer *viewer, float speed)
{
    return viewer->dt * (viewer->speed + speed);
}

/** Square of the distance within which a source is close. */
NBC_HD float nb6_dev_reach2(const struct nb6_dev_viewer *viewer, float size, float way)
{
    const float reach = (viewer->h * size + way) * NB6_DEV_REACH_MARGIN, r2 = reach * reach;
    return r2 > NB6_DEV_TINY_R2 ? r2 : NB6_DEV_TINY_R2;
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

/** A source, unless it is close.   @return 1: it is, and nothing was added */
NBC_HD int nb6_dev_add_source(const struct nb6_dev_viewer *viewer, const struct nb6_dev_source *source, float reach2,
                              float sum[6])
{
    float dx[3], dv[3];
    const float r2 = nb6_dev_differences(&viewer->at, source, dx, dv);
    const int is_close = r2 < reach2;
    nb6_dev_add_pair(dx, dv, source->mass, is_close ? 0.0f : nbc_inverse_root(r2), sum);
    return is_close;
}

/** A close source: NA12 eq. 4, or eq. 10 and 11.   @return 1: it is a neighbour, and nothing was added */
NBC_HD int nb6_dev_take_close(const struct nb6_dev_viewer *viewer, const struct nb6_dev_source *source, float sum[6])
{
    float dx[3], dv[3], p2 = 0;
    const float h2 = viewer->h * viewer->h, limit = viewer->weighted ? source->mass * h2 : h2;
    const float r2 = nb6_dev_differences(&viewer->at, source, dx, dv);
    for (int k = 0; k < 3; k++) p2 += (dx[k] + viewer->dt * dv[k]) * (dx[k] + viewer->dt * dv[k]);
    if (r2 < limit || p2 < limit) return 1;
    nb6_dev_add_pair(dx, dv, source->mass, r2 > NB6_DEV_TINY_R2 ? nbc_inverse_root(r2) : 0.0f, sum);
    return 0;
}

#endif
