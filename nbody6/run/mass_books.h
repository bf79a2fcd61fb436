/** Sums over all stars, and how changes of stars add to them. Private to libnbody6. */
#ifndef NB6_MASS_BOOKS_H
#define NB6_MASS_BOOKS_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"

#include <stdint.h>

struct nb6_event;
struct nb6_frame;
struct nb6_sim;

/** Sums over the stars of some bodies, compensated: each with its rounding error. Zero-initialise. */
struct nb6_star_sums {
    double mass[2], momentum[3][2], angular_momentum[3][2];
};

/** Add a star.   @param[in] m  its mass; less than 0: subtract it */
void nb6_star_sums_add_star(double m, const double x[3], const double v[3], struct nb6_star_sums *sums);
/** Add the stars of the body at a place of a frame of bodies, which shows them as they are now.
 *  @param[in] sign  1 or -1 */
void nb6_star_sums_add(const struct nb6_sim *sim, const struct nb6_frame *frame, int64_t place, double sign,
                       struct nb6_star_sums *sums);
/** The sums, which are added to a channel, if it is not NULL. */
void nb6_star_sums_end(const struct nb6_star_sums *sums, struct nb6_star_transfers *came,
                       struct nb6_star_transfers *channel);
/** Book them in the channel of the event, with its energy, once energies are known; the event has them too.
 *  @return NBC_OK; as nb6_ledger_book */
int nb6_star_sums_book(const struct nb6_star_sums *sums, struct nb6_event *event, struct nb6_run_book *book,
                       struct nbc_error *err);
/** Energy, as the run has it (of bodies, of relative motions, of what they resolve), after less before. O(changed
 * bodies x all bodies).
 *  @param[in] before, after  frames of bodies at one time, in which others are at the same places
 *  @param[in] place [n] in them, ascending, of the bodies that changed
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_energy_of_change(const struct nb6_sim *sim, const struct nb6_frame *before, const struct nb6_frame *after,
                         int64_t n, const int64_t *place, double *energy, struct nbc_error *err);

/** Potential energy of n bodies at these places among themselves, with the masses `is` less that with `was`.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_energy_among(int64_t n, const double (*x)[3], const double *was, const double *is, double *energy,
                     struct nbc_error *err);

#endif
