/* Devices that fail: every call of them in turn, in all that a handle on devices does. The failure is reported, nothing
 * is lost, and the same call gives the same results afterwards as if nothing had happened. And what such a handle does
 * otherwise that blocks of a test do not reach: several pieces, several devices, longer lists, orders along the curve.
 */
#include "device/emulated/emulated.h"
#include "device/faults.h"
#include "gpunb/device/device.h"
#include "gpunb/device/emulated.h"
#include "gpunb/handle.h"
#include "gpunb/regf_device.h"
#include "tests/conformance/gpunb_model.h"
#include "tests/support/test_size.h"

/* Sources on two devices, with two tiles on each; targets of a piece, so that pieces outnumber slots. */
enum { N = 131, FEW = 5, PIECE = 32, ROOM = N + 40, FIRST_LISTS = 8, PADDED = (N + 31) / 32 * 32 };

static struct model stars;

static int make_stars(void **state)
{
    (void)state;
    stars = make_model(COINCIDENT, N);
    stars.r_nb2[0] = 1e4; /* everything is a neighbour */
    return 0;
}

static int free_stars(void **state)
{
    (void)state;
    free_model(&stars);
    return 0;
}

/* ---- what a handle does, step by step */

enum { RESULTS = 6 };

struct run {
    gpunb_t *handle;
    struct device_state *devices;
    struct result result[RESULTS];
    double pot[N], softened[N][3], softened_pot[N];
    /* regular forces in device memory */
    struct nbd_device device;
    struct nbd_stream *stream;
    struct gpunb_dev_source source[PADDED];
    struct gpunb_dev_asked asked[N];
    int32_t lists[N * N];
    void *scratch;
    size_t scratch_bytes;
};

/* Make room for regular forces in device memory, on the first device of such a handle. */
static void open_device(struct run *run, const char *name)
{
    const struct gpunb_options options = {.backend = name};
    gpunb_t *other = NULL;
    assert_int_equal(gpunb_create(&other, N, &options, NULL), NBC_OK);
    assert_int_equal(gpunb_regf_device_bytes(other, N, &run->scratch_bytes), NBC_OK);
    assert_int_equal(nbd_open(&run->device, nbd_emulated, gpunb_regf_device_first(other), "a test", NULL), NBC_OK);
    gpunb_free(other);
    assert_int_equal(nbd_stream_open(&run->device, NBD_MIDDLE, &run->stream, NULL), NBC_OK);
    assert_int_equal(nbd_alloc(&run->device, NBD_ON_DEVICE, run->scratch_bytes, &run->scratch, NULL), NBC_OK);
    for (size_t j = 0; j < N; j++)
        run->source[j] = gpunb_dev_source_at(stars.x[j], stars.v[j], (float)stars.mass[j], 0);
}

static void open_run(struct run *run, const char *name)
{
    struct nbc_error err = {0};
    const struct gpunb_options options = {.backend = name};
    *run = (struct run){0};
    if (gpunb_create(&run->handle, N, &options, &err) != NBC_OK) fail_msg("%s", err.text);
    run->devices = strcmp(name, "ref") ? run->handle->state : NULL;
    for (int k = 0; k < RESULTS; k++) run->result[k] = make_result(N, N);
    if (!run->devices) return;
    run->devices->piece = PIECE;
    run->devices->list_cap = FIRST_LISTS;
    open_device(run, name);
}

static void close_run(struct run *run)
{
    if (run->devices) nbd_free(&run->device, NBD_ON_DEVICE, run->scratch);
    if (run->devices) nbd_stream_close(&run->device, run->stream);
    gpunb_free(run->handle);
    for (int k = 0; k < RESULTS; k++) free_result(&run->result[k]);
}

static void set_order(struct run *run, enum device_order order)
{
    if (run->devices) run->devices->order = order;
}

static int send_step(struct run *run)
{
    set_order(run, DEVICE_ORDER_INDEX);
    return call_send(run->handle, &stars);
}

static int plain_step(struct run *run)
{
    return call_regf(run->handle, &stars, 0, &run->result[0]);
}

static int few_step(struct run *run)
{
    struct result few = run->result[1];
    few.n_i = FEW;
    return call_regf(run->handle, &stars, 7, &few);
}

static int curved_step(struct run *run)
{
    set_order(run, DEVICE_ORDER_CURVE);
    return call_regf(run->handle, &stars, 0, &run->result[2]);
}

/* Predictors of all sources but some. A failure while one is set is reported by the call after it. */
static void store(struct run *run, double shift, size_t stride)
{
    static const double slow[3] = {0.5, -0.25, 0.125};
    for (size_t j = 0; j < N; j += stride) {
        const double x[3] = {stars.x[j][0] + shift, stars.x[j][1], stars.x[j][2]};
        (void)gpunb_set_jp(run->handle, j, x, stars.v[j], slow, slow, stars.mass[j], 0);
    }
}

