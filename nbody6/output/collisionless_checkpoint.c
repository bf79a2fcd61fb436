#include "nbody6/output/collisionless_checkpoint.h"

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/hdf5/hdf5_trial.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/checkpoint_advice.h"
#include "nbody6/output/checkpoint_check.h"
#include "nbody6/output/checkpoint_columns.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_properties.h"
#include "nbody6/output/checkpoint_relations.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/output/checkpoint_seal.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"

#include <string.h>

static const char ENGINE[] = "collisionless";

static void write_heading(struct nb6_hdf5 *file, const struct nb6_collisionless *system,
                          const struct nb6_run_state *run)
{
    hid_t object = nb6_hdf5_make_group(file, file->file, "nbody6");
    nb6_hdf5_put_text(file, object, "version", NB6_VERSION);
    nb6_hdf5_put_int(file, object, "schema", NB6_CHECKPOINT_SCHEMA);
    nb6_hdf5_put_text(file, object, "gpunb_backend", gpunb_info(system->force)->name);
    nb6_hdf5_put_text(file, object, "gpuirr_backend", "none"); /* nbody6 reads on, up to the engine */
    nb6_hdf5_put_text(file, object, "engine", ENGINE);
    nb6_hdf5_put_text(file, object, "run", run->id);
    nb6_hdf5_put(file, object, "log_bytes", H5T_NATIVE_INT64, 0, &run->log_bytes);
    nb6_hdf5_put(file, object, "events_bytes", H5T_NATIVE_INT64, 0, &run->events_bytes);
    nb6_hdf5_put(file, object, "escapers_bytes", H5T_NATIVE_INT64, 0, &run->escapers_bytes);
    nb6_hdf5_close_object(object);
}

/* Bodies as the records of nbody6, which give the columns of the file. */
static int to_records(const struct nb6_collisionless *system, struct nb6_body **body, struct nb6_star **star)
{
    *body = nbc_alloc((size_t)system->n, sizeof **body);
    *star = nbc_alloc((size_t)system->n, sizeof **star);
    if (!*body || !*star) return NBC_NO_MEMORY;
    for (int64_t i = 0; i < system->n; i++) {
        struct nb6_body *b = &(*body)[i];
        memcpy(b->x0, system->x0[i], sizeof b->x0);
        memcpy(b->v0, system->v[i], sizeof b->v0);
        memcpy(b->acc, system->acc[i], sizeof b->acc);
        b->mass = system->mass[i];
        b->t0 = system->ti_now;
        (*star)[i].name = system->name[i];
        (*star)[i].level_irr = system->level[i];
    }
    return NBC_OK;
}

int nb6_collisionless_checkpoint_write(const char *path, const char *keep_as, const struct nb6_sim *book,
                                       const struct nb6_collisionless *system, const struct nb6_run_state *run,
                                       struct nbc_error *err)
{
    struct nb6_hdf5 file;
    struct nb6_body *body = NULL;
    struct nb6_star *star = NULL;
    const struct nb6_field_group *group;
    nb6_hdf5_create(&file, path, NB6_SEAL_BYTES, err);
    if (to_records(system, &body, &star)) nb6_hdf5_fail(&file, NBC_NO_MEMORY, "not enough memory to write it");
    write_heading(&file, system, run);
    for (int k = 0; (group = nb6_state_group(k)); k++) nb6_checkpoint_write_group(&file, group, book);
    nb6_checkpoint_write_numbers(&file, &book->config);
    nb6_checkpoint_write_columns(&file, &nb6_body_fields, body, system->n);
    nb6_checkpoint_write_columns(&file, &nb6_star_fields, star, system->n);
    if (!file.status) nb6_checkpoint_write_properties(&file, book);
    nb6_hdf5_finish(&file);
    nb6_seal_write(&file, NB6_CHECKPOINT_SCHEMA);
    nbc_free(body);
    nbc_free(star);
    return nb6_hdf5_commit(&file, keep_as);
}

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

static void read_bodies(struct nb6_hdf5 *file, struct nb6_sim *book)
{
    const struct nb6_rule_sizes sizes = nb6_rule_sizes_of(book);
    nb6_checkpoint_check_columns(file, &nb6_body_fields, book->n);
    nb6_checkpoint_check_columns(file, &nb6_star_fields, book->n);
    if (file->status) return;
    book->body = nbc_alloc((size_t)book->n, sizeof *book->body);
    book->star = nbc_alloc((size_t)book->n, sizeof *book->star);
    if (!book->body || !book->star) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its stars");
        return;
    }
    nb6_checkpoint_read_columns(file, &nb6_body_fields, book->body, book->n, NULL, &sizes);
    nb6_checkpoint_read_columns(file, &nb6_star_fields, book->star, book->n, NULL, &sizes);
    nb6_relations_collisionless(file, book);
    nb6_checkpoint_read_properties(file, book);
}

