/** Bodies that may have changed in host memory since it was equal to the image of an engine (engine/engine.h): their
 *  records, lists or places in the schedule. Whatever changes a body saves it before (transaction.h), or is a block of
 *  the host engine; both touch it. A body that was touched may be as it was. */
#ifndef NB6_TOUCHED_H
#define NB6_TOUCHED_H

#include "nbody6/state/body.h"

#include <stdint.h>

/** Zero-initialise: nothing is known. */
struct nb6_touched {
    int known;      /**< 1: up to `edits`, `body` has all of them; 0: it may be any */
    uint64_t edits; /**< the count of changes (sim->edits) up to which they are here */
    int64_t n, room;
    nb6_index *body; /**< [n] in the order in which they were touched, each once */
    int64_t marks;   /**< room of the following one */
    int8_t *mark;    /**< 1: it is in `body` */
};

/** From now on: no body yet.   @param[in] edits  the count now */
void nb6_touched_begin(struct nb6_touched *touched, uint64_t edits);
/** It may be any body. */
void nb6_touched_any(struct nb6_touched *touched);
/** A body may change, which the count gets. Without memory it may be any. */
void nb6_touch(struct nb6_touched *touched, uint64_t *edits, int64_t i);
/** Whether `body` has all of them up to this count: nobody else has changed bodies meanwhile. */
int nb6_touched_are_known(const struct nb6_touched *touched, uint64_t edits);
void nb6_touched_free(struct nb6_touched *touched);

#endif
