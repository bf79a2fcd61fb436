/** The one door for those who look at bodies outside the stages of the block step: few-body systems, adjusts, escape,
 *  frames. They read what the last block that stands, or the change in progress, has left, and write through bodies.h
 *  and lists.h. An engine that kept bodies elsewhere would have to bring them here first. */
#ifndef NB6_VIEW_H
#define NB6_VIEW_H

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

/** Neighbours of body i, ascending; they stay until a list changes.   @param[out] n  their number */
static inline const int32_t *nb6_get_list(const struct nb6_sim *sim, int64_t i, size_t *n)
{
    return gpuirr_get_list(sim->irr, (size_t)i, n);
}

#endif
