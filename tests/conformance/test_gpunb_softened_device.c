/* Softened forces of arrays in the memory of a GPU: those of the reference, of sources that are targets and of others,
 * by the default stream and by one that the caller made; refusals. */
#include "gpunb/cuda_softened.h"
#include "tests/conformance/gpunb_model.h"

#if defined(NBC_TEST_CUDA)
#include <cuda_runtime_api.h>

enum { N = 70000, SOME = 333 };

static void must(cudaError_t code)
{
    if (code != cudaSuccess) fail_msg("%s", cudaGetErrorString(code));
}

static void *on_device(const void *from, size_t bytes)
{
    void *to;
    must(cudaMalloc(&to, bytes));
    if (from) must(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

/* The first n_i sources as targets, compared with `ref` at some of them. The bound is that of test_gpunb_softened: the
 * terms of a force here sum up to 1 or more, in whatever directions. */
static void check(const struct model *m, size_t n_i, const double (*acc)[3], const double *pot)
{
    const size_t step = n_i / 50 + 1, n = (n_i + step - 1) / step;
    double(*x)[3] = get(n, 24), (*a)[3] = get(n, 24), *p = get(n, 8), (*found)[3] = get(n_i, 24),
    *found_p = get(n_i, 8);
    int32_t *self = get(n, 4);
    gpunb_t *h = NULL;
    for (size_t k = 0; k < n; k++) {
        memcpy(x[k], m->x[k * step], sizeof x[k]);
        self[k] = (int32_t)(k * step);
    }
    const struct gpunb_softened_job job = {
        .n_i = n, .x = (const double(*)[3])x, .self = self, .softening = 0.01, .acc = a, .pot = p};
    assert_int_equal(gpunb_create(&h, m->n, &(struct gpunb_options){.backend = "ref"}, NULL), NBC_OK);
    assert_int_equal(gpunb_send_positions(h, m->n, m->mass, (const double(*)[3])m->x), NBC_OK);
    assert_int_equal(gpunb_softened(h, &job), NBC_OK);
    must(cudaMemcpy(found, acc, n_i * 24, cudaMemcpyDeviceToHost));
    if (pot) must(cudaMemcpy(found_p, pot, n_i * 8, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < n; k++) {
        double d2 = 0.0;
        for (int c = 0; c < 3; c++) d2 += pow(found[k * step][c] - a[k][c], 2.0);
        assert_true(sqrt(d2) <= 3e-6);
        if (pot) assert_true(fabs(found_p[k * step] - p[k]) <= 1e-6 * fabs(p[k]));
    }
    gpunb_free(h);
    free(x);
    free(a);
    free(p);
    free(found);
    free(found_p);
    free(self);
}

static void test_forces(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct model m = make_model(PLUMMER, N);
    cudaStream_t stream;
    size_t bytes;
    must(cudaStreamCreate(&stream));
    assert_int_equal(gpunb_softened_device_bytes(N, N, &bytes, &err), NBC_OK);
    struct gpunb_softened_device job = {.n_j = N,
                                        .mass = on_device(m.mass, N * 8),
                                        .x_j = on_device(m.x, N * 24),
                                        .self = on_device(m.self, N * 4),
                                        .softening = 0.01,
                                        .acc = on_device(NULL, N * 24),
                                        .work = on_device(NULL, bytes),
                                        .work_bytes = bytes};
    double *pot = on_device(NULL, N * 8);
    job.x_i = job.x_j;
    static const size_t counts[] = {1, SOME, 3000, N};
    for (size_t c = 0; c < 4; c++)
        for (int with = 0; with < 2; with++) {
            job.n_i = counts[c];
            job.pot = with ? pot : NULL;
            must(cudaMemset(job.acc, 0xff, N * 24));
            if (gpunb_softened_device(&job, with ? stream : NULL, &err) != NBC_OK) fail_msg("%s", err.text);
            must(cudaDeviceSynchronize());
            check(&m, job.n_i, (const double(*)[3])job.acc, job.pot);
        }
    job.work_bytes = 1;
    assert_int_equal(gpunb_softened_device(&job, stream, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "scratch"));
    job.work_bytes = bytes;
    job.softening = 0.0;
    assert_int_equal(gpunb_softened_device(&job, stream, &err), NBC_BAD_ARGUMENT);
    job.softening = 0.01;
    job.acc = NULL;
    assert_int_equal(gpunb_softened_device(&job, stream, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_softened_device_bytes((size_t)1 << 31, 1, &bytes, &err), NBC_BAD_ARGUMENT);
    must(cudaDeviceReset());
    free_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forces)};
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        print_message("skipped: softened forces in device memory: there is no GPU\n");
        return 0;
    }
    return cmocka_run_group_tests_name("gpunb softened, device memory", tests, NULL, NULL);
}

#else

static void test_unavailable(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    size_t bytes = 0;
    const struct gpunb_softened_device job = {.softening = 1.0};
    assert_int_equal(gpunb_softened_device_bytes(1, 1, &bytes, &err), NBC_UNAVAILABLE);
    assert_int_equal(gpunb_softened_device(&job, NULL, &err), NBC_UNAVAILABLE);
    assert_non_null(strstr(err.text, "without CUDA"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unavailable)};
    return cmocka_run_group_tests_name("gpunb softened, device memory", tests, NULL, NULL);
}

#endif