/* Everything but the bodies, judged. */
static void read_state(struct nb6_hdf5 *file, struct nb6_sim *book, struct nb6_run_state *run)
{
    const struct nb6_field_group *group;
    const struct nb6_rule_sizes nothing = {0, 0, 0};
    check_engine(file, run);
    nb6_checkpoint_check_groups(file);
    for (int k = 0; (group = nb6_state_group(k)); k++) {
        nb6_checkpoint_read_group(file, group, book);
        if (!file->status) nb6_rules_judge(file, group, book, 1, NULL, &nothing);
    }
    nb6_checkpoint_read_numbers(file, &book->config);
    const struct nb6_config settled = book->config; /* before the heading names the backend in use */
    read_heading(file, &book->config, run);
    if (file->status) return;
    nb6_relations_heading(file, run);
    nb6_relations_state(file, book, &settled, 1);
}

static int from_records(const struct nb6_sim *book, struct nb6_collisionless *then, struct nbc_error *err)
{
    const size_t n = (size_t)book->n;
    then->n = book->n;
    then->ti_now = book->ti_now;
    then->n_blocks = book->counters.blocks;
    then->n_steps = book->counters.steps_irr;
    then->name = nbc_alloc(n, sizeof *then->name);
    then->mass = nbc_alloc(n, sizeof *then->mass);
    then->x0 = nbc_alloc(n, sizeof *then->x0);
    then->v = nbc_alloc(n, sizeof *then->v);
    then->acc = nbc_alloc(n, sizeof *then->acc);
    then->level = nbc_alloc(n, sizeof *then->level);
    if (!then->name || !then->mass || !then->x0 || !then->v || !then->acc || !then->level)
        return nbc_fail(err, NBC_NO_MEMORY, "not enough memory for %zu bodies", n);
    for (int64_t i = 0; i < then->n; i++) {
        const struct nb6_body *b = &book->body[i];
        then->name[i] = book->star[i].name;
        then->mass[i] = b->mass;
        memcpy(then->x0[i], b->x0, sizeof b->x0);
        memcpy(then->v[i], b->v0, sizeof b->v0);
        memcpy(then->acc[i], b->acc, sizeof b->acc);
        then->level[i] = book->star[i].level_irr;
    }
    return NBC_OK;
}

/* A checkpoint to be read, by a child process first. */
struct reading {
    const char *path;
    struct nb6_sim *book;
    struct nb6_run_state *run;
    struct nbc_error *err;
};

static int read_sealed(const struct reading *r)
{
    struct nb6_hdf5 file;
    nb6_hdf5_open(&file, r->path, r->err);
    read_state(&file, r->book, r->run);
    if (!file.status) read_bodies(&file, r->book);
    return nb6_hdf5_close(&file);
}

static void try_sealed(void *context)
{
    read_sealed(context);
}

int nb6_collisionless_checkpoint_read(const char *path, struct nb6_sim *book, struct nb6_collisionless *then,
                                      struct nb6_run_state *run, struct nbc_error *err)
{
    struct reading reading = {path, book, run, err};
    *run = (struct nb6_run_state){0};
    int status = nb6_seal_check(path, NB6_CHECKPOINT_SCHEMA, err);
    if (!status) status = nb6_hdf5_try_briefly(path, try_sealed, &reading, err);
    if (status) return nb6_checkpoint_advise(path, status, err);
    status = read_sealed(&reading);
    run->t = nb6_time_to_double(book->ti_now);
    if (strcmp(run->engine, ENGINE) == 0) nb6_checkpoint_advise(path, status, err);
    if (!status) status = from_records(book, then, err);
    nbc_free(book->body);
    nbc_free(book->star);
    book->body = NULL;
    book->star = NULL;
    return status;
}

void nb6_collisionless_checkpoint_release(struct nb6_collisionless *then)
{
    nbc_free(then->name);
    nbc_free(then->mass);
    nbc_free(then->x0);
    nbc_free(then->v);
    nbc_free(then->acc);
    nbc_free(then->level);
    *then = (struct nb6_collisionless){0};
}
