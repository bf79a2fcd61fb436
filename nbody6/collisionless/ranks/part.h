/** The bodies of one of several ranks in memory of a device (ranks.h), which drifts and kicks them and makes their
 * forces (MTM13 Sec. 4; exchange.h has the same sums in memory of the host).
 *
 *  In a block own masses and positions go to pinned memory of the host, and from there to other ranks. Those of others
 *  come into such memory, set by set (world/spread.h). The host enqueues what the device does with a set, and goes on
 *  with messages: two streams of the device make sums in turn, a third one copies the next set into the room whose sum
 * is done, and the message with the set after that travels. Only the calling thread sends and receives.
 *
 *  Partial sums are added on the device in the order of owners. All ranks make the calls with `share` together, those
 *  without bodies too, which need no device. */
#ifndef NB6_RANK_PART_H
#define NB6_RANK_PART_H

#include "common/nbc.h"
#include "nbody6/collisionless/residence.h"

struct nb6_collisionless;
struct nb6_rank_part;

/** @param[in] share  with its force, and an exchange whose memory this device pins   @param[in] device  its number
 *  @param[out] part  set on success only; to be freed with nb6_rank_part_close, before the exchange and the force
 *  @return of this rank alone: NBC_OK; NBC_DEVICE, NBC_NO_MEMORY */
int nb6_rank_part_open(struct nb6_rank_part **part, const struct nb6_residence *residence,
                       const struct nb6_collisionless *share, int device, struct nbc_error *err);
/** Accepts NULL. */
void nb6_rank_part_close(struct nb6_rank_part *part);

/** To the next block time, as nb6_leapfrog_block, on all ranks or on none. The arrays of the share stay as they were at
 *  the last nb6_rank_part_home. If a body of any rank cannot go on, all states are copied to host memory, where the
 *  block is made, which tells the reason.
 *  @return as nb6_leapfrog_block; after NBC_DEVICE and NBC_NO_MEMORY all shares are those of the last copy to host
 *          memory, from which a repeated call goes on */
int nb6_rank_part_block(struct nb6_collisionless *share, struct nbc_error *err);
/** The arrays of the shares are those of their time.
 *  @return NBC_OK; the failure of any rank: all shares are those of the last copy to host memory */
int nb6_rank_part_home(struct nb6_collisionless *share, struct nbc_error *err);

#endif
