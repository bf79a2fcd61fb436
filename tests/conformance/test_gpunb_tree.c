/* Softened forces by a tree, for every backend that has one, and every precision: errors against sums in long double,
 * for each walk and order, by aim and by angle, for many distributions, softenings and kinds of targets. */
#include "tests/conformance/gpunb_tree_model.h"

static const char *const walk_names[] = {"default",       "groups", "single", "one by one, i",
                                         "one by one, j", "hybrid", "fmm"};

/* ---- walk x order x (aim | angle) */

/* Medium errors by angle fall as theta^(order + 1) times what a multipole has of its largest, about a third, and terms
 * have directions of their own. 99 of 100 are within twice theta^(order + 1): a wrong coefficient of any rank is not.
 */
static double error_by_angle(double theta, int order)
{
    return 2 * pow(theta, order + 1) + 1e-6;
}

static void check_by_angle(const char *what, const struct sample *s, const struct forces *f, double theta, int order)
{
    const struct errors e = errors_of(s, f);
    if (e.acc_99 <= error_by_angle(theta, order)) return;
    misses++;
    print_message("%s: theta %.2g, order %d: acc 99 percent %.2g, pot %.2g\n", what, theta, order, e.acc_99, e.pot_99);
}

/* A walk has no kind of term that it does not claim. */
static void check_terms(const struct gpunb_tree_counts *c, enum gpunb_walk walk)
{
    assert_true(c->pair_terms > 0);
    assert_int_equal(c->cell_terms > 0, walk != GPUNB_WALK_FMM);
    if (walk != GPUNB_WALK_FMM && walk != GPUNB_WALK_HYBRID) assert_int_equal(c->local_terms, 0);
}

/* A force by a walk, with its kinds of term. */
static void make_counted(const struct model *m, struct gpunb_options options, double softening, struct forces *f)
{
    struct gpunb_tree_counts c;
    gpunb_t *h = make_tree_handle(m->n, options);
    const struct gpunb_softened_job job = job_of(m, softening, f);
    send_model(h, m);
    make_force_of(h, &job);
    gpunb_tree_get_counts(h, &c);
    check_terms(&c, options.walk);
    gpunb_free(h);
}

static void test_walks_and_orders(void **state)
{
    (void)state;
    static const double aims[] = {1e-2, 1e-3, 1e-4, 1e-5}, thetas[] = {0.3, 0.5, 0.8};
    const int all = test_seeds(0, 1), count = all ? 4 : 1;
    /* Groups of devices are full ones: more bodies are needed until a cell is worth a term of the highest order. */
    const int n = on_devices() ? 2500 : few_sizes() ? 500 : 1500;
    const int step = on_devices() ? 7 : few_sizes() ? 3 : 1;
    /* Under the sanitizers a walk of devices has the lowest order or the highest one. */
    const int one = on_devices() && TEST_SANITIZED;
    struct model m = make_scene(SPHERE, (size_t)test_seeds(n, 20000));
    const struct sample s = sample_sums(&m, positions(&m), m.self, m.n, 0.02);
    struct forces f = make_forces(m.n);
    for (int walk = GPUNB_WALK_GROUPS; walk <= GPUNB_WALK_FMM; walk++)
        for (int order = one && walk % 2 ? GPUNB_MOST_ORDER : 1; order <= (one ? 1 + 7 * (walk % 2) : GPUNB_MOST_ORDER);
             order += all ? 1 : step)
            for (int k = 0; k < count; k++) {
                const int pick = all ? k : walk + order;
                struct gpunb_options options = {
                    .order = order, .leaf = LEAF, .group = GROUP, .walk = (enum gpunb_walk)walk};
                char what[64];
                snprintf(what, sizeof what, "walk %s, order %d", walk_names[walk], order);
                options.force_error = aims[pick % 4];
                make_counted(&m, options, 0.02, &f);
                check_within(what, &s, &f, options.force_error);
                options.force_error = 0;
                options.theta = thetas[pick % 3];
                make_counted(&m, options, 0.02, &f);
                check_by_angle(what, &s, &f, options.theta, order);
            }
    free(s.sum);
    free_forces(&f);
    free_model(&m);
    assert_no_misses();
}

