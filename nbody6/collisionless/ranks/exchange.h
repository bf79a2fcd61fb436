/** Softened accelerations on the bodies of a rank by those of all ranks, summed directly (MTM13 Sec. 4;
 * world/spread.h).
 *
 *  Masses and positions go around, 32 bytes a body. The sum over each set of sources is made while the next one comes;
 *  a call of GPUNB is cut into pieces, between which the messages move on. There is a partial sum for each slot of the
 *  spread, and they are added in the order of owners: the bits depend on the number of ranks and on the room for
 *  sources, and not on the time that messages take.
 *
 *  Here the bodies of the rank are in memory of the host, and so are sources and sums, whichever backend makes these.
 *  part.h has bodies and partial sums in memory of a device. */
#ifndef NB6_EXCHANGE_H
#define NB6_EXCHANGE_H

#include "common/nbc.h"
#include "device/device.h"
#include "gpunb/gpunb.h"

#include <stdint.h>

struct nb6_exchange;
struct nb6_spread;
struct nb6_spread_counts;
struct nb6_world;

struct nb6_exchange_job {
    const double *mass;   /**< [own] */
    const double (*x)[3]; /**< [own] sources */
    int64_t n_due;        /**< targets */
    const int32_t *due;   /**< [n_due] own bodies that the targets are */
    const double (*x_due)[3];
    double softening;
    double (*acc)[3]; /**< [n_due] overwritten */
    double *pot;      /**< [n_due] overwritten; NULL: not wanted */
};

/** @param[in] n     bodies of all ranks; a rank owns its share (nb6_world_share)
 *  @param[in] room  bytes for sources of others, twice; 0: 1 GiB
 *  @param[in,out] force  makes the sums; stays the caller's
 *  @param[in] device  that reads and writes the sources under way, in pinned memory (part.h); NULL: none
 *  @return NBC_OK; NBC_NO_MEMORY, NBC_DEVICE: of this rank alone */
int nb6_exchange_open(struct nb6_exchange **exchange, struct nb6_world *world, int64_t n, size_t room, gpunb_t *force,
                      const struct nbd_device *device, struct nbc_error *err);
/** Accepts NULL. */
void nb6_exchange_close(struct nb6_exchange *exchange);

/** All ranks call it together, with any numbers of targets.
 *  @return of this rank alone: NBC_OK; NBC_BAD_ARGUMENT, NBC_NON_FINITE (a position: names the body); NBC_NO_MEMORY;
 *          statuses of GPUNB */
int nb6_exchange_sum(struct nb6_exchange *exchange, const struct nb6_exchange_job *job, struct nbc_error *err);
/** Of struct nb6_source (nbody6/collisionless/part.h). */
struct nb6_spread *nb6_exchange_spread(const struct nb6_exchange *exchange);
void nb6_exchange_get_counts(const struct nb6_exchange *exchange, struct nb6_spread_counts *counts);

#endif