static int open_predictors_step(struct run *run)
{
    static const double zero[3];
    return gpunb_set_jp(run->handle, 0, stars.x[0], stars.v[0], zero, zero, stars.mass[0], 0);
}

static int predict_step(struct run *run)
{
    set_order(run, DEVICE_ORDER_INDEX);
    store(run, 0.0, 1);
    return gpunb_predict(run->handle, N, 0.125);
}

static int predicted_step(struct run *run)
{
    return call_regf(run->handle, &stars, 0, &run->result[3]);
}

static int push_step(struct run *run)
{
    store(run, 0.25, 3);
    return gpunb_push_jp(run->handle);
}

static int gaps_step(struct run *run)
{
    store(run, 0.5, 5);
    for (size_t j = 2; j < N; j += 10) assert_int_equal(gpunb_clear_jp(run->handle, j), NBC_OK);
    return gpunb_predict(run->handle, N, 0.25);
}

/* Sources that are made when the first block asks for them, along the curve. */
static int gaps_regf_step(struct run *run)
{
    set_order(run, DEVICE_ORDER_CURVE);
    return call_regf(run->handle, &stars, 0, &run->result[4]);
}

static int softened_step(struct run *run)
{
    const struct gpunb_softened_job job = {.n_i = N,
                                           .x = (const double(*)[3])stars.x,
                                           .self = stars.self,
                                           .softening = 0.01,
                                           .acc = run->softened,
                                           .pot = run->softened_pot};
    return gpunb_softened(run->handle, &job);
}

static int potential_step(struct run *run)
{
    return gpunb_potential(run->handle, N / 3, N - N / 3, N, stars.mass, (const double(*)[3])stars.x, run->pot);
}

static int reserve_step(struct run *run)
{
    return gpunb_reserve(run->handle, ROOM);
}

/* A block that is given up when there are new sources. */
static int give_up_step(struct run *run)
{
    const struct result *lost = &run->result[5];
    return gpunb_regf_start(run->handle, N, stars.self, stars.r_nb2, stars.dt, (const double(*)[3])stars.x,
                            (const double(*)[3])stars.v, lost->acc, lost->jerk, lost->pot, lost->cap, lost->nnb,
                            lost->list);
}

static int predict_again_step(struct run *run)
{
    return gpunb_predict(run->handle, N, 0.5);
}

static int last_step(struct run *run)
{
    return call_regf(run->handle, &stars, 0, &run->result[5]);
}

static int ready_step(struct run *run)
{
    size_t bytes;
    return run->devices ? gpunb_regf_device_bytes(run->handle, N, &bytes) : NBC_OK;
}

/* Enqueued once more after a failure, when all that was enqueued before is done. */
static int device_step(struct run *run)
{
    const struct gpunb_regf_device job = {.n_j = N,
                                          .source = run->source,
                                          .n_i = N,
                                          .asked = run->asked,
                                          .lists = run->lists,
                                          .row_room = N,
                                          .scratch = run->scratch,
                                          .scratch_bytes = run->scratch_bytes};
    if (!run->devices) return NBC_OK;
    for (int32_t i = 0; i < N; i++)
        run->asked[i] = (struct gpunb_dev_asked){
            .r_nb2 = stars.r_nb2[i], .dt_reg = stars.dt[i], .source = i, .row = i, .count = -1};
    const int status = gpunb_regf_device(run->handle, &job, run->stream);
    if (status) return status;
    /* A wait that fails, as any call may now, is no failure of the handle. */
    while (nbd_stream_wait(&run->device, run->stream, NULL) != NBC_OK) nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    return NBC_OK;
}

static int (*const steps[])(struct run *) = {
    send_step,      plain_step,  few_step,     curved_step,    open_predictors_step, predict_step,
    predicted_step, push_step,   gaps_step,    gaps_regf_step, softened_step,        potential_step,
    ready_step,     device_step, reserve_step, give_up_step,   predict_again_step,   last_step,
};
enum { STEPS = sizeof steps / sizeof steps[0] };

static void assert_same_results(const struct run *a, const struct run *b)
{
    for (int k = 0; k < RESULTS; k++)
        for (size_t i = 0; i < (k == 1 ? FEW : N); i++) assert_same_row(&a->result[k], i, &b->result[k], i);
    if (a->devices && b->devices) assert_memory_equal(a->asked, b->asked, sizeof a->asked);
    assert_memory_equal(a->pot, b->pot, (N - N / 3) * sizeof *a->pot);
    assert_memory_equal(a->softened, b->softened, sizeof a->softened);
    assert_memory_equal(a->softened_pot, b->softened_pot, sizeof a->softened_pot);
}

