/** Index of the stored neighbour lists in the other direction: the bodies that have a given body in their list.
 *  Private to GPUIRR.
 *
 *  Rows made from all lists at one time have the holders at that time; neighbours that lists have gained since are in
 *  a log. Nothing is removed, so each holder is checked against its list. Without searches there is no cost: the
 *  index is made after a few searches through all lists have cost as much. The results of the last two searches are
 *  kept until a list changes: the decision whether two bodies become one needs both, and again when they do. */
#ifndef GPUIRR_HOLDERS_H
#define GPUIRR_HOLDERS_H

#include "gpuirr/lists.h"

#include <stddef.h>
#include <stdint.h>

/** Log entry: body i has gained neighbour j. */
struct gpuirr_gain {
    int32_t i, j;
    int32_t earlier; /**< number of an entry before with the same j, -1: none */
};

/** Result of a search through all lists. */
struct gpuirr_search {
    int32_t j;
    size_t n, room;
    int32_t *body; /**< [room] n are found */
};

/** Zero-initialise. */
struct gpuirr_holders {
    int is_made, is_of_transaction; /**< 1: made; made since gpuirr_begin, from lists that may be discarded */
    int searches;                   /**< searches through all lists, since there is no index */
    size_t replaced;                /**< lists replaced since the last search */
    size_t n;                       /**< bodies when the index was made */
    size_t *first;                  /**< [n + 1] where the row of a body begins */
    int32_t *row;                   /**< [first[n]] bodies that had it in their lists, ascending */
    int32_t *last_gain;             /**< [n] last entry of the log for a body, -1: none */
    size_t n_log, n_linked, room;   /**< n_log may exceed room: then the index is invalid */
    struct gpuirr_gain *log;        /**< [room]; the first n_linked are in chains */
    int32_t *found;                 /**< [found_room] result of the last search */
    size_t found_room;
    int searched;                   /**< number of recent searches that are kept */
    struct gpuirr_search search[2]; /**< the last one first */
};

/** Record that a list is about to be replaced. Concurrent calls are for different bodies. */
void gpuirr_holders_note(struct gpuirr_holders *holders, const struct gpuirr_list *old, int32_t i, uint32_t nnb,
                         const int32_t *nblist);
/** A transaction of lists begins. It ends with so many lists as they were at its begin: an index from before has them.
 */
void gpuirr_holders_begin(struct gpuirr_holders *holders);
void gpuirr_holders_discard(struct gpuirr_holders *holders, size_t n_lists);
/** Record the number of lists replaced. Without a search for long, the index is dropped. */
void gpuirr_holders_age(struct gpuirr_holders *holders, size_t n_lists);
/** Record that so many of n lists are about to be replaced at once. If it is most of them, a new index costs less
 *  than log entries for all, and past searches do not predict that one is worth it. */
void gpuirr_holders_expect(struct gpuirr_holders *holders, size_t n_lists, size_t n);
/** All bodies that have j in their list, ascending, in holders->found.
 *  @param[in] list [n]   @param[out] n_found  their number   @return 0; -1 without memory */
int gpuirr_holders_find(struct gpuirr_holders *holders, const struct gpuirr_list *list, size_t n, int32_t j,
                        size_t *n_found);
/** Drop the index: lists have changed without a record, or the number of bodies has. */
void gpuirr_holders_drop(struct gpuirr_holders *holders);
void gpuirr_holders_free(struct gpuirr_holders *holders);

#endif