/* Enough bodies for all kinds of term of a walk; 0: too many for this build. */
static size_t bodies_for(enum gpunb_walk walk)
{
    if (on_devices() && walk == GPUNB_WALK_HYBRID) return TEST_SANITIZED ? 0 : 34000; /* regions: from 32768 on */
    return few_sizes() ? 6000 : 20000;
}

static void check_kinds_of_term(enum gpunb_walk walk, size_t n)
{
    struct gpunb_tree_counts c;
    struct model m = make_scene(SPHERE, n);
    const struct sample s = sample_sums(&m, positions(&m), m.self, m.n, 0.02);
    struct forces f = make_forces(m.n);
    const struct gpunb_options options = {.force_error = 1e-2, .group = on_devices() ? 0 : 128, .walk = walk};
    gpunb_t *h = make_tree_handle(m.n, options);
    const struct gpunb_softened_job job = job_of(&m, 0.02, &f);
    send_model(h, &m);
    make_force_of(h, &job);
    gpunb_tree_get_counts(h, &c);
    check_terms(&c, walk);
    assert_int_equal(c.local_terms > 0, walk != GPUNB_WALK_GROUPS);
    check_within(walk_names[walk], &s, &f, 1e-2);
    gpunb_free(h);
    free(s.sum);
    free_forces(&f);
    free_model(&m);
}

/* Each walk has all kinds of term that it claims, where there are enough bodies. */
static void test_kinds_of_term(void **state)
{
    (void)state;
    static const enum gpunb_walk walks[] = {GPUNB_WALK_GROUPS, GPUNB_WALK_HYBRID, GPUNB_WALK_FMM};
    if (is_slow()) TEST_SKIP_SANITIZED();
    for (size_t k = 0; k < sizeof walks / sizeof walks[0]; k++)
        if (bodies_for(walks[k]) > 0) check_kinds_of_term(walks[k], bodies_for(walks[k]));
    assert_no_misses();
}

/* ---- distributions, softenings, aims */

/* Without the potential, with which cells that a target is in may act as well. */
static void check_without_potential(const char *what, gpunb_t *h, const struct sample *s,
                                    const struct gpunb_softened_job *with, struct forces *f, double aim)
{
    struct gpunb_softened_job job = *with;
    job.pot = NULL;
    memset(f->acc, 0xff, f->n_i * sizeof *f->acc);
    make_force_of(h, &job);
    check_within(what, s, f, aim);
}

/* A force, once more with its accelerations, in the same array, and without potential. */
static void check_walk(const char *what, const struct model *m, const struct sample *s, struct gpunb_options options,
                       double softening)
{
    char text[160];
    struct forces f = make_forces(m->n);
    gpunb_t *h = make_tree_handle(m->n, options);
    struct gpunb_softened_job job = job_of(m, softening, &f);
    const int length =
        snprintf(text, sizeof text, "%s, softening %.2g, walk %s", what, softening, walk_names[options.walk]);
    char *rest = text + length;
    const size_t room = sizeof text - (size_t)length;
    send_model(h, m);
    make_force_of(h, &job);
    check_within(text, s, &f, options.force_error);
    snprintf(rest, room, ", without potential");
    check_without_potential(text, h, s, &job, &f, options.force_error);
    snprintf(rest, room, ", with the last accelerations");
    job.acc_last = (const double(*)[3])f.acc;
    make_force_of(h, &job);
    check_within(text, s, &f, options.force_error);
    free_forces(&f);
    gpunb_free(h);
}

