/** A tree of a handle: cells with their multipoles, and the bodies in the order of their places. */
#ifndef GPUNB_TREE_TREE_H
#define GPUNB_TREE_TREE_H

#include "gpunb/handle.h"
#include "gpunb/tree/cells.h"
#include "gpunb/tree/method.h"
#include "gpunb/tree/view.h"

struct gpunb_tree {
    const struct gpunb_tree_use *use; /**< of its handle */
    uint64_t version;                 /**< of the sources it is of */
    uint64_t build;                   /**< its number, by which cells have their places */
    int is_sound;                     /**< 0: it could not be renewed, or its sources are not those of the handle */
    int has_cells;                    /**< 0: it was never built, or that has failed */
    size_t n;
    struct tree_cells cells;
    struct tree_node *node; /**< [cells] */
    double (*x)[3], *mass;  /**< [n] by place */
    int32_t *place;         /**< [n] of each source */
    void *moment;           /**< [cells][moments] sum m s^a.../(mass radius^rank), ranks 2 to order + 2 */
    void *coefficient;      /**< [cells][coefficients] of term.h */
    size_t moments, coefficients;
    void *kept; /**< of a tree on a device: its memory; NULL: it is on the host */
    struct tree_room nodes, xs, masses, places, moments_room, coefficients_room;
};

/** Boxes and multipoles of all cells, from the bodies.   @return NBC_OK; NBC_NO_MEMORY */
int tree_make_moments(struct gpunb_tree *tree);

/** A cell before moments are made. */
enum tree_known {
    TREE_CELL_IS_NEW,       /**< its parts or bodies alone */
    TREE_CELL_IS_KNOWN,     /**< all of it */
    TREE_MOMENTS_ARE_KNOWN, /**< all but coefficients */
};
/** Memory for boxes and multipoles of all cells.   @return NBC_OK; NBC_NO_MEMORY */
int tree_provide_moments(struct gpunb_tree *tree);
/** Those that are not known.   @param[in] known  enum tree_known of each cell; NULL: none is */
void tree_make_other_moments(struct gpunb_tree *tree, const uint8_t *known);
/** The arrays of a tree whose moments have room. */
struct tree_view tree_view_of(const struct gpunb_tree *tree, const struct tree_tables *tables);

/** The coefficients of a cell. */
static inline const void *tree_coefficients_of(const struct gpunb_tree *tree, size_t cell)
{
    const size_t size = tree->use->method->in_double ? sizeof(double) : sizeof(float);
    return (const char *)tree->coefficient + cell * tree->coefficients * size;
}

/** The moments of a cell, from rank 2 on. */
static inline const void *tree_moments_of(const struct gpunb_tree *tree, size_t cell)
{
    const size_t size = tree->use->method->in_double ? sizeof(double) : sizeof(float);
    return (const char *)tree->moment + cell * tree->moments * size;
}

#endif
