/** A stage of a block of the emulated engine: a loop over items, where a device has threads. */
#ifndef NB6_EMULATED_STAGE_H
#define NB6_EMULATED_STAGE_H

#include "nbody6/engine/stages/state.h"

#include <stdint.h>

/** The work on one item is independent of that on others, which threads do at the same time. */
typedef void nb6_emulated_item(const struct nb6_dev *dev, int64_t item);

enum { NB6_EMULATED_BODIES = 16 }; /**< items that make a thread worth its start */

/** Do all items, each once.   @param[in] worth_a_thread  items that make a thread worth its start */
void nb6_emulated_stage(const struct nb6_dev *dev, nb6_emulated_item *make, int64_t items, int64_t worth_a_thread);

#endif
