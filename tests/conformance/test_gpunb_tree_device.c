/* Softened forces by tree of arrays in the memory of a device, emulated, and a GPU where there is one: the bits of the
 * call from the host, targets that are sources or not, few bodies, several devices, counts, refusals. */
#include "gpunb/softened_device.h"

#include "gpunb/device/tree.h"
#include "tests/conformance/gpunb_tree_bench.h"

enum { N = 1200, OTHERS = 501 };
static const double SOFTENING = 0.02;

/* ---- the bits of the host */

static void compare(const struct bench *b, const struct model *sources, struct gpunb_softened_job job, int is_part)
{
    struct forces of_host = make_forces(job.n_i);
    job.acc = of_host.acc;
    job.pot = job.pot ? of_host.pot : NULL;
    make_force_of(b->handle, &job);
    const struct gpunb_softened_device there = job_on(b, sources, &job, is_part);
    enqueue(b, &there);
    struct forces of_device = results(b, &there);
    assert_true(of_device.acc[0][0] == of_device.acc[0][0]); /* not NaN */
    assert_same_forces(&of_host, &of_device);
    free_forces(&of_host);
    free_forces(&of_device);
}

/* With and without last accelerations, potentials, the sources that targets are; all sources or some, where they lie or
 * elsewhere; and other targets. */
static void compare_all(const struct bench *b, const struct model *m, const struct model *others,
                        const struct forces *last)
{
    for (int k = 0; k < 8; k++) {
        double *pot = k & 2 ? last->pot : NULL;
        const double(*acc_last)[3] = k & 1 ? (const double(*)[3])last->acc : NULL;
        struct gpunb_softened_job job = {.n_i = k & 4 ? OTHERS : m->n,
                                         .x = positions(m),
                                         .self = m->self,
                                         .softening = SOFTENING,
                                         .acc_last = acc_last,
                                         .pot = pot};
        compare(b, m, job, 0);
        compare(b, m, job, 1);
        job.self = NULL;
        compare(b, m, job, 1);
        job.x = positions(others);
        job.n_i = OTHERS;
        compare(b, m, job, 0);
    }
}

static void test_bits(void **state)
{
    (void)state;
    struct model m = make_scene(HEAP, N), others = make_scene(BOX, OTHERS);
    struct forces last = make_forces(N);
    for (int walk = GPUNB_WALK_GROUPS; walk <= GPUNB_WALK_ONE_BY_ONE_J; walk += test_size(1, 2)) {
        struct gpunb_options options = usual;
        options.walk = (enum gpunb_walk)walk;
        struct bench b = open_bench(N, N, options, 0);
        const struct gpunb_softened_job job = job_of(&m, SOFTENING, &last);
        send_model(b.handle, &m);
        make_force_of(b.handle, &job);
        compare_all(&b, &m, &others, &last);
        close_bench(&b);
    }
    free_forces(&last);
    free_model(&m);
    free_model(&others);
}

/* An angle, orders, a heap and points that keys do not tell apart, masses of any size, and a body far from all others:
 * the aim holds, where there is one. */
static void test_scenes(void **state)
{
    (void)state;
    for (int scene = 0; scene < N_SCENES; scene += test_size(1, 4)) { /* 4: angles and aims, several orders */
        const struct gpunb_options options = {.force_error = scene % 3 == 2 ? 0 : 1e-3,
                                              .theta = scene % 3 == 2 ? 0.6 : 0,
                                              .order = scene % 9,
                                              .leaf = LEAF,
                                              .group = GROUP};
        struct model m = make_scene((enum scene)scene, N);
        struct forces f = make_forces(N);
        struct bench b = open_bench(N, N, options, 0);
        const struct gpunb_softened_job job = job_of(&m, SOFTENING, &f);
        send_model(b.handle, &m);
        compare(&b, &m, job, 1);
        if (options.force_error > 0) {
            const struct gpunb_softened_device there = job_on(&b, &m, &job, 1);
            enqueue(&b, &there);
            struct forces found = results(&b, &there);
            check_model(scene_names[scene], &m, &found, SOFTENING, options.force_error);
            free_forces(&found);
        }
        close_bench(&b);
        free_forces(&f);
        free_model(&m);
    }
    assert_no_misses();
}

