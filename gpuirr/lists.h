/** Storage of neighbour lists of any length. Private to GPUIRR. */
#ifndef GPUIRR_LISTS_H
#define GPUIRR_LISTS_H

#include <stddef.h>
#include <stdint.h>

/** The list of one body; zero-initialise. */
struct gpuirr_list {
    int32_t *nb; /**< [cap]; behind the nnb neighbours up to a multiple of GPUIRR_LIST_GRAIN, copies of the last */
    uint32_t nnb, cap;
};

/** Copy a list. Concurrent calls are for different bodies.
 *  @return 0; -1 without memory (the old list is kept) */
int gpuirr_list_set(struct gpuirr_list *list, uint32_t nnb, const int32_t *nblist);
void gpuirr_list_clear(struct gpuirr_list *list);
/** Whether so many neighbours fit, and fill at least half of the memory. */
int gpuirr_list_fits(const struct gpuirr_list *list, uint32_t nnb);
/** Copy neighbours into memory that is large enough. */
void gpuirr_list_fill(struct gpuirr_list *list, uint32_t nnb, const int32_t *nblist);

enum { GPUIRR_POOL_SIZES = 64 };
/** Capacity for unused lists: all of a large block among a hundred thousand bodies, some of a million. */
#define GPUIRR_POOL_MOST(n_max) ((n_max) / 4 + 65536)

/** Memory of unused lists, by size: lists of blocks are made and freed all the time, in few sizes. Zero-initialise,
 *  then set the capacity. One call at a time. */
struct gpuirr_pool {
    size_t most, n;
    void *first[GPUIRR_POOL_SIZES]; /**< memory for (k + 1) GPUIRR_LIST_GRAIN neighbours, which begins with the address
                                         of the next one; NULL: none */
};

/** An empty list with room for nnb > 0 neighbours.   @return 0; -1 without memory */
int gpuirr_pool_take(struct gpuirr_pool *pool, uint32_t nnb, struct gpuirr_list *list);
/** Release a list: its memory is kept here, or freed. */
void gpuirr_pool_give(struct gpuirr_pool *pool, struct gpuirr_list *list);
void gpuirr_pool_free(struct gpuirr_pool *pool);

/** Old lists in a transaction; zero-initialise. */
struct gpuirr_kept {
    int open;
    size_t capacity;          /**< bodies for which there is memory */
    size_t n;                 /**< bodies whose list was set */
    int32_t *body;            /**< [n] these, in any order */
    int8_t *is_set;           /**< [capacity] */
    struct gpuirr_list *list; /**< [capacity] their old lists */
};

/** Room for n_max bodies.   @return 0; -1 without memory: all is as it was */
int gpuirr_kept_reserve(struct gpuirr_kept *kept, size_t n_max);
void gpuirr_kept_free(struct gpuirr_kept *kept);
/** Keep the list of body i, which was not set since the transaction began; `list` may be given another one then.
 *  Concurrent calls are for different bodies. */
void gpuirr_keep(struct gpuirr_kept *kept, const struct gpuirr_list *list, int32_t i);
/** gpuirr_list_set within an open transaction. Concurrent calls are for different bodies. */
int gpuirr_kept_set(struct gpuirr_kept *kept, struct gpuirr_list *list, size_t i, uint32_t nnb, const int32_t *nblist);
/** End a transaction.   @param[in,out] list [n_max] */
void gpuirr_kept_end(struct gpuirr_kept *kept, struct gpuirr_pool *pool, struct gpuirr_list *list, int keep_new);

#endif
