/** Stages "regular force" and "regular corrector" of the block step. */
#ifndef NB6_REGULAR_STEP_H
#define NB6_REGULAR_STEP_H

#include "common/nbc.h"

struct nb6_sim;

/** Begin stage "regular force" on a device: regular forces on predicted members, which it computes while the host goes
 *  through the stages "predict" to "irregular corrector". */
int nb6_step_regular_begin(struct nb6_sim *sim, struct nbc_error *err);
/** Both stages, for the forces that were begun: regular force, new lists, regular corrector, new regular step and
 *  neighbour radius. */
int nb6_step_regular(struct nb6_sim *sim, struct nbc_error *err);

#endif
