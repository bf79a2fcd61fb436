/** Tides on a relative motion: of weak neighbours, of bodies beyond the sphere, of the galaxy. */
#ifndef NB6_PAIRS_TIDES_H
#define NB6_PAIRS_TIDES_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;
struct nb6_tide;
struct nbc_error;

/** Add the tide of a body: m (3 x x/r^2 - 1)/r^3 and its derivative.   @param[in] x, v  relative to the pair */
void nb6_tide_add(double m, const double x[3], const double v[3], struct nb6_tide *tide);
/** Add a tide summed before, continued to the time of this one. */
void nb6_tide_join(const struct nb6_tide *far, struct nb6_tide *tide);
/** Begin the tide of all bodies beyond the neighbour list: zero, or what an engine has summed.
 *  @return 1: nb6_far_tides has to sum it; 0: it is complete, zero where it would change nothing that shows */
int nb6_pair_begin_far_tide(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, struct nb6_tide *tide);
/** A tide to be summed. */
struct nb6_far_sum {
    nb6_slot slot;
    struct nb6_tide *tide; /**< as nb6_pair_begin_far_tide leaves it; all at the same time */
};
/** Sum them: all bodies are predicted once.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_far_tides(struct nb6_sim *sim, int64_t n, const struct nb6_far_sum *sum, struct nbc_error *err);
/** Is the sum older than the last regular step? The bodies beyond the list change with regular steps, and pairs without
 * a perturber are not summed then. */
int nb6_pair_far_tide_is_old(const struct nb6_sim *sim, nb6_slot slot, nb6_time t);
/** The strength (nb6_strongest_outside) from which on it is worth a sum. */
double nb6_pair_far_tide_limit(const struct nb6_sim *sim, nb6_slot slot);
/** Whether a choice of perturbers at time t sums it. */
int nb6_pair_sums_far_tide(const struct nb6_sim *sim, nb6_slot slot, nb6_time t);
/** The galaxy's tide at the reference radius, in units of the attraction of the members. */
double nb6_pair_galactic_tide(const struct nb6_sim *sim, nb6_slot slot);

#endif
