/** Undo records for the host service: slots and bodies in host memory as they were at the import, of which the host
 *  overwrites some while the image is ahead. */
#ifndef NB6_ENGINE_HOST_SERVICE_KEEP_H
#define NB6_ENGINE_HOST_SERVICE_KEEP_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/transaction.h"

#include <stdint.h>

struct nb6_sim;

/** A body before it was overwritten, and its list. */
struct nb6_kept_body {
    struct nb6_saved_body was;
    int32_t nnb, *list; /**< [nnb]; NULL: the list was not overwritten */
};

struct nb6_keep {
    int began; /**< 1: the counters are recorded */
    struct nb6_counters counters;
    struct nb6_run_book run_book;
    struct nb6_bookkeeping book;
    nb6_time ti_now;
    int64_t bodies, slots;      /**< capacity of the following two */
    int32_t *body_at, *slot_at; /**< 1 + index in the tables; 0: not recorded */
    int64_t n_body, body_room, n_slot, slot_room;
    struct nb6_kept_body *body;
    struct nb6_saved_slot *slot;
    int64_t n_aged, aged_room;
    struct nb6_saved_aged *aged; /**< [n_aged] */
};

/** Before the first write: record counters, books and time.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_keep_begin(struct nb6_keep *keep, const struct nb6_sim *sim, struct nbc_error *err);
/** Before a body is overwritten, and, with_list, its list: record it.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_keep_body(struct nb6_keep *keep, const struct nb6_sim *sim, int32_t i, int with_list, struct nbc_error *err);
/** Record slots and bodies that the open transaction has saved.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_keep_saved(struct nb6_keep *keep, const struct nb6_sim *sim, struct nbc_error *err);
/** Record stars that age, which the open transaction has saved.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_keep_aged(struct nb6_keep *keep, const struct nb6_sim *sim, struct nbc_error *err);
/** Drop all records. */
void nb6_keep_drop(struct nb6_keep *keep);
/** Restore all that was recorded. No transaction is open. */
void nb6_keep_restore(struct nb6_keep *keep, struct nb6_sim *sim);
void nb6_keep_free(struct nb6_keep *keep);

#endif
