#include "gpuirr/device/store.h"

#include "gpuirr/device/lists.h"

#include <string.h>

enum { NOWHERE = -1, LEAST_BLOCK = 1024 /* capacity for active bodies */ };

struct store {
    struct gpuirr_device_user user;
    size_t n_max;
    struct gpuirr_device_body *body;     /* [n_max] on the device */
    struct gpuirr_device_change *change; /* [n_max] on the host; n_changed wait there, */
    size_t n_changed;
    int32_t *place; /* [n_max] index in `change`, or NOWHERE */
    int reading;    /* the device may still read the present contents */
    struct gpuirr_device_lists lists;
    struct gpuirr_device_buffer task, force, noise; /* on the host */
    struct nbc_error lost;                          /* failure to be reported by the next call */
};

/* ---- bodies */

/* The device is idle, or in an unknown state. */
static void settle(struct store *s)
{
    struct nbc_error err = {0};
    if (s->user.device->wait(s->user.context, &err) && !s->lost.status) s->lost = err;
    __atomic_store_n(&s->reading, 0, __ATOMIC_RELEASE);
}

/* A body that is set between the announcement of a time and the forces has to wait until the bodies under way have
 * arrived. */
void gpuirr_device_set_jp(void *store, size_t i, const struct gpuirr_state *state)
{
    struct store *s = store;
    if (__atomic_load_n(&s->reading, __ATOMIC_ACQUIRE)) {
#pragma omp critical(gpuirr_device_settle)
        if (s->reading) settle(s);
    }
    int32_t at = s->place[i];
    if (at == NOWHERE) at = s->place[i] = (int32_t)__atomic_fetch_add(&s->n_changed, 1, __ATOMIC_RELAXED);
    struct gpuirr_device_change *change = &s->change[at];
    memcpy(change->x, state->x, sizeof change->x);
    memcpy(change->v, state->v, sizeof change->v);
    memcpy(change->acc, state->acc, sizeof change->acc);
    memcpy(change->jerk, state->jerk, sizeof change->jerk);
    change->mass = state->mass;
    change->t0 = state->t0;
    change->body = (int64_t)i;
    change->spare = 0;
}

/* The waiting bodies are under way; new ones take their places. */
static int send(struct store *s, struct nbc_error *err)
{
    const size_t n = s->n_changed;
    const struct gpuirr_device_store_job job = {.change = s->change, .n = n, .body = s->body};
    if (n == 0) return NBC_OK;
    const int status = s->user.device->store(s->user.context, &job, err);
    if (status) return status;
    for (size_t k = 0; k < n; k++) s->place[s->change[k].body] = NOWHERE;
    s->n_changed = 0;
    s->reading = 1;
    return NBC_OK;
}

/* Bodies that cannot be sent now still wait, and are sent before the forces, or fail there. */
void gpuirr_device_announce(void *store)
{
    struct store *s = store;
    if (!s->lost.status) (void)send(s, NULL);
}

void gpuirr_device_list_changed(void *store, size_t i)
{
    struct store *s = store;
    s->lists.row[i].is_current = 0;
}

/* ---- forces */

static int reserve(struct store *s, size_t n, struct nbc_error *err)
{
    const size_t room = n < LEAST_BLOCK ? LEAST_BLOCK : n + n / 2;
    int status = NBC_OK;
    if (n * sizeof(struct gpuirr_device_task) > s->task.bytes)
        status = gpuirr_device_reserve(&s->user, &s->task, room * sizeof(struct gpuirr_device_task), err);
    if (!status && n * sizeof(struct gpuirr_force) > s->force.bytes)
        status = gpuirr_device_reserve(&s->user, &s->force, room * sizeof(struct gpuirr_force), err);
    if (!status && n * sizeof(double) > s->noise.bytes)
        status = gpuirr_device_reserve(&s->user, &s->noise, room * sizeof(double), err);
    return status;
}

static int sum(struct store *s, const struct gpuirr_block *block, struct nbc_error *err)
{
    const struct gpuirr_device *device = s->user.device;
    int status = reserve(s, block->n, err);
    if (!status) status = gpuirr_device_lists_prepare(&s->lists, block, s->task.data, err);
    if (status) return status;
    const struct gpuirr_device_force_job job = {.t = block->t,
                                                .body = s->body,
                                                .pool = s->lists.pool.data,
                                                .fresh = s->lists.fresh.data,
                                                .n = block->n,
                                                .task = s->task.data,
                                                .force = s->force.data,
                                                .noise = s->noise.data,
                                                .in_double = block->in_double};
    status = device->forces(s->user.context, &job, err);
    const int waited = device->wait(s->user.context, status ? NULL : err);
    __atomic_store_n(&s->reading, 0, __ATOMIC_RELEASE);
    if (!status) status = waited;
    if (status) gpuirr_device_lists_forget(&s->lists);
    return status;
}

