/** Regularized pairs of a run: two stars become one centre of mass, body n + slot, and their
 * relative motion is integrated by regularization/ks.h.
 *
 *  A pair either has perturbers, a sorted list of bodies chosen by the tidal criterion, and is integrated, or it has
 * none and moves on its Kepler orbit, at no cost, until one comes near. Body j and pair p see each other resolved, that
 * is, every force between them is that of or on the two components, if and only if j is in the list of p; otherwise p
 * is a point of mass to j, and j, if it is a neighbour, acts on the relative motion in p by the first order of its tide
 * alone. So action and reaction belong to one
 * potential, which nb6_subsystems_potential gives for the energy. Two pairs that are in each other's list resolve one
 * another and form, with all others linked that way, a group, which one thread advances in the order of time. Times are
 * relative to sim->ti_origin. */
#ifndef NB6_SUBSYSTEMS_H
#define NB6_SUBSYSTEMS_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <stddef.h>
#include <stdint.h>

struct ks_pair;
struct nb6_kind;
struct nb6_sim;
struct nb6_tide_sources;
struct nb6_vector_sums;
struct nb6_views;

/** A field of tides: field times x is the relative acceleration of two bodies at x from each other. */
struct nb6_tide {
    nb6_time t;                    /**< where it was summed */
    double field[6], field_dot[6]; /**< symmetric, xx xy xz yy yz zz; and its derivative */
};

/** The tide of all bodies beyond its list on the system in a slot. */
struct nb6_far_tide {
    nb6_slot slot;
    struct nb6_tide tide;
};

/** Kinds of systems (fewbody/kind.h), those that the state itself uses; fewbody/kinds.def has all. */
enum nb6_kind_number { NB6_PAIR, NB6_CHAIN, NB6_HIERARCHY };

/** The orbit of a pair as distant bodies feel it: that at the last change of its perturbers. */
struct nb6_seen_orbit {
    struct ks_ellipse ellipse;
    double apocentre, h; /**< largest separation; energy for each unit of reduced mass */
};

/** Data of a subsystem beside its motion. */
struct nb6_subsystem {
    nb6_index member[2];   /**< stars; NB6_NOBODY: the slot is free; of a chain, the first two; of a hierarchy, also a
                              centre   of mass (hierarchies.h) */
    int32_t kind;          /**< enum nb6_kind_number */
    int32_t primordial;    /**< 1: a pair from the start */
    int32_t ending;        /**< enum nb6_pair_reason + 1 if it ends with the present block; 1: a chain that changes */
    int32_t chain;         /**< 0: a pair; else 1 + number of the chain that has this slot */
    int32_t approaching;   /**< 1: the stars approached each other at the last check; 2: they have met */
    int32_t galactic;      /**< 1: the galaxy acts on the relative motion, not only on the centre of mass */
    int32_t begun;         /**< 1: leader of a group that was due in the present block, and was not checked since */
    int32_t remote;        /**< 1: all bodies that it resolves are so far away that both feel the mean over orbits
                                (fewbody/pairs/remote.h) */
    double r_end;          /**< separation beyond which a soft or unbound pair may end */
    double t_formed;       /**< absolute */
    double gamma_max;      /**< largest perturbation met at block times */
    double t_check;        /**< absolute: before then no neighbour comes near a pair without perturbers, and the
                                perturbers of another one stay; other bodies come with a new list, at a regular step */
    int64_t steps, forces; /**< of ks, the part included in the counters of the run */
    int64_t work, told;    /**< forces between two bodies so far; their number at the last NB6_EVENT_BUSY */
    struct nb6_tide tide;  /**< of neighbours too weak to be perturbers, and of all bodies that are no neighbours */
    struct nb6_tide far;   /**< the second part, at the last regular step of the centre of mass */
    struct nb6_seen_orbit orbit; /**< of a remote pair */
};

/** Bodies that perturb a pair, ascending. */
struct nb6_perturbers {
    int32_t n, capacity;
    nb6_index *body;
    nb6_stored_slot *next_resolver; /**< [n] next system that resolves each of them (resolvers.h); memory of body */
};

/** Two stars became one. */
struct nb6_merger {
    double t;            /**< relative to sim->ti_origin */
    nb6_index star[2];   /**< the one that goes on, and the one that is gone */
    double mass, radius; /**< of the one that goes on, now */
    double energy;       /**< internal energy before less that after */
    double r;            /**< distance of the two at their pericentre */
};

