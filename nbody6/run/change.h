/** Adapt the state of a run to changed parameters. Private to libnbody6. */
#ifndef NB6_CHANGE_H
#define NB6_CHANGE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_config;
struct nb6_run_record;
struct nb6_sim;

/** The k-th multiple of an interval, rounded once: no drift.   @return INT64_MAX beyond the latest time there is */
nb6_time nb6_time_multiple(int64_t k, double interval);

/** sim->run.config differs from `before`, by nb6_input_change: let the state follow. Times of adjusts and outputs
 * become the next multiples of their intervals, what is due stays due; criteria of close encounters, the wanted number
 * of neighbours and the steps of pairs take the new values where the input gives them. All else is asked of the
 *  configuration whenever it is needed: steps, perturbers and lists change as they are made anew.
 *  @return NBC_OK; NBC_BAD_INPUT (a change that this state cannot follow: which, and why; the state is as before) */
int nb6_change_state(struct nb6_sim *sim, const struct nb6_config *before, struct nbc_error *err);
/** The times of adjusts and outputs alone, of either kind of run, which has reached a time. */
void nb6_change_times(struct nb6_run_record *run, nb6_time reached, const struct nb6_config *before);

#endif
