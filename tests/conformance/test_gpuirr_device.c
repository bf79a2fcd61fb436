/* Irregular forces of arrays in the memory of a GPU: those of the backend `cuda` to the last bit, by the default stream
 * and by one that the caller made; refusals. */
#include "gpuirr/cuda_irregular.h"
#include "tests/conformance/gpuirr_model.h"

#if defined(NBC_TEST_CUDA)
#include <cuda_runtime_api.h>

enum { N = 5000, LONGEST = 200, ACTIVE = 700 };

static const double TIME = 0.25;

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

/* Bodies and lists, in a library and as arrays. */
struct scene {
    struct body *body;
    struct gpuirr_device_body record[N];
    struct gpuirr_device_task task[ACTIVE];
    int32_t list[ACTIVE * LONGEST], act[ACTIVE];
    struct gpuirr_force force[ACTIVE];
    double acc[ACTIVE][3], jerk[ACTIVE][3];
    int32_t nearest[ACTIVE];
};

static void make_scene(struct scene *s, gpuirr_t *irr)
{
    int64_t start = 0;
    s->body = make_bodies(N);
    set_bodies(irr, N, s->body);
    for (int32_t i = 0; i < N; i++) memcpy(&s->record[i], &s->body[i], sizeof s->body[i]);
    for (int32_t k = 0; k < ACTIVE; k++) {
        const int32_t i = (k * 7 + 3) % N, nnb = k * 13 % LONGEST;
        s->act[k] = i;
        s->task[k] = (struct gpuirr_device_task){.body = i, .nnb = nnb, .start = start};
        make_list(N, i, nnb, s->list + start);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)i, (size_t)nnb, s->list + start));
        start += nnb;
    }
    expect_ok(irr, gpuirr_pred_act(irr, ACTIVE, s->act, TIME));
    expect_ok(irr, gpuirr_firr_vec(irr, ACTIVE, s->act, s->acc, s->jerk, s->nearest));
}

static void expect_same(const struct scene *s)
{
    for (int k = 0; k < ACTIVE; k++) {
        assert_memory_equal(s->force[k].acc, s->acc[k], sizeof s->acc[k]);
        assert_memory_equal(s->force[k].jerk, s->jerk[k], sizeof s->jerk[k]);
        assert_int_equal(s->force[k].nearest, s->nearest[k]);
        assert_int_equal(s->force[k].coincident, 0);
    }
}

static void test_forces(void **state)
{
    (void)state;
    static struct scene s;
    struct nbc_error err = {0};
    cudaStream_t stream;
    gpuirr_t *irr = open_library(N);
    make_scene(&s, irr);
    must(cudaStreamCreate(&stream));
    struct gpuirr_forces_device job = {.t = TIME,
                                       .body = on_device(s.record, sizeof s.record),
                                       .list = on_device(s.list, sizeof s.list),
                                       .n = ACTIVE,
                                       .task = on_device(s.task, sizeof s.task),
                                       .force = on_device(NULL, sizeof s.force)};
    for (int with = 0; with < 2; with++) {
        must(cudaMemset(job.force, 0xff, sizeof s.force));
        if (gpuirr_forces_device(&job, with ? stream : NULL, &err)) fail_msg("%s", err.text);
        must(cudaDeviceSynchronize());
        must(cudaMemcpy(s.force, job.force, sizeof s.force, cudaMemcpyDeviceToHost));
        expect_same(&s);
    }
    job.task = NULL;
    assert_int_equal(gpuirr_forces_device(&job, stream, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "task is NULL"));
    job.n = (size_t)1 << 31;
    assert_int_equal(gpuirr_forces_device(&job, stream, &err), NBC_BAD_ARGUMENT);
    job.n = 0;
    assert_int_equal(gpuirr_forces_device(&job, stream, &err), NBC_OK);
    gpuirr_free(irr);
    nbc_free(s.body);
    must(cudaDeviceReset());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forces)};
    int devices = 0;
    backend = "cuda";
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        print_message("skipped: irregular forces in device memory: there is no GPU\n");
        return 0;
    }
    return cmocka_run_group_tests_name("gpuirr, device memory", tests, NULL, NULL);
}

#else

static void test_unavailable(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    const struct gpuirr_forces_device job = {.t = 1.0};
    backend = "cuda";
    assert_int_equal(gpuirr_forces_device(&job, NULL, &err), NBC_UNAVAILABLE);
    assert_non_null(strstr(err.text, "without CUDA"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unavailable)};
    return cmocka_run_group_tests_name("gpuirr, device memory", tests, NULL, NULL);
}

#endif
