/* A device that fails: every call of it in turn, in the store that the backends `cuda` and `emulated` share. The
 * failure is reported, nothing is lost beyond the device's memory, and the next call makes the same forces as if
 * nothing had happened. */
#include "gpuirr/device/store.h"
#include "gpuirr/lists.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 400, LIST = 30, BLOCK = 25 };

/* ---- the processor as a device; its calls fail from one on, for a while */

static int calls_left, failures_left;

static int failing(struct nbc_error *err)
{
    if (calls_left-- > 0 || failures_left == 0) return NBC_OK;
    failures_left--;
    return nbc_fail(err, NBC_DEVICE, "it fails");
}

#define REAL gpuirr_device_processor

static int open_device(void **context, struct nbc_error *err)
{
    const int status = failing(err);
    return status ? status : REAL.open(context, err);
}

static int reserve(void *context, int on_host, size_t bytes, void **memory, struct nbc_error *err)
{
    const int status = failing(err);
    return status ? status : REAL.reserve(context, on_host, bytes, memory, err);
}

static int unset(void *context, void *memory, size_t bytes, struct nbc_error *err)
{
    const int status = failing(err);
    return status ? status : REAL.unset(context, memory, bytes, err);
}

static int copy(void *context, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    const int status = failing(err);
    return status ? status : REAL.copy(context, to, from, bytes, err);
}

static int store(void *context, const struct gpuirr_device_store_job *job, struct nbc_error *err)
{
    const int status = failing(err);
    return status ? status : REAL.store(context, job, err);
}

/* A kernel that fails may have written anything, and lists may not have arrived. */
static int forces(void *context, const struct gpuirr_device_force_job *job, struct nbc_error *err)
{
    const int status = failing(err);
    if (!status) return REAL.forces(context, job, err);
    memset(job->force, 0xff, job->n * sizeof *job->force);
    return status;
}

static int wait_for(void *context, struct nbc_error *err)
{
    const int status = failing(err);
    return status ? status : REAL.wait(context, err);
}

static struct gpuirr_device faulty;

static void make_faulty(void)
{
    faulty = REAL;
    faulty.open = open_device;
    faulty.reserve = reserve;
    faulty.unset = unset;
    faulty.copy = copy;
    faulty.store = store;
    faulty.forces = forces;
    faulty.wait = wait_for;
    failures_left = 0;
}

static void let_fail(int after, int times)
{
    calls_left = after;
    failures_left = times;
}

/* ---- bodies and lists */

static struct gpuirr_list list[3 * N];
static int32_t nb[3 * N][LIST + GPUIRR_LIST_GRAIN];

static void set_bodies(void *irr, size_t first, size_t end, int version)
{
    for (size_t i = first; i < end; i++) {
        const double a = (double)i, b = version;
        const struct gpuirr_state state = {.x = {a * 0.37 - (double)(i / 7), a * 0.11, 0.1 * b},
                                           .v = {0.01 * a, -0.2, 0.3},
                                           .acc = {0.1, 0.2 * b, -0.1},
                                           .jerk = {0.3, -0.1, 0.01 * b},
                                           .mass = 1.0 / N,
                                           .t0 = 0};
        gpuirr_device_set_jp(irr, i, &state);
    }
}

static void set_lists(void *irr, size_t first, size_t end, size_t version)
{
    for (size_t i = first; i < end; i++) {
        list[i].nb = nb[i];
        list[i].nnb = 0;
        for (size_t j = version % 5; j < N && list[i].nnb < (i + version) % LIST; j += 3 + (i + version) % 9)
            if (j != i) nb[i][list[i].nnb++] = (int32_t)j;
        gpuirr_device_list_changed(irr, i);
    }
}

static int sum(void *irr, size_t first, double t, struct gpuirr_force result[BLOCK], struct nbc_error *err)
{
    int32_t act[BLOCK];
    const struct gpuirr_force *force;
    const double *noise;
    const struct gpuirr_block block = {.t = t, .n = BLOCK, .act = act, .list = list};
    for (size_t k = 0; k < BLOCK; k++) act[k] = (int32_t)((first + 3 * k) % N);
    const int status = gpuirr_device_block(irr, &block, &force, &noise, err);
    if (!status) memcpy(result, force, BLOCK * sizeof *force);
    return status;
}

static void *open_store(const struct gpuirr_device *device)
{
    struct nbc_error err = {0};
    void *irr = gpuirr_device_open(device, N, &err);
    assert_non_null(irr);
    set_bodies(irr, 0, N, 0);
    set_lists(irr, 0, N, 0);
    return irr;
}

/* ---- tests */

