/** King's models (King 1966, AJ 71, 64): spheres with f(E) ~ exp(-E/sigma^2) - 1 below the escape energy. */
#ifndef NB6_KING_H
#define NB6_KING_H

#include "nbody6/model/random.h"

typedef struct nb6_king nb6_king_t;

/** Solve Poisson's equation W'' + 2 W'/x = -9 rho(W)/rho(W0), W = (potential - that at the edge)/sigma^2, x = r/r_c
 * with King's core radius r_c^2 = 9 sigma^2/(4 pi G rho_0), from the centre (W0) to the edge (0). x^2 is integrated as
 * a function of W0 - W, which is smooth from end to end, by fixed steps of the classical fourth-order Runge-Kutta
 * method: results are the same bits everywhere (random.h); relative error below 1e-9.
 *  @param[in] w0 NB6_KING_W0_MIN to NB6_KING_W0_MAX   @param[out] king set on success only
 *  @return NBC_OK; NBC_BAD_INPUT; NBC_NO_MEMORY */
int nb6_king_solve(double w0, nb6_king_t **king, struct nbc_error *err);
void nb6_king_free(nb6_king_t *king);

/** Units of the three functions below: G = 1, total mass 1, core radius 1. */
double nb6_king_tidal_radius(const nb6_king_t *king);
double nb6_king_potential_energy(const nb6_king_t *king);
/** A star of the model: radius from the mass distribution, speed by rejection from v^2 (exp(W - v^2/2) - 1), both
 *  directions at random. */
void nb6_king_draw(const nb6_king_t *king, nb6_random_t *position, nb6_random_t *velocity, double x[3], double v[3]);

/** Radius that encloses a fraction of the mass, 0 <= fraction <= 1. */
double nb6_king_radius(const nb6_king_t *king, double fraction);

/** Density integral exp(W) erf(sqrt W) - sqrt(4 W/pi) (1 + 2 W/3), W >= 0, without its cancellation at small W. */
double nb6_king_density(double w);

#endif
