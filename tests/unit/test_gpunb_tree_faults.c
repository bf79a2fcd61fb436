/* Trees without memory, and on devices that fail: each allocation, and each call of a device, fails in turn. The
 * failure is reported, arrays of the caller are not written, and the handle and its trees give the same forces
 * afterwards as if nothing had happened. */
#include "tests/support/failing_alloc.h"

#include "device/device.h"
#include "device/faults.h"
#include "gpunb/softened_device.h"
#include "gpunb/tree/potential.h"
#include "tests/conformance/gpunb_tree_model.h"

enum { N = 400 };

static struct model stars, moved;

static int make_stars(void **state)
{
    (void)state;
    stars = make_scene(HEAP, N);
    moved = make_scene(SPHERE, N);
    return 0;
}

static int free_stars(void **state)
{
    (void)state;
    free_model(&stars);
    free_model(&moved);
    return 0;
}

/* ---- what a handle does, step by step */

enum { RESULTS = 6 };

struct run {
    gpunb_t *handle;
    gpunb_tree_t *tree;
    int32_t no_self[N];
    struct forces result[RESULTS];
    /* forces in memory of an emulated device */
    struct nbd_device device;
    struct nbd_stream *stream;
    void *work;
    size_t work_bytes;
};

/* Such devices read and write ordinary memory of the host as well. */
static int is_emulated(void)
{
    return !strcmp(backend, "emulated");
}

static int call_softened(struct run *run, const struct model *m, int k, const int32_t *self)
{
    struct gpunb_softened_job job = job_of(m, 0.02, &run->result[k]);
    job.self = self;
    return gpunb_softened(run->handle, &job);
}

static int call_force(struct run *run, const struct model *m, int k)
{
    const struct gpunb_softened_job job = job_of(m, 0.02, &run->result[k]);
    return gpunb_tree_force(run->handle, run->tree, &job);
}

static const struct gpunb_options by_groups = {
    .force_error = 1e-3, .leaf = LEAF, .group = GROUP, .walk = GPUNB_WALK_GROUPS};

static int create_step(struct run *run)
{
    return try_tree(&run->handle, N, by_groups, NULL);
}

static int send_step(struct run *run)
{
    return gpunb_send_positions(run->handle, N, stars.mass, positions(&stars));
}

static int softened_step(struct run *run)
{
    return call_softened(run, &stars, 0, stars.self);
}

static int build_step(struct run *run)
{
    return gpunb_tree_build(run->handle, &run->tree);
}

static int force_step(struct run *run)
{
    return call_force(run, &stars, 1);
}

/* Targets that are not known as sources have a tree of their own. */
static int others_step(struct run *run)
{
    return call_softened(run, &moved, 2, run->no_self);
}

static int send_moved_step(struct run *run)
{
    return gpunb_send_positions(run->handle, N, moved.mass, positions(&moved));
}

static int renew_step(struct run *run)
{
    return gpunb_tree_renew(run->handle, run->tree);
}

static int renewed_step(struct run *run)
{
    return call_force(run, &moved, 3);
}

static int last_step(struct run *run)
{
    return call_softened(run, &moved, 4, moved.self);
}

/* When it fails, what it has enqueued before is done first, and does not write the results. A wait that fails, as any
 * call may now, is no failure of the handle. */
static int device_step(struct run *run)
{
    const struct forces *f = &run->result[5];
    const struct gpunb_softened_device job = {.n_j = N,
                                              .mass = moved.mass,
                                              .x_j = positions(&moved),
                                              .n_i = N,
                                              .x_i = positions(&moved),
                                              .self = moved.self,
                                              .softening = 0.02,
                                              .acc = f->acc,
                                              .pot = f->pot,
                                              .work = run->work,
                                              .work_bytes = run->work_bytes};
    if (!is_emulated()) return NBC_OK;
    const int status = gpunb_softened_device(run->handle, &job, run->stream);
    while (nbd_stream_wait(&run->device, run->stream, NULL)) nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    return status;
}

