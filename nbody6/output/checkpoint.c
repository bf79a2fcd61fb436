#include "nbody6/output/checkpoint.h"

#include "common/file.h"
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_seal.h"
#include "nbody6/output/hdf5_util.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <string.h>

static hid_t memory_type(enum nb6_field_type type)
{
    switch (type) {
    case NB6_FIELD_F64:
        return H5T_NATIVE_DOUBLE;
    case NB6_FIELD_I64:
        return H5T_NATIVE_INT64;
    case NB6_FIELD_U64:
        return H5T_NATIVE_UINT64;
    case NB6_FIELD_I32:
        return H5T_NATIVE_INT32;
    case NB6_FIELD_I8:
        return H5T_NATIVE_INT8;
    default:
        return H5T_C_S1;
    }
}

/* ---- one field of an array of structs <-> rows of a dataset ---- */

struct column {
    char *array; /* of structs; not changed when writing */
    size_t struct_bytes;
    const struct nb6_state_field *field;
};

static int fill_column(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct column *c = context;
    size_t bytes = nb6_state_field_bytes(c->field->type) * c->field->count;
    const char *from = c->array + (size_t)first * c->struct_bytes + c->field->offset;
    char *to = buffer;
    for (int64_t i = 0; i < count; i++, from += c->struct_bytes, to += bytes) memcpy(to, from, bytes);
    return NBC_OK;
}

static int take_column(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct column *c = context;
    size_t bytes = nb6_state_field_bytes(c->field->type) * c->field->count;
    char *to = c->array + (size_t)first * c->struct_bytes + c->field->offset;
    const char *from = buffer;
    for (int64_t i = 0; i < count; i++, to += c->struct_bytes, from += bytes) memcpy(to, from, bytes);
    return NBC_OK;
}

/* ---- all neighbour lists, one after the other ---- */

struct list_cursor {
    const struct nb6_sim *sim;
    size_t body, offset; /* next entry to copy */
    int32_t *nblist;     /* when reading */
};

static int fill_lists(void *context, int64_t first, int64_t count, void *buffer)
{
    (void)first;
    struct list_cursor *c = context;
    int32_t *to = buffer;
    for (size_t left = (size_t)count; left;) {
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(c->sim->irr, c->body, &nnb);
        size_t piece = nnb - c->offset < left ? nnb - c->offset : left;
        if (piece) memcpy(to, list + c->offset, piece * sizeof *to);
        to += piece;
        left -= piece;
        c->offset += piece;
        if (c->offset == nnb) {
            c->body++;
            c->offset = 0;
        }
    }
    return NBC_OK;
}

static int take_lists(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct list_cursor *c = context;
    memcpy(c->nblist + first, buffer, (size_t)count * sizeof *c->nblist);
    return NBC_OK;
}

/* ---- perturbers of all pairs, likewise ---- */

static int fill_perturbers(void *context, int64_t first, int64_t count, void *buffer)
{
    (void)first;
    struct list_cursor *c = context;
    int32_t *to = buffer;
    for (int64_t k = 0; k < count;) {
        const struct nb6_perturbers *pert = &c->sim->pairs.pert[c->body];
        if (c->offset == (size_t)pert->n) {
            c->body++;
            c->offset = 0;
        } else {
            to[k++] = pert->body[c->offset++];
        }
    }
    return NBC_OK;
}

static int take_perturbers(void *context, int64_t first, int64_t count, void *buffer)
{
    (void)first;
    struct list_cursor *c = context;
    const int32_t *from = buffer;
    for (int64_t k = 0; k < count;) {
        const struct nb6_perturbers *pert = &c->sim->pairs.pert[c->body];
        if (c->offset == (size_t)pert->n) {
            c->body++;
            c->offset = 0;
        } else {
            pert->body[c->offset++] = from[k++];
        }
    }
    return NBC_OK;
}

static int64_t perturbers_in_all(const struct nb6_sim *sim)
{
    int64_t total = 0;
    for (int64_t slot = 0; slot < sim->pairs.n_slot; slot++) total += sim->pairs.pert[slot].n;
    return total;
}

/* ---- writing ---- */

static void write_group(struct nb6_hdf5 *file, const struct nb6_field_group *group, const void *base)
{
    hid_t object = nb6_hdf5_make_group(file, file->file, group->name);
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        const char *value = (const char *)base + group->offset + f->offset;
        if (f->type == NB6_FIELD_TEXT)
            nb6_hdf5_put_text(file, object, f->name, value);
        else
            nb6_hdf5_put(file, object, f->name, memory_type(f->type), f->count > 1 ? f->count : 0, value);
    }
    nb6_hdf5_close_object(object);
}

