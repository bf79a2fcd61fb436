/* An engine that loses its device (engine/engine.h): nb6_evolve fails with a complete state in host memory, that of the
 * last export, from which the run goes on with the same engine, with the host, or from a checkpoint. And the choice of
 * the engine (engine/choice.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/nbc.h"
#include "device/faults.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/choice.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/input/config.h"
#include "nbody6/output/restore.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "nbody6/step/block.h"
#include "nbody6/step/radius.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/test_size.h"

static const double T_END = 0.75;

/* Few stars, which form pairs: the state moves to and fro. NNBOPT = 0: the cost of the engine counts too. */
static nb6_t *start(void)
{
    struct nb6_config config;
    cluster_config(&config);
    config.run.engine = NB6_ENGINE_EMULATED;
    config.run.dt_adjust = config.run.dt_output = 0.25;
    struct cluster c = cluster_plummer(150, 2);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_free(&c);
    return sim;
}

/* Wide binaries of stars with radii, of which some become one within chains. */
static nb6_t *start_mergers(uint64_t seed, double r_star, struct cluster_record *record)
{
    struct nb6_config config;
    cluster_config_with_binaries(&config, 100, 50);
    config.binaries.semi_max = 0.02;
    config.model.seed = seed;
    config.pair.r_star = r_star;
    config.pair.chains = 1;
    config.run.engine = NB6_ENGINE_EMULATED;
    return cluster_start_model(&config, record);
}

/* The k-th call of the engine for an image fails, and all after it. */
static void lose(long k)
{
    nbd_fault_set(NBD_FAULT_FAIL, k, NBD_FAULT_FOR_EVER);
}

static void find_again(void)
{
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
}

/* @return 0: it has not come to that */
static int evolve_and_lose(nb6_t *sim, long k)
{
    struct nbc_error err = {0};
    lose(k);
    const int status = nb6_evolve(sim, T_END, &err);
    find_again();
    assert_int_equal(nb6_device_is_lost(sim), status != NBC_OK);
    if (!status) return 0;
    assert_int_equal(status, NBC_DEVICE);
    assert_non_null(strstr(err.text, "does not answer"));
    assert_true(!sim->engine_image.image && !sim->engine_image.ahead);
    assert_true(sim->ti_reached >= sim->ti_now && nb6_block_next(sim) > sim->ti_reached); /* nothing is missing */
    cluster_check_sources(sim);
    return 1;
}

/* The lost blocks are computed again, with the same bits, whichever call failed. */
static void the_same_engine_goes_on(void **state)
{
    (void)state;
    nb6_t *sim = start();
    cluster_evolve(sim, T_END);
    assert_true(sim->run.counters.pairs_formed > 0);
    const uint64_t end = cluster_state(sim);
    nb6_free(sim);
    long losses = 0;
    for (long k = 1;; k += 1 + k / test_size(4, 1)) {
        sim = start();
        const int lost = evolve_and_lose(sim, k);
        if (lost) cluster_evolve(sim, T_END);
        if (cluster_state(sim) != end) fail_msg("call %ld lost: the state is another one", k);
        nb6_free(sim);
        if (!lost) break;
        losses++;
    }
    print_message("%ld losses\n", losses);
    assert_true(losses > test_size(10, 4));
}

static uint64_t mergers_told(const struct cluster_record *record)
{
    uint64_t told = 0;
    for (int64_t k = 0; k < record->n_events; k++) told += record->event[k].kind == NB6_EVENT_MERGER;
    return told;
}

/* Events within systems are reported, also if pairs advance before the state is exported. */
static void mergers_are_told(void **state)
{
    static const struct {
        uint64_t seed;
        double r_star;
    } of[3] = {{14, 3e-4}, {13, 1e-3}, {16, 1e-3}};
    (void)state;
    for (size_t k = 0; k < (size_t)test_size(3, 1); k++) {
        struct cluster_record record = {0};
        nb6_t *sim = start_mergers(of[k].seed, of[k].r_star, &record);
        cluster_evolve(sim, T_END);
        print_message("%llu mergers\n", (unsigned long long)sim->run.counters.mergers);
        assert_true(sim->run.counters.mergers > 5 && mergers_told(&record) == sim->run.counters.mergers);
        nb6_free(sim);
        cluster_record_free(&record);
    }
}

/* Members in chains agree with those of the run, except for mergers that are not reported yet. */
static void check_members(const nb6_t *sim)
{
    for (int64_t k = 0; k < sim->subsystems.n_chain; k++) {
        const struct nb6_chain *chain = &sim->subsystems.chain[k];
        for (int m = 0; chain->slot >= 0 && chain->n_merged == 0 && m < chain->state.n; m++)
            assert_true(chain->state.mass[m] == nb6_get_body(sim, chain->star[m])->mass);
    }
}

/* A run that loses its device at the k-th call, and goes on: it comes to the state `end`, if that is not 0.
 *  @return mergers reported before the loss; all, if there was none */