/* ---- few bodies, and where a tree is not worth it */

static void test_few_bodies(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, 3);
    struct forces f = make_forces(3);
    struct bench b = open_bench(3, 3, usual, 0);
    struct gpunb_softened_job job = job_of(&m, SOFTENING, &f);
    for (size_t n_j = 0; n_j <= 3; n_j++)
        for (size_t n_i = 0; n_i <= n_j || n_i <= 1; n_i++) {
            struct model few = m;
            few.n = n_j;
            job.n_i = n_i;
            job.self = n_j > 0 ? m.self : NULL;
            send_model(b.handle, &few);
            if (n_i > 0 && n_j > 0) compare(&b, &few, job, 1);
            const struct gpunb_softened_device there = job_on(&b, &few, &job, 0);
            enqueue(&b, &there);
            for (size_t i = 0; i < n_i; i++) {
                struct forces found = results(&b, &there);
                assert_int_equal(n_j <= 1, norm(found.acc[i]) == 0);
                assert_int_equal(n_j <= 1, found.pot[i] == 0);
                free_forces(&found);
            }
        }
    const struct gpunb_softened_device nothing = {.softening = SOFTENING};
    enqueue(&b, &nothing); /* without any array */
    close_bench(&b);
    free_forces(&f);
    free_model(&m);
}

/* Where no walk is named few bodies have direct sums, with the bits of a handle for these. */
static void test_worth(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, OTHERS);
    struct forces f = make_forces(OTHERS);
    struct gpunb_tree_counts c;
    gpunb_t *by_aim = NULL, *direct = make_handle(OTHERS, 0);
    struct bench b = open_bench(OTHERS, OTHERS, usual, 0);
    const struct gpunb_softened_job job = job_of(&m, SOFTENING, &f);
    struct gpunb_softened_device there = job_on(&b, &m, &job, 1);
    send_model(direct, &m);
    make_force_of(direct, &job);
    assert_int_equal(try_tree(&by_aim, OTHERS, (struct gpunb_options){.force_error = 1e-3}, NULL), NBC_OK);
    assert_int_equal(gpunb_softened_device(by_aim, &there, b.stream), NBC_OK);
    struct forces found = results(&b, &there);
    assert_same_forces(&f, &found);
    gpunb_tree_get_counts(by_aim, &c);
    assert_true(c.builds == 0 && c.forces == 0);
    gpunb_free(by_aim);
    gpunb_free(direct);
    close_bench(&b);
    free_forces(&f);
    free_forces(&found);
    free_model(&m);
}

/* ---- streams, devices, counts */

/* Forces that are enqueued one after another in the same scratch: the later ones leave those before alone. */
static void test_one_after_another(void **state)
{
    (void)state;
    struct model m = make_scene(SPHERE, N);
    struct forces f = make_forces(N);
    struct bench b = open_bench(N, N, usual, 0);
    const struct gpunb_softened_job job = job_of(&m, SOFTENING, &f);
    struct gpunb_softened_device first = job_on(&b, &m, &job, 1), other = first;
    struct gpunb_tree_counts c;
    other.acc = b.last;
    other.pot = NULL;
    other.softening = 0.5;
    enqueue(&b, &first);
    enqueue(&b, &other);
    other.acc_last = first.acc;
    enqueue(&b, &other);
    struct forces found = results(&b, &first);
    send_model(b.handle, &m);
    make_force_of(b.handle, &job);
    assert_same_forces(&f, &found);
    gpunb_tree_get_counts(b.handle, &c);
    assert_true(c.builds == 4 && c.forces == 4 && c.first_forces == 3 && c.renewals == 0);
    assert_int_equal(c.targets, 7 * N);
    assert_true(c.cell_terms > 0 && c.pair_terms > 0 && c.groups > 0);
    close_bench(&b);
    free_forces(&f);
    free_forces(&found);
    free_model(&m);
}

