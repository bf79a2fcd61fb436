/* Collisionless systems with forces by a tree on ranks that are threads: domains, essential trees, runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/bodies.h"
#include "nbody6/collisionless/ranks/moves.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/collisionless/system_memory.h"
#include "nbody6/world/threads.h"
#include "nbody6/world/world.h"
#include "tests/support/cluster.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/ranks.h"

static const int sizes[] = {1, 2, 3, 5, 7, 8};
enum { SIZES = sizeof sizes / sizeof sizes[0], BODIES = TEST_SANITIZED ? 800 : 2000, FEW = 300 };

static const double softening = 0.05, aim = 1e-3;

static struct nb6_collisionless_options tree_options(const char *backend)
{
    return (struct nb6_collisionless_options){
        .softening = softening,
        .dt = 0.03125,
        .force = {.backend = backend, .force_error = aim, .leaf = 8, .group = 32, .walk = GPUNB_WALK_HYBRID}};
}

/* ---- errors */

/* The promises of tree.h for one process: the aim, and a tenth of it for potentials. Errors of pairs are in no relation
 * to each other: those of 2000 bodies have a sum of the aim over the root of their number in the worst case. The
 * largest work of 2 to 8 ranks is 1.01 to 1.08 of the mean, by groups that are cells up to 1.2; the bound is between
 * them. */
static void errors_are_within_the_aim(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 3);
    for (int k = 0; k < SIZES; k++) {
        struct ranks_run run = {
            .ranks = sizes[k], .options = tree_options(NULL), .start = &c, .t = {0.125}, .with_frames = 1};
        struct ranks_run done = ranks_finished(run);
        const struct ranks_errors e = ranks_errors_of(&done);
        assert_true(e.acc <= aim && e.acc > 0);
        assert_true(e.pot <= 0.1 * aim);
        assert_true(e.momentum <= aim / sqrt(BODIES));
        if (sizes[k] > 1) assert_true(done.tree_counts.load >= 1 && done.tree_counts.load < 1.14);
        if (sizes[k] > 1) ranks_assert_surveyed(&done);
        ranks_run_free(&done);
    }
    cluster_free(&c);
}

/* Devices have the own trees, and walk that of all. */
static void devices_make_forces_of_ranks(void **state)
{
    (void)state;
    static const int ranks[] = {2, 5};
    struct cluster c = cluster_plummer(BODIES, 3);
    for (int k = 0; k < 2; k++) {
        struct ranks_run run = {.ranks = ranks[k],
                                .options = tree_options("emulated"),
                                .start = &c,
                                .t = {0.0625, 0.125},
                                .with_frames = 1};
        run.options.reuse = k == 0 ? 1 : 4;
        struct ranks_run done = ranks_finished(run);
        const struct ranks_errors e = ranks_errors_of(&done);
        assert_true(e.acc <= aim && e.acc > 0);
        assert_true(e.pot <= 0.1 * aim);
        ranks_assert_no_order_matters(&run, 1);
        ranks_run_free(&done);
    }
    cluster_free(&c);
}

/* ---- bits */

static void same_bits_however_messages_travel(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 5);
    for (int k = 1; k < SIZES; k++) {
        struct ranks_run run = {
            .ranks = sizes[k], .options = tree_options("portable"), .start = &c, .t = {0.125}, .with_frames = 1};
        ranks_assert_no_order_matters(&run, 3);
    }
    cluster_free(&c);
}

/* With small steps of some bodies, too: a rank may have none that is due. */
static void block_steps_are_those_of_one(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 6);
    struct ranks_run run = {.ranks = 1, .options = tree_options("portable"), .start = &c, .t = {0.125, 0.25}};
    run.options.steps = NB6_COLLISIONLESS_BLOCK;
    run.options.dt = 0.125;
    run.options.eta = 0.1;
    struct ranks_run one = ranks_finished(run);
    assert_true(one.state.n_steps < one.state.n_blocks * FEW);
    run.ranks = 5;
    struct ranks_run many = ranks_finished(run);
    /* Forces differ by some of the aim; over a quarter of a unit that is 0.25^2/2 of it times |a| of up to 3. */
    for (int64_t i = 0; i < FEW; i++)
        for (int k = 0; k < 3; k++) assert_true(fabs(one.state.x0[i][k] - many.state.x0[i][k]) < 0.1 * aim);
    ranks_run_free(&one);
    ranks_run_free(&many);
    cluster_free(&c);
}

