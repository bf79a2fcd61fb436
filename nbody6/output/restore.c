#include "nbody6/output/restore.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/engine/choice.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/run/ageing_begin.h"
#include "nbody6/run/change.h"
#include "nbody6/run/live.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/start.h"

#include <string.h>

static int restore_lists(struct nb6_sim *sim, const int32_t *nblist, struct nbc_error *err)
{
    for (int64_t i = 0; i < nb6_bodies(sim); i++) {
        int status = gpuirr_set_list(sim->irr, (size_t)i, (size_t)sim->star[i].nnb, nblist);
        if (status)
            return nbc_fail(err, status == NBC_NO_MEMORY ? status : NBC_FILE, "neighbour list of star %lld: %s",
                            (long long)sim->star[i].name, gpuirr_last_error(sim->irr));
        nblist += sim->star[i].nnb;
    }
    return NBC_OK;
}

/* Other backends may imply another engine (nb6_engine_choose). */
static int asks_for_others(const struct nb6_run_config *then, const struct nb6_run_config *now)
{
    return now->engine != then->engine || strcmp(now->device, then->device) != 0 ||
           strcmp(now->irr_backend, then->irr_backend) != 0;
}

int nb6_restore_changed(struct nb6_sim **sim, const char *path, const struct nb6_config *config, struct nbc_error *err)
{
    struct nb6_sim *made = nb6_live_make();
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a simulation");
    int32_t *nblist = NULL;
    made->run.wall_start_s = nbc_wtime();
    int status = nb6_checkpoint_read(path, made, &nblist, err);
    const int asked = config && !status && asks_for_others(&made->run.config.run, &config->run);
    if (!status && config) {
        const struct nb6_config before = made->run.config;
        made->run.config = *config;
        status = nb6_change_state(made, &before, err);
    }
    if (!status) status = nb6_ageing_resume(made, err);
    if (!status) status = nb6_engine_resume(made, asked, err);
    if (!status) status = nb6_sim_open(made, made->n, 0, err);
    if (!status) status = restore_lists(made, nblist, err);
    if (!status) status = nb6_start_resume(made, err);
    nbc_free(nblist);
    if (status)
        nb6_free(made);
    else
        *sim = made;
    return status;
}

int nb6_restore(nb6_t **sim, const char *path, struct nbc_error *err)
{
    if (!sim || !path) return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_restore: an argument is NULL");
    return nb6_restore_changed(sim, path, NULL, err);
}
