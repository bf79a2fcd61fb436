/** Binaries and larger systems in a set of stars. Functions of arrays, without a state. */
#ifndef NB6_MULTIPLES_H
#define NB6_MULTIPLES_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_multiples {
    int64_t n_binary, n_triple, n_larger; /**< systems of two, three, and more stars */
    double a_least, a_most;               /**< semi-major axes of two stars, those within larger systems too; 0: none */
    double energy_most;                   /**< largest binding energy of two stars, > 0; 0: none */
};

/** Find systems that hold together: two stars that are each other's nearest neighbour, are bound, and at apocentre no
 *  wider than a quarter of the distance of the third one; then the same with systems for stars.
 *  @param[in]  n    1 to INT32_MAX   @param[in] mass [n]; x, v [n][3] with G = 1   @param[out] found  filled on success
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NO_MEMORY; NBC_NON_FINITE */
int nb6_multiples_find(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                       struct nb6_multiples *found, struct nbc_error *err);

/** Centres of mass: of the systems, and of the stars that are in none. */
struct nb6_systems {
    int64_t n;
    double *mass, (*x)[3], (*v)[3];
};
/** Two nearest neighbours of each star, as far as they decide. */
struct nb6_near {
    int64_t n;
    int32_t *index;  /**< [n] of the nearest one; -1: there is none */
    double (*r2)[2]; /**< [n] squares of the distances of the nearest two; infinity where there are fewer */
};

/** Room for n stars.   @return NBC_OK; NBC_NO_MEMORY; NBC_BAD_ARGUMENT (n is not 1 to INT32_MAX) */
int nb6_near_make(int64_t n, struct nb6_near *near, struct nbc_error *err);
void nb6_near_free(struct nb6_near *near);
/** Store what a search for two neighbours or more has found (kdtree.h).   @param[in,out] context  struct nb6_near */
void nb6_near_take(void *context, int64_t i, int found, const int64_t *index, const double *r2);

/** The same, with the systems that were found.
 *  @param[in,out] near  the neighbours of these stars, the costliest part; scratch afterwards
 *  @param[out] systems  release with nb6_systems_free; after a failure there is nothing to release */
int nb6_multiples_systems(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                          struct nb6_near *near, struct nb6_multiples *found, struct nb6_systems *systems,
                          struct nbc_error *err);
void nb6_systems_free(struct nb6_systems *systems);

#endif
