/** Stages of a tree (device/tree.h) as one thread does them, for GPUs and emulated devices. */
#ifndef GPUNB_DEVICE_TREE_STEPS_H
#define GPUNB_DEVICE_TREE_STEPS_H

#include "gpunb/device/softened_sources.h"
#include "gpunb/device/tree.h"

/* ---- sources */

/** A source at its place. */
NBC_HD void tree_gather_source(const struct device_tree *tree, const struct softened_sources *s, int to_float, int p)
{
    const int32_t j = tree->number[p];
    const double *x = softened_position(s, (size_t)j);
    for (int k = 0; k < 3; k++) tree->x[p][k] = softened_rounded(x[k], to_float);
    tree->mass[p] = (double)softened_mass(s, (size_t)j);
    tree->place[j] = p;
}

/** The number of the source at a place, as those after the first place are counted, around. */
NBC_HD int32_t tree_number_from(const struct device_tree *tree, int first, int p)
{
    return p < first ? p - first + tree->n : p - first;
}

/* ---- keys */

/** Position to key in a box of ordered bits.   @return 0 in a point as well */
NBC_HD uint64_t tree_key_in(const struct tree_root *root, const uint64_t low_bits[3], const uint64_t high_bits[3],
                            const double x[3])
{
    double low[3], width = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = nbc_of_ordered_bits(low_bits[k]);
        width = fmax(width, nbc_of_ordered_bits(high_bits[k]) - low[k]);
    }
    if (!(width > TREE_POINT)) return 0;
    for (int k = 0; k < 3; k++) low[k] -= root->below[k] * width;
    return tree_key(x, low, TREE_KEY_CELLS / (root->width * width));
}

/** The i-th source, as those of equal keys are counted. */
NBC_HD int32_t tree_source_of(const struct device_tree *tree, int i)
{
    return i < tree->n - tree->origin ? i + tree->origin : i - (tree->n - tree->origin);
}

NBC_HD uint64_t tree_source_key(const struct device_tree *tree, const double x[3])
{
    return tree_key_in(&tree->root, tree->shape->low, tree->shape->high, x);
}

/** Whether the bodies at two places have the same keys. */
NBC_HD int tree_is_tied(const struct device_tree *tree, int a, int b)
{
    for (int pass = 0; pass < tree->passes; pass++)
        if (tree->key[pass][a] != tree->key[pass][b]) return 0;
    return 1;
}

/** The places [*first, *end) of all that have the keys of the one at place p. */
NBC_HD void tree_find_run(const struct device_tree *tree, int p, int32_t *first, int32_t *end)
{
    *first = 0;
    *end = tree->n;
    for (int pass = 0; pass < tree->passes; pass++) {
        const uint64_t *key = tree->key[pass], own = key[p];
        *first = tree_lower_bound(key, 1, *first, p, own);
        *end = tree_lower_bound(key, 1, p, *end, own + 1);
    }
}

/** Whether the body at place p is elsewhere than the one before it, and no key tells them apart, in a run that no leaf
 *  holds. */
NBC_HD int tree_is_to_part(const struct device_tree *tree, const struct softened_sources *s, int p)
{
    int32_t first, end;
    if (p == 0 || !tree_is_tied(tree, p - 1, p)) return 0;
    const double *x = softened_position(s, (size_t)tree->number[p]),
                 *before = softened_position(s, (size_t)tree->number[p - 1]);
    if (x[0] == before[0] && x[1] == before[1] && x[2] == before[2]) return 0;
    tree_find_run(tree, p, &first, &end);
    return end - first > tree->leaf;
}

/** The next key of the body at place p, in the box of its run, if that is larger than a leaf. */
NBC_HD uint64_t tree_next_key(const struct device_tree *tree, const struct device_tree_scratch *scratch,
                              const struct softened_sources *s, int p)
{
    int32_t first, end;
    tree_find_run(tree, p, &first, &end);
    if (end - first <= tree->leaf) return 0;
    return tree_key_in(&tree->root, scratch->box[first], scratch->box[first] + 3,
                       softened_position(s, (size_t)tree->number[p]));
}

/* ---- cells */

/** Where those bodies of a cell begin whose next digit is at least this one. In a cell that is not cut, be it small, or
 *  in one point as far as keys know, all bodies have digit 0. */
NBC_HD int32_t tree_digit_begin(const struct device_tree *tree, int32_t c, int digit)
{
    const struct tree_cell *cell = &tree->view.cell[c];
    const int32_t first = cell->first, end = first + cell->count;
    for (int pass = 0; pass < tree->passes && cell->count > tree->leaf && digit > 0; pass++) {
        const uint64_t *key = tree->key[pass], differ = key[first] ^ key[end - 1];
        if (differ == 0) continue;
        const int shift = (63 - nbc_leading_zeros(differ)) / 3 * 3;
        const uint64_t prefix = key[first] >> shift & ~(uint64_t)(TREE_PARTS - 1);
        return tree_lower_bound(key, 1, first, end, (prefix | (uint64_t)digit) << shift);
    }
    return digit == 0 ? first : end;
}

/** The parts of a cell, of which cut[c] tells how many there are and where digits begin, become cells from `child` on.
 *  @return the bodies of a leaf; 0: it has parts */
NBC_HD int32_t tree_add_parts(const struct device_tree *tree, int32_t c, int32_t child)
{
    struct tree_cell *cell = &tree->view.cell[c];
    const int32_t *cut = tree->cut[c], n = cut[TREE_PARTS];
    cell->child = child;
    cell->n_child = n;
    if (n == 0) return cell->count;
    for (int digit = 0; digit < TREE_PARTS; digit++) {
        const int32_t begin = cut[digit], end = digit + 1 < TREE_PARTS ? cut[digit + 1] : cell->first + cell->count;
        if (begin == end) continue;
        struct tree_cell *part = &tree->view.cell[child++];
        part->first = begin;
        part->count = end - begin;
        part->child = part->n_child = 0;
    }
    return 0;
}

/** The cell of all bodies. */
NBC_HD void tree_begin_cells(const struct device_tree *tree)
{
    struct tree_cell *root = &tree->view.cell[0];
    root->first = 0;
    root->count = tree->n;
    root->child = root->n_child = 0;
    tree->shape->level[0] = 0;
}

/* ---- targets */

/** The place of a target in the order of the tree: of the source that it is, or of those near to it. */
NBC_HD uint64_t tree_target_place(const struct device_tree *tree, const double x[3], int32_t self)
{
    if (self >= 0) return (uint64_t)tree->place[self];
    return (uint64_t)tree_lower_bound(tree->key[0], 1, 0, tree->n - 1, tree_source_key(tree, x));
}

#endif
