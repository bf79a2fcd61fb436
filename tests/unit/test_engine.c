/* The contract of engines (engine/engine.h): the emulated engine against the host engine over time, the same bits, the
 * reasons to stop, and the way to and fro between the two. One block from one state is in test_engine_block.c, calls
 * that fail are in test_engine_faults.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/test_size.h"

/* The engine under test, which keeps an engine image: emulated, then that of a GPU if there is one. */
static enum nb6_engine_choice under_test = NB6_ENGINE_EMULATED;

static void configure(struct nb6_config *config, enum nb6_engine_choice engine, int with_pairs)
{
    cluster_config(config);
    config->run.engine = (int)engine;
    if (with_pairs) return;
    config->pair.adjust = 0;
    config->pair.r_min = config->pair.dt_min = 0;
}

static nb6_t *start(enum nb6_engine_choice engine, int with_pairs, int64_t n, uint64_t seed)
{
    struct nb6_config config;
    configure(&config, engine, with_pairs);
    struct cluster c = cluster_plummer(n, seed);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_free(&c);
    return sim;
}

static enum nb6_stop_reason advance(nb6_t *sim, nb6_time t, int64_t blocks)
{
    struct nbc_error err = {0};
    enum nb6_stop_reason reason;
    if (nb6_engines_advance(sim, t, blocks, &reason, &err)) fail_msg("%s", err.text);
    return reason;
}

static void bring_home(nb6_t *sim)
{
    struct nbc_error err = {0};
    if (nb6_bring_home(sim, &err)) fail_msg("%s", err.text);
}

/* ---- over time ---- */

