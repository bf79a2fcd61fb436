/** Stage "commit" of the block step. */
#ifndef NB6_COMMIT_H
#define NB6_COMMIT_H

#include "common/nbc.h"

struct nb6_sim;

/** 8. Corrected bodies replace the old ones, here and in GPUIRR. */
int nb6_step_commit(struct nb6_sim *sim, struct nbc_error *err);

#endif
