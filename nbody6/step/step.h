/** The block step (DESIGN section 5) and its stages. */
#ifndef NB6_STEP_H
#define NB6_STEP_H

#include "nbody6/state/sim.h"

/** Advance to the next block time: due bodies get new forces, corrected states and new steps.
 *  @param[out] paused  1: pairs and chains have not come there yet; the next call goes on
 *  @return NBC_OK; NBC_NON_FINITE (the star and the quantity are named; the state is that before the step); what a
 * library returned */
int nb6_step(struct nb6_sim *sim, int *paused, struct nbc_error *err);

/* The stages, in the order in which nb6_step calls them. Each works on sim->active; only the last one changes stars. */

/** 1. Next block time and who is due. Stage 2, regularized pairs, is nb6_step_pairs of pairs.h. */
void nb6_step_select(struct nb6_sim *sim);
/** Who of them ends a regular step as well. */
void nb6_step_select_regular(struct nb6_sim *sim);
/** 3. Announce the time to GPUIRR; predict all bodies for GPUNB if the block has regular members. */
int nb6_step_predict(struct nb6_sim *sim, struct nbc_error *err);
/** 4, 5. Irregular force and corrector, new irregular step. */
int nb6_step_irregular(struct nb6_sim *sim, struct nbc_error *err);
/** 6, 7. Regular force, new lists, regular corrector, new regular step and neighbour radius. */
int nb6_step_regular(struct nb6_sim *sim, struct nbc_error *err);
/** 8. Corrected bodies replace the old ones, here and in GPUIRR. */
int nb6_step_commit(struct nb6_sim *sim, struct nbc_error *err);

/** Regular level of a star whose irregular step has level level_irr: the level it has, or, once it is more than 2^6
 * times the irregular step, that of the irregular step itself, so that the regular step in progress ends with the next
 * irregular one. A close encounter turns a star round within a fraction of a regular step made for its earlier motion.
 * The regular force along such a path is no cubic in time, and the corrector, if it came at the closest approach, would
 * shift the star by a length that costs the pair its energy: with N = 400 one run in six lost 2e-5 or more. Ended
 * early, the step's correction comes while the pair is still wide. */
int8_t nb6_step_regular_level(const struct nb6_sim *sim, int level_reg, int level_irr);

/** Measure the costs of the two ways to predict, on a sample of stars at the present time; all bodies and lists are in
 * GPUIRR. Steps go on measuring. */
void nb6_prediction_measure(struct nb6_sim *sim);
/** Book what a prediction of n bodies, or a force call after either way of predicting, has cost. */
void nb6_prediction_measure_all(struct nb6_prediction_cost *cost, double seconds, int64_t n);
void nb6_prediction_measure_pairs(struct nb6_prediction_cost *cost, int predicted_all, double seconds, double pairs);

/** Predict all bodies that take part into sim->active (mass, x, v), in the order of sim->pairs.source. */
void nb6_predict_sources(struct nb6_sim *sim, nb6_time t);

/** Send the predictor of body i to GPUIRR. */
int nb6_send_body(struct nb6_sim *sim, int64_t i);
/** Time as GPUIRR sees it: an exact double, relative to the origin. */
double nb6_relative_time(const struct nb6_sim *sim, nb6_time t);
/** Move the origin when the time is far from it, so that differences stay exact, and send all bodies again. */
int nb6_rebase_origin(struct nb6_sim *sim, nb6_time t, struct nbc_error *err);

#endif
