/** Report of one or two bodies that alone were advanced in many blocks in a row (state/stuck.h), and of their steps. */
#ifndef NB6_STUCK_TELL_H
#define NB6_STUCK_TELL_H

#include "common/nbc.h"

struct nb6_sim;

/** Raise NB6_EVENT_STUCK if the last block was number NB6_STUCK_BLOCKS of these. It is not repeated for the bodies of
 * the last such event. The state must be in host memory.   @return NBC_OK; the status of GPUIRR or of the observer */
int nb6_stuck_tell(struct nb6_sim *sim, struct nbc_error *err);

#endif
