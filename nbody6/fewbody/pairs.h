/** Regularized pairs of a run (DESIGN sections 3 and 8): two stars become one centre of mass, body n + slot, and their
 * relative motion is integrated by regularization/ks.h. Private to libnbody6.
 *
 *  A pair either has perturbers, a sorted list of bodies chosen by the tidal criterion, and is integrated, or it has
 * none and moves on its Kepler orbit, at no cost, until one comes near. Body j and pair p see each other resolved, that
 * is, every force between them is that of or on the two components, if and only if j is in the list of p; otherwise p
 * is a point of mass to j, and j, if it is a neighbour, acts on the relative motion in p by the first order of its tide
 * alone. So action and reaction belong to one
 * potential, which nb6_pairs_potential gives for the energy. Two pairs that are in each other's list resolve one
 * another and form, with all others linked that way, a group, which one thread advances in the order of time. Times are
 * relative to sim->ti_origin. */
#ifndef NB6_PAIRS_H
#define NB6_PAIRS_H

#include "nbody6/fewbody/chains.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "regularization/ks.h"

struct nb6_sim;
struct nb6_energy;

/** A field of tides: field times x is the relative acceleration of two bodies at x from each other. */
struct nb6_tide {
    nb6_time t;                    /**< where it was summed */
    double field[6], field_dot[6]; /**< symmetric, xx xy xz yy yz zz; and its derivative */
};

/** Who acts on a pair. */
struct nb6_selection {
    int64_t n;            /**< perturbers */
    double safe;          /**< time in which no other neighbour becomes one */
    int galactic;         /**< whether the galaxy acts on the relative motion */
    struct nb6_tide tide; /**< of everybody else */
    struct nb6_tide far;  /**< of those of them who are no neighbours, as it was last summed */
};

/** What is known of a pair beside its motion. */
struct nb6_pair {
    int32_t member[2];     /**< stars; -1: the slot is free; of a chain, the first two; of a hierarchy, also a centre
                                of mass (hierarchies.h) */
    int32_t primordial;    /**< 1: a pair from the start */
    int32_t ending;        /**< enum nb6_pair_reason + 1 if it ends with the present block; 1: a chain that changes */
    int32_t chain;         /**< 0: a pair; else 1 + number of the chain that has this slot */
    int32_t approaching;   /**< 1: the stars approached each other when last looked at */
    int32_t galactic;      /**< 1: the galaxy acts on the relative motion, not only on the centre of mass */
    int32_t begun;         /**< 1: leader of a group that was due in the present block, and was not looked at since */
    double r_end;          /**< separation beyond which a soft or unbound pair may end */
    double t_formed;       /**< absolute */
    double gamma_max;      /**< largest perturbation met at block times */
    double t_check;        /**< absolute: before then no neighbour comes near a pair without perturbers; who is no
                                neighbour yet comes with a new list, at a regular step */
    int64_t steps, forces; /**< of ks, as far as they are in the counters of the run */
    int64_t work, told;    /**< forces between two bodies so far; as many when NB6_EVENT_BUSY last told of it */
    struct nb6_tide tide;  /**< of neighbours too weak to be perturbers, and of all who are no neighbours */
    struct nb6_tide far;   /**< the second part, at the last regular step of the centre of mass */
};

/** Bodies that perturb a pair, ascending. */
struct nb6_perturbers {
    int32_t n, capacity;
    int32_t *body;
};

/** Relative motions: those of the run, or a copy of them at another time. */
struct nb6_motion {
    struct ks_pair *ks;      /**< [n_slot] */
    struct nb6_chain *chain; /**< [n_chain] */
};

