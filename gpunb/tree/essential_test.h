/** Essential trees as they are sent, and when a cell of one may act as a whole, for hosts and GPUs (essential.h). */
#ifndef GPUNB_TREE_ESSENTIAL_TEST_H
#define GPUNB_TREE_ESSENTIAL_TEST_H

#include "gpunb/tree/accept.h"

/** Groups of targets that are near to each other. */
struct gpunb_essential_box {
    double low[3], high[3];
    double scale;  /**< the least of the groups' (accept.h), for a mass of 1 */
    double radius; /**< the largest of the groups' */
};

/** A group of targets as a device knows it, which has the own tree alone. */
struct essential_measure {
    double low[3], high[3];
    double least2, most2; /**< squares of the least and the largest of their last accelerations */
    double sum;           /**< of the sizes of own terms; 0 by angle */
};

/** A cell that acts as a whole, as it is sent; its moments follow. */
struct essential_cell {
    double low[3], high[3], centre[3];
    double mass, radius;
    struct tree_rest rest;
    int32_t count;
    int32_t has_targets; /**< of a top cell: 1: its part has targets in this force */
};

/** The heading of an essential tree. Cells follow, level by level, then those that act as a whole, as they are sent,
 *  then the bodies of leaves. */
struct essential_heading {
    int64_t cells, whole, bodies;
};
struct essential_shape {
    int32_t n_child, count; /**< as those of a struct tree_cell */
};
struct essential_body {
    double x[3], mass;
};

/** How cells are tested. */
struct essential_test {
    struct tree_rule rule;
    double mass, softening2;
    double nearest; /**< rounded positions serve from this part of a group's radius on; 0: in double */
};

/** Square of the distance of a place from a box. */
NBC_HD double essential_distance2(const struct gpunb_essential_box *box, const double x[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        const double below = box->low[k] - x[k], above = x[k] - box->high[k];
        const double d = below > above ? below : above;
        r2 += d > 0 ? d * d : 0;
    }
    return r2;
}

/** Whether a cell may act as a whole on all groups in a box, and is worth more than its bodies. */
NBC_HD int essential_accepts(const struct essential_test *t, const double centre[3], double mass, double radius,
                             const struct tree_rest *rest, int32_t count, const struct gpunb_essential_box *box)
{
    const double r2 = essential_distance2(box, centre), nearest = box->radius * t->nearest;
    if (count <= tree_worth_a_term(t->rule.order)) return 0;
    if (r2 + t->softening2 < nearest * nearest) return 0;
    return tree_accepts(&t->rule, (float)(mass / t->mass), (float)radius * TREE_RADIUS_MARGIN, rest, count, (float)r2,
                        (float)(box->scale / t->mass));
}

/** The same of all of n boxes, which are in boxes, so that a cell that is far from many of them is tested once.
 *  @param[in] node  [2 * a power of 2] number 1 holds all boxes, k has parts 2 k and 2 k + 1, by halves of ranges
 *  @param[in,out] tested  tests so far */
NBC_HD int essential_accepts_all(const struct essential_test *t, const struct tree_cell *cell,
                                 const struct gpunb_essential_box *node, int32_t n, uint64_t *tested)
{
    enum { DEEP = 16 }; /* at most 2^14 boxes */
    int32_t at[DEEP], boxes[DEEP];
    int depth = 1;
    at[0] = 1;
    boxes[0] = n;
    while (depth > 0) {
        const int32_t one = at[--depth], held = boxes[depth];
        ++*tested;
        if (essential_accepts(t, cell->centre, cell->mass, cell->radius, &cell->rest, cell->count, &node[one]))
            continue;
        if (held == 1) return 0;
        at[depth] = 2 * one + 1; /* the first half is next */
        boxes[depth++] = held - held / 2;
        at[depth] = 2 * one;
        boxes[depth++] = held / 2;
    }
    return 1;
}

#endif
