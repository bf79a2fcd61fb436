/** A block of the emulated engine: the stages of engine/stages/, each a loop where a device has threads. */
#ifndef NB6_EMULATED_BLOCK_H
#define NB6_EMULATED_BLOCK_H

#include "common/nbc.h"
#include "nbody6/engine/emulated/leave.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Parts of all bodies for select; slices of the sources of a regular force; targets in a round. */
enum { NB6_EMULATED_PARTS = 64, NB6_EMULATED_SLICES = 64, NB6_EMULATED_TARGETS = 512 };

/** Allocate for a state of this size, and for blocks of it.   @return 1; 0 without memory: all is free */
int nb6_emulated_allocate(struct nb6_dev *dev, const struct nb6_dev_size *size);
void nb6_emulated_free(struct nb6_dev *dev);

/** The next block, if it is not later than t_stop.
 *  @param[in] forces  ready for it
 *  @param[in,out] sim  seconds of the stages are booked in it; the host service works on it (engine/host_service.h)
 *  @param[out] unsound  index of the first member that is not finite, for NB6_STOP_NON_FINITE
 *  @param[out] status  NBC_OK; the failure of the host service
 *  @return NB6_STOP_BLOCKS: it is committed; NB6_STOP_ENCOUNTER: as well; any other: it is not */
enum nb6_stop_reason nb6_emulated_block(struct nb6_sim *sim, struct nb6_dev *dev, struct nb6_emulated_forces *forces,
                                        nb6_time t_stop, int64_t *unsound, int *status, struct nbc_error *err);

#endif
