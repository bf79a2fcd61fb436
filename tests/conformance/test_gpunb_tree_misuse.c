/* Trees that are used wrongly, for every backend that has one: statuses, messages, and what stays as it was. */
#include "tests/conformance/gpunb_tree_model.h"

/* A call with a tree after which nothing has changed. */
static void refuse_force(gpunb_t *h, gpunb_tree_t *tree, const struct gpunb_softened_job *job, int status,
                         const char *words)
{
    double acc[3], pot;
    memcpy(acc, job->acc[0], sizeof acc);
    memcpy(&pot, job->pot, sizeof pot);
    assert_int_equal(gpunb_tree_force(h, tree, job), status);
    if (!strstr(gpunb_last_error(h), words)) fail_msg("'%s' is not in: %s", words, gpunb_last_error(h));
    assert_memory_equal(acc, job->acc[0], sizeof acc);
    assert_memory_equal(&pot, job->pot, sizeof pot);
}

static void refuse_build(gpunb_t *h, int status, const char *words)
{
    gpunb_tree_t *tree = NULL;
    assert_int_equal(gpunb_tree_build(h, &tree), status);
    assert_null(tree);
    if (!strstr(gpunb_last_error(h), words)) fail_msg("'%s' is not in: %s", words, gpunb_last_error(h));
}

static void test_wrong_states(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, 300);
    struct forces f = make_forces(m.n);
    const struct gpunb_softened_job job = job_of(&m, 0.02, &f);
    gpunb_t *h = make_tree_handle(m.n, usual), *other = make_tree_handle(m.n, usual), *direct = make_handle(m.n, 0);
    gpunb_tree_t *tree = NULL;
    refuse_build(h, NBC_BAD_STATE, "gpunb_send_positions");
    send_model(h, &m);
    send_model(other, &m);
    send_model(direct, &m);
    refuse_build(direct, NBC_BAD_STATE, "direct sums");
    tree = build(h);
    refuse_force(direct, tree, &job, NBC_BAD_STATE, "direct sums");
    assert_int_equal(gpunb_tree_renew(direct, tree), NBC_BAD_STATE);
    refuse_force(other, tree, &job, NBC_BAD_ARGUMENT, "another handle");
    assert_int_equal(gpunb_tree_renew(other, tree), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_tree_build(NULL, &tree), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_tree_build(h, NULL), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_tree_renew(NULL, tree), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_tree_renew(h, NULL), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_tree_force(NULL, tree, &job), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_tree_force(h, NULL, &job), NBC_BAD_ARGUMENT);
    make_tree_force(h, tree, &job);
    send_model(h, &m);
    refuse_force(h, tree, &job, NBC_BAD_STATE, "gpunb_tree_renew");
    assert_int_equal(gpunb_send_positions(h, m.n - 1, m.mass, positions(&m)), NBC_OK);
    assert_int_equal(gpunb_tree_renew(h, tree), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(gpunb_last_error(h), "299 now"));
    send_model(h, &m);
    assert_int_equal(gpunb_tree_renew(h, tree), NBC_OK);
    make_tree_force(h, tree, &job);
    check_model("after refusals", &m, &f, 0.02, 1e-3);
    gpunb_tree_free(tree);
    gpunb_free(h);
    gpunb_free(other);
    gpunb_free(direct);
    free_forces(&f);
    free_model(&m);
    assert_no_misses();
}

/* A tree that could not be renewed makes no force until it is. */
static void test_negative_masses(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, 300);
    struct forces f = make_forces(m.n);
    const struct gpunb_softened_job job = job_of(&m, 0.02, &f);
    gpunb_t *h = make_tree_handle(m.n, usual);
    send_model(h, &m);
    gpunb_tree_t *tree = build(h);
    m.mass[7] = -m.mass[7];
    send_model(h, &m);
    refuse_build(h, NBC_BAD_ARGUMENT, "source 7");
    assert_int_equal(gpunb_softened(h, &job), NBC_BAD_ARGUMENT);
    assert_true(isnan(f.acc[0][0]) && isnan(f.pot[0]));
    assert_int_equal(gpunb_tree_renew(h, tree), NBC_BAD_ARGUMENT);
    refuse_force(h, tree, &job, NBC_BAD_STATE, "gpunb_tree_renew");
    m.mass[7] = -m.mass[7];
    send_model(h, &m);
    assert_int_equal(gpunb_tree_renew(h, tree), NBC_OK);
    make_tree_force(h, tree, &job);
    check_model("after a negative mass", &m, &f, 0.02, 1e-3);
    gpunb_tree_free(tree);
    gpunb_free(h);
    free_forces(&f);
    free_model(&m);
    assert_no_misses();
}

