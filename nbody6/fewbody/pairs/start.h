/** Criteria of close encounters, and pairs that exist, at t = 0. */
#ifndef NB6_PAIRS_START_H
#define NB6_PAIRS_START_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_energy;
struct nb6_sim;

/** Fewer stars have no core density that defines a close encounter: this part of the median distance of two of them at
 *  t = 0 does instead. */
enum { NB6_STARS_OF_A_CORE = 10 };

#define NB6_CLOSE_AMONG_FEW 0.15

/** RMIN, DTMIN and ECLOSE from the core density, if the configuration asks for it: RMIN = 4 r_h/(N C^(1/3)) with C the
 * contrast of the central density, DTMIN = 0.04 sqrt(ETAI/0.02) sqrt(RMIN^3/<m>) (Aarseth 2003), ECLOSE = 4 max(T,
 * |E|)/M. Among few stars only ECLOSE changes.
 *  @param[in] rho_core mass density; 0: not known, nothing changes but ECLOSE among few stars */
void nb6_subsystems_adjust(struct nb6_sim *sim, double rho_core, double r_half, const struct nb6_energy *energy);
/** The same before the first energy is known. Two stars alone are a pair whenever they are bound.
 *  @param[in] massive  stars that are no test particles   @param[in] mass, x  [n] of all stars */
void nb6_subsystems_first_criteria(struct nb6_sim *sim, int64_t n, int64_t massive, const double *mass,
                                   const double (*x)[3], double rho_core, double r_half);
/** How many of the binaries that the configuration declares begin as pairs, before the bodies are there: for room.
 *  @param[in] mass, x, v  [n] of all stars */
int64_t nb6_declared_pairs(const struct nb6_sim *sim, int64_t n, const double *mass, const double (*x)[3],
                           const double (*v)[3]);
/** Make pairs of the primordial binaries that are close enough. */
int nb6_start_pairs(struct nb6_sim *sim, struct nbc_error *err);

/** The same with given pairs in place of primordial binaries: they have the slots 0 to n - 1.   @param[in] pair  [n] */
int nb6_start_given_pairs(struct nb6_sim *sim, int64_t n, const int32_t (*pair)[2], struct nbc_error *err);

#endif
