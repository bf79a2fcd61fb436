/* Trees on ranks whose lists serve many steps, direct sums on few bodies, the work of blocks, and times on a virtual
 * network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpunb/backend.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/model.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/collisionless/rebuild.h"
#include "nbody6/state/level.h"
#include "tests/support/cluster.h"
#include "tests/support/ranks.h"
#include "tests/support/test_size.h"

static const int sizes[] = {1, 2, 3, 5, 7, 8};
enum { SIZES = sizeof sizes / sizeof sizes[0], BODIES = 2000, FEW = 300 };

static const double softening = 0.05, aim = 1e-3;

static struct nb6_collisionless_options tree_options(const char *backend)
{
    return (struct nb6_collisionless_options){
        .softening = softening,
        .dt = 0.03125,
        .force = {.backend = backend, .force_error = aim, .leaf = 8, .group = 32, .walk = GPUNB_WALK_HYBRID}};
}

/* ---- trees that serve many steps */

enum { REUSE = 8 };

/* The last force is the eighth by its lists, or nearly. */
static void lists_serve_many_steps(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 3);
    for (int k = 1; k < SIZES; k += 2) {
        struct ranks_run run = {
            .ranks = sizes[k], .options = tree_options(NULL), .start = &c, .t = {0.25}, .with_frames = 1};
        run.options.dt = 1 / 64.0;
        run.options.reuse = REUSE;
        struct ranks_run done = ranks_finished(run);
        const struct ranks_errors e = ranks_errors_of(&done);
        const struct nb6_rebuild *r = &done.state.rebuild;
        assert_int_equal(r->builds + r->renewals, 16);
        assert_true(r->builds >= 16 / REUSE && r->renewals > r->builds);
        assert_true(e.acc <= aim && e.acc > 0);
        assert_true(e.pot <= 0.1 * aim);
        ranks_run_free(&done);
    }
    cluster_free(&c);
}

static void lists_have_the_same_bits(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 5);
    for (int k = 1; k < SIZES; k++) {
        struct ranks_run run = {.ranks = sizes[k], .options = tree_options("portable"), .start = &c, .t = {0.25}};
        run.options.reuse = 4;
        struct ranks_run first = ranks_finished(run);
        assert_true(first.state.rebuild.renewals > 0);
        run.threads.shuffle = (uint64_t)k;
        run.with_frames = 1;
        struct ranks_run again = ranks_finished(run);
        ranks_assert_same(&first, &again);
        ranks_run_free(&first);
        ranks_run_free(&again);
    }
    cluster_free(&c);
}

/* With shared steps and block steps: what is resumed goes on as what is left alone. */
static void a_resume_at_any_step_has_the_same_bits(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 9);
    for (int steps = NB6_COLLISIONLESS_SHARED; steps <= NB6_COLLISIONLESS_BLOCK; steps++) {
        struct ranks_run run = {.ranks = 3, .options = tree_options("portable"), .start = &c, .t = {0.25}};
        int stood = 0;
        run.options.steps = (enum nb6_collisionless_steps)steps;
        run.options.eta = 0.1;
        run.options.reuse = 4;
        struct ranks_run alone = ranks_finished(run);
        for (int k = 1; k < 8; k++) {
            run.t[0] = k * run.options.dt;
            struct ranks_run before = ranks_finished(run), rest = run;
            stood += before.state.rebuild.state == NB6_TREE_STANDS;
            rest.start = NULL;
            rest.resume = &before;
            rest.t[0] = 0.25;
            struct ranks_run after = ranks_finished(rest);
            ranks_assert_same(&alone, &after);
            assert_memory_equal(&alone.state.rebuild, &after.state.rebuild, sizeof alone.state.rebuild);
            ranks_run_free(&before);
            ranks_run_free(&after);
        }
        assert_true(stood > 0);
        ranks_run_free(&alone);
    }
    cluster_free(&c);
}

