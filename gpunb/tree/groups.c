#include "gpunb/tree/groups.h"

#include "common/team.h"

#include <string.h>

enum { PLACES_OF_A_PART = 8192, MOST_THREADS = 256 };

static int32_t at_most(int32_t left, int most)
{
    return left < most ? left : most;
}

/* A run of targets, in pieces. A cell of more than `most` targets is one whose bodies are in one point, or a leaf. */
static int add_run(struct tree_groups *groups, int32_t first, int32_t count, int most)
{
    for (int32_t done = 0; done < count; done += most) {
        groups->group = tree_room_kept(&groups->groups, groups->n + 1, sizeof *groups->group);
        if (!groups->group) return 0;
        groups->group[groups->n++] = (struct tree_group){first + done, at_most(count - done, most)};
    }
    return 1;
}

/* Targets of a cell: those of places [first, end), of which `before[p]` come before place p. */
static int32_t targets_of(const struct tree_cell *cell, const int32_t *before)
{
    return before[cell->first + cell->count] - before[cell->first];
}

/* Parts of a cell that fit into groups, of which neighbours share one as long as there is room; all others go on the
 * stack. */
static int open_cell(struct tree_groups *groups, const struct tree_cells *cells, const struct tree_cell *cell,
                     const int32_t *before, int most, int32_t *stack, int *depth)
{
    int32_t first = 0, run = 0;
    for (int32_t c = cell->child; c < cell->child + cell->n_child; c++) {
        const struct tree_cell *part = &cells->cell[c];
        const int32_t count = targets_of(part, before);
        const int is_whole = count <= most || part->n_child == 0;
        if (count == 0) continue;
        if (run > 0 && (!is_whole || run + count > most)) {
            if (!add_run(groups, first, run, most)) return 0;
            run = 0;
        }
        if (!is_whole) {
            stack[(*depth)++] = c;
            continue;
        }
        if (run == 0) first = before[part->first];
        run += count;
    }
    return run == 0 || add_run(groups, first, run, most);
}

/* The largest cells of at most `most` targets. */
static int group_cells(struct tree_groups *groups, const struct tree_cells *cells, const int32_t *before, int most)
{
    int32_t stack[8 * TREE_LEVELS + 8];
    int depth = 1;
    const int32_t all = targets_of(&cells->cell[0], before);
    if (all <= most || cells->cell[0].n_child == 0) return add_run(groups, before[0], all, most);
    stack[0] = 0;
    while (depth > 0) {
        const struct tree_cell *cell = &cells->cell[stack[--depth]];
        if (!open_cell(groups, cells, cell, before, most, stack, &depth)) return 0;
    }
    return 1;
}

/* Targets that are sources, along the tree. */
struct marking {
    const struct gpunb_tree *tree;
    const struct gpunb_softened_job *job;
    int32_t *mark;   /* [sources] the target at each place, -1: none */
    int32_t *before; /* [sources + 1] targets before each place */
    int32_t *target; /* [targets] in the order of places */
    int32_t *count;  /* [parts] of targets */
    int32_t others;  /* 1: not each target is another source */
};

static void clear_part(void *context, int part, int parts)
{
    const struct marking *m = context;
    int64_t first, end;
    nbc_range((int64_t)m->tree->n, part, parts, &first, &end);
    memset(m->mark + first, 0xff, (size_t)(end - first) * sizeof *m->mark);
}

static void mark_part(void *context, int part, int parts)
{
    struct marking *m = context;
    int64_t first, end;
    nbc_range((int64_t)m->job->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        const int32_t self = m->job->self[i];
        if (self < 0)
            __atomic_store_n(&m->others, 1, __ATOMIC_RELAXED);
        else
            __atomic_store_n(&m->mark[m->tree->place[self]], (int32_t)i, __ATOMIC_RELAXED);
    }
}

/* Of two targets that are the same source one has not left its mark. */
static void check_part(void *context, int part, int parts)
{
    struct marking *m = context;
    int64_t first, end;
    nbc_range((int64_t)m->job->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        const int32_t self = m->job->self[i];
        if (self >= 0 && m->mark[m->tree->place[self]] != (int32_t)i) __atomic_store_n(&m->others, 1, __ATOMIC_RELAXED);
    }
}

