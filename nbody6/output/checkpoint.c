#include "nbody6/output/checkpoint.h"

#include "common/file.h"
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/choice.h"
#include "nbody6/hdf5/hdf5_trial.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/output/checkpoint_advice.h"
#include "nbody6/output/checkpoint_check.h"
#include "nbody6/output/checkpoint_columns.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_properties.h"
#include "nbody6/output/checkpoint_relations.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/output/checkpoint_seal.h"
#include "nbody6/output/checkpoint_state.h"
#include "nbody6/output/run_id.h"
#include "nbody6/run/live.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <string.h>

/* ---- writing ---- */

static void write_heading(struct nb6_hdf5 *file, const struct nb6_sim *sim, const struct nb6_run_state *run)
{
    char reg[sizeof sim->run.config.run.device];
    memcpy(reg, sim->run.config.run.device, sizeof reg);
    if (sim->reg) nb6_regular_name(sim->reg, reg, sizeof reg);
    nb6_checkpoint_write_heading(file, reg, gpuirr_info(sim->irr)->name,
                                 nb6_engine_choice_name((enum nb6_engine_choice)sim->engine), run);
}

int nb6_checkpoint_write_run(const char *path, const char *keep_as, const struct nb6_sim *sim,
                             const struct nb6_run_state *run, struct nbc_error *err)
{
    static const struct nb6_run_state no_run;
    struct nb6_hdf5 file;
    struct nb6_checkpoint_state state;
    nb6_checkpoint_state_of(sim, &state);
    state.run.book.wall_used_s += nbc_wtime() - sim->run.wall_start_s; /* past for the session that resumes */
    nb6_hdf5_create(&file, path, NB6_SEAL_BYTES, err);
    write_heading(&file, sim, run ? run : &no_run);
    nb6_checkpoint_write_state(&file, &state);
    nb6_checkpoint_write_columns(&file, &nb6_body_fields, sim->body, nb6_bodies(sim));
    nb6_checkpoint_write_columns(&file, &nb6_star_fields, sim->star, nb6_bodies(sim));
    if (sim->ageing) nb6_checkpoint_write_columns(&file, &nb6_aged_fields, sim->ageing->aged, sim->n);
    if (!file.status) nb6_checkpoint_write_pairs(&file, sim);
    if (!file.status) nb6_checkpoint_write_lists(&file, sim);
    if (!file.status) nb6_checkpoint_write_properties(&file, sim->run.properties);
    nb6_hdf5_finish(&file);
    nb6_seal_write(&file, NB6_CHECKPOINT_SCHEMA);
    return nb6_hdf5_commit(&file, keep_as);
}

int nb6_checkpoint_write(const char *path, const struct nb6_sim *sim, struct nbc_error *err)
{
    return nb6_checkpoint_write_run(path, NULL, sim, NULL, err);
}

/* ---- reading ---- */

static void read_heading(struct nb6_hdf5 *file, struct nb6_config *config, struct nb6_run_state *run)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, "nbody6");
    nb6_hdf5_get_text(file, object, "gpunb_backend", sizeof config->run.device, config->run.device);
    nb6_hdf5_get_text(file, object, "gpuirr_backend", sizeof config->run.irr_backend, config->run.irr_backend);
    nb6_hdf5_get_text(file, object, "engine", sizeof run->engine, run->engine);
    nb6_hdf5_get_text(file, object, "run", sizeof run->id, run->id);
    nb6_hdf5_get(file, object, "log_bytes", H5T_NATIVE_INT64, 0, &run->log_bytes);
    nb6_hdf5_get(file, object, "events_bytes", H5T_NATIVE_INT64, 0, &run->events_bytes);
    nb6_hdf5_get(file, object, "escapers_bytes", H5T_NATIVE_INT64, 0, &run->escapers_bytes);
    nb6_hdf5_close_object(object);
}

/* nbody6-collisionless has the same configuration and books, and other bodies. */
static int is_collisionless(const struct nb6_run_state *run)
{
    return strcmp(run->engine, "collisionless") == 0;
}

static void check_engine(struct nb6_hdf5 *file, const struct nb6_run_state *run)
{
    if (file->status || nb6_engine_named(run->engine) >= 0) return;
    if (is_collisionless(run))
        nb6_hdf5_fail(file, NBC_BAD_INPUT, "it is a checkpoint of nbody6-collisionless, which has --resume too");
    else
        nb6_hdf5_fail(file, NBC_FILE, "it was written with an engine that this program has not");
}

