#include "gpuirr/device/lists.h"

#include "common/team.h"
#include "gpuirr/lists.h"

#include <string.h>

enum {
    TASKS_OF_A_PART = 512, /* tasks filled by a thread in some ten microseconds, */
    LISTS_OF_A_PART = 128, /* lists copied by it */
    GRAIN_BYTES = GPUIRR_LIST_GRAIN * (int)sizeof(int32_t),
    SMALLEST_POOL = 4096 /* grains */
};

/* A list to send. */
struct gpuirr_device_fetch {
    int32_t body;
    uint32_t at; /* grain among the lists to send */
};

int gpuirr_device_alloc(const struct gpuirr_device_user *user, enum nbd_where where, size_t bytes, void **memory,
                        struct nbc_error *err)
{
    if (!nbd_alloc(&user->device, where, bytes, memory, err)) return NBC_OK;
    if (err) err->status = NBC_DEVICE;
    return NBC_DEVICE;
}

int gpuirr_device_reserve(const struct gpuirr_device_user *user, struct nbd_buffer *buffer, size_t bytes,
                          struct nbc_error *err)
{
    void *memory;
    if (bytes <= buffer->bytes) return NBC_OK;
    const int status = gpuirr_device_alloc(user, buffer->where, bytes, &memory, err);
    if (status) return status;
    nbd_buffer_release(&user->device, buffer);
    buffer->data = memory;
    buffer->bytes = bytes;
    return NBC_OK;
}

void gpuirr_device_lists_forget(struct gpuirr_device_lists *lists)
{
    lists->version++;
    lists->used = lists->lost = 0;
}

void gpuirr_device_lists_free(struct gpuirr_device_lists *lists)
{
    nbd_buffer_release(&lists->user->device, &lists->pool);
    nbd_buffer_release(&lists->user->device, &lists->fresh);
    nbc_free(lists->row);
    nbc_free(lists->fetch);
}

/* The tasks of a block. */
struct preparation {
    struct gpuirr_device_lists *lists;
    const struct gpuirr_block *block;
    struct gpuirr_device_task *task;
    int64_t missing; /* tasks whose list is not in the pool */
    size_t n_fetch;
};

static size_t grains_for(size_t numbers)
{
    return (numbers + GPUIRR_LIST_GRAIN - 1) / GPUIRR_LIST_GRAIN;
}

static int is_there(const struct gpuirr_device_lists *lists, const struct gpuirr_device_row *row)
{
    return row->version == lists->version && row->is_current;
}

static void find_lists(void *context, int part, int parts)
{
    struct preparation *p = context;
    const struct gpuirr_block *block = p->block;
    int64_t first, end, missing = 0;
    nbc_range((int64_t)block->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        __builtin_prefetch(&p->lists->row[block->act[k]]);
        __builtin_prefetch(&block->list[block->act[k]]);
    }
    for (int64_t k = first; k < end; k++) {
        const int32_t i = block->act[k];
        const struct gpuirr_device_row *row = &p->lists->row[i];
        struct gpuirr_device_task *task = &p->task[k];
        task->body = i;
        task->nnb = (int32_t)block->list[i].nnb;
        task->start = 0;
        if (task->nnb == 0) continue;
        task->start = is_there(p->lists, row) ? (int64_t)row->start * GPUIRR_LIST_GRAIN : -1;
        missing += task->start < 0;
    }
    __atomic_fetch_add(&p->missing, missing, __ATOMIC_RELAXED);
}

/* Whether the list fits into the place of the body's present one in the pool. */
static int fits(const struct gpuirr_device_lists *lists, const struct gpuirr_device_row *row, size_t grains)
{
    return row->version == lists->version && row->room >= grains;
}

/* Grains that the pool needs for missing lists, and for all lists of the block. A body that is there twice counts
 * twice. */
static void count_grains(const struct preparation *p, size_t *more, size_t *all)
{
    *more = *all = 0;
    for (size_t k = 0; k < p->block->n; k++) {
        const struct gpuirr_device_task *task = &p->task[k];
        const size_t grains = grains_for((size_t)task->nnb);
        *all += grains;
        if (task->start < 0 && !fits(p->lists, &p->lists->row[task->body], grains)) *more += grains;
    }
}

/* Clear the pool, and enlarge it if more than half of it is in use. Without memory for that, it keeps its size, if
 * it can: lists are sent more often then. */
