/** Remote pairs (fewbody/pairs/remote.h) behind the back of an engine that makes blocks elsewhere
 * (engine/host_service.h): they move when the host is told of a step of somebody who acts on them, or has nothing else
 * to do. */
#ifndef NB6_ENGINE_HOST_SERVICE_FOLLOW_H
#define NB6_ENGINE_HOST_SERVICE_FOLLOW_H

#include "common/nbc.h"
#include "nbody6/engine/host_service_keep.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** How far they have come. Zero-initialise. */
struct nb6_follow {
    int lags;           /**< 1: there may be some behind t_reached, up to which the host knows of all steps */
    nb6_time t_reached; /**< of a block */
    int64_t last;       /**< slot that moved last; -1: none has since the host knows of this block */
    int status;         /**< of motions that were made while nobody waited for them */
    struct nbc_error error;
    int64_t told_room;
    int32_t *told; /**< bodies of notes */
};

/** @return the status of motions that were made meanwhile */
int nb6_follow_status(const struct nb6_follow *f, struct nbc_error *err);
/** All blocks up to time t are made, and the host was told of all their steps. */
void nb6_follow_reached(const struct nb6_sim *sim, struct nb6_follow *f, nb6_time t);
/** One of those that lag, in a transaction of its own. Nobody acts on it anew before the next step that the host is
 *  told of.   @return whether there was one */
int nb6_follow_one(struct nb6_sim *sim, struct nb6_follow *f, struct nb6_keep *keep);
/** Motions up to a block with what acted on them before, and what acts on them now: a transaction of its own. After it
 *  the bodies are those of the notes.
 *  @param[in] note [n] of one block, at time sim->ti_now
 *  @return NBC_OK; NBC_NO_MEMORY; as nb6_step_pairs_follow */
int nb6_follow_notes(struct nb6_sim *sim, struct nb6_follow *f, struct nb6_keep *keep, struct nb6_dev *home, int64_t n,
                     const struct nb6_dev_note *note, struct nbc_error *err);
/** The state is home, or is what it was before: at time sim->ti_now none lags. */
void nb6_follow_end(const struct nb6_sim *sim, struct nb6_follow *f);
void nb6_follow_free(struct nb6_follow *f);

#endif
