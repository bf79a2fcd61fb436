/* Calls of a tree, for every backend that has one: trees that are kept, renewed and used wrongly, options, counts,
 * bits, accelerations of the last step. */
#include "tests/conformance/gpunb_tree_model.h"

#include <omp.h>

/* ---- build, force, renew, free */

/* gpunb_softened is a build and a force, bit for bit. */
static void test_softened_is_build_and_force(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, some(1200));
    struct forces f = make_forces(m.n), g = make_forces(m.n);
    for (int walk = GPUNB_WALK_GROUPS; walk <= GPUNB_WALK_ONE_BY_ONE_J; walk++) {
        struct gpunb_options options = usual;
        options.walk = (enum gpunb_walk)walk;
        gpunb_t *h = make_tree_handle(m.n, options);
        struct gpunb_softened_job job = job_of(&m, 0.02, &f), kept = job_of(&m, 0.02, &g);
        send_model(h, &m);
        gpunb_tree_t *tree = build(h);
        make_force_of(h, &job);
        make_tree_force(h, tree, &kept);
        assert_same_forces(&f, &g);
        make_tree_force(h, tree, &kept);
        assert_same_forces(&f, &g);
        gpunb_tree_free(tree);
        gpunb_free(h);
    }
    free_forces(&f);
    free_forces(&g);
    free_model(&m);
}

/* Bodies that stay, move a little, exchange places at random, collapse, and go far away. */
static void move(struct model *m, int how)
{
    for (size_t i = 0; i < m->n; i++) {
        const size_t other = (size_t)(uniform() * (double)m->n);
        double x[3];
        memcpy(x, m->x[i], sizeof x);
        for (int k = 0; k < 3; k++) {
            if (how == 1) m->x[i][k] += 1e-3 * (uniform() - 0.5);
            if (how == 3) m->x[i][k] *= 1e-3;
            if (how == 4) m->x[i][k] += i % 3 ? 1e3 : -2e5;
        }
        if (how != 2) continue;
        memcpy(m->x[i], m->x[other], sizeof x);
        memcpy(m->x[other], x, sizeof x);
    }
}

static void test_renewal(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, some(1200));
    struct forces f = make_forces(m.n);
    const struct gpunb_softened_job job = job_of(&m, 0.02, &f);
    gpunb_t *h = make_tree_handle(m.n, usual);
    send_model(h, &m);
    gpunb_tree_t *tree = build(h);
    for (int how = 0; how <= 4; how++) {
        char what[40];
        snprintf(what, sizeof what, "renewed, move %d", how);
        move(&m, how);
        m.mass[how] *= 3;
        send_model(h, &m);
        assert_int_equal(gpunb_tree_renew(h, tree), NBC_OK);
        make_tree_force(h, tree, &job);
        check_model(what, &m, &f, 0.02, 1e-3);
    }
    gpunb_tree_free(tree);
    gpunb_free(h);
    free_forces(&f);
    free_model(&m);
    assert_no_misses();
}

/* Of bodies that stay a renewed tree is the tree. */
static void test_renewal_in_place(void **state)
{
    (void)state;
    struct model m = make_scene(HEAP, 1000);
    struct forces f = make_forces(m.n), g = make_forces(m.n);
    const struct gpunb_softened_job job = job_of(&m, 0.02, &f), again = job_of(&m, 0.02, &g);
    gpunb_t *h = make_tree_handle(m.n, usual);
    send_model(h, &m);
    gpunb_tree_t *tree = build(h);
    make_tree_force(h, tree, &job);
    send_model(h, &m);
    assert_int_equal(gpunb_tree_renew(h, tree), NBC_OK);
    make_tree_force(h, tree, &again);
    assert_same_forces(&f, &g);
    gpunb_tree_free(tree);
    gpunb_free(h);
    free_forces(&f);
    free_forces(&g);
    free_model(&m);
}

