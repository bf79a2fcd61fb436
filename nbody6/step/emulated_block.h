/** A block of the emulated engine: the stages of dev_*.h, each a loop where a device has threads. */
#ifndef NB6_EMULATED_BLOCK_H
#define NB6_EMULATED_BLOCK_H

#include "nbody6/state/body.h"
#include "nbody6/step/dev_state.h"
#include "nbody6/step/engine.h"

#include <stdint.h>

struct nb6_sim;

/** The next block, if it is not later than t_stop.
 *  @param[in,out] sim  seconds of the stages are booked in it, nothing else is read or written
 *  @param[out] unsound  slot of the first member that is not finite, for NB6_STOP_NON_FINITE
 *  @return NB6_STOP_BLOCKS: it is committed; NB6_STOP_ENCOUNTER: as well; NB6_STOP_REACHED, NB6_STOP_OVERFLOW,
 *          NB6_STOP_NON_FINITE: it is not */
enum nb6_stop_reason nb6_emulated_block(struct nb6_sim *sim, const struct nb6_dev *dev, nb6_time t_stop,
                                        int64_t *unsound);

#endif
