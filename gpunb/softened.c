/* The softened force of a collisionless code. */
#include "gpunb/handle.h"
#include "gpunb/quantity.h"
#include "gpunb/tree/method.h"

#include <float.h>
#include <math.h>

static int check_job(gpunb_t *handle, const struct gpunb_softened_job *job)
{
    struct nbc_error *err = &handle->error;
    if (!job) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_softened: job is NULL");
    if (!handle->sent)
        return nbc_fail(err, NBC_BAD_STATE,
                        "gpunb_softened: no sources yet: call gpunb_send_positions first, gpunb_send or gpunb_predict");
    if (job->n_i > 0 && !job->acc) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_softened: acc is NULL");
    if (!isfinite(job->softening))
        return nbc_fail(err, NBC_NON_FINITE, "gpunb_softened: the softening is %g", job->softening);
    if (job->softening < GPUNB_LEAST_SOFTENING || job->softening > GPUNB_LIMIT)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_softened: the softening is %g: it must be from %g to %g",
                        job->softening, GPUNB_LEAST_SOFTENING, GPUNB_LIMIT);
    const struct gpunb_quantity list = {"target", "x", (const double *)job->x, job->n_i, 3, -GPUNB_LIMIT, GPUNB_LIMIT};
    const struct gpunb_quantity last = {
        "target", "acc_last", (const double *)job->acc_last, job->acc_last ? job->n_i : 0, 3, -DBL_MAX, DBL_MAX};
    int status = gpunb_check_self(handle, "gpunb_softened", job->self, job->n_i);
    if (status == NBC_OK) status = gpunb_check(err, "gpunb_softened", &list, 1);
    return status == NBC_OK ? gpunb_check(err, "gpunb_softened", &last, 1) : status;
}

/* By tree if the handle has one; tree: NULL: its own. */
static int make_force(gpunb_t *handle, gpunb_tree_t *tree, const struct gpunb_softened_job *job)
{
    const double begin = nbc_wtime();
    int status = NBC_OK;
    struct gpunb_softened_job by_place = *job;
    if (job->self && !(by_place.self = gpunb_self_by_place(handle, job->self, job->n_i)))
        return nbc_fail(&handle->error, NBC_NO_MEMORY, "gpunb_softened: no memory for %zu targets", job->n_i);
    handle->started = 0;
    if (job->n_i > 0)
        status = tree || gpunb_tree_is_worth(handle, job->n_i, handle->n_sources)
                     ? gpunb_tree_softened(handle, tree, &by_place)
                     : handle->backend->softened(handle->state, &by_place, &handle->error);
    handle->stats.calls++;
    handle->stats.targets += job->n_i;
    handle->stats.interactions += (uint64_t)job->n_i * handle->n_sources;
    handle->stats.seconds_regf += nbc_wtime() - begin;
    return status;
}

int gpunb_softened(gpunb_t *handle, const struct gpunb_softened_job *job)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    const int status = check_job(handle, job);
    return status == NBC_OK ? make_force(handle, NULL, job) : status;
}

int gpunb_tree_force(gpunb_t *handle, gpunb_tree_t *tree, const struct gpunb_softened_job *job)
{
    if (!handle || !tree) return NBC_BAD_ARGUMENT;
    int status = gpunb_tree_check(handle, tree);
    if (status == NBC_OK) status = check_job(handle, job);
    return status == NBC_OK ? make_force(handle, tree, job) : status;
}
