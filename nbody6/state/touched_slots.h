/** Systems that may have changed since an engine image had records of all of them (engine/host_service.h). Whatever
 *  changes a slot saves it before (transaction.h), which touches it. A slot that was touched may be as it was. */
#ifndef NB6_TOUCHED_SLOTS_H
#define NB6_TOUCHED_SLOTS_H

#include "nbody6/state/body.h"

#include <stdint.h>

/** Numbers on which records of all systems depend beside their slots. */
struct nb6_slot_criteria {
    double r_min, dt_min, e_close, energy_scale, mean_mass;
    int64_t n, have_radii;
    nb6_time origin;
};

/** Zero-initialise: nothing is known. */
struct nb6_touched_slots {
    int known; /**< 1: `slot` has all of them; 0: it may be any */
    struct nb6_slot_criteria criteria;
    int64_t n, room;
    nb6_stored_slot *slot; /**< [n] in the order in which they were touched, each once */
    int64_t marks;         /**< room of the following one */
    int8_t *mark;          /**< 1: it is in `slot` */
};

/** From now on: no slot yet. */
void nb6_touched_slots_begin(struct nb6_touched_slots *touched, const struct nb6_slot_criteria *criteria);
/** It may be any slot. */
void nb6_touched_slots_any(struct nb6_touched_slots *touched);
/** A slot may change. Without memory it may be any. */
void nb6_touch_slot(struct nb6_touched_slots *touched, nb6_slot slot);
void nb6_touched_slots_free(struct nb6_touched_slots *touched);

#endif
