#include "nbody6/output/checkpoint_tree.h"

#include "common/nbc.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/output/checkpoint_arrays.h"
#include "nbody6/output/checkpoint_columns.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/output/checkpoint_table.h"

#include <string.h>

/* The record: struct nb6_rebuild, and the number of the last build. */
struct record {
    struct nb6_rebuild rebuild;
    uint64_t build_block;
};

/* The columns: `cut` as signed numbers, -1 where no part begins. */
struct row {
    int order;
    int8_t cut, unused[3];
};

/* The same of several ranks: who had a body, where it was, its last acceleration, and how far it was to move. */
struct place {
    double x[3], acc[3], drift;
    int rank, unused;
};

/* clang-format off */
#define RECORD_FIELDS(F, T) \
    F(T, build_block, "build_block", ANY) F(T, rebuild.ti_build, "ti_build", TIME) F(T, rebuild.builds, "builds", COUNT) \
    F(T, rebuild.renewals, "renewals", COUNT) F(T, rebuild.early, "early", COUNT) \
    F(T, rebuild.accepted, "accepted", COUNT) F(T, rebuild.opened, "opened", COUNT) \
    F(T, rebuild.failed, "failed", COUNT) F(T, rebuild.state, "state", BETWEEN(0, NB6_TREE_IS_WORN)) \
    F(T, rebuild.leaf, "leaf", BETWEEN(0, 1024))
#define ROW_FIELDS(F, T) F(T, order, "order", STAR_FROM(0)) F(T, cut, "cut", ANY)
#define PLACE_FIELDS(F, T) F(T, x, "x", PLACE) F(T, acc, "acc", NUMBER) F(T, drift, "drift", NOT_NEGATIVE) F(T, rank, "rank", BETWEEN(0, 0x1p20))
/* clang-format on */

#define FORGOTTEN "a member is in no list: add it, and raise NB6_CHECKPOINT_SCHEMA"

static const struct nb6_state_field record_fields[] = {RECORD_FIELDS(NB6_FIELD, struct record)};
static const struct nb6_state_field row_fields[] = {ROW_FIELDS(NB6_FIELD, struct row)};
static const struct nb6_state_field place_fields[] = {PLACE_FIELDS(NB6_FIELD, struct place)};

_Static_assert(NB6_COVERS(struct record, RECORD_FIELDS, 0), FORGOTTEN);
_Static_assert(NB6_COVERS(struct row, ROW_FIELDS, sizeof(int8_t[3])), FORGOTTEN);
_Static_assert(NB6_COVERS(struct place, PLACE_FIELDS, sizeof(int)), FORGOTTEN);

static const struct nb6_field_group record_group = {NB6_CHECKPOINT_TREE, 0, sizeof(struct record),
                                                    NB6_ROWS(record_fields), record_fields};
static const struct nb6_field_group row_group = {NB6_CHECKPOINT_LAYOUT, 0, sizeof(struct row), NB6_ROWS(row_fields),
                                                 row_fields};
static const struct nb6_field_group place_group = {NB6_CHECKPOINT_PLACES, 0, sizeof(struct place),
                                                   NB6_ROWS(place_fields), place_fields};

enum { ARRAYS = 2, PLACES = 4 };
static void find_places(const struct nb6_kept_tree *kept, struct nb6_field_array place[ARRAYS])
{
    const struct nb6_field_array both[ARRAYS] = {{"order", kept->order, sizeof *kept->order},
                                                 {"cut", kept->cut, sizeof *kept->cut}};
    memcpy(place, both, sizeof both);
}

static const struct nb6_field_array COLUMNS[PLACES] = {
    {.field = "x"}, {.field = "acc"}, {.field = "drift"}, {.field = "rank"}};
static const enum nb6_body_column PLACE_COLUMNS[PLACES] = {NB6_ROWS_PLACE_X, NB6_ROWS_PLACE_ACC, NB6_ROWS_PLACE_DRIFT,
                                                           NB6_ROWS_PLACE_RANK};

void nb6_checkpoint_write_tree(struct nb6_hdf5 *file, const struct nb6_collisionless *s,
                               const struct nb6_body_rows *rows)
{
    struct nb6_field_array place[ARRAYS];
    const struct record record = {s->rebuild, s->build_block};
    if (s->reuse == 1) return;
    find_places(&s->kept, place);
    nb6_checkpoint_write_group(file, &record_group, &record);
    if (s->rebuild.state != NB6_TREE_STANDS) return;
    if (s->ranks)
        nb6_checkpoint_write_rows(file, &place_group, COLUMNS, PLACE_COLUMNS, PLACES, s->n, rows);
    else
        nb6_checkpoint_write_arrays(file, &row_group, place, ARRAYS, s->n);
}

/* ---- reading */

