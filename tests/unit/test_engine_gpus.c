/* The device engine on a GPU of one's choice, on several, which share blocks that leave it (engine/cuda/leave.h), and
 * twice on one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/choice.h"
#include "nbody6/engine/engine.h"
#include "nbody6/input/config.h"
#include "nbody6/output/restore.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"

/* Blocks in which all stars end a regular step have more than 10^9 pairs, of which other GPUs take a share. */
enum { STARS = 32768, MANY_STARS = 49152, FEW_STARS = 3000 };
static const int with_shares[2] = {STARS, MANY_STARS};
static const double T_END = 0.0625;

/* @return 0: this machine has not got these GPUs */
static int has_gpus(const char *backend, int wanted)
{
    const struct gpunb_options options = {.backend = backend};
    gpunb_t *reg = NULL;
    int gpus[2] = {-1, -1};
    if (gpunb_create(&reg, STARS, &options, NULL)) {
        print_message("skipped: there is no %s\n", backend);
        return 0;
    }
    assert_int_equal(gpunb_gpus(reg, 0, NULL), wanted);
    assert_int_equal(gpunb_gpus(reg, 2, gpus), wanted);
    assert_true(gpus[0] >= 0 && gpus[0] != gpus[1]);
    gpunb_free(reg);
    return 1;
}

/* @param[in] device  NULL: the one of cluster_config */
static nb6_t *start_on(enum nb6_engine_choice engine, const char *device, int stars)
{
    struct nb6_config config;
    cluster_config(&config);
    config.run.engine = (int)engine;
    if (device) snprintf(config.run.device, sizeof config.run.device, "%s", device);
    struct cluster c = cluster_plummer(stars, 1);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_free(&c);
    return sim;
}

static nb6_t *run_on(const char *device, int stars, double t_end)
{
    nb6_t *sim = start_on(NB6_ENGINE_DEVICE, device, stars);
    cluster_evolve(sim, t_end);
    return sim;
}

/* Processors have no GPU to show. */
static void processors_have_none(void **state)
{
    (void)state;
    const struct gpunb_options options = {.backend = "portable"};
    gpunb_t *reg = NULL;
    assert_int_equal(gpunb_create(&reg, 100, &options, NULL), NBC_OK);
    assert_int_equal(gpunb_gpus(reg, 0, NULL), 0);
    assert_int_equal(gpunb_gpus(NULL, 0, NULL), 0);
    gpunb_free(reg);
}

/* Which one of two equal GPUs makes the blocks changes no bit. */
static void any_gpu_will_do(void **state)
{
    (void)state;
    if (!has_gpus("cuda:1", 1)) return;
    const int stars[3] = {FEW_STARS, STARS, MANY_STARS}; /* with nothing to share, and with it */
    for (int k = 0; k < 3; k++) {
        nb6_t *first = run_on("cuda:0", stars[k], T_END), *second = run_on("cuda:1", stars[k], T_END);
        cluster_assert_same(first, second);
        nb6_free(first);
        nb6_free(second);
    }
}

/* From the state of a run, at a later time, on these GPUs. */
static nb6_t *go_on(nb6_t *begun, const char *device, double t_end)
{
    struct nbc_error err = {0};
    struct nb6_config config = begun->run.config;
    nb6_t *sim = NULL;
    char path[] = "/tmp/nb6_test_gpus_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    snprintf(config.run.device, sizeof config.run.device, "%s", device);
    int status = nb6_checkpoint(begun, path, &err);
    if (!status) status = nb6_restore_changed(&sim, path, &config, &err);
    unlink(path);
    if (status) fail_msg("%s", err.text);
    cluster_evolve(sim, t_end);
    return sim;
}

/* From one state: if no block were shared, all would have the same bits. Sums are cut otherwise, into floats of some 64
 * sources: forces differ by 1e-7 of them, and so positions by some 1e-10 after the short time, unless a close encounter
 * makes it more for a few. A share that is missing, or added twice, changes the force on all by a fraction. */