/* On another number of ranks new lists are made. */
static void a_resume_on_other_ranks_builds_anew(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 9);
    struct ranks_run run = {.ranks = 3, .options = tree_options("portable"), .start = &c, .t = {2 / 256.0}};
    run.options.dt = 1 / 256.0;
    run.options.reuse = 4;
    struct ranks_run before = ranks_finished(run);
    assert_int_equal(before.state.rebuild.state, NB6_TREE_STANDS);
    run.start = NULL;
    run.resume = &before;
    run.t[0] = 3 * run.options.dt;
    for (int ranks = 1; ranks <= 5; ranks += 4) {
        run.ranks = ranks;
        struct ranks_run after = ranks_finished(run);
        assert_int_equal(after.state.rebuild.builds, before.state.rebuild.builds + 1);
        assert_int_equal(after.state.rebuild.early, before.state.rebuild.early);
        ranks_run_free(&after);
    }
    ranks_run_free(&before);
    cluster_free(&c);
}

/* Lists that cost more and more: no other number of steps has fewer pairs in all. Blocks within a step count as their
 * work does. */
static void builds_come_when_lists_cost_more(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    const struct nb6_collisionless_options o = tree_options("portable");
    struct nb6_collisionless s = {.n_all = BODIES, .max_level = 40, .reuse = 64};
    assert_int_equal(gpunb_create(&s.force, 1, &o.force, &err), NBC_OK);
    const double build =
        2 * (gpunb_tree_kept_pairs(s.force, 0, BODIES, 1) - gpunb_tree_kept_pairs(s.force, 0, BODIES, 0));
    for (int steps = 2; steps <= 40; steps += 2)
        for (int blocks = 1; blocks <= 4; blocks *= 4) {
            const uint64_t first = 1000000000, more = (uint64_t)(2 * build / steps / steps / blocks);
            int served = 0, best = 1;
            double least = INFINITY;
            for (int k = 1; k <= 60; k++) {
                const double each = (build + 0.5 * k * (k - 1) * (double)more * blocks) / k;
                if (each < least) best = k;
                least = fmin(each, least);
            }
            s.rebuild = (struct nb6_rebuild){.state = NB6_TREE_STANDS};
            for (; s.rebuild.state == NB6_TREE_STANDS && served <= 60; served++) {
                const uint64_t of_force = first + (uint64_t)served * more;
                nb6_rebuild_judge_work(&s, served * nb6_step_ticks(s.max_level), of_force, of_force * (uint64_t)blocks);
            }
            assert_in_range(served, best - 1, best + 1);
            assert_in_range(best, steps - 1, steps + 1);
        }
    gpunb_free(s.force);
}

/* ---- two galaxies */

enum { OF_A_GALAXY = 600, RADII = 5 };
static const double shares[RADII] = {0.05, 0.1, 0.2, 0.5, 0.8};

/* Plummer spheres of half of the mass and half of the size, on a parabola that passes its nearest place at t = 2. */
static struct cluster make_galaxies(void)
{
    struct cluster both = cluster_alloc(2 * OF_A_GALAXY);
    for (int64_t g = 0; g < 2; g++) {
        struct cluster one = cluster_plummer(OF_A_GALAXY, (uint64_t)(5 + g));
        const double side = g == 0 ? 1 : -1, at[3] = {1, 0, 0}, moves[3] = {-0.45, 0.22, 0};
        for (int64_t i = 0; i < OF_A_GALAXY; i++) {
            both.mass[g * OF_A_GALAXY + i] = 0.5 * one.mass[i];
            for (int d = 0; d < 3; d++) {
                both.x[g * OF_A_GALAXY + i][d] = 0.5 * one.x[i][d] + side * at[d];
                both.v[g * OF_A_GALAXY + i][d] = one.v[i][d] + side * moves[d];
            }
        }
        cluster_free(&one);
    }
    return both;
}

static double energy_of(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3])
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double pot = 0;
        for (int64_t j = 0; j < i; j++) {
            const double d[3] = {x[i][0] - x[j][0], x[i][1] - x[j][1], x[i][2] - x[j][2]};
            pot += mass[j] / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening * softening);
        }
        sum += mass[i] * ((v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]) / 2 - pot);
    }
    return sum;
}

