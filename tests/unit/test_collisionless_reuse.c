/* Trees that serve many steps of a collisionless system: the same bits on all engines, for any threads, and after a
 * resume at any step; errors, energy, builds and early builds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "gpunb/tree_kept.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/force_error.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"
#include "tests/support/reuse.h"
#include "tests/support/test_size.h"

enum { BODIES = TEST_SANITIZED ? 250 : 600, MANY = 16400 };

static struct nb6_collisionless *resume(const struct nb6_collisionless *s,
                                        const struct nb6_collisionless_options *options)
{
    struct nbc_error err = {0};
    struct nb6_collisionless *made = NULL;
    if (nb6_collisionless_resume(&made, s, options, &err)) fail_msg("%s", err.text);
    return made;
}

static struct nb6_frame frame_of(struct nb6_collisionless *s)
{
    struct nbc_error err = {0};
    struct nb6_frame frame;
    if (nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, &frame, &err)) fail_msg("%s", err.text);
    return frame;
}

/* Potentials by direct sums in double: their errors are not those of the motion. */
static double energy_of(struct nb6_collisionless *s)
{
    double energy = 0;
    collisionless_home(s);
    for (int64_t i = 0; i < s->n; i++) {
        const double *x = s->x0[i], *v = s->v[i];
        energy += 0.5 * s->mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int64_t j = 0; j < i; j++) {
            double r2 = REUSE_SOFTENING * REUSE_SOFTENING;
            for (int k = 0; k < 3; k++) r2 += (x[k] - s->x0[j][k]) * (x[k] - s->x0[j][k]);
            energy -= s->mass[i] * s->mass[j] / sqrt(r2);
        }
    }
    return energy;
}

/* ---- the same bits */

/* A system that is resumed after each longest step, over two cycles and more, and one whose state is copied to host
 * memory then, end as one that is left alone. Of resumes in the second cycle `make test` has the last one. */
static void resume_at_each_step(const struct cluster *c, const struct nb6_collisionless_options *options)
{
    enum { STEPS = 11 };
    struct nb6_collisionless *alone = collisionless_start(c, options), *often = collisionless_start(c, options);
    const double step = options->dt, end = STEPS * step;
    collisionless_evolve(alone, end);
    assert_true(alone->rebuild.builds >= STEPS / (uint64_t)options->reuse && alone->rebuild.renewals > 0);
    for (int k = 0; k < STEPS; k++) {
        collisionless_evolve(often, k * step);
        collisionless_home(often);
        if (k > options->reuse && k < STEPS - 2 && !test_seeds(0, 1)) continue;
        struct nb6_collisionless *resumed = resume(often, options);
        collisionless_evolve(resumed, end);
        reuse_assert_same(alone, resumed);
        nb6_collisionless_free(resumed);
    }
    collisionless_evolve(often, end);
    reuse_assert_same(alone, often);
    nb6_collisionless_free(alone);
    nb6_collisionless_free(often);
}

static void a_resume_at_any_step_has_the_same_bits(void **state)
{
    (void)state;
    struct cluster c = reuse_cold(test_seeds(test_size(300, 150), BODIES), 3);
    for (int k = 0; k < REUSE_ENGINES; k++)
        for (int steps = NB6_COLLISIONLESS_SHARED; steps <= NB6_COLLISIONLESS_BLOCK; steps++) {
            const struct nb6_collisionless_options options =
                reuse_on_engine(reuse_options((enum nb6_collisionless_steps)steps, 4), k);
            resume_at_each_step(&c, &options);
        }
    cluster_free(&c);
}

/* Cells of other leaves, as those of another backend may be, are not taken over: a build is due. One that keeps no tree
 * leaves it, too. */
