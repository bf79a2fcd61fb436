/** Who is watched, and what an engine is told of systems: from the state in memory to its image
 * (engine/host_service.h). */
#ifndef NB6_ENGINE_HOST_SERVICE_WATCH_H
#define NB6_ENGINE_HOST_SERVICE_WATCH_H

#include "common/nbc.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** The time from which on a relative motion has to be brought to that of a block; INT64_MAX: none has. */
nb6_time nb6_host_service_next(const struct nb6_sim *sim);
/** Whether the origin of times is that of blocks at time t. */
int nb6_origin_serves(const struct nb6_sim *sim, nb6_time t);
/** Places of bodies. Zero-initialise; free place and mark. */
struct nb6_index_set {
    int64_t n, room, marks;
    int32_t *place; /**< [n] */
    int8_t *mark;   /**< [marks] of nb6_host_service_renew, which has each once; zero between calls */
};

/** Members of sim->active, which are few, whose choice of perturbers sums the tide of far bodies.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_host_service_find_far(const struct nb6_sim *sim, const struct nb6_dev *home, struct nb6_index_set *far,
                              struct nbc_error *err);
/** Who is watched, and systems, after the slots that the open transaction has saved have changed.
 *  @param[in,out] changed  whom that concerns
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_host_service_renew(struct nb6_sim *sim, struct nb6_dev *home, struct nb6_index_set *changed,
                           struct nbc_error *err);

#endif
