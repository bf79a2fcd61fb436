/** Read access to bodies outside the stages of the block step: for few-body systems, adjusts, escape, frames. They read
 *  the state of the last committed block, or of the change in progress, and write through bodies.h and lists.h. The
 *  bodies must be in host memory: an engine exports its image first. */
#ifndef NB6_VIEW_H
#define NB6_VIEW_H

#include "common/predictor.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"

#include <stddef.h>
#include <stdint.h>

static inline const struct nb6_body *nb6_get_body(const struct nb6_sim *sim, int64_t i)
{
    return &sim->body[i];
}

static inline const struct nb6_star *nb6_get_star(const struct nb6_sim *sim, int64_t i)
{
    return &sim->star[i];
}

/** Position and velocity of body i, predicted to block time t. */
static inline void nb6_get_predicted(const struct nb6_sim *sim, int64_t i, nb6_time t, double x[3], double v[3])
{
    const struct nb6_body *body = nb6_get_body(sim, i);
    nb6_predict(body, nb6_time_to_double(t - body->t0), x, v);
}

/** Square of its distance from x at block time t: two coordinates are predicted at a time. */
static inline double nb6_get_distance2(const struct nb6_sim *sim, int64_t i, nb6_time t, const double x[3])
{
    typedef double two __attribute__((vector_size(16)));
    const struct nb6_body *b = nb6_get_body(sim, i);
    const double s = nb6_time_to_double(t - b->t0);
    const two from = {x[0], x[1]}, x0 = {b->x0[0], b->x0[1]}, v0 = {b->v0[0], b->v0[1]}, acc = {b->acc[0], b->acc[1]},
              jerk = {b->jerk[0], b->jerk[1]};
    const two d = NBC_PREDICT_PLACES(s, x0, v0, acc, jerk) - from, d2 = d * d;
    const double z = nbc_predict_place(s, b->x0[2], b->v0[2], b->acc[2], b->jerk[2], NBC_ROUND_EACH) - x[2];
    return d2[0] + d2[1] + z * z;
}

/** Neighbours of body i, ascending; they stay until a list changes.   @param[out] n  their number */
static inline const nb6_index *nb6_get_list(const struct nb6_sim *sim, int64_t i, size_t *n)
{
    return gpuirr_get_list(sim->irr, (size_t)i, n);
}

#endif