struct nb6_pairs {
    int64_t capacity; /**< slots with memory */
    int64_t n_slot;   /**< slots in use lie in [0, n_slot) */
    int64_t count;    /**< slots that are in use: pairs and chains now */
    struct nb6_pair *pair;
    struct ks_pair *ks;              /**< [slot] */
    struct nb6_chain *chain;         /**< [n_chain] */
    int64_t n_chain, chain_capacity; /**< chains in use lie in [0, n_chain) */
    struct nb6_perturbers *pert;
    int32_t *resolved_by; /**< [bodies] how many pairs have this body in their list */
    int32_t *leader;      /**< [slot] lowest slot of the group; the slot itself for a group of one */
    int32_t *follower;    /**< [slot] next member of the group, ascending; -1: none */
    double *next;     /**< [slot] of a leader: when the next step of its group ends; INFINITY: nothing to integrate */
    int32_t *due;     /**< scratch: [slot] */
    int8_t *is_due;   /**< scratch: [slot] */
    int32_t *changed; /**< scratch: [slot] */
    /** Scratch of the decisions of a block: bodies that become pairs, chains that change. Grown by nb6_step_decide. */
    int32_t (*form)[2];
    struct nb6_chain_change *chain_change;
    int64_t form_capacity, change_capacity;
    int32_t *source; /**< [n_source] bodies that take part, ascending: single stars and centres of mass */
    int32_t *place;  /**< [bodies] position in source, -1: none */
    int64_t n_source;
};

/** The relative motions of the run itself. */
static inline struct nb6_motion nb6_pairs_motion(const struct nb6_pairs *pairs)
{
    return (struct nb6_motion){pairs->ks, pairs->chain};
}

/* ---- container (pairs.c) */

/** Memory for n stars, the n_slot slots that are in use, if any, and some more; what there is of a checkpoint is kept.
 *  @return 0 if there is none */
int nb6_pairs_alloc(struct nb6_pairs *pairs, int64_t n);
void nb6_pairs_free(struct nb6_pairs *pairs);
/** Room for so many slots beside n stars; what is in use is kept. Called through nb6_sim_reserve (start.h).
 *  @return 0 if there is no memory; all is as it was then */
int nb6_pairs_reserve(struct nb6_pairs *pairs, int64_t n, int64_t slots);
/** Slots for which memory is provided when so many are needed: a table that grows by single slots is copied rarely. */
int64_t nb6_pairs_room(int64_t n_slot);
/** Free slots behind the last one in use are given up. */
void nb6_pairs_trim(struct nb6_pairs *pairs);
/** Bodies: stars and slots, taking part or not. */
int64_t nb6_bodies(const struct nb6_sim *sim);
/** Whether a body takes part: a single star or a centre of mass. */
int nb6_takes_part(const struct nb6_sim *sim, int64_t i);
/** Whether pairs are looked for. */
int nb6_pairs_enabled(const struct nb6_sim *sim);
/** Make source and place anew, after members changed. */
void nb6_pairs_set_sources(struct nb6_sim *sim);
/** Whether anything acts on a relative motion: perturbers or the galaxy. If not, a pair stays on its Kepler orbit. */
static inline int nb6_pairs_is_perturbed(const struct nb6_pairs *pairs, int64_t slot)
{
    return pairs->pert[slot].n > 0 || pairs->pair[slot].galactic;
}
/** Whether body j is in the list of the pair. */
int nb6_pairs_resolves(const struct nb6_pairs *pairs, int64_t slot, int32_t j);
/** Replace the list of a pair.   @param[in] body [n] ascending   @return NBC_OK; NBC_NO_MEMORY */
int nb6_pairs_set_perturbers(struct nb6_pairs *pairs, int64_t slot, int64_t n, const int32_t *body,
                             struct nbc_error *err);
/** Find the groups anew, and when each is due. */
void nb6_pairs_set_groups(struct nb6_sim *sim);
/** Stars of a pair for messages and events. */
int64_t nb6_pairs_name(const struct nb6_sim *sim, int64_t slot, int member);

/* ---- relative motion (pair_advance.c) */

