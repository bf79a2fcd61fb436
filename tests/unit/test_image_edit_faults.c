/* Masses and velocities that change where an engine has their image (test_image_edit.c): when they are told; without
 * memory nothing has changed; a lost device undoes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/nbc.h"
#include "device/faults.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/image_edits.h"

/* ---- events */

/* Told in order, once, when the state is in host memory: one who asks for bodies then gets those after the change. */
static void events_wait_for_the_state(void **state)
{
    (void)state;
    struct cluster_record record = {0};
    nb6_t *sim = image_edit_start(0, &record);
    const int64_t before = record.n_events;
    const double t = nb6_time_now(sim);
    image_edit_make(sim, WIND, 1);
    image_edit_make(sim, KICK, 2);
    assert_int_equal(image_edit_evolve(sim, 0.13), NBC_OK);
    assert_int_equal(record.n_events, before);
    cluster_evolve(sim, 0.14);
    assert_int_equal(record.n_events, before + 2);
    for (int k = 0; k < 2; k++) {
        const struct nb6_event *event = &record.event[before + k];
        assert_true(event->kind == NB6_EVENT_MASSES_CHANGED && event->t == t && event->value[0] == k + 1);
        assert_true(event->energy != 0 && event->mass < 0);
    }
    assert_int_equal(image_edit_evolve(sim, 0.15), NBC_OK);
    assert_int_equal(record.n_events, before + 2);
    nb6_free(sim);
    cluster_record_free(&record);
}

/* ---- failures */

/* Without memory nothing has changed, and the change can be made again. A kernel of an emulated device that has none
 * fails: the device is lost. */
static void no_memory_for(enum image_edit kind)
{
    nb6_t *base = image_edit_start(kind == WIND, NULL);
    long failures = 0;
    for (long k = 0;; k++) {
        struct nbc_error err = {0};
        nb6_t *sim = cluster_through_checkpoint(base), *same = cluster_through_checkpoint(base);
        assert_int_equal(image_edit_evolve(sim, 0.11), NBC_OK);
        assert_int_equal(image_edit_evolve(same, 0.11), NBC_OK);
        alloc_left = k;
        const int status = image_edit_change(sim, kind, 20, &err);
        const int has_failed = alloc_left < 0;
        alloc_left = -1;
        if (status) {
            assert_int_equal(status, nb6_device_is_lost(sim) ? NBC_DEVICE : NBC_NO_MEMORY);
            assert_true(sim->engine_image.ahead == (status == NBC_NO_MEMORY));
            assert_true(cluster_state_at_home(sim) == cluster_state_at_home(status == NBC_DEVICE ? base : same));
            assert_int_equal(sim->transaction.n_event, 0);
            failures += status == NBC_NO_MEMORY;
        }
        nb6_free(sim);
        nb6_free(same);
        if (!has_failed) break;
    }
    assert_true(failures > 5);
    nb6_free(base);
}

static void no_memory(void **state)
{
    (void)state;
    if (!can_fail_alloc()) return;
    no_memory_for(WIND);
    no_memory_for(KICK);
}

static int64_t told;

static int on_event(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    (void)context;
    (void)sim;
    (void)err;
    told += event->kind == NB6_EVENT_MASSES_CHANGED;
    return NBC_OK;
}

/* Few stars, in whose change most of the watched bodies take no part, or many; single ones, or with pairs. */
struct loss {
    enum image_edit kind;
    int binaries;
    int64_t most;
    nb6_t *base;
    uint64_t end; /* without a loss */
};

/* The state is that of the last time in host memory, without the changes since, of which nobody has heard. Made again,
 * they have the same bits, and are told once. */
static void assert_undone(nb6_t *sim, const struct loss *loss)
{
    nb6_t *base = loss->base;
    assert_true(nb6_device_is_lost(sim) && !sim->engine_image.ahead && sim->transaction.n_event == 0 && told == 0);
    assert_true(nb6_time_now(sim) == nb6_time_now(base) && cluster_state_at_home(sim) == cluster_state_at_home(base));
    cluster_check_sources(sim);
    assert_int_equal(image_edit_evolve(sim, 0.11), NBC_OK);
    image_edit_make(sim, loss->kind, loss->most);
    assert_int_equal(image_edit_evolve(sim, 0.13), NBC_OK);
    cluster_evolve(sim, nb6_time_now(sim));
    assert_int_equal(told, 1);
    assert_int_equal(image_edit_evolve(sim, nb6_time_now(sim)), NBC_OK);
    assert_int_equal(told, 1);
    assert_true(cluster_state_at_end(sim) == loss->end);
}

/* From its k-th call on a device fails in a change; 0: in a block after it.   @return 0: it had fewer calls */
static int lose(const struct loss *loss, int64_t k)
{
    static const struct nb6_observer observer = {.event = on_event};
    struct nbc_error err = {0};
    nb6_t *sim = cluster_through_checkpoint(loss->base);
    nb6_set_observer(sim, &observer);
    told = 0;
    assert_int_equal(image_edit_evolve(sim, 0.11), NBC_OK);
    if (k == 0) image_edit_make(sim, loss->kind, loss->most);
    nbd_fault_set(NBD_FAULT_FAIL, k ? k : 1, NBD_FAULT_FOR_EVER);
    const int status = k ? image_edit_change(sim, loss->kind, loss->most, &err) : image_edit_evolve(sim, 0.13);
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    if (status) {
        assert_int_equal(status, NBC_DEVICE);
        assert_undone(sim, loss);
    } else
        nb6_free(sim);
    return status != NBC_OK;
}

static void a_device_is_lost(void **state)
{
    static struct loss losses[] = {
        {WIND, 1, 20, NULL, 0}, {WIND, 1, 1, NULL, 0}, {WIND, 0, 1, NULL, 0}, {KICK, 0, 20, NULL, 0}};
    (void)state;
    for (size_t l = 0; l < sizeof losses / sizeof *losses; l++) {
        struct loss *loss = &losses[l];
        loss->base = image_edit_start(loss->binaries, NULL);
        nb6_t *sim = cluster_through_checkpoint(loss->base);
        int64_t k = 1;
        assert_int_equal(image_edit_evolve(sim, 0.11), NBC_OK);
        image_edit_make(sim, loss->kind, loss->most);
        assert_int_equal(image_edit_evolve(sim, 0.13), NBC_OK);
        loss->end = cluster_state_at_end(sim);
        while (lose(loss, k)) k++;
        assert_true(k > 2);
        assert_true(lose(loss, 0));
        nb6_free(loss->base);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_wait_for_the_state),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(a_device_is_lost),
    };
    char why[NB6_ENGINE_WHY];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_edit_engine = NB6_ENGINE_DEVICE;
    if (!nb6_engine_missing("device", why)) failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