static void check_force(const char *what, const struct model *m, struct gpunb_options options, double softening)
{
    const struct sample s = sample_sums(m, positions(m), m->self, m->n, softening);
    static const enum gpunb_walk walks[] = {GPUNB_WALK_GROUPS, GPUNB_WALK_SINGLE, GPUNB_WALK_HYBRID, GPUNB_WALK_FMM};
    for (size_t k = 0; k < sizeof walks / sizeof walks[0]; k++) {
        options.walk = walks[k];
        check_walk(what, m, &s, options, softening);
    }
    free(s.sum);
}

static void test_scenes(void **state)
{
    (void)state;
    if (is_slow()) TEST_SKIP_SANITIZED();
    const struct gpunb_options options = {.force_error = 1e-3, .leaf = LEAF, .group = GROUP};
    for (int scene = 0; scene < N_SCENES; scene++) {
        struct model m = make_scene((enum scene)scene, (size_t)test_seeds(few_sizes() ? 400 : 800, 30000));
        check_force(scene_names[scene], &m, options, 0.02);
        free_model(&m);
    }
    assert_no_misses();
}

static void test_softenings(void **state)
{
    (void)state;
    if (is_slow()) TEST_SKIP_SANITIZED();
    static const double softening[] = {1e-15, 1e-4, 0.1, 1, 1e3};
    const struct gpunb_options options = {.force_error = 1e-3, .leaf = LEAF, .group = GROUP};
    for (int scene = SPHERE; scene <= TWO; scene++) {
        struct model m = make_scene((enum scene)scene, (size_t)test_seeds(few_sizes() ? 300 : 600, 20000));
        for (size_t k = 0; k < sizeof softening / sizeof softening[0]; k += (size_t)test_size(1, 2))
            check_force(scene_names[scene], &m, options, softening[k]);
        free_model(&m);
    }
    assert_no_misses();
}

/* Groups that are wide beside the distances of their bodies: few bodies far apart, all of them in one. */
static void test_wide_groups(void **state)
{
    (void)state;
    if (is_slow()) TEST_SKIP_SANITIZED();
    static const enum scene wide[] = {TWO, STRAY};
    for (int k = 0; k < 2; k++)
        for (size_t n = 20; n <= (few_sizes() ? 80 : 320); n *= 4) {
            struct model m = make_scene(wide[k], n);
            for (double softening = 1e-4; softening < 2e3; softening *= 10)
                check_force(scene_names[wide[k]], &m,
                            (struct gpunb_options){.force_error = 1e-3, .leaf = 8, .group = 256}, softening);
            free_model(&m);
        }
    assert_no_misses();
}

/* The lowest ranks of cubes vanish, so that the first one that is left out is not the first one that acts. */
static void test_lattice(void **state)
{
    (void)state;
    if (is_slow()) TEST_SKIP_SANITIZED();
    struct model m = make_scene(LATTICE, (size_t)test_seeds(few_sizes() ? 512 : 1024, 4096));
    for (int order = 1; order <= 2; order++)
        for (double aim = 1e-2; aim > 1e-5; aim *= 0.01) {
            char what[40];
            snprintf(what, sizeof what, "lattice, order %d", order);
            check_force(what, &m, (struct gpunb_options){.force_error = aim, .order = order, .leaf = 8, .group = GROUP},
                        1e-3);
        }
    free_model(&m);
    assert_no_misses();
}