/* No sources: a tree without cells, and forces of zero. */
static void test_tree_of_nothing(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, 50);
    struct forces f = make_forces(m.n);
    struct gpunb_softened_job job = job_of(&m, 0.02, &f);
    size_t cells = 1, leaf = 1, bytes = 0;
    int depth = 1;
    gpunb_t *h = make_tree_handle(m.n, usual);
    assert_int_equal(gpunb_send_positions(h, 0, NULL, NULL), NBC_OK);
    gpunb_tree_t *tree = build(h);
    gpunb_tree_shape(tree, &cells, &depth, &leaf, &bytes);
    assert_true(cells == 0 && depth == 0 && leaf == 0 && bytes > 0);
    job.self = NULL;
    make_tree_force(h, tree, &job);
    for (size_t i = 0; i < m.n; i++) assert_true(norm(f.acc[i]) == 0 && f.pot[i] == 0);
    assert_int_equal(gpunb_tree_renew(h, tree), NBC_OK);
    gpunb_tree_free(tree);
    send_model(h, &m);
    tree = build(h);
    job.n_i = 0;
    make_tree_force(h, tree, &job);
    gpunb_tree_free(tree);
    gpunb_tree_free(NULL);
    gpunb_free(h);
    free_forces(&f);
    free_model(&m);
}

static void test_shape(void **state)
{
    (void)state;
    struct model m = make_scene(HEAP, 1000);
    size_t cells = 0, leaf = 0, bytes = 0;
    int depth = 0;
    gpunb_t *h = make_tree_handle(m.n, usual);
    send_model(h, &m);
    gpunb_tree_t *tree = build(h);
    gpunb_tree_shape(tree, &cells, &depth, &leaf, &bytes);
    assert_true(cells > m.n / LEAF && cells < 2 * m.n);
    assert_true(depth > 2);
    assert_int_equal(leaf, 100); /* the heap */
    assert_true(bytes > m.n * 4 * sizeof(double));
    gpunb_tree_shape(tree, NULL, NULL, NULL, NULL);
    gpunb_tree_free(tree);
    gpunb_free(h);
    free_model(&m);
}

/* Both ends of leaves and groups. */
static void test_sizes(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 4096}, {1024, 1}, {1024, 4096}, {9, 3}, {33, 100}};
    struct model m = make_scene(SPHERE, some(1500));
    struct forces f = make_forces(m.n);
    const struct gpunb_softened_job job = job_of(&m, 0.02, &f);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        char what[40];
        gpunb_t *h = make_tree_handle(
            m.n, (struct gpunb_options){.force_error = 1e-3, .leaf = sizes[k][0], .group = sizes[k][1]});
        snprintf(what, sizeof what, "leaf %d, group %d", sizes[k][0], sizes[k][1]);
        send_model(h, &m);
        make_force_of(h, &job);
        check_model(what, &m, &f, 0.02, 1e-3);
        gpunb_free(h);
    }
    free_forces(&f);
    free_model(&m);
    assert_no_misses();
}

/* ---- accelerations of the last step */

/* Given, given as the array that is overwritten, and not given: the bits are those of what was given. */
static void test_acc_last(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, some(1200));
    struct forces first = make_forces(m.n), f = make_forces(m.n), g = make_forces(m.n);
    struct gpunb_softened_job job = job_of(&m, 0.02, &first);
    struct gpunb_tree_counts before, between, after;
    gpunb_t *h = make_tree_handle(m.n, usual);
    send_model(h, &m);
    gpunb_tree_get_counts(h, &before);
    make_force_of(h, &job);
    gpunb_tree_get_counts(h, &between);
    job = job_of(&m, 0.02, &f);
    job.acc_last = (const double(*)[3])first.acc;
    make_force_of(h, &job);
    check_model("acc_last given", &m, &f, 0.02, 1e-3);
    gpunb_tree_get_counts(h, &after);
    assert_int_equal(between.first_forces - before.first_forces, 1);
    assert_int_equal(after.first_forces - between.first_forces, 0);
    memcpy(g.acc, first.acc, m.n * sizeof *g.acc);
    job = job_of(&m, 0.02, &g);
    job.acc_last = (const double(*)[3])g.acc;
    make_force_of(h, &job);
    assert_same_forces(&f, &g);
    /* Zeros leave a hundredth of the sizes of all terms as the scale: the aim holds all the more. */
    memset(first.acc, 0, m.n * sizeof *first.acc);
    job.acc_last = (const double(*)[3])first.acc;
    make_force_of(h, &job);
    check_model("acc_last of zeros", &m, &g, 0.02, 1e-3);
    gpunb_free(h);
    free_forces(&first);
    free_forces(&f);
    free_forces(&g);
    free_model(&m);
    assert_no_misses();
}

/* ---- bits, counts, direct sums */

