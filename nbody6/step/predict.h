/** Stage "predict" of the block step, and the costs of its two ways. */
#ifndef NB6_PREDICT_H
#define NB6_PREDICT_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_prediction_cost;
struct nb6_sim;

/** Sum irregular forces in double from now on if the ETAI in use requires it (rules.h).
 *  @return as gpuirr_set_in_double */
int nb6_step_set_precision(struct nb6_sim *sim);
/** 3. Announce the time to GPUIRR. */
int nb6_step_predict(struct nb6_sim *sim, struct nbc_error *err);
/** Measure the costs of the two ways to predict, on a sample of stars at the present time; all bodies and lists are in
 * GPUIRR. Steps go on measuring. */
void nb6_prediction_measure(struct nb6_sim *sim);
/** Book what a prediction of n bodies, or a force call after either way of predicting, has cost. */
void nb6_prediction_measure_all(struct nb6_prediction_cost *cost, double seconds, int64_t n);
void nb6_prediction_measure_pairs(struct nb6_prediction_cost *cost, int predicted_all, double seconds, double pairs);

#endif
