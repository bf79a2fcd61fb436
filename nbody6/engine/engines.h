/** Who makes the next blocks, the engine of the run (engine/choice.h) or the host, and where the state is. An engine
 * that keeps an image elsewhere makes them while it knows the state. Otherwise the host does, block
 * by block, and looks again after NB6_BLOCKS_OF_HOST blocks, so that the state does not move to and fro with every
 * pair. The choice follows from what a checkpoint holds: a run that is resumed makes the same one. */
#ifndef NB6_ENGINE_ENGINES_H
#define NB6_ENGINE_ENGINES_H

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** The host makes blocks up to the next multiple of this many. */
enum { NB6_BLOCKS_OF_HOST = 64 };

/** Blocks up to and including time t_stop: some of them, after which an observer wants to be asked. Encounters are
 *  decided. The state may be elsewhere then.
 *  @param[in] max_blocks  of an image; the host makes one
 *  @param[out] reason  NB6_STOP_REACHED: nothing is left to do up to t_stop
 *  @return NBC_OK; NBC_NON_FINITE and what a library or a device returned: the state in memory is that before the block
 */
int nb6_engines_advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                        struct nbc_error *err);
/** Bring the state home: before anybody reads bodies, lists or counters. Costs nothing if it is there.
 *  @return NBC_OK; what the engine returned: it is not all there, and the next call tries again */
int nb6_engines_bring_home(struct nb6_sim *sim, struct nbc_error *err);
/** What interactions of this run cost: the engine's nominal costs, or those of the backends in use. */
struct nb6_pair_cost nb6_engines_cost(const struct nb6_sim *sim);
/** The first forces are about to be made: memory for an image can be had meanwhile. */
void nb6_engines_prepare(struct nb6_sim *sim);
/** Give back what engines keep. */
void nb6_engines_release(struct nb6_sim *sim);

/** Remember in sim->elsewhere.lost that a device does not answer, if a failure says so and there is a device.
 *  @return status */
int nb6_engines_failed(struct nb6_sim *sim, int status);
/** Give up an image that cannot be fetched: blocks that only it has are not made. The state, sim->ti_reached and the
 *  predictors of the libraries are those of the last time it was home, and can be written or go on.
 *  @return NBC_OK; what a library returned */
int nb6_engines_forget(struct nb6_sim *sim, struct nbc_error *err);
/** Go on without the device, with the host engine and regular forces on the processor. The state is at home.
 *  @return NBC_OK; NBC_NO_MEMORY; what a library returned */
int nb6_engines_leave_device(struct nb6_sim *sim, struct nbc_error *err);

#endif