static void write_columns(struct nb6_hdf5 *file, const struct nb6_field_group *group, const void *array, int64_t n)
{
    hid_t object = nb6_hdf5_make_group(file, file->file, group->name);
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        struct column column = {(char *)(uintptr_t)array, group->size, f};
        nb6_hdf5_close_object(nb6_hdf5_make_dataset(file, object, f->name, memory_type(f->type), n, (int64_t)f->count,
                                                    fill_column, &column));
    }
    nb6_hdf5_close_object(object);
}

static void write_lists(struct nb6_hdf5 *file, const struct nb6_sim *sim)
{
    int64_t total = 0;
    for (int64_t i = 0; i < nb6_bodies(sim); i++) {
        size_t nnb = 0;
        gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        if ((int64_t)nnb != sim->star[i].nnb) {
            nb6_hdf5_fail(file, NBC_INTERNAL, "a neighbour list is not as long as its star says");
            return;
        }
        total += (int64_t)nnb;
    }
    struct list_cursor cursor = {.sim = sim};
    nb6_hdf5_close_object(
        nb6_hdf5_make_dataset(file, file->file, "neighbours", H5T_NATIVE_INT32, total, 1, fill_lists, &cursor));
}

static void write_pairs(struct nb6_hdf5 *file, const struct nb6_sim *sim)
{
    const struct nb6_pairs *p = &sim->pairs;
    struct list_cursor cursor = {.sim = sim};
    write_columns(file, &nb6_pair_fields, p->pair, p->n_slot);
    write_columns(file, &nb6_ks_fields, p->ks, p->n_slot);
    write_columns(file, &nb6_chain_fields, p->chain, p->n_chain);
    write_columns(file, &nb6_perturber_fields, p->pert, p->n_slot);
    nb6_hdf5_close_object(nb6_hdf5_make_dataset(file, file->file, "perturbers", H5T_NATIVE_INT32,
                                                perturbers_in_all(sim), 1, fill_perturbers, &cursor));
}

static void write_heading(struct nb6_hdf5 *file, const struct nb6_sim *sim, const struct nb6_run_state *run)
{
    hid_t object = nb6_hdf5_make_group(file, file->file, "nbody6");
    nb6_hdf5_put_text(file, object, "version", NB6_VERSION);
    nb6_hdf5_put_int(file, object, "schema", NB6_CHECKPOINT_SCHEMA);
    nb6_hdf5_put_text(file, object, "gpunb_backend", sim->reg ? gpunb_info(sim->reg)->name : sim->config.run.device);
    nb6_hdf5_put_text(file, object, "gpuirr_backend", gpuirr_info(sim->irr)->name);
    nb6_hdf5_put(file, object, "log_bytes", H5T_NATIVE_INT64, 0, &run->log_bytes);
    nb6_hdf5_put(file, object, "events_bytes", H5T_NATIVE_INT64, 0, &run->events_bytes);
    nb6_hdf5_put(file, object, "escapers_bytes", H5T_NATIVE_INT64, 0, &run->escapers_bytes);
    nb6_hdf5_close_object(object);
}

int nb6_checkpoint_write_run(const char *path, const char *keep_as, const struct nb6_sim *sim,
                             const struct nb6_run_state *run, struct nbc_error *err)
{
    static const struct nb6_run_state no_run;
    struct nb6_hdf5 file;
    const struct nb6_field_group *group;
    struct nb6_sim state = *sim; /* the session that resumes counts this one's time as past */
    state.book.wall_used_s += nbc_wtime() - sim->wall_start_s;
    nb6_hdf5_create(&file, path, NB6_SEAL_BYTES, err);
    write_heading(&file, sim, run ? run : &no_run);
    for (int k = 0; (group = nb6_state_group(k)); k++) write_group(&file, group, &state);
    write_columns(&file, &nb6_body_fields, sim->body, nb6_bodies(sim));
    write_columns(&file, &nb6_star_fields, sim->star, nb6_bodies(sim));
    if (!file.status) write_pairs(&file, sim);
    if (!file.status) write_lists(&file, sim);
    nb6_hdf5_finish(&file);
    nb6_seal_write(&file, NB6_CHECKPOINT_SCHEMA);
    return nb6_hdf5_commit(&file, keep_as);
}