static uint64_t lose_among_mergers(long k, uint64_t end)
{
    struct cluster_record record = {0};
    nb6_t *sim = start_mergers(16, 1e-3, &record);
    const int lost = evolve_and_lose(sim, k);
    const uint64_t told = mergers_told(&record);
    check_members(sim);
    if (lost && end) cluster_evolve(sim, T_END);
    if (end && cluster_state(sim) != end) fail_msg("call %ld lost: the state is another one", k);
    assert_true(mergers_told(&record) == sim->run.counters.mergers);
    nb6_free(sim);
    cluster_record_free(&record);
    return told;
}

/* From call `from` on, the last one that can be lost before so many mergers are reported: it exports the state. */
static long call_before(uint64_t mergers, long from)
{
    long before = from, after = 512;
    while (after - before > 1) {
        const long k = (before + after) / 2;
        *(lose_among_mergers(k, 0) < mergers ? &before : &after) = k;
    }
    return before;
}

/* Mergers are undone with all else, and reported once, when they are computed again. Not every merger occurs within an
 * image. */
static void mergers_are_undone(void **state)
{
    (void)state;
    nb6_t *sim = start_mergers(16, 1e-3, NULL);
    cluster_evolve(sim, T_END);
    const uint64_t end = cluster_state(sim), all = sim->run.counters.mergers;
    assert_true(all > 10);
    const uint64_t mergers = (uint64_t)test_size(test_seeds(6, (int)all), 2);
    nb6_free(sim);
    long k = 1;
    for (uint64_t m = 1; m <= mergers; m = lose_among_mergers(k + 1, 0) + 1) {
        k = call_before(m, k);
        assert_true(lose_among_mergers(k, end) < m);
    }
}

/* In the same session, or from a checkpoint: the same bits. */
static void the_host_goes_on(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    nb6_t *sim = start();
    const double energy = cluster_energy_now(sim).total;
    assert_true(evolve_and_lose(sim, 20));
    nb6_t *again = cluster_through_checkpoint(sim);
    const uint64_t blocks = sim->run.counters.blocks;
    if (nb6_leave_device(sim, &err) || nb6_leave_device(again, &err)) fail_msg("%s", err.text);
    assert_string_equal(nb6_engine_name(sim), "host");
    assert_false(nb6_device_is_lost(sim));
    lose(1); /* it is not called any more */
    cluster_evolve(sim, T_END);
    cluster_evolve(again, T_END);
    find_again();
    assert_true(sim->run.counters.blocks > blocks && !sim->engine_image.image);
    assert_true(cluster_state(sim) == cluster_state(again));
    assert_true(fabs(cluster_energy_now(sim).total / energy - 1) < 1e-6); /* as in test_engine.c */
    nb6_free(sim);
    nb6_free(again);
}

/* A run of this one's state with these backends. */
static nb6_t *resume_with(nb6_t *sim, const char *device, const char *irr_backend)
{
    struct nbc_error err = {0};
    nb6_t *resumed = NULL;
    struct nb6_config config = sim->run.config;
    char path[] = "/tmp/nb6_test_loss_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    strcpy(config.run.device, device);
    strcpy(config.run.irr_backend, irr_backend);
    int status = nb6_checkpoint(sim, path, &err);
    if (!status) status = nb6_restore_changed(&resumed, path, &config, &err);
    unlink(path);
    if (status) fail_msg("%s", err.text);
    return resumed;
}

/* Another backend makes the regular forces from some time on: as if the run were resumed with it. */
static void another_backend_goes_on(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    nb6_t *sim = start();
    cluster_evolve(sim, T_END / 2);
    nb6_t *resumed = resume_with(sim, "ref", gpuirr_info(sim->irr)->name);
    assert_false(nb6_sim_on_gpu(sim));
    if (nb6_sim_use_backend(sim, "ref", &err) || nb6_leave_device(sim, &err)) fail_msg("%s", err.text);
    if (nb6_leave_device(resumed, &err)) fail_msg("%s", err.text);
    assert_string_equal(gpunb_info(sim->reg)->name, "ref");
    cluster_evolve(sim, T_END);
    cluster_evolve(resumed, T_END);
    assert_true(cluster_state(sim) == cluster_state(resumed));
    nb6_free(sim);
    nb6_free(resumed);
}

/* The same for irregular forces, which also move to an emulated device, and to a processor from it. */
static void another_irregular_backend_goes_on(void **state)
{
    (void)state;
    const char *const name[] = {"emulated", nb6_sim_irregular_on_cpu()};
    struct nbc_error err = {0};
    nb6_t *sim = start();
    for (int k = 0; k < 2; k++) {
        const double t = T_END * (k + 1) / 3;
        cluster_evolve(sim, t);
        nb6_t *resumed = resume_with(sim, gpunb_info(sim->reg)->name, name[k]);
        if (nb6_sim_use_irregular(sim, name[k], &err) || nb6_leave_device(sim, &err)) fail_msg("%s", err.text);
        if (nb6_leave_device(resumed, &err)) fail_msg("%s", err.text);
        assert_string_equal(gpuirr_info(sim->irr)->name, name[k]);
        cluster_evolve(sim, t + T_END / 6);
        cluster_evolve(resumed, t + T_END / 6);
        assert_true(cluster_state(sim) == cluster_state(resumed));
        nb6_free(resumed);
    }
    nb6_free(sim);
}

