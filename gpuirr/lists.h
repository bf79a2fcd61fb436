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

/** What the lists were before a transaction; zero-initialise. */
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
/** gpuirr_list_set within an open transaction. Concurrent calls are for different bodies. */
int gpuirr_kept_set(struct gpuirr_kept *kept, struct gpuirr_list *list, size_t i, uint32_t nnb, const int32_t *nblist);
/** End a transaction.   @param[in,out] list [n_max] */
void gpuirr_kept_end(struct gpuirr_kept *kept, struct gpuirr_list *list, int keep_new);

#endif