static void a_resume_with_other_leaves_builds_anew(void **state)
{
    (void)state;
    struct cluster c = reuse_cold(BODIES, 14);
    struct nb6_collisionless_options options = reuse_options(NB6_COLLISIONLESS_SHARED, 8);
    struct nb6_collisionless *s = collisionless_start(&c, &options);
    collisionless_evolve(s, 3 / 64.0);
    collisionless_home(s);
    assert_true(s->rebuild.builds == 1 && s->build_block == 0);
    struct nb6_collisionless *same = resume(s, &options);
    options.force.leaf = 12;
    struct nb6_collisionless *other = resume(s, &options);
    options.reuse = 1;
    struct nb6_collisionless *dropped = resume(s, &options);
    collisionless_evolve(same, 4 / 64.0);
    collisionless_evolve(other, 4 / 64.0);
    collisionless_evolve(dropped, 4 / 64.0);
    assert_true(same->rebuild.builds == 1 && same->build_block == 0);
    assert_true(other->rebuild.builds == 2 && other->build_block == 3 && other->rebuild.early == 0);
    assert_true(dropped->rebuild.builds == 0 && dropped->rebuild.renewals == 0);
    nb6_collisionless_free(s);
    nb6_collisionless_free(same);
    nb6_collisionless_free(other);
    nb6_collisionless_free(dropped);
    cluster_free(&c);
}

/* Also with blocks that few bodies end, for which the cost decides between the tree and direct sums. */
static void one_part_has_the_bits_of_the_host(void **state)
{
    (void)state;
    struct cluster c = reuse_cold(BODIES, 4);
    for (int k = 0; k < 4; k++) {
        const struct nb6_collisionless_options options =
            reuse_options(k % 2 ? NB6_COLLISIONLESS_BLOCK : NB6_COLLISIONLESS_SHARED, 4);
        const struct nb6_collisionless_options here = reuse_on_engine(options, k / 2),
                                               there = reuse_on_engine(options, 2 + k / 2);
        struct nb6_collisionless *a = collisionless_start(&c, &here), *b = collisionless_start(&c, &there);
        for (int part = 1; part <= 4; part++) {
            collisionless_evolve(a, part / 4.0);
            collisionless_evolve(b, part / 4.0);
            struct nb6_frame f = frame_of(a), g = frame_of(b);
            assert_memory_equal(f.pot, g.pot, BODIES * sizeof *f.pot);
            nb6_frame_free(&f);
            nb6_frame_free(&g);
            reuse_assert_same(a, b);
        }
        assert_true(a->rebuild.builds > 1 && a->rebuild.renewals > a->rebuild.builds);
        nb6_collisionless_free(a);
        nb6_collisionless_free(b);
    }
    cluster_free(&c);
}

static void any_threads_have_the_same_bits(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    const int threads[2] = {1, 3}, before = omp_get_max_threads();
    struct cluster c = reuse_cold(MANY, 5);
    for (int k = 0; k < 2; k++) {
        struct nb6_collisionless_options options = reuse_on_engine(reuse_options(NB6_COLLISIONLESS_SHARED, 3), k);
        struct nb6_collisionless *s[2];
        options.force.leaf = 0;
        for (int t = 0; t < 2; t++) {
            omp_set_num_threads(threads[t]);
            s[t] = collisionless_start(&c, &options);
            collisionless_evolve(s[t], 4 / 64.0);
            if (t) reuse_assert_same(s[0], s[t]);
        }
        omp_set_num_threads(before);
        assert_true(s[0]->rebuild.builds == 2 && s[0]->rebuild.renewals == 2);
        for (int t = 0; t < 2; t++) nb6_collisionless_free(s[t]);
    }
    cluster_free(&c);
}

