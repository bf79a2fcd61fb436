/* Irregular forces of a call: active bodies are shared among threads, or given to a device as a whole. */
#include "common/team.h"
#include "gpuirr/backend.h"
#include "gpuirr/handle.h"
#include "gpuirr/lists.h"

#include <string.h>

enum {
    PAIRS_OF_A_PART = 700,  /* fewest interactions for a thread, summed in a few microseconds */
    PAIRS_ON_THE_FLY = 500, /* the same where each neighbour is predicted first */
    TAKEN_BY_A_PART = 1024, /* the same for forces that are copied */
    MIN_BATCH = 16,         /* fewest bodies of a batch: with less it would mostly wait for its first ones */
    MAX_PORTIONS = 64       /* more threads begin with the portion of another */
};

/* A call for forces, and its output. */
struct wanted {
    size_t n;
    const int32_t *act;
    double (*acc)[3], (*jerk)[3];
    int32_t *nearest; /* NULL: not wanted, */
    double *noise;    /* likewise */
};

/* Results of a portion of the active bodies. */
struct share {
    uint64_t interactions, coincident;
    size_t first_bad; /* position in the list of active bodies; SIZE_MAX: all sums are finite */
};

/* The list is ascending, so its ends tell whether all of it was predicted. Bits are the same either way. */
static int is_predicted(const struct gpuirr *handle, const struct gpuirr_list *list)
{
    if (handle->pred_lo == 0 && handle->pred_hi == handle->n_max) return 1;
    return list->nnb == 0 ||
           ((size_t)list->nb[0] >= handle->pred_lo && (size_t)list->nb[list->nnb - 1] < handle->pred_hi);
}

/* Check the sum of all first, which is nearly always finite. */
static int all_finite(const struct gpuirr_force *force)
{
    const double *a = force->acc, *j = force->jerk;
    double zero = 0 * (((a[0] + a[1]) + (a[2] + j[0])) + (j[1] + j[2]));
    if (zero != 0) {
        zero = 0;
        for (int d = 0; d < 3; d++) zero += 0 * a[d] + 0 * j[d];
    }
    return zero == 0;
}

/* Results of the active bodies from position lo on. */
static struct share take_forces(size_t lo, size_t hi, const struct gpuirr_force *force, const struct wanted *wanted)
{
    struct share share = {.first_bad = SIZE_MAX};
    double(*const acc)[3] = wanted->acc, (*const jerk)[3] = wanted->jerk;
    int32_t *const nearest = wanted->nearest;
    for (size_t k = lo; k < hi; k++) {
        const struct gpuirr_force *f = &force[k - lo];
        memcpy(acc[k], f->acc, sizeof f->acc);
        memcpy(jerk[k], f->jerk, sizeof f->jerk);
        if (nearest) nearest[k] = f->nearest;
        share.coincident += f->coincident;
        if (share.first_bad == SIZE_MAX && !all_finite(f)) share.first_bad = k;
    }
    return share;
}

/* At most GPUIRR_BATCH active bodies from position lo on. */
static struct share sum_forces(const struct gpuirr *handle, size_t lo, size_t hi, const struct wanted *wanted)
{
    const int32_t *act = wanted->act;
    uint64_t interactions = 0;
    struct gpuirr_task task[GPUIRR_BATCH];
    struct gpuirr_force force[GPUIRR_BATCH];
    struct gpuirr_batch batch = {.t = handle->t,
                                 .want_nearest = wanted->nearest != NULL,
                                 .predicted = handle->predicted,
                                 .in_double = handle->in_double,
                                 .n = hi - lo,
                                 .task = task,
                                 .noise = wanted->noise ? wanted->noise + lo : NULL};
    for (size_t k = lo; k < hi; k++) __builtin_prefetch(&handle->list[act[k]]);
    for (size_t k = lo; k < hi; k++) {
        const struct gpuirr_list *list = &handle->list[act[k]];
        task[k - lo] = (struct gpuirr_task){.i = act[k], .nnb = list->nnb, .nblist = list->nb};
        interactions += list->nnb;
        __builtin_prefetch(list->nb);
        if (list->nnb) __builtin_prefetch(list->nb + list->nnb - 1);
    }
    for (size_t k = lo; k < hi && batch.predicted; k++) batch.predicted = is_predicted(handle, &handle->list[act[k]]);
    handle->ops->forces(handle->store, &batch, force);
    struct share share = take_forces(lo, hi, force, wanted);
    share.interactions = interactions;
    return share;
}