int nb6_checkpoint_write(const char *path, const struct nb6_sim *sim, struct nbc_error *err)
{
    return nb6_checkpoint_write_run(path, NULL, sim, NULL, err);
}

/* ---- reading ---- */

static void read_group(struct nb6_hdf5 *file, const struct nb6_field_group *group, void *base)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, group->name);
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        char *value = (char *)base + group->offset + f->offset;
        if (f->type == NB6_FIELD_TEXT)
            nb6_hdf5_get_text(file, object, f->name, f->count, value);
        else
            nb6_hdf5_get(file, object, f->name, memory_type(f->type), f->count > 1 ? f->count : 0, value);
    }
    nb6_hdf5_close_object(object);
}

static void read_columns(struct nb6_hdf5 *file, const struct nb6_field_group *group, void *array, int64_t n)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, group->name);
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        struct column column = {array, group->size, f};
        nb6_hdf5_read_dataset(file, object, f->name, memory_type(f->type), n, (int64_t)f->count, take_column, &column);
    }
    nb6_hdf5_close_object(object);
}

static void read_heading(struct nb6_hdf5 *file, struct nb6_config *config, struct nb6_run_state *run)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, "nbody6");
    nb6_hdf5_get_text(file, object, "gpunb_backend", sizeof config->run.device, config->run.device);
    nb6_hdf5_get_text(file, object, "gpuirr_backend", sizeof config->run.irr_backend, config->run.irr_backend);
    nb6_hdf5_get(file, object, "log_bytes", H5T_NATIVE_INT64, 0, &run->log_bytes);
    nb6_hdf5_get(file, object, "events_bytes", H5T_NATIVE_INT64, 0, &run->events_bytes);
    nb6_hdf5_get(file, object, "escapers_bytes", H5T_NATIVE_INT64, 0, &run->escapers_bytes);
    nb6_hdf5_close_object(object);
}

/* Everything that has a fixed size. */
static void read_state(struct nb6_hdf5 *file, struct nb6_sim *sim, struct nb6_run_state *run)
{
    const struct nb6_field_group *group;
    for (int k = 0; (group = nb6_state_group(k)); k++) read_group(file, group, sim);
    read_heading(file, &sim->config, run);
}

static void read_lists(struct nb6_hdf5 *file, const struct nb6_sim *sim, int32_t **nblist)
{
    int64_t total = 0, found = nb6_hdf5_rows_of(file, file->file, "neighbours");
    for (int64_t i = 0; i < nb6_bodies(sim); i++) total += sim->star[i].nnb;
    if (file->status) return;
    if (found != total) {
        nb6_hdf5_fail(file, NBC_FILE, "the neighbour lists are not as long as the stars say");
        return;
    }
    *nblist = nbc_alloc((size_t)total, sizeof **nblist);
    if (!*nblist) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for the neighbour lists");
        return;
    }
    struct list_cursor cursor = {.nblist = *nblist};
    nb6_hdf5_read_dataset(file, file->file, "neighbours", H5T_NATIVE_INT32, total, 1, take_lists, &cursor);
}

static void read_pairs(struct nb6_hdf5 *file, struct nb6_sim *sim)
{
    struct nb6_pairs *p = &sim->pairs;
    struct list_cursor cursor = {.sim = sim};
    read_columns(file, &nb6_pair_fields, p->pair, p->n_slot);
    read_columns(file, &nb6_ks_fields, p->ks, p->n_slot);
    p->chain = nbc_alloc((size_t)p->n_chain, sizeof *p->chain);
    p->chain_capacity = p->n_chain;
    if (!p->chain) nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its chains");
    if (!file->status) read_columns(file, &nb6_chain_fields, p->chain, p->n_chain);
    read_columns(file, &nb6_perturber_fields, p->pert, p->n_slot);
    for (int64_t slot = 0; slot < p->n_slot && !file->status; slot++) {
        p->pert[slot].body = nbc_alloc((size_t)p->pert[slot].n, sizeof *p->pert[slot].body);
        p->pert[slot].capacity = p->pert[slot].n;
        if (!p->pert[slot].body) nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its pairs");
    }
    if (!file->status)
        nb6_hdf5_read_dataset(file, file->file, "perturbers", H5T_NATIVE_INT32, perturbers_in_all(sim), 1,
                              take_perturbers, &cursor);
}

