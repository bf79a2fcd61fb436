/* The backend `cuda` on an emulated device: its kernels are loops over the lanes of each warp. For tests; nothing takes
 * it by itself. */
#include "common/team.h"
#include "device/emulated/emulated.h"
#include "gpuirr/device/lane.h"
#include "gpuirr/device/store.h"

#include <string.h>

enum { TASKS_OF_A_PART = 16 };

static int open_device(struct nbd_device *device, struct nbc_error *err)
{
    return nbd_open(device, nbd_emulated, 0, "gpuirr", err);
}

static void store_bodies(const void *job)
{
    const struct gpuirr_device_store_job *j = job;
    for (size_t k = 0; k < j->n; k++) memcpy(&j->body[j->change[k].body], &j->change[k], sizeof *j->body);
}

static int enqueue_bodies(const struct gpuirr_device_store_job *job, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, store_bodies, job, sizeof *job);
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

static void sum_forces(const void *job)
{
    struct gpuirr_device_force_job own = *(const struct gpuirr_device_force_job *)job;
    fetch_lists(&own);
    nbc_team_run(nbc_parts((int64_t)own.n, TASKS_OF_A_PART), sum_part, &own);
}

static int enqueue_forces(const struct gpuirr_device_force_job *job, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, sum_forces, job, sizeof *job);
}

const struct gpuirr_device gpuirr_device_emulated = {
    .open = open_device, .store = enqueue_bodies, .forces = enqueue_forces};

static void *open_store(size_t n_max, struct nbc_error *err)
{
    return gpuirr_device_open(&gpuirr_device_emulated, n_max, err);
}

const struct gpuirr_backend gpuirr_backend_emulated = {
    .name = "emulated",
    .description = "the work of a GPU done by the processor, for tests",
    .ns_per_pair = 60,
    .open = open_store,
    GPUIRR_DEVICE_OPS,
};
