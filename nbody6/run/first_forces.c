#include "nbody6/run/first_forces.h"

#include "common/nbc.h"
#include "nbody6/engine/engines.h"
#include "nbody6/run/opening.h"
#include "nbody6/step/start.h"

int nb6_first_forces(struct nb6_sim *sim, int64_t n_pair, const int32_t (*pair)[2], struct nbc_error *err)
{
    int32_t *order = NULL;
    int status = nb6_start_begin(sim, n_pair, pair, err);
    if (!status) status = nb6_opening_begin_bodies(sim, err);
    if (!status) status = nb6_start_places(sim, &order, err);
    if (!status) {
        /* The libraries have their memory now: to ask a driver for both at once takes as long as one after the other.
         */
        nb6_engines_prepare(sim);
        status = nb6_start_finish(sim, order, err);
    }
    nbc_free(order);
    return status;
}
