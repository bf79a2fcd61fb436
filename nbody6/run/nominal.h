/** The time of a run by nominal costs. */
#ifndef NB6_NOMINAL_H
#define NB6_NOMINAL_H

#include <stdint.h>

struct nb6_config;

struct nb6_nominal {
    double steps_irr, steps_reg; /**< of all stars */
    double longest;       /**< step, in mean irregular ones that forces ask for: below 1 SMAX or a constant step is
                             the reason for most steps */
    double seconds;       /**< wall-clock time */
    double seconds_pairs; /**< part of it, of relative motions in binaries */
    const char *engine;   /**< engine that advances the blocks */
};

/** Steps of a cluster in equilibrium and the time for them: interactions by the nominal costs of backends or engine,
 * steps and blocks by measured costs. Good to a factor of three; dense cores take longer, and so do soft binaries,
 * which end and form again: up to ten times as much. Steps a
 * star and N-body unit of time: 16 N^(1/3) irregular and 7.4 N^0.19 regular ones for ETA = 0.02, within 15 percent of
 * those of Plummer models of 1000 to 16000 stars; steps go with ETA^(-1/2), and none is longer than SMAX.
 *  @param[in] n  stars; n_binary  binaries among them   @param[in] t  length of the run, N-body units   @param[in]
 * threads  of the host */
void nb6_nominal_cost(const struct nb6_config *config, int64_t n, int64_t n_binary, double t, int threads,
                      struct nb6_nominal *nominal);

#endif
