/* Collisionless systems with forces by a tree: errors, the same bits, what each engine's trees do, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/force_error.h"
#include "nbody6/collisionless/part.h"
#include "nbody6/collisionless/resident.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"
#include "tests/support/test_size.h"

/* BODIES: enough for several cells; MANY: for several threads (leapfrog.c has 4096 bodies at least in each). */
enum { BODIES = TEST_SANITIZED ? 250 : 600, MANY = 16400, SAMPLE = 64 };

static const double SOFTENING = 0.05;

/* With a walk of its own a tree makes all forces, also where direct sums would cost less. */
static struct nb6_collisionless_options options_of(enum nb6_collisionless_steps steps, double force_error)
{
    return (struct nb6_collisionless_options){.softening = SOFTENING,
                                              .dt = steps == NB6_COLLISIONLESS_BLOCK ? 0.125 : 1.0 / 64,
                                              .steps = steps,
                                              .eta = 0.2,
                                              .engine = NB6_COLLISIONLESS_HOST,
                                              .force = {.force_error = force_error, .walk = GPUNB_WALK_GROUPS}};
}

static struct nb6_collisionless_options emulated(struct nb6_collisionless_options options, int parts)
{
    options.engine = NB6_COLLISIONLESS_EMULATED;
    options.parts = parts;
    return options;
}

/* Forces of processors, whose trees are in memory, and of emulated devices, whose trees are where the bodies are. */
enum { BACKENDS = 2 };
static const char *const backends[BACKENDS] = {"portable", "emulated"};

static struct nb6_frame frame_of(struct nb6_collisionless *s, int options)
{
    struct nbc_error err = {0};
    struct nb6_frame frame;
    if (nb6_collisionless_frame(s, options, &frame, &err)) fail_msg("%s", err.text);
    return frame;
}

static struct gpunb_tree_counts counts_of(const struct nb6_collisionless *s)
{
    struct gpunb_tree_counts counts;
    nb6_collisionless_tree_counts(s, &counts);
    return counts;
}

/* ---- errors */

/* FORCE_ERROR is the aim for 99 of 100 bodies, and none is wrong by more than 20 times that: at the start, where a
 * force by angle comes first, and after steps, whose accelerations are the scale of the next ones. */
static void errors_are_below_the_aim(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    static const double aim[] = {1e-2, 1e-3, 1e-4};
    struct cluster c = cluster_plummer(MANY, 11);
    for (int k = 0; k < 3; k++) {
        const struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_SHARED, aim[k]);
        struct nb6_collisionless *s = collisionless_start(&c, &options);
        for (int step = 0; step < 3; step++) {
            struct nb6_force_error error;
            collisionless_evolve(s, step / 64.0);
            struct nb6_frame frame = frame_of(s, 0);
            nb6_force_error_find(&frame, SOFTENING, &error);
            assert_true(error.half > 0 && error.half <= error.most && error.most <= error.largest);
            if (error.most >= aim[k]) fail_msg("aim %g: 99 of 100 errors are up to %g", aim[k], error.most);
            if (error.largest >= 20 * aim[k]) fail_msg("aim %g: an error is %g", aim[k], error.largest);
            nb6_frame_free(&frame);
        }
        nb6_collisionless_free(s);
    }
    cluster_free(&c);
}

/* Potentials have a tenth of the aim. */
static void potentials_are_by_tree_too(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    const double aim = 1e-3;
    struct cluster c = cluster_plummer(MANY, 12);
    const struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_SHARED, aim);
    struct nb6_collisionless *s = collisionless_start(&c, &options);
    struct nb6_frame frame = frame_of(s, NB6_FRAME_POTENTIAL);
    double largest = 0;
    for (int64_t i = 0; i < c.n; i += c.n / SAMPLE) {
        double pot = 0;
        for (int64_t j = 0; j < c.n; j++) {
            double r2 = SOFTENING * SOFTENING;
            for (int k = 0; k < 3; k++) r2 += (c.x[j][k] - c.x[i][k]) * (c.x[j][k] - c.x[i][k]);
            if (j != i) pot -= c.mass[j] / sqrt(r2);
        }
        largest = fmax(largest, fabs(frame.pot[i] / pot - 1));
    }
    assert_true(largest > 0 && largest < 0.1 * aim);
    assert_int_equal(counts_of(s).forces, 2); /* that of the start, and the potential */
    nb6_frame_free(&frame);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