static void check_external(struct nb6_hdf5 *file, int kind)
{
    char text[128];
    if (file->status || nb6_external_is_known(kind)) return;
    snprintf(text, sizeof text, "it holds an external potential of number %d (KZ(14)), which this program has not",
             kind);
    nb6_hdf5_fail(file, NBC_FILE, text);
}

/* Read and check all data of fixed size: they may be used then, and they give the sizes of the rest. */
static void read_state(struct nb6_hdf5 *file, struct nb6_checkpoint_state *state, struct nb6_run_state *run)
{
    struct nb6_config *config = &state->run.config;
    nb6_checkpoint_read_state(file, state);
    check_external(file, state->run.external.kind);
    nb6_checkpoint_read_numbers(file, config);
    nb6_checkpoint_read_radii(file, config);
    const struct nb6_config settled = *config; /* before the heading names the backends in use */
    read_heading(file, config, run);
    if (file->status) return;
    nb6_relations_heading(file, run);
    nb6_relations_state(file, state, &settled, is_collisionless(run));
    run->t = nb6_time_to_double(state->ti_reached);
    run->n = state->n;
    run->adjusts = state->run.book.adjust_count;
    run->t_ended = nb6_time_to_double(state->run.book.ti_ended);
}

static void read_bodies(struct nb6_hdf5 *file, struct nb6_sim *sim)
{
    const struct nb6_rule_sizes sizes = nb6_rule_sizes_of(sim);
    nb6_checkpoint_read_columns(file, &nb6_body_fields, sim->body, nb6_bodies(sim), NULL, &sizes);
    nb6_checkpoint_read_columns(file, &nb6_star_fields, sim->star, nb6_bodies(sim), NULL, &sizes);
}

/* Members before anything that follows them, and bodies before their motions. */
static void judge_relations(struct nb6_hdf5 *file, const struct nb6_sim *sim, const int32_t *nblist)
{
    nb6_relations_members(file, sim);
    nb6_relations_bodies(file, sim);
    nb6_relations_lists(file, sim, nblist);
    nb6_relations_motions(file, sim);
}

/* Nothing is allocated that the file does not hold. */
static void check_sizes(struct nb6_hdf5 *file, const struct nb6_sim *sim)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    nb6_checkpoint_check_columns(file, &nb6_body_fields, nb6_bodies(sim));
    nb6_checkpoint_check_columns(file, &nb6_star_fields, nb6_bodies(sim));
    nb6_checkpoint_check_columns(file, &nb6_pair_fields, p->n_slot);
    nb6_checkpoint_check_columns(file, &nb6_ks_fields, p->n_slot);
    nb6_checkpoint_check_columns(file, &nb6_perturber_fields, p->n_slot);
    nb6_checkpoint_check_columns(file, &nb6_chain_fields, p->n_chain);
}

/* The models of the stars follow from the configuration (nb6_ageing_resume). */
static void read_ageing(struct nb6_hdf5 *file, struct nb6_sim *sim)
{
    const struct nb6_rule_sizes sizes = nb6_rule_sizes_of(sim);
    if (file->status || !sim->run.config.stellar.evolve) return;
    nb6_checkpoint_check_columns(file, &nb6_aged_fields, sim->n);
    if (file->status) return;
    if (nb6_ageing_create(sim, NULL)) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its stars");
        return;
    }
    nb6_checkpoint_read_columns(file, &nb6_aged_fields, sim->ageing->aged, sim->n, NULL, &sizes);
    for (int64_t i = 0; i < sim->n; i++)
        nb6_rules_unless(sim->ageing->aged[i].star.name == sim->star[i].name, file, "ageing/name", i,
                         (double)sim->ageing->aged[i].star.name, "the name of the star");
}