int gpuirr_device_block(void *store, const struct gpuirr_block *block, const struct gpuirr_force **force,
                        const double **noise, struct nbc_error *err)
{
    struct store *s = store;
    if (s->lost.status) return nbc_fail(err, s->lost.status, "%s", s->lost.text);
    int status = send(s, err);
    if (!status) status = sum(s, block, err);
    *force = s->force.data;
    *noise = s->noise.data;
    return status;
}

const char *gpuirr_device_place(const void *store)
{
    const struct store *s = store;
    return s->user.device->name(s->user.context);
}

/* ---- memory */

/* Copy bodies [0, n_old) of the device, and mark the new ones as not set. */
static int grow_bodies(const struct store *s, size_t n_old, size_t n_max, void **grown, struct nbc_error *err)
{
    const struct gpuirr_device *device = s->user.device;
    void *context = s->user.context;
    const size_t bytes = n_max * sizeof *s->body, old = n_old * sizeof *s->body;
    int status = device->reserve(context, 0, bytes, grown, err);
    if (status) return status;
    status = device->unset(context, *grown, bytes, err);
    if (!status && old > 0) status = device->copy(context, *grown, s->body, old, err);
    const int waited = device->wait(context, status ? NULL : err);
    if (!status) status = waited;
    if (status) device->release(context, 0, *grown);
    return status;
}

/* Transfers under way have arrived. */
static int grow_changes(const struct store *s, size_t n_max, void **grown, struct nbc_error *err)
{
    const int status = s->user.device->reserve(s->user.context, 1, n_max * sizeof *s->change, grown, err);
    if (!status && s->n_changed > 0) memcpy(*grown, s->change, s->n_changed * sizeof *s->change);
    return status;
}

static int grow_tables(struct store *s, size_t n_old, size_t n_max, struct nbc_error *err)
{
    int32_t *place = nbc_realloc(s->place, n_old, n_max, sizeof *place);
    if (place) s->place = place;
    struct gpuirr_device_row *row = nbc_realloc(s->lists.row, n_old, n_max, sizeof *row);
    if (row) s->lists.row = row;
    if (!place || !row) return nbc_fail(err, NBC_NO_MEMORY, "no memory for %zu bodies", n_max);
    for (size_t i = n_old; i < n_max; i++) place[i] = NOWHERE;
    return NBC_OK;
}

/* Tables larger than n_max, after a failure to enlarge others, do no harm. */
static int grow(struct store *s, size_t n_old, size_t n_max, struct nbc_error *err)
{
    const struct gpuirr_device_user *user = &s->user;
    void *body, *change;
    if (s->reading) settle(s);
    int status = grow_tables(s, n_old, n_max, err);
    if (!status) status = grow_bodies(s, n_old, n_max, &body, err);
    if (status) return status;
    status = grow_changes(s, n_max, &change, err);
    if (status) {
        user->device->release(user->context, 0, body);
        return status;
    }
    user->device->release(user->context, 0, s->body);
    user->device->release(user->context, 1, s->change);
    s->body = body;
    s->change = change;
    s->n_max = n_max;
    return NBC_OK;
}

int gpuirr_device_grow(void **store, size_t n_old, size_t n_max)
{
    return grow(*store, n_old, n_max, NULL) ? -1 : 0;
}

void gpuirr_device_close(void *store)
{
    struct store *s = store;
    if (!s) return;
    const struct gpuirr_device *device = s->user.device;
    if (s->user.context) {
        if (s->reading) (void)device->wait(s->user.context, NULL);
        gpuirr_device_lists_free(&s->lists);
        gpuirr_device_release(&s->user, &s->task);
        gpuirr_device_release(&s->user, &s->force);
        gpuirr_device_release(&s->user, &s->noise);
        device->release(s->user.context, 0, s->body);
        device->release(s->user.context, 1, s->change);
        device->close(s->user.context);
    }
    nbc_free(s->place);
    nbc_free(s);
}

void *gpuirr_device_open_untested(const struct gpuirr_device *device, size_t n_max, struct nbc_error *err)
{
    struct store *s = nbc_alloc(1, sizeof *s);
    if (!s) return NULL;
    s->user.device = device;
    int status = device->open(&s->user.context, err);
    s->lists.user = s->user;
    s->lists.fresh.on_host = s->task.on_host = s->force.on_host = s->noise.on_host = 1;
    if (!status) status = grow(s, 0, n_max, err);
    if (!status) return s;
    gpuirr_device_close(s);
    return NULL;
}
