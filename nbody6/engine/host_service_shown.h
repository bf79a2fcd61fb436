/** Transfer of members that an engine has *shown* (copied to the image in host memory, engine/host_service.h) to the
 *  state. */
#ifndef NB6_ENGINE_HOST_SERVICE_SHOWN_H
#define NB6_ENGINE_HOST_SERVICE_SHOWN_H

#include "common/nbc.h"
#include "nbody6/engine/host_service_keep.h"
#include "nbody6/engine/host_service_watch.h"
#include "nbody6/engine/stages/state.h"

#include <stdint.h>

struct nb6_sim;
struct nb6_far_tide;

/** Scratch. Zero-initialise. */
struct nb6_shown {
    int64_t list_room, far_room;
    int32_t *list;            /**< list of a body, with numbers of bodies */
    struct nb6_far_tide *far; /**< tides of far bodies */
};

/** Fetch a member, its list if that has changed, and its neighbours. Watched stars are shown without neighbours.
 *  @param[in,out] keep  records of what is overwritten
 *  @return NBC_OK; NBC_NO_MEMORY; as gpuirr_set_list */
int nb6_shown_fetch(struct nb6_sim *sim, struct nb6_shown *shown, struct nb6_keep *keep, struct nb6_dev *home,
                    int32_t place, struct nbc_error *err);
/** Fetch tides of far bodies on these centres of mass for the selection of perturbers (pairs/tides.c).
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_shown_fetch_tides(struct nb6_sim *sim, struct nb6_shown *shown, const struct nb6_dev *home,
                          const struct nb6_index_set *of, struct nbc_error *err);
void nb6_shown_free(struct nb6_shown *shown);

#endif
