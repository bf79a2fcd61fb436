/** Perturbers of a pair or chain. */
#ifndef NB6_PAIRS_PERTURBERS_H
#define NB6_PAIRS_PERTURBERS_H

#include "common/nbc.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/state/body.h"
#include "nbody6/state/subsystems.h"

#include <stdint.h>

struct nb6_sim;

/** Perturbers and tides that act on a pair. */
struct nb6_selection {
    int64_t n;            /**< perturbers */
    double safe;          /**< time in which no other neighbour comes within the limit of nb6_pair_look_rule */
    double same;          /**< time in which no distance to a neighbour changes by much */
    int remote;           /**< whether they make it a remote pair (pairs/remote.h) */
    int galactic;         /**< whether the galaxy acts on the relative motion */
    struct nb6_tide tide; /**< of all others */
    struct nb6_tide far;  /**< of those that are no neighbours, at its last sum */
    int feels_far;        /**< whether it belongs to the tide of all others */
    int sums_far;         /**< whether it is to be summed now */
};

/** Choose the perturbers of a pair at the time of the last block from the list of its centre of mass, and sum the tides
 *  of all others in that list. The tide of bodies beyond it follows with nb6_pair_selections_finish.
 *  @param[out] body  [length of that list] */
void nb6_pair_select(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, nb6_index *body,
                     struct nb6_selection *selection);
/** The tides of bodies beyond the list of all selections at that time.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_pair_selections_finish(struct nb6_sim *sim, int64_t n, const nb6_stored_slot *slot,
                               struct nb6_selection *selection, struct nbc_error *err);
/** The rule by which they are chosen, for the present state of the system. */
struct nb6_perturber_rule nb6_pair_perturber_rule(const struct nb6_sim *sim, nb6_slot slot);
/** The rule of the search around a pair without perturbers: it finds all bodies that would perturb it, and those within
 * the size of compact systems, which may form a stable hierarchy with the pair (nb6_hierarchies_search). */
struct nb6_perturber_rule nb6_pair_look_rule(const struct nb6_sim *sim, nb6_slot slot);
/** Begin with the present lists, as nb6_pair_start, groups being known: pairs that are groups of one side by side, then
 * the others in this order.
 *  @param[in] slot [n]  saved already, if a transaction is open */
int nb6_pairs_start(struct nb6_sim *sim, int64_t n, const nb6_stored_slot *slot, struct nbc_error *err);
/** New lists for the centres of mass of the last block. */
int nb6_subsystems_update(struct nb6_sim *sim, struct nbc_error *err);

#endif
