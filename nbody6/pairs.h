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

#include "body.h"
#include "ks.h"
#include "nbody6.h"

struct nb6_sim;
struct nb6_energy;

/** A field of tides: field times x is the relative acceleration of two bodies at x from each other. */
struct nb6_tide {
    nb6_time t;                    /**< where it was summed */
    double field[6], field_dot[6]; /**< symmetric, xx xy xz yy yz zz; and its derivative */
};

/** Who acts on a pair. */
struct nb6_selection {
    int64_t n;   /**< perturbers */
    double safe; /**< time in which no other neighbour becomes one */
    struct nb6_tide tide;
};

/** What is known of a pair beside its motion. */
struct nb6_pair {
    int32_t member[2];     /**< stars; -1: the slot is free */
    int32_t primordial;    /**< 1: a pair from the start */
    int32_t ending;        /**< enum nb6_pair_reason + 1 if it ends with the present block */
    double r_end;          /**< separation beyond which a soft or unbound pair may end */
    double t_formed;       /**< absolute */
    double gamma_max;      /**< largest perturbation met at block times */
    double t_check;        /**< absolute: before then no neighbour comes near a pair without perturbers; who is no
                                neighbour yet comes with a new list, at a regular step */
    int64_t steps, forces; /**< of ks, as far as they are in the counters of the run */
    struct nb6_tide tide;  /**< of neighbours too weak to be perturbers */
};

/** Bodies that perturb a pair, ascending. */
struct nb6_perturbers {
    int32_t n, capacity;
    int32_t *body;
};

struct nb6_pairs {
    int64_t capacity; /**< slots with memory */
    int64_t n_slot;   /**< slots in use lie in [0, n_slot) */
    int64_t count;    /**< pairs now */
    struct nb6_pair *pair;
    struct ks_pair *ks;
    struct nb6_perturbers *pert;
    int32_t *resolved_by; /**< [bodies] how many pairs have this body in their list */
    int32_t *leader;      /**< [slot] lowest slot of the group; the slot itself for a group of one */
    int32_t *follower;    /**< [slot] next member of the group, ascending; -1: none */
    double *next;       /**< [slot] of a leader: when the next step of its group ends; INFINITY: nothing to integrate */
    int32_t *due;       /**< scratch: [slot] */
    int32_t *changed;   /**< scratch: [slot] */
    int32_t (*form)[2]; /**< scratch: [slot] stars that become pairs */
    int32_t *source;    /**< [n_source] bodies that take part, ascending: single stars and centres of mass */
    int32_t *place;     /**< [bodies] position in source, -1: none */
    int64_t n_source;
};

/* ---- container (pairs.c) */

/** Memory for n stars and the pairs they can form.   @return 0 if there is none */
int nb6_pairs_alloc(struct nb6_pairs *pairs, int64_t n);
void nb6_pairs_free(struct nb6_pairs *pairs);
/** Slots for which memory is provided with n stars. */
int64_t nb6_pairs_capacity(int64_t n);
/** Bodies: stars and slots, taking part or not. */
int64_t nb6_bodies(const struct nb6_sim *sim);
/** Whether a body takes part: a single star or a centre of mass. */
int nb6_takes_part(const struct nb6_sim *sim, int64_t i);
/** Whether pairs are looked for. */
int nb6_pairs_enabled(const struct nb6_sim *sim);
/** Make source and place anew, after members changed. */
void nb6_pairs_set_sources(struct nb6_sim *sim);
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

/** Advance all pairs whose next step ends at or before t, in parallel.
 *  @param[in,out] ks  [n_slot] sim->pairs.ks or a copy   @param[in] exact 1: to exactly t, unperturbed pairs too */
int nb6_pairs_advance(const struct nb6_sim *sim, struct ks_pair *ks, nb6_time t, int exact, int64_t *n_due,
                      struct nbc_error *err);
/** Bring one pair to exactly time t. */
int nb6_pair_finish(struct nb6_sim *sim, int64_t slot, nb6_time t, struct nbc_error *err);
/** Begin with the present list, after nb6_pair_finish. */
int nb6_pair_start(struct nb6_sim *sim, int64_t slot, struct nbc_error *err);

/** Stage 2 of the block step: pairs that lag behind the block time; centres of mass of those that have to end join the
 * block. */
int nb6_step_pairs(struct nb6_sim *sim, struct nbc_error *err);

/* ---- forces and potential (pair_correct.c) */

/** Difference between resolved and point-mass irregular force on body i at time t, added to acc and jerk. */
void nb6_pairs_correct(const struct nb6_sim *sim, int64_t i, nb6_time t, double acc[3], double jerk[3]);
/** Potential energy of resolved interactions less that of the point masses.
 *  @param[in] x  [n_source][3] positions of the bodies that take part   @param[in] ks [n_slot] at the same time */