/* Results may take the place of the last accelerations; a group of several blocks has the scale of those. */
static void test_in_place(void **state)
{
    (void)state;
    enum { MANY = 6000 };
    TEST_SKIP_SANITIZED();
    struct model m = make_scene(SPHERE, MANY);
    struct forces last = make_forces(MANY);
    struct gpunb_options options = usual;
    options.group = 128;
    options.walk = GPUNB_WALK_ONE_BY_ONE_I; /* the size of its groups does not depend on their number */
    struct bench b = open_bench(MANY, MANY, options, 0);
    struct gpunb_softened_job job = job_of(&m, SOFTENING, &last);
    send_model(b.handle, &m);
    make_force_of(b.handle, &job);
    /* A few that set the scale of their groups: what had replaced them would be seen. */
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < 3; k++) last.acc[i][k] *= i % 100 == 7 ? 1e3 : 1;
    job.acc_last = (const double(*)[3])last.acc;
    struct gpunb_softened_device there = job_on(&b, &m, &job, 1);
    enqueue(&b, &there);
    struct forces apart = results(&b, &there);
    there.acc = b.last;
    enqueue(&b, &there);
    struct forces in_place = results(&b, &there);
    assert_same_forces(&apart, &in_place);
    close_bench(&b);
    free_forces(&last);
    free_forces(&apart);
    free_forces(&in_place);
    free_model(&m);
}

/* A handle on another device has the same bits. */
static void test_another_device(void **state)
{
    (void)state;
    const char *why;
    if (nbd_count(strcmp(backend, "cuda") ? nbd_emulated : nbd_cuda, &why) < 2) skip();
    struct model m = make_scene(SPHERE, N);
    struct forces f = make_forces(N), found[2];
    const struct gpunb_softened_job job = job_of(&m, SOFTENING, &f);
    struct bench b[2] = {open_bench(N, N, usual, 1), open_bench(N, N, usual, 0)};
    for (int k = 0; k < 2; k++) {
        struct nbc_error err = {0};
        must(nbd_use(&b[k].device, &err), &err);
        const struct gpunb_softened_device there = job_on(&b[k], &m, &job, 1);
        enqueue(&b[k], &there);
        found[k] = results(&b[k], &there);
    }
    assert_same_forces(&found[0], &found[1]);
    for (int k = 0; k < 2; k++) {
        close_bench(&b[k]);
        free_forces(&found[k]);
    }
    free_forces(&f);
    free_model(&m);
}

/* Devices read coefficients in whole loads of four floats. */
static void test_strides(void **state)
{
    (void)state;
    static const int strides[] = DEVICE_TREE_STRIDES;
    assert_int_equal(sizeof strides / sizeof strides[0], GPUNB_MOST_ORDER + 1);
    for (int order = 0; order <= GPUNB_MOST_ORDER; order++)
        assert_int_equal(strides[order], (tree_coefficients(order) + 3) / 4 * 4);
}

/* ---- begun before, work and order */

static double work_of(const gpunb_t *handle)
{
    struct gpunb_tree_counts counts;
    gpunb_tree_get_counts(handle, &counts);
    return (double)counts.pair_terms + tree_worth_a_term(2) * (double)counts.cell_terms;
}

/* In two calls the bits are the same. Every source has its place; the work of all targets is that of all lists. */
static void test_begun_with_order(void **state)
{
    (void)state;
    struct model m = make_scene(STRAY, N); /* second keys, after what was begun */
    struct bench b = open_bench(N, N, (struct gpunb_options){.theta = 0.5, .order = 2, .leaf = LEAF}, 0);
    struct gpunb_softened_job job = {.n_i = N, .x = positions(&m), .softening = SOFTENING};
    struct gpunb_softened_device there = job_on(&b, &m, &job, 1);
    uint32_t cost[N];
    int32_t order[N];
    char is_there[N] = {0};
    enqueue(&b, &there);
    struct forces once = results(&b, &there);
    double left = work_of(b.handle);
    assert_true(left > 0);
    there.cost = on_device(&b.device, b.stream, NULL, sizeof cost);
    there.order = on_device(&b.device, b.stream, NULL, sizeof order);
    there.is_begun = 1;
    assert_int_equal(gpunb_softened_device_begin(b.handle, &there, b.stream), NBC_OK);
    enqueue(&b, &there);
    struct forces begun = results(&b, &there);
    assert_same_forces(&once, &begun);
    copy(&b, cost, there.cost, sizeof cost);
    copy(&b, order, there.order, sizeof order);
    for (int k = 0; k < N; k++) {
        left -= cost[k];
        assert_in_range(order[k], 0, N - 1);
        assert_false(is_there[order[k]]++);
    }
    assert_true(left == 0);
    for (int k = 0; k < 2; k++) nbd_free(&b.device, NBD_ON_DEVICE, k ? (void *)there.cost : there.order);
    close_bench(&b);
    free_forces(&once);
    free_forces(&begun);
    free_model(&m);
}

