/* Kernels of GPUs. */
#include "nbody6/collisionless/residence.h"
#include "nbody6/collisionless/residence_kernels.h"

static int drift(const struct nb6_part *part, const struct nb6_part_block *block, double limit,
                 struct nbd_stream *stream)
{
    return (int)nb6_kernel_drift(part, block, limit, (cudaStream_t)stream);
}

static int select_bytes(int32_t n_own, size_t *bytes)
{
    return (int)nb6_kernel_select_bytes(n_own, bytes);
}

static int select_due(const struct nb6_part *part, const struct nb6_part_block *block, void *scratch, size_t bytes,
                      struct nbd_stream *stream)
{
    return (int)nb6_kernel_select(part, block, scratch, bytes, (cudaStream_t)stream);
}

static int check_forces(const struct nb6_part *part, const struct nb6_part_block *block, struct nbd_stream *stream)
{
    return (int)nb6_kernel_check(part, block, (cudaStream_t)stream);
}

static int commit(const struct nb6_part *part, const struct nb6_part_block *block, struct nbd_stream *stream)
{
    return (int)nb6_kernel_commit(part, block, (cudaStream_t)stream);
}

/* ---- forces, by the handle of the system */

static int open_force(gpunb_t **force, const struct nb6_part *part, const struct gpunb_options *options,
                      gpunb_t *system, struct nbc_error *err)
{
    (void)part, (void)options, (void)err;
    *force = system;
    return NBC_OK;
}

static int repeated(gpunb_t *force, int status, struct nbc_error *err)
{
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(force)) : NBC_OK;
}

static int force_bytes(gpunb_t *force, size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err)
{
    return repeated(force, gpunb_softened_device_bytes(force, n_i, n_j, bytes), err);
}

static int sum(gpunb_t *force, const struct nb6_part *part, const struct gpunb_softened_device *job,
               struct nbd_stream *stream, struct nbc_error *err)
{
    (void)part;
    return repeated(force, gpunb_softened_device(force, job, stream), err);
}

static const struct nb6_residence residence = {
    .name = "device",
    .kind = &nbd_cuda,
    .drift = drift,
    .select_bytes = select_bytes,
    .select = select_due,
    .check = check_forces,
    .commit = commit,
    .open_force = open_force,
    .force_bytes = force_bytes,
    .sum = sum,
};

const struct nb6_residence *const nb6_residence_cuda = &residence;