static const struct step {
    int (*call)(struct run *);
    int result; /* -1: none */
    int needs_tree;
} steps[] = {
    {create_step, -1, 0}, {send_step, -1, 0},  {softened_step, 0, 0},    {build_step, -1, 0},
    {force_step, 1, 1},   {others_step, 2, 0}, {send_moved_step, -1, 0}, {renew_step, -1, 1},
    {renewed_step, 3, 1}, {last_step, 4, 0},   {device_step, 5, 0},
};
enum { STEPS = sizeof steps / sizeof steps[0] };

static void open_device(struct run *run)
{
    gpunb_t *other = make_tree_handle(N, by_groups);
    assert_int_equal(gpunb_softened_device_bytes(other, N, N, &run->work_bytes), NBC_OK);
    gpunb_free(other);
    assert_int_equal(nbd_open(&run->device, nbd_emulated, 0, "a test", NULL), NBC_OK);
    assert_int_equal(nbd_stream_open(&run->device, NBD_MIDDLE, &run->stream, NULL), NBC_OK);
    assert_int_equal(nbd_alloc(&run->device, NBD_ON_DEVICE, run->work_bytes, &run->work, NULL), NBC_OK);
}

static void open_run(struct run *run)
{
    memset(run, 0, sizeof *run);
    for (int k = 0; k < RESULTS; k++) run->result[k] = make_forces(N);
    for (int i = 0; i < N; i++) run->no_self[i] = -1;
    if (is_emulated()) open_device(run);
}

static void close_run(struct run *run)
{
    gpunb_tree_free(run->tree);
    gpunb_free(run->handle);
    if (is_emulated()) nbd_free(&run->device, NBD_ON_DEVICE, run->work);
    if (is_emulated()) nbd_stream_close(&run->device, run->stream);
    for (int k = 0; k < RESULTS; k++) free_forces(&run->result[k]);
}

/* All steps as they should be: a force in memory of a device is that of the call from the host. */
static void open_good(struct run *good)
{
    open_run(good);
    for (size_t s = 0; s < STEPS; s++) assert_int_equal(steps[s].call(good), NBC_OK);
    if (is_emulated()) assert_same_forces(&good->result[4], &good->result[5]);
}

static void assert_untouched(const struct forces *f)
{
    for (size_t i = 0; i < f->n_i; i++) assert_true(isnan(f->acc[i][0]) && isnan(f->pot[i]));
}

/* ---- failures */

static int is_on_devices(void)
{
    return is_emulated() || !strcmp(backend, "cuda");
}

/* A step that failed, and what it must have left alone. Devices that have no memory are lost to a handle. */
static void check_failure(struct run *run, size_t s, int status, const char *words)
{
    if (!(status == NBC_NO_MEMORY || (is_on_devices() && status == NBC_DEVICE)))
        fail_msg("step %zu: status %d", s, status);
    if (steps[s].call == create_step) assert_null(run->handle);
    if (steps[s].call == build_step) assert_null(run->tree);
    if (run->handle && !strstr(gpunb_last_error(run->handle), words))
        fail_msg("step %zu: %s", s, gpunb_last_error(run->handle));
    if (steps[s].result >= 0) assert_untouched(&run->result[steps[s].result]);
    if (steps[s].call == renew_step) assert_int_equal(renewed_step(run), NBC_BAD_STATE);
}

static void let_nothing_fail(void)
{
    fail_alloc(-1);
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
}

/* All steps, in which the k-th allocation (fault: NONE) or the k-th call of devices fails; the step is made again.
 * @return whether there is one */
static int run_with(const struct run *good, enum nbd_fault fault, long k)
{
    struct run run;
    int failed = 0;
    open_run(&run);
    if (fault)
        nbd_fault_set(fault, k, 1);
    else
        fail_alloc(k);
    for (size_t s = 0; s < STEPS; s++) {
        const int status = steps[s].call(&run);
        if (status == NBC_OK) continue;
        failed = 1;
        let_nothing_fail();
        check_failure(&run, s, status, fault ? "was asked for" : "memory");
        assert_int_equal(steps[s].call(&run), NBC_OK);
    }
    failed |= fault ? nbd_fault_failures() > 0 : alloc_left < 0; /* one that did without */
    let_nothing_fail();
    for (int r = 0; r < RESULTS; r++) assert_same_forces(&run.result[r], &good->result[r]);
    close_run(&run);
    return failed;
}

