#include "nbody6/output/collisionless_checkpoint.h"

#include "common/nbc.h"
#include "common/twins.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree/costs.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/owners.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/collisionless/system_memory.h"
#include "nbody6/hdf5/hdf5_stored.h"
#include "nbody6/hdf5/hdf5_trial.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/checkpoint_advice.h"
#include "nbody6/output/checkpoint_arrays.h"
#include "nbody6/output/checkpoint_columns.h"
#include "nbody6/output/checkpoint_domains.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_owners.h"
#include "nbody6/output/checkpoint_properties.h"
#include "nbody6/output/checkpoint_relations.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/output/checkpoint_seal.h"
#include "nbody6/output/checkpoint_state.h"
#include "nbody6/output/checkpoint_tree.h"
#include "nbody6/state/run_record.h"

#include <stdint.h>
#include <string.h>

static const char ENGINE[] = "collisionless", NO_COSTS[] = "none";

static const enum nb6_body_column BODY_COLUMNS[] = {NB6_ROWS_X, NB6_ROWS_V, NB6_ROWS_ACC, NB6_ROWS_MASS},
                                  STAR_COLUMNS[] = {NB6_ROWS_NAME, NB6_ROWS_LEVEL};

/* The fields of nbody6 that bodies have, in the arrays of a system. */
enum { BODY_ARRAYS = 4, STAR_ARRAYS = 2 };
struct places {
    struct nb6_field_array body[BODY_ARRAYS], star[STAR_ARRAYS];
};

static struct places places_in(const struct nb6_collisionless *s)
{
    return (struct places){.body = {{"x0", s->x0, sizeof *s->x0},
                                    {"v0", s->v, sizeof *s->v},
                                    {"acc", s->acc, sizeof *s->acc},
                                    {"mass", s->mass, sizeof *s->mass}},
                           .star = {{"name", s->name, sizeof *s->name}, {"level_irr", s->level, sizeof *s->level}}};
}

/* Fields of simulations are 0. */
static void state_of(const struct nb6_run_record *record, const struct nb6_collisionless *system,
                     struct nb6_checkpoint_state *state)
{
    *state = (struct nb6_checkpoint_state){
        .run = *record, .n = system->n, .ti_now = system->ti_now, .ti_reached = system->ti_now};
    state->run.book.wall_used_s += nbc_wtime() - record->wall_start_s; /* past for the session that resumes */
}

/* Nominal costs of the tree, as text: the run that resumes has the same ones, on any machine. */
static void write_costs(struct nb6_hdf5 *file, const struct nb6_collisionless *system)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, "nbody6");
    nb6_hdf5_put_text(file, object, "tree_costs", system->costs[0] ? system->costs : NO_COSTS);
    nb6_hdf5_close_object(object);
}

int nb6_collisionless_checkpoint_write(const char *path, const char *keep_as, const struct nb6_run_record *record,
                                       struct nb6_collisionless *system, const struct nb6_run_state *run,
                                       struct nbc_error *err)
{
    struct nb6_hdf5 file;
    struct nb6_checkpoint_state state;
    const struct places places = places_in(system);
    const struct nb6_body_rows rows = nb6_collisionless_rows(system);
    state_of(record, system, &state);
    nb6_hdf5_create(&file, path, NB6_SEAL_BYTES, err);
    /* nbody6 reads on, up to the engine */
    nb6_checkpoint_write_heading(&file, gpunb_info(system->force)->name, "none", ENGINE, run);
    write_costs(&file, system);
    nb6_checkpoint_write_state(&file, &state);
    nb6_checkpoint_write_rows(&file, &nb6_body_fields, places.body, BODY_COLUMNS, BODY_ARRAYS, system->n, &rows);
    nb6_checkpoint_write_rows(&file, &nb6_star_fields, places.star, STAR_COLUMNS, STAR_ARRAYS, system->n, &rows);
    nb6_checkpoint_write_tree(&file, system, &rows);
    if (!file.status) nb6_checkpoint_write_properties(&file, record->properties);
    if (!file.status) nb6_checkpoint_write_owners(&file, system->owners);
    if (!file.status && system->ranks) nb6_checkpoint_write_domains(&file, nb6_ranks_sections(system->ranks));
    nb6_hdf5_finish(&file);
    nb6_seal_write(&file, NB6_CHECKPOINT_SCHEMA);
    return nb6_hdf5_commit(&file, keep_as);
}

/* ---- reading ---- */

/* A checkpoint to be read, by a child process first. */
struct reading {
    const char *path;
    struct nb6_checkpoint_state state;
    struct nb6_collisionless *then; /* gets its bodies, */
    int with_bodies;                /* if they are wanted at once */
    struct nb6_run_state *run;
    struct nbc_error *err;
};

