/** The decisions of stage "decide" of a block. */
#ifndef NB6_DECISIONS_H
#define NB6_DECISIONS_H

#include "nbody6/state/subsystems.h"

#include <stdint.h>

/** The decisions at the end of a block. Applied in this order: pairs that end, chains, pairs that form. */
struct nb6_decisions {
    int64_t n_end, n_chain, n_form;
    nb6_stored_slot *end;           /**< slots of pairs */
    struct nb6_chain_change *chain; /**< those that split come first */
    nb6_index (*form)[2];           /**< stars */
};

/** Whether something happens to a body already. */
int nb6_is_decided(const struct nb6_decisions *decisions, nb6_index i);

#endif
