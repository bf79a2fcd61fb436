/** The host's share in a block of the emulated engine (engine/host_service.h): the same questions and notes in the same
 * order as those of a device, with the image of the state in memory as the place where members are shown. */
#ifndef NB6_EMULATED_HOST_SERVICE_H
#define NB6_EMULATED_HOST_SERVICE_H

#include "common/nbc.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/stop_reason.h"

struct nb6_sim;

/** What the host has to do with a block after its commit, but for members at whom it has to look: nothing; be told of
 *  watched members; be asked of them. */
enum nb6_emulated_after { NB6_AFTER_ON, NB6_AFTER_TELL, NB6_AFTER_ASK };

/** Before forces are made on the members of a block.
 *  @param[out] status  what failed   @return a reason to stop; NB6_STOP_BLOCKS: on with the block */
enum nb6_stop_reason nb6_emulated_ask_before(struct nb6_sim *sim, struct nb6_dev *dev, enum nb6_emulated_after *after,
                                             int *status, struct nbc_error *err);
/** While a device would make the block: motions that it does not need. */
void nb6_emulated_meanwhile(struct nb6_sim *sim, const struct nb6_dev *dev);
/** After its commit, and looks at its members.
 *  @param[out] status  what failed   @return NB6_STOP_BLOCKS: on with the next block; NB6_STOP_ENCOUNTER */
enum nb6_stop_reason nb6_emulated_ask_after(struct nb6_sim *sim, struct nb6_dev *dev, enum nb6_emulated_after after,
                                            int *status, struct nbc_error *err);

#endif