static void test_wrong_jobs(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, 300);
    struct forces f = make_forces(m.n);
    struct gpunb_softened_job job = job_of(&m, 0.02, &f);
    double(*last)[3] = get(m.n, 24);
    gpunb_t *h = make_tree_handle(m.n, usual);
    send_model(h, &m);
    gpunb_tree_t *tree = build(h);
    job.acc_last = (const double(*)[3])last;
    last[5][2] = NAN;
    refuse_force(h, tree, &job, NBC_NON_FINITE, "acc_last[2] of target 5");
    last[5][2] = INFINITY;
    refuse_force(h, tree, &job, NBC_NON_FINITE, "acc_last[2] of target 5");
    job = job_of(&m, 1e-16, &f);
    refuse_force(h, tree, &job, NBC_BAD_ARGUMENT, "softening");
    job = job_of(&m, 0.02, &f);
    m.self[3] = (int32_t)m.n;
    refuse_force(h, tree, &job, NBC_BAD_ARGUMENT, "self of target 3");
    assert_int_equal(gpunb_tree_force(h, tree, NULL), NBC_BAD_ARGUMENT);
    gpunb_tree_free(tree);
    gpunb_free(h);
    free(last);
    free_forces(&f);
    free_model(&m);
}

static void refuse_options(struct gpunb_options options, const char *words)
{
    gpunb_t *h = NULL;
    struct nbc_error err = {0};
    assert_int_equal(try_tree(&h, 10, options, &err), NBC_BAD_ARGUMENT);
    assert_null(h);
    if (!strstr(err.text, words)) fail_msg("'%s' is not in: %s", words, err.text);
}

static void test_options(void **state)
{
    (void)state;
    const double least = least_error();
    static const double errors[] = {-1e-3, 0.11, 2, NAN, INFINITY}, thetas[] = {-0.5, 0.09, 1.01, NAN, INFINITY};
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++) {
        refuse_options((struct gpunb_options){.force_error = errors[k]}, "force_error");
        refuse_options((struct gpunb_options){.theta = thetas[k]}, "theta");
    }
    refuse_options((struct gpunb_options){.force_error = 0.99 * least}, "the least");
    refuse_options((struct gpunb_options){.force_error = 1e-3, .theta = 0.5}, "not both");
    static const int wrong_orders[] = {-1, GPUNB_MOST_ORDER + 1}, wrong_leaves[] = {-1, 1025},
                     wrong_groups[] = {-1, 16385}, wrong_walks[] = {-1, GPUNB_WALK_FMM + 1};
    for (int k = 0; k < 2; k++) {
        refuse_options((struct gpunb_options){.theta = 0.5, .order = wrong_orders[k]}, "order");
        refuse_options((struct gpunb_options){.theta = 0.5, .leaf = wrong_leaves[k]}, "leaf");
        refuse_options((struct gpunb_options){.theta = 0.5, .group = wrong_groups[k]}, "group");
        refuse_options((struct gpunb_options){.theta = 0.5, .walk = (enum gpunb_walk)wrong_walks[k]}, "walk");
    }
    gpunb_free(make_tree_handle(10, (struct gpunb_options){.force_error = least}));
    gpunb_free(make_tree_handle(10, (struct gpunb_options){.force_error = 0.1, .leaf = 1024, .group = 16384}));
    gpunb_free(make_tree_handle(10, (struct gpunb_options){.theta = 0.1, .leaf = 1, .group = 1, .order = 1}));
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_states),
        cmocka_unit_test(test_negative_masses),
        cmocka_unit_test(test_wrong_jobs),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return run_trees_on_backends(argc, argv, "misuse of a tree", run_suite);
}
