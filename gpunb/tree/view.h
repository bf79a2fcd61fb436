/** The arrays of a tree, in memory of the host or of a device. */
#ifndef GPUNB_TREE_VIEW_H
#define GPUNB_TREE_VIEW_H

#include "gpunb/tree/cells.h"
#include "gpunb/tree/tensor.h"

/** Products of a component in a product of series of the most ranks: binomial(2r + 6 - r, 6) of rank r. */
enum { TREE_MOST_PRODUCTS = 8008 };

/** Factors that all cells share, and the indices of the components. */
struct tree_tables {
    double inverse[TREE_MOST_MOMENTS];                         /* 1/(a! b! c!) of the component */
    double factorial[TREE_MOST_MOMENTS];                       /* a! b! c! */
    double multinomial[TREE_MOST_MOMENTS];                     /* rank!/(a! b! c!) */
    double weight[TREE_MOST_RANK + 1][TREE_MOST_RANK / 2 + 1]; /* (-1)^k |A_nk| (n - 2k)! */
    double power[TREE_MOST_RANK + 1][TREE_MOST_RANK / 2 + 1];  /* (-1)^k |A_nk| */
    uint8_t rank[TREE_MOST_MOMENTS], b[TREE_MOST_MOMENTS], c[TREE_MOST_MOMENTS];
    uint16_t product[TREE_MOST_MOMENTS + 1]; /* where those of a component begin */
    uint16_t factor[TREE_MOST_PRODUCTS][2];  /* components that are multiplied */
};

struct tree_view {
    const double (*x)[3], *mass; /**< of bodies, by place */
    struct tree_cell *cell;
    struct tree_node *node;
    void *moment;         /**< [cells][moments] sum m s^a.../(mass radius^rank), ranks 2 to order + 2 */
    void *coefficient;    /**< [cells][stride] of term.h */
    int moments, stride;  /**< numbers of a row of each */
    int order, in_double; /* in_double: of moments and coefficients; 0: floats */
    const struct tree_tables *tables;
};

/** Moments of a cell that are kept. */
NBC_HD int tree_kept_moments(int order)
{
    return tree_components_below(order + 3) - tree_components_below(2);
}

#endif
