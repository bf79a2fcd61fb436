/** Radii of neighbour spheres, and how many neighbours they are to hold. */
#ifndef NB6_RADIUS_H
#define NB6_RADIUS_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_pair_cost;
struct nb6_radius_rules;
struct nb6_sim;

/** Highest wanted number of neighbours, in wanted means: the core does not take all. */
#define NB6_HIGHEST_OF_MEAN 5.0

/** Longest list that radius control aims at, and the longest that is accepted. */
int64_t nb6_list_limit(const struct nb6_sim *sim, int64_t i);
/** Whether every star is to be every other star's neighbour (few stars). */
int nb6_all_are_neighbours(const struct nb6_sim *sim);
/** Radius of a neighbour sphere that is large against the system in a slot: NA12 section 3.6. */
double nb6_system_radius(const struct nb6_sim *sim, nb6_slot slot);
/** That radius, or a larger one if body i is the centre of mass of a pair or chain.   @param[in] nnb  neighbours in
 * r_nb, 0: not known */
double nb6_radius_for_system(const struct nb6_sim *sim, int64_t i, double r_nb, int64_t nnb);
/** The present values of the rules in rules.h. */
struct nb6_radius_rules nb6_radius_rules_of(const struct nb6_sim *sim);
/** Wanted number of neighbours where the local density contrast is c. */
double nb6_radius_wanted(const struct nb6_sim *sim, double contrast);
/** Steer alpha, and the wanted mean if the input leaves it free, from the interactions since the last adjust.
 *  @param[in] cost  of one */
void nb6_radius_steer(struct nb6_sim *sim, const struct nb6_pair_cost *cost);

#endif
