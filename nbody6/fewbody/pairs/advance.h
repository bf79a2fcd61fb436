/** Relative motions in time. */
#ifndef NB6_PAIRS_ADVANCE_H
#define NB6_PAIRS_ADVANCE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_motion;
struct nb6_sim;

/** Which of the groups that are due. */
enum nb6_due {
    NB6_DUE_ALL,
    NB6_DUE_NOW, /**< but for those that may follow */
    NB6_DUE_REST /**< those that may follow later: no member of the block feels them, and they need no check */
};

/** Result of an advance. */
struct nb6_advance {
    int64_t n_due;  /**< groups that were due: pairs.due holds their leaders */
    int paused;     /**< 1: some of them are not there yet */
    double chain_s; /**< wall-clock seconds of all threads in chains */
};

/** Advance pairs whose next step ends at or before t, and chains that are needed then, in parallel. One call makes a
 * bounded number of evaluations of forces, so that a run can be asked to stop: if did->paused, the next call with the
 * same t goes on with the same bits, also after a checkpoint. The groups are `begun` until nb6_step_pairs has checked
 * them.
 *  @param[in] after, most  groups at most, the first due ones with leaders after this one (-1: all); of the rest none
 *                          pauses */
int nb6_subsystems_advance(struct nb6_sim *sim, nb6_time t, enum nb6_due which, int64_t after, int64_t most,
                           struct nb6_advance *did, struct nbc_error *err);
/** Is any group of the rest that has not only remote pairs due at the time of the present block? */
int nb6_subsystems_have_near_rest(const struct nb6_sim *sim);
/** Advance groups of remote pairs as far as whole steps go: those that have one of these bodies as a centre of mass or
 *  perturber, before it changes.   @param[in] body [n] */
int nb6_subsystems_follow(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, struct nb6_advance *did,
                          struct nbc_error *err);
/** The same with the next one with a leader after a slot (-1: the first). */
int nb6_subsystems_follow_next(struct nb6_sim *sim, nb6_time t, int64_t after, struct nb6_advance *did,
                               struct nbc_error *err);
/** May the steps of a group wait until its positions are needed, at the next step of one of its centres of mass or
 * perturbers? It may if no member could come apart before. The forces on it stay the same until then, and so do its
 * bits. */
int nb6_group_can_wait(const struct nb6_sim *sim, nb6_slot leader);
/** Bring copies of all motions to exactly t; those that are ahead, because the run was stopped within a block, stay.
 *  @param[in] pausing  1: as above; 0: all at once */
int nb6_subsystems_advance_copy(const struct nb6_sim *sim, const struct nb6_motion *copy, nb6_time t, int pausing,
                                int *paused, struct nbc_error *err);
/** Bring one pair or chain to exactly time t. */
int nb6_pair_finish(struct nb6_sim *sim, nb6_slot slot, nb6_time t, struct nbc_error *err);
/** Begin with the present list, after nb6_pair_finish. */
int nb6_pair_start(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err);
/** Both of several pairs at the same time, each of which is a group of one and is saved: as a part of a job, which has
 *  scratch (nb6_field_reserve). */
int nb6_pair_finish_beside(struct nb6_sim *sim, int part, nb6_slot slot, nb6_time t, struct nbc_error *err);
int nb6_pair_start_beside(struct nb6_sim *sim, int part, nb6_slot slot, struct nbc_error *err);

#endif