struct nb6_chain {
    nb6_stored_slot slot;                    /**< NB6_NO_SLOT: free */
    nb6_index star[CHAIN_MAX];               /**< numbers of the members, in the order of state.id, which are names */
    int32_t most;                            /**< largest number of members so far */
    double x[CHAIN_MAX][3], v[CHAIN_MAX][3]; /**< members relative to the centre of mass at state.t, in that order */
    double t_formed;                         /**< absolute */
    int64_t n_merged;                        /**< mergers that are not committed to the run yet */
    struct nb6_merger merged[CHAIN_MAX];
    int64_t steps, forces; /**< of state, the part included in the counters of the run */
    int64_t told;          /**< of state.unreached, at the last NB6_EVENT_TOLERANCE */
    double galaxy_work;    /**< of a field that depends on time, on the relative motions, not booked yet */
    struct chain state;    /**< its own centre of mass stays at zero */
};

/** Relative motions: those of the run, or a copy of them at another time. */
struct nb6_motion {
    struct ks_pair *ks;      /**< [n_slot] */
    struct nb6_chain *chain; /**< [n_chain] */
};

/** Change of a chain, or of a pair that becomes one, at the end of the block. */
enum nb6_chain_change_kind {
    NB6_CHAIN_JOIN,  /**< bodies i and j, and those that join with them, become one chain */
    NB6_CHAIN_SPLIT, /**< the chain of body i gives up members */
    NB6_CHAIN_GATHER /**< single stars i, j and more become one chain */
};

struct nb6_chain_change {
    enum nb6_chain_change_kind kind;
    nb6_index i, j;                  /**< j: of a join; a centre of mass comes first */
    int32_t n_more, more[CHAIN_MAX]; /**< of a join: bodies that join with them (fewbody/chains/company.h); of stars
                                        that gather: those beside i and j */
    struct chain_group group;        /**< of a split */
};

/** Memory of one thread that moves systems (fewbody/pairs/field.h). */
struct nb6_field_scratch {
    size_t n, points; /**< room for so many perturbers, and for so many points */
    const struct nb6_body **path;
    nb6_index *resolved;
    double *mass, (*dx)[3], (*dv)[3];
    struct nb6_external_series *series; /**< the field about places where systems have been; NULL where none acts */
};

/** That of all threads, by their part of the work. Kept from call to call: a cluster moves pairs in each of its blocks.
 */
struct nb6_field_scratches {
    int parts;
    struct nb6_field_scratch *part;
};

struct nb6_subsystems {
    int64_t capacity;                    /**< slots with memory */
    int64_t n_slot;                      /**< slots in use lie in [0, n_slot) */
    int64_t count;                       /**< slots that are in use: pairs and chains now */
    const struct nb6_kind *const *kinds; /**< [n_kind] by enum nb6_kind_number */
    int64_t n_kind;
    struct nb6_subsystem *system;
    struct ks_pair *ks;              /**< [slot] */
    struct nb6_chain *chain;         /**< [n_chain] */
    int64_t n_chain, chain_capacity; /**< chains in use lie in [0, n_chain) */
    struct nb6_perturbers *pert;
    int64_t longest;              /**< no list in pert has been longer */
    nb6_stored_slot *resolved_by; /**< [bodies] first system with this body in its list (resolvers.h) */
    nb6_stored_slot *leader;      /**< [slot] lowest slot of the group; the slot itself for a group of one */
    nb6_stored_slot *follower;    /**< [slot] next member of the group, ascending; NB6_NO_SLOT: none */
    double *next;     /**< [slot] of a leader: when the next step of its group ends; INFINITY: nothing to integrate;
                           -INFINITY: a call has begun with it */
    int64_t n_listed; /**< slots on which something acts, when groups were linked last (groups.h) */
    nb6_stored_slot *listed;  /**< [n_listed] ascending */
    int8_t *is_listed;        /**< [slot] */
    int64_t n_noted;          /**< slots that have changed since then (nb6_note_slot) */
    nb6_stored_slot *noted;   /**< [n_noted] */
    int8_t *is_noted;         /**< [slot] */
    int64_t free_from;        /**< no slot before this one is free */
    nb6_stored_slot *due;     /**< scratch: [slot] */
    nb6_stored_slot *changed; /**< scratch: [slot] */
    /** Scratch of the decisions of a block: bodies that become subsystems, chains that change. Grown by
     * nb6_step_decide. */
    nb6_index (*form)[2];
    struct nb6_chain_change *chain_change;
    int64_t form_capacity, change_capacity;
    nb6_index *source; /**< [n_source] bodies that take part, ascending: single stars and centres of mass */
    int64_t n_source;
    int64_t n_far;
    const struct nb6_far_tide
        *far; /**< [n_far] sums that an engine has made for the present block (engine/host_service.h) */
    int64_t holder_capacity;
    nb6_index *holder; /**< scratch of lists.c: bodies with a given body in their list */
    struct nb6_field_scratches *scratch;
    const struct nb6_vector_sums *sums;    /**< for this processor (fewbody/vector_sums.h) */
    struct nb6_tide_sources *tide_sources; /**< scratch of fewbody/pairs/tides.c; NULL: none yet */
    struct nb6_views *views; /**< of systems in the present block (fewbody/pairs/view.h); NULL: none yet */
};

