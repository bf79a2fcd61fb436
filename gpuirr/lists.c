#include "gpuirr/lists.h"

#include "common/team.h"
#include "gpuirr/backend.h"

#include <stdlib.h>
#include <string.h>

enum { LISTS_OF_A_PART = 128, MOST_PARTS = 32 };

/* Plain malloc costs 8 to 16 bytes for each block, an aligned one up to 128. */
static size_t padded_length(uint32_t nnb)
{
    return ((size_t)nnb + GPUIRR_LIST_GRAIN - 1) / GPUIRR_LIST_GRAIN * GPUIRR_LIST_GRAIN;
}

/* Memory is given back when less than a half is used, so that it follows the cluster as it expands. */
int gpuirr_list_fits(const struct gpuirr_list *list, uint32_t nnb)
{
    return nnb <= list->cap && (list->cap <= GPUIRR_LIST_GRAIN || nnb >= list->cap / 2);
}

void gpuirr_list_fill(struct gpuirr_list *list, uint32_t nnb, const int32_t *nblist)
{
    const size_t padded = padded_length(nnb);
    if (nnb) memcpy(list->nb, nblist, nnb * sizeof *nblist);
    for (size_t k = nnb; k < padded; k++) list->nb[k] = list->nb[nnb - 1];
    list->nnb = nnb;
}

int gpuirr_list_set(struct gpuirr_list *list, uint32_t nnb, const int32_t *nblist)
{
    const size_t padded = padded_length(nnb);
    int32_t *nb = list->nb, *old = NULL;
    if (!gpuirr_list_fits(list, nnb)) {
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

int gpuirr_pool_take(struct gpuirr_pool *pool, uint32_t nnb, struct gpuirr_list *list)
{
    const size_t room = padded_length(nnb), size = room / GPUIRR_LIST_GRAIN - 1;
    *list = (struct gpuirr_list){.cap = (uint32_t)room};
    if (size < GPUIRR_POOL_SIZES && pool->first[size]) {
        list->nb = pool->first[size];
        memcpy(&pool->first[size], list->nb, sizeof(void *));
        __builtin_prefetch(pool->first[size], 1); /* has long been out of use: the next call reads it */
        pool->n--;
        return 0;
    }
    list->nb = malloc(room * sizeof *list->nb);
    return list->nb ? 0 : -1;
}

void gpuirr_pool_give(struct gpuirr_pool *pool, struct gpuirr_list *list)
{
    const size_t size = list->cap / GPUIRR_LIST_GRAIN - 1; /* wraps round for none */
    if (list->nb && size < GPUIRR_POOL_SIZES && pool->n < pool->most) {
        memcpy(list->nb, &pool->first[size], sizeof(void *));
        pool->first[size] = list->nb;
        pool->n++;
        list->nb = NULL;
    }
    gpuirr_list_clear(list);
}

void gpuirr_pool_free(struct gpuirr_pool *pool)
{
    struct gpuirr_list list;
    for (uint32_t size = 0; size < GPUIRR_POOL_SIZES; size++)
        while (pool->first[size])
            if (gpuirr_pool_take(pool, (size + 1) * GPUIRR_LIST_GRAIN, &list) == 0) gpuirr_list_clear(&list);
    *pool = (struct gpuirr_pool){.n = 0};
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

void gpuirr_keep(struct gpuirr_kept *kept, const struct gpuirr_list *list, int32_t i)
{
    kept->list[i] = *list;
    kept->is_set[i] = 1;
    kept->body[__atomic_fetch_add(&kept->n, 1, __ATOMIC_RELAXED)] = i;
}

/* The new list may be part of the old one, which stays where it is. */
int gpuirr_kept_set(struct gpuirr_kept *kept, struct gpuirr_list *list, size_t i, uint32_t nnb, const int32_t *nblist)
{
    if (kept->is_set[i]) return gpuirr_list_set(&list[i], nnb, nblist);
    struct gpuirr_list fresh = {.nb = NULL};
    if (gpuirr_list_set(&fresh, nnb, nblist)) return -1;
    gpuirr_keep(kept, &list[i], (int32_t)i);
    list[i] = fresh;
    return 0;
}

/* Memory that one thread has collected, by size, in chains. */
struct chains {
    void *first[GPUIRR_POOL_SIZES], *last[GPUIRR_POOL_SIZES];
    size_t n[GPUIRR_POOL_SIZES];
};

struct ending {
    struct gpuirr_kept *kept;
    struct gpuirr_list *list;
    int keep_new;
    struct chains chains[MOST_PARTS];
};

static void add_to_chain(struct chains *c, const struct gpuirr_list *list)
{
    const size_t size = list->cap / GPUIRR_LIST_GRAIN - 1; /* wraps round for none */
    if (!list->nb || size >= GPUIRR_POOL_SIZES) {
        free(list->nb);
        return;
    }
    memcpy(list->nb, &c->first[size], sizeof(void *));
    if (!c->first[size]) c->last[size] = list->nb;
    c->first[size] = list->nb;
    c->n[size]++;
}

static void end_part(void *context, int part, int parts)
{
    struct ending *e = context;
    struct gpuirr_kept *kept = e->kept;
    int64_t first, end;
    memset(&e->chains[part], 0, sizeof e->chains[part]);
    nbc_range((int64_t)kept->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        const int32_t i = kept->body[k];
        add_to_chain(&e->chains[part], e->keep_new ? &kept->list[i] : &e->list[i]);
        if (!e->keep_new) e->list[i] = kept->list[i];
        kept->list[i] = (struct gpuirr_list){.nb = NULL};
        kept->is_set[i] = 0;
    }
}

/* A chain goes to the pool as a whole, or to the system where there is no room. */
static void give_chain(struct gpuirr_pool *pool, const struct chains *c, size_t size)
{
    if (c->n[size] == 0) return;
    if (pool->n + c->n[size] <= pool->most) {
        memcpy(c->last[size], &pool->first[size], sizeof(void *));
        pool->first[size] = c->first[size];
        pool->n += c->n[size];
        return;
    }
    for (void *row = c->first[size], *next; row; row = next) {
        memcpy(&next, row, sizeof next);
        free(row);
    }
}

void gpuirr_kept_end(struct gpuirr_kept *kept, struct gpuirr_pool *pool, struct gpuirr_list *list, int keep_new)
{
    struct ending ending; /* parts clear the chains */
    const int wanted = nbc_parts((int64_t)kept->n, LISTS_OF_A_PART), parts = wanted < MOST_PARTS ? wanted : MOST_PARTS;
    if (kept->n > 0) {
        ending.kept = kept;
        ending.list = list;
        ending.keep_new = keep_new;
        nbc_team_run(parts, end_part, &ending);
        for (int p = 0; p < parts; p++)
            for (size_t size = 0; size < GPUIRR_POOL_SIZES; size++) give_chain(pool, &ending.chains[p], size);
    }
    kept->n = 0;
    kept->open = 0;
}
