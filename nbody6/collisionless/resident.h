/** A collisionless system with its state on the devices that compute its forces: one GPU or several (residence.h). In a
 *  block only a word from each part and positions between GPUs cross the bus. */
#ifndef NB6_RESIDENT_H
#define NB6_RESIDENT_H

#include "common/nbc.h"
#include "gpunb/tree.h"
#include "nbody6/collisionless/owners.h"
#include "nbody6/collisionless/residence.h"

struct nb6_collisionless;
struct nb6_resident;

/** @param[in] parts  1 to NB6_MOST_PARTS, no more than bodies   @param[in] device  [parts] the number of each part's
 *  @param[out] resident  set on success only; to be freed with nb6_resident_free
 *  @return NBC_OK; NBC_DEVICE, NBC_NO_MEMORY */
int nb6_resident_open(struct nb6_resident **resident, const struct nb6_residence *residence,
                      const struct nb6_collisionless *system, int parts, const int *device, struct nbc_error *err);
void nb6_resident_free(struct nb6_resident *resident);
const struct nb6_residence *nb6_resident_residence(const struct nb6_resident *resident);

int nb6_resident_parts(const struct nb6_resident *resident);
/** Adds the counts of the trees of one part to `sum`.   @return NBC_OK; NBC_DEVICE: some are lost */
int nb6_resident_add_part_counts(const struct nb6_resident *resident, int part, struct gpunb_tree_counts *sum,
                                 struct nbc_error *err);
/** Adds the counts of the trees of all parts to `sum`.   @return NBC_OK; NBC_DEVICE: some are lost */
int nb6_resident_add_tree_counts(const struct nb6_resident *resident, struct gpunb_tree_counts *sum,
                                 struct nbc_error *err);

/** Accelerations and steps of all bodies at the start, as nb6_leapfrog_start, which makes them where these cannot be:
 * it reports the reason.   @return as nb6_leapfrog_block */
int nb6_resident_start(struct nb6_resident *resident, struct nb6_collisionless *system, struct nbc_error *err);
/** Potentials of all bodies, where they are in host memory: at the end of a longest step, after nb6_resident_home.
 *  @param[out] pot  [n]   @param[out] is_good  0: a body is beyond the range of numbers, and pot is not set
 *  @return NBC_OK; NBC_DEVICE, NBC_NO_MEMORY: the state is in host memory alone */
int nb6_resident_potentials(struct nb6_resident *resident, struct nb6_collisionless *system, double *pot, int *is_good,
                            struct nbc_error *err);
/** To the next block time, as nb6_leapfrog_block, but the arrays of the system are not updated before
 *  nb6_resident_home. If a body cannot be advanced, the state is copied to host memory and the host computes this
 *  block, which reports the reason.
 *  @return as nb6_leapfrog_block; after NBC_DEVICE, NBC_NO_MEMORY of the residence the system is that of the last copy
 *          to host memory */
int nb6_resident_block(struct nb6_resident *resident, struct nb6_collisionless *system, struct nbc_error *err);
/** Copy the state to host memory: the arrays of the system become those of its time.
 *  @return NBC_OK; NBC_DEVICE: the system is that of the last copy to host memory */
int nb6_resident_home(struct nb6_resident *resident, struct nb6_collisionless *system, struct nbc_error *err);

#endif
