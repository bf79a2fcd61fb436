/** Who is watched, and what an engine is told of systems: from the state in memory to its image (share.h). */
#ifndef NB6_SHARE_WATCH_H
#define NB6_SHARE_WATCH_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/step/dev_state.h"

#include <stdint.h>

struct nb6_sim;

/** The time from which on a relative motion has to be brought to that of a block; INT64_MAX: none has. */
nb6_time nb6_share_next(const struct nb6_sim *sim);
/** Whether the origin of times is that of blocks at time t. */
int nb6_origin_serves(const struct nb6_sim *sim, nb6_time t);
/** Whether a perturber of a member of sim->active is to be chosen by the tide of all bodies. */
int nb6_share_needs_all(const struct nb6_sim *sim);
/** Who is watched, and systems, after the slots that the open transaction has saved have changed.
 *  @param[in,out] n, room, changed  places of whom that concerns
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_share_renew(struct nb6_sim *sim, struct nb6_dev *home, int64_t *n, int64_t *room, int32_t **changed,
                    struct nbc_error *err);

#endif
