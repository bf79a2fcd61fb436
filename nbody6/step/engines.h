/** Which engine makes the next blocks, and where the state is. An engine that keeps an image elsewhere makes them while
 *  it knows the state: single stars alone. Otherwise the host does, block by block, and looks again after
 *  NB6_BLOCKS_OF_HOST blocks, so that the state does not move to and fro with every pair. The choice follows from what
 * a checkpoint holds: a run that is resumed makes the same one. */
#ifndef NB6_ENGINES_H
#define NB6_ENGINES_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/step/engine.h"

#include <stdint.h>

struct nb6_config;
struct nb6_sim;

/** The host makes blocks up to the next multiple of this many. */
enum { NB6_BLOCKS_OF_HOST = 64 };

/** Whether this program has the engine that the configuration asks for.
 *  @return NBC_OK; NBC_UNAVAILABLE (says what to ask for instead) */
int nb6_engines_check(const struct nb6_config *config, struct nbc_error *err);
/** The engine that the configuration asks for: for single stars at least. */
const struct nb6_engine *nb6_engine_wanted(const struct nb6_config *config);

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
/** Give back what engines keep. */
void nb6_engines_release(struct nb6_sim *sim);

#endif
