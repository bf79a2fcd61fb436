/** Stars that age and have collided become one. Private to libnbody6. */
#ifndef NB6_MERGE_AGED_H
#define NB6_MERGE_AGED_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_aged;
struct nb6_sim;
struct stellar_events;
struct stellar_view;

/** Two stars that became one, as their event has them: the one that goes on first. Msun. */
struct nb6_collision {
    nb6_index star[2];
    int type[2], type_after;
    double mass[2], mass_after;
};

/** A star becomes one with all stars that collided with it. Reads the state alone.
 *  @param[in,out] aged       of star i; its body has the mass of all
 *  @param[out]    events     of the stars until then, and of the products
 *  @param[out]    collision  [aged->waits], in the order of the numbers of those that are gone
 *  @return NBC_OK; the status of the library of stars */
int nb6_merge_aged(const struct nb6_sim *sim, nb6_index i, nb6_time t, struct nb6_aged *aged, struct stellar_view *view,
                   struct stellar_events *events, struct nb6_collision collision[], struct nbc_error *err);
/** Nothing is left of the star that is gone, and observers hear of it. Within a transaction.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_merge_aged_tell(struct nb6_sim *sim, const struct nb6_collision *collision, nb6_time t, struct nbc_error *err);

#endif