double nb6_pairs_potential(const struct nb6_sim *sim, const double (*x)[3], const struct ks_pair *ks);
/** Energies of relative motion, summed. */
double nb6_pairs_binding(const struct nb6_sim *sim, const struct ks_pair *ks);

/* ---- perturbers (pair_perturbers.c) */

/** Choose the perturbers of a pair at the time of the last block from the list of its centre of mass, and sum the tides
 *  of all others in that list.   @param[out] body  [length of that list] */
void nb6_pair_select(const struct nb6_sim *sim, int64_t slot, nb6_time t, int32_t *body,
                     struct nb6_selection *selection);
/** Separation that the tidal criterion takes. */
double nb6_pair_reference_radius(const struct nb6_sim *sim, int64_t slot);
/** New lists for the centres of mass of the last block. */
int nb6_pairs_update(struct nb6_sim *sim, struct nbc_error *err);

/* ---- formation and termination (pair_search.c, pair_change.c, pair_lists.c) */

/** Why a pair has to end at block time t (enum nb6_pair_reason), or -1. */
int nb6_pair_must_end(const struct nb6_sim *sim, int64_t slot, nb6_time t);
/** Longest irregular step of the centre of mass: a wide or unbound pair must not grow unseen. */
double nb6_pair_step_limit(const struct nb6_sim *sim, int64_t slot);
/** Last stage of the block step: pairs that end, perturbers, new pairs. */
int nb6_step_decide(struct nb6_sim *sim, struct nbc_error *err);
/** Candidates among the members of the last block. A pair is formed when both stars, and everybody else who has only
 * one of them in the neighbour list, stand at the block time with regular and irregular steps ended; else all are
 * called to the next common step.   @param[out] pairs [n_irr][2] stars   @param[out] n number of pairs to form now */
int nb6_pairs_search(struct nb6_sim *sim, int32_t (*pairs)[2], int64_t *n, struct nbc_error *err);

/** Membership alone: slot, centre of mass, owners; no forces. Members must stand at the same time.
 *  @param[out] slot   @return NBC_OK; NBC_BAD_ARGUMENT (coincident) */
int nb6_pair_make(struct nb6_sim *sim, int32_t i, int32_t j, nb6_time t, int64_t *slot, struct nbc_error *err);
/** Form and end pairs at the time of the last block: lists, polynomials, perturbers, energy, events. */
int nb6_pairs_change(struct nb6_sim *sim, int64_t n_form, const int32_t (*form)[2], int64_t n_end, const int32_t *end,
                     struct nbc_error *err);
/** Bodies that have one of two stars in their list, and not the other.   @param[out] body [n_source] */
int64_t nb6_lists_one_sided(const struct nb6_sim *sim, int32_t i, int32_t j, int32_t *body);
/** Neighbour lists of all others when i and j become c, or c becomes i and j. */
int nb6_lists_join(struct nb6_sim *sim, int32_t i, int32_t j, int32_t c, struct nbc_error *err);
int nb6_lists_split(struct nb6_sim *sim, int32_t c, int32_t i, int32_t j, struct nbc_error *err);

/** The same in the lists of perturbers; entries of -1 are none, those of add ascend. */
int nb6_perturbers_replace(struct nb6_sim *sim, const int32_t remove[2], const int32_t add[2], struct nbc_error *err);
/** After stars left: members, lists and sources by the new numbers of bodies, -1 for who is gone; sim->n is the new
 * one. Pairs whose centre of mass is gone vanish. */
int nb6_pairs_rename(struct nb6_sim *sim, const int32_t *moved, struct nbc_error *err);
/** Tell the observer that a pair ends, without ending it. */
int nb6_pair_report_end(struct nb6_sim *sim, int64_t slot, enum nb6_pair_reason reason, struct nbc_error *err);
/** Tell the observer of the pairs that were there from the start. */
int nb6_pairs_announce_first(struct nb6_sim *sim, struct nbc_error *err);
/** Tell the observer of a new pair, and book the energy. */
int nb6_pair_announce(struct nb6_sim *sim, int64_t slot, enum nb6_pair_reason reason, struct nbc_error *err);

/** RMIN, DTMIN and ECLOSE from the core density, if the configuration asks for it: RMIN = 4 r_h/(N C^(1/3)) with C the
 * contrast of the central density, DTMIN = 0.04 sqrt(ETAI/0.02) sqrt(RMIN^3/<m>) (Aarseth 2003), ECLOSE = 4 max(T,
 * |E|)/M.
 *  @param[in] rho_core mass density; 0: not known, nothing changes */
void nb6_pairs_adjust(struct nb6_sim *sim, double rho_core, double r_half, const struct nb6_energy *energy);
/** The same before the first energy is known; in clusters of fewer than 10 stars there is no core. */
void nb6_pairs_first_criteria(struct nb6_sim *sim, int64_t n, double rho_core, double r_half);

#endif