static int by_size(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void steps_and_energy(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED(); /* same_bits has runs of both engines */
    enum { SEEDS = 3 };
    double error[2][SEEDS];
    for (int seed = 0; seed < SEEDS; seed++) {
        double steps[2];
        for (int e = 0; e < 2; e++) {
            nb6_t *sim = start(e ? under_test : NB6_ENGINE_HOST, 1, 1000, 1 + (uint64_t)seed);
            const double energy = cluster_energy_now(sim).total;
            cluster_evolve(sim, 1);
            error[e][seed] = fabs(cluster_energy_now(sim).total / energy - 1);
            steps[e] = (double)sim->run.counters.steps_irr;
            nb6_free(sim);
        }
        assert_true(fabs(steps[1] / steps[0] - 1) < 0.02);
    }
    for (int e = 0; e < 2; e++) qsort(error[e], SEEDS, sizeof error[e][0], by_size);
    print_message("energy errors: host %.2e, emulated %.2e\n", error[0][SEEDS / 2], error[1][SEEDS / 2]);
    assert_true(error[1][SEEDS / 2] < 1.5 * error[0][SEEDS / 2]);
}

/* ---- the same bits ---- */

struct stops {
    int64_t polls, stop_at, under_test, moves;
    int64_t was;
};

static int on_poll(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    struct stops *stops = context;
    (void)err;
    *stop = ++stops->polls == stops->stop_at;
    stops->under_test += sim->engine_image.ahead;
    stops->moves += sim->engine_image.ahead != stops->was;
    stops->was = sim->engine_image.ahead;
    return NBC_OK;
}

/* Stopped, written and read back after 1, 2, 4, ... polls. */
static nb6_t *in_pieces(nb6_t *sim, double t)
{
    for (struct stops stops = {.stop_at = 1};;) {
        nb6_set_observer(sim, &(struct nb6_observer){.context = &stops, .poll = on_poll});
        cluster_evolve(sim, t);
        nb6_set_observer(sim, NULL);
        if (!nb6_stopped(sim)) return sim;
        stops.polls = 0;
        stops.stop_at += 1 + stops.stop_at / 2;
        sim = cluster_resumed(sim);
    }
}

/* Every other poll reads the state, in host memory or in an image. */
static int look(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    int *polls = context;
    (void)stop;
    return ++*polls % 2 ? NBC_OK : nb6_get_bodies(sim, nb6_count(sim), NULL, NULL, NULL, NULL, err);
}

static nb6_t *observed(nb6_t *sim, double t)
{
    int polls = 0;
    nb6_set_observer(sim, &(struct nb6_observer){.context = &polls, .poll = look});
    cluster_evolve(sim, t);
    nb6_set_observer(sim, NULL);
    return sim;
}

/* In images of a few blocks each, which every import makes anew, up to the first adjust. */
static nb6_t *in_few_blocks(nb6_t *sim, double t)
{
    int64_t blocks = 1;
    while (advance(sim, sim->run.book.ti_next_adjust, blocks) != NB6_STOP_REACHED) {
        bring_home(sim);
        sim->edits++;
        blocks = blocks % 11 + 3;
    }
    bring_home(sim);
    cluster_evolve(sim, t);
    return sim;
}

static void same_bits(void **state)
{
    (void)state;
    static const struct {
        int threads;
        nb6_t *(*evolve)(nb6_t *sim, double t);
    } ways[] = {{1, NULL}, {4, NULL}, {1, in_pieces}, {2, in_few_blocks}, {1, observed}};
    const int before = omp_get_max_threads();
    const double t = test_size(2, 1);
    nb6_t *first = start(under_test, 1, 600, 3);
    struct stops stops = {0};
    nb6_set_observer(first, &(struct nb6_observer){.context = &stops, .poll = on_poll});
    omp_set_num_threads(1);
    cluster_evolve(first, t);
    nb6_set_observer(first, NULL);
    assert_true(stops.under_test > 0 && stops.under_test < stops.polls);
    for (size_t k = (size_t)test_size(0, 1); k < sizeof ways / sizeof *ways; k++) {
        nb6_t *sim = start(under_test, 1, 600, 3);
        omp_set_num_threads(ways[k].threads);
        if (ways[k].evolve)
            sim = ways[k].evolve(sim, t);
        else
            cluster_evolve(sim, t);
        cluster_assert_same(first, sim);
        nb6_free(sim);
    }
    omp_set_num_threads(before);
    nb6_free(first);
}

/* ---- why it stops ---- */

static void stops_at_a_time_and_after_blocks(void **state)
{
    (void)state;
    const enum nb6_engine_choice engines[] = {NB6_ENGINE_HOST, under_test};
    for (int e = 0; e < 2; e++) {
        nb6_t *sim = start(engines[e], 0, 100, 2);
        const nb6_time t = (nb6_time)1 << (NB6_TIME_BITS - 5);
        assert_int_equal(advance(sim, 0, 10), NB6_STOP_REACHED);
        assert_int_equal(advance(sim, t, 3), NB6_STOP_BLOCKS);
        bring_home(sim);
        assert_int_equal(sim->run.counters.blocks, e ? 3 : 1);
        assert_true(sim->ti_now > 0 && sim->ti_reached == sim->ti_now);
        while (advance(sim, t, 1000) != NB6_STOP_REACHED) continue;
        bring_home(sim);
        assert_true(sim->ti_now == t); /* a multiple of every step up to there */
        cluster_check_sources(sim);
        nb6_free(sim);
    }
}

/* With and without exports of the image within an adjust interval, and with bodies in more or fewer parts: the state is
 * the same, counters included, and the image stays valid. */
static void home_and_on(void **state)
{
    (void)state;
    nb6_t *one = start(under_test, 0, 100, 2), *other = start(under_test, 0, 100, 2);
    const nb6_time t = (nb6_time)1 << (NB6_TIME_BITS - 4);
    while (advance(one, t, 1000) != NB6_STOP_REACHED) continue;
    bring_home(one);
    while (advance(other, t, 5) != NB6_STOP_REACHED) {
        const uint64_t edits = other->edits;
        bring_home(other);
        assert_true(other->edits == edits && other->engine_image.edits == edits); /* nothing is imported again */
        ((struct nb6_dev *)other->engine_image.image)->parts = 7;
    }
    bring_home(other);
    assert_true(one->run.counters.blocks > 50);
    assert_true(cluster_state(one) == cluster_state(other));
    nb6_free(one);
    nb6_free(other);
}

/* As long as book.host_until says the host makes the blocks, one by one, and the same as ever. */
static void the_host_goes_first(void **state)
{
    (void)state;
    nb6_t *sim = start(under_test, 0, 100, 2);
    sim->book.host_until = 3;
    for (int k = 1; k <= 3; k++) {
        assert_int_equal(advance(sim, INT64_MAX, 64), NB6_STOP_BLOCKS);
        assert_int_equal(sim->engine_image.ahead, 0);
        assert_int_equal(sim->run.counters.blocks, k);
    }
    assert_int_equal(advance(sim, INT64_MAX, 64), NB6_STOP_BLOCKS);
    assert_int_equal(sim->engine_image.ahead, 1);
    nb6_free(sim);
}

/* Two stars of a cluster that fall towards each other. */
static void stops_at_an_encounter(void **state)
{
    (void)state;
    struct nb6_config config;
    configure(&config, under_test, 1);
    config.pair.adjust = 0;
    config.pair.r_min = 0.01;
    config.pair.dt_min = 1e-3;
    struct cluster c = cluster_with_field(2, 60, 4);
    for (int m = 0; m < 2; m++) {
        c.mass[m] = 0.01;
        c.x[m][0] = m ? 0.012 : -0.012;
        c.v[m][0] = m ? -0.5 : 0.5;
        c.v[m][1] = m ? 0.05 : -0.05;
    }
    nb6_t *sim = cluster_start(&config, &c, NULL);
    int64_t encounters = 0;
    for (int k = 0; k < 2000 && sim->subsystems.count == 0; k++)
        encounters += advance(sim, INT64_MAX, 64) == NB6_STOP_ENCOUNTER;
    assert_true(encounters > 0);
    assert_int_equal(sim->subsystems.count, 1);
    assert_int_equal(sim->engine_image.ahead, 0);
    cluster_assert_consistent(sim);
    int64_t away = 0;
    for (int k = 0; k < 50; k++) {
        advance(sim, INT64_MAX, 8);
        away += sim->engine_image.ahead;
    }
    assert_true(away > 0); /* with the pair */
    nb6_free(sim);
    cluster_free(&c);
}

/* A sphere that holds ten times as many as rows have room for. The block is made once there is. */
static void stops_when_a_list_is_too_long(void **state)
{
    (void)state;
    if (under_test != NB6_ENGINE_EMULATED) skip(); /* the image is not in memory */
    struct nb6_config config;
    struct nbc_error err = {0};
    enum nb6_stop_reason reason = NB6_STOP_BLOCKS;
    configure(&config, under_test, 0);
    config.integration.nnb_opt = 16;
    config.integration.nnb_max = 400;
    struct cluster c = cluster_plummer(500, 8);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    sim->star[7].r_nb = 50;
    assert_int_equal(nb6_emulated_engine.import(sim, &err), NBC_OK);
    const struct nb6_dev *dev = sim->engine_image.image;
    const int64_t room = dev->row_room;
    assert_true(room < 200);
    while (reason == NB6_STOP_BLOCKS) {
        const uint64_t blocks = dev->control->blocks;
        assert_int_equal(nb6_emulated_engine.advance(sim, INT64_MAX, 1, &reason, &err), NBC_OK);
        assert_int_equal(dev->control->blocks - blocks, reason == NB6_STOP_BLOCKS);
    }
    assert_int_equal(reason, NB6_STOP_OVERFLOW);
    assert_int_equal(dev->star[7].t0_reg, 0);
    sim->engine_image.edits = sim->edits;
    assert_int_equal(advance(sim, INT64_MAX, 1), NB6_STOP_OVERFLOW); /* in host memory, and no valid image */
    assert_int_equal(sim->engine_image.ahead, 0);
    assert_int_equal(advance(sim, INT64_MAX, 1), NB6_STOP_BLOCKS);
    bring_home(sim);
    assert_true(((const struct nb6_dev *)sim->engine_image.image)->row_room > room);
    assert_true(sim->star[7].t0_reg == sim->ti_now && sim->star[7].nnb > room && sim->star[7].nnb <= 400);
    nb6_free(sim);
    cluster_free(&c);
}

/* The block is not committed, the star is named, and the state is that before it. */
static void stops_at_a_nan(void **state)
{
    (void)state;
    if (under_test != NB6_ENGINE_EMULATED) skip(); /* the image is not in memory */
    struct nbc_error err = {0};
    enum nb6_stop_reason reason = NB6_STOP_BLOCKS;
    nb6_t *sim = start(under_test, 0, 200, 2);
    assert_int_equal(advance(sim, INT64_MAX, 20), NB6_STOP_BLOCKS);
    struct nb6_dev *dev = sim->engine_image.image;
    dev->star[11].jerk_irr[1] = NAN;
    uint64_t before = 0;
    int status = NBC_OK;
    while (!status) {
        bring_home(sim);
        before = cluster_state(sim);
        status = nb6_engines_advance(sim, INT64_MAX, 1, &reason, &err);
    }
    assert_int_equal(status, NBC_NON_FINITE);
    assert_int_equal(reason, NB6_STOP_NON_FINITE);
    assert_non_null(strstr(err.text, "star 12 (index 11)"));
    assert_int_equal(sim->engine_image.ahead, 0);
    assert_true(dev->control->t > sim->ti_now);
    assert_int_equal(cluster_state(sim), before);
    nb6_free(sim);
}

/* ---- to and fro ---- */

/* Few stars, with strong exchange of energy in encounters: pairs form and end, and each time the state is exported and
 * imported. The host engine loses up to 3e-7 in such runs (test_plummer.c allows 1e-6 at this ETA). */
static void pairs_come_and_go(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_size(3, 1); seed++) {
        struct stops stops = {0};
        nb6_t *sim = start(under_test, 1, 150, seed);
        const double energy = cluster_energy_now(sim).total;
        nb6_set_observer(sim, &(struct nb6_observer){.context = &stops, .poll = on_poll});
        cluster_evolve(sim, 4);
        nb6_set_observer(sim, NULL);
        const double error = fabs(cluster_energy_now(sim).total / energy - 1);
        print_message("seed %d: energy error %.2e, %lld pairs, %lld moves, %lld of %lld polls elsewhere\n", (int)seed,
                      error, (long long)sim->run.counters.pairs_formed, (long long)stops.moves,
                      (long long)stops.under_test, (long long)stops.polls);
        assert_true(sim->run.counters.pairs_formed > 0 && stops.moves > 2);
        assert_true(error < 1e-6);
        cluster_assert_consistent(sim);
        nb6_free(sim);
    }
}