/* Both ends of the range of aims and of angles, with the library's own orders and sizes. */
static void test_ends_of_ranges(void **state)
{
    (void)state;
    if (is_slow()) TEST_SKIP_SANITIZED();
    static const double thetas[] = {0.1, 1};
    struct model m = make_scene(SPHERE, (size_t)test_seeds(few_sizes() ? 600 : 1200, 30000));
    const struct sample s = sample_sums(&m, positions(&m), m.self, m.n, 0.02);
    struct forces f = make_forces(m.n);
    check_force("least aim", &m, (struct gpunb_options){.force_error = least_error()}, 0.02);
    check_force("largest aim", &m, (struct gpunb_options){.force_error = 0.1}, 0.02);
    for (int k = 0; k < 2; k++) {
        const struct gpunb_softened_job job = job_of(&m, 0.02, &f);
        gpunb_t *h = make_tree_handle(m.n, (struct gpunb_options){.theta = thetas[k], .leaf = LEAF, .group = GROUP});
        send_model(h, &m);
        make_force_of(h, &job);
        /* Cells are not taken where their expansions are not known to converge (accept.h): radius/distance < 0.9. */
        check_by_angle("end of angles", &s, &f, fmin(thetas[k], sqrt(0.8)), GPUNB_DEFAULT_ORDER);
        gpunb_free(h);
    }
    free(s.sum);
    free_forces(&f);
    free_model(&m);
    assert_no_misses();
}

/* 10^4 of 10^5 bodies in one point: more than a leaf at the deepest level; pairs of these are exact zeros. */
static void test_large_heap(void **state)
{
    (void)state;
    if (is_slow()) TEST_SKIP_SANITIZED();
    struct model m = make_scene(HEAP, (size_t)test_seeds(few_sizes() ? 1000 : 3000, 100000));
    check_force("large heap", &m, (struct gpunb_options){.force_error = 1e-3}, 0.02);
    free_model(&m);
    assert_no_misses();
}

/* ---- what is exact */

/* All in one point: no force, and a potential without the term of the body itself, for each walk. */
static void test_one_point(void **state)
{
    (void)state;
    struct model m = make_scene(POINT, 1000);
    struct forces f = make_forces(m.n);
    for (int walk = GPUNB_WALK_GROUPS; walk <= GPUNB_WALK_FMM; walk++) {
        gpunb_t *h = make_tree_handle(m.n, (struct gpunb_options){.force_error = 1e-3, .walk = (enum gpunb_walk)walk});
        struct gpunb_softened_job job = job_of(&m, 0x1p-20, &f);
        send_model(h, &m);
        for (int with_self = 1; with_self >= 0; with_self--) {
            job.self = with_self ? m.self : NULL;
            make_force_of(h, &job);
            for (size_t i = 0; i < m.n; i++) {
                for (int k = 0; k < 3; k++) assert_true(f.acc[i][k] == 0);
                /* a thousand float terms that are alike: roundings of 6e-8 that add up over stretches of 64 */
                const double pot = -(with_self ? 0.999 : 1.0) * 0x1p20;
                if (!(fabs(f.pot[i] - pot) <= 4e-6 * fabs(pot)))
                    fail_msg("walk %s, self %d: pot %.9g, should be %.9g", walk_names[walk], with_self, f.pot[i], pot);
            }
        }
        job.pot = NULL;
        job.self = m.self;
        make_force_of(h, &job);
        for (size_t i = 0; i < m.n; i++)
            for (int k = 0; k < 3; k++) assert_true(f.acc[i][k] == 0);
        gpunb_free(h);
    }
    free_forces(&f);
    free_model(&m);
}

/* A line and a plane have no force out of them, bodies without mass exert none. */
static void test_zeros(void **state)
{
    (void)state;
    for (int scene = LINE; scene <= PLANE; scene++) {
        struct model m = make_scene((enum scene)scene, 1000);
        struct forces f = make_forces(m.n);
        gpunb_t *h = make_tree_handle(m.n, (struct gpunb_options){.force_error = 1e-3, .leaf = LEAF, .group = GROUP});
        const struct gpunb_softened_job job = job_of(&m, 0.01, &f);
        send_model(h, &m);
        make_force_of(h, &job);
        for (size_t i = 0; i < m.n; i++) assert_true(f.acc[i][2] == 0 && (scene == PLANE || f.acc[i][1] == 0));
        memset(m.mass, 0, m.n * sizeof *m.mass);
        send_model(h, &m);
        make_force_of(h, &job);
        for (size_t i = 0; i < m.n; i++) assert_true(norm(f.acc[i]) == 0 && f.pot[i] == 0);
        gpunb_free(h);
        free_forces(&f);
        free_model(&m);
    }
}

