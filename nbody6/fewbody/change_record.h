/** Record of a change of members: new bodies, slots that begin, events to raise. */
#ifndef NB6_CHANGE_RECORD_H
#define NB6_CHANGE_RECORD_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"

#include <stdint.h>

struct nb6_sim;

/** An event that is raised after all new bodies have started: only then it is known which systems are resolved. */
struct nb6_announcement {
    struct nb6_event event;
    double before;            /**< nb6_add_apart of all that vanished */
    nb6_stored_slot after[2]; /**< slots that came; -1: none */
    int32_t described;        /**< 1: the event describes the pair or chain of after[0] at that time */
};

struct nb6_change {
    int64_t n_touched, touched_room;
    nb6_stored_slot *touched; /**< [n_touched] slots with changed lists of perturbers, ascending */
    nb6_index *fresh;         /**< bodies that are new */
    int64_t n_fresh;
    nb6_stored_slot *formed; /**< slots with a new motion */
    int64_t n_formed;
    struct nb6_announcement *say;
    int64_t n_say;
};

/** Slots that have a body in their list which is about to vanish make their last step with it. */
int nb6_change_finish_others(struct nb6_sim *sim, int32_t vanishing, struct nb6_change *c, struct nbc_error *err);
void nb6_change_add(struct nb6_change *c, nb6_index fresh);
/** The perturbers of a slot change.   @param[out] is_new  0: that is known already   @return NBC_OK; NBC_NO_MEMORY */
int nb6_change_touch(struct nb6_change *c, nb6_slot slot, int *is_new, struct nbc_error *err);
/** A slot is no longer one of them: what was in it has ended. */
void nb6_change_let_go(struct nb6_change *c, nb6_slot slot);
/** An announcement to fill in. */
struct nb6_announcement *nb6_change_say(struct nb6_change *c, enum nb6_event_kind kind);

#endif
