/* Collisionless systems whose bodies are divided among ranks, which are threads here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nbody6/analysis/structure.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/state/level.h"
#include "tests/support/cluster.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/ranks.h"

static const int sizes[] = {2, 3, 5, 7, 8};
enum { SIZES = sizeof sizes / sizeof sizes[0], BODIES = 300 };

/* `ref` sums in double, so that numbers of ranks differ by rounding of 1e-16. */
static struct nb6_collisionless_options block_options(const char *backend)
{
    return (struct nb6_collisionless_options){
        .softening = 0.05, .dt = 0.125, .steps = NB6_COLLISIONLESS_BLOCK, .eta = 0.2, .force = {.backend = backend}};
}

/* Errors grow by less than a factor of 100 within a crossing time: 1e-16 becomes 1e-14, times some for many terms. */
static void ranks_are_within_rounding_of_one(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 3);
    for (int block = 0; block < 2; block++) {
        struct ranks_run run = {
            .ranks = 1, .options = block_options("ref"), .start = &c, .t = {0.5, 1}, .with_frames = 1};
        if (!block) run.options.steps = NB6_COLLISIONLESS_SHARED;
        struct ranks_run one = ranks_finished(run);
        assert_true(!block || one.state.n_steps < one.state.n_blocks * BODIES);
        for (int k = 0; k < SIZES; k++)
            for (size_t room = 0; room <= 4000; room += 4000) { /* the default, and a ring */
                run.ranks = sizes[k];
                run.options.room = room;
                struct ranks_run many = ranks_finished(run);
                ranks_assert_near(&one, &many, 1e-12);
                assert_int_equal(one.state.n_steps, many.state.n_steps);
                assert_int_equal(one.state.n_blocks, many.state.n_blocks);
                ranks_run_free(&many);
            }
        ranks_run_free(&one);
    }
    cluster_free(&c);
}

/* With the backends that runs use: sums in float, of which partial ones have another order. */
static void floats_of_ranks_are_within_rounding_of_one(void **state)
{
    (void)state;
    enum { MANY = 5000 }; /* more sources than tiles and pieces need */
    struct cluster c = cluster_plummer(MANY, 4);
    struct ranks_run run = {.ranks = 1, .options = block_options("portable"), .start = &c, .t = {0.125}};
    run.options.steps = NB6_COLLISIONLESS_SHARED;
    struct ranks_run one = ranks_finished(run);
    run.ranks = 3;
    struct ranks_run many = ranks_finished(run);
    /* 1e-7 of an acceleration of up to 10 over a step of 0.125 */
    ranks_assert_near(&one, &many, 1e-6);
    ranks_run_free(&one);
    ranks_run_free(&many);
    cluster_free(&c);
}

static void same_bits_however_messages_travel(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 5);
    for (int k = 0; k < SIZES; k++)
        for (size_t room = 0; room <= 4000; room += 4000) {
            struct ranks_run run = {.ranks = sizes[k], .options = block_options(NULL), .start = &c, .t = {0.5}};
            run.options.room = room;
            run.options.force.backend = "portable";
            ranks_assert_no_order_matters(&run, 4);
        }
    cluster_free(&c);
}

/* The state at t = 0.5 of three ranks goes on with the same bits on three, and within rounding on others. */
static void runs_go_on_on_any_number_of_ranks(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 6);
    ranks_assert_goes_on(&(struct ranks_run){.ranks = 3, .options = block_options("ref"), .start = &c, .t = {0.5, 1}},
                         1e-12);
    cluster_free(&c);
}

/* Of many bodies, and of fewer than have densities; some of them without a mass, and a few all without. */
static void ranks_are_surveyed_as_one(void **state)
{
    (void)state;
    static const int bodies[] = {1, 3, 6, 7, 8, 40, BODIES};
    for (int k = 0; k < 2 * 7; k++) {
        struct cluster c = cluster_plummer(bodies[k % 7] > 1 ? bodies[k % 7] : 2, 11);
        c.n = bodies[k % 7];
        for (int64_t i = 0; i < c.n; i++) c.mass[i] *= k < 7 ? 1 + (double)(i % 5) : c.n > 3 && i % 3 > 0;
        for (int size = 0; size < SIZES; size++) {
            struct ranks_run run = {
                .ranks = sizes[size], .options = block_options("ref"), .start = &c, .t = {0.125}, .with_frames = 1};
            run.options.room = size % 2 ? 2000 : 0;
            struct ranks_run found = ranks_finished(run);
            ranks_assert_surveyed(&found);
            ranks_run_free(&found);
        }
        cluster_free(&c);
    }
}

static void ranks_may_have_no_bodies(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 7; n += 2) {
        struct cluster c = ranks_few_bodies(n);
        struct ranks_run run = {.ranks = 1, .options = block_options("ref"), .start = &c, .t = {0.5}, .with_frames = 1};
        struct ranks_run one = ranks_finished(run);
        for (int k = 0; k < SIZES; k++) {
            run.ranks = sizes[k];
            struct ranks_run many = ranks_finished(run);
            ranks_assert_near(&one, &many, 1e-12);
            ranks_run_free(&many);
        }
        ranks_run_free(&one);
        cluster_free(&c);
    }
}