/* A block with bodies and lists that are new, again and again, while a call fails: once or twice, which may be the
 * wait after it as well. */
static void blocks(void **state)
{
    (void)state;
    struct gpuirr_force good[BLOCK], now[BLOCK];
    make_faulty();
    for (int times = 1; times <= 2; times++) {
        int failed = 1;
        for (int after = 0; failed; after++) {
            void *irr = open_store(&faulty), *other = open_store(&REAL);
            failed = 0;
            for (size_t round = 0; round < 3; round++) {
                struct nbc_error err = {0};
                let_fail(after, times);
                set_bodies(irr, round, N / 2, (int)round);
                set_lists(irr, round, N / 3, round);
                gpuirr_device_announce(irr);
                const int status = sum(irr, round, 0.5, now, &err);
                failed |= failures_left < times;
                let_fail(0, 0);
                assert_true(status == NBC_OK || (status == NBC_DEVICE && !strcmp(err.text, "it fails")));
                assert_int_equal(sum(irr, round, 0.5, now, &err), NBC_OK);
                set_bodies(other, round, N / 2, (int)round);
                set_lists(other, round, N / 3, round);
                assert_int_equal(sum(other, round, 0.5, good, &err), NBC_OK);
                assert_memory_equal(good, now, sizeof good);
                set_lists(other, 0, N, 0); /* all lists are the other store's, too */
                set_lists(irr, 0, N, 0);
            }
            gpuirr_device_close(irr);
            gpuirr_device_close(other);
        }
    }
}

static void creation(void **state)
{
    (void)state;
    make_faulty();
    for (int after = 0;; after++) {
        struct nbc_error err = {0};
        let_fail(after, 1);
        void *irr = gpuirr_device_open(&faulty, N, &err);
        const int failed = failures_left == 0;
        let_fail(0, 0);
        assert_true(failed == !irr);
        if (failed) {
            assert_int_equal(err.status, NBC_DEVICE);
            continue;
        }
        gpuirr_device_close(irr);
        assert_true(after > 8); /* two stores of three arrays, and a test */
        return;
    }
}

/* Room for more bodies, or all as it was. */
static void growth(void **state)
{
    (void)state;
    struct gpuirr_force before[BLOCK], now[BLOCK];
    struct nbc_error err = {0};
    int failed = 1;
    make_faulty();
    void *irr = open_store(&faulty);
    assert_int_equal(sum(irr, 0, 0.5, before, &err), NBC_OK);
    for (int after = 0; failed; after++) {
        set_bodies(irr, 0, N / 2, 0);
        let_fail(after, 1);
        failed = gpuirr_device_grow(&irr, N, 3 * N) != 0;
        assert_true(failed == (failures_left == 0));
        let_fail(0, 0);
        assert_int_equal(sum(irr, 0, 0.5, now, &err), NBC_OK);
        assert_memory_equal(before, now, sizeof before);
    }
    set_bodies(irr, N, 3 * N, 1);
    assert_int_equal(sum(irr, 0, 0.5, now, &err), NBC_OK);
    assert_memory_equal(before, now, sizeof before);
    gpuirr_device_close(irr);
}

/* A device that fails while a body is set may have got anything: forces are refused from then on, with the reason. */
static void lost_for_good(void **state)
{
    (void)state;
    struct gpuirr_force now[BLOCK];
    make_faulty();
    void *irr = open_store(&faulty);
    gpuirr_device_announce(irr);
    let_fail(0, 1);
    set_bodies(irr, 3, 4, 1);
    assert_int_equal(failures_left, 0);
    for (int repeat = 0; repeat < 2; repeat++) {
        struct nbc_error err = {0};
        gpuirr_device_announce(irr);
        assert_int_equal(sum(irr, 0, 0.5, now, &err), NBC_DEVICE);
        assert_string_equal(err.text, "it fails");
    }
    gpuirr_device_close(irr);
}

/* A device that sums wrong forces is refused. */
static int wrong_forces(void *context, const struct gpuirr_device_force_job *job, struct nbc_error *err)
{
    const int status = REAL.forces(context, job, err);
    job->force[job->n - 1].jerk[2] *= 1.01;
    return status;
}

static void wrong_device(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    make_faulty();
    faulty.forces = wrong_forces;
    assert_null(gpuirr_device_open(&faulty, N, &err));
    assert_int_equal(err.status, NBC_DEVICE);
    assert_non_null(strstr(err.text, "self-test on the processor: the jerk"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),        cmocka_unit_test(creation),     cmocka_unit_test(growth),
        cmocka_unit_test(lost_for_good), cmocka_unit_test(wrong_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
