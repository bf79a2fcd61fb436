/** One or two bodies alone were moved in many blocks in a row (state/stuck.h): who they are, and what of their steps.
 */
#ifndef NB6_STUCK_TELL_H
#define NB6_STUCK_TELL_H

#include "common/nbc.h"

struct nb6_sim;

/** An event NB6_EVENT_STUCK, if the last block was number NB6_STUCK_BLOCKS of them. Once: not again of those of whom
 * the last such event was. The state is at home.   @return NBC_OK; what GPUIRR or the observer returned */
int nb6_stuck_tell(struct nb6_sim *sim, struct nbc_error *err);

#endif