/* ---- odd divisions */

/* With one body there is nothing that lists could have. */
static void ranks_may_have_no_bodies(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 7; n += 2)
        for (int reuse = 1; reuse <= 3; reuse += 2) {
            struct cluster c = ranks_few_bodies(n);
            struct ranks_run run = {
                .ranks = 8, .options = tree_options("ref"), .start = &c, .t = {0.125}, .with_frames = 1};
            run.options.reuse = reuse;
            struct ranks_run many = ranks_finished(run);
            assert_true(reuse == 1 || many.state.rebuild.renewals > 0);
            run.ranks = 1;
            struct ranks_run one = ranks_finished(run);
            for (int64_t i = 0; i < n; i++)
                for (int k = 0; k < 3; k++) assert_true(fabs(one.state.x0[i][k] - many.state.x0[i][k]) < 1e-6);
            ranks_run_free(&one);
            ranks_run_free(&many);
            cluster_free(&c);
        }
}

/* In one point they are in one domain, whatever is done. */
static void all_bodies_may_be_in_one_domain(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(100, 8);
    for (int64_t i = 0; i < c.n; i++)
        for (int k = 0; k < 3; k++) {
            c.x[i][k] = 0.25;
            c.v[i][k] = i < c.n / 2 ? 0.5 : -0.5;
        }
    for (int reuse = 1; reuse <= 3; reuse += 2) {
        struct ranks_run run = {
            .ranks = 5, .options = tree_options("ref"), .start = &c, .t = {0.125}, .with_frames = 1};
        run.options.reuse = reuse;
        struct ranks_run done = ranks_finished(run);
        for (int64_t i = 0; i < c.n; i++) assert_true(isfinite(done.state.x0[i][0]) && done.pot[i] < 0);
        ranks_run_free(&done);
    }
    cluster_free(&c);
}

/* ---- failures */

static void failures_end_a_block_on_all_ranks(void **state)
{
    (void)state;
    ranks_assert_bad_bodies_end(&(struct ranks_run){.ranks = 5, .options = tree_options("ref"), .t = {0.5}});
}

/* Of lists that are kept, too, and of those that are made again. */
static void memory_may_end_on_any_rank(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    struct cluster c = cluster_plummer(40, 12);
    struct ranks_run run = {
        .ranks = 3, .options = tree_options("portable"), .start = &c, .t = {0.0625}, .with_frames = 1};
    run.options.reuse = 2;
    const long failures = ranks_fail_allocations(&run, test_seeds(19, 1), fail_alloc, &alloc_left);
    assert_true(failures > 10); /* of some 200 and more */
    run.t[0] = 0.03125;
    struct ranks_run before = ranks_finished(run);
    assert_true(before.state.kept.has_places);
    run.start = NULL;
    run.resume = &before;
    run.t[0] = 0.0625;
    assert_true(ranks_fail_allocations(&run, test_seeds(19, 1), fail_alloc, &alloc_left) > 10);
    ranks_run_free(&before);
    cluster_free(&c);
}

/* ---- domains */

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

/* Domains of samples of equal weight have as many of them; a body of each is found there; numbers of slabs fit the
 * spreads: 4 x 4 x 4 of a cube. */
static void domains_have_equal_work(void **state)
{
    (void)state;
    enum { SAMPLES = 60000 };
    static const int ranks[] = {1, 2, 3, 5, 7, 8, 64, 100};
    struct nb6_sample *sample = malloc(SAMPLES * sizeof *sample), *kept = malloc(SAMPLES * sizeof *kept);
    uint64_t seed = 7;
    assert_true(sample && kept);
    for (size_t i = 0; i < SAMPLES; i++)
        sample[i] = (struct nb6_sample){{uniform(&seed), uniform(&seed), uniform(&seed)}, 1};
    memcpy(kept, sample, SAMPLES * sizeof *kept);
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
        struct nb6_sections *s = nb6_sections_create(ranks[k]);
        int count[100] = {0}, cuts[3] = {0};
        assert_non_null(s);
        nb6_sections_divide(s, sample, SAMPLES);
        for (size_t i = 0; i < SAMPLES; i++) count[nb6_sections_rank_of(s, kept[i].x)]++;
        for (int r = 0; r < ranks[k]; r++) /* a cut is between two samples, on each side of a domain */
            assert_true(abs(count[r] - SAMPLES / ranks[k]) <= 6);
        for (int r = 1; r < ranks[k]; r++) cuts[s->level[r]]++;
        if (ranks[k] == 64) {
            assert_int_equal(cuts[0], 3);
            assert_int_equal(cuts[1], 12);
            assert_int_equal(cuts[2], 48);
        }
        nb6_sections_free(s);
    }
    free(sample);
    free(kept);
}

