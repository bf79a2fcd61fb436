#include "nbody6/output/checkpoint_domains.h"

#include "common/nbc.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/output/checkpoint_check.h"
#include "nbody6/output/checkpoint_rules.h"

#include <math.h>
#include <string.h>

static const char GROUP[] = "domains";
enum { MOST_RANKS = 1 << 20 };

static int fill_levels(void *context, int64_t first, int64_t count, void *buffer)
{
    memcpy(buffer, (const int8_t *)context + first, (size_t)count);
    return NBC_OK;
}

static int take_levels(void *context, int64_t first, int64_t count, void *buffer)
{
    memcpy((int8_t *)context + first, buffer, (size_t)count);
    return NBC_OK;
}

static int fill_cuts(void *context, int64_t first, int64_t count, void *buffer)
{
    memcpy(buffer, (const double *)context + first, (size_t)count * sizeof(double));
    return NBC_OK;
}

static int take_cuts(void *context, int64_t first, int64_t count, void *buffer)
{
    memcpy((double *)context + first, buffer, (size_t)count * sizeof(double));
    return NBC_OK;
}

void nb6_checkpoint_write_domains(struct nb6_hdf5 *file, const struct nb6_sections *s)
{
    if (!s) return;
    hid_t group = nb6_hdf5_make_group(file, file->file, GROUP);
    nb6_hdf5_put_int(file, group, "ranks", s->ranks);
    nb6_hdf5_put(file, group, "axis", H5T_NATIVE_INT32, 3, s->axis);
    nb6_hdf5_close_object(
        nb6_hdf5_make_dataset(file, group, "level", H5T_NATIVE_INT8, s->ranks, 1, fill_levels, s->level));
    nb6_hdf5_close_object(nb6_hdf5_make_dataset(file, group, "cut", H5T_NATIVE_DOUBLE, s->ranks, 1, fill_cuts, s->cut));
    nb6_hdf5_close_object(group);
}

static void judge(struct nb6_hdf5 *file, struct nb6_sections *s)
{
    for (int r = 1; r < s->ranks; r++) {
        nb6_rules_unless(s->level[r] >= 0 && s->level[r] < 3, file, "domains/level", r, s->level[r], "0 to 2");
        nb6_rules_unless(isfinite(s->cut[r]), file, "domains/cut", r, s->cut[r], "a finite number");
    }
    if (!file->status && !nb6_sections_link(s))
        nb6_rules_refuse(file, "domains/axis", -1, s->axis[0], "0, 1 and 2, each once");
}

static void read_group(struct nb6_hdf5 *file, hid_t group, struct nb6_sections **sections)
{
    int ranks = 0;
    nb6_hdf5_get(file, group, "ranks", H5T_NATIVE_INT, 0, &ranks);
    nb6_rules_unless(ranks >= 2 && ranks <= MOST_RANKS, file, "domains/ranks", -1, ranks, "from 2 to 2^20");
    if (file->status) return;
    nb6_checkpoint_check_stored(file, group, "level", ranks, sizeof(int8_t));
    nb6_checkpoint_check_stored(file, group, "cut", ranks, sizeof(double));
    if (file->status) return;
    struct nb6_sections *s = *sections = nb6_sections_create(ranks);
    if (!s) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its domains");
        return;
    }
    nb6_hdf5_get(file, group, "axis", H5T_NATIVE_INT32, 3, s->axis);
    nb6_hdf5_read_dataset(file, group, "level", H5T_NATIVE_INT8, ranks, 1, take_levels, s->level);
    nb6_hdf5_read_dataset(file, group, "cut", H5T_NATIVE_DOUBLE, ranks, 1, take_cuts, s->cut);
    if (!file->status) judge(file, s);
}

void nb6_checkpoint_read_domains(struct nb6_hdf5 *file, struct nb6_sections **sections)
{
    *sections = NULL;
    if (file->status || H5Lexists(file->file, GROUP, H5P_DEFAULT) <= 0) return;
    hid_t group = nb6_hdf5_open_group(file, file->file, GROUP);
    read_group(file, group, sections);
    nb6_hdf5_close_object(group);
    if (!file->status) return;
    nb6_sections_free(*sections);
    *sections = NULL;
}