/* ---- refusals */

static void refuse(const struct bench *b, const struct gpunb_softened_device *job, const char *words)
{
    assert_int_equal(gpunb_softened_device(b->handle, job, b->stream), NBC_BAD_ARGUMENT);
    if (!strstr(gpunb_last_error(b->handle), words)) fail_msg("%s", gpunb_last_error(b->handle));
}

/* Nothing is written then. Fewer targets and sources need no more scratch than many. */
static void test_refusals(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct model m = make_scene(SPHERE, N);
    struct forces f = make_forces(N);
    struct bench b = open_bench(N, N, usual, 0);
    const struct gpunb_softened_job job = job_of(&m, SOFTENING, &f);
    const struct gpunb_softened_device there = job_on(&b, &m, &job, 1);
    struct gpunb_softened_device wrong = there;
    must(nbd_fill(&b.device, b.stream, b.acc, 0xff, N * 24, &err), &err);
    wrong.work_bytes--;
    refuse(&b, &wrong, "bytes of scratch");
    wrong = there;
    wrong.work = NULL;
    refuse(&b, &wrong, "bytes of scratch");
    wrong = there;
    wrong.softening = 0;
    refuse(&b, &wrong, "softening");
    wrong = there;
    wrong.mass = NULL;
    refuse(&b, &wrong, "mass is NULL");
    struct forces found = results(&b, &there);
    for (size_t i = 0; i < N; i++) assert_true(isnan(found.acc[i][0]));
    for (size_t n = 0; n <= N; n += N / 8) {
        size_t targets, sources;
        assert_int_equal(gpunb_softened_device_bytes(b.handle, n, N, &targets), NBC_OK);
        assert_int_equal(gpunb_softened_device_bytes(b.handle, N, n, &sources), NBC_OK);
        assert_true(targets <= b.work_bytes && sources <= b.work_bytes);
    }
    close_bench(&b);
    free_forces(&f);
    free_forces(&found);
    free_model(&m);
}

/* More targets never need less scratch: what was asked for with all bodies serves for any block of them. */
static void test_scratch_of_more_targets(void **state)
{
    (void)state;
    static const enum gpunb_walk walks[] = {GPUNB_WALK_HYBRID, GPUNB_WALK_FMM, GPUNB_WALK_GROUPS};
    static const int groups[] = {0, 7, 300};
    enum { MOST = 300000 };
    for (size_t w = 0; w < sizeof walks / sizeof walks[0]; w++)
        for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
            gpunb_t *h =
                make_tree_handle(1, (struct gpunb_options){.force_error = 1e-3, .group = groups[g], .walk = walks[w]});
            size_t before = 0;
            for (size_t n = 1; n <= MOST; n += 1 + n / 50) {
                size_t bytes;
                assert_int_equal(gpunb_softened_device_bytes(h, n, MOST, &bytes), NBC_OK);
                assert_true(bytes >= before);
                before = bytes;
            }
            gpunb_free(h);
        }
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_scenes),
        cmocka_unit_test(test_few_bodies),
        cmocka_unit_test(test_worth),
        cmocka_unit_test(test_one_after_another),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_another_device),
        cmocka_unit_test(test_begun_with_order),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_scratch_of_more_targets),
    };
    return on_devices() ? cmocka_run_group_tests_name(title, tests, NULL, NULL) : 0;
}

int main(int argc, char **argv)
{
    return run_trees_on_backends(argc, argv, "gpunb tree, device memory", run_suite);
}
