/* The backend `cuda` without a GPU: all of it except for the device, which is replaced by loops over the lanes of
 * each warp. For tests; it is used by name only. */
#include "common/team.h"
#include "gpuirr/device/lane.h"
#include "gpuirr/device/store.h"

#include <string.h>

enum { TASKS_OF_A_PART = 16 };

static int open_device(void **context, struct nbc_error *err)
{
    *context = nbc_alloc(1, 1);
    return *context ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory");
}

static const char *name(const void *context)
{
    (void)context;
    return "the processor";
}

static int reserve(void *context, int on_host, size_t bytes, void **memory, struct nbc_error *err)
{
    (void)context, (void)on_host;
    *memory = nbc_alloc_unset(bytes, 1);
    return *memory ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for %.1f MB", (double)bytes * 1e-6);
}

static void release(void *context, int on_host, void *memory)
{
    (void)context, (void)on_host;
    nbc_free(memory);
}

static int unset(void *context, void *memory, size_t bytes, struct nbc_error *err)
{
    (void)context, (void)err;
    memset(memory, 0xff, bytes);
    return NBC_OK;
}

static int copy(void *context, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    (void)context, (void)err;
    memcpy(to, from, bytes);
    return NBC_OK;
}

static int store_bodies(void *context, const struct gpuirr_device_store_job *job, struct nbc_error *err)
{
    (void)context, (void)err;
    for (size_t k = 0; k < job->n; k++) memcpy(&job->body[job->change[k].body], &job->change[k], sizeof *job->body);
    return NBC_OK;
}

/* By halves, as shuffles do it. */
static struct gpuirr_lane_sum sum_lanes(const struct gpuirr_lane_job *job, const struct gpuirr_lane_rule *rule)
{
    struct gpuirr_lane_sum lanes[GPUIRR_LANES];
    for (int lane = 0; lane < GPUIRR_LANES; lane++) gpuirr_lane_make(job, rule, lane, &lanes[lane]);
    for (int half = GPUIRR_LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++) gpuirr_lane_join(&lanes[lane], &lanes[lane + half]);
    return lanes[0];
}

/* Bodies whose lists are copied: two of the same number would write at the same time. */
static void fetch_lists(const struct gpuirr_device_force_job *job)
{
    for (size_t k = 0; k < job->n; k++) {
        const struct gpuirr_device_task *task = &job->task[k];
        int64_t start;
        if (task->start >= 0) continue;
        const int32_t *fresh = job->fresh + ~task->start;
        memcpy(&start, fresh, sizeof start);
        memcpy(job->pool + start, fresh + GPUIRR_FRESH_HEAD, (size_t)task->nnb * sizeof *fresh);
    }
}

static int64_t start_of(const struct gpuirr_device_force_job *job, const struct gpuirr_device_task *task)
{
    int64_t start = task->start;
    if (start < 0) memcpy(&start, job->fresh + ~task->start, sizeof start);
    return start;
}

static void sum_part(void *context, int part, int parts)
{
    const struct gpuirr_device_force_job *job = context;
    int64_t first, end;
    nbc_range((int64_t)job->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        const struct gpuirr_device_task *task = &job->task[k];
        const int32_t *list = task->nnb > 0 ? job->pool + start_of(job, task) : NULL;
        const struct gpuirr_lane_job lanes = gpuirr_lane_job_of(job->body, task->body, list, task->nnb, job->t);
        struct gpuirr_lane_rule rule = gpuirr_lane_first(task->nnb, job->in_double);
        struct gpuirr_lane_sum total;
        do {
            total = sum_lanes(&lanes, &rule);
        } while (gpuirr_lane_again(&total, &rule));
        job->force[k] = gpuirr_lane_force(&lanes, &total);
        if (job->noise) job->noise[k] = total.noise;
    }
}

static int forces(void *context, const struct gpuirr_device_force_job *job, struct nbc_error *err)
{
    (void)context, (void)err;
    struct gpuirr_device_force_job own = *job;
    fetch_lists(&own);
    nbc_team_run(nbc_parts((int64_t)own.n, TASKS_OF_A_PART), sum_part, &own);
    return NBC_OK;
}

static int wait_for_nothing(void *context, struct nbc_error *err)
{
    (void)context, (void)err;
    return NBC_OK;
}

const struct gpuirr_device gpuirr_device_processor = {
    .open = open_device,
    .close = nbc_free,
    .name = name,
    .reserve = reserve,
    .release = release,
    .unset = unset,
    .copy = copy,
    .store = store_bodies,
    .forces = forces,
    .wait = wait_for_nothing,
};

static void *open_store(size_t n_max, struct nbc_error *err)
{
    return gpuirr_device_open(&gpuirr_device_processor, n_max, err);
}

const struct gpuirr_backend gpuirr_backend_emulated = {
    .name = "emulated",
    .description = "what a GPU would do, on the processor: for tests",
    .ns_per_pair = 60,
    .open = open_store,
    GPUIRR_DEVICE_OPS,
};