/* A tree that is built for each force is that of a force without one that is kept. */
static void one_step_is_a_new_tree_for_each_force(void **state)
{
    (void)state;
    struct cluster c = reuse_cold(BODIES, 6);
    for (int reuse = 0; reuse <= 1; reuse++) {
        const struct nb6_collisionless_options options = reuse_options(NB6_COLLISIONLESS_SHARED, reuse);
        struct nb6_collisionless *s = collisionless_start(&c, &options);
        struct gpunb_tree_counts counts;
        collisionless_evolve(s, 0.25);
        nb6_collisionless_tree_counts(s, &counts);
        assert_true(s->reuse == 1 && s->rebuild.builds == 0 && !s->kept.order && !s->kept.tree);
        assert_int_equal(counts.builds, 1 + s->n_blocks);
        assert_int_equal(counts.renewals, 0);
        nb6_collisionless_free(s);
    }
    cluster_free(&c);
}

/* ---- when trees are built */

/* Of a Plummer model whose bodies move by less than a tenth of the mean distance in the core between two builds none is
 * early; while a cold one collapses, and passes through its centre, many are. */
static void builds_are_early_in_a_collapse_alone(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    enum { N = 4096, REUSE = 16, STEPS = 64 };
    struct cluster quiet = cluster_plummer(N, 7), cold_one = reuse_cold(N, 7);
    struct nb6_collisionless_options options = reuse_options(NB6_COLLISIONLESS_SHARED, REUSE);
    options.force.leaf = 0;
    options.dt = 1.0 / 1024;
    struct nb6_collisionless *s = collisionless_start(&quiet, &options);
    collisionless_evolve(s, STEPS * options.dt);
    assert_int_equal(s->rebuild.early, 0);
    assert_int_equal(s->rebuild.builds, STEPS / REUSE);
    assert_int_equal(s->rebuild.renewals, STEPS - STEPS / REUSE);
    assert_true(nb6_rebuild_failed(s) > 0);
    nb6_collisionless_free(s);
    options.dt = 1.0 / 64;
    s = collisionless_start(&cold_one, &options);
    collisionless_evolve(s, 0.25);
    assert_int_equal(s->rebuild.early, 0);
    collisionless_evolve(s, 2);
    assert_true(s->rebuild.early > 4);
    assert_true(s->rebuild.builds > 2 * 64 / REUSE);
    nb6_collisionless_free(s);
    cluster_free(&quiet);
    cluster_free(&cold_one);
}