static void test_few_bodies(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 3; n++) {
        struct model m = make_scene(SPHERE, n), targets = make_scene(SPHERE, 40);
        struct forces f = make_forces(targets.n), own = make_forces(n);
        gpunb_t *h = make_tree_handle(3, (struct gpunb_options){.force_error = 1e-3});
        struct gpunb_softened_job job = job_of(&targets, 0.1, &f);
        const struct gpunb_softened_job of_sources = job_of(&m, 0.1, &own);
        job.self = NULL;
        send_model(h, &m);
        make_force_of(h, &job);
        make_force_of(h, &of_sources);
        const struct sample s = sample_sums(&m, positions(&targets), NULL, targets.n, 0.1),
                            s_own = sample_sums(&m, positions(&m), m.self, n, 0.1);
        check_within("few bodies on others", &s, &f, 1e-5); /* pairs alone: far better than the aim */
        check_within("few bodies", &s_own, &own, 1e-5);
        if (n == 1) assert_true(norm(own.acc[0]) == 0 && own.pot[0] == 0);
        free(s.sum);
        free(s_own.sum);
        gpunb_free(h);
        free_forces(&f);
        free_forces(&own);
        free_model(&m);
        free_model(&targets);
    }
    assert_no_misses();
}

/* ---- targets */

/* Targets of a call: sources in another order, some more than once, others beside them. */
struct targets {
    size_t n;
    double (*x)[3];
    int32_t *self;
};

enum { SOURCES = 1, TWICE = 2, OTHERS = 4 };

static struct targets make_targets(const struct model *m, size_t n, int kinds)
{
    struct targets t = {n, get(n, 24), get(n, 4)};
    for (size_t i = 0; i < n; i++) {
        const size_t other = kinds & TWICE ? i / 2 : i, j = other * 2654435761u % m->n;
        const int is_other = kinds & OTHERS && (!(kinds & SOURCES) || i % 5 == 0);
        memcpy(t.x[i], m->x[j], sizeof t.x[i]);
        t.self[i] = is_other ? -1 : (int32_t)j;
        if (is_other) t.x[i][i % 3] += 0.03;
    }
    return t;
}

/* The targets by each handle, against the same sums. */
static void check_targets(gpunb_t *const *h, int n_h, const struct model *m, const struct targets *t, int with_self,
                          const char *what)
{
    const int32_t *self = with_self ? t->self : NULL;
    struct forces f = make_forces(t->n);
    const struct sample s = sample_sums(m, (const double(*)[3])t->x, self, t->n, 0.02);
    const struct gpunb_softened_job job = {
        .n_i = t->n, .x = (const double(*)[3])t->x, .self = self, .softening = 0.02, .acc = f.acc, .pot = f.pot};
    for (int k = 0; k < n_h; k++) {
        memset(f.acc, 0xff, f.n_i * sizeof *f.acc);
        make_force_of(h[k], &job);
        check_within(what, &s, &f, 1e-3);
    }
    free(s.sum);
    free_forces(&f);
}

