/** Stages 6 and 7 of the block step. */
#ifndef NB6_REGULAR_STEP_H
#define NB6_REGULAR_STEP_H

#include "common/nbc.h"

struct nb6_sim;

/** What of stage 6 a device can do while the host is at stages 3 to 5: regular forces on predicted members. */
int nb6_step_regular_begin(struct nb6_sim *sim, struct nbc_error *err);
/** 6, 7, for what was begun. Regular force, new lists, regular corrector, new regular step and neighbour radius. */
int nb6_step_regular(struct nb6_sim *sim, struct nbc_error *err);

#endif
