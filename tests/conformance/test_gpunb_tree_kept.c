/* Trees that are kept in memory of a device, emulated, and a GPU where there is one: the bits of trees that the host
 * keeps, layouts to the host and back, refusals. */
#include "gpunb/tree_kept.h"

#include "tests/conformance/gpunb_tree_bench.h"

enum { N = 1200 };
static const double SOFTENING = 0.02;

/* Results of a job with a tree, which has these bits.   @param[in] tree_of_host  renewed for the same sources */
static void compare_kept(const struct bench *b, struct gpunb_softened_device *there, enum gpunb_kept_tree kept,
                         gpunb_tree_t *tree_of_host, const struct gpunb_softened_job *job)
{
    const struct forces of_host = {job->n_i, job->acc, job->pot};
    there->kept = kept;
    enqueue(b, there);
    struct forces found = results(b, there);
    make_tree_force(b->handle, tree_of_host, job);
    assert_same_forces(&of_host, &found);
    free_forces(&found);
}

/* Built, renewed after all sources have moved, taken to the host and back: the bits of a tree that the host keeps. In
 * between direct sums leave it alone. */
static void test_bits(void **state)
{
    (void)state;
    struct model m = make_scene(HEAP, N);
    struct forces f = make_forces(N);
    struct bench b = open_bench(N, N, usual, 0);
    const struct gpunb_softened_job job = job_of(&m, SOFTENING, &f);
    gpunb_tree_t *tree = NULL, *other = NULL;
    size_t of_tree;
    static int32_t order[N];
    static uint8_t cut[N];
    assert_int_equal(gpunb_softened_device_kept_bytes(b.handle, N, N, &of_tree, &b.work_bytes), NBC_OK);
    assert_int_equal(gpunb_softened_device_tree(b.handle, N, &tree), NBC_OK);
    assert_int_equal(gpunb_softened_device_tree(b.handle, N, &other), NBC_OK);
    send_model(b.handle, &m);
    gpunb_tree_t *of_host = build(b.handle);
    struct gpunb_softened_device there = job_on(&b, &m, &job, 1);
    there.tree = tree;
    there.kept = GPUNB_TREE_RENEWED;
    assert_int_equal(gpunb_softened_device(b.handle, &there, b.stream), NBC_BAD_STATE);
    compare_kept(&b, &there, GPUNB_TREE_BUILT, of_host, &job);
    for (int move = 0; move < 3; move++) {
        for (size_t i = 0; i < N; i++)
            for (int k = 0; k < 3; k++) m.x[i][k] += 0.05 * uniform();
        send_model(b.handle, &m);
        assert_int_equal(gpunb_tree_renew(b.handle, of_host), NBC_OK);
        there = job_on(&b, &m, &job, 1);
        there.tree = move == 2 ? other : tree;
        compare_kept(&b, &there, GPUNB_TREE_RENEWED, of_host, &job);
        there.kept = GPUNB_TREE_UNUSED;
        enqueue(&b, &there);
        if (move != 1) continue;
        assert_int_equal(gpunb_tree_get_layout(b.handle, tree, order, cut), NBC_OK);
        assert_int_equal(gpunb_tree_restore(b.handle, other, N, order, cut), NBC_OK);
    }
    there.n_i = 0; /* without targets it is built all the same */
    there.kept = GPUNB_TREE_BUILT;
    enqueue(&b, &there);
    struct gpunb_tree_counts c;
    gpunb_tree_get_counts(b.handle, &c);
    assert_true(c.builds == 3 && c.renewals == 6 && c.forces == 8);
    there.tree = NULL;
    assert_int_equal(gpunb_softened_device(b.handle, &there, b.stream), NBC_BAD_ARGUMENT);
    gpunb_tree_free(tree);
    gpunb_tree_free(other);
    gpunb_tree_free(of_host);
    close_bench(&b);
    free_forces(&f);
    free_model(&m);
}

/* Sources by places of the tree, from one on, around: a renewal gives each the bits that it had. */
static void test_new_numbers(void **state)
{
    (void)state;
    enum { FIRST = N / 3 };
    struct model m = make_scene(HEAP, N), by_place = make_scene(HEAP, N);
    struct forces f = make_forces(N);
    struct bench b = open_bench(N, N, usual, 0);
    const struct gpunb_softened_job job = job_of(&m, SOFTENING, &f);
    struct gpunb_softened_device there = job_on(&b, &m, &job, 1);
    static int32_t order[N];
    static uint8_t cut[N];
    assert_int_equal(gpunb_softened_device_tree(b.handle, N, &there.tree), NBC_OK);
    assert_int_equal(gpunb_softened_device_renumber(b.handle, there.tree, 0, b.stream), NBC_BAD_STATE);
    there.kept = GPUNB_TREE_BUILT;
    enqueue(&b, &there);
    struct forces before = results(&b, &there);
    assert_int_equal(gpunb_tree_get_layout(b.handle, there.tree, order, cut), NBC_OK);
    assert_int_equal(gpunb_softened_device_renumber(b.handle, there.tree, N, b.stream), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_softened_device_renumber(b.handle, there.tree, FIRST, b.stream), NBC_OK);
    for (int k = 0; k < N; k++) {
        const int32_t i = order[(FIRST + k) % N];
        by_place.mass[k] = m.mass[i];
        memcpy(by_place.x[k], m.x[i], sizeof m.x[i]);
        memcpy(f.acc[k], before.acc[i], sizeof f.acc[k]);
        f.pot[k] = before.pot[i];
    }
    job_on(&b, &by_place, &job, 1);
    there.kept = GPUNB_TREE_RENEWED;
    enqueue(&b, &there);
    struct forces after = results(&b, &there);
    assert_same_forces(&f, &after);
    gpunb_tree_free(there.tree);
    close_bench(&b);
    free_forces(&f);
    free_forces(&before);
    free_forces(&after);
    free_model(&m);
    free_model(&by_place);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_new_numbers),
    };
    return on_devices() ? cmocka_run_group_tests_name(title, tests, NULL, NULL) : 0;
}

int main(int argc, char **argv)
{
    return run_trees_on_backends(argc, argv, "gpunb tree, kept on a device", run_suite);
}