/** What an advance did. */
struct nb6_advance {
    int64_t n_due;  /**< groups that were due: pairs.due holds their leaders */
    int paused;     /**< 1: some of them are not there yet */
    double chain_s; /**< wall-clock seconds of all threads in chains */
};
/** Advance all pairs whose next step ends at or before t, and chains that somebody needs then, in parallel. One call
 * makes a bounded number of evaluations of forces, so that a run can be asked to stop: if did->paused, the next call
 * with the same t goes on with the same bits, also after a checkpoint. The groups are `begun` until nb6_step_pairs has
 * looked at them. */
int nb6_pairs_advance(struct nb6_sim *sim, nb6_time t, struct nb6_advance *did, struct nbc_error *err);
/** Bring copies of all motions to exactly t; those that are ahead, because the run was stopped within a block, stay.
 *  @param[in] pausing  1: as above; 0: all at once */
int nb6_pairs_advance_copy(const struct nb6_sim *sim, const struct nb6_motion *copy, nb6_time t, int pausing,
                           int *paused, struct nbc_error *err);
/* ---- copies for pictures of the run (pair_motions.c) */

/** Copies of all relative motions at the time last asked for: an adjust and a snapshot at one time share them. */
struct nb6_motions_now {
    nb6_time t;
    uint64_t blocks;
    int complete;
    struct nb6_motion motion; /**< ks NULL: there are none */
};
/** Make sim->motions_now those of time t, which is not before the last block and not beyond the next.
 *  @param[in] pausing, paused  as nb6_pairs_advance_copy */
int nb6_motions_at(struct nb6_sim *sim, nb6_time t, int pausing, int *paused, struct nbc_error *err);
/** To be called when members change. */
void nb6_motions_forget(struct nb6_sim *sim);

/* ---- single slots (pair_advance.c) */

/** Bring one pair or chain to exactly time t. */
int nb6_pair_finish(struct nb6_sim *sim, int64_t slot, nb6_time t, struct nbc_error *err);
/** Begin with the present list, after nb6_pair_finish. */
int nb6_pair_start(struct nb6_sim *sim, int64_t slot, struct nbc_error *err);

/** Stage 2 of the block step: pairs that lag behind the block time; centres of mass of those that have to end join the
 * block.   @param[out] paused  1: not all are there yet (nb6_pairs_advance); nothing else has changed */
int nb6_step_pairs(struct nb6_sim *sim, int *paused, struct nbc_error *err);

/* ---- forces and potential (pair_correct.c) */

/** Difference between resolved and point-mass irregular force on body i at time t, added to acc and jerk.
 *  @return NBC_OK; NBC_NON_FINITE: a pair has no prediction for t, and acc and jerk are NaN */
int nb6_pairs_correct(const struct nb6_sim *sim, int64_t i, nb6_time t, double acc[3], double jerk[3]);
/** Potential energy of resolved interactions less that of the point masses.
 *  @param[in] x  [n_source][3] positions of the bodies that take part   @param[in] motion  at the same time
 *  @param[in] moved  [bodies] < 0: without this body; NULL: with all */
double nb6_pairs_potential(const struct nb6_sim *sim, const double (*x)[3], const struct nb6_motion *motion,
                           const int32_t *moved);
/** Potential energy of the relative motions on which the galaxy acts in its field: that of the stars less that of
 *  their centres of mass.   @param[in] motion, moved  as above */
double nb6_pairs_tidal(const struct nb6_sim *sim, const struct nb6_motion *motion, const int32_t *moved);
/** The same of one slot, whether the galaxy acts on it or not. */
double nb6_slot_tidal(const struct nb6_sim *sim, const struct nb6_motion *motion, int64_t slot);
/** Energies of relative motion in pairs and chains, summed. */
double nb6_pairs_binding(const struct nb6_sim *sim, const struct nb6_motion *motion);
/** Time and energy of the relative motion in a slot. */
double nb6_slot_time(const struct nb6_pairs *pairs, const struct nb6_motion *motion, int64_t slot);
double nb6_slot_energy(const struct nb6_pairs *pairs, const struct nb6_motion *motion, int64_t slot);

/* ---- perturbers (pair_perturbers.c) */

