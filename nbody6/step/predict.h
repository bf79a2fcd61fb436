/** Stage "predict" of the block step. */
#ifndef NB6_PREDICT_H
#define NB6_PREDICT_H

#include "common/nbc.h"

struct nb6_sim;

/** Sum irregular forces in double from now on if the ETAI in use requires it (rules.h).
 *  @return as gpuirr_set_in_double */
int nb6_step_set_precision(struct nb6_sim *sim);
/** 3. Announce the time to GPUIRR, which predicts neighbours as forces are asked for. */
int nb6_step_predict(struct nb6_sim *sim, struct nbc_error *err);

#endif
