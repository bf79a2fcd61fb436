/** The cells of a tree: boxes that hold bodies which follow each other along a Hilbert curve. */
#ifndef GPUNB_TREE_CELLS_H
#define GPUNB_TREE_CELLS_H

#include "common/hd.h"
#include "common/nbc.h"

#include <stddef.h>
#include <stdint.h>

/** The ranks that an expansion leaves out, in units of mass radius^rank: `power` is the largest potential of the
 *  multipole of each of the first two (accept.h), `size` the sum over bodies of the first, which later ones do not
 *  exceed. `quadrupole` is the power of rank 2, which an expansion about targets cuts as well. */
struct tree_rest {
    float power[2], size, quadrupole;
};

/** Parts of a cell that another process has (essential.h): it acts by its multipoles alone. */
enum { TREE_PARTS_ELSEWHERE = -1 };

struct tree_cell {
    int32_t first, count;   /**< its bodies, by place */
    int32_t child, n_child; /**< its parts, which follow each other; n_child = 0: a leaf; TREE_PARTS_ELSEWHERE */
    double low[3], high[3]; /**< the box of its bodies */
    double centre[3];       /**< of mass; of the box, if there is none */
    double mass, radius;    /**< about the centre, of all its bodies */
    struct tree_rest rest;
};

/** A cell as walks read it: one line of the cache. Parts of a cell follow each other. */
struct tree_node {
    NBC_ALIGNED(16) double centre[3];
    float mass; /**< a part of that of all bodies */
    float radius;
    struct tree_rest rest;
    int32_t first, count, child, n_child;
};

/** The rounding of a radius to float. */
#define TREE_RADIUS_MARGIN 1.000001f

/** Memory that only grows: what was in it is lost, unless it is kept. */
struct tree_room {
    void *data;
    size_t bytes;
};
/** @return NULL without memory, and the room is as it was */
void *tree_room(struct tree_room *room, size_t count, size_t size);
void *tree_room_kept(struct tree_room *room, size_t count, size_t size);

/** Cells of bodies, by levels: those of level l are [level[l], level[l + 1]), the first one holds all. A tree of the
 *  trees of several processes (essential.h) has up to TREE_LEVELS_ABOVE more. */
enum { TREE_LEVELS = 256, TREE_LEVELS_ABOVE = 12, TREE_MOST_LEVELS = TREE_LEVELS + TREE_LEVELS_ABOVE };
struct tree_cells {
    size_t n; /**< bodies */
    int n_levels;
    size_t level[TREE_MOST_LEVELS + 1];
    int32_t *number;        /**< [n] which body is at each place */
    struct tree_cell *cell; /**< [level[n_levels]]; here: first, count, child, n_child */
    struct tree_room numbers, cells, entries, others, counts, marks;
};

/** The order of bodies, and their cells of at most `leaf` bodies; more are in one if they are in one point, or if it is
 *  TREE_LEVELS deep.
 *  @param[in] x        [n][3], n >= 1   @param[in] build  number of the build, by which cells have their places
 *  @param[in] origin   bodies of equal keys are in the order of their numbers, from this one on, around
 *  @param[out] seconds [3] of keys, sort and links, added to
 *  @return NBC_OK; NBC_NO_MEMORY */
int tree_make_cells(struct tree_cells *cells, size_t n, const double (*x)[3], uint64_t build, int leaf, int32_t origin,
                    double *seconds);
void tree_free_cells(struct tree_cells *cells);

#endif