static void read_stars(struct nb6_hdf5 *file, struct nb6_sim *sim, int32_t **nblist)
{
    struct nb6_pairs *p = &sim->pairs;
    int64_t slots = nb6_pairs_room(p->n_slot); /* as nb6_pairs_alloc has it */
    size_t room = (size_t)(sim->n + slots);
    sim->body = nbc_alloc(room, sizeof *sim->body);
    sim->star = nbc_alloc(room, sizeof *sim->star);
    p->pair = nbc_alloc((size_t)slots, sizeof *p->pair);
    p->ks = nbc_alloc((size_t)slots, sizeof *p->ks);
    p->pert = nbc_alloc((size_t)slots, sizeof *p->pert);
    if (!sim->body || !sim->star || !p->pair || !p->ks || !p->pert) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its stars");
        return;
    }
    read_columns(file, &nb6_body_fields, sim->body, nb6_bodies(sim));
    read_columns(file, &nb6_star_fields, sim->star, nb6_bodies(sim));
    if (!file->status) read_pairs(file, sim);
    if (!file->status) read_lists(file, sim, nblist);
}

/* "NAME.ckpt.h5" <-> "NAME.ckpt.prev.h5": the other of the two that a run keeps, if it is there. */
static int other_checkpoint(const char *path, char *other, size_t size)
{
    static const char *const endings[2] = {".ckpt.h5", ".ckpt.prev.h5"};
    for (int k = 0; k < 2; k++) {
        size_t length = strlen(path), ending = strlen(endings[k]);
        if (length < ending || length >= size || strcmp(path + length - ending, endings[k]) != 0) continue;
        int written = snprintf(other, size, "%.*s%s", (int)(length - ending), path, endings[1 - k]);
        return written > 0 && (size_t)written < size && nbc_file_exists(other);
    }
    return 0;
}

/* Say what to do: try the other checkpoint only if it is sound itself. */
static int advise(const char *path, int status, struct nbc_error *err)
{
    char other[NB6_HDF5_PATH];
    if (status != NBC_FILE || !err) return status;
    size_t used = strlen(err->text);
    if (!other_checkpoint(path, other, sizeof other))
        snprintf(err->text + used, sizeof err->text - used, "; there is no other checkpoint beside it");
    else if (nb6_seal_check(other, NB6_CHECKPOINT_SCHEMA, NULL))
        snprintf(err->text + used, sizeof err->text - used, "; the other one, %s, cannot be used either", other);
    else
        snprintf(err->text + used, sizeof err->text - used, "; resume from %s instead", other);
    return status;
}

int nb6_checkpoint_read(const char *path, struct nb6_sim *sim, int32_t **nblist, struct nbc_error *err)
{
    struct nb6_hdf5 file;
    struct nb6_run_state run;
    int status = nb6_seal_check(path, NB6_CHECKPOINT_SCHEMA, err);
    if (status) return advise(path, status, err);
    *nblist = NULL;
    nb6_hdf5_open(&file, path, err);
    read_state(&file, sim, &run);
    if (!file.status) read_stars(&file, sim, nblist);
    status = nb6_hdf5_close(&file);
    if (!status) return NBC_OK;
    nb6_pairs_free(&sim->pairs);
    nbc_free(sim->body);
    nbc_free(sim->star);
    nbc_free(*nblist);
    sim->body = NULL;
    sim->star = NULL;
    *nblist = NULL;
    return advise(path, status, err);
}

int nb6_checkpoint_read_config(const char *path, struct nb6_config *config, struct nb6_run_state *run,
                               struct nbc_error *err)
{
    struct nb6_hdf5 file;
    int status = nb6_seal_check(path, NB6_CHECKPOINT_SCHEMA, err);
    if (status) return advise(path, status, err);
    struct nb6_sim *sim = nbc_alloc(1, sizeof *sim); /* too large for a stack */
    if (!sim) return nbc_fail(err, NBC_NO_MEMORY, "not enough memory to read %s", path);
    nb6_hdf5_open(&file, path, err);
    read_state(&file, sim, run);
    status = nb6_hdf5_close(&file);
    if (!status) *config = sim->config;
    nbc_free(sim);
    return advise(path, status, err);
}

int nb6_checkpoint(nb6_t *sim, const char *path, struct nbc_error *err)
{
    if (!sim->body) return nbc_fail(err, NBC_BAD_STATE, "nb6_checkpoint: the simulation has no stars yet");
    return nb6_checkpoint_write(path, sim, err);
}
