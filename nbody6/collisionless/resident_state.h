/** A resident system (resident.h) as its files know it: blocks and forces in resident.c, copies to and from host memory
 *  in resident_copy.c. */
#ifndef NB6_RESIDENT_STATE_H
#define NB6_RESIDENT_STATE_H

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/division.h"
#include "nbody6/collisionless/resident.h"

struct nb6_resident {
    const struct nb6_residence *residence;
    int parts;
    struct nb6_resident_part *one; /**< [parts] */
    int32_t *body; /**< [n] of each place, as it is copied to host memory; NULL: bodies do not change their owners */
    int divided;   /**< as in struct nb6_owners, on the devices */
    int is_there;  /**< 1: the state is on the devices; otherwise it must be sent */
    int is_ahead;  /**< 1: and that in memory is older */
    nb6_time ti_home;
    uint64_t n_blocks_home, n_steps_home, build_block_home;
    struct nb6_rebuild rebuild_home;
    uint64_t tree_block; /**< the build whose cells the trees of all parts have */
};

/** The places of a part in host memory. */
void nb6_resident_range(const struct nb6_collisionless *system, int part, int parts, int64_t *first, int64_t *end);
/** Where the own bodies of part `other` are in the arrays of all bodies that a part has. */
static inline int64_t nb6_resident_place(const struct nb6_resident *r, int part, int other)
{
    const int64_t n = r->one[part].part.n;
    return ((int64_t)r->one[other].part.first - r->one[part].part.first + n) % n;
}
/** Copy the state of the system to the devices.   @return NBC_OK; NBC_DEVICE, NBC_NO_MEMORY */
int nb6_resident_send(struct nb6_resident *resident, struct nb6_collisionless *system, struct nbc_error *err);
/** The state on the devices is lost, or differs from host memory: return to the host's.   @return status */
int nb6_resident_go_back(struct nb6_resident *resident, struct nb6_collisionless *system, int status);
/** Accelerations of the last force on all bodies, which become those of the system. */
int nb6_resident_fetch_acc(const struct nb6_resident *resident, struct nb6_collisionless *system,
                           struct nbc_error *err);
/** Potentials of the last force on all bodies, which had them.   @param[out] pot  [n] of the bodies of the system */
int nb6_resident_fetch_pot(const struct nb6_resident *resident, struct nb6_collisionless *system, double *pot,
                           struct nbc_error *err);

#endif