static int by_size(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Of spheres about the centre of a galaxy's bodies that have these shares of them. */
static void find_radii(const double (*x)[3], double radius[RADII])
{
    double centre[3] = {0}, away[OF_A_GALAXY];
    for (int i = 0; i < OF_A_GALAXY; i++)
        for (int d = 0; d < 3; d++) centre[d] += x[i][d] / OF_A_GALAXY;
    for (int i = 0; i < OF_A_GALAXY; i++)
        away[i] = hypot(hypot(x[i][0] - centre[0], x[i][1] - centre[1]), x[i][2] - centre[2]);
    qsort(away, OF_A_GALAXY, sizeof *away, by_size);
    for (int k = 0; k < RADII; k++) radius[k] = away[(int)(shares[k] * OF_A_GALAXY)];
}

/* To just after they have been nearest, when lists become old soonest. Steps leave 1e-4 of the energy on one rank, and
 * differences of forces 5e-6 between both. Radii are those within what an error of the aim in all forces would make of
 * them; found: 4e-5. */
static void galaxies_collide_on_two_ranks_as_on_one(void **state)
{
    (void)state;
    struct cluster c = make_galaxies();
    const double start = energy_of(c.n, c.mass, (const double(*)[3])c.x, (const double(*)[3])c.v);
    double error[2], radius[2][2][RADII];
    for (int ranks = 1; ranks <= 2; ranks++) {
        struct ranks_run run = {.ranks = ranks, .options = tree_options(NULL), .start = &c, .t = {2.5}};
        run.options.reuse = 4;
        struct ranks_run done = ranks_finished(run);
        const double(*x)[3] = (const double(*)[3])done.state.x0;
        error[ranks - 1] = energy_of(c.n, done.state.mass, x, (const double(*)[3])done.state.v) / start - 1;
        for (int g = 0; g < 2; g++) find_radii(x + g * OF_A_GALAXY, radius[ranks - 1][g]);
        ranks_run_free(&done);
    }
    assert_true(fabs(error[0]) < 3e-4 && fabs(error[1] - error[0]) < 3e-5);
    for (int g = 0; g < 2; g++)
        for (int k = 0; k < RADII; k++) assert_true(fabs(radius[1][g][k] / radius[0][g][k] - 1) < aim);
    cluster_free(&c);
}

/* ---- few bodies */

/* Where nominal costs ask for direct sums, as on one rank. The first force alone is made by a tree, to 1e-4. */
static void few_bodies_have_direct_sums(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 10);
    struct ranks_run run = {.ranks = 1, .options = tree_options("portable"), .start = &c, .t = {0.25}};
    run.options.force.walk = GPUNB_WALK_DEFAULT;
    run.options.force.force_error = 1e-4;
    run.options.steps = NB6_COLLISIONLESS_BLOCK;
    run.options.eta = 0.1;
    struct ranks_run one = ranks_finished(run);
    for (int reuse = 1; reuse <= 4; reuse += 3) {
        run.ranks = 5;
        run.options.reuse = reuse;
        struct ranks_run many = ranks_finished(run);
        assert_int_equal(many.state.rebuild.builds, 0);
        ranks_assert_near(&one, &many, 1e-4);
        ranks_run_free(&many);
    }
    ranks_run_free(&one);
    cluster_free(&c);
}

/* Of two clumps of as many bodies the dense one, whose steps are short, has most of the work: its rank gets fewer
 * bodies than half of them. (With more than seven eighths of it the width of that clump alone would count, in which
 * axes are alike.) */
static void domains_have_the_work_of_all_blocks(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 11);
    for (int64_t i = 0; i < FEW; i++)
        for (int k = 0; k < 3; k++) {
            c.x[i][k] = (i % 2 ? 2 : 0.3) * c.x[i][k] + (k == 0 ? (i % 2 ? 8 : -8) : 0);
            c.v[i][k] = 0;
        }
    struct ranks_run run = {.ranks = 2, .options = tree_options("portable"), .start = &c, .t = {0.03125}};
    run.options.softening = 0.01;
    run.options.steps = NB6_COLLISIONLESS_BLOCK;
    run.options.eta = 0.05;
    struct ranks_run done = ranks_finished(run);
    int64_t first = 0;
    for (int64_t i = 0; i < FEW; i++) first += nb6_sections_rank_of(done.state.sections, done.state.x0[i]) == 0;
    assert_in_range(first, FEW / 10, FEW * 2 / 5);
    ranks_run_free(&done);
    cluster_free(&c);
}

