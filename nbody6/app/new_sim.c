#include "nbody6/app/new_sim.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/model/model.h"
#include "nbody6/model/pieces.h"
#include "nbody6/output/run_id.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"

/* Stars age by their masses in Msun, which a file in N-body units does not have. */
static int check_unit(const struct nb6_config *config, struct nb6_model *model, struct nbc_error *err)
{
    const struct nb6_data_facts *data = &model->data;
    if (!config->stellar.evolve || config->model.kind != NB6_MODEL_FILE || !config->data.mass_unit_open ||
        config->data.new_masses || data->units == NB6_FILE_PHYSICAL || data->zmbar_msun > 0)
        return NBC_OK;
    nb6_model_free(model);
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "ZMBAR: stars age (KZ(19) > 0) by their masses in Msun, which %s does not say; give ZMBAR, the mean "
        "mass in Msun, or KZ(19)=0",
        config->model.data_path);
}

static int settle(const struct nb6_config *config, int status, struct nb6_config *settled, struct nb6_model *model,
                  struct nbc_error *err)
{
    if (!status) status = check_unit(config, model, err);
    if (status) return status;
    *settled = *config;
    nb6_model_settle(model, settled);
    return NBC_OK;
}

int nb6_new_model(const struct nb6_config *config, struct nb6_config *settled, struct nb6_model *model,
                  struct nbc_error *err)
{
    return settle(config, nb6_model_make(config, model, err), settled, model, err);
}

int nb6_new_model_in(const struct nb6_config *config, const struct nb6_model_store *store, struct nb6_config *settled,
                     struct nb6_model *model, struct nbc_error *err)
{
    return settle(config, nb6_model_make_in(config, store, model, err), settled, model, err);
}

static void make_id(struct nb6_sim *sim, const struct nb6_model *model)
{
    const struct nb6_run_origin origin = {.gpunb_backend = gpunb_info(sim->reg)->name,
                                          .gpuirr_backend = gpuirr_info(sim->irr)->name,
                                          .engine = nb6_engine_name(sim),
                                          .n = model->n,
                                          .name = model->name,
                                          .mass = model->mass,
                                          .x = (const double(*)[3])model->x,
                                          .v = (const double(*)[3])model->v,
                                          .properties = model->properties};
    nb6_run_id_make(&sim->run.config, &origin, sim->run.id);
}

int nb6_new_sim(const struct nb6_config *settled, const struct nb6_model *model, struct nb6_sim **sim,
                struct nbc_error *err)
{
    int status = nb6_create(sim, settled, err);
    if (!status) status = nb6_properties_copy(model->properties, &(*sim)->run.properties, err);
    if (!status)
        status = nb6_set_bodies(*sim, model->n, model->name, model->mass, (const double(*)[3])model->x,
                                (const double(*)[3])model->v, err);
    if (!status) make_id(*sim, model);
    return status;
}