/* Bodies at rest in a row: the force on each of them from sums in double, and what is found if it is wrong by a known
 * part. Of 2048 bodies every other one is looked at. */
static void errors_are_those_of_the_frame(void **state)
{
    (void)state;
    enum { N = 2 * NB6_FORCE_ERROR_BODIES };
    const double part = 1e-3;
    struct nb6_force_error error;
    struct cluster c = cluster_plummer(N, 13);
    struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_SHARED, 0);
    options.force.backend = "ref"; /* sums in double */
    struct nb6_collisionless *s = collisionless_start(&c, &options);
    struct nb6_frame frame = frame_of(s, 0);
    nb6_force_error_find(&frame, SOFTENING, &error);
    assert_true(error.largest < 1e-12); /* roundings of 2048 terms */
    for (int k = 0; k < 3; k++) frame.acc[7][k] *= 1 + part;
    nb6_force_error_find(&frame, SOFTENING, &error);
    assert_true(error.largest < 1e-12);
    for (int k = 0; k < 3; k++) frame.acc[8][k] *= 1 + part;
    nb6_force_error_find(&frame, SOFTENING, &error);
    assert_true(error.most < 1e-12 && fabs(error.largest - part) < 1e-12);
    frame.n = 1; /* no force at all: the first body's is wrong as a whole */
    nb6_force_error_find(&frame, SOFTENING, &error);
    assert_true(error.half == 1 && error.largest == 1);
    for (int k = 0; k < 3; k++) frame.acc[0][k] = 0;
    nb6_force_error_find(&frame, SOFTENING, &error);
    assert_true(error.largest == 0);
    frame.n = N;
    nb6_frame_free(&frame);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

/* ---- the same bits */

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    const struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_BLOCK, 1e-3);
    const int threads[3] = {1, 2, 4}, before = omp_get_max_threads();
    struct cluster c = cluster_plummer(MANY, 3);
    struct nb6_collisionless *s[3];
    struct nb6_force_error error[3];
    for (int k = 0; k < 3; k++) {
        omp_set_num_threads(threads[k]);
        s[k] = collisionless_start(&c, &options);
        collisionless_evolve(s[k], 0.125);
        struct nb6_frame frame = frame_of(s[k], 0);
        nb6_force_error_find(&frame, SOFTENING, &error[k]);
        nb6_frame_free(&frame);
        if (k) collisionless_assert_same(s[0], s[k]);
        if (k) assert_memory_equal(&error[0], &error[k], sizeof error[0]);
    }
    omp_set_num_threads(before);
    assert_true(s[0]->n_blocks > 2);
    assert_true(s[0]->n_steps < s[0]->n_blocks * MANY); /* there were blocks of a part of the bodies */
    for (int k = 0; k < 3; k++) nb6_collisionless_free(s[k]);
    cluster_free(&c);
}

/* Forces are those of the trees of an engine: one for each block, after that of the start, which alone is made in two.
 * The parts of a system have handles of their own, and that of the system has no tree then. */
static void check_part(const struct nb6_collisionless *host, const struct nb6_collisionless *part, int is_single)
{
    struct gpunb_tree_counts own, parts = counts_of(part), whole = counts_of(host);
    gpunb_tree_get_counts(part->force, &own);
    assert_int_equal(own.forces, 0);
    assert_int_equal(whole.forces, 1 + host->n_blocks);
    assert_int_equal(parts.forces, 1 + part->n_blocks);
    assert_int_equal(whole.first_forces, 1);
    assert_int_equal(parts.first_forces, 1);
    assert_int_equal(parts.cell_terms, whole.cell_terms);
    assert_int_equal(parts.pair_terms, whole.pair_terms);
    assert_true(parts.cell_terms > 0 && parts.pair_terms > 0);
    assert_int_equal(whole.targets == whole.groups, is_single);
}

