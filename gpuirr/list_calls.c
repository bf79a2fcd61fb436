/* Calls of the handle about neighbour lists. */
#include "common/nbc.h"
#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "gpuirr/handle.h"
#include "gpuirr/holders.h"
#include "gpuirr/lists.h"

/* Fewest lists to copy for a thread. */
enum { LISTS_OF_A_PART = 48 };

/* Whether all entries are bodies, ascend, and are not i itself. Checks every entry, in vectors. */
static int is_list(const struct gpuirr *handle, size_t i, size_t nnb, const int32_t *nb)
{
    if (nnb == 0) return 1;
    if (nnb >= handle->n_max || !nb || nb[0] < 0 || (size_t)nb[nnb - 1] >= handle->n_max) return 0;
    int bad = nb[0] == (int32_t)i;
    for (size_t k = 1; k < nnb; k++) bad |= (nb[k] <= nb[k - 1]) | (nb[k] == (int32_t)i);
    return !bad;
}

/* Report the error in a list. */
static int refuse_list(struct gpuirr *handle, const char *call, int64_t i, size_t nnb, const int32_t *nblist)
{
    const long long body = gpuirr_number(handle, i);
    if (nnb >= handle->n_max || !nblist)
        return gpuirr_fail(handle, NBC_BAD_ARGUMENT, "%s: body %lld: %zu neighbours among %zu bodies%s", call, body,
                           nnb, handle->n_max, nblist ? "" : ", and nblist is NULL");
    for (size_t k = 0; k < nnb; k++) {
        const int64_t j = nblist[k], last = k ? nblist[k - 1] : -1;
        if (j < 0 || (size_t)j >= handle->n_max)
            return gpuirr_fail(handle, NBC_BAD_ARGUMENT, "%s: body %lld: neighbour %lld is no body of %lld to %lld",
                               call, body, gpuirr_number(handle, j), gpuirr_number(handle, 0),
                               gpuirr_number(handle, (int64_t)handle->n_max - 1));
        if (j <= last)
            return gpuirr_fail(handle, NBC_BAD_ARGUMENT,
                               "%s: body %lld: neighbour %lld comes after %lld; lists must be ascending", call, body,
                               gpuirr_number(handle, j), gpuirr_number(handle, last));
        if (j == i) break;
    }
    return gpuirr_fail(handle, NBC_BAD_ARGUMENT, "%s: body %lld: its list contains itself", call, body);
}

static void tell_backend(const struct gpuirr *handle, size_t i)
{
    if (handle->ops->list_changed) handle->ops->list_changed(handle->store, i);
}

int gpuirr_set_list(gpuirr_t *handle, size_t i, size_t nnb, const int32_t *nblist)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (i >= handle->n_max) return gpuirr_not_a_body(handle, "gpuirr_set_list", (int64_t)i);
    if (!is_list(handle, i, nnb, nblist)) return refuse_list(handle, "gpuirr_set_list", (int64_t)i, nnb, nblist);
    gpuirr_holders_note(&handle->holders, &handle->list[i], (int32_t)i, (uint32_t)nnb, nblist);
    const int failed = handle->kept.open ? gpuirr_kept_set(&handle->kept, handle->list, i, (uint32_t)nnb, nblist)
                                         : gpuirr_list_set(&handle->list[i], (uint32_t)nnb, nblist);
    if (failed)
        return gpuirr_fail(handle, NBC_NO_MEMORY, "gpuirr_set_list: body %lld: no memory for %zu neighbours",
                           gpuirr_number(handle, (int64_t)i), nnb);
    tell_backend(handle, i);
    return NBC_OK;
}

/* Lists of a block together: lists that do not fit their memory get new memory before anything changes. */
struct block {
    struct gpuirr *handle;
    size_t n;
    int64_t bad; /* place of the first that is not a list, INT64_MAX: none */
    const int32_t *body, *nnb, *const *nblist;
    /* [n] of a list that needs memory: cap 1, then the new memory, then the old one unless the open transaction
     * keeps it; cap 0: the list goes where the old one is */
    struct gpuirr_list *fresh;
};

