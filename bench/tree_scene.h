/* Bodies for programs that time trees: a Plummer model within r = 15, in memory of the host or of a device. */
#ifndef BENCH_TREE_SCENE_H
#define BENCH_TREE_SCENE_H

#include "device/device.h"
#include "gpunb/softened_device.h"
#include "gpunb/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double SOFTENING = 0.02;

static inline void stop(const char *why)
{
    fprintf(stderr, PROGRAM ": %s\n", why);
    exit(2);
}

static inline void *get(size_t n, size_t size)
{
    void *p = nbc_alloc(n, size);
    if (!p) stop("no memory");
    return p;
}

static inline double uniform(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

/* All bodies, and those that are targets. */
struct scene {
    size_t n, n_i;
    double *mass, (*x)[3], (*acc)[3], (*x_i)[3], (*last_i)[3], (*acc_i)[3];
    int32_t *self;
};

static inline struct scene make_scene(size_t n)
{
    struct scene s = {
        n, n, get(n, 8), get(n, 24), get(n, 24), get(n, 24), get(n, 24), get(n, 24), get(n, sizeof(int32_t))};
    for (size_t i = 0; i < n; i++) {
        double r;
        do r = 3 * 3.141592653589793 / 16 / sqrt(pow(uniform(), -2.0 / 3) - 1);
        while (r > 15);
        const double c = 2 * uniform() - 1, sine = sqrt(1 - c * c), phi = 6.283185307179586 * uniform();
        s.mass[i] = 1 / (double)n;
        s.x[i][0] = r * sine * cos(phi);
        s.x[i][1] = r * sine * sin(phi);
        s.x[i][2] = r * c;
    }
    return s;
}

static inline void free_scene(struct scene *s)
{
    nbc_free(s->mass);
    nbc_free(s->x);
    nbc_free(s->acc);
    nbc_free(s->x_i);
    nbc_free(s->last_i);
    nbc_free(s->acc_i);
    nbc_free(s->self);
}

static inline gpunb_t *open_forces(const struct scene *s, const struct gpunb_options *options)
{
    struct nbc_error err = {0};
    gpunb_t *h = NULL;
    if (gpunb_create(&h, s->n, options, &err)) stop(err.text);
    if (gpunb_send_positions(h, s->n, s->mass, (const double(*)[3])s->x)) stop(gpunb_last_error(h));
    return h;
}

/* Accelerations that all forces take as the last ones. */
static inline void first_force(struct scene *s, const char *backend)
{
    const struct gpunb_options options = {.backend = backend, .force_error = 1e-3};
    gpunb_t *h = open_forces(s, &options);
    const struct gpunb_softened_job job = {
        .n_i = s->n, .x = (const double(*)[3])s->x, .softening = SOFTENING, .acc = s->acc};
    if (gpunb_softened(h, &job)) stop(gpunb_last_error(h));
    gpunb_free(h);
}

/* Targets are every so many-th body: the model has no order. */
static inline void choose_targets(struct scene *s, size_t n_i)
{
    s->n_i = n_i;
    for (size_t i = 0; i < n_i; i++) {
        const size_t j = i * s->n / n_i;
        s->self[i] = (int32_t)j;
        memcpy(s->x_i[i], s->x[j], sizeof s->x_i[i]);
        memcpy(s->last_i[i], s->acc[j], sizeof s->last_i[i]);
    }
}

static inline struct gpunb_softened_job job_of(struct scene *s)
{
    return (struct gpunb_softened_job){.n_i = s->n_i,
                                       .x = (const double(*)[3])s->x_i,
                                       .self = s->self,
                                       .softening = SOFTENING,
                                       .acc = s->acc_i,
                                       .acc_last = (const double(*)[3])s->last_i};
}

/* ---- bodies in memory of a device */

struct resident {
    struct nbd_device device;
    struct nbd_stream *stream;
    struct gpunb_softened_device job;
    void *memory[7];
    int count;
};

static inline void check(int status, const struct nbc_error *err)
{
    if (status) stop(err->text);
}

static inline void *settle_array(struct resident *r, const void *from, size_t bytes)
{
    struct nbc_error err = {0};
    void *to = NULL;
    check(nbd_alloc(&r->device, NBD_ON_DEVICE, bytes, &to, &err), &err);
    if (from) check(nbd_copy(&r->device, r->stream, to, from, bytes, &err), &err);
    return r->memory[r->count++] = to;
}

/* @return 0: the backend has no devices */
static inline int settle(struct resident *r, gpunb_t *h, struct scene *s)
{
    struct nbc_error err = {0};
    const struct nbd_kind *kind = !strcmp(gpunb_info(h)->name, "emulated") ? nbd_emulated : nbd_cuda;
    size_t bytes = 0;
    if (gpunb_softened_devices(h, 0, NULL) == 0 && kind != nbd_emulated) return 0;
    check(nbd_open(&r->device, kind, 0, PROGRAM, &err), &err);
    check(nbd_stream_open(&r->device, NBD_MIDDLE, &r->stream, &err), &err);
    if (gpunb_softened_device_bytes(h, s->n_i, s->n, &bytes)) stop(gpunb_last_error(h));
    r->job = (struct gpunb_softened_device){.n_j = s->n,
                                            .mass = settle_array(r, s->mass, s->n * 8),
                                            .x_j = settle_array(r, s->x, s->n * 24),
                                            .n_i = s->n_i,
                                            .x_i = settle_array(r, s->x_i, s->n_i * 24),
                                            .self = settle_array(r, s->self, s->n_i * sizeof(int32_t)),
                                            .softening = SOFTENING,
                                            .acc_last = settle_array(r, s->last_i, s->n_i * 24),
                                            .acc = settle_array(r, NULL, s->n_i * 24),
                                            .work = settle_array(r, NULL, bytes > 0 ? bytes : 1),
                                            .work_bytes = bytes};
    check(nbd_stream_wait(&r->device, r->stream, &err), &err);
    return 1;
}

static inline void leave(struct resident *r)
{
    for (int k = 0; k < r->count; k++) nbd_free(&r->device, NBD_ON_DEVICE, r->memory[k]);
    if (r->stream) nbd_stream_close(&r->device, r->stream);
    *r = (struct resident){0};
}

/* ---- times */

/* Seconds: of this process, so that others do not count where one thread makes all; else of the wall. */
static inline double now(int of_process)
{
    return of_process ? (double)clock() / CLOCKS_PER_SEC : nbc_wtime();
}

/* A force by a new tree, or by direct sums, as the handle chooses; r: NULL: on the host. */
static inline void make_force(gpunb_t *h, struct scene *s, struct resident *r)
{
    struct nbc_error err = {0};
    const struct gpunb_softened_job job = job_of(s);
    if (r ? gpunb_softened_device(h, &r->job, r->stream) : gpunb_softened(h, &job)) stop(gpunb_last_error(h));
    if (r) check(nbd_stream_wait(&r->device, r->stream, &err), &err);
}

static inline int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static inline double median(double *value, int n)
{
    qsort(value, (size_t)n, sizeof *value, by_value);
    return value[n / 2];
}

#endif