/* A plane is cut along its two axes alone, a line along one. */
static void domains_fit_what_they_divide(void **state)
{
    (void)state;
    enum { SAMPLES = 6400, RANKS = 16 };
    struct nb6_sample *sample = malloc(SAMPLES * sizeof *sample);
    uint64_t seed = 8;
    assert_non_null(sample);
    for (int flat = 1; flat <= 3; flat++) {
        struct nb6_sections *s = nb6_sections_create(RANKS);
        int cuts[3] = {0};
        assert_non_null(s);
        for (size_t i = 0; i < SAMPLES; i++) {
            sample[i] = (struct nb6_sample){{uniform(&seed), uniform(&seed), uniform(&seed)}, 1};
            for (int k = 0; k < flat; k++) sample[i].x[k] = 0.5;
        }
        nb6_sections_divide(s, sample, SAMPLES);
        for (int r = 1; r < RANKS; r++) cuts[s->level[r]]++;
        if (flat == 1) assert_int_equal(cuts[2], 0);
        if (flat == 2) assert_int_equal(cuts[0], RANKS - 1);
        const double x[3] = {0.5, 0.5, 0.5};
        assert_in_range(nb6_sections_rank_of(s, x), 0, RANKS - 1);
        nb6_sections_free(s);
    }
    free(sample);
}

/* Where widths are about the same, axes stay as they were: those of a box of another shape are others. */
static void domains_stay_along_their_axes(void **state)
{
    (void)state;
    enum { SAMPLES = 8000, RANKS = 8, SHAPES = 4 };
    static const double width[SHAPES][3] = {{1, 1.05, 1.1}, {1.1, 1, 1.05}, {1.15, 1, 1}, {1.3, 1, 1}};
    static const int first[SHAPES] = {2, 2, 2, 0}; /* of the axes */
    struct nb6_sample sample[SAMPLES];
    struct nb6_sections *s = nb6_sections_create(RANKS);
    uint64_t seed = 10;
    assert_non_null(s);
    for (int shape = 0; shape < SHAPES; shape++) {
        for (size_t i = 0; i < SAMPLES; i++) {
            sample[i].weight = 1;
            for (int k = 0; k < 3; k++) sample[i].x[k] = width[shape][k] * uniform(&seed);
        }
        nb6_sections_divide(s, sample, SAMPLES);
        assert_int_equal(s->axis[0], first[shape]);
        for (int r = 1; r < RANKS; r++) assert_int_equal(s->level[r], r == 4 ? 0 : r % 2 ? 2 : 1);
    }
    nb6_sections_free(s);
}

/* Of a heavy line and a plane of many light samples across it the line, which has the work, is cut first. */
static void domains_fit_where_the_work_is(void **state)
{
    (void)state;
    enum { SAMPLES = 1000, RANKS = 8 };
    struct nb6_sample sample[SAMPLES];
    struct nb6_sections *s = nb6_sections_create(RANKS);
    uint64_t seed = 9;
    assert_non_null(s);
    for (size_t i = 0; i < SAMPLES; i++) {
        const int in_line = i % 10 == 0;
        sample[i] = (struct nb6_sample){{0, uniform(&seed), uniform(&seed)}, in_line ? 1000 : 1};
        if (in_line)
            for (int k = 0; k < 3; k++) sample[i].x[k] = k == 0 ? uniform(&seed) : 0.5;
    }
    nb6_sections_divide(s, sample, SAMPLES);
    assert_int_equal(s->axis[0], 0);
    for (int r = 1; r < RANKS; r++) assert_int_equal(s->level[r], 0);
    nb6_sections_free(s);
}

