/** Clusters in which all stars lose the same part of their mass slowly: they widen as the mass falls, and the product
 * of half-mass radius and mass stays. */
#ifndef TESTS_SUPPORT_MASS_LOSS_H
#define TESTS_SUPPORT_MASS_LOSS_H

#include <stdint.h>

#include "tests/support/cluster.h"

/** The mass that is lost, of 1. */
#define MASS_LOSS 0.2

/** A Plummer model that loses MASS_LOSS in equal parts until t_end, and two units more; a failure ends the test.
 *  @param[in] interval  of rows   @param[out] record  of the run, for cluster_record_free() */
void mass_loss_run(int64_t stars, uint64_t seed, int parts, double t_end, double interval,
                   struct cluster_record *record);
/** Mean of r_half M over rows from t to `end`. */
double mass_loss_mean(const struct cluster_record *record, double t, double end);

#endif
