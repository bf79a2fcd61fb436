#include "gpuirr/lists.h"
#include "gpuirr/backend.h"

#include <stdlib.h>
#include <string.h>

int gpuirr_list_set(struct gpuirr_list *list, uint32_t nnb, const int32_t *nblist)
{
    /* Plain malloc costs 8 to 16 bytes for each block, an aligned one up to 128. */
    size_t padded = ((size_t)nnb + GPUIRR_LIST_GRAIN - 1) / GPUIRR_LIST_GRAIN * GPUIRR_LIST_GRAIN;
    int32_t *nb = list->nb, *old = NULL;
    /* Given back when less than a half is used, so that memory follows the cluster as it expands. */
    if (nnb > list->cap || (list->cap > GPUIRR_LIST_GRAIN && nnb < list->cap / 2)) {
        nb = padded ? malloc(padded * sizeof *nb) : NULL;
        if (padded && !nb) return -1;
        old = list->nb;
        list->nb = nb;
        list->cap = (uint32_t)padded;
    }
    if (nnb) memmove(nb, nblist, nnb * sizeof *nblist); /* nblist may be part of the stored list */
    for (size_t k = nnb; k < padded; k++) nb[k] = nb[nnb - 1];
    free(old);
    list->nnb = nnb;
    return 0;
}

void gpuirr_list_clear(struct gpuirr_list *list)
{
    free(list->nb);
    *list = (struct gpuirr_list){.nb = NULL};
}
