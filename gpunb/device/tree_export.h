/** Essential trees (tree/essential.h) of a tree in memory of a device: what its kernels (device/tree_export_steps.h)
 *  share with the host side (device/tree_export.c).
 *
 *  Groups of targets are the runs of a walk (device/tree_group.h). Of each the device tells where it is, and the scale
 *  of its forces as far as own cells go. Then, for each part that gets a tree, all threads test the cells of a level,
 *  and one team opens those that do not act as a whole, in their order, so that cells have the places that the host
 *  gives them; at last all threads write. */
#ifndef GPUNB_DEVICE_TREE_EXPORT_H
#define GPUNB_DEVICE_TREE_EXPORT_H

#include "gpunb/device/tree.h"
#include "gpunb/tree/essential_test.h"

/** How far an export has come. */
struct device_tree_exported {
    struct essential_heading heading;
    int32_t begin, end; /**< cells of the level, in the queue */
    unsigned long long tested;
};

struct device_tree_export {
    struct device_tree tree;
    struct essential_test test;
    const struct gpunb_essential_box *node; /**< as of essential_accepts_all */
    int32_t boxes;
    int32_t worth;                 /**< bodies that cost as much as a term */
    int32_t *queue, *at;           /**< [cells] of the essential tree; place among those that act as a whole, or of */
    struct essential_shape *shape; /**< the first body */
    struct device_tree_exported *state;
    int cell_bytes, moments; /**< of a cell as it is sent; floats of its moments */
    char *to;                /**< what is sent */
};

/** Of what is sent. */
NBC_HD size_t tree_exported_bytes(const struct device_tree_export *x, const struct essential_heading *h)
{
    return sizeof *h + (size_t)h->cells * sizeof *x->shape + (size_t)h->whole * (size_t)x->cell_bytes +
           (size_t)h->bodies * sizeof(struct essential_body);
}

#endif
