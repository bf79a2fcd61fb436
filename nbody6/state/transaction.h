/** Transactions: the changes of the state by a block step, a change of members or an adjust are committed as a whole or
 * rolled back.
 *
 *  Code that writes to a body, or to a slot of the table of subsystems, saves it before. The first copy counts, and
 * nothing is saved while no transaction is open (at the start of a run). GPUIRR saves lists (gpuirr_begin). Counters
 * and books are copied when the transaction begins. Events that are raised within a transaction reach the observer
 * after the commit. Derived data (sources, groups, resolvers) of what was saved are found anew after a rollback, which
 * is also the end of many looks at what a block of an image leads to. */
#ifndef NB6_TRANSACTION_H
#define NB6_TRANSACTION_H

#include "common/nbc.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/subsystems.h"

#include <stdint.h>

struct nb6_sim;

/** A body as it was. */
struct nb6_saved_body {
    nb6_index i;
    int32_t level; /**< in the schedule, -1: it was not due at any time */
    struct nb6_body body;
    struct nb6_star star;
};

/** A slot as it was. */
struct nb6_saved_slot {
    nb6_stored_slot slot;
    int32_t n_perturber, capacity;
    nb6_index *perturber;    /**< [n_perturber] */
    struct nb6_chain *chain; /**< the saved chain, if has_chain; NULL: no memory yet */
    int32_t has_chain;
    struct nb6_subsystem system;
    struct ks_pair ks;
};

/** The state of a star that ages as it was. */
struct nb6_saved_aged {
    nb6_index i;
    struct nb6_aged aged;
};

/** The open transaction; memory is kept for the next one. Zero-initialise. */
struct nb6_transaction {
    int open;
    int64_t n; /**< stars */
    struct nb6_counters counters;
    struct nb6_run_book run_book;
    struct nb6_bookkeeping book;
    nb6_time ti_origin;
    int64_t nb_cap, n_slot, count, n_chain;
    int64_t n_pulls, n_renumbered; /**< of touched.h */
    int are_all_saved;             /**< 1: all bodies and slots, which may get other numbers */

    int64_t bodies, slots; /**< room of the following two */
    int8_t *body_is_saved, *slot_is_saved;
    int64_t n_body, body_capacity;
    struct nb6_saved_body *body; /**< [n_body] */
    int64_t n_saved, slot_capacity;
    struct nb6_saved_slot *slot; /**< [n_saved] */
    int64_t n_aged, aged_capacity;
    struct nb6_saved_aged *aged; /**< [n_aged] the first of a star counts */
    int64_t n_event, event_capacity;
    int64_t n_untold;        /**< events of committed transactions that the observer has not received yet */
    struct nb6_event *event; /**< [n_event] in the order in which they were raised */
};

/** @return NBC_OK; NBC_NO_MEMORY: none is open then */
int nb6_transaction_begin(struct nb6_sim *sim, struct nbc_error *err);
/** Commit, then notify the observer of the events.   @return NBC_OK; the status of the observer */
int nb6_transaction_commit_and_notify(struct nb6_sim *sim, struct nbc_error *err);
/** The two halves of it: the first cannot fail; the second notifies the observer, once. */
void nb6_transaction_commit(struct nb6_sim *sim);
int nb6_transaction_notify(struct nb6_sim *sim, struct nbc_error *err);
/** Discard the waiting events: their block was lost. */
void nb6_transaction_forget_events(struct nb6_sim *sim);
/** The state is that at nb6_transaction_begin again, bit for bit; the events are discarded. Cannot fail. */
void nb6_transaction_rollback(struct nb6_sim *sim);
/** Restore an existing slot. Slots of chains, resolvers and groups follow later. */
void nb6_slot_restore(struct nb6_subsystems *subsystems, const struct nb6_saved_slot *from);
/** Drop all copies; no transaction is open then. For transaction_end.c. */
void nb6_transaction_close(struct nb6_transaction *transaction);
void nb6_transaction_free(struct nb6_transaction *transaction);

/** Keep an event until then.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_transaction_keep(struct nb6_transaction *transaction, const struct nb6_event *event);

/** Before a body's record or list changes, or its place in the schedule. */
int nb6_save_body(struct nb6_sim *sim, int64_t i, struct nbc_error *err);
/** Before anything about a slot changes: pair, motion, chain, perturbers. The slot may be free. */
int nb6_save_slot(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err);
/** The same of n slots, for which room is made at once: in the first block all pairs choose perturbers. */
int nb6_save_slots(struct nb6_sim *sim, int64_t n, const nb6_stored_slot *slot, struct nbc_error *err);
/** Before a motion is brought to another time: the slot, and the chains among its perturbers, which go ahead of it. */
int nb6_save_motion(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err);
/** Before the state of a star that ages changes (ageing.h). */
int nb6_save_aged(struct nb6_sim *sim, nb6_index i, struct nbc_error *err);
/** Before bodies get other numbers: all bodies and all slots, and all stars that age. */
int nb6_save_all(struct nb6_sim *sim, struct nbc_error *err);
/** The same before a change of all polynomials that does not touch bodies (nb6_touch_by_pulls); bodies that change
 *  otherwise are saved by nb6_save_body too. */
int nb6_save_all_as_they_are(struct nb6_sim *sim, struct nbc_error *err);

#endif