static void make_the_same_forces(int stars)
{
    double sum = 0;
    nb6_t *begun = run_on("cuda:0", stars, T_END / 2);
    nb6_t *one = go_on(begun, "cuda:0", T_END), *two = go_on(begun, "cuda:0,1", T_END);
    nb6_t *again = go_on(begun, "cuda:1,0", T_END);
    cluster_assert_same(two, again);
    for (int64_t i = 0; i < stars; i++)
        for (int k = 0; k < 3; k++) sum += fabs(one->body[i].x0[k] - two->body[i].x0[k]);
    print_message("%d stars: positions differ by %.2e\n", stars, sum / (3 * stars));
    assert_true(sum > 0);
    assert_true(sum / (3 * stars) < 1e-9);
    const double steps[2] = {(double)one->run.counters.steps_reg, (double)two->run.counters.steps_reg};
    assert_true(fabs(steps[1] / steps[0] - 1) < 1e-3);
    nb6_free(begun);
    nb6_free(one);
    nb6_free(two);
    nb6_free(again);
}

static void two_make_the_same_forces(void **state)
{
    (void)state;
    if (!has_gpus("cuda:0,1", 2)) return;
    for (int k = 0; k < 2; k++) make_the_same_forces(with_shares[k]);
}

static void go_on_from_checkpoint(int stars)
{
    nb6_t *whole = run_on("cuda:0,1", stars, T_END), *begun = run_on("cuda:0,1", stars, T_END / 2);
    nb6_t *resumed = cluster_through_checkpoint(begun);
    assert_string_equal(resumed->run.config.run.device, "cuda:0,1");
    cluster_evolve(resumed, T_END);
    cluster_assert_same(whole, resumed);
    nb6_free(whole);
    nb6_free(begun);
    nb6_free(resumed);
}

/* A checkpoint knows on how many GPUs, which order sums. */
static void two_go_on(void **state)
{
    (void)state;
    if (!has_gpus("cuda:0,1", 2)) return;
    for (int k = 0; k < 2; k++) go_on_from_checkpoint(with_shares[k]);
}

/* One of two runs at a time; assertions belong to the thread of the test. */
struct one_of_two {
    nb6_t *sim;
    int status;
    struct nbc_error err;
};

/* In many calls, so that those of two runs alternate. */
static void *evolve_in_parts(void *run)
{
    enum { PARTS = 64 };
    struct one_of_two *r = run;
    for (int k = 1; k <= PARTS && !r->status; k++) r->status = nb6_evolve(r->sim, k * T_END / PARTS, &r->err);
    return NULL;
}

static void evolve_at_once(struct one_of_two run[2])
{
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, evolve_in_parts, &run[1]), 0);
    evolve_in_parts(&run[0]);
    assert_int_equal(pthread_join(other, NULL), 0);
    for (int k = 0; k < 2; k++)
        if (run[k].status) fail_msg("%s", run[k].err.text);
}

/* The constant memory of kernels exists once on a GPU: two runs of a process in turns have the bits of each alone. */
static void two_runs_have_a_gpu(void **state)
{
    (void)state;
    const int stars[2] = {1000, 1500};
    const int has_gpu = nb6_device_engine && nb6_device_engine->check(NULL) == NBC_OK;
    const enum nb6_engine_choice engine = has_gpu ? NB6_ENGINE_DEVICE : NB6_ENGINE_EMULATED;
    struct one_of_two alone[2] = {{0}, {0}}, run[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++) {
        alone[k].sim = start_on(engine, NULL, stars[k]);
        evolve_in_parts(&alone[k]);
        assert_int_equal(alone[k].status, NBC_OK);
        run[k].sim = start_on(engine, NULL, stars[k]);
    }
    evolve_at_once(run);
    for (int k = 0; k < 2; k++) {
        cluster_assert_same(alone[k].sim, run[k].sim);
        nb6_free(alone[k].sim);
        nb6_free(run[k].sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_have_none),     cmocka_unit_test(any_gpu_will_do),
        cmocka_unit_test(two_make_the_same_forces), cmocka_unit_test(two_go_on),
        cmocka_unit_test(two_runs_have_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