/* A list that the open transaction keeps stays where it is. */
static int needs_room(const struct gpuirr *handle, int32_t i, uint32_t nnb)
{
    if (nnb == 0) return 0;
    if (handle->kept.open && !handle->kept.is_set[i]) return 1;
    return !gpuirr_list_fits(&handle->list[i], nnb);
}

/* Check lists and record gained holders, or find the first invalid list. */
static void look_through(void *context, int part, int parts)
{
    struct block *b = context;
    struct gpuirr *handle = b->handle;
    int64_t first, end;
    nbc_range((int64_t)b->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        const size_t i = (size_t)b->body[k];
        if (i >= handle->n_max || b->nnb[k] < 0 || !is_list(handle, i, (size_t)b->nnb[k], b->nblist[k])) {
            nbc_atomic_min(&b->bad, k);
            return;
        }
        gpuirr_holders_note(&handle->holders, &handle->list[i], (int32_t)i, (uint32_t)b->nnb[k], b->nblist[k]);
        b->fresh[k] = (struct gpuirr_list){.cap = (uint32_t)needs_room(handle, (int32_t)i, (uint32_t)b->nnb[k])};
    }
}

static int grow_rows(struct gpuirr *handle, const struct block *b)
{
    for (size_t k = 0; k < b->n; k++) {
        if (b->fresh[k].cap == 0) continue;
        if (gpuirr_pool_take(&handle->pool, (uint32_t)b->nnb[k], &b->fresh[k]) == 0) continue;
        while (k-- > 0) gpuirr_pool_give(&handle->pool, &b->fresh[k]);
        return -1;
    }
    return 0;
}

/* The old list is kept, or its memory is freed, or overwritten by the new one. */
static void put_row(const struct block *b, int64_t k)
{
    struct gpuirr *handle = b->handle;
    const int32_t i = b->body[k];
    struct gpuirr_list *list = &handle->list[i], fresh = b->fresh[k], old = {.nb = NULL};
    if (handle->kept.open && !handle->kept.is_set[i])
        gpuirr_keep(&handle->kept, list, i);
    else if (fresh.nb)
        old = *list;
    else
        fresh = *list;
    *list = fresh;
    b->fresh[k] = old;
}

/* Prefetch the memory for the row of list k, some lists ahead: rows are scattered in memory. */
static void prefetch_row(const struct block *b, int64_t k)
{
    enum { LINE = 64 / sizeof(int32_t) };
    const int32_t *row = b->fresh[k].nb ? b->fresh[k].nb : b->handle->list[b->body[k]].nb;
    for (int32_t at = 0; at < b->nnb[k]; at += LINE) __builtin_prefetch(row + at, 1);
}

static void fill(void *context, int part, int parts)
{
    enum { AHEAD = 4 };
    const struct block *b = context;
    int64_t first, end;
    nbc_range((int64_t)b->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        if (k + AHEAD < end) prefetch_row(b, k + AHEAD);
        put_row(b, k);
        gpuirr_list_fill(&b->handle->list[b->body[k]], (uint32_t)b->nnb[k], b->nblist[k]);
        tell_backend(b->handle, (size_t)b->body[k]);
    }
}

static void give_rows(struct gpuirr *handle, const struct block *b)
{
    for (size_t k = 0; k < b->n; k++)
        if (b->fresh[k].nb) gpuirr_pool_give(&handle->pool, &b->fresh[k]);
}

