/** Asynchronous motion of remote pairs (fewbody/pairs/remote.h), while an engine advances blocks on an image
 *  (engine/host_service.h): they move when the host gets a note of a step of a body that acts on them, or is idle. */
#ifndef NB6_ENGINE_HOST_SERVICE_FOLLOW_H
#define NB6_ENGINE_HOST_SERVICE_FOLLOW_H

#include "common/nbc.h"
#include "nbody6/engine/host_service_keep.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Progress of remote pairs. Zero-initialise. */
struct nb6_follow {
    int lags;           /**< 1: some may lag behind t_reached, up to which the host has notes of all steps */
    nb6_time t_reached; /**< time of a block */
    nb6_slot last;      /**< slot that moved last; NB6_NO_SLOT: none has since the notes of this block */
    int status;         /**< status of motions that were made in idle time */
    struct nbc_error error;
    int64_t told_room;
    int32_t *told; /**< bodies of the notes */
};

/** @return status of the motions that were made in idle time */
int nb6_follow_status(const struct nb6_follow *f, struct nbc_error *err);
/** All blocks up to time t are committed, and the host has all their notes. */
void nb6_follow_reached(const struct nb6_sim *sim, struct nb6_follow *f, nb6_time t);
/** Move one of the pairs that lag, in a transaction of its own. No body acts on it anew before the next note.
 *  @return whether there was one */
int nb6_follow_one(struct nb6_sim *sim, struct nb6_follow *f, struct nb6_keep *keep);
/** Take notes of steps, in a transaction of its own: pairs move up to the block with the old forces of these bodies,
 *  then take the new ones. Afterwards the bodies are those of the notes.
 *  @param[in] note [n] of one block, at time sim->ti_now
 *  @return NBC_OK; NBC_NO_MEMORY; as nb6_step_pairs_follow */
int nb6_follow_notes(struct nb6_sim *sim, struct nb6_follow *f, struct nb6_keep *keep, struct nb6_dev *home, int64_t n,
                     const struct nb6_dev_note *note, struct nbc_error *err);
/** The image has been exported, or is lost: at time sim->ti_now no pair lags. */
void nb6_follow_end(const struct nb6_sim *sim, struct nb6_follow *f);
void nb6_follow_free(struct nb6_follow *f);

#endif
