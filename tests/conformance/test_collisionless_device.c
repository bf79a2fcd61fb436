/* Collisionless systems that stay on a GPU, by direct sums and by trees: the bits of the host engine with forces of the
 * same kernels; parts on one GPU and on two, resumes, bodies that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/owners.h"
#include "nbody6/collisionless/resident.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"
#include "tests/support/reuse.h"

static struct nb6_collisionless_options options_of(int is_block, enum nb6_collisionless_engine engine)
{
    return (struct nb6_collisionless_options){.softening = 0.05,
                                              .dt = is_block ? 0.125 : 1.0 / 64,
                                              .steps = is_block,
                                              .eta = 0.2,
                                              .force = {.backend = "cuda:0"},
                                              .engine = engine};
}

static struct nb6_collisionless *start(const struct cluster *c, int is_block, enum nb6_collisionless_engine engine)
{
    const struct nb6_collisionless_options options = options_of(is_block, engine);
    return collisionless_start(c, &options);
}

/* All forces by a tree. */
static const double AIM = 1e-4;

static struct nb6_collisionless_options options_of_tree(int is_block, enum nb6_collisionless_engine engine)
{
    struct nb6_collisionless_options options = options_of(is_block, engine);
    options.force.force_error = AIM;
    options.force.walk = GPUNB_WALK_GROUPS;
    return options;
}

static struct nb6_collisionless *start_tree(const struct cluster *c, int is_block, enum nb6_collisionless_engine engine)
{
    const struct nb6_collisionless_options options = options_of_tree(is_block, engine);
    return collisionless_start(c, &options);
}

/* 40000: sources and targets are sorted along the curve. */
static void a_gpu_has_the_bits_of_the_host_engine(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 3001, 40000};
    for (int k = 0; k < 3; k++) {
        struct cluster c = cluster_plummer(sizes[k] < 2 ? 2 : sizes[k], 3);
        c.n = sizes[k];
        for (int is_block = 0; is_block < 2; is_block++) {
            struct nb6_collisionless *a = start(&c, is_block, NB6_COLLISIONLESS_HOST),
                                     *b = start(&c, is_block, NB6_COLLISIONLESS_DEVICE);
            assert_string_equal(nb6_collisionless_engine_name(b), "device");
            collisionless_evolve(a, 0.5);
            collisionless_evolve(b, 0.25);
            collisionless_evolve(b, 0.5);
            collisionless_assert_same(a, b);
            nb6_collisionless_free(a);
            nb6_collisionless_free(b);
        }
        cluster_free(&c);
    }
}

static uint64_t forces_of(const struct nb6_collisionless *s)
{
    struct gpunb_tree_counts counts;
    nb6_collisionless_tree_counts(s, &counts);
    assert_true(counts.cell_terms > 0 && counts.pair_terms > 0);
    assert_int_equal(counts.first_forces, 1); /* at t = 0 */
    return counts.forces;
}

static void a_tree_has_the_bits_of_the_host_engine(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(20011, 3);
    for (int is_block = 0; is_block < 2; is_block++) {
        const struct nb6_collisionless_options options = options_of_tree(is_block, NB6_COLLISIONLESS_DEVICE);
        struct nb6_collisionless *a = start_tree(&c, is_block, NB6_COLLISIONLESS_HOST),
                                 *b = start_tree(&c, is_block, NB6_COLLISIONLESS_DEVICE), *resumed = NULL;
        assert_string_equal(nb6_collisionless_engine_name(b), "device");
        collisionless_evolve(a, 0.25);
        collisionless_evolve(b, 0.125);
        collisionless_home(b);
        assert_int_equal(nb6_collisionless_resume(&resumed, b, &options, &err), NBC_OK);
        collisionless_evolve(b, 0.25);
        collisionless_evolve(resumed, 0.25);
        collisionless_assert_same(a, b);
        collisionless_assert_same(a, resumed);
        assert_int_equal(forces_of(a), 1 + a->n_blocks);
        assert_int_equal(forces_of(b), 1 + b->n_blocks);
        nb6_collisionless_free(a);
        nb6_collisionless_free(b);
        nb6_collisionless_free(resumed);
    }
    cluster_free(&c);
}

/* In parts, all on one GPU; those of a tree change their owners. */
static struct nb6_collisionless *divide(struct nb6_collisionless *s, int parts)
{
    static const int device[NB6_MOST_PARTS] = {0};
    struct nbc_error err = {0};
    if (nb6_collisionless_has_tree(s)) assert_non_null(s->owners = nb6_owners_create(s->n, parts));
    if (nb6_resident_open(&s->resident, nb6_residence_cuda, s, parts, device, &err)) fail_msg("%s", err.text);
    return s;
}

static struct nb6_collisionless *start_in_parts(const struct cluster *c, int is_block, int parts)
{
    return divide(start(c, is_block, NB6_COLLISIONLESS_HOST), parts);
}

/* Positions are exchanged while sums over own bodies are under way: all as with several GPUs, on one. Parts change
 * roundings of floats, as in test_collisionless_resident.c; repeats have the same bits. */
