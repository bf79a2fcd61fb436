/** Changes of host memory since it was equal to the image of an engine (engine/engine.h): of records, lists
 *  or places in the schedule of some bodies. Whatever changes a body saves it before (transaction.h), or is a block of
 *  the host engine; both touch it. A body that was touched may be as it was. Pulls that leave the polynomials of all
 *  bodies (fewbody/exchange.h) touch none: what they are is kept instead, so that an image can do the same. */
#ifndef NB6_TOUCHED_H
#define NB6_TOUCHED_H

#include "nbody6/state/body.h"
#include "nbody6/state/pull.h"

#include <stdint.h>

/** Sources of pulls that are kept: with more of them moving all bodies is as fast as changing all. */
enum { NB6_MOST_PULLS = 4096 };

/** Zero-initialise: nothing is known. */
struct nb6_touched {
    int known;      /**< 1: up to `edits`, `body` has all of them; 0: it may be any */
    uint64_t edits; /**< the count of changes (sim->edits) up to which they are here */
    int64_t n, room;
    nb6_index *body; /**< [n] in the order in which they were touched, each once */
    int64_t marks;   /**< room of the following one */
    int8_t *mark;    /**< 1: it is in `body` */
    int64_t n_pulls, pulls_room;
    struct nb6_touch_by_pulls {
        nb6_time t;
        int64_t n, first; /**< sources from this one on */
    } * pulls;            /**< [n_pulls] one after the other */
    int64_t n_source, source_room;
    struct nb6_pull_source *source; /**< [n_source] */
    int64_t n_renumbered;           /**< how often bodies got other numbers */
    int64_t n_before, n_now;        /**< bodies then and now; 0: all have the numbers that they had */
    nb6_index *moved;               /**< [n_before] numbers now; NB6_NOBODY: gone */
    nb6_index *was;                 /**< [n_now] numbers then; NB6_NOBODY: it came later */
};

/** From now on: no body yet.   @param[in] edits  the count now */
void nb6_touched_begin(struct nb6_touched *touched, uint64_t edits);
/** It may be any body. */
void nb6_touched_any(struct nb6_touched *touched);
/** A body may change, which the count gets. Without memory it may be any. */
void nb6_touch(struct nb6_touched *touched, uint64_t *edits, int64_t i);
/** The pulls of n sources at a time leave all bodies that take part, touched or not, as nb6_exchange_pulls does it,
 * which the count gets. Without memory, or if they are too many, it may be any body.   @param[in] source [n] bodies
 * ascend */
void nb6_touch_by_pulls(struct nb6_touched *touched, uint64_t *edits, nb6_time t, int64_t n,
                        const struct nb6_pull_source *source);
/** Bodies get other numbers, in the same order, and those that go are not touched any more, which the count gets.
 * Without memory it may be any body.
 *  @param[in] moved [n_before] new numbers; NB6_NOBODY: it goes   @param[in] n_now  bodies after that */
void nb6_touch_numbers(struct nb6_touched *touched, uint64_t *edits, int64_t n_before, const nb6_index *moved,
                       int64_t n_now);
/** Number that a body had when image and host memory were equal; NB6_NOBODY: it had none. */
nb6_index nb6_touched_was(const struct nb6_touched *touched, int64_t i);
/** A transaction is rolled back that began when there were so many pulls and changes of numbers. */
void nb6_touched_roll_back(struct nb6_touched *touched, int64_t n_pulls, int64_t n_renumbered);
/** Whether `body` and `pulls` have all of it up to this count: nobody else has changed bodies meanwhile. */
int nb6_touched_are_known(const struct nb6_touched *touched, uint64_t edits);
void nb6_touched_free(struct nb6_touched *touched);

#endif
