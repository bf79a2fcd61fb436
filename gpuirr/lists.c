#include "lists.h"

#include <stdlib.h>
#include <string.h>

/* Ints by which blocks grow: a cache line. Plain malloc costs 8 to 16 bytes for each block, an aligned one up to 128.
 */
enum { GRAIN = 16 };

int gpuirr_list_set(struct gpuirr_list *list, size_t nnb, const int32_t *nblist)
{
    int32_t *nb = list->nb, *old = NULL;
    /* Given back when less than a half is used, so that memory follows the cluster as it expands. */
    if (nnb > list->cap || (list->cap > GRAIN && nnb < list->cap / 2)) {
        size_t cap = (nnb + GRAIN - 1) / GRAIN * GRAIN;
        nb = cap ? malloc(cap * sizeof *nb) : NULL;
        if (cap && !nb) return -1;
        old = list->nb;
        list->nb = nb;
        list->cap = (uint32_t)cap;
    }
    if (nnb) memmove(nb, nblist, nnb * sizeof *nblist); /* nblist may be part of the stored list */
    free(old);
    list->nnb = (uint32_t)nnb;
    return 0;
}

void gpuirr_list_clear(struct gpuirr_list *list)
{
    free(list->nb);
    *list = (struct gpuirr_list){.nb = NULL};
}