static int renew_pool(struct gpuirr_device_lists *lists, size_t all, struct nbc_error *err)
{
    const size_t room = lists->pool.bytes / GRAIN_BYTES, in_use = lists->used - lists->lost;
    size_t wanted = room;
    if (wanted < 2 * in_use) wanted = 2 * room;
    if (wanted < 2 * all) wanted = 2 * all;
    if (wanted < SMALLEST_POOL) wanted = SMALLEST_POOL;
    gpuirr_device_lists_forget(lists);
    if (wanted > UINT32_MAX) wanted = UINT32_MAX;
    if (all > wanted) return nbc_fail(err, NBC_NO_MEMORY, "gpuirr: the lists of a block do not fit a device");
    const int can_stay = all <= room;
    const int status = gpuirr_device_reserve(lists->user, &lists->pool, wanted * GRAIN_BYTES, can_stay ? NULL : err);
    return can_stay ? NBC_OK : status;
}

/* Room in the pool for the list of a task. */
static void place_row(struct gpuirr_device_lists *lists, struct gpuirr_device_row *row, size_t grains)
{
    if (!fits(lists, row, grains)) {
        if (row->version == lists->version) lists->lost += row->room;
        row->start = (uint32_t)lists->used;
        row->room = (uint32_t)grains;
        row->version = lists->version;
        lists->used += grains;
    }
    row->is_current = 1;
}

/* Places for missing lists.   @return grains to send */
static size_t place_lists(struct preparation *p)
{
    struct gpuirr_device_lists *lists = p->lists;
    size_t fresh = 0;
    p->n_fetch = 0;
    for (size_t k = 0; k < p->block->n; k++) {
        struct gpuirr_device_task *task = &p->task[k];
        struct gpuirr_device_row *row = &lists->row[task->body];
        if (task->start >= 0) continue;
        if (row->fresh == 0) {
            place_row(lists, row, grains_for((size_t)task->nnb));
            row->fresh = 1 + (uint32_t)fresh;
            lists->fetch[p->n_fetch].body = task->body;
            lists->fetch[p->n_fetch++].at = (uint32_t)fresh;
            fresh += grains_for((size_t)task->nnb + GPUIRR_FRESH_HEAD);
        }
        task->start = ~((int64_t)(row->fresh - 1) * GPUIRR_LIST_GRAIN);
    }
    for (size_t f = 0; f < p->n_fetch; f++) lists->row[lists->fetch[f].body].fresh = 0;
    return fresh;
}

static void copy_lists(void *context, int part, int parts)
{
    const struct preparation *p = context;
    int64_t first, end;
    nbc_range((int64_t)p->n_fetch, part, parts, &first, &end);
    for (int64_t f = first; f < end; f++) {
        const struct gpuirr_device_fetch *fetch = &p->lists->fetch[f];
        const struct gpuirr_list *list = &p->block->list[fetch->body];
        const int64_t start = (int64_t)p->lists->row[fetch->body].start * GPUIRR_LIST_GRAIN;
        int32_t *to = (int32_t *)p->lists->fresh.data + (size_t)fetch->at * GPUIRR_LIST_GRAIN;
        memcpy(to, &start, sizeof start);
        memcpy(to + GPUIRR_FRESH_HEAD, list->nb, list->nnb * sizeof *to);
    }
}

static int grow_fetches(struct gpuirr_device_lists *lists, size_t n, struct nbc_error *err)
{
    if (n <= lists->fetch_room) return NBC_OK;
    nbc_free(lists->fetch);
    lists->fetch_room = 0;
    lists->fetch = nbc_alloc_unset(n + n / 2, sizeof *lists->fetch);
    if (!lists->fetch) return nbc_fail(err, NBC_NO_MEMORY, "gpuirr: no memory for a block of %zu bodies", n);
    lists->fetch_room = n + n / 2;
    return NBC_OK;
}

static void find_all(struct preparation *p)
{
    p->missing = 0;
    nbc_team_run(nbc_parts((int64_t)p->block->n, TASKS_OF_A_PART), find_lists, p);
}

/* Memory for missing lists is allocated before anything changes but the pool. */
int gpuirr_device_lists_prepare(struct gpuirr_device_lists *lists, const struct gpuirr_block *block,
                                struct gpuirr_device_task *task, struct nbc_error *err)
{
    struct preparation p = {.lists = lists, .block = block, .task = task};
    size_t more, all;
    find_all(&p);
    if (p.missing == 0) return NBC_OK;
    int status = grow_fetches(lists, block->n, err);
    if (status) return status;
    count_grains(&p, &more, &all);
    if (lists->used + more > lists->pool.bytes / GRAIN_BYTES) {
        if ((status = renew_pool(lists, all, err))) return status;
        find_all(&p);
    }
    const size_t most = (all + block->n) * GRAIN_BYTES; /* with the heads, which take a grain more at most */
    if (most > lists->fresh.bytes && (status = gpuirr_device_reserve(lists->user, &lists->fresh, 2 * most, err)))
        return status;
    place_lists(&p);
    nbc_team_run(nbc_parts((int64_t)p.n_fetch, LISTS_OF_A_PART), copy_lists, &p);
    return NBC_OK;
}
