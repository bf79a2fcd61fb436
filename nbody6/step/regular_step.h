/** Stages 6 and 7 of the block step. */
#ifndef NB6_REGULAR_STEP_H
#define NB6_REGULAR_STEP_H

#include "common/nbc.h"

struct nb6_sim;

/** 6, 7. Regular force, new lists, regular corrector, new regular step and neighbour radius. */
int nb6_step_regular(struct nb6_sim *sim, struct nbc_error *err);

#endif
