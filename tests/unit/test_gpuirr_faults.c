/* A device that fails: every call of it in turn, in the store that the backends `cuda` and `emulated` share. The
 * failure is reported, nothing is lost beyond the device's memory, and the next call makes the same forces as if
 * nothing had happened. */
#include "device/emulated/emulated.h"
#include "device/faults.h"
#include "gpuirr/device/store.h"
#include "gpuirr/lists.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 400, LIST = 30, BLOCK = 25 };

/* ---- failures */

static void let_fail(int after, int times)
{
    nbd_fault_set(times > 0 ? NBD_FAULT_FAIL : NBD_FAULT_NONE, after + 1, times);
}

/* Whether any call has failed since; none does from now on. */
static int has_failed(void)
{
    const int has = nbd_fault_failures() > 0;
    let_fail(0, 0);
    return has;
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

static void *open_store(void)
{
    struct nbc_error err = {0};
    void *irr = gpuirr_device_open(&gpuirr_device_emulated, N, &err);
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
    for (int times = 1; times <= 2; times++) {
        int failed = 1;
        for (int after = 0; failed; after++) {
            void *irr = open_store(), *other = open_store();
            failed = 0;
            for (size_t round = 0; round < 3; round++) {
                struct nbc_error err = {0};
                let_fail(after, times);
                set_bodies(irr, round, N / 2, (int)round);
                set_lists(irr, round, N / 3, round);
                gpuirr_device_announce(irr);
                const int status = sum(irr, round, 0.5, now, &err);
                failed |= has_failed();
                assert_true(status == NBC_OK || (status == NBC_DEVICE && strstr(err.text, "that was asked for")));
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
    for (int after = 0;; after++) {
        struct nbc_error err = {0};
        let_fail(after, 1);
        void *irr = gpuirr_device_open(&gpuirr_device_emulated, N, &err);
        const int failed = has_failed();
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
    void *irr = open_store();
    assert_int_equal(sum(irr, 0, 0.5, before, &err), NBC_OK);
    for (int after = 0; failed; after++) {
        set_bodies(irr, 0, N / 2, 0);
        let_fail(after, 1);
        failed = gpuirr_device_grow(&irr, N, 3 * N) != 0;
        assert_true(failed == has_failed());
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
    void *irr = open_store();
    gpuirr_device_announce(irr);
    let_fail(0, 1);
    set_bodies(irr, 3, 4, 1);
    assert_true(has_failed());
    for (int repeat = 0; repeat < 2; repeat++) {
        struct nbc_error err = {0};
        gpuirr_device_announce(irr);
        assert_int_equal(sum(irr, 0, 0.5, now, &err), NBC_DEVICE);
        assert_non_null(strstr(err.text, "that was asked for"));
    }
    gpuirr_device_close(irr);
}

/* A device that sums wrong forces is refused. */
static void make_wrong(const void *job)
{
    const struct gpuirr_device_force_job *j = job;
    j->force[j->n - 1].jerk[2] *= 1.01;
}

static int wrong_forces(const struct gpuirr_device_force_job *job, struct nbd_stream *stream)
{
    const int code = gpuirr_device_emulated.forces(job, stream);
    return code ? code : nbd_emulated_launch(stream, make_wrong, job, sizeof *job);
}

static void wrong_device(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct gpuirr_device wrong = gpuirr_device_emulated;
    wrong.forces = wrong_forces;
    assert_null(gpuirr_device_open(&wrong, N, &err));
    assert_int_equal(err.status, NBC_DEVICE);
    assert_non_null(strstr(err.text, "self-test on emulated device 0: the jerk"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),        cmocka_unit_test(creation),     cmocka_unit_test(growth),
        cmocka_unit_test(lost_for_good), cmocka_unit_test(wrong_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
