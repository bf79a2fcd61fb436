#include "gpunb/tree/groups.h"

#include <string.h>

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

/* Whether each target is another source.   @param[out] mark  [sources] its target, -1: none */
static int each_is_a_source(const struct gpunb_tree *tree, const struct gpunb_softened_job *job, int32_t *mark)
{
    if (!job->self) return 0;
    memset(mark, 0xff, tree->n * sizeof *mark);
    for (size_t i = 0; i < job->n_i; i++) {
        if (job->self[i] < 0) return 0;
        int32_t *at = &mark[tree->place[job->self[i]]];
        if (*at >= 0) return 0;
        *at = (int32_t)i;
    }
    return 1;
}

static int group_sources(struct tree_groups *groups, const struct gpunb_tree *tree, int32_t *mark, int32_t *before,
                         int most)
{
    int32_t n = 0;
    for (size_t p = 0; p < tree->n; p++) {
        before[p] = n;
        if (mark[p] >= 0) groups->target[n++] = mark[p];
    }
    before[tree->n] = n;
    return group_cells(groups, &tree->cells, before, most);
}

static int group_others(struct tree_groups *groups, const struct gpunb_softened_job *job, int most, double *seconds)
{
    struct tree_cells *cells = &groups->cells;
    const int status = tree_make_cells(cells, job->n_i, job->x, most, seconds);
    if (status) return status;
    int32_t *before = tree_room(&groups->marks, job->n_i + 1, sizeof *before);
    if (!before) return NBC_NO_MEMORY;
    for (size_t p = 0; p <= job->n_i; p++) before[p] = (int32_t)p;
    memcpy(groups->target, cells->number, job->n_i * sizeof *groups->target);
    return group_cells(groups, cells, before, most) ? NBC_OK : NBC_NO_MEMORY;
}

int tree_make_groups(struct tree_groups *groups, const struct gpunb_tree *tree, const struct gpunb_softened_job *job,
                     int most, double *seconds)
{
    const double begin = nbc_wtime();
    groups->n = 0;
    groups->target = tree_room(&groups->targets, job->n_i, sizeof *groups->target);
    int32_t *mark = tree_room(&groups->marks, 2 * tree->n + 1, sizeof *mark);
    if (!groups->target || !mark) return NBC_NO_MEMORY;
    if (!each_is_a_source(tree, job, mark)) return group_others(groups, job, most, seconds);
    const int made = group_sources(groups, tree, mark, mark + tree->n, most);
    seconds[GPUNB_TREE_LINK] += nbc_wtime() - begin;
    return made ? NBC_OK : NBC_NO_MEMORY;
}

void tree_free_groups(struct tree_groups *groups)
{
    tree_free_cells(&groups->cells);
    nbc_free(groups->groups.data);
    nbc_free(groups->targets.data);
    nbc_free(groups->marks.data);
}