static void one_part_has_the_bits_of_the_host(void **state)
{
    (void)state;
    static const enum gpunb_walk walk[] = {GPUNB_WALK_GROUPS, GPUNB_WALK_SINGLE};
    struct cluster c = cluster_plummer(BODIES, 3);
    for (int k = 0; k < 4 * BACKENDS; k++) {
        struct nb6_collisionless_options here = options_of(k / 2 % 2, 1e-3);
        here.force.backend = backends[k / 4];
        here.force.walk = walk[k % 2];
        here.force.leaf = 8; /* small ones, so that so few bodies have many cells */
        here.force.group = 16;
        const struct nb6_collisionless_options there = emulated(here, 1);
        struct nb6_collisionless *a = collisionless_start(&c, &here), *b = collisionless_start(&c, &there);
        assert_string_equal(nb6_collisionless_engine_name(a), "host");
        assert_string_equal(nb6_collisionless_engine_name(b), "emulated");
        collisionless_evolve(a, 0.5);
        collisionless_evolve(b, 0.5);
        collisionless_assert_same(a, b);
        assert_true(a->n_steps > a->n_blocks && (k / 2 % 2 == 0 || a->n_steps < a->n_blocks * BODIES));
        check_part(a, b, walk[k % 2] == GPUNB_WALK_SINGLE);
        nb6_collisionless_free(a);
        nb6_collisionless_free(b);
    }
    cluster_free(&c);
}

/* Frames, whose potentials are forces by tree of their own, change nothing. A resumed system goes on from the
 * accelerations that it got: no force by angle comes first. */
static void same_bits_however_it_is_cut(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(BODIES + 1, 4);
    for (int k = 0; k < 4 * BACKENDS; k++) {
        struct nb6_collisionless_options options = options_of(k / 2 % 2, 1e-3);
        options.force.backend = backends[k / 4];
        const int parts = k % 2 ? 3 : 1;
        if (k % 2) options = emulated(options, parts);
        struct nb6_collisionless *once = collisionless_start(&c, &options), *often = collisionless_start(&c, &options),
                                 *resumed = NULL;
        collisionless_evolve(once, 1);
        for (int time = 0; time <= 8; time++) {
            collisionless_evolve(often, time / 8.0);
            struct nb6_frame frame = frame_of(often, NB6_FRAME_POTENTIAL);
            nb6_frame_free(&frame);
            if (time == 3) assert_int_equal(nb6_collisionless_resume(&resumed, often, &options, &err), NBC_OK);
        }
        collisionless_evolve(resumed, 1);
        collisionless_assert_same(once, often);
        collisionless_assert_same(once, resumed);
        assert_int_equal(counts_of(once).first_forces, parts);
        assert_int_equal(counts_of(resumed).first_forces, 0);
        assert_true(counts_of(resumed).forces > 0);
        nb6_collisionless_free(once);
        nb6_collisionless_free(often);
        nb6_collisionless_free(resumed);
    }
    cluster_free(&c);
}

/* Each part has groups of its own bodies, so accelerations differ by what the aim allows, 1e-4 of
 * each, which half a unit of time makes to less than that of the unit of length. */