/** Choose the perturbers of a pair at the time of the last block from the list of its centre of mass, and sum the tides
 *  of all others in that list.   @param[out] body  [length of that list] */
void nb6_pair_select(const struct nb6_sim *sim, int64_t slot, nb6_time t, int32_t *body,
                     struct nb6_selection *selection);
/** Separation that tides are taken at. */
double nb6_pair_reference_radius(const struct nb6_sim *sim, int64_t slot);
/** New lists for the centres of mass of the last block. */
int nb6_pairs_update(struct nb6_sim *sim, struct nbc_error *err);

/* ---- what a pair may cost the energy of the cluster (pair_make.c) */

/** What energies of a pair are compared with: that of the cluster. */
double nb6_energy_scale(const struct nb6_sim *sim);
/** Part of what a pair or chain of this binding energy may be inexact by, in slow-down and in weak perturbers left out:
 *  it is a fixed part of its binding, and not to be more than that part of the energy of the cluster. */
double nb6_inexact_share(const struct nb6_sim *sim, double binding);

/* ---- tides (pair_tides.c) */

/** Add the tide of a body: m (3 x x/r^2 - 1)/r^3 and its derivative.   @param[in] x, v  relative to the pair */
void nb6_tide_add(double m, const double x[3], const double v[3], struct nb6_tide *tide);
/** Add a tide summed before, continued to the time of this one. */
void nb6_tide_join(const struct nb6_tide *far, struct nb6_tide *tide);
/** The tide of all bodies beyond the neighbour list; zero where it would change nothing that shows.
 *  @param[in] list [nnb] of the centre of mass */
void nb6_pair_far_tide(const struct nb6_sim *sim, int64_t slot, nb6_time t, size_t nnb, const int32_t *list,
                       struct nb6_tide *tide);
/** What the galaxy's tide is at the reference radius, in units of the attraction of the members. */
double nb6_pair_galactic_tide(const struct nb6_sim *sim, int64_t slot);

/* ---- formation and termination (pair_search.c, pair_change.c, pair_lists.c) */

/** Why a pair has to end at block time t (enum nb6_pair_reason), or -1. */
int nb6_pair_must_end(const struct nb6_sim *sim, int64_t slot, nb6_time t);
/** Longest irregular step of the centre of mass: a wide or unbound pair must not grow unseen. */
double nb6_pair_step_limit(const struct nb6_sim *sim, int64_t slot);
/** Last stage of the block step: pairs that end, perturbers, new pairs. */
int nb6_step_decide(struct nb6_sim *sim, struct nbc_error *err);
/** The same at t = 0, when everybody stands at the same time: what is compact already does not wait for its first
 * block.
 */
int nb6_step_decide_first(struct nb6_sim *sim, struct nbc_error *err);
/** Candidates among the members of the last block. A pair is formed when both stars, and everybody else who has only
 * one of them in the neighbour list, stand at the block time with regular and irregular steps ended; else all are
 * called to the next common step.   @param[out] pairs [n_irr][2] stars   @param[out] n number of pairs to form now */
int nb6_pairs_search(struct nb6_sim *sim, int32_t (*pairs)[2], int64_t *n, struct nbc_error *err);

/** Membership alone: slot, centre of mass, owners; no forces. Members must stand at the same time.
 *  @param[in]  energy  that the relative motion takes up   @param[out] slot   @return NBC_OK; NBC_BAD_ARGUMENT
 *  (coincident) */
int nb6_pair_make(struct nb6_sim *sim, int32_t i, int32_t j, nb6_time t, double energy, int64_t *slot,
                  struct nbc_error *err);
/** Whether two bodies can become one now; if not, they and all bodies that have one of them in their list are called to
 *  the next multiple of the shorter step.   @param[out] scratch [n_source] */