static void test_targets(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 15, 65, 600};
    static const int kinds[] = {SOURCES, SOURCES | TWICE, SOURCES | OTHERS, OTHERS, OTHERS | TWICE};
    gpunb_t *h[GPUNB_WALK_ONE_BY_ONE_J + 1];
    int n_h = 0;
    struct model m = make_scene(SPHERE, few_sizes() ? 600 : 1000);
    for (int walk = GPUNB_WALK_GROUPS; walk <= GPUNB_WALK_ONE_BY_ONE_J; walk++) {
        const struct gpunb_options options = {
            .force_error = 1e-3, .leaf = LEAF, .group = GROUP, .walk = (enum gpunb_walk)walk};
        h[n_h] = make_tree_handle(m.n, options);
        send_model(h[n_h++], &m);
    }
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c += (size_t)test_size(1, 2))
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            struct targets t = make_targets(&m, counts[c], kinds[k]);
            char what[80];
            snprintf(what, sizeof what, "%zu targets of kind %d, one of the walks", t.n, kinds[k]);
            check_targets(h, n_h, &m, &t, 1, what);
            check_targets(h, n_h, &m, &t, 0, what);
            free(t.x);
            free(t.self);
        }
    for (int k = 0; k < n_h; k++) gpunb_free(h[k]);
    free_model(&m);
    assert_no_misses();
}

/* Sources that GPUNB predicts, with numbers that are not there. */
static void test_predicted(void **state)
{
    (void)state;
    static const double zero[3];
    struct model m = make_scene(SPHERE, 1200);
    gpunb_t *h = make_tree_handle(m.n, (struct gpunb_options){.force_error = 1e-3, .leaf = LEAF, .group = GROUP});
    struct targets t = {m.n / 2, get(m.n, 24), get(m.n, 4)};
    for (size_t j = 0; j < m.n; j++) {
        if (j % 2 == 0) {
            m.mass[j] = 0;
            continue;
        }
        assert_int_equal(gpunb_set_jp(h, j, m.x[j], m.v[j], zero, zero, m.mass[j], 0), NBC_OK);
        for (int k = 0; k < 3; k++) m.x[j][k] += 0.25 * m.v[j][k];
        memcpy(t.x[j / 2], m.x[j], sizeof t.x[0]);
        t.self[j / 2] = (int32_t)j;
    }
    assert_int_equal(gpunb_predict(h, m.n, 0.25), NBC_OK);
    check_targets(&h, 1, &m, &t, 1, "predicted sources");
    free(t.x);
    free(t.self);
    gpunb_free(h);
    free_model(&m);
    assert_no_misses();
}

/* ---- momentum */

/* Terms of cells have no counterparts. At random the sum of n errors of force_error would be force_error/sqrt(n), 3e-6
 * for the best backend; less than 3.6 times that. */
static void test_momentum(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    struct model m = make_scene(SPHERE, (size_t)test_seeds(few_sizes() ? 1 << 13 : 1 << 15, 1 << 15));
    struct forces f = make_forces(m.n);
    struct gpunb_softened_job job = job_of(&m, 0.02, &f);
    gpunb_t *h = make_tree_handle(m.n, (struct gpunb_options){.force_error = 5e-4});
    double sum[3] = {0}, sizes = 0;
    job.pot = NULL;
    send_model(h, &m);
    make_force_of(h, &job);
    for (size_t i = 0; i < m.n; i++) {
        for (int k = 0; k < 3; k++) sum[k] += m.mass[i] * f.acc[i][k];
        sizes += m.mass[i] * norm(f.acc[i]);
    }
    print_message("%s: |sum m a|/sum m |a| = %.2g\n", backend, norm(sum) / sizes);
    assert_true(norm(sum) <= 3.6 * 5e-4 / sqrt((double)m.n) * sizes);
    gpunb_free(h);
    free_forces(&f);
    free_model(&m);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks_and_orders), cmocka_unit_test(test_kinds_of_term),
        cmocka_unit_test(test_scenes),           cmocka_unit_test(test_softenings),
        cmocka_unit_test(test_wide_groups),      cmocka_unit_test(test_lattice),
        cmocka_unit_test(test_ends_of_ranges),   cmocka_unit_test(test_large_heap),
        cmocka_unit_test(test_one_point),        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_few_bodies),       cmocka_unit_test(test_targets),
        cmocka_unit_test(test_predicted),        cmocka_unit_test(test_momentum),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return run_trees_on_backends(argc, argv, "gpunb tree", run_suite);
}
