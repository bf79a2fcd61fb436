/** Regular forces of sources in the memory of a device (gpunb/regf_device.h), for tests: handles with their buffers
 * there, targets that are asked for, and what they got beside the reference. */
#ifndef REGF_DEVICE_BENCH_H
#define REGF_DEVICE_BENCH_H

#include "gpunb/regf_device.h"

#include "device/emulated/emulated.h"
#include "gpunb/device/regular.h"
#include "tests/conformance/gpunb_model.h"
#include "tests/support/device_memory.h"

enum { N = 4300, ROOM = N }; /* two rounds on a device */

/* Errors of a force, relative to it: those of float pairs, of which some thousand are added. */
static const double acc_bound = 2e-6, jerk_bound = 2e-5;

struct bench {
    gpunb_t *handle;
    struct nbd_device device;
    struct nbd_stream *stream;
    struct gpunb_regf_device job;
    struct gpunb_dev_asked *asked; /* on the host */
    int32_t *lists;
};

/* @param[in] name  of the backend with its devices   @param[in] aim  of a tree; 0: direct sums */
static inline struct bench open_with(const char *name, const struct gpunb_dev_source *source, size_t n, int weighted,
                                     double aim)
{
    struct bench b = {0};
    struct nbc_error err = {0};
    const struct gpunb_options options = {
        .backend = name, .force_error = aim, .walk = aim > 0 ? GPUNB_WALK_FMM : GPUNB_WALK_DEFAULT};
    const size_t padded = (n + GPUNB_DEV_LANES - 1) / GPUNB_DEV_LANES * GPUNB_DEV_LANES;
    struct gpunb_dev_source *all = get(padded, sizeof *all);
    memcpy(all, source, n * sizeof *all);
    must(gpunb_create(&b.handle, 1, &options, &err), &err);
    must(nbd_open(&b.device, strncmp(name, "cuda", 4) ? nbd_emulated : nbd_cuda, 0, "a test", &err), &err);
    must(nbd_stream_open(&b.device, NBD_MIDDLE, &b.stream, &err), &err);
    b.job = (struct gpunb_regf_device){.n_j = n, .weighted = weighted, .row_room = ROOM};
    assert_int_equal(gpunb_regf_device_bytes(b.handle, n, &b.job.scratch_bytes), NBC_OK);
    b.job.source = on_device(&b.device, b.stream, all, padded * sizeof *all);
    b.job.scratch = on_device(&b.device, b.stream, NULL, b.job.scratch_bytes);
    b.job.asked = on_device(&b.device, b.stream, NULL, n * sizeof *b.job.asked);
    b.job.lists = on_device(&b.device, b.stream, NULL, n * ROOM * sizeof *b.job.lists);
    b.asked = get(n, sizeof *b.asked);
    b.lists = get(n * ROOM, sizeof *b.lists);
    free(all);
    return b;
}

static inline struct bench open_bench(const char *name, const struct gpunb_dev_source *source, size_t n, int weighted)
{
    return open_with(name, source, n, weighted, 0);
}

static inline void close_bench(struct bench *b)
{
    void *memory[] = {b->job.source, b->job.scratch, b->job.asked, b->job.lists};
    for (int k = 0; k < 4; k++) nbd_free(&b->device, NBD_ON_DEVICE, memory[k]);
    nbd_stream_close(&b->device, b->stream);
    gpunb_free(b->handle);
    free(b->asked);
    free(b->lists);
}

/* b->asked to the device, and its results back. */
static inline void call(struct bench *b, size_t n_i)
{
    struct nbc_error err = {0};
    b->job.n_i = n_i;
    must(nbd_use(&b->device, &err), &err);
    must(nbd_copy(&b->device, b->stream, b->job.asked, b->asked, n_i * sizeof *b->asked, &err), &err);
    must(nbd_stream_wait(&b->device, b->stream, &err), &err);
    if (gpunb_regf_device(b->handle, &b->job, b->stream)) fail_msg("%s", gpunb_last_error(b->handle));
    must(nbd_copy(&b->device, b->stream, b->asked, b->job.asked, n_i * sizeof *b->asked, &err), &err);
    must(nbd_copy(&b->device, b->stream, b->lists, b->job.lists, b->job.n_j * b->job.row_room * sizeof *b->lists, &err),
         &err);
    must(nbd_stream_wait(&b->device, b->stream, &err), &err);
}

/* Places and velocities that records of sources hold whole. */
static inline void round_model(struct model *m)
{
    for (size_t i = 0; i < m->n; i++) {
        m->mass[i] = (double)(float)m->mass[i];
        for (int k = 0; k < 3; k++) {
            const float high = (float)m->x[i][k];
            m->x[i][k] = (double)high + (double)(float)(m->x[i][k] - (double)high);
            m->v[i][k] = (double)(float)m->v[i][k];
        }
    }
}

static inline struct gpunb_dev_source *records_of(const struct model *m, int weighted)
{
    struct gpunb_dev_source *source = get(m->n, sizeof *source);
    for (size_t i = 0; i < m->n; i++) source[i] = gpunb_dev_source_at(m->x[i], m->v[i], (float)m->mass[i], weighted);
    return source;
}

static inline void ask(struct bench *b, const struct model *m, size_t k, size_t i)
{
    b->asked[k] = (struct gpunb_dev_asked){
        .r_nb2 = m->r_nb2[i], .dt_reg = m->dt[i], .source = (int32_t)i, .row = (int32_t)i, .count = -1};
}

/* The forces of the reference on all sources. */
static inline struct result reference(const struct model *m, int weighted)
{
    struct result r = make_result(m->n, ROOM);
    gpunb_t *h = NULL;
    const struct gpunb_options options = {.backend = "ref", .mass_weighted = weighted};
    assert_int_equal(gpunb_create(&h, m->n, &options, NULL), NBC_OK);
    assert_int_equal(call_send(h, m), NBC_OK);
    assert_int_equal(call_regf(h, m, 0, &r), NBC_OK);
    gpunb_free(h);
    return r;
}

/* Strong neighbours just outside of a sphere make a jerk of large terms: errors are compared with the largest of it. */
static inline void compare(const struct bench *b, const struct result *r, size_t k)
{
    const struct gpunb_dev_asked *asked = &b->asked[k];
    const size_t i = (size_t)asked->source;
    double da[3], dj[3];
    for (int c = 0; c < 3; c++) {
        da[c] = asked->sum.acc[c] - r->acc[i][c];
        dj[c] = asked->sum.jerk[c] - r->jerk[i][c];
    }
    if (asked->count != r->nnb[i]) fail_msg("target %zu has %d neighbours, not %d", i, asked->count, r->nnb[i]);
    if ((size_t)asked->count <= b->job.row_room)
        assert_memory_equal(b->lists + i * b->job.row_room, r->list + i * r->cap, (size_t)asked->count * 4);
    if (!(norm(da) <= acc_bound * (1 + norm(r->acc[i])))) fail_msg("target %zu: acceleration off by %g", i, norm(da));
    if (!(norm(dj) <= jerk_bound * (1 + norm(r->jerk[i])))) fail_msg("target %zu: jerk off by %g", i, norm(dj));
}

static const char *const names[] = {"emulated:0", "emulated:0,1", "emulated:2,1,0", "cuda:0"};
enum { NAMES = sizeof names / sizeof *names };

/* A bench on device 0 needs it to be the first one; without a GPU that name is left out. */
static inline int is_here(const char *name)
{
    const char *why;
    return strcmp(name, "cuda:0") ? name[9] == '0' : nbd_count(nbd_cuda, &why) > 0;
}

#endif
