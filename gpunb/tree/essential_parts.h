/** Types that the files of essential trees share. */
#ifndef GPUNB_TREE_ESSENTIAL_PARTS_H
#define GPUNB_TREE_ESSENTIAL_PARTS_H

#include "gpunb/tree/essential.h"
#include "gpunb/tree/essential_test.h"
#include "gpunb/tree/groups.h"
#include "gpunb/tree/tree.h"

/** A cell of a list that is kept, in the order in which it is sent. */
struct essential_kept {
    int32_t cell, n_child; /**< n_child as of a struct essential_shape */
};

/** One that was made for a part, or has come from it. */
struct essential_out {
    struct tree_room data;
    int is_close;  /**< of the plan: more than the top cell is sent */
    int64_t boxes; /**< of a part that is close: its boxes */
    int64_t cells; /**< of its list; 0: there is none */
    struct tree_room box_room, cell_room;
};
struct essential_in {
    const char *data; /**< NULL: the top cell alone */
    int is_close;     /**< of the plan, as above */
    struct tree_room links;
    struct essential_link {
        int32_t child, first; /**< of a cell: its parts, its first body, or its place among those that act as a whole */
    } * link;
};

/** Parts of a tree that a force sends. */
enum essential_stage {
    ESSENTIAL_ANEW, /**< what its boxes need */
    ESSENTIAL_PLAN, /**< nothing: lists are made */
    ESSENTIAL_KEPT  /**< what lists have */
};

struct gpunb_essential {
    gpunb_t *handle;
    int parts, own;
    struct gpunb_tree *local, *whole;        /**< of own bodies; of all */
    struct tree_groups groups;               /**< of targets, by the places of `local`; */
    const struct essential_measure *measure; /**< [n_groups] or those that a device has found */
    size_t n_groups;
    struct gpunb_softened_job job; /**< targets as the backend keeps sources, `self` as of `local` */
    int is_first;                  /**< the force by angle that comes before */
    enum essential_stage stage;
    struct tree_rule rule;
    double mass;                         /**< of all parts */
    char *top;                           /**< [parts] */
    struct gpunb_essential_reach *reach; /**< [parts] */
    struct gpunb_essential_box *box;     /**< [own reach.boxes] */
    size_t boxes;
    double *least2;            /**< [boxes] of a plan: square of the least acc_last */
    const double *drift;       /**< [n] of a plan: how far each own body will move, about */
    int32_t *box_of;           /**< [n] of a plan: of each own body */
    struct essential_out *out; /**< [parts] */
    struct essential_in *in;   /**< [parts] */
    struct tree_room targets, box_room, nodes, queue, shapes, ats, origins, known, places, leasts, boxes_of;
    struct gpunb_essential_counts counts;
};

/** Whether a device has the own tree and makes what is sent of it. */
static inline int essential_is_on_device(const struct gpunb_essential *e)
{
    return e->handle->tree->method->device != NULL && e->stage == ESSENTIAL_ANEW;
}

/** Bytes of a cell as it is sent, with its moments: a multiple of 8. */
static inline size_t essential_cell_bytes(const struct gpunb_essential *e)
{
    const struct gpunb_tree_use *use = e->local->use;
    const size_t size = use->method->in_double ? sizeof(double) : sizeof(float);
    const size_t moments = (size_t)tree_kept_moments(use->sizes.order) * size;
    return sizeof(struct essential_cell) + (moments + 7) / 8 * 8;
}

static inline const struct essential_cell *essential_top_of(const struct gpunb_essential *e, int part)
{
    return (const struct essential_cell *)(const void *)(e->top + (size_t)part * essential_cell_bytes(e));
}

/** A cell of the own tree, as it is sent. */
void essential_write_cell(const struct gpunb_essential *essential, size_t cell, void *to);
/** How cells are tested, for which the tops of all parts are there. */
struct essential_test essential_test_of(const struct gpunb_essential *essential);
/** The boxes of the own targets, with their scales, for which the tops of all parts are there; those of a plan have a
 *  margin. */
void essential_make_boxes(struct gpunb_essential *essential);
/** The tree of all, `whole`; where a device has the own tree, that is cell `own` of it, whose parts are elsewhere.
 *  @return NBC_OK; NBC_NO_MEMORY */
int essential_merge(struct gpunb_essential *essential, int32_t *own);

#endif