/* Threads with enough work. */
static int parts_for(const struct gpuirr *handle, size_t n_act, const int32_t *act)
{
    const int size = nbc_team_size(), most = size < MAX_PORTIONS ? size : MAX_PORTIONS;
    const int64_t least = handle->predicted ? PAIRS_OF_A_PART : PAIRS_ON_THE_FLY;
    int64_t pairs = 0;
    for (size_t k = 0; k < n_act && pairs < most * least; k++) pairs += handle->list[act[k]].nnb;
    const int parts = nbc_parts(pairs, least);
    return parts < most ? parts : most;
}

static void add_share(struct share *sum, struct share share)
{
    sum->interactions += share.interactions;
    sum->coincident += share.coincident;
    if (share.first_bad < sum->first_bad) sum->first_bad = share.first_bad;
}

/* Active bodies [next, end), the portion of one thread. From block to block portions are similar parts of all
 * bodies, whose lists are still in the caches of that thread. */
struct portion {
    _Alignas(64) size_t next;
    size_t end;
    struct share share; /* result of the thread of this number */
};

/* Take at most `size` bodies of a portion; 0: nothing is left. */
static int take(struct portion *portion, size_t size, size_t *lo, size_t *hi)
{
    if (__atomic_load_n(&portion->next, __ATOMIC_RELAXED) >= portion->end) return 0;
    *lo = __atomic_fetch_add(&portion->next, size, __ATOMIC_RELAXED);
    *hi = *lo + size < portion->end ? *lo + size : portion->end;
    return *lo < portion->end;
}

/* Take half of the rest, so that other threads can help a late one. */
static size_t batch_size(const struct portion *portion)
{
    const size_t next = __atomic_load_n(&portion->next, __ATOMIC_RELAXED);
    const size_t size = next < portion->end ? (portion->end - next) / 2 : 0;
    return size < MIN_BATCH ? MIN_BATCH : size > GPUIRR_BATCH ? GPUIRR_BATCH : size;
}

static struct share sum_serially(const struct gpuirr *handle, const struct wanted *wanted)
{
    struct share sum = {.first_bad = SIZE_MAX};
    for (size_t lo = 0; lo < wanted->n; lo += GPUIRR_BATCH) {
        size_t hi = lo + GPUIRR_BATCH < wanted->n ? lo + GPUIRR_BATCH : wanted->n;
        add_share(&sum, sum_forces(handle, lo, hi, wanted));
    }
    return sum;
}

/* Forces of a block by several threads. */
struct job {
    const struct gpuirr *handle;
    const struct wanted *wanted;
    struct portion portion[MAX_PORTIONS];
};

static void sum_portion(void *context, int part, int parts)
{
    struct job *job = context;
    struct share mine = {.first_bad = SIZE_MAX};
    size_t lo, hi;
    for (int k = 0; k < parts; k++) { /* the thread's own portion first */
        struct portion *from = &job->portion[(part + k) % parts];
        while (take(from, k ? MIN_BATCH : batch_size(from), &lo, &hi))
            add_share(&mine, sum_forces(job->handle, lo, hi, job->wanted));
    }
    job->portion[part].share = mine;
}

static struct share share_out(const struct gpuirr *handle, const struct wanted *wanted)
{
    const int portions = parts_for(handle, wanted->n, wanted->act);
    if (portions == 1) return sum_serially(handle, wanted);
    struct job job = {.handle = handle, .wanted = wanted};
    for (size_t p = 0; p < (size_t)portions; p++) {
        job.portion[p].next = wanted->n * p / (size_t)portions;
        job.portion[p].end = wanted->n * (p + 1) / (size_t)portions;
    }
    nbc_team_run(portions, sum_portion, &job);
    struct share sum = {.first_bad = SIZE_MAX};
    for (int p = 0; p < portions; p++) add_share(&sum, job.portion[p].share);
    return sum;
}