int gpuirr_set_lists(gpuirr_t *handle, size_t n, const int32_t *body, const int32_t *nnb, const int32_t *const *nblist)
{
    if (!handle || (n > 0 && (!body || !nnb || !nblist))) return NBC_BAD_ARGUMENT;
    if (n > handle->fresh_room) {
        nbc_free(handle->fresh);
        handle->fresh_room = 0;
        handle->fresh = nbc_alloc(n, sizeof *handle->fresh);
        if (!handle->fresh) return gpuirr_fail(handle, NBC_NO_MEMORY, "gpuirr_set_lists: no memory for %zu lists", n);
        handle->fresh_room = n;
    }
    struct block block = {
        .handle = handle, .n = n, .bad = INT64_MAX, .body = body, .nnb = nnb, .nblist = nblist, .fresh = handle->fresh};
    const int parts = nbc_parts((int64_t)n, LISTS_OF_A_PART);
    gpuirr_holders_expect(&handle->holders, n, handle->n_max);
    nbc_team_run(parts, look_through, &block);
    const int64_t bad = block.bad < INT64_MAX ? block.bad : -1;
    if (bad >= 0 && (body[bad] < 0 || (size_t)body[bad] >= handle->n_max))
        return gpuirr_not_a_body(handle, "gpuirr_set_lists", body[bad]);
    if (bad >= 0) return refuse_list(handle, "gpuirr_set_lists", body[bad], (size_t)nnb[bad], nblist[bad]);
    if (grow_rows(handle, &block))
        return gpuirr_fail(handle, NBC_NO_MEMORY, "gpuirr_set_lists: no memory for the lists of %zu bodies", n);
    nbc_team_run(parts, fill, &block);
    give_rows(handle, &block);
    return NBC_OK;
}

int gpuirr_begin(gpuirr_t *handle)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (handle->kept.open) return gpuirr_fail(handle, NBC_BAD_STATE, "gpuirr_begin: a transaction is open");
    if (gpuirr_kept_reserve(&handle->kept, handle->n_max))
        return gpuirr_fail(handle, NBC_NO_MEMORY, "gpuirr_begin: no memory for the lists of %zu bodies", handle->n_max);
    handle->kept.open = 1;
    gpuirr_holders_begin(&handle->holders);
    return NBC_OK;
}

void gpuirr_publish(gpuirr_t *handle)
{
    if (!handle) return;
    gpuirr_holders_age(&handle->holders, handle->kept.n);
    gpuirr_kept_end(&handle->kept, &handle->pool, handle->list, 1);
}

void gpuirr_discard(gpuirr_t *handle)
{
    if (!handle) return;
    for (size_t k = 0; k < handle->kept.n; k++) tell_backend(handle, (size_t)handle->kept.body[k]);
    gpuirr_holders_discard(&handle->holders, handle->kept.n);
    gpuirr_kept_end(&handle->kept, &handle->pool, handle->list, 0);
}

int gpuirr_get_holders(gpuirr_t *handle, size_t j, size_t *n, const int32_t **body)
{
    if (!handle || !n || !body) return NBC_BAD_ARGUMENT;
    if (j >= handle->n_max) return gpuirr_not_a_body(handle, "gpuirr_get_holders", (int64_t)j);
    if (gpuirr_holders_find(&handle->holders, handle->list, handle->n_max, (int32_t)j, n))
        return gpuirr_fail(handle, NBC_NO_MEMORY, "gpuirr_get_holders: no memory for the holders of %zu bodies",
                           handle->n_max);
    *body = handle->holders.found;
    return NBC_OK;
}

const int32_t *gpuirr_get_old_list(const gpuirr_t *handle, size_t i, size_t *nnb)
{
    if (!handle || !handle->kept.open || i >= handle->n_max || !handle->kept.is_set[i])
        return gpuirr_get_list(handle, i, nnb);
    if (nnb) *nnb = handle->kept.list[i].nnb;
    return handle->kept.list[i].nb;
}

const int32_t *gpuirr_get_list(const gpuirr_t *handle, size_t i, size_t *nnb)
{
    int exists = handle && i < handle->n_max;
    if (nnb) *nnb = exists ? handle->list[i].nnb : 0;
    return exists ? handle->list[i].nb : NULL;
}
