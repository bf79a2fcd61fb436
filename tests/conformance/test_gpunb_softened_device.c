/* Softened forces of arrays in the memory of a device, emulated, and a GPU where there is one: those of the reference,
 * of sources that are targets and of others, by the default stream and by one that the caller made; in both precisions;
 * refusals. */
#include "gpunb/softened_device.h"

#include "device/emulated/emulated.h"
#include "tests/conformance/gpunb_model.h"
#include "tests/support/device_memory.h"

/* A GPU has whole tiles and groups of targets; an emulated device sums pair by pair. */
enum { MOST = 70000, FEW = 3000, SOME = 333 };

struct bench {
    gpunb_t *handle;
    struct nbd_device device;
    struct nbd_stream *stream;
    struct gpunb_softened_device job;
    double *pot;
    size_t bytes;
};

static struct bench open_bench(const char *name, enum gpunb_precision of, const struct model *m)
{
    struct bench b = {0};
    struct nbc_error err = {0};
    const struct gpunb_options options = {.backend = name, .precision = of};
    must(gpunb_create(&b.handle, 1, &options, &err), &err);
    must(nbd_open(&b.device, strcmp(name, "cuda") ? nbd_emulated : nbd_cuda, 0, "a test", &err), &err);
    must(nbd_stream_open(&b.device, NBD_MIDDLE, &b.stream, &err), &err);
    assert_int_equal(gpunb_softened_device_bytes(b.handle, m->n, m->n, &b.bytes), NBC_OK);
    b.job = (struct gpunb_softened_device){.n_j = m->n,
                                           .mass = on_device(&b.device, b.stream, m->mass, m->n * 8),
                                           .x_j = on_device(&b.device, b.stream, m->x, m->n * 24),
                                           .self = on_device(&b.device, b.stream, m->self, m->n * 4),
                                           .softening = 0.01,
                                           .acc = on_device(&b.device, b.stream, NULL, m->n * 24),
                                           .work = on_device(&b.device, b.stream, NULL, b.bytes + 1),
                                           .work_bytes = b.bytes};
    b.pot = on_device(&b.device, b.stream, NULL, m->n * 8);
    b.job.x_i = b.job.x_j;
    return b;
}

static void close_bench(struct bench *b)
{
    void *memory[] = {(void *)b->job.mass, (void *)b->job.x_j, (void *)b->job.self, b->job.acc, b->job.work, b->pot};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++) nbd_free(&b->device, NBD_ON_DEVICE, memory[k]);
    nbd_stream_close(&b->device, b->stream);
    gpunb_free(b->handle);
}

/* The first n_i sources as targets, compared with `ref` at some of them. The bound is that of test_gpunb_softened: the
 * terms of a force here sum up to 1 or more, in whatever directions. Positions of this cluster about the origin,
 * rounded to float, are wrong by 6e-8 and less, of a softening of 0.01. */
static void check(struct bench *b, const struct model *m)
{
    const size_t n_i = b->job.n_i, step = n_i / 50 + 1, n = (n_i + step - 1) / step;
    double(*x)[3] = get(n, 24), (*a)[3] = get(n, 24), *p = get(n, 8), (*found)[3] = get(n_i, 24),
    *found_p = get(n_i, 8);
    int32_t *self = get(n, 4);
    gpunb_t *h = NULL;
    struct nbc_error err = {0};
    for (size_t k = 0; k < n; k++) {
        memcpy(x[k], m->x[k * step], sizeof x[k]);
        self[k] = (int32_t)(k * step);
    }
    const struct gpunb_softened_job job = {
        .n_i = n, .x = (const double(*)[3])x, .self = self, .softening = 0.01, .acc = a, .pot = p};
    assert_int_equal(gpunb_create(&h, m->n, &(struct gpunb_options){.backend = "ref"}, NULL), NBC_OK);
    assert_int_equal(gpunb_send_positions(h, m->n, m->mass, (const double(*)[3])m->x), NBC_OK);
    assert_int_equal(gpunb_softened(h, &job), NBC_OK);
    must(nbd_copy(&b->device, b->stream, found, b->job.acc, n_i * 24, &err), &err);
    if (b->job.pot) must(nbd_copy(&b->device, b->stream, found_p, b->job.pot, n_i * 8, &err), &err);
    must(nbd_stream_wait(&b->device, b->stream, &err), &err);
    for (size_t k = 0; k < n; k++) {
        double d2 = 0.0;
        for (int c = 0; c < 3; c++) d2 += pow(found[k * step][c] - a[k][c], 2.0);
        assert_true(sqrt(d2) <= (precision == GPUNB_FLOAT ? 3e-5 : 3e-6));
        if (b->job.pot) assert_true(fabs(found_p[k * step] - p[k]) <= 1e-6 * fabs(p[k]));
    }
    gpunb_free(h);
    free(x);
    free(a);
    free(p);
    free(found);
    free(found_p);
    free(self);
}

