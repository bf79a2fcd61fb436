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

int gpuirr_kept_reserve(struct gpuirr_kept *kept, size_t n_max)
{
    const size_t old = kept->capacity;
    if (n_max <= old) return 0;
    int32_t *body = nbc_realloc(kept->body, old, n_max, sizeof *body);
    if (body) kept->body = body;
    int8_t *is_set = nbc_realloc(kept->is_set, old, n_max, sizeof *is_set);
    if (is_set) kept->is_set = is_set;
    struct gpuirr_list *list = nbc_realloc(kept->list, old, n_max, sizeof *list);
    if (list) kept->list = list;
    if (!body || !is_set || !list) return -1; /* a part that is larger than said does no harm */
    kept->capacity = n_max;
    return 0;
}

void gpuirr_kept_free(struct gpuirr_kept *kept)
{
    for (size_t k = 0; k < kept->n; k++) gpuirr_list_clear(&kept->list[kept->body[k]]);
    nbc_free(kept->body);
    nbc_free(kept->is_set);
    nbc_free(kept->list);
    *kept = (struct gpuirr_kept){.open = 0};
}

/* The new list may be part of the old one, which stays where it is. */
int gpuirr_kept_set(struct gpuirr_kept *kept, struct gpuirr_list *list, size_t i, uint32_t nnb, const int32_t *nblist)
{
    if (kept->is_set[i]) return gpuirr_list_set(&list[i], nnb, nblist);
    struct gpuirr_list fresh = {.nb = NULL};
    if (gpuirr_list_set(&fresh, nnb, nblist)) return -1;
    kept->list[i] = list[i];
    list[i] = fresh;
    kept->is_set[i] = 1;
    kept->body[__atomic_fetch_add(&kept->n, 1, __ATOMIC_RELAXED)] = (int32_t)i;
    return 0;
}

void gpuirr_kept_end(struct gpuirr_kept *kept, struct gpuirr_list *list, int keep_new)
{
    for (size_t k = 0; k < kept->n; k++) {
        const int32_t i = kept->body[k];
        gpuirr_list_clear(keep_new ? &kept->list[i] : &list[i]);
        if (!keep_new) list[i] = kept->list[i];
        kept->list[i] = (struct gpuirr_list){.nb = NULL};
        kept->is_set[i] = 0;
    }
    kept->n = 0;
    kept->open = 0;
}
