#include "gpunb/tree/layout.h"

#include "gpunb/tree/keys.h"

#include <string.h>

void tree_layout_cuts(const struct tree_cell *cell, int n_levels, const int32_t *level, size_t n, uint8_t *cut)
{
    memset(cut, TREE_NO_CUT, n);
    for (int depth = 0; depth < n_levels; depth++)
        for (int32_t c = level[depth]; c < level[depth + 1]; c++)
            for (int32_t part = 1; part < cell[c].n_child; part++)
                cut[cell[cell[c].child + part].first] = (uint8_t)depth;
}

/* ---- whether it is one */

int64_t tree_layout_order_flaw(size_t n, const int32_t *order)
{
    uint8_t *seen = nbc_alloc(n, 1);
    size_t p = 0;
    if (!seen) return -1;
    while (p < n && order[p] >= 0 && (size_t)order[p] < n && !seen[order[p]]) seen[order[p++]] = 1;
    nbc_free(seen);
    return (int64_t)p;
}

/* The open cells of each depth, as places pass: how many cuts each has, and whether it has any or deeper ones. */
struct open_cells {
    uint8_t cuts[TREE_NO_CUT], is_cut[TREE_NO_CUT];
};

/* The cells from a depth on end.   @return whether each that is cut below is cut itself */
static int close_cells(struct open_cells *open, int depth)
{
    int is_sound = 1;
    for (int d = depth; d < TREE_NO_CUT && open->is_cut[d]; d++) {
        is_sound &= open->cuts[d] > 0;
        open->cuts[d] = open->is_cut[d] = 0;
    }
    return is_sound;
}

int64_t tree_layout_cut_flaw(size_t n, const uint8_t *cut)
{
    struct open_cells open = {{0}, {0}};
    if (cut[0] != TREE_NO_CUT) return 0;
    for (size_t p = 1; p < n; p++) {
        if (cut[p] == TREE_NO_CUT) continue;
        if (!close_cells(&open, cut[p] + 1) || ++open.cuts[cut[p]] == TREE_PARTS) return (int64_t)p;
        memset(open.is_cut, 1, (size_t)cut[p] + 1);
    }
    return close_cells(&open, 0) ? (int64_t)n : (int64_t)n - 1;
}

/* ---- back */

/* Parts of a cell of a sound layout, behind all cells so far, of which there are *n.   @return NBC_OK; NBC_NO_MEMORY */
static int add_parts(struct tree_cells *tree, size_t c, const uint8_t *cut, int depth, size_t *n)
{
    const int32_t first = tree->cell[c].first, end = first + tree->cell[c].count;
    int32_t begin[TREE_PARTS] = {first}, parts = 1;
    for (int32_t p = first + 1; p < end && depth != TREE_NO_CUT; p++)
        if (cut[p] == depth) begin[parts++] = p;
    if (parts == 1) return NBC_OK;
    tree->cell = tree_room_kept(&tree->cells, *n + TREE_PARTS, sizeof *tree->cell);
    if (!tree->cell) return NBC_NO_MEMORY;
    tree->cell[c].child = (int32_t)*n;
    tree->cell[c].n_child = parts;
    for (int32_t part = 0; part < parts; part++) {
        const int32_t stop = part + 1 < parts ? begin[part + 1] : end;
        tree->cell[(*n)++] = (struct tree_cell){.first = begin[part], .count = stop - begin[part]};
    }
    return NBC_OK;
}

static int restore_cells(struct tree_cells *tree, const uint8_t *cut)
{
    size_t begin = 0, end = 1;
    int status = NBC_OK;
    tree->cell = tree_room_kept(&tree->cells, 1, sizeof *tree->cell);
    if (!tree->cell) return NBC_NO_MEMORY;
    tree->cell[0] = (struct tree_cell){.count = (int32_t)tree->n};
    tree->n_levels = 0;
    while (begin < end && !status) {
        const size_t stop = end;
        const int depth = tree->n_levels++;
        tree->level[depth] = begin;
        for (size_t c = begin; c < stop && !status; c++) status = add_parts(tree, c, cut, depth, &end);
        begin = stop;
    }
    tree->level[tree->n_levels] = end;
    return status;
}

int tree_layout_restore(struct tree_cells *tree, size_t n, const int32_t *order, const uint8_t *cut)
{
    const int64_t none = (int64_t)n, flaw = tree_layout_order_flaw(n, order);
    tree->n = n;
    tree->number = tree_room(&tree->numbers, n, sizeof *tree->number);
    if (flaw < 0 || !tree->number) return NBC_NO_MEMORY;
    if (flaw != none || tree_layout_cut_flaw(n, cut) != none) return NBC_BAD_ARGUMENT;
    memcpy(tree->number, order, n * sizeof *order);
    return restore_cells(tree, cut);
}