/* ---- tests */

static void assert_reported(const struct run *run, int status)
{
    if (status != NBC_DEVICE || !strstr(gpunb_last_error(run->handle), "gpunb: emulated device") ||
        !strstr(gpunb_last_error(run->handle), "was asked for"))
        fail_msg("status %d: %s", status, gpunb_last_error(run->handle));
}

/* All steps, while calls of devices fail from the k-th on; a step that fails is made again.
 * @return whether any call has failed */
static int run_with(const char *name, const struct run *good, enum nbd_fault fault, int64_t k, int64_t times)
{
    struct run run;
    int has_failed = 0;
    open_run(&run, name);
    nbd_fault_set(fault, k, times);
    for (int s = 0; s < STEPS; s++) {
        const int status = steps[s](&run);
        if (status == NBC_OK) continue;
        assert_reported(&run, status);
        assert_true(nbd_fault_failures() > 0);
        has_failed = 1;
        nbd_fault_set(NBD_FAULT_NONE, 0, 0);
        if (steps[s](&run) != NBC_OK) fail_msg("step %d, call %d: %s", s, (int)k, gpunb_last_error(run.handle));
    }
    has_failed |= nbd_fault_failures() > 0;
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    assert_same_results(&run, good);
    close_run(&run);
    return has_failed;
}

static void fail_in_turn(const char *name, enum nbd_fault fault, int64_t times, int64_t stride, int64_t least)
{
    struct run good;
    int64_t k = 1;
    open_run(&good, name);
    for (int s = 0; s < STEPS; s++) assert_int_equal(steps[s](&good), NBC_OK);
    while (run_with(name, &good, fault, k, times)) k += stride;
    assert_true(k > least);
    close_run(&good);
}

static void calls_of_one_device(void **state)
{
    (void)state;
    fail_in_turn("emulated", NBD_FAULT_FAIL, 1, test_size(1, 5), 200);
}

static void calls_of_two_devices(void **state)
{
    (void)state;
    fail_in_turn("emulated:2,1", NBD_FAULT_FAIL, 1, test_size(1, 11), 400);
    fail_in_turn("emulated:2,1", NBD_FAULT_FAIL, 3, test_size(5, 23), 400);
}

static void memory(void **state)
{
    (void)state;
    fail_in_turn("emulated:2,1", NBD_FAULT_NO_MEMORY, 1, test_size(1, 3), 60);
}

/* A device that is lost: every step says so, and the handle can be freed. */
static void lost_for_good(void **state)
{
    (void)state;
    for (int64_t k = 1; k < 400; k += test_size(13, 41)) {
        struct run run;
        int failed = 0;
        open_run(&run, "emulated:0,3");
        nbd_fault_set(NBD_FAULT_FAIL, k, NBD_FAULT_FOR_EVER);
        for (int s = 0; s < STEPS; s++) {
            const int status = steps[s](&run);
            if (status == NBC_OK)
                assert_false(failed && (steps[s] == plain_step || steps[s] == softened_step));
            else if (status != NBC_BAD_STATE) /* of what needs sources, when there are none */
                assert_reported(&run, status);
            failed |= status != NBC_OK;
        }
        assert_true(failed);
        close_run(&run);
        nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    }
}

static void creation(void **state)
{
    (void)state;
    const struct gpunb_options options = {.backend = "emulated:1,0"};
    for (int64_t k = 1;; k++) {
        struct nbc_error err = {0};
        gpunb_t *handle = NULL;
        nbd_fault_set(NBD_FAULT_FAIL, k, 1);
        const int status = gpunb_create(&handle, N, &options, &err), failed = nbd_fault_failures() > 0;
        nbd_fault_set(NBD_FAULT_NONE, 0, 0);
        assert_true(failed == !handle);
        if (failed) {
            assert_int_equal(status, NBC_DEVICE);
            assert_non_null(strstr(err.text, "was asked for"));
            continue;
        }
        gpunb_free(handle);
        assert_true(k > 60); /* two devices of eight streams and eight events, memory, a test */
        return;
    }
}

/* A list of devices that there are not. */
static void wrong_lists(void **state)
{
    (void)state;
    static const char *const lists[] = {"emulated:4", "emulated:0,0", "emulated:x", "emulated:-1"};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
        const struct gpunb_options options = {.backend = lists[k]};
        struct nbc_error err = {0};
        gpunb_t *handle = NULL;
        assert_int_equal(gpunb_create(&handle, N, &options, &err), NBC_UNAVAILABLE);
        assert_non_null(strstr(err.text, "different numbers from 0 to 3, like 'emulated:0,1'"));
        assert_null(handle);
    }
}