static void judge_record(struct nb6_hdf5 *file, const struct record *record, const struct nb6_collisionless *then)
{
    const struct nb6_rule_sizes sizes = {.stars = then->n};
    const struct nb6_rebuild *r = &record->rebuild;
    nb6_rules_judge(file, &record_group, record, 1, NULL, &sizes);
    if (file->status || r->state == NB6_TREE_IS_MISSING) return;
    nb6_rules_unless(record->build_block < then->n_blocks, file, NB6_CHECKPOINT_TREE "/build_block", -1,
                     (double)record->build_block, "below counters/blocks");
    nb6_rules_unless(r->ti_build <= then->ti_now, file, NB6_CHECKPOINT_TREE "/ti_build", -1, (double)r->ti_build,
                     "no later than state/ti_now");
    nb6_rules_unless(r->leaf > 0, file, NB6_CHECKPOINT_TREE "/leaf", -1, r->leaf, "1 or more");
    nb6_rules_unless(r->builds > r->early, file, NB6_CHECKPOINT_TREE "/early", -1, (double)r->early,
                     "below tree/builds");
}

static void judge_layout(struct nb6_hdf5 *file, int64_t n, const struct nb6_kept_tree *kept)
{
    const int64_t of_order = gpunb_tree_order_flaw((size_t)n, kept->order),
                  of_cuts = gpunb_tree_cut_flaw((size_t)n, kept->cut);
    if (of_order < 0)
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory to check its tree");
    else if (of_order < n)
        nb6_rules_refuse(file, NB6_CHECKPOINT_LAYOUT "/order", of_order, kept->order[of_order],
                         "a star that has no other place");
    else if (of_cuts < n)
        nb6_rules_refuse(file, NB6_CHECKPOINT_LAYOUT "/cut", of_cuts, (int8_t)kept->cut[of_cuts],
                         "-1, or a depth that leaves each cell without parts, or with 2 to 8");
}

static void read_layout(struct nb6_hdf5 *file, struct nb6_collisionless *then)
{
    const struct nb6_rule_sizes sizes = {.stars = then->n};
    struct nb6_field_array place[ARRAYS];
    struct nb6_kept_tree *kept = &then->kept;
    find_places(kept, place);
    nb6_checkpoint_check_arrays(file, &row_group, place, ARRAYS, then->n);
    if (file->status) return;
    kept->order = nbc_alloc_unset((size_t)then->n, sizeof *kept->order);
    kept->cut = nbc_alloc_unset((size_t)then->n, sizeof *kept->cut);
    if (!kept->order || !kept->cut) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its tree");
        return;
    }
    find_places(kept, place);
    nb6_checkpoint_read_arrays(file, &row_group, place, ARRAYS, then->n, &sizes);
    if (file->status) return;
    judge_layout(file, then->n, kept);
}

/* Places on their way: each rank is one of those that had domains. */
struct giving {
    struct nb6_hdf5 *file;
    int ranks;
    const struct nb6_body_sink *sink;
};

static void put_places(void *context, enum nb6_body_column column, int64_t first, int64_t count, const void *rows)
{
    const struct giving *g = context;
    const int32_t *rank = rows;
    for (int64_t k = 0; k < count && column == NB6_ROWS_PLACE_RANK; k++)
        nb6_rules_unless(rank[k] < g->ranks, g->file, NB6_CHECKPOINT_PLACES "/rank", first + k, rank[k],
                         "below the number of domains");
    g->sink->put(g->sink->context, column, first, count, rows);
}

void nb6_checkpoint_give_places(struct nb6_hdf5 *file, int64_t n, int ranks, const struct nb6_body_sink *sink)
{
    const struct nb6_rule_sizes sizes = {.stars = n};
    struct giving giving = {file, ranks, sink};
    const struct nb6_body_sink judge = {.put = put_places, .context = &giving};
    nb6_checkpoint_read_rows(file, &place_group, COLUMNS, PLACE_COLUMNS, PLACES, n, &sizes, &judge);
}

void nb6_checkpoint_read_tree(struct nb6_hdf5 *file, int with_layout, struct nb6_collisionless *then)
{
    struct record record = {.build_block = 0};
    if (then->reuse <= 1 || file->status) return;
    nb6_checkpoint_read_group(file, &record_group, &record);
    if (!file->status) judge_record(file, &record, then);
    if (file->status) return;
    then->rebuild = record.rebuild;
    then->build_block = then->kept.layout_block = record.build_block;
    if (record.rebuild.state != NB6_TREE_STANDS) return;
    then->kept.has_places = H5Lexists(file->file, NB6_CHECKPOINT_PLACES, H5P_DEFAULT) > 0;
    if (then->kept.has_places)
        nb6_checkpoint_check_arrays(file, &place_group, COLUMNS, PLACES, then->n);
    else if (with_layout)
        read_layout(file, then);
}

void nb6_checkpoint_release_tree(struct nb6_collisionless *then)
{
    nbc_free(then->kept.order);
    nbc_free(then->kept.cut);
    then->kept = (struct nb6_kept_tree){0};
}
