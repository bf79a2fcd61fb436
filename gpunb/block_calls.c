/* Regular forces of a block of targets: started, and waited for. */
#include "gpunb/handle.h"
#include "gpunb/quantity.h"
#include "gpunb/tree.h"
#include "gpunb/tree/method.h"
#include "gpunb/tree/regular.h"

#include <float.h>

static int check_block(gpunb_t *handle, const struct gpunb_block *block)
{
    struct nbc_error *err = &handle->error;
    if (!handle->sent)
        return nbc_fail(err, NBC_BAD_STATE, "gpunb_regf: no sources yet: call gpunb_send first, or gpunb_predict");
    if (!handle->has_velocities)
        return nbc_fail(err, NBC_BAD_STATE,
                        "gpunb_regf: the sources came by gpunb_send_positions and have no velocities: call gpunb_send");
    if (block->nb_cap < 1) return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_regf: nb_cap is 0: it must be at least 1");
    if (block->n_i > 0 && (!block->acc || !block->jerk || !block->nnb || !block->nblist))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_regf: %s is NULL",
                        !block->acc    ? "acc"
                        : !block->jerk ? "jerk"
                        : !block->nnb  ? "nnb"
                                       : "nblist");
    const struct gpunb_quantity list[] = {
        {"target", "r_nb2", block->r_nb2, block->n_i, 1, 0.0, DBL_MAX},
        {"target", "dt_reg", block->dt_reg, block->n_i, 1, 0.0, DBL_MAX},
        {"target", "x_i", (const double *)block->x, block->n_i, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"target", "v_i", (const double *)block->v, block->n_i, 3, -GPUNB_LIMIT, GPUNB_LIMIT},
        {"target", "acc_last", (const double *)block->acc_last, block->acc_last ? block->n_i : 0, 3, -DBL_MAX, DBL_MAX},
    };
    const int status = gpunb_check_self(handle, "gpunb_regf", block->self, block->n_i);
    return status == NBC_OK ? gpunb_check(err, "gpunb_regf", list, 5) : status;
}

static int report_overflow(gpunb_t *handle, const struct gpunb_block *block)
{
    size_t rows = 0, first = 0;
    for (size_t i = 0; i < block->n_i; i++) {
        if ((size_t)block->nnb[i] <= block->nb_cap) continue;
        if (rows++ == 0) first = i;
    }
    if (rows == 0) return NBC_OK;
    return nbc_fail(&handle->error, NBC_NB_OVERFLOW,
                    "gpunb_regf: %zu of %zu targets have more neighbours than nb_cap = %zu; the first is target %zu "
                    "with %d",
                    rows, block->n_i, block->nb_cap, first, (int)block->nnb[first]);
}

static int start(gpunb_t *handle, const struct gpunb_block *block)
{
    const double begin = nbc_wtime();
    handle->started = 0;
    int status = check_block(handle, block);
    if (status != NBC_OK) return status;
    handle->block = *block;
    if (block->self && !(handle->block.self = gpunb_self_by_place(handle, block->self, block->n_i)))
        return nbc_fail(&handle->error, NBC_NO_MEMORY, "gpunb_regf: no memory for a block of %zu targets", block->n_i);
    handle->block.by_tree = gpunb_regf_by_tree(handle, block->n_i, handle->n_sources) ? handle->tree : NULL;
    if (block->n_i > 0 && handle->backend->regf_start)
        status = handle->backend->regf_start(handle->state, &handle->block, &handle->error);
    handle->started = status == NBC_OK;
    handle->stats.seconds_regf += nbc_wtime() - begin;
    return status;
}

/* By tree where that is cheaper; devices have begun with it. */
static int make_forces(gpunb_t *handle, const struct gpunb_block *block)
{
    int done = 0, status = NBC_OK;
    if (block->by_tree && block->by_tree->method->regular) status = gpunb_regular_force(handle, block, &done);
    return status || done ? status : handle->backend->regf(handle->state, block, &handle->error);
}

static int wait(gpunb_t *handle)
{
    const double begin = nbc_wtime();
    const struct gpunb_block *block = &handle->block;
    int status = NBC_OK;
    handle->started = 0;
    if (block->n_i > 0) status = make_forces(handle, block);
    if (status == NBC_OK && gpunb_has_gaps(handle)) gpunb_lists_to_numbers(handle, block);
    handle->stats.calls++;
    handle->stats.targets += block->n_i;
    handle->stats.interactions += (uint64_t)block->n_i * handle->n_sources;
    handle->stats.seconds_regf += nbc_wtime() - begin;
    return status == NBC_OK ? report_overflow(handle, block) : status;
}

int gpunb_regf_block(gpunb_t *handle, const struct gpunb_block *block)
{
    int status = start(handle, block);
    return status == NBC_OK ? wait(handle) : status;
}

int gpunb_regf_start_job(gpunb_t *handle, const struct gpunb_regf_job *job)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!job) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "gpunb_regf_start_job: job is NULL");
    const struct gpunb_block block = {
        .n_i = job->n_i,
        .self = job->self,
        .r_nb2 = job->r_nb2,
        .dt_reg = job->dt_reg,
        .x = job->x,
        .v = job->v,
        .acc_last = job->acc_last,
        .acc = job->acc,
        .jerk = job->jerk,
        .pot = job->pot,
        .nb_cap = job->nb_cap,
        .list_stride = job->nb_cap,
        .nnb = job->nnb,
        .nblist = job->nblist,
        .mass_weighted = handle->mass_weighted,
        .build = job->build,
    };
    return start(handle, &block);
}

int gpunb_regf_start(gpunb_t *handle, size_t n_i, const int32_t *self, const double *r_nb2, const double *dt_reg,
                     const double (*x_i)[3], const double (*v_i)[3], double (*acc)[3], double (*jerk)[3], double *pot,
                     size_t nb_cap, int32_t *nnb, int32_t *nblist)
{
    const struct gpunb_regf_job job = {
        .n_i = n_i,
        .self = self,
        .r_nb2 = r_nb2,
        .dt_reg = dt_reg,
        .x = x_i,
        .v = v_i,
        .acc = acc,
        .jerk = jerk,
        .pot = pot,
        .nb_cap = nb_cap,
        .nnb = nnb,
        .nblist = nblist,
    };
    return gpunb_regf_start_job(handle, &job);
}

int gpunb_regf_wait(gpunb_t *handle)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!handle->started)
        return nbc_fail(&handle->error, NBC_BAD_STATE,
                        "gpunb_regf_wait: no block was started with the present sources: call gpunb_regf_start first");
    return wait(handle);
}

int gpunb_regf(gpunb_t *handle, size_t n_i, const int32_t *self, const double *r_nb2, const double *dt_reg,
               const double (*x_i)[3], const double (*v_i)[3], double (*acc)[3], double (*jerk)[3], double *pot,
               size_t nb_cap, int32_t *nnb, int32_t *nblist)
{
    int status = gpunb_regf_start(handle, n_i, self, r_nb2, dt_reg, x_i, v_i, acc, jerk, pot, nb_cap, nnb, nblist);
    return status == NBC_OK ? gpunb_regf_wait(handle) : status;
}
