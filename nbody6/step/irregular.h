/** Stages "irregular force" and "irregular corrector" of the block step. */
#ifndef NB6_IRREGULAR_H
#define NB6_IRREGULAR_H

#include "common/nbc.h"

struct nb6_sim;

/** 4, 5. Irregular force and corrector, new irregular step. */
int nb6_step_irregular(struct nb6_sim *sim, struct nbc_error *err);

#endif