/* ---- the choice of the engine */

static void expect(const struct nb6_config *config, int64_t n, enum nb6_engine_choice engine, const char *reason)
{
    char why[NB6_ENGINE_WHY];
    const int chosen = (int)nb6_engine_choose(config, n, why);
    if (chosen != (int)engine || !strstr(why, reason)) fail_msg("engine %d: %s; expected %s", chosen, why, reason);
}

static void choices(void **state)
{
    (void)state;
    struct nb6_config config, other;
    assert_true(!unsetenv("GPUNB_BACKEND") && !unsetenv("GPU_LIST"));
    nb6_config_init(&config);
    assert_int_equal(config.run.engine, NB6_ENGINE_AUTO);
    other = config;
    other.run.engine = NB6_ENGINE_EMULATED;
    expect(&other, 10, NB6_ENGINE_EMULATED, "asked for");
    if (!nb6_device_engine) {
        expect(&config, 1000000, NB6_ENGINE_HOST, "without CUDA");
        print_message("skipped: reasons of auto: this program has no device engine\n");
        return;
    }
    expect(&config, NB6_DEVICE_WORTH - 1, NB6_ENGINE_HOST, "2000 stars");
    other = config;
    other.binaries.n = 1;
    expect(&other, NB6_DEVICE_WORTH_WITH_BINARIES - 1, NB6_ENGINE_HOST, "binaries");
    other = config;
    other.integration.dt_fixed_irr = 0x1p-6;
    expect(&other, NB6_DEVICE_WORTH, NB6_ENGINE_HOST, "constant steps");
    other = config;
    other.run.precision = GPUNB_DOUBLE;
    expect(&other, NB6_DEVICE_WORTH, NB6_ENGINE_HOST, "double");
    other = config;
    strcpy(other.run.device, "cpu");
    expect(&other, NB6_DEVICE_WORTH, NB6_ENGINE_HOST, "--device asks for cpu");
    other = config;
    strcpy(other.run.irr_backend, "ref");
    expect(&other, NB6_DEVICE_WORTH, NB6_ENGINE_HOST, "ref");
    assert_int_equal(setenv("GPUNB_BACKEND", "portable", 1), 0);
    expect(&config, NB6_DEVICE_WORTH, NB6_ENGINE_HOST, "GPUNB_BACKEND asks for portable");
    assert_int_equal(unsetenv("GPUNB_BACKEND"), 0);
    struct nbc_error err = {0};
    const int is_here = nb6_device_engine->check(&err) == NBC_OK;
    const enum nb6_engine_choice chosen = is_here ? NB6_ENGINE_DEVICE : NB6_ENGINE_HOST;
    expect(&config, NB6_DEVICE_WORTH, chosen, is_here ? "GPU" : "no GPU");
    other = config;
    strcpy(other.run.device, "cuda:0,1");
    expect(&other, NB6_DEVICE_WORTH, chosen, is_here ? "GPU" : "no GPU");
}

/* ---- what interactions cost */

/* Where irregular interactions are dear beside regular ones there are to be fewer of them. */
static void each_engine_has_its_costs(void **state)
{
    (void)state;
    nb6_t *sim = start();
    const struct nb6_pair_cost device = nb6_engines_cost(sim);
    assert_true(device.irr > 0 && device.reg > 0);
    sim->engine = NB6_ENGINE_HOST;
    const struct nb6_pair_cost host = nb6_engines_cost(sim);
    assert_true(host.reg == gpunb_info(sim->reg)->ns_per_pair);
    sim->run.counters.pairs_irr = sim->run.counters.pairs_reg = 1000000;
    const double mean = sim->book.nnb_opt = 40;
    sim->run.config.integration.nnb_opt = 0;
    sim->n = 100000; /* room to choose from; only the sum over sources is read */
    nb6_radius_steer(sim, &(struct nb6_pair_cost){.irr = 1, .reg = 1});
    assert_true(sim->book.nnb_opt < mean);
    sim->book.nnb_opt = mean;
    sim->run.counters.pairs_irr = sim->run.counters.pairs_reg = 2000000;
    nb6_radius_steer(sim, &(struct nb6_pair_cost){.irr = 1, .reg = 10});
    assert_true(sim->book.nnb_opt > mean);
    sim->n = 150;
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_engine_goes_on),
                                       cmocka_unit_test(mergers_are_told),
                                       cmocka_unit_test(mergers_are_undone),
                                       cmocka_unit_test(the_host_goes_on),
                                       cmocka_unit_test(another_backend_goes_on),
                                       cmocka_unit_test(another_irregular_backend_goes_on),
                                       cmocka_unit_test(choices),
                                       cmocka_unit_test(each_engine_has_its_costs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
