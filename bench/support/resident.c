#include "bench/support/resident.h"

#include "common/nbc.h"

#include <string.h>

/* @return NULL after a failure, which *err has */
static void *copy_to(struct resident *r, const void *from, size_t bytes, struct nbc_error *err)
{
    void *to = NULL;
    if (nbd_alloc(&r->device, NBD_ON_DEVICE, bytes, &to, err)) return NULL;
    if (from && nbd_copy(&r->device, r->stream, to, from, bytes, err)) return NULL;
    return to;
}

static int fill(struct resident *r, size_t n, const double *mass, const struct gpunb_softened_job *job, size_t bytes,
                struct nbc_error *err)
{
    struct gpunb_softened_device *to = &r->job;
    *to = (struct gpunb_softened_device){.n_j = n, .n_i = n, .softening = job->softening, .work_bytes = bytes};
    if (!(to->mass = copy_to(r, mass, n * sizeof *mass, err)) ||
        !(to->x_j = copy_to(r, job->x, n * sizeof *job->x, err)) ||
        !(to->self = copy_to(r, job->self, n * sizeof *job->self, err)) ||
        !(to->acc = copy_to(r, NULL, n * sizeof *job->acc, err)) || !(to->work = copy_to(r, NULL, bytes, err)))
        return NBC_DEVICE;
    to->x_i = to->x_j;
    if (job->acc_last && !(to->acc_last = copy_to(r, job->acc_last, n * sizeof *job->acc_last, err))) return NBC_DEVICE;
    return nbd_stream_wait(&r->device, r->stream, err);
}

int resident_open(struct resident *r, gpunb_t *h, size_t n, const double *mass, const struct gpunb_softened_job *job,
                  struct nbc_error *err)
{
    const int is_emulated = !strcmp(gpunb_info(h)->name, "emulated");
    const struct nbd_kind *kind = is_emulated ? nbd_emulated : nbd_cuda;
    size_t bytes = 0;
    memset(r, 0, sizeof *r);
    if (!kind || gpunb_softened_device_bytes(h, n, n, &bytes))
        return nbc_fail(err, NBC_UNAVAILABLE, "backend '%s' has no memory of a device", gpunb_info(h)->name);
    NBD_TRY(nbd_open(&r->device, kind, 0, "bench", err));
    NBD_TRY(nbd_stream_open(&r->device, NBD_MIDDLE, &r->stream, err));
    return fill(r, n, mass, job, bytes, err);
}

int resident_force(struct resident *r, gpunb_t *h, double *seconds, struct nbc_error *err)
{
    const double begin = nbc_wtime();
    if (gpunb_softened_device(h, &r->job, r->stream)) return nbc_fail(err, NBC_DEVICE, "%s", gpunb_last_error(h));
    NBD_TRY(nbd_stream_wait(&r->device, r->stream, err));
    *seconds = nbc_wtime() - begin;
    return NBC_OK;
}

int resident_read(struct resident *r, double (*acc)[3], struct nbc_error *err)
{
    NBD_TRY(nbd_copy(&r->device, r->stream, acc, r->job.acc, r->job.n_i * sizeof *acc, err));
    return nbd_stream_wait(&r->device, r->stream, err);
}

void resident_close(struct resident *r)
{
    const void *const memory[] = {r->job.mass, r->job.x_j, r->job.self, r->job.acc, r->job.acc_last, r->job.work};
    if (!r->stream) return;
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++)
        nbd_free(&r->device, NBD_ON_DEVICE, (void *)(uintptr_t)memory[k]);
    nbd_stream_close(&r->device, r->stream);
    r->stream = NULL;
}