static void parts_exchange_positions(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(20011, 4);
    for (int is_block = 0; is_block < 2; is_block++) {
        struct nb6_collisionless *a = start_in_parts(&c, is_block, 1), *b = start_in_parts(&c, is_block, 3),
                                 *again = start_in_parts(&c, is_block, 3);
        collisionless_evolve(a, 0.25);
        collisionless_evolve(b, 0.25);
        collisionless_evolve(again, 0.125);
        collisionless_evolve(again, 0.25);
        collisionless_assert_same(b, again);
        collisionless_home(a);
        double most = 0;
        for (int64_t i = 0; i < c.n; i++)
            for (int k = 0; k < 3; k++) most = fmax(most, fabs(a->x0[i][k] - b->x0[i][k]));
        assert_true(most < 1e-5);
        nb6_collisionless_free(a);
        nb6_collisionless_free(b);
        nb6_collisionless_free(again);
    }
    cluster_free(&c);
}

/* Each part has a tree of all bodies, and groups of its own: accelerations differ by what the aim allows, and
 * positions after a quarter of a unit of time by less than that of the unit of length. */
static void parts_have_trees(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(20011, 4);
    for (int is_block = 0; is_block < 2; is_block++) {
        struct nb6_collisionless *a = start_tree(&c, is_block, NB6_COLLISIONLESS_HOST),
                                 *b = divide(start_tree(&c, is_block, NB6_COLLISIONLESS_HOST), 3),
                                 *again = divide(start_tree(&c, is_block, NB6_COLLISIONLESS_HOST), 3);
        collisionless_evolve(a, 0.25);
        collisionless_evolve(b, 0.25);
        collisionless_evolve(again, 0.125);
        collisionless_evolve(again, 0.25);
        collisionless_assert_same(b, again);
        double most = 0;
        for (int64_t i = 0; i < c.n; i++)
            for (int k = 0; k < 3; k++) most = fmax(most, fabs(a->x0[i][k] - b->x0[i][k]));
        assert_true(most > 0 && most < AIM);
        assert_true(forces_of(b) > 1 + b->n_blocks);
        nb6_collisionless_free(a);
        nb6_collisionless_free(b);
        nb6_collisionless_free(again);
    }
    cluster_free(&c);
}

/* Trees that serve one force or several steps: divided among two GPUs as among two parts on one. */
static void two_gpus_have_the_bits_of_two_parts(void **state)
{
    (void)state;
    enum { REUSE = 6 };
    struct nbc_error err = {0};
    gpunb_t *both = NULL;
    struct nb6_collisionless_options options = options_of_tree(0, NB6_COLLISIONLESS_HOST);
    options.force.backend = "cuda:0,1";
    if (gpunb_create(&both, 1, &options.force, &err)) skip();
    gpunb_free(both);
    struct cluster c = cluster_plummer(20011, 5);
    for (int k = 0; k < 4; k++) {
        options = options_of_tree(k % 2, NB6_COLLISIONLESS_HOST);
        options.reuse = k / 2 ? REUSE : 1;
        struct nb6_collisionless *parts = divide(collisionless_start(&c, &options), 2), *resumed = NULL;
        options.force.backend = "cuda:0,1";
        options.engine = NB6_COLLISIONLESS_DEVICE;
        struct nb6_collisionless *gpus = collisionless_start(&c, &options);
        const double end = 19 * options.dt;
        collisionless_evolve(gpus, 9 * options.dt);
        collisionless_home(gpus);
        assert_int_equal(nb6_collisionless_resume(&resumed, gpus, &options, &err), NBC_OK);
        collisionless_evolve(parts, end);
        collisionless_evolve(gpus, end);
        collisionless_evolve(resumed, end);
        reuse_assert_same(parts, gpus);
        reuse_assert_same(parts, resumed);
        assert_true(parts->owners->divided == 2 && gpus->rebuild.renewals >= (k / 2 ? 10 : 0));
        nb6_collisionless_free(parts);
        nb6_collisionless_free(gpus);
        nb6_collisionless_free(resumed);
    }
    cluster_free(&c);
}

static void a_body_that_fails_leaves_the_last_block(void **state)
{
    (void)state;
    const double row[3][7] = {{1, 0, 0, 0, 0, 0, 0}, {1, 0.02, 0, 0, 0, 0, 0}, {0, 1e14, 0, 0, 1e16, 0, 0}};
    struct nbc_error err = {0}, err_there = {0};
    struct cluster c = cluster_from_rows(3, row);
    struct nb6_collisionless *a = start(&c, 1, NB6_COLLISIONLESS_HOST), *b = start(&c, 1, NB6_COLLISIONLESS_DEVICE);
    assert_int_equal(nb6_collisionless_evolve(a, 0.125, &err), NBC_BAD_ARGUMENT);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(nb6_collisionless_evolve(b, 0.125, &err_there), NBC_BAD_ARGUMENT);
        assert_string_equal(err_there.text, err.text);
        collisionless_assert_same(a, b);
    }
    nb6_collisionless_free(a);
    nb6_collisionless_free(b);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_has_the_bits_of_the_host_engine),
        cmocka_unit_test(a_tree_has_the_bits_of_the_host_engine),
        cmocka_unit_test(parts_exchange_positions),
        cmocka_unit_test(parts_have_trees),
        cmocka_unit_test(two_gpus_have_the_bits_of_two_parts),
        cmocka_unit_test(a_body_that_fails_leaves_the_last_block),
    };
    const struct gpunb_options options = {.backend = "cuda:0"};
    struct nbc_error err = {0};
    gpunb_t *handle = NULL;
    if (!nb6_residence_cuda || gpunb_create(&handle, 1, &options, &err)) {
        print_message("skipped: collisionless systems on a GPU: there is no GPU\n");
        return 0;
    }
    gpunb_free(handle);
    return cmocka_run_group_tests_name("collisionless systems on a GPU", tests, NULL, NULL);
}
