/** Chains of a run (DESIGN section 8): compact systems of three and more stars, each in the place of a pair. Private to
 *  libnbody6.
 *
 *  A chain owns a slot of the table of pairs (pairs.h): body n + slot is its centre of mass, and the list of
 * perturbers, the corrections and the energy are those of that slot. Its stars move by regularization/chain.h, relative
 * to the centre of mass, which the block step integrates. A chain stands at the last block time at which its centre of
 * mass or one of its perturbers was due, or at the end of the last step of a pair that it resolves and is resolved by.
 *
 *  Two bodies become a chain (or go on as a larger one) and a chain becomes two bodies: every change is one of these,
 *  so that neighbour lists change as they do for pairs.
 *
 *  Two chains that have one another in their lists act on each other as parts on a point of mass, twice: U = U(parts,
 *  point) + U(point, parts) - U(point, point). What this potential lacks is the product of both tides; where that would
 *  count, they are joined. So none has to know the other's inside at a time of its own. */
#ifndef NB6_CHAINS_H
#define NB6_CHAINS_H

#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "regularization/chain.h"

struct nb6_sim;
struct nb6_pairs;
struct nb6_motion;
struct nb6_field;
struct nb6_decisions;

/** Two stars became one. */
struct nb6_merger {
    double t;            /**< relative to sim->ti_origin */
    int32_t star[2];     /**< the one that goes on, and the one that is gone */
    double mass, radius; /**< of the one that goes on, now */
    double energy;       /**< internal energy before less that after */
    double r;            /**< distance of the two at their pericentre */
};

struct nb6_chain {
    int32_t slot;                            /**< -1: free */
    int32_t star[CHAIN_MAX];                 /**< numbers of the members, in the order of state.id, which are names */
    int32_t most;                            /**< largest number of members so far */
    double x[CHAIN_MAX][3], v[CHAIN_MAX][3]; /**< members relative to the centre of mass at state.t, in that order */
    double t_formed;                         /**< absolute */
    int64_t n_merged;                        /**< mergers that the run does not know of yet */
    struct nb6_merger merged[CHAIN_MAX];
    int64_t steps, forces; /**< of state, as far as they are in the counters of the run */
    int64_t told;          /**< of state.unreached, when NB6_EVENT_TOLERANCE last told of them */
    struct chain state;    /**< its own centre of mass stays at zero */
};

/** What a chain, or a pair that becomes one, has to do at the end of the block. */
enum nb6_chain_change_kind {
    NB6_CHAIN_JOIN, /**< bodies i and j become one chain */
    NB6_CHAIN_SPLIT /**< the chain of body i gives up members */
};
struct nb6_chain_change {
    enum nb6_chain_change_kind kind;
    int32_t i, j;             /**< j: of a join; a centre of mass comes first */
    struct chain_group group; /**< of a split */
};

/* ---- container (chains.c) */

/** The chain of a slot, NULL for a pair. */
struct nb6_chain *nb6_chain_of(const struct nb6_pairs *pairs, int64_t slot);
/** Whether chains are looked for. */
int nb6_chains_enabled(const struct nb6_sim *sim);
/** A free chain.   @return NULL without memory */
struct nb6_chain *nb6_chain_take(struct nb6_pairs *pairs, int64_t slot);
/** Give a chain's memory back; the slot holds a pair then. */
void nb6_chain_release(struct nb6_pairs *pairs, int64_t slot);
/** Stars of a body: itself, those of a pair, of a hierarchy, of a chain.   @param[out] star [CHAIN_MAX]   @return their
 * number */
int nb6_stars_of(const struct nb6_sim *sim, int64_t body, int32_t star[]);
/** Distance of the farthest member from the centre of mass. */
double nb6_chain_size(const struct nb6_chain *chain);
/** Internal energy: that of the places and velocities, or, while a pair inside is slowed down and its energy goes up
 * and down more than in truth, what it should be. */
double nb6_chain_energy(const struct nb6_chain *chain);
/** Places of the members from the state, after it changed; centre of mass to zero. */
void nb6_chain_refresh(struct nb6_chain *chain);

/* ---- motion (chain_motion.c) */

/** Bring the chain of a slot to exactly t, or on its way there until field->left evaluations are made: field->paused is
 *  1 then.   @param[in,out] field  set for that slot */
int nb6_chain_advance(struct nb6_field *field, const struct nb6_motion *motion, int64_t slot, double t,
                      struct nbc_error *err);
/** Whether somebody needs the members at block time t: the centre of mass or a perturber is due. */
int nb6_chain_is_due(const struct nb6_sim *sim, const struct nb6_chain *chain, nb6_time t);
/** Radius that makes the system in a slot compact: a chain is not wider. */
double nb6_compact_radius(const struct nb6_sim *sim, int64_t slot);
/** Whether the chain of a slot, as it stands, has to give up a part.   @param[out] group  of it */
int nb6_chain_must_change(const struct nb6_sim *sim, int64_t slot, struct chain_group *group);

/* ---- changes (chain_search.c, pair_events.c) */

/** What comes near a pair or chain: the perturber with the largest tide. */
struct nb6_intruder {
    int32_t j;           /**< -1: none */
    double x[3], v[3];   /**< seen from the centre of mass */
    double r2, rv, tide; /**< squared distance, x.v, mass over distance cubed */
};
struct nb6_intruder nb6_find_intruder(const struct nb6_sim *sim, int64_t slot, nb6_time t);

/** Pairs and chains of the last block that have to take another body in are added to the decisions. */
int nb6_chains_search(struct nb6_sim *sim, struct nb6_decisions *decisions, struct nbc_error *err);
/** Tell the observer that a chain ends, without ending it. */
int nb6_chain_report_end(struct nb6_sim *sim, int64_t slot, struct nbc_error *err);

#endif
