/* Regular forces by tree on an emulated device: a team of lanes is one thread that does what all would (tree/lanes.h),
 * a kernel a loop over teams or threads. */
#include "common/team.h"
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"
#include "gpunb/device/regular_tree.h"

#define TREE_TEAM 32
#include "gpunb/device/regular_group.h"
#include "gpunb/device/regular_region.h"

enum { CELLS_OF_A_PART = 16, THREADS_OF_A_PART = 4096, GROUPS_OF_A_PART = 4 };

/* Arguments of a kernel: items [first, end) of a tree. */
struct regular_work {
    struct device_regular_tree t;
    int first, end, stage;
    void (*one)(const struct device_regular_tree *t, int32_t item);
};

/* ---- a thread for each item */

static void some(void *context, int part, int parts)
{
    const struct regular_work *w = context;
    int64_t first, end;
    nbc_range(w->end - w->first, part, parts, &first, &end);
    for (int64_t item = first; item < end; item++) w->one(&w->t, (int32_t)(w->first + item));
}

static void all(const void *work)
{
    struct regular_work own = *(const struct regular_work *)work;
    nbc_team_run(nbc_parts(own.end - own.first, THREADS_OF_A_PART), some, &own);
}

static int launch(const struct device_regular_tree *t, int end,
                  void (*one)(const struct device_regular_tree *t, int32_t item), struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t, .end = end, .one = one};
    return nbd_emulated_launch(stream, all, &work, sizeof work);
}

static int sources(const struct device_regular_tree *t, struct nbd_stream *stream)
{
    return launch(t, t->tree.n, regular_take_source, stream);
}

static int sort(const struct device_regular_tree *t, struct nbd_stream *stream)
{
    return launch(t, t->tree.n, regular_sort_source, stream);
}

static int places(const struct device_regular_tree *t, struct nbd_stream *stream)
{
    return launch(t, t->n_i, regular_place_target, stream);
}

static int targets(const struct device_regular_tree *t, struct nbd_stream *stream)
{
    return launch(t, t->n_i, regular_make_target, stream);
}

static int sizes(const struct device_regular_tree *t, struct nbd_stream *stream)
{
    return launch(t, t->n_i, regular_take_size, stream);
}

static int plan(const struct device_regular_tree *t, int first, int end, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t, .first = first, .end = end, .one = regular_plan_cell};
    return nbd_emulated_launch(stream, all, &work, sizeof work);
}

/* ---- a team for each item */

static void rates_part(void *context, int part, int parts)
{
    const struct regular_work *w = context;
    const struct tree_rates_view view = regular_rates_view(&w->t);
    struct tree_rates_memory memory;
    int64_t first, end;
    nbc_range(w->end - w->first, part, parts, &first, &end);
    for (int64_t c = w->first + first; c < w->first + end; c++)
        if ((w->t.tree.view.cell[c].n_child == 0) == w->stage) tree_make_rates(&view, (size_t)c, &memory);
}

static void rates(const void *work)
{
    struct regular_work own = *(const struct regular_work *)work;
    nbc_team_run(nbc_parts(own.end - own.first, CELLS_OF_A_PART), rates_part, &own);
}

static int leaves(const struct device_regular_tree *t, int n_cells, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t, .end = n_cells, .stage = 1};
    return nbd_emulated_launch(stream, rates, &work, sizeof work);
}

static int wholes(const struct device_regular_tree *t, int first, int end, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t, .first = first, .end = end};
    return nbd_emulated_launch(stream, rates, &work, sizeof work);
}

static void rows_part(void *context, int part, int parts)
{
    const struct regular_work *w = context;
    struct regular_terms_memory memory;
    int64_t first, end;
    nbc_range(w->end, part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) regular_make_terms(&w->t, (int32_t)c, &memory);
}

static void make_rows(const void *work)
{
    struct regular_work own = *(const struct regular_work *)work;
    nbc_team_run(nbc_parts(own.end, CELLS_OF_A_PART), rows_part, &own);
}

static int rows(const struct device_regular_tree *t, int n_cells, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t, .end = n_cells};
    return nbd_emulated_launch(stream, make_rows, &work, sizeof work);
}

/* Regions of the levels [stage, end). */
static void begin_regions(struct regular_work *work)
{
    work->first = regular_first_region(&work->t, work->stage);
    work->end = regular_first_region(&work->t, work->end);
}

static void regions_part(void *context, int part, int parts)
{
    const struct regular_work *w = context;
    struct regular_walk_memory memory;
    int64_t first, end;
    nbc_range(w->end - w->first, part, parts, &first, &end);
    for (int64_t r = w->first + first; r < w->first + end; r++) regular_walk_region(&w->t, &memory, (int32_t)r);
}