static void read_stars(struct nb6_hdf5 *file, struct nb6_sim *sim, int32_t **nblist)
{
    struct nb6_subsystems *p = &sim->subsystems;
    check_sizes(file, sim);
    if (file->status) return;
    int64_t slots = nb6_subsystems_room(p->n_slot); /* as nb6_subsystems_alloc has it */
    size_t room = (size_t)(sim->n + slots);
    sim->body = nbc_alloc(room, sizeof *sim->body);
    sim->star = nbc_alloc(room, sizeof *sim->star);
    p->system = nbc_alloc((size_t)slots, sizeof *p->system);
    p->ks = nbc_alloc((size_t)slots, sizeof *p->ks);
    p->pert = nbc_alloc((size_t)slots, sizeof *p->pert);
    if (!sim->body || !sim->star || !p->system || !p->ks || !p->pert) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its stars");
        return;
    }
    read_bodies(file, sim);
    read_ageing(file, sim);
    if (!file->status) nb6_checkpoint_read_pairs(file, sim);
    if (!file->status) nb6_checkpoint_read_lists(file, sim, nblist);
    if (!file->status) judge_relations(file, sim, *nblist);
    nb6_checkpoint_read_properties(file, &sim->run);
}

/* A checkpoint to be read, by a child process first. */
struct reading {
    const char *path;
    struct nb6_checkpoint_state *state;
    struct nb6_run_state *run;
    struct nb6_sim *sim; /* NULL: the configuration alone */
    int32_t **nblist;
    struct nbc_error *err;
};

static int read_sealed(const struct reading *r)
{
    struct nb6_hdf5 file;
    nb6_hdf5_open(&file, r->path, r->err);
    read_state(&file, r->state, r->run);
    if (r->sim || !is_collisionless(r->run)) check_engine(&file, r->run);
    if (r->sim && !file.status) {
        nb6_checkpoint_state_to(r->state, r->sim);
        r->sim->engine = nb6_engine_named(r->run->engine);
        read_stars(&file, r->sim, r->nblist);
    }
    return nb6_hdf5_close(&file);
}

static void try_sealed(void *context)
{
    read_sealed(context);
}

static int read_file(struct reading *r)
{
    int status = nb6_seal_check(r->path, NB6_CHECKPOINT_SCHEMA, r->err);
    if (status) return status;
    status =
        r->sim ? nb6_hdf5_try_briefly(r->path, try_sealed, r, r->err) : nb6_hdf5_try(r->path, 0, try_sealed, r, r->err);
    return status ? status : read_sealed(r);
}

static int no_memory(const char *path, struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "not enough memory to read %s", path);
}

int nb6_checkpoint_read(const char *path, struct nb6_sim *sim, int32_t **nblist, struct nbc_error *err)
{
    struct nb6_run_state run = {0};
    struct nb6_checkpoint_state *state = nbc_alloc(1, sizeof *state); /* too large for a stack */
    struct reading reading = {path, state, &run, sim, nblist, err};
    *nblist = NULL;
    if (!state) return no_memory(path, err);
    const int status = read_file(&reading);
    nbc_free(state);
    if (!status) return NBC_OK;
    nb6_subsystems_free(&sim->subsystems);
    nb6_ageing_free(sim->ageing);
    sim->ageing = NULL;
    nbc_free(sim->body);
    nbc_free(sim->star);
    nbc_free(*nblist);
    nb6_properties_free(sim->run.properties);
    sim->run.properties = NULL;
    sim->body = NULL;
    sim->star = NULL;
    *nblist = NULL;
    return is_collisionless(&run) ? status : nb6_checkpoint_advise(path, status, err);
}

int nb6_checkpoint_read_config(const char *path, struct nb6_config *config, struct nb6_run_state *run,
                               struct nbc_error *err)
{
    struct nb6_checkpoint_state *state = nbc_alloc(1, sizeof *state);
    struct reading reading = {path, state, run, NULL, NULL, err};
    if (!state) return no_memory(path, err);
    int status = read_file(&reading);
    if (!status) *config = state->run.config;
    nbc_free(state);
    if (!status && !run->id[0]) status = nb6_run_id_of_seal(path, run->id, err);
    return nb6_checkpoint_advise(path, status, err);
}

int nb6_checkpoint(nb6_t *sim, const char *path, struct nbc_error *err)
{
    int status = nb6_live_check(sim, "nb6_checkpoint", err);
    if (status) return status;
    if (!path) return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_checkpoint: path is NULL");
    if (!sim->body) return nbc_fail(err, NBC_BAD_STATE, "nb6_checkpoint: the simulation has no stars yet");
    status = nb6_bring_home(sim, err);
    return status ? status : nb6_checkpoint_write(path, sim, err);
}
