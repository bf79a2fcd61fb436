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
    struct nbd_buffer task, force, noise; /* on the host */
    struct nbc_error lost;                /* failure to be reported by the next call */
};

/* ---- bodies */

static int wait_for(const struct store *s, struct nbc_error *err)
{
    return nbd_stream_wait(&s->user.device, s->user.stream, err);
}

/* The device is idle, or in an unknown state. */
static void settle(struct store *s)
{
    struct nbc_error err = {0};
    if (wait_for(s, &err) && !s->lost.status) s->lost = err;
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
    NBD_TRY(nbd_use(&s->user.device, err));
    NBD_LAUNCH(err, &s->user.device, s->user.kernels->store(&job, s->user.stream));
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

static int launch_forces(const struct store *s, const struct gpuirr_device_force_job *job, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&s->user.device, err));
    NBD_LAUNCH(err, &s->user.device, s->user.kernels->forces(job, s->user.stream));
    return NBC_OK;
}

static int sum(struct store *s, const struct gpuirr_block *block, struct nbc_error *err)
{
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
    status = launch_forces(s, &job, err);
    const int waited = wait_for(s, status ? NULL : err);
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
    return s->user.device.name;
}

/* ---- memory */

/* Copy bodies [0, n_old) of the device, and mark the new ones as not set. */
static int grow_bodies(const struct store *s, size_t n_old, size_t n_max, void **grown, struct nbc_error *err)
{
    const struct nbd_device *device = &s->user.device;
    const size_t bytes = n_max * sizeof *s->body;
    int status = gpuirr_device_alloc(&s->user, NBD_ON_DEVICE, bytes, grown, err);
    if (status) return status;
    status = nbd_fill(device, s->user.stream, *grown, 0xff, bytes, err);
    if (!status) status = nbd_copy(device, s->user.stream, *grown, s->body, n_old * sizeof *s->body, err);
    const int waited = wait_for(s, status ? NULL : err);
    if (!status) status = waited;
    if (status) nbd_free(device, NBD_ON_DEVICE, *grown);
    return status;
}

/* Transfers under way have arrived. */
static int grow_changes(const struct store *s, size_t n_max, void **grown, struct nbc_error *err)
{
    const int status = gpuirr_device_alloc(&s->user, NBD_ON_HOST, n_max * sizeof *s->change, grown, err);
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
    const struct nbd_device *device = &s->user.device;
    void *body, *change;
    if (s->reading) settle(s);
    int status = grow_tables(s, n_old, n_max, err);
    if (!status) status = grow_bodies(s, n_old, n_max, &body, err);
    if (status) return status;
    status = grow_changes(s, n_max, &change, err);
    if (status) {
        nbd_free(device, NBD_ON_DEVICE, body);
        return status;
    }
    nbd_free(device, NBD_ON_DEVICE, s->body);
    nbd_free(device, NBD_ON_HOST, s->change);
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
    const struct nbd_device *device = &s->user.device;
    if (s->reading) (void)wait_for(s, NULL);
    gpuirr_device_lists_free(&s->lists);
    nbd_buffer_release(device, &s->task);
    nbd_buffer_release(device, &s->force);
    nbd_buffer_release(device, &s->noise);
    nbd_free(device, NBD_ON_DEVICE, s->body);
    nbd_free(device, NBD_ON_HOST, s->change);
    nbd_stream_close(device, s->user.stream);
    nbc_free(s->place);
    nbc_free(s);
}

void *gpuirr_device_open_untested(const struct gpuirr_device *kernels, size_t n_max, struct nbc_error *err)
{
    struct store *s = nbc_alloc(1, sizeof *s);
    if (!s) return NULL;
    s->user.kernels = kernels;
    s->lists.user = &s->user;
    s->lists.fresh.where = s->task.where = s->force.where = s->noise.where = NBD_ON_HOST;
    int status = kernels->open(&s->user.device, err);
    if (!status) status = nbd_stream_open(&s->user.device, NBD_MIDDLE, &s->user.stream, err);
    if (!status) status = grow(s, 0, n_max, err);
    if (!status) return s;
    gpuirr_device_close(s);
    return NULL;
}