static void walk_regions(const void *work)
{
    struct regular_work own = *(const struct regular_work *)work;
    begin_regions(&own);
    nbc_team_run(nbc_parts(own.end - own.first, CELLS_OF_A_PART), regions_part, &own);
}

static int regions(const struct device_regular_tree *t, int level, int most, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t, .stage = level, .end = level + 1};
    (void)most;
    return nbd_emulated_launch(stream, walk_regions, &work, sizeof work);
}

static void expand_part(void *context, int part, int parts)
{
    const struct regular_work *w = context;
    struct regular_memory memory;
    int64_t first, end;
    nbc_range(w->end - w->first, part, parts, &first, &end);
    for (int64_t r = w->first + first; r < w->first + end; r++) regular_expand(&w->t, &memory, (int32_t)r);
}

static void expand_regions(const void *work)
{
    struct regular_work own = *(const struct regular_work *)work;
    begin_regions(&own);
    nbc_team_run(nbc_parts(own.end - own.first, CELLS_OF_A_PART), expand_part, &own);
}

static int expand(const struct device_regular_tree *t, int levels, int most, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t, .end = levels};
    (void)most;
    return nbd_emulated_launch(stream, expand_regions, &work, sizeof work);
}

static void around_part(void *context, int part, int parts)
{
    const struct regular_work *w = context;
    struct regular_memory memory;
    int64_t first, end;
    nbc_range(w->end - w->first, part, parts, &first, &end);
    for (int64_t r = w->first + first; r < w->first + end; r++) regular_add_around(&w->t, &memory, (int32_t)r);
}

static void add_around(const void *work)
{
    struct regular_work own = *(const struct regular_work *)work;
    begin_regions(&own);
    nbc_team_run(nbc_parts(own.end - own.first, CELLS_OF_A_PART), around_part, &own);
}

static int around(const struct device_regular_tree *t, int level, int most, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t, .stage = level, .end = level + 1};
    (void)most;
    return nbd_emulated_launch(stream, add_around, &work, sizeof work);
}

static void fields_part(void *context, int part, int parts)
{
    const struct regular_work *w = context;
    int64_t first, end;
    nbc_range(w->end, part, parts, &first, &end);
    for (int64_t g = first; g < end; g++) regular_make_fields(&w->t, &w->t.group[g]);
}

static void make_fields(const void *work)
{
    struct regular_work own = *(const struct regular_work *)work;
    own.end = own.t.counters->end[0];
    nbc_team_run(nbc_parts(own.end, GROUPS_OF_A_PART), fields_part, &own);
}

static int fields(const struct device_regular_tree *t, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t};
    return nbd_emulated_launch(stream, make_fields, &work, sizeof work);
}

static void cells_part(void *context, int part, int parts)
{
    const struct regular_work *w = context;
    struct regular_cells_memory memory;
    int64_t first, end;
    nbc_range(w->end - w->first, part, parts, &first, &end);
    for (int64_t g = w->first + first; g < w->first + end; g++)
        regular_make_cells(&w->t, &memory, &w->t.group[g], w->stage + 1 < REGULAR_STAGES);
}

static void make_cells(const void *work)
{
    struct regular_work own = *(const struct regular_work *)work;
    own.first = own.stage > 0 ? own.t.counters->end[own.stage - 1] : 0;
    own.end = own.t.counters->end[own.stage];
    nbc_team_run(nbc_parts(own.end - own.first, GROUPS_OF_A_PART), cells_part, &own);
}

static int cells(const struct device_regular_tree *t, int stage, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t, .stage = stage};
    return nbd_emulated_launch(stream, make_cells, &work, sizeof work);
}

static void pairs_part(void *context, int part, int parts)
{
    const struct regular_work *w = context;
    struct regular_pair_memory memory;
    int64_t first, end;
    nbc_range(w->end, part, parts, &first, &end);
    for (int64_t g = first; g < end; g++) regular_make_pairs(&w->t, &memory, &w->t.group[g]);
}

static void make_pairs(const void *work)
{
    struct regular_work own = *(const struct regular_work *)work;
    own.end = own.t.counters->groups;
    nbc_team_run(nbc_parts(own.end, GROUPS_OF_A_PART), pairs_part, &own);
}

static int pairs(const struct device_regular_tree *t, struct nbd_stream *stream)
{
    const struct regular_work work = {.t = *t};
    return nbd_emulated_launch(stream, make_pairs, &work, sizeof work);
}

const struct gpunb_regular_tree_kernels gpunb_emulated_regular_tree_kernels = {
    .sources = sources,
    .sort = sort,
    .leaves = leaves,
    .wholes = wholes,
    .rows = rows,
    .places = places,
    .targets = targets,
    .sizes = sizes,
    .plan = plan,
    .regions = regions,
    .expand = expand,
    .around = around,
    .fields = fields,
    .cells = cells,
    .pairs = pairs,
};
