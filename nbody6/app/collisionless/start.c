#include "nbody6/app/collisionless/start.h"

#include "gpunb/gpunb.h"
#include "nbody6/app/collisionless/check.h"
#include "nbody6/app/collisionless/on_ranks.h"
#include "nbody6/app/new_sim.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/output/run_id.h"
#include "nbody6/state/run_record.h"
#include "nbody6/world/world.h"

/* ---- models */

static int check_settled(const struct nb6_config *config, struct nb6_config *settled, int64_t n, struct nbc_error *err)
{
    int status = config->run.t_crit_myr > 0 ? nb6_collisionless_round_end(settled, err) : NBC_OK;
    if (!status) status = nb6_collisionless_check(settled, err);
    return status ? status : nb6_collisionless_check_tree(settled, n, err);
}

int nb6_start_model(const struct nb6_config *config, struct nb6_config *settled, struct nb6_model *model,
                    struct nbc_error *err)
{
    int status = nb6_new_model(config, settled, model, err);
    if (status) return status;
    status = check_settled(config, settled, model->n, err);
    if (status) nb6_model_free(model);
    return status;
}

/* ---- bodies of ranks, as the store of a model */

static const enum nb6_body_column COLUMN[] = {[NB6_MODEL_NAME] = NB6_ROWS_NAME,
                                              [NB6_MODEL_MASS] = NB6_ROWS_MASS,
                                              [NB6_MODEL_X] = NB6_ROWS_X,
                                              [NB6_MODEL_V] = NB6_ROWS_V};

static void get(void *context, enum nb6_model_column column, int64_t first, int64_t count, void *rows)
{
    const struct nb6_start *s = context;
    if (s->sink)
        s->sink->get(s->sink->context, COLUMN[column], first, count, rows);
    else
        s->rows.get(s->rows.context, COLUMN[column], first, count, rows);
}

static void put(void *context, enum nb6_model_column column, int64_t first, int64_t count, const void *rows)
{
    const struct nb6_start *s = context;
    s->sink->put(s->sink->context, COLUMN[column], first, count, rows);
}

/* The ranks have room for the bodies. */
static int give(void *context, const struct nb6_body_sink *sink, struct nbc_error *err)
{
    struct nb6_start *s = context;
    s->sink = sink;
    const int status = nb6_new_model_in(s->config, &s->store, s->settled, &s->model, err);
    s->sink = NULL;
    return status;
}

/* ---- systems */

static int make_in_pieces(struct nb6_start *s, int64_t n, struct nb6_world *world, struct nb6_collisionless **system,
                          struct nbc_error *err)
{
    struct nb6_collisionless_options options;
    const struct nb6_body_source from = {give, s};
    int status = nb6_collisionless_options_on(s->config, world, &options, err);
    if (!status) status = nb6_collisionless_check_tree(s->config, n, err);
    options.bodies = &from;
    s->store = (struct nb6_model_store){get, put, s, n, NB6_PIECE_BODIES};
    if (!status) status = nb6_collisionless_create(system, n, NULL, NULL, NULL, NULL, &options, err);
    if (status) return status;
    s->rows = nb6_collisionless_rows(*system);
    return check_settled(s->config, s->settled, n, err);
}

static int make_whole(struct nb6_start *s, struct nb6_world *world, struct nb6_collisionless **system,
                      struct nbc_error *err)
{
    struct nb6_collisionless_options options;
    const struct nb6_model *m = &s->model;
    int status = nb6_start_model(s->config, s->settled, &s->model, err);
    if (!status) status = nb6_collisionless_options_on(s->settled, world, &options, err);
    if (status) return status;
    return nb6_collisionless_create(system, m->n, m->name, m->mass, (const double(*)[3])m->x, (const double(*)[3])m->v,
                                    &options, err);
}

/* The properties of the model become those of the run. */
static int make_record(struct nb6_start *s, const struct nb6_collisionless *system, struct nb6_run_record *run,
                       struct nbc_error *err)
{
    struct nb6_model *m = &s->model;
    run->units = nb6_units_from(run->config.rbar_pc, run->config.zmbar_msun, m->n);
    const int status = nb6_external_make(&run->config, &run->units, &run->external, err);
    if (status) return status;
    run->properties = m->properties;
    m->properties = NULL;
    for (struct nb6_piece p = nb6_pieces(m, NB6_MASSES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) run->book.mass_start += p.mass[i];
    const struct nb6_run_origin origin = {.gpunb_backend = gpunb_info(system->force)->name,
                                          .gpuirr_backend = "none",
                                          .engine = "collisionless",
                                          .n = m->n,
                                          .name = m->name,
                                          .mass = m->mass,
                                          .x = (const double(*)[3])m->x,
                                          .v = (const double(*)[3])m->v,
                                          .rows = s->rows,
                                          .properties = run->properties};
    nb6_run_id_make(&run->config, &origin, run->id);
    return NBC_OK;
}

int nb6_start_make(struct nb6_start *s, const struct nb6_config *config, struct nb6_world *world,
                   struct nb6_run_record *run, struct nb6_collisionless **system, struct nbc_error *err)
{
    int64_t n = 0;
    *s = (struct nb6_start){.config = config, .settled = &run->config};
    const int is_divided = nb6_world_size(world) > 1;
    int status = is_divided ? nb6_model_size(config, &n, err) : NBC_OK;
    if (!status) status = n > 0 ? make_in_pieces(s, n, world, system, err) : make_whole(s, world, system, err);
    return status ? status : make_record(s, *system, run, err);
}

void nb6_start_free(struct nb6_start *s)
{
    nb6_model_free(&s->model);
}