static void make_forces(struct bench *b, const struct model *m)
{
    const size_t counts[] = {1, SOME, FEW, m->n};
    struct nbc_error err = {0};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (int with = 0; with < 2; with++) {
            b->job.n_i = counts[c];
            b->job.pot = with ? b->pot : NULL;
            must(nbd_fill(&b->device, b->stream, b->job.acc, 0xff, m->n * 24, &err), &err);
            must(nbd_stream_wait(&b->device, b->stream, &err), &err);
            if (gpunb_softened_device(b->handle, &b->job, b->stream)) fail_msg("%s", gpunb_last_error(b->handle));
            check(b, m);
        }
}

static void refuse(struct bench *b)
{
    size_t bytes;
    b->job.work_bytes = b->bytes > 0 ? b->bytes - 1 : 0;
    if (b->bytes > 0) {
        assert_int_equal(gpunb_softened_device(b->handle, &b->job, b->stream), NBC_BAD_ARGUMENT);
        assert_non_null(strstr(gpunb_last_error(b->handle), "scratch"));
    }
    b->job.work_bytes = b->bytes;
    b->job.softening = 0.0;
    assert_int_equal(gpunb_softened_device(b->handle, &b->job, b->stream), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(gpunb_last_error(b->handle), "softening"));
    b->job.softening = 0.01;
    double(*acc)[3] = b->job.acc;
    b->job.acc = NULL;
    assert_int_equal(gpunb_softened_device(b->handle, &b->job, b->stream), NBC_BAD_ARGUMENT);
    b->job.acc = acc;
    assert_int_equal(gpunb_softened_device_bytes(b->handle, (size_t)1 << 31, 1, &bytes), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_softened_device_bytes(b->handle, 1, 1, NULL), NBC_BAD_ARGUMENT);
}

static void test_device(const char *name, size_t n)
{
    struct model m = make_model(PLUMMER, n);
    for (int of = GPUNB_FLOAT; of <= GPUNB_TWOFLOAT; of++) {
        struct bench b = open_bench(name, (enum gpunb_precision)of, &m);
        precision = (enum gpunb_precision)of;
        make_forces(&b, &m);
        refuse(&b);
        close_bench(&b);
    }
    free_model(&m);
}

static void test_emulated(void **state)
{
    (void)state;
    test_device("emulated", FEW + SOME);
}

static void test_gpu(void **state)
{
    (void)state;
    const char *why;
    if (nbd_count(nbd_cuda, &why) == 0) {
        print_message("skipped: softened forces in device memory: there is no GPU\n");
        return;
    }
    test_device("cuda", MOST);
}

/* Backends on processors have no devices. */
static void test_unavailable(void **state)
{
    (void)state;
    size_t bytes = 0;
    gpunb_t *h = NULL;
    const struct gpunb_softened_device job = {.softening = 1.0};
    assert_int_equal(gpunb_create(&h, 1, &(struct gpunb_options){.backend = "ref"}, NULL), NBC_OK);
    assert_int_equal(gpunb_softened_device_bytes(h, 1, 1, &bytes), NBC_UNAVAILABLE);
    assert_int_equal(gpunb_softened_device(h, &job, NULL), NBC_UNAVAILABLE);
    assert_non_null(strstr(gpunb_last_error(h), "use cuda"));
    gpunb_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_emulated),
        cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_unavailable),
    };
    return cmocka_run_group_tests_name("gpunb softened, device memory", tests, NULL, NULL);
}
