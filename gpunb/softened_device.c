/* Softened forces in device memory: the calls of a handle. */
#include "gpunb/softened_device.h"

#include "gpunb/handle.h"
#include "gpunb/tree/tree.h"
#include "gpunb/tree_kept.h"

static int refuse(gpunb_t *handle, const char *call)
{
    return nbc_fail(&handle->error, NBC_UNAVAILABLE, "%s: backend %s has no devices: use cuda", call,
                    handle->backend->name);
}

int gpunb_softened_device_bytes(gpunb_t *handle, size_t n_i, size_t n_j, size_t *bytes)
{
    const char *call = "gpunb_softened_device_bytes";
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!bytes) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: bytes is NULL", call);
    if (!handle->backend->softened_device_bytes) return refuse(handle, call);
    if (n_i > INT32_MAX || n_j > INT32_MAX)
        return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: %zu targets and %zu sources, but numbers are 32-bit",
                        call, n_i, n_j);
    int status = handle->backend->softened_device_bytes(handle->state, n_i, n_j, bytes, &handle->error);
    if (status != NBC_OK || !handle->tree) return status;
    const size_t direct = *bytes;
    status = gpunb_tree_device_bytes(handle, n_i, n_j, bytes);
    if (*bytes < direct) *bytes = direct;
    return status;
}

int gpunb_softened_device_kept_bytes(gpunb_t *handle, size_t n_i, size_t n_j, size_t *tree, size_t *work)
{
    size_t direct;
    if (!handle || !tree || !work) return NBC_BAD_ARGUMENT;
    if (!handle->tree)
        return nbc_fail(&handle->error, NBC_BAD_STATE,
                        "gpunb_softened_device_kept_bytes: this handle makes direct sums, without a tree");
    int status = gpunb_softened_device_bytes(handle, n_i, n_j, work); /* which checks the call */
    if (!status) status = handle->backend->softened_device_bytes(handle->state, n_i, n_j, &direct, &handle->error);
    if (!status) /* without targets there is a tree to make all the same */
        status = handle->tree->method->device->bytes(handle->state, handle->tree, n_i > 0 ? n_i : 1, n_j, tree, work,
                                                     &handle->error);
    if (!status && *work < direct) *work = direct;
    return status;
}

int gpunb_softened_device_tree(gpunb_t *handle, size_t n_j, gpunb_tree_t **tree)
{
    struct gpunb_tree *made = NULL;
    size_t bytes;
    int status = gpunb_tree_create(handle, &made);
    if (!status) status = gpunb_softened_device_bytes(handle, 1, n_j, &bytes); /* which checks the call */
    if (!status) status = handle->tree->method->device->provide(handle->state, handle->tree, made, n_j, &handle->error);
    if (status)
        gpunb_tree_free(made);
    else
        *tree = made;
    return status;
}

int gpunb_softened_device_renumber(gpunb_t *handle, gpunb_tree_t *tree, size_t first, void *stream)
{
    const char *call = "gpunb_softened_device_renumber";
    if (!handle || !tree) return NBC_BAD_ARGUMENT;
    if (!handle->backend->softened_device) return refuse(handle, call);
    if (tree->use != handle->tree)
        return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: the tree is of another handle", call);
    if (!tree->has_cells) return nbc_fail(&handle->error, NBC_BAD_STATE, "%s: the tree has no cells", call);
    if (first >= tree->n)
        return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: there is no place %zu among %zu sources", call, first,
                        tree->n);
    return handle->tree->method->device->renumber(handle->state, tree, first, stream, &handle->error);
}

static const char *missing(const struct gpunb_softened_device *job)
{
    if (job->n_j > 0 && !job->mass) return "mass";
    if (job->n_j > 0 && !job->x_j) return "x_j";
    if (job->n_i > 0 && !job->x_i) return "x_i";
    if (job->n_i > 0 && !job->acc) return "acc";
    return NULL;
}

static int check_tree(gpunb_t *handle, const struct gpunb_softened_device *job)
{
    const int acts = job->kept == GPUNB_TREE_BUILT || job->kept == GPUNB_TREE_RENEWED;
    if (!acts) return NBC_OK;
    if (!job->tree || job->tree->use != handle->tree || job->n_j == 0)
        return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "gpunb_softened_device: there is no tree of this handle");
    if (job->kept == GPUNB_TREE_RENEWED && !(job->tree->has_cells && job->tree->n == job->n_j))
        return nbc_fail(&handle->error, NBC_BAD_STATE,
                        "gpunb_softened_device: the tree has no cells of %zu sources; build it", job->n_j);
    return NBC_OK;
}

static int check_job(gpunb_t *handle, const struct gpunb_softened_device *job)
{
    const char *call = "gpunb_softened_device";
    struct nbc_error *err = &handle->error;
    size_t bytes, of_tree;
    int status = job->kept == GPUNB_TREE_NOT_KEPT
                     ? gpunb_softened_device_bytes(handle, job->n_i, job->n_j, &bytes)
                     : gpunb_softened_device_kept_bytes(handle, job->n_i, job->n_j, &of_tree, &bytes);
    if (status == NBC_OK) status = check_tree(handle, job);
    if (status != NBC_OK) return status;
    if (!(job->softening >= GPUNB_LEAST_SOFTENING && job->softening <= GPUNB_LIMIT))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: the softening is %g: it must be from %g to %g", call,
                        job->softening, GPUNB_LEAST_SOFTENING, GPUNB_LIMIT);
    if (missing(job)) return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %s is NULL", call, missing(job));
    if (bytes > 0 && (!job->work || job->work_bytes < bytes))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: there are %zu bytes of scratch, and %zu are needed", call,
                        job->work ? job->work_bytes : 0, bytes);
    return NBC_OK;
}

/* Whether a tree acts, or is to be there. */
static int takes_tree(const gpunb_t *handle, const struct gpunb_softened_device *job)
{
    if (job->kept != GPUNB_TREE_NOT_KEPT) return job->kept != GPUNB_TREE_UNUSED;
    return job->n_i > 0 && job->n_j > 0 && gpunb_tree_is_worth(handle, job->n_i, job->n_j);
}

int gpunb_softened_device_begin(gpunb_t *handle, const struct gpunb_softened_device *job, void *stream)
{
    const char *call = "gpunb_softened_device_begin";
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!job) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: job is NULL", call);
    if (!handle->backend->softened_device) return refuse(handle, call);
    const int status = check_job(handle, job);
    return status || !takes_tree(handle, job) ? status : gpunb_tree_device_begin(handle, job, stream);
}

int gpunb_softened_device(gpunb_t *handle, const struct gpunb_softened_device *job, void *stream)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!job) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "gpunb_softened_device: job is NULL");
    if (!handle->backend->softened_device) return refuse(handle, "gpunb_softened_device");
    const double begin = nbc_wtime();
    int status = check_job(handle, job);
    if (status == NBC_OK)
        status = takes_tree(handle, job) ? gpunb_tree_device_force(handle, job, stream)
                                         : handle->backend->softened_device(handle->state, job, stream, &handle->error);
    handle->stats.calls++;
    handle->stats.targets += job->n_i;
    handle->stats.interactions += (uint64_t)job->n_i * job->n_j;
    handle->stats.seconds_regf += nbc_wtime() - begin;
    return status;
}

int gpunb_softened_devices(const gpunb_t *handle, int room, int *device)
{
    return handle->precision == GPUNB_TWOFLOAT ? gpunb_gpus(handle, room, device) : 0;
}
