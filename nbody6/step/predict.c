#include "nbody6/step/predict.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/rules.h"

int nb6_step_set_precision(struct nb6_sim *sim)
{
    return gpuirr_set_in_double(sim->irr, nb6_needs_double(sim->run.config.integration.eta_irr * sim->book.eta_share));
}

int nb6_step_predict(struct nb6_sim *sim, struct nbc_error *err)
{
    const double start = nbc_wtime();
    int status = nb6_step_set_precision(sim);
    if (!status) status = gpuirr_pred_all(sim->irr, 0, (size_t)nb6_bodies(sim), nb6_relative_time(sim, sim->active.t));
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    nb6_profile_stage(sim, NB6_STAGE_PREDICT, nbc_wtime() - start);
    return NBC_OK;
}