static void test_bits(void **state)
{
    (void)state;
    struct model m = make_scene(HEAP, some(2500));
    struct forces f = make_forces(m.n), g = make_forces(m.n);
    const struct gpunb_softened_job job = job_of(&m, 0.02, &f), again = job_of(&m, 0.02, &g);
    const int threads = omp_get_max_threads();
    for (int walk = GPUNB_WALK_GROUPS; walk <= GPUNB_WALK_ONE_BY_ONE_J; walk++) {
        struct gpunb_options options = usual;
        options.walk = (enum gpunb_walk)walk;
        gpunb_t *h = make_tree_handle(m.n, options);
        for (int t = 1; t <= 8; t *= few_sizes() ? 3 : 2) {
            omp_set_num_threads(t);
            send_model(h, &m);
            make_force_of(h, t == 1 ? &job : &again);
            if (t == 1) make_force_of(h, &again);
            assert_same_forces(&f, &g);
        }
        omp_set_num_threads(threads);
        gpunb_free(h);
    }
    free_forces(&f);
    free_forces(&g);
    free_model(&m);
}

/* Where no walk and no angle is named, few targets have direct sums, with the bits of a handle for these, and a tree
 * that is given acts all the same. */
static void test_worth(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, 1000);
    struct forces f = make_forces(m.n), g = make_forces(m.n);
    const struct gpunb_softened_job of_tree = job_of(&m, 0.02, &f), of_direct = job_of(&m, 0.02, &g);
    struct gpunb_tree_counts c;
    struct nbc_error err = {0};
    double by_tree;
    gpunb_t *h = NULL, *direct = make_handle(m.n, 0), *walk = make_tree_handle(m.n, usual);
    assert_int_equal(try_tree(&h, m.n, (struct gpunb_options){.force_error = 1e-3}, &err), NBC_OK);
    send_model(h, &m);
    send_model(direct, &m);
    assert_true(gpunb_softened_pairs(h, 1000, 1000, &by_tree) == 1e6 && by_tree > 1e6);
    assert_false(gpunb_tree_is_worth(h, 1000, 1000));
    assert_false(gpunb_tree_is_worth(h, 10, 1 << 22)); /* a block of few */
    assert_true(gpunb_tree_is_worth(h, 1 << 22, 1 << 22));
    assert_true(gpunb_tree_is_worth(walk, 1, 1000));
    assert_false(gpunb_tree_is_worth(direct, 1 << 22, 1 << 22));
    assert_true(gpunb_softened_pairs(direct, 10, 20, &by_tree) == 200 && by_tree == 200);
    make_force_of(h, &of_tree);
    make_force_of(direct, &of_direct);
    assert_same_forces(&f, &g);
    gpunb_tree_get_counts(h, &c);
    assert_true(c.forces == 0 && c.builds == 0);
    gpunb_tree_t *tree = build(h);
    make_tree_force(h, tree, &of_tree);
    gpunb_tree_get_counts(h, &c);
    assert_true(c.forces == 1 && c.pair_terms > 0);
    gpunb_tree_free(tree);
    gpunb_free(h);
    gpunb_free(direct);
    gpunb_free(walk);
    free_forces(&f);
    free_forces(&g);
    free_model(&m);
}

/* Without the potential accelerations may have other lists, but are as good; handles for direct sums are as they were.
 */
static void test_without_potential(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, some(1200));
    struct forces f = make_forces(m.n), g = make_forces(m.n), with = make_forces(m.n);
    struct gpunb_softened_job job = job_of(&m, 0.02, &f);
    gpunb_t *h = make_tree_handle(m.n, usual), *direct = make_handle(m.n, 0);
    send_model(h, &m);
    send_model(direct, &m);
    const struct gpunb_softened_job of_direct = job_of(&m, 0.02, &g), of_tree = job_of(&m, 0.02, &with);
    make_force_of(direct, &of_direct);
    make_force_of(h, &of_tree);
    job.pot = NULL;
    make_force_of(h, &job);
    assert_true(isnan(f.pot[0]));
    memcpy(f.pot, with.pot, m.n * sizeof *f.pot);
    check_model("without potential", &m, &f, 0.02, 1e-3);
    check_model("direct sums", &m, &g, 0.02, 1e-5);
    struct gpunb_tree_counts c;
    gpunb_tree_get_counts(direct, &c);
    assert_true(c.forces == 0 && c.builds == 0 && c.pair_terms == 0);
    gpunb_free(h);
    gpunb_free(direct);
    free_forces(&f);
    free_forces(&g);
    free_forces(&with);
    free_model(&m);
    assert_no_misses();
}