/* The cycle counts longest steps: it is as long with block steps, whose small blocks renew the tree too. */
static void a_cycle_is_one_of_longest_steps(void **state)
{
    (void)state;
    enum { REUSE = 4, STEPS = 9 };
    struct cluster c = cluster_plummer(BODIES, 8);
    struct nb6_collisionless_options options = reuse_options(NB6_COLLISIONLESS_BLOCK, REUSE);
    options.dt = 1.0 / 128;
    options.eta = 0.01;
    options.force.order = 2; /* of these few pairs fail, whatever costs least */
    options.force.group = 256;
    struct nb6_collisionless *s = collisionless_start(&c, &options);
    uint64_t before = NB6_NO_BUILD;
    for (int k = 1; k <= STEPS; k++) {
        collisionless_evolve(s, k / 128.0);
        assert_int_equal(s->rebuild.early, 0);
        if (k > 1) assert_int_equal(s->build_block != before, k % REUSE == 0);
        before = s->build_block;
    }
    assert_true(s->n_blocks > 2 * STEPS); /* there were blocks of a part of the bodies */
    assert_int_equal(s->rebuild.builds + s->rebuild.renewals, s->n_blocks);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

/* Where trees are not for all forces, a renewed one pays for smaller blocks than a new one. */
static void a_tree_that_stands_is_worth_more(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    gpunb_t *force = NULL;
    struct nbc_error err = {0};
    const struct gpunb_options options = {.backend = "portable", .force_error = 1e-3};
    assert_int_equal(gpunb_create(&force, N, &options, &err), NBC_OK);
    size_t built = 1, renewed = 1;
    while (!gpunb_tree_kept_is_worth(force, built, N, 1)) built++;
    while (!gpunb_tree_kept_is_worth(force, renewed, N, 0)) renewed++;
    assert_true(renewed > 1 && renewed < built);
    assert_true(gpunb_tree_is_worth(force, built, N) && !gpunb_tree_is_worth(force, built - 1, N));
    assert_true(gpunb_tree_kept_pairs(force, N, N, 0.5) > gpunb_tree_kept_pairs(force, N, N, 0));
    gpunb_free(force);
}

/* ---- errors */

/* The mean over a collapse of the error that 99 of 100 bodies do not exceed, where no one exceeds the aim. */
static double mean_error(const struct cluster *c, const struct nb6_collisionless_options *options)
{
    enum { TIMES = 8 };
    double sum = 0;
    struct nb6_collisionless *s = collisionless_start(c, options);
    for (int t = 1; t <= TIMES; t++) {
        struct nb6_force_error error;
        collisionless_evolve(s, t / 4.0);
        struct nb6_frame frame = frame_of(s);
        nb6_force_error_find(&frame, REUSE_SOFTENING, &error);
        nb6_frame_free(&frame);
        sum += error.most;
        if (options->force.force_error > 0 && error.most > options->force.force_error)
            fail_msg("REUSE = %d: errors are up to %g", options->reuse, error.most);
    }
    assert_true(options->reuse == 1 || s->rebuild.renewals > s->rebuild.builds);
    nb6_collisionless_free(s);
    return sum / TIMES;
}

/* Cells that have grown are farther away when they act, so that errors do not grow: less than a tenth, which is what
 * single trees differ by. */
static void errors_stay_through_a_collapse(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    enum { REUSES = 3 };
    static const int reuse[REUSES] = {1, 4, 16};
    struct cluster c = reuse_cold(test_seeds(2500, 4096), 9);
    for (int by_angle = 0; by_angle < 2; by_angle++) {
        double mean[REUSES];
        for (int k = 0; k < REUSES; k += test_seeds(2, 1)) {
            struct nb6_collisionless_options options = reuse_options(NB6_COLLISIONLESS_SHARED, reuse[k]);
            options.force.leaf = 0;
            if (by_angle) options.force = (struct gpunb_options){.backend = "portable", .theta = 0.5};
            mean[k] = mean_error(&c, &options);
            if (mean[k] > 1.1 * mean[0]) fail_msg("REUSE = %d: %g, with new trees %g", reuse[k], mean[k], mean[0]);
        }
    }
    cluster_free(&c);
}

static void energy_is_kept(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    struct cluster c = cluster_plummer(2048, 10);
    double change[3] = {0};
    static const int reuse[3] = {1, 4, 16};
    for (int k = 0; k < 3; k += test_seeds(2, 1)) {
        struct nb6_collisionless_options options = reuse_options(NB6_COLLISIONLESS_SHARED, reuse[k]);
        struct nb6_collisionless *s = collisionless_start(&c, &options);
        const double before = energy_of(s);
        collisionless_evolve(s, 4);
        change[k] = fabs(energy_of(s) / before - 1);
        nb6_collisionless_free(s);
    }
    /* Force errors of 10^-4 that differ from step to step leave some 10^-5 (docs/algorithms/softened.md). */
    for (int k = 0; k < 3; k++)
        if (change[k] > 3e-5) fail_msg("REUSE = %d: the energy changes by %g of itself", reuse[k], change[k]);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resume_at_any_step_has_the_same_bits),
        cmocka_unit_test(a_resume_with_other_leaves_builds_anew),
        cmocka_unit_test(one_part_has_the_bits_of_the_host),
        cmocka_unit_test(any_threads_have_the_same_bits),
        cmocka_unit_test(one_step_is_a_new_tree_for_each_force),
        cmocka_unit_test(builds_are_early_in_a_collapse_alone),
        cmocka_unit_test(a_cycle_is_one_of_longest_steps),
        cmocka_unit_test(a_tree_that_stands_is_worth_more),
        cmocka_unit_test(errors_stay_through_a_collapse),
        cmocka_unit_test(energy_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
