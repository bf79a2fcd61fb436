/** Search for candidates of encounters around a member of the last block, on a device; the host examines the
 *  candidates. */
#ifndef NB6_STAGES_CANDIDATES_H
#define NB6_STAGES_CANDIDATES_H

#include "common/hd.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/state/body.h"

#include <math.h>
#include <stdint.h>

/** A neighbour of a body at the block time, relative to it. */
struct nb6_dev_seen {
    int32_t body; /**< -1: none */
    double r2, x[3], v[3];
};

/** Body j relative to a body that the last block has moved. */
NBC_HD void nb6_dev_look_from(const struct nb6_dev *dev, int32_t i, int32_t j, struct nb6_dev_seen *seen)
{
    const struct nb6_body *body = &dev->body[i], *other = &dev->body[j];
    nb6_predict(other, nb6_time_to_double(body->t0 - other->t0), seen->x, seen->v);
    seen->body = j;
    seen->r2 = 0;
    for (int d = 0; d < 3; d++) {
        seen->x[d] -= body->x0[d];
        seen->v[d] -= body->v0[d];
        seen->r2 += seen->x[d] * seen->x[d];
    }
}

/** The nearest one of every 32nd neighbour of a body that the last block has moved. */
NBC_HD void nb6_dev_nearest_of_lane(const struct nb6_dev *dev, int32_t i, int lane, struct nb6_dev_seen *nearest)
{
    const int32_t *list = nb6_dev_list(dev, i);
    nearest->body = -1;
    nearest->r2 = INFINITY;
    for (int d = 0; d < 3; d++) nearest->x[d] = nearest->v[d] = 0;
    for (int32_t k = lane; k < dev->star[i].nnb; k += NB6_DEV_LANES) {
        struct nb6_dev_seen seen;
        nb6_dev_look_from(dev, i, list[k], &seen);
        if (seen.r2 < nearest->r2) *nearest = seen;
    }
}

/** Whether nb6_subsystems_search may find an encounter around a star: a superset of its results. Systems are no
 *  candidates here. */
NBC_HD int nb6_dev_is_candidate(const struct nb6_dev *dev, int32_t i, const struct nb6_dev_seen *nearest)
{
    const double touch = dev->rules.encounter.touch;
    if (nearest->body < 0 || !(nearest->r2 > 0)) return 0;
    if (nearest->r2 < touch * touch) return 1; /* a star that it is about to touch need not be the nearest */
    if (nearest->body >= dev->first_centre) return 0;
    return nb6_encounter_is_possible(&dev->rules.encounter, dev->body[i].mass + dev->body[nearest->body].mass,
                                     nearest->x, nearest->v);
}

#endif
