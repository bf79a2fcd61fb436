#include "nbody6/output/checkpoint_owners.h"

#include "common/nbc.h"
#include "nbody6/collisionless/owners.h"
#include "nbody6/output/checkpoint_check.h"
#include "nbody6/output/checkpoint_rules.h"

#include <string.h>

static const char GROUP[] = "owners";

static int fill(void *context, int64_t first, int64_t count, void *buffer)
{
    memcpy(buffer, (const int32_t *)context + first, (size_t)count * sizeof(int32_t));
    return NBC_OK;
}

static int take(void *context, int64_t first, int64_t count, void *buffer)
{
    memcpy((int32_t *)context + first, buffer, (size_t)count * sizeof(int32_t));
    return NBC_OK;
}

void nb6_checkpoint_write_owners(struct nb6_hdf5 *file, const struct nb6_owners *o)
{
    if (!o || !o->divided) return;
    hid_t group = nb6_hdf5_make_group(file, file->file, GROUP);
    nb6_hdf5_put_int(file, group, "divided", o->divided);
    nb6_hdf5_put(file, group, "first", H5T_NATIVE_INT64, (size_t)o->parts + 1, o->first);
    nb6_hdf5_close_object(nb6_hdf5_make_dataset(file, group, "body", H5T_NATIVE_INT32, o->n, 1, fill, o->body));
    nb6_hdf5_close_object(group);
}

/* Parts follow each other, and none is empty. */
static void judge_parts(struct nb6_hdf5 *file, const struct nb6_owners *o)
{
    nb6_rules_unless(o->divided >= 1 && o->divided <= NB6_FIRST_DIVISIONS, file, "owners/divided", -1, o->divided,
                     "1 or 2");
    nb6_rules_unless(o->first[0] == 0, file, "owners/first", 0, (double)o->first[0], "0");
    for (int p = 1; p <= o->parts; p++)
        nb6_rules_unless(o->first[p] > o->first[p - 1] && o->first[p] <= o->n, file, "owners/first", p,
                         (double)o->first[p], "above the one before, up to the number of bodies");
    nb6_rules_unless(o->first[o->parts] == o->n, file, "owners/first", o->parts, (double)o->first[o->parts],
                     "the number of bodies");
}

/* Each body has one owner. */
static void judge_bodies(struct nb6_hdf5 *file, const struct nb6_owners *o)
{
    int8_t *is_there = nbc_alloc((size_t)o->n, sizeof *is_there);
    if (!is_there) nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for the owners of its bodies");
    for (int64_t k = 0; k < o->n && !file->status; k++) {
        const int32_t i = o->body[k];
        if (i < 0 || i >= o->n || is_there[i]++)
            nb6_rules_refuse(file, "owners/body", k, i, "the number of a body, from 0 on, each once");
    }
    nbc_free(is_there);
}

static void read_group(struct nb6_hdf5 *file, hid_t group, int64_t n, struct nb6_owners **owners)
{
    int64_t first[NB6_MOST_PARTS + 1];
    const int parts = (int)nb6_hdf5_get_row(file, group, "first", H5T_NATIVE_INT64, NB6_MOST_PARTS + 1, first) - 1;
    nb6_rules_unless(parts >= 1, file, "owners/first", -1, parts + 1, "of two numbers at least");
    nb6_checkpoint_check_stored(file, group, "body", n, sizeof(int32_t));
    if (file->status) return;
    struct nb6_owners *o = *owners = nb6_owners_create(n, parts);
    if (!o) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for the owners of its bodies");
        return;
    }
    memcpy(o->first, first, ((size_t)parts + 1) * sizeof *first);
    nb6_hdf5_get(file, group, "divided", H5T_NATIVE_INT, 0, &o->divided);
    nb6_hdf5_read_dataset(file, group, "body", H5T_NATIVE_INT32, n, 1, take, o->body);
    if (!file->status) judge_parts(file, o);
    if (!file->status) judge_bodies(file, o);
}

void nb6_checkpoint_read_owners(struct nb6_hdf5 *file, int64_t n, struct nb6_owners **owners)
{
    *owners = NULL;
    if (file->status || H5Lexists(file->file, GROUP, H5P_DEFAULT) <= 0) return;
    hid_t group = nb6_hdf5_open_group(file, file->file, GROUP);
    read_group(file, group, n, owners);
    nb6_hdf5_close_object(group);
    if (!file->status) return;
    nb6_owners_free(*owners);
    *owners = NULL;
}
