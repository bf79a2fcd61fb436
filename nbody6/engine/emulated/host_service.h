/** The host service in a block of the emulated engine (engine/host_service.h). Questions and notes have the order of
 *  those of a device; members do not have to be copied, since the image is in host memory. */
#ifndef NB6_EMULATED_HOST_SERVICE_H
#define NB6_EMULATED_HOST_SERVICE_H

#include "common/nbc.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/stop_reason.h"

struct nb6_sim;

/** Work of the host after the commit of a block, apart from candidates of encounters: none; notes of the steps of
 *  watched members; questions about them. */
enum nb6_emulated_after { NB6_AFTER_ON, NB6_AFTER_TELL, NB6_AFTER_ASK };

/** Before the force stages of a block.
 *  @param[out] status  failure   @return a reason to stop; NB6_STOP_BLOCKS: go on with the block */
enum nb6_stop_reason nb6_emulated_ask_before(struct nb6_sim *sim, struct nb6_dev *dev, enum nb6_emulated_after *after,
                                             int *status, struct nbc_error *err);
/** While a device would compute the block: motions that the block does not need. */
void nb6_emulated_meanwhile(struct nb6_sim *sim, const struct nb6_dev *dev);
/** After the commit, and after the search for candidates among its members.
 *  @param[out] status  failure   @return NB6_STOP_BLOCKS: go on with the next block; NB6_STOP_ENCOUNTER */
enum nb6_stop_reason nb6_emulated_ask_after(struct nb6_sim *sim, struct nb6_dev *dev, enum nb6_emulated_after after,
                                            int *status, struct nbc_error *err);

#endif
