#include "nbody6/output/checkpoint_columns.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/output/checkpoint_check.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <string.h>

/* ---- one field of an array of structs <-> rows of a dataset ---- */

struct column {
    char *array; /* of structs; not changed when writing */
    size_t struct_bytes;
    const struct nb6_state_field *field;
    const struct nb6_rule_sizes *sizes; /* when reading */
    int is_allowed;                     /* all values so far are */
};

/* Values of a field in a struct -> one after the other. */
static void gather(const struct nb6_state_field *field, const char *from, char *to)
{
    size_t bytes = nb6_state_field_bytes(field->type) * field->count;
    for (size_t k = 0; k < field->repeat; k++) memcpy(to + k * bytes, from + field->offset + k * field->stride, bytes);
}

static void scatter(const struct nb6_state_field *field, const char *from, char *to)
{
    size_t bytes = nb6_state_field_bytes(field->type) * field->count;
    for (size_t k = 0; k < field->repeat; k++) memcpy(to + field->offset + k * field->stride, from + k * bytes, bytes);
}

static int fill_column(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct column *c = context;
    size_t bytes = nb6_state_field_bytes(c->field->type) * nb6_state_field_values(c->field);
    const char *from = c->array + (size_t)first * c->struct_bytes;
    char *to = buffer;
    for (int64_t i = 0; i < count; i++, from += c->struct_bytes, to += bytes) gather(c->field, from, to);
    return NBC_OK;
}

static int take_column(void *context, int64_t first, int64_t count, void *buffer)
{
    struct column *c = context;
    size_t bytes = nb6_state_field_bytes(c->field->type) * nb6_state_field_values(c->field);
    char *to = c->array + (size_t)first * c->struct_bytes;
    const char *from = buffer;
    c->is_allowed &= nb6_rules_allow(c->field, buffer, (size_t)count * nb6_state_field_values(c->field), c->sizes);
    for (int64_t i = 0; i < count; i++, to += c->struct_bytes, from += bytes) scatter(c->field, from, to);
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
        const struct nb6_perturbers *pert = &c->sim->subsystems.pert[c->body];
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
        const struct nb6_perturbers *pert = &c->sim->subsystems.pert[c->body];
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
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot; slot++) total += sim->subsystems.pert[slot].n;
    return total;
}

void nb6_checkpoint_write_group(struct nb6_hdf5 *file, const struct nb6_field_group *group, const void *base)
{
    hid_t object = nb6_hdf5_make_group(file, file->file, group->name);
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        const char *value = (const char *)base + group->offset + f->offset;
        if (f->type == NB6_FIELD_TEXT)
            nb6_hdf5_put_text(file, object, f->name, value);
        else
            nb6_hdf5_put(file, object, f->name, nb6_checkpoint_memory_type(f->type), f->count > 1 ? f->count : 0,
                         value);
    }
    nb6_hdf5_close_object(object);
}

void nb6_checkpoint_write_columns(struct nb6_hdf5 *file, const struct nb6_field_group *group, const void *array,
                                  int64_t n)
{
    hid_t object = nb6_hdf5_make_group(file, file->file, group->name);
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        struct column column = {(char *)(uintptr_t)array, group->size, f, NULL, 1};
        nb6_hdf5_close_object(nb6_hdf5_make_dataset(file, object, f->name, nb6_checkpoint_memory_type(f->type), n,
                                                    (int64_t)nb6_state_field_values(f), fill_column, &column));
    }
    nb6_hdf5_close_object(object);
}

void nb6_checkpoint_write_lists(struct nb6_hdf5 *file, const struct nb6_sim *sim)
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

void nb6_checkpoint_write_pairs(struct nb6_hdf5 *file, const struct nb6_sim *sim)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    struct list_cursor cursor = {.sim = sim};
    nb6_checkpoint_write_columns(file, &nb6_pair_fields, p->system, p->n_slot);
    nb6_checkpoint_write_columns(file, &nb6_ks_fields, p->ks, p->n_slot);
    nb6_checkpoint_write_columns(file, &nb6_chain_fields, p->chain, p->n_chain);
    nb6_checkpoint_write_columns(file, &nb6_perturber_fields, p->pert, p->n_slot);
    nb6_hdf5_close_object(nb6_hdf5_make_dataset(file, file->file, "perturbers", H5T_NATIVE_INT32,
                                                perturbers_in_all(sim), 1, fill_perturbers, &cursor));
}

void nb6_checkpoint_read_group(struct nb6_hdf5 *file, const struct nb6_field_group *group, void *base)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, group->name);
    nb6_checkpoint_check_fields(file, object, group, NB6_ATTRIBUTES);
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        char *value = (char *)base + group->offset + f->offset;
        if (f->type == NB6_FIELD_TEXT)
            nb6_hdf5_get_text(file, object, f->name, f->count, value);
        else
            nb6_hdf5_get(file, object, f->name, nb6_checkpoint_memory_type(f->type), f->count > 1 ? f->count : 0,
                         value);
    }
    nb6_hdf5_close_object(object);
}

void nb6_checkpoint_check_columns(struct nb6_hdf5 *file, const struct nb6_field_group *group, int64_t n)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, group->name);
    nb6_checkpoint_check_fields(file, object, group, n);
    nb6_hdf5_close_object(object);
}