static void check_engine(struct nb6_hdf5 *file, struct nb6_run_state *run)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, "nbody6");
    nb6_hdf5_get_text(file, object, "engine", sizeof run->engine, run->engine);
    if (!file->status && strcmp(run->engine, ENGINE) != 0)
        nb6_hdf5_fail(file, NBC_BAD_INPUT, "it is a checkpoint of nbody6; resume it with nbody6 --resume");
    nb6_hdf5_close_object(object);
}

static void read_heading(struct nb6_hdf5 *file, struct nb6_config *config, struct nb6_run_state *run)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, "nbody6");
    nb6_hdf5_get_text(file, object, "gpunb_backend", sizeof config->run.device, config->run.device);
    nb6_hdf5_get_text(file, object, "run", sizeof run->id, run->id);
    nb6_hdf5_get(file, object, "log_bytes", H5T_NATIVE_INT64, 0, &run->log_bytes);
    nb6_hdf5_close_object(object);
}

/* Numbers of the system that are in the record of the run. */
static void take_times(struct reading *r)
{
    double reuse;
    struct nb6_collisionless *then = r->then;
    then->ti_now = r->state.ti_now;
    then->n_blocks = r->state.run.counters.blocks;
    then->n_steps = r->state.run.counters.steps_irr;
    then->reuse = nb6_config_number(&r->state.run.config, "INCOLLISIONLESS", "REUSE", &reuse, NULL) ? 1 : (int)reuse;
}

/* A file without costs is older, or of a run without a tree. */
static void read_costs(struct nb6_hdf5 *file, struct nb6_collisionless *then)
{
    struct gpunb_tree_costs costs;
    struct nbc_error why = {0};
    hid_t object = nb6_hdf5_open_group(file, file->file, "nbody6");
    if (!file->status && nb6_hdf5_has_attribute(file, object, "tree_costs"))
        nb6_hdf5_get_text(file, object, "tree_costs", sizeof then->costs, then->costs);
    nb6_hdf5_close_object(object);
    if (strcmp(then->costs, NO_COSTS) == 0) then->costs[0] = '\0';
    if (!file->status && then->costs[0] && gpunb_tree_costs_read(then->costs, "tree_costs", &costs, &why))
        nb6_hdf5_fail(file, NBC_FILE, why.text);
}

static void read_bodies(struct nb6_hdf5 *file, struct reading *r)
{
    const int64_t n = r->state.n;
    const struct nb6_rule_sizes sizes = {.stars = n};
    struct places places = places_in(r->then);
    nb6_checkpoint_check_arrays(file, &nb6_body_fields, places.body, BODY_ARRAYS, n);
    nb6_checkpoint_check_arrays(file, &nb6_star_fields, places.star, STAR_ARRAYS, n);
    if (file->status) return;
    r->then->n = n;
    take_times(r);
    if (!r->with_bodies) {
        nb6_relations_collisionless(file, n, NULL);
        nb6_checkpoint_read_properties(file, &r->state.run);
        nb6_checkpoint_read_domains(file, &r->then->sections);
        nb6_checkpoint_read_tree(file, 0, r->then);
        return;
    }
    if (!nb6_collisionless_allocate_state(r->then)) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its stars");
        return;
    }
    places = places_in(r->then);
    nb6_checkpoint_read_arrays(file, &nb6_body_fields, places.body, BODY_ARRAYS, n, &sizes);
    nb6_checkpoint_read_arrays(file, &nb6_star_fields, places.star, STAR_ARRAYS, n, &sizes);
    nb6_relations_collisionless(file, n, r->then->name);
    nb6_checkpoint_read_domains(file, &r->then->sections);
    nb6_checkpoint_read_tree(file, 1, r->then);
    nb6_checkpoint_read_properties(file, &r->state.run);
    nb6_checkpoint_read_owners(file, n, &r->then->owners);
}

/* Everything but the bodies, judged. */
static void read_state(struct nb6_hdf5 *file, struct nb6_checkpoint_state *state, struct nb6_run_state *run)
{
    struct nb6_config *config = &state->run.config;
    check_engine(file, run);
    nb6_checkpoint_read_state(file, state);
    nb6_checkpoint_read_numbers(file, config);
    const struct nb6_config settled = *config; /* before the heading names the backend in use */
    read_heading(file, config, run);
    if (file->status) return;
    nb6_relations_heading(file, run);
    nb6_relations_state(file, state, &settled, 1);
}

static int read_sealed(struct reading *r)
{
    struct nb6_hdf5 file;
    nb6_hdf5_open(&file, r->path, r->err);
    read_state(&file, &r->state, r->run);
    if (!file.status) read_costs(&file, r->then);
    if (!file.status) read_bodies(&file, r);
    return nb6_hdf5_close(&file);
}

