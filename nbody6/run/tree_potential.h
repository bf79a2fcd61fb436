/** Potentials of all stars: direct sums, or those of very many by a tree, as far as the energy is known well enough by
 *  it. */
#ifndef NB6_TREE_POTENTIAL_H
#define NB6_TREE_POTENTIAL_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"

#include <stdint.h>

struct nb6_config;

/** Potentials by a tree may add so much to the error of the energy, over the energy of the cluster. */
#define NB6_MOST_POTENTIAL_ERROR 1e-9

/** Whether potentials of n stars are to be made by a tree: with FORCE_ERROR, of so many that direct sums of two
 *  processors take an hour. */
int nb6_potential_wants_tree(const struct nb6_config *config, int64_t n);

/** Potentials per unit mass due to all others, by gpunb_potential_by_tree.
 *  Direct sums for up to 4096 stars, which are taken in proportion to their masses, tell the error of the energy.
 *  @param[in] mass  [n]   @param[in] x  [n][3]   @param[out] pot  [n]
 *  @param[out] error  what the potential energy is wrong by with these potentials, and three standard deviations of
 *                     that estimate, over half of the potential energy, which is the energy of a cluster in virial
 *                     equilibrium; infinite, and no potentials, where none of the stars pulls another, or a
 *                     mass is negative
 *  @return NBC_OK; NBC_NO_MEMORY; as gpunb_potential, which says why in its handle */
int nb6_potential_by_tree(gpunb_t *handle, int64_t n, const double *mass, const double (*x)[3], double *pot,
                          double *error);

/** By a tree if it is wanted and its error is at most NB6_MOST_POTENTIAL_ERROR, otherwise direct sums.
 *  @param[out] error  as above; 0: direct sums
 *  @return as above, with a message */
int nb6_potential_make(gpunb_t *handle, int by_tree, int64_t n, const double *mass, const double (*x)[3], double *pot,
                       double *error, struct nbc_error *err);

#endif
