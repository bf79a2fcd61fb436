/** Who has a body in the neighbour list: an index of the stored lists in the other direction. Private to GPUIRR.
 *
 *  Rows made from all lists at one time name who held a body then; what lists have gained since stands in a log.
 *  Nothing is taken out, so a name is looked up in the list before it counts. An index that nobody asks costs
 *  nothing: there is none until a few searches through all lists have cost as much as making one would. What the last
 *  two searches have found is remembered until a list changes: who decides whether two bodies are to become one asks
 *  for both, and again when they do. */
#ifndef GPUIRR_HOLDERS_H
#define GPUIRR_HOLDERS_H

#include "gpuirr/lists.h"

#include <stddef.h>
#include <stdint.h>

/** Body i has gained neighbour j. */
struct gpuirr_gain {
    int32_t i, j;
    int32_t earlier; /**< number of an entry before with the same j, -1: none */
};

/** What a search through all lists has found. */
struct gpuirr_search {
    int32_t j;
    size_t n, room;
    int32_t *body; /**< [room] n are found */
};

/** Zero-initialise. */
struct gpuirr_holders {
    int is_made;
    int searches;                 /**< through all lists, since there is no index */
    size_t replaced;              /**< lists since somebody asked */
    size_t n;                     /**< bodies when it was made */
    size_t *first;                /**< [n + 1] where the row of a body begins */
    int32_t *row;                 /**< [first[n]] bodies that had it in their lists, ascending */
    int32_t *last_gain;           /**< [n] last entry of the log about a body, -1: none */
    size_t n_log, n_linked, room; /**< n_log may exceed room: then the index is of no use any more */
    struct gpuirr_gain *log;      /**< [room]; the first n_linked are in chains */
    int32_t *found;               /**< [found_room] what the last search has found */
    size_t found_room;
    int searched;                   /**< so many of the last searches are remembered */
    struct gpuirr_search search[2]; /**< the last one first */
};

/** A list is about to be replaced. Concurrent calls are for different bodies. */
void gpuirr_holders_note(struct gpuirr_holders *holders, const struct gpuirr_list *old, int32_t i, uint32_t nnb,
                         const int32_t *nblist);
/** So many lists were replaced. Nobody has asked for long: the index costs more than it saves. */
void gpuirr_holders_age(struct gpuirr_holders *holders, size_t n_lists);
/** So many of n lists are about to be replaced at once. If it is most of them, a new index costs less than notes about
 *  all, and searches so far do not tell that one is worth it. */
void gpuirr_holders_expect(struct gpuirr_holders *holders, size_t n_lists, size_t n);
/** All bodies that have j in their list, ascending, in holders->found.
 *  @param[in] list [n]   @param[out] n_found  their number   @return 0; -1 without memory */
int gpuirr_holders_find(struct gpuirr_holders *holders, const struct gpuirr_list *list, size_t n, int32_t j,
                        size_t *n_found);
/** The index is of no use any more: lists have changed without a note, or the number of bodies has. */
void gpuirr_holders_drop(struct gpuirr_holders *holders);
void gpuirr_holders_free(struct gpuirr_holders *holders);

#endif
