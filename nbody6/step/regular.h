/** Regular forces and neighbour lists of a set of bodies, with spheres enlarged or shrunk until every list fits. */
#ifndef NB6_REGULAR_H
#define NB6_REGULAR_H

#include "nbody6/state/sim.h"

/** One body that needs its regular force. */
struct nb6_regular_target {
    int32_t body;
    double dt_reg; /**< for the velocity criterion */
    double r_nb;   /**< in and out: shrunk if the list was too long */
    double acc[3], jerk[3];
    int32_t nnb;
};

/** Forces of all targets from the n bodies last predicted into sim->active (mass, x, v); the lists go to GPUIRR.
 *  @param[in,out] target [n_target] */
int nb6_regular_force(struct nb6_sim *sim, int64_t n_target, struct nb6_regular_target *target, struct nbc_error *err);

/** Second and third derivatives of what came into the list of body i, or left it, from one part of the force to the
 * other, both being those of the old list before (Makino & Aarseth 1992).
 *  @param[in] old [n_old] ascending   @param[in,out] c  corrected to the time of the block; derivatives change */
void nb6_derivatives_of_list(const struct nb6_sim *sim, int64_t i, size_t n_old, const int32_t *old,
                             struct nb6_corrected *c);

/** Longest list that radius control aims at, and the longest that is accepted. */
int64_t nb6_list_limit(const struct nb6_sim *sim, int64_t i);

/** Radius of a sphere that holds all stars whatever happens. */
#define NB6_R_NB_ALL 1e15
/** Whether every star is to be every other star's neighbour (few stars). */
int nb6_all_are_neighbours(const struct nb6_sim *sim);

/** That radius, or a larger one if body i is the centre of mass of a pair or chain: NA12 section 3.6 wants a sphere
 * that is large against it.   @param[in] nnb  neighbours in r_nb, 0: not known */
double nb6_radius_for_system(const struct nb6_sim *sim, int64_t i, double r_nb, int64_t nnb);

/** Radius for the next regular step from the number of neighbours found (NA12 eq. 2 and DESIGN section 5). */
double nb6_radius_next(const struct nb6_sim *sim, double r_nb, int64_t nnb);
/** Wanted number of neighbours where the local density contrast is c. */
double nb6_radius_wanted(const struct nb6_sim *sim, double contrast);
/** Steer alpha, and the wanted mean if the input leaves it free, from the interactions since the last adjust. */
void nb6_radius_steer(struct nb6_sim *sim);
/** Wanted mean neighbour number at the start.   @param[in] heaviest  largest mass over that of all */
double nb6_radius_initial_mean(const struct nb6_config *config, int64_t n, double heaviest);

#endif
