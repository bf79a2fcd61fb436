/** Changes of who is a body: pairs that form and end, chains that grow and shrink. All happen at the end of a block, at
 *  its time, one after the other; then all new bodies get forces and steps together. Private to libnbody6. */
#ifndef NB6_CHANGE_H
#define NB6_CHANGE_H

#include "nbody6/state/sim.h"

/** What the end of a block brings. Applied in this order: pairs that end, chains, pairs that form. */
struct nb6_decisions {
    int64_t n_end, n_chain, n_form;
    int32_t *end;                   /**< slots of pairs */
    struct nb6_chain_change *chain; /**< those that split come first */
    int32_t (*form)[2];             /**< stars */
};

/** Whether something happens to a body already. */
int nb6_is_decided(const struct nb6_decisions *decisions, int32_t i);

/** An event that is told once everybody has started: only then it is known who resolves whom. */
struct nb6_announcement {
    struct nb6_event event;
    double before;     /**< nb6_potential_apart of all that vanished */
    int32_t after[2];  /**< slots that came; -1: none */
    int32_t described; /**< 1: the event describes the pair or chain of after[0], as it is then */
};

struct nb6_change {
    int8_t *touched; /**< [capacity] slots whose lists of perturbers change */
    int32_t *fresh;  /**< bodies that are new */
    int64_t n_fresh;
    int32_t *formed; /**< slots whose motion begins */
    int64_t n_formed;
    struct nb6_announcement *say;
    int64_t n_say;
};

/* ---- slots and bodies (pair_make.c) */

/** The lowest free slot. */
int64_t nb6_slot_free(const struct nb6_pairs *pairs);
/** A slot that may be free is used from now on. */
void nb6_slot_open(struct nb6_sim *sim, int64_t slot);
/** Take a body out of the block steps; it stays finite for GPUIRR. */
int nb6_body_rest(struct nb6_sim *sim, int32_t i, struct nbc_error *err);
/** A star, or the centre of mass of a slot, at time t, without forces. */
void nb6_body_place(struct nb6_sim *sim, int32_t i, double mass, const double x[3], const double v[3], double r_nb,
                    nb6_time t);
/** Two stars, relative to anything, begin a KS pair in a slot.
 *  @param[in] place  a body whose neighbours tell how far apart stars are there   @return NBC_OK; NBC_BAD_ARGUMENT
 * (coincident) */
int nb6_slot_hold_pair(struct nb6_sim *sim, int64_t slot, const int32_t star[2], const double x[2][3],
                       const double v[2][3], nb6_time t, int64_t place, struct nbc_error *err);
/** The slot has no members any more, and no perturbers. */
int nb6_slot_clear(struct nb6_sim *sim, int64_t slot, struct nbc_error *err);

/* ---- energy and events (pair_events.c) */

/** Potential energy, without the factor of the slot's own attraction, that bodies which a slot does not resolve have
 *  with its stars in one place, less that with the stars where they are. What a change leaves in the total energy is
 * the sum over the slots that vanish less the sum over those that come.   @param[in] except  body left out, -1: none */
double nb6_potential_apart(const struct nb6_sim *sim, int64_t slot, nb6_time t, int32_t except);
/** What the places of the stars in a slot add to the potential energy with its perturbers and, if it acts, with the
 *  galaxy, beyond that of a point of mass: lost when they become one star. All stand at time t, or are predicted to it.
 */
double nb6_potential_inside(const struct nb6_sim *sim, int64_t slot, nb6_time t);
/** Fill in an event about the pair in a slot, or about a chain. */
void nb6_describe_pair(const struct nb6_sim *sim, int64_t slot, enum nb6_pair_reason reason, struct nb6_event *event);
void nb6_describe_chain(const struct nb6_sim *sim, int64_t slot, struct nb6_event *event);
/** Book the energy of a change and tell the observer. */
int nb6_change_tell(struct nb6_sim *sim, struct nb6_event *event, double energy_change, struct nbc_error *err);

/** Tell the observer of a pair or chain that has done more than half of the work of the run, and of a chain that does
 *  not reach its tolerance; again when it has done twice as much. */
int nb6_slot_tell(struct nb6_sim *sim, int64_t slot, struct nbc_error *err);

/* ---- parts of a change (pair_change.c, chain_change.c) */

/** Apply all decisions at the time of the last block: lists, polynomials, perturbers, energy, events. */
int nb6_pairs_change(struct nb6_sim *sim, const struct nb6_decisions *decisions, struct nbc_error *err);

/** Slots that have a body in their list which is about to vanish make their last step with it. */
int nb6_change_finish_others(struct nb6_sim *sim, int32_t vanishing, struct nb6_change *c, struct nbc_error *err);
void nb6_change_add(struct nb6_change *c, int32_t fresh);
/** An announcement to fill in. */
struct nb6_announcement *nb6_change_say(struct nb6_change *c, enum nb6_event_kind kind);
/** Bodies i and j become a chain, in the slot of i, or go on in the chain of i. */
int nb6_chain_join(struct nb6_sim *sim, int32_t i, int32_t j, struct nb6_change *c, struct nbc_error *err);
/** The chain of a slot gives up a group: a star, a pair or a chain of its own. With two left it becomes a pair. */
int nb6_chain_split(struct nb6_sim *sim, int64_t slot, const struct chain_group *group, struct nb6_change *c,
                    struct nbc_error *err);

#endif