/* ---- the virtual network */

static struct ranks_run timed(const struct cluster *c, int ranks, int reuse, int steps,
                              const struct nb6_network *network)
{
    struct ranks_run run = {.ranks = ranks, .options = tree_options("portable"), .start = c};
    run.options.dt = reuse > 1 ? 1 / 2048.0 : 1 / 256.0; /* no plan wears out; some bodies go */
    run.options.reuse = reuse;
    run.threads.network = network;
    run.t[0] = steps * run.options.dt;
    return ranks_finished(run);
}

/* Seconds of a step, from the fifth to the seventh, between two divisions, on the clock of rank 0.
 * @param[out] bytes  of its trees */
static double step_seconds(const struct cluster *c, int ranks, int reuse, const struct nb6_network *network,
                           double *bytes)
{
    struct ranks_run before = timed(c, ranks, reuse, 4, network), after = timed(c, ranks, reuse, 7, network);
    const double seconds = (after.seconds - before.seconds) / 3;
    assert_int_equal(before.state.rebuild.builds, reuse > 1);
    assert_int_equal(after.state.rebuild.builds, reuse > 1);
    *bytes = (double)(after.tree_counts.bytes - before.tree_counts.bytes) / 3;
    ranks_run_free(&before);
    ranks_run_free(&after);
    return seconds;
}

/* Work alone, then messages of 1 ms, then 1 MB a second: within 6 percent for starts of messages, some of which end
 * while other ranks wait for others, and 25 for bytes, of which those of the first rank are known. */
static void messages_take_the_time_of_the_model(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    static const double TOP = 16 + 112 + 320, REACH = 72, BOX = 64;
    struct cluster c = cluster_plummer(BODIES, 13);
    for (int ranks = 2; ranks <= 8; ranks *= 4)
        for (int reuse = 1; reuse <= 8; reuse += 7) {
            const struct nb6_network fast = {.bytes_per_s = 1e18, .unit_s = 1e-9, .scale = 1};
            struct nb6_network slow = fast, narrow = fast;
            slow.latency_s = 1e-3;
            narrow.bytes_per_s = 1e6;
            struct nb6_rank_tree_model m = {.all_bytes = TOP + (reuse > 1 ? 0 : REACH),
                                            .box_bytes = (ranks - 1) * (BODIES / ranks / 16.0) * BOX,
                                            .is_kept = reuse > 1};
            m.work_s = step_seconds(&c, ranks, reuse, &fast, &m.tree_bytes);
            m.latency_s = slow.latency_s;
            m.bytes_per_s = slow.bytes_per_s;
            const double of_slow =
                step_seconds(&c, ranks, reuse, &slow, &m.tree_bytes) / nb6_rank_tree_seconds(&m, ranks);
            m.latency_s = 0;
            m.bytes_per_s = narrow.bytes_per_s;
            const double of_narrow =
                step_seconds(&c, ranks, reuse, &narrow, &m.tree_bytes) / nb6_rank_tree_seconds(&m, ranks);
            assert_true(fabs(of_slow - 1) < 0.06 && fabs(of_narrow - 1) < 0.25);
        }
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_serve_many_steps),
        cmocka_unit_test(lists_have_the_same_bits),
        cmocka_unit_test(a_resume_at_any_step_has_the_same_bits),
        cmocka_unit_test(a_resume_on_other_ranks_builds_anew),
        cmocka_unit_test(builds_come_when_lists_cost_more),
        cmocka_unit_test(galaxies_collide_on_two_ranks_as_on_one),
        cmocka_unit_test(few_bodies_have_direct_sums),
        cmocka_unit_test(domains_have_the_work_of_all_blocks),
        cmocka_unit_test(messages_take_the_time_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