/** Copies of all relative motions at the time last asked for: an adjust and a snapshot at one time share them. */
struct nb6_motions_now {
    nb6_time t;
    uint64_t blocks;
    int complete;
    struct nb6_motion motion; /**< ks NULL: there are none */
};

/** The relative motions of the run itself. */
static inline struct nb6_motion nb6_subsystems_motion(const struct nb6_subsystems *subsystems)
{
    return (struct nb6_motion){subsystems->ks, subsystems->chain};
}

/** Memory for n stars, the n_slot slots that are in use or n_pair, whichever is more, and for some more; data from a
 *  checkpoint are kept.
 *  @return 0 if there is none */
int nb6_subsystems_alloc(struct nb6_subsystems *subsystems, int64_t n, int64_t n_pair);
void nb6_subsystems_free(struct nb6_subsystems *subsystems);
/** Room for so many slots beside n stars; used ones are kept. Called through nb6_sim_reserve (start.h).
 *  @return 0 if there is no memory; nothing has changed then */
int nb6_subsystems_reserve(struct nb6_subsystems *subsystems, int64_t n, int64_t slots);
/** Slots for which memory is provided when so many are needed: a table that grows by single slots is copied rarely. */
int64_t nb6_subsystems_room(int64_t n_slot);
/** Free slots behind the last one in use are given up. */
void nb6_subsystems_trim(struct nb6_subsystems *subsystems);

/** Whether a slot is in use. */
static inline int nb6_slot_is_used(const struct nb6_subsystems *subsystems, nb6_slot slot)
{
    return subsystems->system[slot].member[0] >= 0;
}

/** Whether the motion in a slot goes on demand, to the very time at which somebody needs it, and so has no steps of its
 *  own. Where it is stored says so: motions in the table of chains do, all others have steps (fewbody/kind.h). */
static inline int nb6_goes_on_demand(const struct nb6_subsystems *subsystems, nb6_slot slot)
{
    return subsystems->system[slot].chain != 0;
}

/** Whether a pair ends, or a chain changes, with the present block, and why a pair does. */
static inline int nb6_is_ending(const struct nb6_subsystems *subsystems, nb6_slot slot)
{
    return subsystems->system[slot].ending != 0;
}

static inline enum nb6_pair_reason nb6_end_reason(const struct nb6_subsystems *subsystems, nb6_slot slot)
{
    return (enum nb6_pair_reason)(subsystems->system[slot].ending - 1);
}

static inline void nb6_let_end(struct nb6_subsystems *subsystems, nb6_slot slot, enum nb6_pair_reason reason)
{
    subsystems->system[slot].ending = (int32_t)reason + 1;
}

/** Whether anything acts on a relative motion: perturbers or the galaxy. If not, a pair stays on its Kepler orbit. */
static inline int nb6_subsystems_is_perturbed(const struct nb6_subsystems *subsystems, nb6_slot slot)
{
    return subsystems->pert[slot].n > 0 || subsystems->system[slot].galactic;
}

/** Whether body j is in the list of the pair. */
int nb6_subsystems_resolves(const struct nb6_subsystems *subsystems, nb6_slot slot, nb6_index j);
/** Replace the list of a pair with `galactic` already set; it is no remote pair then.   @param[in] body [n] ascending
 * @return NBC_OK; NBC_NO_MEMORY
 */
int nb6_subsystems_set_perturbers(struct nb6_subsystems *subsystems, nb6_slot slot, int64_t n, const nb6_index *body,
                                  struct nbc_error *err);
/** To be called when members change. */
void nb6_motions_forget(struct nb6_sim *sim);
/** Time and energy of the relative motion in a slot. */
double nb6_slot_time(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot);
/** When the next step of a motion ends; INFINITY: it goes on demand. */
double nb6_slot_step_end(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot);
/** The chain of a slot, NULL for a pair. */
struct nb6_chain *nb6_chain_of(const struct nb6_subsystems *subsystems, nb6_slot slot);
/** A free chain.   @return NULL without memory */
struct nb6_chain *nb6_chain_take(struct nb6_subsystems *subsystems, nb6_slot slot);
/** Give a chain's memory back; the slot holds a pair then. */
void nb6_chain_release(struct nb6_subsystems *subsystems, nb6_slot slot);
#endif