/* Counts agree with each other: terms of lists are those of their groups' targets. */
static void check_terms(const struct gpunb_tree_counts *c, size_t n, size_t forces)
{
    assert_int_equal(c->targets, n * forces);
    assert_true(c->groups >= n * forces / GROUP && c->groups <= n * forces);
    assert_true(c->cell_terms > 0 && c->pair_terms > 0 && c->tests > 0);
    assert_true(c->pair_terms < (uint64_t)n * n * forces);
    assert_true(c->listed_cells <= c->tests && c->listed_bodies > 0);
    assert_true(c->cell_terms <= c->listed_cells * GROUP && c->pair_terms <= c->listed_bodies * GROUP);
    assert_true(c->cell_terms >= c->listed_cells && c->pair_terms >= c->listed_bodies);
    for (int stage = 0; stage < GPUNB_TREE_STAGES; stage++) assert_true(c->seconds[stage] >= 0);
}

/* Each target has met each body once, in a cell or as a body: with masses of 1 and a softening that is large beside all
 * distances its potential is -(other bodies)/softening, to 1e-4. One body more or less would be 7e-4 of it. */
static void assert_all_met(gpunb_t *h, gpunb_tree_t *tree, const struct model *m, struct forces *f)
{
    const struct gpunb_softened_job job = job_of(m, 1e3, f);
    make_tree_force(h, tree, &job);
    for (size_t i = 0; i < m->n; i++) assert_true(fabs(-f->pot[i] * 1e3 - (double)(m->n - 1)) < 0.5);
}

static void count_walk(enum gpunb_walk walk, const struct model *m, struct forces *f)
{
    struct gpunb_tree_counts c;
    const struct gpunb_options options = {.theta = 0.6, .leaf = LEAF, .group = GROUP, .walk = walk};
    const struct gpunb_softened_job job = job_of(m, 0.02, f);
    gpunb_t *h = make_tree_handle(m->n, options);
    gpunb_tree_get_counts(h, &c);
    assert_true(c.builds == 0 && c.forces == 0 && c.targets == 0);
    send_model(h, m);
    make_force_of(h, &job);
    gpunb_tree_t *tree = build(h);
    make_tree_force(h, tree, &job);
    assert_int_equal(gpunb_tree_renew(h, tree), NBC_OK);
    make_tree_force(h, tree, &job);
    gpunb_tree_get_counts(h, &c);
    assert_true(c.builds == 2 && c.renewals == 1 && c.forces == 3 && c.first_forces == 0);
    check_terms(&c, m->n, 3);
    if (walk == GPUNB_WALK_SINGLE) assert_int_equal(c.groups, c.targets);
    assert_all_met(h, tree, m, f);
    gpunb_tree_free(tree);
    gpunb_free(h);
}

static void test_counts(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, some(1500));
    struct forces f = make_forces(m.n);
    struct gpunb_tree_counts c;
    for (size_t i = 0; i < m.n; i++) {
        m.mass[i] = 1;
        for (int k = 0; k < 3; k++) m.x[i][k] = fmin(fmax(m.x[i][k], -5), 5);
    }
    for (int walk = GPUNB_WALK_GROUPS; walk <= GPUNB_WALK_ONE_BY_ONE_J; walk++)
        count_walk((enum gpunb_walk)walk, &m, &f);
    gpunb_tree_get_counts(NULL, &c);
    assert_int_equal(c.forces, 0);
    free_forces(&f);
    free_model(&m);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"key", "sort", "link", "moments", "lists", "cells", "pairs"};
    for (int k = 0; k < GPUNB_TREE_STAGES; k++)
        assert_string_equal(gpunb_tree_stage_name((enum gpunb_tree_stage)k), names[k]);
    assert_null(gpunb_tree_stage_name(GPUNB_TREE_STAGES));
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softened_is_build_and_force),
        cmocka_unit_test(test_renewal),
        cmocka_unit_test(test_renewal_in_place),
        cmocka_unit_test(test_tree_of_nothing),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_acc_last),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_worth),
        cmocka_unit_test(test_without_potential),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return run_on_backends(argc, argv, "calls of a tree", run_suite);
}