static void failures_end_a_block_on_all_ranks(void **state)
{
    (void)state;
    ranks_assert_bad_bodies_end(&(struct ranks_run){.ranks = 5, .options = block_options("ref"), .t = {0.5}});
}

/* From the opening of the world on. */
static void memory_may_end_on_any_rank(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    struct cluster c = cluster_plummer(40, 12);
    struct ranks_run run = {
        .ranks = 3, .options = block_options("portable"), .start = &c, .t = {0.125}, .with_frames = 1};
    const long failures = ranks_fail_allocations(&run, 1, fail_alloc, &alloc_left);
    assert_true(failures > 50); /* 3 ranks have some 20 arrays each */
    cluster_free(&c);
}

static void refuse(struct nb6_collisionless_options options, int status, const char *words)
{
    struct cluster c = cluster_plummer(20, 9);
    struct ranks_run run = {.ranks = 2, .options = options, .start = &c};
    ranks_run(&run);
    assert_int_equal(run.status, status);
    if (!strstr(run.err.text, words)) fail_msg("\"%s\" has not: %s", run.err.text, words);
    assert_int_equal(run.served[1], RANKS_DISMISSED);
    cluster_free(&c);
}

static void others_are_refused(void **state)
{
    (void)state;
    struct nb6_collisionless_options options = block_options("portable");
    options.force.theta = 0.5;
    options.engine = NB6_COLLISIONLESS_EMULATED;
    refuse(options, NBC_BAD_ARGUMENT, "tree");
    options = block_options("portable");
    options.engine = NB6_COLLISIONLESS_EMULATED;
    refuse(options, NBC_UNAVAILABLE, "emulated devices, not of backend portable");
    options.engine = NB6_COLLISIONLESS_DEVICE;
    refuse(options, NBC_UNAVAILABLE, "the backend is portable");
    options = block_options("emulated");
    options.engine = NB6_COLLISIONLESS_EMULATED;
    options.parts = 2;
    refuse(options, NBC_BAD_ARGUMENT, "one part");
    refuse(block_options("no such thing"), NBC_UNAVAILABLE, "no such thing");
}

static int always(void)
{
    return 1;
}

static void ranks_can_want_to_stop(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(20, 9);
    struct ranks_run run = {.ranks = 4, .options = block_options("ref"), .start = &c, .t = {0.125}};
    struct ranks_run none = ranks_finished(run);
    run.wants_stop = always;
    struct ranks_run three = ranks_finished(run);
    assert_int_equal(none.stops, 0);
    assert_int_equal(three.stops, 3);
    ranks_run_free(&none);
    ranks_run_free(&three);
    cluster_free(&c);
}

/* On a network on which messages take nine tenths as long as sums, a run takes little longer than sums alone; and
 * messages are under way in all sums but the last of each force. Bits do not know of it. */
static void sums_overlap_with_messages(void **state)
{
    (void)state;
    enum { RANKS = 8, N = 320, STEPS = 4, FORCES = STEPS + 1 };
    const double sum_s = 1; /* of all sources on a share */
    const struct nb6_network network = {
        .latency_s = 1e-6, .bytes_per_s = N * 32.0 / 0.9, .unit_s = sum_s / (N * (N / RANKS)), .scale = 1};
    struct cluster c = cluster_plummer(N, 10);
    struct ranks_run run = {.ranks = RANKS, .options = block_options("ref"), .start = &c, .t = {0.5}};
    run.options.steps = NB6_COLLISIONLESS_SHARED;
    run.options.room = 1; /* a ring, all of whose messages but the first can hide */
    struct ranks_run plain = ranks_finished(run);
    run.threads.network = &network;
    struct ranks_run timed = ranks_finished(run);
    ranks_assert_same(&plain, &timed);
    assert_int_equal(timed.counts.works - timed.counts.beside, FORCES);
    /* Bodies are scattered and gathered once: 56 and 73 bytes a body; orders are 300 bytes on the way to each rank, in
     * some ten orders. */
    const double once = (56 + 73) * N / network.bytes_per_s, orders = 10 * RANKS * 300.0 / network.bytes_per_s;
    assert_true(timed.seconds >= FORCES * sum_s);
    assert_true(timed.seconds < FORCES * sum_s + once + orders + 0.2);
    assert_true(timed.seconds < FORCES * (sum_s + 0.9 * 7 / 8)); /* one after the other */
    ranks_run_free(&plain);
    ranks_run_free(&timed);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_within_rounding_of_one),
        cmocka_unit_test(floats_of_ranks_are_within_rounding_of_one),
        cmocka_unit_test(same_bits_however_messages_travel),
        cmocka_unit_test(runs_go_on_on_any_number_of_ranks),
        cmocka_unit_test(ranks_are_surveyed_as_one),
        cmocka_unit_test(ranks_may_have_no_bodies),
        cmocka_unit_test(failures_end_a_block_on_all_ranks),
        cmocka_unit_test(memory_may_end_on_any_rank),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(ranks_can_want_to_stop),
        cmocka_unit_test(sums_overlap_with_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