/* @param[in] least  calls that there are at least */
static void fail_in_turn(enum nbd_fault fault, long stride, long least)
{
    struct run good;
    long k = fault ? 1 : 0;
    open_good(&good);
    while (run_with(&good, fault, k)) k += stride;
    if (k <= least) fail_msg("%s: only %ld calls", backend, k);
    close_run(&good);
}

/* Three trees of nine arrays and more, and groups of two kinds; of GPUs the host has a dozen small ones alone. */
static void memory(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    fail_in_turn(NBD_FAULT_NONE, is_on_devices() ? test_seeds(5, 1) : 1, strcmp(backend, "cuda") ? 40 : 10);
}

/* Five builds of a dozen launches, and as many for two forces without a last one. */
static void calls_of_devices(void **state)
{
    (void)state;
    fail_in_turn(NBD_FAULT_FAIL, test_seeds(3, 1), 120);
}

/* A dozen buffers of the handle, the memory of the tree, counts, and what the host reads. */
static void memory_of_devices(void **state)
{
    (void)state;
    fail_in_turn(NBD_FAULT_NO_MEMORY, 1, 15);
}

/* A device that is lost for good once there are a handle and its sources: every later force says so, writes nothing,
 * and all can be freed. */
static void lost_for_good(void **state)
{
    (void)state;
    for (int64_t k = 1; k < 120; k += test_size(5, 17)) {
        struct run run;
        int failed = 0;
        open_run(&run);
        assert_int_equal(create_step(&run), NBC_OK);
        nbd_fault_set(NBD_FAULT_FAIL, k, NBD_FAULT_FOR_EVER);
        for (size_t s = 1; s < STEPS; s++) {
            if (steps[s].needs_tree && !run.tree) continue;
            const int status = steps[s].call(&run);
            if (status == NBC_OK) {
                assert_false(failed && steps[s].result >= 0);
                continue;
            }
            failed = 1;
            assert_true(status == NBC_DEVICE || status == NBC_BAD_STATE); /* BAD_STATE: of what needs sources */
            if (steps[s].result >= 0) assert_untouched(&run.result[steps[s].result]);
        }
        assert_true(failed);
        close_run(&run);
        let_nothing_fail();
    }
}

/* Potentials by a tree, on processors in any case: of some twenty arrays each fails. */
static void potentials_without_memory(void **state)
{
    (void)state;
    double pot[N] = {0}, untouched[N] = {0};
    long k = 0;
    if (!can_fail_alloc()) skip();
    gpunb_t *h = make_tree_handle(N, by_groups);
    for (int status = NBC_NO_MEMORY; status != NBC_OK; k++) {
        fail_alloc(k);
        status = gpunb_potential_by_tree(h, N, stars.mass, (const double(*)[3])stars.x, 1e-9, pot);
        if (alloc_left >= 0) assert_int_equal(status, NBC_OK);
        let_nothing_fail();
        if (status == NBC_OK) break;
        assert_int_equal(status, NBC_NO_MEMORY);
        assert_non_null(strstr(gpunb_last_error(h), "no memory for 400 bodies"));
        assert_memory_equal(pot, untouched, sizeof pot);
    }
    assert_true(k > 10);
    for (int i = 0; i < N; i++) assert_true(pot[i] < 0);
    gpunb_free(h);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest without_memory[] = {cmocka_unit_test(memory), cmocka_unit_test(potentials_without_memory)};
    const struct CMUnitTest of_devices[] = {
        cmocka_unit_test(memory),
        cmocka_unit_test(calls_of_devices),
        cmocka_unit_test(memory_of_devices),
        cmocka_unit_test(lost_for_good),
    };
    return is_emulated() ? cmocka_run_group_tests_name(title, of_devices, make_stars, free_stars)
                         : cmocka_run_group_tests_name(title, without_memory, make_stars, free_stars);
}

int main(int argc, char **argv)
{
    return run_trees_on_backends(argc, argv, "trees that fail", run_suite);
}