static void count_part(void *context, int part, int parts)
{
    const struct marking *m = context;
    int64_t first, end;
    int32_t n = 0;
    nbc_range((int64_t)m->tree->n, part, parts, &first, &end);
    for (int64_t p = first; p < end; p++) n += m->mark[p] >= 0;
    m->count[part] = n;
}

static void list_part(void *context, int part, int parts)
{
    const struct marking *m = context;
    int64_t first, end;
    int32_t n = 0;
    nbc_range((int64_t)m->tree->n, part, parts, &first, &end);
    for (int p = 0; p < part; p++) n += m->count[p];
    for (int64_t p = first; p < end; p++) {
        m->before[p] = n;
        if (m->mark[p] >= 0) m->target[n++] = m->mark[p];
    }
}

/* @return 0: a target is no source, or the same one as another */
static int list_sources(struct marking *m)
{
    int32_t count[MOST_THREADS];
    int parts = nbc_parts((int64_t)m->tree->n, PLACES_OF_A_PART);
    if (parts > MOST_THREADS) parts = MOST_THREADS;
    if (!m->job->self) return 0;
    nbc_team_run(parts, clear_part, m);
    nbc_team_run(parts, mark_part, m);
    nbc_team_run(parts, check_part, m);
    if (m->others) return 0;
    m->count = count;
    nbc_team_run(parts, count_part, m);
    nbc_team_run(parts, list_part, m);
    m->before[m->tree->n] = (int32_t)m->job->n_i;
    return 1;
}

/* Cells of their own for targets that are not all different sources. */
static int order_others(struct tree_groups *groups, const struct gpunb_softened_job *job, int most, double *seconds)
{
    struct tree_cells *cells = &groups->cells;
    const int status = tree_make_cells(cells, job->n_i, job->x, job->build, most, 0, seconds);
    if (status) return status;
    int32_t *before = tree_room(&groups->marks, job->n_i + 1, sizeof *before);
    if (!before) return NBC_NO_MEMORY;
    for (size_t p = 0; p <= job->n_i; p++) before[p] = (int32_t)p;
    memcpy(groups->target, cells->number, job->n_i * sizeof *groups->target);
    groups->along = cells;
    groups->before = before;
    return NBC_OK;
}

int tree_order_targets(struct tree_groups *groups, const struct gpunb_tree *tree, const struct gpunb_softened_job *job,
                       int most, double *seconds)
{
    groups->n = 0;
    groups->target = tree_room(&groups->targets, job->n_i, sizeof *groups->target);
    struct marking m = {.tree = tree,
                        .job = job,
                        .mark = tree_room(&groups->marks, 2 * tree->n + 1, sizeof *m.mark),
                        .target = groups->target};
    if (!groups->target || !m.mark) return NBC_NO_MEMORY;
    m.before = m.mark + tree->n;
    if (!list_sources(&m)) return order_others(groups, job, most, seconds);
    groups->along = &tree->cells;
    groups->before = m.before;
    groups->mark = m.mark;
    return NBC_OK;
}

int tree_make_groups(struct tree_groups *groups, const struct gpunb_tree *tree, const struct gpunb_softened_job *job,
                     int most, double *seconds)
{
    const double begin = nbc_wtime();
    const int status = tree_order_targets(groups, tree, job, most, seconds);
    if (status) return status;
    const int made = group_cells(groups, groups->along, groups->before, most);
    if (groups->along == &tree->cells) seconds[GPUNB_TREE_LINK] += nbc_wtime() - begin;
    return made ? NBC_OK : NBC_NO_MEMORY;
}

void tree_free_groups(struct tree_groups *groups)
{
    tree_free_cells(&groups->cells);
    nbc_free(groups->groups.data);
    nbc_free(groups->targets.data);
    nbc_free(groups->marks.data);
    nbc_free(groups->places.data);
}