/* A device that sums wrong forces is refused. */
static void make_wrong(const void *job)
{
    const struct device_finish *finish = job;
    finish->results[finish->force.n - 1].sum[5] *= 1.01;
}

static int wrong_finish(const struct device_finish *finish, struct nbd_stream *stream)
{
    const int code = gpunb_emulated_finish(finish, stream);
    return code ? code : nbd_emulated_launch(stream, make_wrong, finish, sizeof *finish);
}

static void wrong_device(void **state)
{
    (void)state;
    struct gpunb_kernels wrong = gpunb_emulated_kernels;
    const struct gpunb_setup setup = {.precision = GPUNB_TWOFLOAT, .n_j_max = N, .devices = ""};
    struct nbc_error err = {0};
    void *devices = NULL;
    const int number = 2;
    wrong.finish = wrong_finish;
    assert_int_equal(gpunb_device_create(&devices, &wrong, &setup, 1, &number, &err), NBC_DEVICE);
    assert_null(devices);
    assert_non_null(strstr(err.text, "self-test on emulated device 2: the jerk"));
}

/* Errors of two-float positions and float velocities and masses: a few roundings of a float, of sums that cancel. */
static void assert_close(const struct result *a, const struct result *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double da[3], dj[3];
        for (int k = 0; k < 3; k++) {
            da[k] = a->acc[i][k] - b->acc[i][k];
            dj[k] = a->jerk[i][k] - b->jerk[i][k];
        }
        assert_true(norm(da) <= 1e-5 * norm(b->acc[i]) && norm(dj) <= 1e-3 * norm(b->jerk[i]));
        assert_true(fabs(a->pot[i] - b->pot[i]) <= 1e-6 * fabs(b->pot[i]));
        assert_int_equal(a->nnb[i], b->nnb[i]);
        assert_memory_equal(a->list + i * a->cap, b->list + i * b->cap, (size_t)a->nnb[i] * sizeof *a->list);
    }
}

/* The same forces from any number of devices, and from the reference. */
static void several_devices(void **state)
{
    (void)state;
    struct run exact, run;
    open_run(&exact, "ref");
    for (int s = 0; s < STEPS; s++) assert_int_equal(steps[s](&exact), NBC_OK);
    static const char *const names[] = {"emulated", "emulated:3,0", "emulated:0 1,2,3"};
    for (int d = 0; d < 3; d++) {
        open_run(&run, names[d]);
        for (int s = 0; s < STEPS; s++) assert_int_equal(steps[s](&run), NBC_OK);
        for (int k = 0; k < RESULTS; k++) assert_close(&run.result[k], &exact.result[k], k == 1 ? FEW : N);
        for (size_t i = 0; i < N - N / 3; i++) assert_true(fabs(run.pot[i] / exact.pot[i] - 1) < 1e-10);
        for (size_t i = 0; i < N; i++) assert_true(fabs(run.softened_pot[i] / exact.softened_pot[i] - 1) < 1e-6);
        close_run(&run);
    }
    close_run(&exact);
}

/* More targets than are sorted by counting, and than there are sources, along the curve: the same as in order. */
static void many_targets(void **state)
{
    (void)state;
    enum { TARGETS = DEVICE_RANK_MAX + 100 };
    struct run run;
    struct model targets = make_model(PLUMMER, TARGETS);
    struct result plain = make_result(TARGETS, N), curved = make_result(TARGETS, N);
    open_run(&run, "emulated:0,1");
    run.devices->piece = DEVICE_PIECE;
    for (size_t i = 0; i < TARGETS; i++) targets.self[i] = -1;
    assert_int_equal(call_send(run.handle, &stars), NBC_OK);
    set_order(&run, DEVICE_ORDER_CURVE); /* first: memory for the order of sources grows for that of targets */
    assert_int_equal(call_regf(run.handle, &targets, 0, &curved), NBC_OK);
    set_order(&run, DEVICE_ORDER_INDEX);
    assert_int_equal(call_regf(run.handle, &targets, 0, &plain), NBC_OK);
    assert_close(&curved, &plain, TARGETS);
    free_result(&plain);
    free_result(&curved);
    free_model(&targets);
    close_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_one_device),
        cmocka_unit_test(calls_of_two_devices),
        cmocka_unit_test(memory),
        cmocka_unit_test(lost_for_good),
        cmocka_unit_test(creation),
        cmocka_unit_test(wrong_lists),
        cmocka_unit_test(wrong_device),
        cmocka_unit_test(several_devices),
        cmocka_unit_test(many_targets),
    };
    return cmocka_run_group_tests(tests, make_stars, free_stars);
}
