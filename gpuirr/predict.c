/* Announced times, and the prediction of all bodies once it is worth it. */
#include "common/team.h"
#include "gpuirr/backend.h"
#include "gpuirr/handle.h"

#include <math.h>

enum {
    BODIES_OF_A_PART = 512, /* to predict; with less a thread is not worth calling */
    PREDICT_CHUNK = 256     /* bodies */
};

/* To predict a body and store it takes as long as predicting neighbours for this many interactions adds to them
 * (bench/bench_gpuirr). */
enum { PAIRS_WORTH_A_BODY = 4 };

static int announce(struct gpuirr *handle, const char *call, size_t lo, size_t hi, double t)
{
    if (!isfinite(t)) return gpuirr_fail(handle, NBC_NON_FINITE, "%s: the time is %g", call, t);
    handle->announced = 1;
    handle->t = t;
    handle->pred_lo = lo;
    handle->pred_hi = hi;
    handle->predicted = 0;
    handle->pairs_asked = 0;
    if (handle->ops->announce) handle->ops->announce(handle->store);
    return NBC_OK;
}

int gpuirr_pred_all(gpuirr_t *handle, size_t lo, size_t hi, double t)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (lo > hi || hi > handle->n_max)
        return gpuirr_fail(handle, NBC_BAD_ARGUMENT,
                           "gpuirr_pred_all: lo = %zu, hi = %zu, n_max = %zu: no range of bodies", lo, hi,
                           handle->n_max);
    return announce(handle, "gpuirr_pred_all", lo, hi, t);
}

int gpuirr_pred_act(gpuirr_t *handle, size_t n_act, const int32_t *act, double t)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    int status = gpuirr_check_active(handle, "gpuirr_pred_act", n_act, act);
    return status ? status : announce(handle, "gpuirr_pred_act", 0, 0, t);
}

static void predict_part(void *context, int part, int parts)
{
    const struct gpuirr *handle = context;
    const size_t chunks = (handle->pred_hi - handle->pred_lo + PREDICT_CHUNK - 1) / PREDICT_CHUNK;
    int64_t first, end;
    nbc_range((int64_t)chunks, part, parts, &first, &end);
    const size_t lo = handle->pred_lo + (size_t)first * PREDICT_CHUNK;
    const size_t hi = handle->pred_lo + (size_t)end * PREDICT_CHUNK;
    if (lo < handle->pred_hi)
        handle->ops->predict(handle->store, lo, hi < handle->pred_hi ? hi : handle->pred_hi, handle->t);
}

/* Count the pairs of these bodies until they are enough.   @return whether they are */
static int count_pairs(struct gpuirr *handle, int64_t enough, size_t n_act, const int32_t *act)
{
    for (size_t k = 0; k < n_act && handle->pairs_asked < enough; k++) handle->pairs_asked += handle->list[act[k]].nnb;
    return handle->pairs_asked >= enough;
}

void gpuirr_predict_if_worth(struct gpuirr *handle, size_t n_act, const int32_t *act)
{
    const int64_t n = (int64_t)(handle->pred_hi - handle->pred_lo);
    if (n == 0 || handle->predicted || handle->in_double || !handle->ops->predict) return;
    if (!count_pairs(handle, PAIRS_WORTH_A_BODY * n, n_act, act)) return;
    const double start = nbc_wtime();
    nbc_team_run(nbc_parts(n, BODIES_OF_A_PART), predict_part, handle);
    handle->predicted = 1;
    handle->pairs_asked = 0;
    handle->stats.seconds_pred += nbc_wtime() - start;
}