static void parts_move_bodies_as_the_host_does(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 5);
    struct nb6_collisionless_options here = options_of(NB6_COLLISIONLESS_SHARED, 1e-4);
    here.force.backend = backends[0];
    struct nb6_collisionless *a = collisionless_start(&c, &here);
    collisionless_evolve(a, 0.5);
    for (int k = 0; k < 2 * BACKENDS; k++) {
        const int parts = k % 2 ? 5 : 2;
        here.force.backend = backends[k / 2];
        const struct nb6_collisionless_options there = emulated(here, parts);
        struct nb6_collisionless *b = collisionless_start(&c, &there);
        collisionless_evolve(b, 0.5);
        collisionless_home(b);
        double most = 0;
        for (int64_t i = 0; i < BODIES; i++)
            for (int d = 0; d < 3; d++) most = fmax(most, fabs(a->x0[i][d] - b->x0[i][d]));
        assert_true(most > 0 && most < 1e-4);
        assert_int_equal(counts_of(b).forces, (uint64_t)parts * (1 + b->n_blocks));
        nb6_collisionless_free(b);
    }
    nb6_collisionless_free(a);
    cluster_free(&c);
}

static void there_may_be_many_parts(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 6);
    struct nb6_collisionless_options options = emulated(options_of(NB6_COLLISIONLESS_SHARED, 1e-3), NB6_MOST_PARTS);
    options.force.backend = "emulated";
    struct nb6_collisionless *s = collisionless_start(&c, &options);
    collisionless_evolve(s, 1.0 / 64);
    assert_int_equal(counts_of(s).forces, 2 * NB6_MOST_PARTS);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

/* Where a tree would cost more, forces within an aim are direct sums: the bits are theirs. */
static void few_bodies_have_direct_sums(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 10);
    for (int k = 0; k < BACKENDS; k++) {
        struct nb6_collisionless_options direct = options_of(NB6_COLLISIONLESS_BLOCK, 0),
                                         aim = options_of(NB6_COLLISIONLESS_BLOCK, 1e-2);
        direct.force.backend = aim.force.backend = backends[k];
        aim.force.walk = GPUNB_WALK_DEFAULT;
        const struct nb6_collisionless_options there = emulated(aim, 1);
        struct nb6_collisionless *a = collisionless_start(&c, &direct), *b = collisionless_start(&c, &aim),
                                 *d = collisionless_start(&c, &there);
        collisionless_evolve(a, 0.5);
        collisionless_evolve(b, 0.5);
        collisionless_evolve(d, 0.5);
        collisionless_assert_same(a, b);
        collisionless_assert_same(a, d);
        assert_int_equal(counts_of(b).forces + counts_of(d).forces, 0);
        nb6_collisionless_free(a);
        nb6_collisionless_free(b);
        nb6_collisionless_free(d);
    }
    cluster_free(&c);
}

/* ---- what is refused */

static void direct_sums_have_no_tree(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(BODIES, 6);
    const struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_BLOCK, 0);
    struct nb6_collisionless *s = collisionless_start(&c, &options);
    collisionless_evolve(s, 0.25);
    const struct gpunb_tree_counts counts = counts_of(s);
    assert_false(nb6_collisionless_has_tree(s));
    assert_int_equal(counts.forces + counts.builds + counts.targets, 0);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(4, 7);
    struct nb6_collisionless_options o = options_of(NB6_COLLISIONLESS_SHARED, 1e-3);
    o.engine = NB6_COLLISIONLESS_DEVICE;
    o.force.backend = "emulated";
    collisionless_refuse(&c, &o, NBC_UNAVAILABLE, "the backend is emulated");
    o = options_of(NB6_COLLISIONLESS_SHARED, 1e-12);
    collisionless_refuse(&c, &o, NBC_BAD_ARGUMENT, "the least that backend");
    o = options_of(NB6_COLLISIONLESS_SHARED, 1e-3);
    o.force.theta = 0.5;
    collisionless_refuse(&c, &o, NBC_BAD_ARGUMENT, "not both");
    cluster_free(&c);
}

/* Arrays of the bodies, and the tree; each of two parts has half of the targets, and the tree of all bodies. The handle
 * of the system has no memory of them. */