/* Copy forces that a device has summed to the caller's arrays. */
struct taking {
    const struct gpuirr *handle;
    const struct wanted *wanted;
    const struct gpuirr_force *force;
    const double *noise;
    struct share share[MAX_PORTIONS];
};

static void take_part(void *context, int part, int parts)
{
    struct taking *job = context;
    int64_t first, end;
    nbc_range((int64_t)job->wanted->n, part, parts, &first, &end);
    const size_t lo = (size_t)first, hi = (size_t)end;
    job->share[part] = take_forces(lo, hi, job->force + lo, job->wanted);
    for (size_t k = lo; k < hi && job->wanted->noise; k++) job->wanted->noise[k] = job->noise[k];
    for (size_t k = lo; k < hi; k++) job->share[part].interactions += job->handle->list[job->wanted->act[k]].nnb;
}

static int sum_on_device(struct gpuirr *handle, const struct wanted *wanted, struct share *share)
{
    struct taking job = {.handle = handle, .wanted = wanted};
    struct nbc_error err = {0};
    const struct gpuirr_block block = {
        .t = handle->t, .in_double = handle->in_double, .n = wanted->n, .act = wanted->act, .list = handle->list};
    const int status = handle->ops->block(handle->store, &block, &job.force, &job.noise, &err);
    if (status) return gpuirr_fail(handle, status, "gpuirr_firr_vec: %s", err.text);
    const int most = nbc_parts((int64_t)wanted->n, TAKEN_BY_A_PART), parts = most < MAX_PORTIONS ? most : MAX_PORTIONS;
    nbc_team_run(parts, take_part, &job);
    for (int p = 0; p < parts; p++) add_share(share, job.share[p]);
    return NBC_OK;
}

int gpuirr_firr_vec(gpuirr_t *handle, size_t n_act, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                    int32_t *nearest)
{
    return gpuirr_firr_noise(handle, n_act, act, acc, jerk, nearest, NULL);
}

int gpuirr_firr_noise(gpuirr_t *handle, size_t n_act, const int32_t *act, double (*acc)[3], double (*jerk)[3],
                      int32_t *nearest, double *noise)
{
    const struct wanted wanted = {.n = n_act, .act = act, .acc = acc, .jerk = jerk, .nearest = nearest, .noise = noise};
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!handle->announced)
        return gpuirr_fail(handle, NBC_BAD_STATE, "gpuirr_firr_vec: call gpuirr_pred_all or gpuirr_pred_act first");
    int status = gpuirr_check_active(handle, "gpuirr_firr_vec", n_act, act);
    if (status) return status;
    if (n_act && (!acc || !jerk)) return gpuirr_fail(handle, NBC_BAD_ARGUMENT, "gpuirr_firr_vec: acc or jerk is NULL");
    gpuirr_predict_if_worth(handle, n_act, act);
    const double start = nbc_wtime();
    struct share share = {.first_bad = SIZE_MAX};
    if (!handle->ops->block)
        share = share_out(handle, &wanted);
    else if (n_act > 0 && (status = sum_on_device(handle, &wanted, &share)))
        return status;
    handle->stats.calls++;
    handle->stats.bodies += n_act;
    handle->stats.interactions += share.interactions;
    handle->stats.coincident_pairs += share.coincident;
    handle->stats.seconds_firr += nbc_wtime() - start;
    if (share.first_bad == SIZE_MAX) return NBC_OK;
    int32_t i = act[share.first_bad];
    return gpuirr_fail(
        handle, NBC_NON_FINITE,
        "gpuirr_firr_vec: the force on body %lld at t = %.17g is not finite: it or one of its %u neighbours was "
        "never stored, or is so fast, far or close that a double overflows",
        gpuirr_number(handle, i), handle->t, handle->list[i].nnb);
}
