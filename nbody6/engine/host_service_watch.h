/** Transfer of the systems in host memory to the image of an engine: watched bodies, and records of systems
 *  (engine/host_service.h). */
#ifndef NB6_ENGINE_HOST_SERVICE_WATCH_H
#define NB6_ENGINE_HOST_SERVICE_WATCH_H

#include "common/nbc.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Time of the first block to which a relative motion has to be brought; INT64_MAX: there is none. */
nb6_time nb6_host_service_next(const struct nb6_sim *sim);
/** Whether the origin of times is that of blocks at time t. */
int nb6_origin_serves(const struct nb6_sim *sim, nb6_time t);
/** A set of places (indices of bodies in the image). Zero-initialise; free place and mark. */
struct nb6_index_set {
    int64_t n, room, marks;
    int32_t *place; /**< [n] */
    int8_t *mark;   /**< [marks] whether nb6_host_service_renew has added a place; zero between calls */
};

/** Find members of sim->active for which the selection of perturbers needs the tide of far bodies; they are few.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_host_service_find_far(const struct nb6_sim *sim, const struct nb6_dev *home, struct nb6_index_set *far,
                              struct nbc_error *err);
/** Update watched bodies and systems in the image, after the slots that the open transaction has saved have changed.
 *  @param[in,out] changed  places with changes
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_host_service_renew(struct nb6_sim *sim, struct nb6_dev *home, struct nb6_index_set *changed,
                           struct nbc_error *err);

#endif