int nb6_pairs_are_ready(struct nb6_sim *sim, int32_t i, int32_t j, nb6_time t, int32_t *scratch);
/** What the neighbours of body i do to the motion of i and j relative to each other, in units of their attraction. */
double nb6_pair_perturbation(const struct nb6_sim *sim, nb6_time t, int32_t i, int32_t j);
/** The mean distance of stars around a body: that of the sixth nearest neighbour over the cube root of six; infinite
 *  while it has no list, and where its companion is all that there is, as in a lonely triple. */
double nb6_local_spacing(const struct nb6_sim *sim, int64_t i);
/** The radius that makes n bodies close: RMIN, larger where they are heavier than the mean, because heavy stars deflect
 *  each other at larger distances, but then no larger than NB6_COMPACT_SPACING of the spacing around body i.
 *  @param[in] mass  of all n together */
double nb6_close_radius(const struct nb6_sim *sim, int n, double mass, int64_t i);
/** Systems of three and more stars are not wider than this part of it, however heavy they are: among the stars around
 * them they would take in one after the other. */
#define NB6_COMPACT_SPACING 0.25
enum { NB6_COMPACT = 3 }; /**< what stays together is up to so many of these radii wide (NBODY6: 3 RMIN) */
/** Whether a pair is never wider than the radius that makes pairs close, or bound more strongly than encounters undo.
 */
int nb6_pair_is_hard(const struct nb6_sim *sim, int64_t slot);
/** Bodies that have one of two stars in their list, and not the other.   @param[out] body [n_source] */
int64_t nb6_lists_one_sided(const struct nb6_sim *sim, int32_t i, int32_t j, int32_t *body);
/** Neighbour lists of all others when i and j become c, or c becomes two bodies, of which one may be c itself.
 *  @param[in] add  ascending */
int nb6_lists_join(struct nb6_sim *sim, int32_t i, int32_t j, int32_t c, struct nbc_error *err);
int nb6_lists_split(struct nb6_sim *sim, int32_t c, const int32_t add[2], struct nbc_error *err);

/** The same in the lists of perturbers; entries of -1 are none, those of add ascend. */
int nb6_perturbers_replace(struct nb6_sim *sim, const int32_t remove[2], const int32_t add[2], struct nbc_error *err);
/** After stars left: members, lists and sources by the new numbers of bodies, -1 for who is gone; sim->n is the new
 * one. Pairs whose centre of mass is gone vanish. */
int nb6_pairs_rename(struct nb6_sim *sim, const int32_t *moved, struct nbc_error *err);
/** Tell the observer that a pair ends, without ending it. */
int nb6_pair_report_end(struct nb6_sim *sim, int64_t slot, enum nb6_pair_reason reason, struct nbc_error *err);
/** Tell the observer of the pairs that were there from the start. */
int nb6_pairs_announce_first(struct nb6_sim *sim, struct nbc_error *err);

/** Fewer stars have no core whose density says what is close: this part of the median distance of two of them at t = 0
 *  does then. */
enum { NB6_STARS_OF_A_CORE = 10 };
#define NB6_CLOSE_AMONG_FEW 0.15
/** RMIN, DTMIN and ECLOSE from the core density, if the configuration asks for it: RMIN = 4 r_h/(N C^(1/3)) with C the
 * contrast of the central density, DTMIN = 0.04 sqrt(ETAI/0.02) sqrt(RMIN^3/<m>) (Aarseth 2003), ECLOSE = 4 max(T,
 * |E|)/M. Among few stars only ECLOSE changes.
 *  @param[in] rho_core mass density; 0: not known, nothing changes but ECLOSE among few stars */
void nb6_pairs_adjust(struct nb6_sim *sim, double rho_core, double r_half, const struct nb6_energy *energy);
/** The same before the first energy is known. Two stars alone are a pair whenever they are bound.
 *  @param[in] massive  stars that are no test particles   @param[in] mass, x  [n] of all stars */
void nb6_pairs_first_criteria(struct nb6_sim *sim, int64_t n, int64_t massive, const double *mass, const double (*x)[3],
                              double rho_core, double r_half);

#endif
