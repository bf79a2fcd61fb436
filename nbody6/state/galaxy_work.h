/** Work of an external field that depends on time, which the ledger books as it is done: with each block that on the
 *  members since their last step, and with escapers the rest of theirs. */
#ifndef NB6_GALAXY_WORK_H
#define NB6_GALAXY_WORK_H

#include <stdint.h>

struct nb6_sim;

/** Work on body i since its last step, if it is at x, v at time t.   @param[in] t  absolute */
double nb6_galaxy_work(const struct nb6_sim *sim, int64_t i, double t, const double x[3], const double v[3]);

#endif
