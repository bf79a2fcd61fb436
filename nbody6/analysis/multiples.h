/** Binaries and larger systems in a set of stars. Functions of arrays, without a state. */
#ifndef NB6_MULTIPLES_H
#define NB6_MULTIPLES_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_nearest; /* nbody6/state/nearest.h */

struct nb6_multiples {
    int64_t n_binary, n_triple, n_larger; /**< systems of two, three, and more stars */
    double a_least, a_most;               /**< semi-major axes of two stars, those within larger systems too; 0: none */
    double energy_most;                   /**< largest binding energy of two stars, > 0; 0: none */
};

/** Find systems that hold together: two stars that are each other's nearest neighbour, are bound, and at apocentre no
 *  wider than a quarter of the distance of the third one; then the same with systems for stars.
 *  @param[in]  mass [n]; x, v [n][3] with G = 1   @param[out] found  filled on success
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_NON_FINITE */
int nb6_multiples_find(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                       struct nb6_multiples *found, struct nbc_error *err);

/** Centres of mass: of the systems, and of the stars that are in none. */
struct nb6_systems {
    int64_t n;
    double *mass, (*x)[3], (*v)[3];
};
/** The same, with the systems that were found.
 *  @param[in]  nearest  nearest neighbours of these stars, the costliest part, if they are known; NULL: not known
 *  @param[out] systems  release with nb6_systems_free; after a failure there is nothing to release */
int nb6_multiples_systems(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                          const struct nb6_nearest *nearest, struct nb6_multiples *found, struct nb6_systems *systems,
                          struct nbc_error *err);
void nb6_systems_free(struct nb6_systems *systems);

#endif
