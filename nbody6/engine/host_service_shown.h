/** What an engine has shown of bodies (engine/host_service.h): from the image of the state to the state in memory. */
#ifndef NB6_ENGINE_HOST_SERVICE_SHOWN_H
#define NB6_ENGINE_HOST_SERVICE_SHOWN_H

#include "common/nbc.h"
#include "nbody6/engine/host_service_keep.h"
#include "nbody6/engine/host_service_watch.h"
#include "nbody6/engine/stages/state.h"

#include <stdint.h>

struct nb6_sim;
struct nb6_far_tide;

/** Room for it. Zero-initialise. */
struct nb6_shown {
    int64_t list_room, far_room;
    int32_t *list;            /**< of a body, with numbers of bodies */
    struct nb6_far_tide *far; /**< tides of far bodies */
};

/** A member, with its list if that is another one than before, and whoever it sees. Those who are watched as stars
 *  alone see nobody.
 *  @param[in,out] keep  what is overwritten
 *  @return NBC_OK; NBC_NO_MEMORY; as gpuirr_set_list */
int nb6_shown_fetch(struct nb6_sim *sim, struct nb6_shown *shown, struct nb6_keep *keep, struct nb6_dev *home,
                    int32_t place, struct nbc_error *err);
/** Tides of far bodies on these centres of mass, which systems find there when perturbers are chosen (pairs/tides.c).
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_shown_fetch_tides(struct nb6_sim *sim, struct nb6_shown *shown, const struct nb6_dev *home,
                          const struct nb6_index_set *of, struct nbc_error *err);
void nb6_shown_free(struct nb6_shown *shown);

#endif
