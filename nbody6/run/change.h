/** Adapt the state of a run to changed parameters. Private to libnbody6. */
#ifndef NB6_CHANGE_H
#define NB6_CHANGE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_config;
struct nb6_sim;

/** The k-th multiple of an interval, rounded once: no drift.   @return INT64_MAX beyond the latest time there is */
nb6_time nb6_time_multiple(int64_t k, double interval);

/** sim->config differs from `before`, by nb6_input_change: let the state follow. Times of adjusts and outputs become
 *  the next multiples of their intervals, due ones stay due; criteria of close encounters, the wanted number of
 *  neighbours and the steps of pairs take the new values where the input gives them. Other parameters are read from the
 *  configuration whenever they are needed: steps, perturbers and lists follow when they are computed anew.
 *  @return NBC_OK; NBC_BAD_INPUT (a change that this state cannot follow: which, and why; the state is as before) */
int nb6_change_state(struct nb6_sim *sim, const struct nb6_config *before, struct nbc_error *err);
/** The times of adjusts and outputs alone, which need no stars. */
void nb6_change_times(struct nb6_sim *sim, const struct nb6_config *before);

#endif