void nb6_checkpoint_read_columns(struct nb6_hdf5 *file, const struct nb6_field_group *group, void *array, int64_t n,
                                 const int8_t *is_used, const struct nb6_rule_sizes *sizes)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, group->name);
    nb6_checkpoint_check_fields(file, object, group, n);
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        struct column column = {array, group->size, f, sizes, 1};
        nb6_hdf5_read_dataset(file, object, f->name, nb6_checkpoint_memory_type(f->type), n,
                              (int64_t)nb6_state_field_values(f), take_column, &column);
        if (!column.is_allowed && !file->status) nb6_rules_judge_field(file, group, f, array, n, is_used, sizes);
    }
    nb6_hdf5_close_object(object);
}

/* Rows of a vector of numbers of bodies, which the counts in other fields have to add up to, and the file to hold. */
static void check_entries(struct nb6_hdf5 *file, const char *name, int64_t total)
{
    char must_be[80];
    const int64_t found = nb6_hdf5_rows_of(file, file->file, name);
    if (file->status) return;
    snprintf(must_be, sizeof must_be, "as long as the counts of its lists add up to, %lld", (long long)total);
    if (found != total)
        nb6_rules_refuse(file, name, -1, (double)found, must_be);
    else
        nb6_checkpoint_check_stored(file, file->file, name, total, sizeof(int32_t));
}

void nb6_checkpoint_read_lists(struct nb6_hdf5 *file, const struct nb6_sim *sim, int32_t **nblist)
{
    int64_t total = 0;
    for (int64_t i = 0; i < nb6_bodies(sim); i++) total += sim->star[i].nnb;
    check_entries(file, "neighbours", total);
    if (file->status) return;
    *nblist = nbc_alloc((size_t)total, sizeof **nblist);
    if (!*nblist) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for the neighbour lists");
        return;
    }
    struct list_cursor cursor = {.nblist = *nblist};
    nb6_hdf5_read_dataset(file, file->file, "neighbours", H5T_NATIVE_INT32, total, 1, take_lists, &cursor);
}

/* Memory for lists of known lengths. */
static void make_perturbers(struct nb6_hdf5 *file, struct nb6_subsystems *p)
{
    for (nb6_slot slot = 0; slot < p->n_slot && !file->status; slot++) {
        const int32_t n = p->pert[slot].n;
        p->pert[slot].n = 0; /* none is there that could be kept */
        if (!nb6_perturbers_reserve(&p->pert[slot], n))
            nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its pairs");
        p->pert[slot].n = n;
    }
}

/* Slots with a relative motion of two bodies: only their values are checked. */
static void mark_used(const struct nb6_subsystems *p, int8_t *is_used)
{
    for (nb6_slot slot = 0; slot < p->n_slot; slot++)
        is_used[slot] = p->system[slot].member[0] >= 0 && p->system[slot].chain == 0;
}

/* Chains that a slot names. The others are free, and keep numbers of stars that may be gone. */
static void mark_chains(const struct nb6_subsystems *p, int8_t *has_slot)
{
    for (nb6_slot slot = 0; slot < p->n_slot; slot++)
        if (p->system[slot].member[0] >= 0 && p->system[slot].chain > 0) has_slot[p->system[slot].chain - 1] = 1;
}

static void read_motions(struct nb6_hdf5 *file, struct nb6_subsystems *p, const struct nb6_rule_sizes *sizes)
{
    int8_t *is_used = nbc_alloc((size_t)p->n_slot, sizeof *is_used);
    int8_t *has_slot = nbc_alloc((size_t)p->n_chain, sizeof *has_slot);
    p->chain = nbc_alloc((size_t)p->n_chain, sizeof *p->chain);
    p->chain_capacity = p->n_chain;
    if (is_used && has_slot && p->chain) {
        mark_used(p, is_used);
        mark_chains(p, has_slot);
        nb6_checkpoint_read_columns(file, &nb6_ks_fields, p->ks, p->n_slot, is_used, sizes);
        nb6_checkpoint_read_columns(file, &nb6_chain_fields, p->chain, p->n_chain, has_slot, sizes);
    } else {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its pairs");
    }
    nbc_free(is_used);
    nbc_free(has_slot);
}

void nb6_checkpoint_read_pairs(struct nb6_hdf5 *file, struct nb6_sim *sim)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_rule_sizes sizes = nb6_rule_sizes_of(sim);
    struct list_cursor cursor = {.sim = sim};
    nb6_checkpoint_read_columns(file, &nb6_pair_fields, p->system, p->n_slot, NULL, &sizes);
    if (!file->status) read_motions(file, p, &sizes);
    nb6_checkpoint_read_columns(file, &nb6_perturber_fields, p->pert, p->n_slot, NULL, &sizes);
    if (!file->status) check_entries(file, "perturbers", perturbers_in_all(sim));
    make_perturbers(file, p);
    if (!file->status)
        nb6_hdf5_read_dataset(file, file->file, "perturbers", H5T_NATIVE_INT32, perturbers_in_all(sim), 1,
                              take_perturbers, &cursor);
}
