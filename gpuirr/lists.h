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

#endif