static void a_plan_tells_the_memory_of_devices(void **state)
{
    (void)state;
    enum { N = 100000, OF_A_BODY = 8 + 8 * 3 * 6 + 4 + 1 };
    struct nbc_error err = {0};
    struct nb6_collisionless_plan plan, halves;
    struct nb6_collisionless_options o = emulated(options_of(NB6_COLLISIONLESS_SHARED, 0), 1);
    o.force.backend = "portable";
    assert_int_equal(nb6_collisionless_plan(N, &o, &plan, &err), NBC_OK);
    assert_true(plan.device_bytes == (double)OF_A_BODY * N + sizeof(struct nb6_part_word));
    o = emulated(options_of(NB6_COLLISIONLESS_SHARED, 1e-3), 1);
    o.force.backend = "emulated";
    assert_int_equal(nb6_collisionless_plan(N, &o, &plan, &err), NBC_OK);
    assert_true(plan.device_bytes > (double)(OF_A_BODY + 100) * N); /* keys, places and boxes of a tree */
    o.parts = 2;
    assert_int_equal(nb6_collisionless_plan(N, &o, &halves, &err), NBC_OK);
    assert_true(halves.device_bytes > 0.5 * plan.device_bytes && halves.device_bytes < plan.device_bytes);
    assert_true(halves.pairs_by_tree > plan.pairs_by_tree && halves.pairs == plan.pairs);
    o.engine = NB6_COLLISIONLESS_HOST;
    assert_int_equal(nb6_collisionless_plan(N, &o, &plan, &err), NBC_OK);
    assert_true(plan.device_bytes == 0);
}

/* `auto` takes the host engine, and says what the tree would be. */
static void a_plan_tells_the_tree(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_collisionless_plan plan;
    struct nb6_collisionless_options o = options_of(NB6_COLLISIONLESS_SHARED, 0);
    o.force =
        (struct gpunb_options){.backend = "portable", .theta = 0.5, .order = 4, .leaf = 20, .walk = GPUNB_WALK_SINGLE};
    o.engine = NB6_COLLISIONLESS_AUTO;
    assert_int_equal(nb6_collisionless_plan(1000, &o, &plan, &err), NBC_OK);
    assert_string_equal(plan.engine, "host");
    assert_true(plan.force.theta == 0.5 && plan.force.order == 4 && plan.force.leaf == 20 && plan.force.group > 0);
    assert_int_equal(plan.force.walk, GPUNB_WALK_SINGLE);
    o.force = (struct gpunb_options){.force_error = 1e-3};
    assert_int_equal(nb6_collisionless_plan(1000, &o, &plan, &err), NBC_OK);
    assert_true(plan.force.force_error == 1e-3 && plan.force.order > 1 && plan.force.walk == GPUNB_WALK_HYBRID);
    assert_false(plan.tree_is_worth);
    assert_true(plan.pairs == 1e6 && plan.pairs_by_tree >= plan.pairs);
    assert_int_equal(nb6_collisionless_plan(1000000, &o, &plan, &err), NBC_OK);
    assert_true(plan.tree_is_worth && plan.pairs == 1e12 && plan.pairs_by_tree < 0.1 * plan.pairs);
    o.force = (struct gpunb_options){.backend = "ref"};
    assert_int_equal(nb6_collisionless_plan(1000, &o, &plan, &err), NBC_OK);
    assert_true(plan.force.force_error == 0 && plan.force.theta == 0 && plan.force.order == 0);
    assert_string_equal(plan.backend, "ref");
    assert_true(plan.pair_ns > 0);
    assert_int_equal(plan.gpus, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_below_the_aim),           cmocka_unit_test(potentials_are_by_tree_too),
        cmocka_unit_test(errors_are_those_of_the_frame),      cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(one_part_has_the_bits_of_the_host),  cmocka_unit_test(same_bits_however_it_is_cut),
        cmocka_unit_test(parts_move_bodies_as_the_host_does), cmocka_unit_test(there_may_be_many_parts),
        cmocka_unit_test(few_bodies_have_direct_sums),        cmocka_unit_test(direct_sums_have_no_tree),
        cmocka_unit_test(wrong_options_are_refused),          cmocka_unit_test(a_plan_tells_the_tree),
        cmocka_unit_test(a_plan_tells_the_memory_of_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