static int has_device(void)
{
    struct nbc_error err = {0};
    return nb6_device_engine && nb6_device_engine->check(&err) == NBC_OK;
}

/* A checkpoint of one engine is resumed with the other, in both ways. Without a GPU there is no device engine. */
static void other_engines_go_on(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    nb6_t *sim = start(under_test, 1, 300, 4), *other = NULL;
    const double energy = cluster_energy_now(sim).total;
    for (int k = 1; k <= 4; k++) {
        cluster_evolve(sim, 0.3 * k);
        sim = cluster_resumed(sim);
        assert_int_equal(sim->engine, k % 2 ? under_test : NB6_ENGINE_HOST);
        sim->engine = (int)(k % 2 ? NB6_ENGINE_HOST : under_test);
    }
    assert_true(fabs(cluster_energy_now(sim).total / energy - 1) < 1e-6);
    struct nb6_config config = sim->run.config;
    config.run.engine = NB6_ENGINE_DEVICE;
    const int status = nb6_create(&other, &config, &err);
    assert_int_equal(status, has_device() ? NBC_OK : NBC_UNAVAILABLE);
    if (status) assert_non_null(strstr(err.text, "--engine host"));
    nb6_free(other);
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_and_energy),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(stops_at_a_time_and_after_blocks),
        cmocka_unit_test(home_and_on),
        cmocka_unit_test(the_host_goes_first),
        cmocka_unit_test(stops_at_an_encounter),
        cmocka_unit_test(stops_when_a_list_is_too_long),
        cmocka_unit_test(stops_at_a_nan),
        cmocka_unit_test(pairs_come_and_go),
        cmocka_unit_test(other_engines_go_on),
    };
    int failed = cmocka_run_group_tests_name("emulated engine", tests, NULL, NULL);
    if (!has_device()) return failed;
    under_test = NB6_ENGINE_DEVICE;
    return failed + cmocka_run_group_tests_name("device engine", tests, NULL, NULL);
}