static void try_sealed(void *context)
{
    read_sealed(context);
}

/* @return the status of reading, of which the advice is told */
static int read_file(struct reading *r, struct nbc_error *err)
{
    int status = nb6_seal_check(r->path, NB6_CHECKPOINT_SCHEMA, err);
    if (!status) status = nb6_hdf5_try_briefly(r->path, try_sealed, r, err);
    if (status) return nb6_checkpoint_advise(r->path, status, err);
    status = read_sealed(r);
    r->run->t = nb6_time_to_double(r->state.ti_now);
    if (strcmp(r->run->engine, ENGINE) == 0) nb6_checkpoint_advise(r->path, status, err);
    return status;
}

int nb6_collisionless_checkpoint_read(const char *path, int with_bodies, struct nb6_run_record *record,
                                      struct nb6_collisionless *then, struct nb6_run_state *run, struct nbc_error *err)
{
    *run = (struct nb6_run_state){0};
    struct reading *r = nbc_alloc(1, sizeof *r); /* too large for a stack */
    if (!r) return nbc_fail(err, NBC_NO_MEMORY, "not enough memory to read %s", path);
    r->path = path;
    r->then = then;
    r->with_bodies = with_bodies;
    r->run = run;
    r->err = err;
    const int status = read_file(r, err);
    *record = r->state.run;
    nbc_free(r);
    return status;
}

/* ---- bodies in pieces */

/* Names nearly always ascend, so that none is twice; otherwise they are compared. */
struct names {
    struct nb6_hdf5 *file;
    int64_t n, last;
    const struct nb6_rule_sizes *sizes;
    int ascend;
    struct nbc_twins *to; /* NULL: they are only looked at */
};

static void look_at_names(void *context, enum nb6_body_column column, int64_t first, int64_t count, const void *rows)
{
    struct names *names = context;
    const int64_t *name = rows;
    (void)first;
    if (column != NB6_ROWS_NAME) return;
    for (int64_t k = 0; k < count; k++) {
        names->ascend &= name[k] > names->last;
        names->last = name[k];
    }
    if (names->to) nbc_twins_take(names->to, count, name);
}

static int read_names(void *context, struct nbc_twins *to, struct nbc_error *err)
{
    static const struct nb6_collisionless none;
    const struct places places = places_in(&none);
    struct names *names = context;
    const struct nb6_body_sink sink = {.put = look_at_names, .context = names};
    (void)err; /* the file has it */
    names->to = to;
    nb6_checkpoint_read_rows(names->file, &nb6_star_fields, places.star, STAR_COLUMNS, STAR_ARRAYS, names->n,
                             names->sizes, &sink);
    return names->file->status;
}

static void check_names(struct nb6_hdf5 *file, int64_t n, const struct nb6_rule_sizes *sizes)
{
    struct names names = {.file = file, .n = n, .sizes = sizes, .ascend = 1};
    struct nbc_error why = {0};
    int64_t twice;
    int found;
    if (read_names(&names, NULL, NULL) || names.ascend) return;
    const int status = nbc_twins_find(n, read_names, &names, &twice, &found, &why);
    if (status && !file->status) nb6_hdf5_fail(file, status, why.text);
    if (!status && found) nb6_rules_refuse(file, "stars/name", -1, (double)twice, "the name of one star only");
}

int nb6_collisionless_checkpoint_give(void *context, const struct nb6_body_sink *sink, struct nbc_error *err)
{
    static const struct nb6_collisionless none;
    const struct nb6_collisionless_bodies *bodies = context;
    const struct nb6_collisionless *then = bodies->then;
    const int64_t n = then->n;
    const struct nb6_rule_sizes sizes = {.stars = n};
    const struct places places = places_in(&none);
    struct nb6_hdf5 file;
    nb6_hdf5_open(&file, bodies->path, err);
    check_names(&file, n, &sizes);
    if (!file.status)
        nb6_checkpoint_read_rows(&file, &nb6_body_fields, places.body, BODY_COLUMNS, BODY_ARRAYS, n, &sizes, sink);
    if (!file.status)
        nb6_checkpoint_read_rows(&file, &nb6_star_fields, places.star, STAR_COLUMNS, STAR_ARRAYS, n, &sizes, sink);
    if (!file.status && then->kept.has_places && then->sections)
        nb6_checkpoint_give_places(&file, n, then->sections->ranks, sink);
    return nb6_hdf5_close(&file);
}

void nb6_collisionless_checkpoint_release(struct nb6_collisionless *then)
{
    nb6_collisionless_release(then);
    nb6_checkpoint_release_tree(then);
    nb6_owners_free(then->owners);
    nb6_sections_free(then->sections);
    *then = (struct nb6_collisionless){0};
}
