/* Arrays of sources, targets and results in memory of a device, for the tests of softened forces by a tree there. */
#ifndef GPUNB_TREE_BENCH_H
#define GPUNB_TREE_BENCH_H

#include "gpunb/softened_device.h"
#include "tests/conformance/gpunb_tree_model.h"
#include "tests/support/device_memory.h"

/* Arrays on a device, which all jobs of a test share. */
struct bench {
    gpunb_t *handle;
    struct nbd_device device;
    struct nbd_stream *stream;
    size_t n_j, n_i; /* most of them */
    void *mass, *x_j, *x_i, *self, *last, *acc, *pot, *work;
    size_t work_bytes;
};

static inline void copy(const struct bench *b, void *to, const void *from, size_t bytes)
{
    struct nbc_error err = {0};
    must(nbd_copy(&b->device, b->stream, to, from, bytes, &err), &err);
    must(nbd_stream_wait(&b->device, b->stream, &err), &err);
}

static inline struct bench open_bench(size_t n_j, size_t n_i, struct gpunb_options options, int number)
{
    struct nbc_error err = {0};
    char name[32];
    const char *kind = backend;
    struct bench b = {.n_j = n_j, .n_i = n_i};
    snprintf(name, sizeof name, "%s:%d", kind, number);
    backend = name;
    b.handle = make_tree_handle(n_j, options);
    backend = kind;
    must(nbd_open(&b.device, strcmp(kind, "cuda") ? nbd_emulated : nbd_cuda, number, "a test", &err), &err);
    must(nbd_stream_open(&b.device, NBD_MIDDLE, &b.stream, &err), &err);
    if (gpunb_softened_device_bytes(b.handle, n_i, n_j, &b.work_bytes)) fail_msg("%s", gpunb_last_error(b.handle));
    b.mass = on_device(&b.device, b.stream, NULL, n_j * 8);
    b.x_j = on_device(&b.device, b.stream, NULL, n_j * 24);
    b.x_i = on_device(&b.device, b.stream, NULL, n_i * 24);
    b.self = on_device(&b.device, b.stream, NULL, n_i * 4);
    b.last = on_device(&b.device, b.stream, NULL, n_i * 24);
    b.acc = on_device(&b.device, b.stream, NULL, n_i * 24);
    b.pot = on_device(&b.device, b.stream, NULL, n_i * 8);
    b.work = on_device(&b.device, b.stream, NULL, b.work_bytes);
    return b;
}

static inline void close_bench(struct bench *b)
{
    void *memory[] = {b->mass, b->x_j, b->x_i, b->self, b->last, b->acc, b->pot, b->work};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++) nbd_free(&b->device, NBD_ON_DEVICE, memory[k]);
    nbd_stream_close(&b->device, b->stream);
    gpunb_free(b->handle);
}

/* A job of the host with these sources, on the device.   @param[in] is_part  the targets are the first sources */
static inline struct gpunb_softened_device job_on(const struct bench *b, const struct model *sources,
                                                  const struct gpunb_softened_job *job, int is_part)
{
    copy(b, b->mass, sources->mass, sources->n * 8);
    copy(b, b->x_j, sources->x, sources->n * 24);
    copy(b, b->x_i, job->x, job->n_i * 24);
    if (job->self) copy(b, b->self, job->self, job->n_i * 4);
    if (job->acc_last) copy(b, b->last, job->acc_last, job->n_i * 24);
    return (struct gpunb_softened_device){.n_j = sources->n,
                                          .mass = b->mass,
                                          .x_j = b->x_j,
                                          .n_i = job->n_i,
                                          .x_i = is_part ? b->x_j : b->x_i,
                                          .self = job->self ? b->self : NULL,
                                          .softening = job->softening,
                                          .acc_last = job->acc_last ? b->last : NULL,
                                          .acc = b->acc,
                                          .pot = job->pot ? b->pot : NULL,
                                          .work = b->work,
                                          .work_bytes = b->work_bytes};
}

static inline void enqueue(const struct bench *b, const struct gpunb_softened_device *job)
{
    if (gpunb_softened_device(b->handle, job, b->stream)) fail_msg("%s", gpunb_last_error(b->handle));
}

/* Results of the device, NaN where there are none. */
static inline struct forces results(const struct bench *b, const struct gpunb_softened_device *job)
{
    struct forces f = make_forces(job->n_i);
    copy(b, f.acc, job->acc, job->n_i * 24);
    if (job->pot) copy(b, f.pot, job->pot, job->n_i * 8);
    return f;
}

#endif