/* ---- bodies that go to other ranks, by as many threads as there are */

enum { TRAVELLERS = 40000 };

/* Where a body goes in a turn: most stay, or all go to one rank, or to others at random. */
static int goal(int64_t name, int turn, int own, int ranks)
{
    const uint64_t number = ((uint64_t)name * 0x9e3779b97f4a7c15u + (uint64_t)turn) >> 40;
    if (turn == 0) return number % 1000 == 0 ? (int)(number / 1000 % (uint64_t)ranks) : own;
    return turn == 1 ? 0 : (int)(number % (uint64_t)ranks);
}

static void fill_body(struct nb6_collisionless *s, int64_t i)
{
    const double name = (double)s->name[i];
    s->mass[i] = 0.5 * name;
    s->level[i] = (int8_t)(s->name[i] % 100);
    for (int k = 0; k < 3; k++) {
        s->x0[i][k] = name + 0.1 * k;
        s->v[i][k] = -s->x0[i][k];
        s->acc[i][k] = 2 * s->x0[i][k];
    }
}

/* All that a body has follows from its name; names ascend. */
static void check_bodies(const struct nb6_collisionless *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        const double name = (double)s->name[i];
        if (i > 0) assert_true(s->name[i] > s->name[i - 1]);
        assert_true(s->mass[i] == 0.5 * name && s->level[i] == s->name[i] % 100);
        for (int k = 0; k < 3; k++)
            assert_true(s->x0[i][k] == name + 0.1 * k && s->v[i][k] == -s->x0[i][k] && s->acc[i][k] == 2 * s->x0[i][k]);
    }
}

static void let_bodies_go(struct nb6_world *world, void *context)
{
    struct nb6_collisionless s = {.world = world};
    struct nbc_error err = {0};
    const int ranks = nb6_world_size(world), own = nb6_world_rank(world);
    (void)context;
    omp_set_num_threads(3);
    nb6_world_share(world, TRAVELLERS, own, &s.first, &s.room);
    s.n = s.room -= s.first;
    assert_int_equal(nb6_collisionless_allocate(&s, &err), NBC_OK);
    assert_int_equal(nb6_moves_open(&s.moves, world, &err), NBC_OK);
    assert_non_null(s.work = nbc_alloc((size_t)s.n, sizeof *s.work));
    for (int64_t i = 0; i < s.n; i++) {
        s.name[i] = s.first + i + 1;
        fill_body(&s, i);
    }
    for (int turn = 0; turn < 3; turn++) {
        int32_t *to = malloc(((size_t)s.n + 1) * sizeof *to);
        int64_t all = 0;
        assert_non_null(to);
        for (int64_t i = 0; i < s.n; i++) to[i] = goal(s.name[i], turn, own, ranks);
        assert_int_equal(nb6_rank_bodies_send(&s, to, &err), NBC_OK);
        free(to);
        check_bodies(&s);
        all = s.n;
        nb6_world_sum(world, &all, 1);
        assert_int_equal(all, TRAVELLERS);
        if (turn == 1) assert_int_equal(s.n, own == 0 ? TRAVELLERS : 0);
        for (int64_t i = 0; i < s.n && turn == 2; i++) assert_int_equal(goal(s.name[i], turn, own, ranks), own);
    }
    nb6_moves_close(s.moves);
    nb6_collisionless_release(&s);
}

static void bodies_go_where_they_belong(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    assert_int_equal(nb6_world_threads_run(2, &(struct nb6_threads_options){0}, let_bodies_go, NULL, &err), NBC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_have_equal_work),         cmocka_unit_test(domains_fit_what_they_divide),
        cmocka_unit_test(domains_fit_where_the_work_is),   cmocka_unit_test(domains_stay_along_their_axes),
        cmocka_unit_test(errors_are_within_the_aim),       cmocka_unit_test(same_bits_however_messages_travel),
        cmocka_unit_test(block_steps_are_those_of_one),    cmocka_unit_test(ranks_may_have_no_bodies),
        cmocka_unit_test(all_bodies_may_be_in_one_domain), cmocka_unit_test(failures_end_a_block_on_all_ranks),
        cmocka_unit_test(memory_may_end_on_any_rank),      cmocka_unit_test(devices_make_forces_of_ranks),
        cmocka_unit_test(bodies_go_where_they_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
