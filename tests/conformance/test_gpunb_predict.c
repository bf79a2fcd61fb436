/* GPUNB: sources that the library predicts from stored predictors, against the same sources predicted here and sent:
 * bit for bit, for every backend and precision of this machine. */
#include "common/nbc.h"
#include "tests/conformance/gpunb_model.h"

#include <omp.h>

/* Predictors of sources 0 .. n_max - 1, and which of them exist. */
struct stored {
    size_t n_max;
    double (*x)[3], (*v)[3], (*acc)[3], (*jerk)[3], *mass, *t0;
    unsigned char *present;
};

static struct stored make_stored(size_t n_max)
{
    struct stored s = {.n_max = n_max, .x = get(n_max, 24), .v = get(n_max, 24), .acc = get(n_max, 24)};
    s.jerk = get(n_max, 24);
    s.mass = get(n_max, 8);
    s.t0 = get(n_max, 8);
    s.present = get(n_max, 1);
    return s;
}

static void free_stored(struct stored *s)
{
    free(s->x);
    free(s->v);
    free(s->acc);
    free(s->jerk);
    free(s->mass);
    free(s->t0);
    free(s->present);
}

/* A new state of source j, last known within a step before t. */
static void draw(struct stored *s, size_t j, double t)
{
    for (int k = 0; k < 3; k++) {
        s->x[j][k] = 2 * uniform() - 1;
        s->v[j][k] = uniform() - 0.5;
        s->acc[j][k] = 8 * uniform() - 4;
        s->jerk[j][k] = 64 * uniform() - 32;
    }
    s->mass[j] = uniform() / (double)s->n_max;
    s->t0[j] = t - uniform() / 32;
}

static int set_jp(gpunb_t *h, const struct stored *s, size_t j)
{
    return gpunb_set_jp(h, j, s->x[j], s->v[j], s->acc[j], s->jerk[j], s->mass[j], s->t0[j]);
}

static void put(gpunb_t *h, struct stored *s, size_t j, double t)
{
    draw(s, j, t);
    s->present[j] = 1;
    if (set_jp(h, s, j) != NBC_OK) fail_msg("%s", gpunb_last_error(h));
}

static void take_away(gpunb_t *h, struct stored *s, size_t j)
{
    s->present[j] = 0;
    assert_int_equal(gpunb_clear_jp(h, j), NBC_OK);
}

/* The sources among the first n_j at time t, in order, and their numbers, as a caller would send them. The operations
 * are those in gpunb.h. */
static struct model predicted(const struct stored *s, size_t n_j, double t, int32_t *number)
{
    struct model m = make_model(PLUMMER, n_j);
    size_t n = 0;
    for (size_t j = 0; j < n_j; j++) {
        if (!s->present[j]) continue;
        const double h = t - s->t0[j];
        for (int k = 0; k < 3; k++) {
            m.x[n][k] = s->x[j][k] + h * (s->v[j][k] + h * (0.5 * s->acc[j][k] + h * (s->jerk[j][k] * (1.0 / 6.0))));
            m.v[n][k] = s->v[j][k] + h * (s->acc[j][k] + h * (0.5 * s->jerk[j][k]));
        }
        m.mass[n] = s->mass[j];
        m.r_nb2[n] = 0.0225;
        m.self[n] = (int32_t)n;
        number[n++] = (int32_t)j;
    }
    m.n = n;
    return m;
}

/* Every third target stands so close to the next source, and has no sphere, that its force shows the last bits of the
 * prediction that a two-float number keeps. */
static void stand_close(const struct model *sources, struct model *targets)
{
    targets->x = get(sources->n, 24);
    memcpy(targets->x, sources->x, sources->n * sizeof *sources->x);
    for (size_t i = 2; i + 1 < sources->n; i += 3) {
        for (int k = 0; k < 3; k++) targets->x[i][k] = sources->x[i + 1][k] + 0x1p-40;
        targets->r_nb2[i] = 0;
    }
}

/* Forces of predicted sources on n_i of them, against those of the same sources sent to another handle. */
static void compare(gpunb_t *h, const struct stored *s, size_t n_j, double t, size_t n_i, int weighted)
{
    int32_t *number = get(n_j, 4);
    struct model m = predicted(s, n_j, t, number), targets = m, by_number;
    if (weighted)
        for (size_t i = 0; i < m.n; i++) m.r_nb2[i] *= 2 * (double)s->n_max;
    if (n_i > m.n) n_i = m.n;
    if (m.n > 2) m.r_nb2[1] = 1e300; /* all are neighbours, and no others */
    stand_close(&m, &targets);
    by_number = targets;
    by_number.self = number;
    gpunb_t *sent = make_handle(n_j, weighted);
    struct result expected = make_result(n_i, m.n), found = make_result(n_i, m.n);
    assert_int_equal(call_send(sent, &m), NBC_OK);
    assert_int_equal(call_regf(sent, &targets, 0, &expected), NBC_OK);
    if (gpunb_predict(h, n_j, t) != NBC_OK) fail_msg("%s", gpunb_last_error(h));
    if (call_regf(h, &by_number, 0, &found) != NBC_OK) fail_msg("%s", gpunb_last_error(h));
    assert_memory_equal(found.acc, expected.acc, n_i * sizeof *found.acc);
    assert_memory_equal(found.jerk, expected.jerk, n_i * sizeof *found.jerk);
    assert_memory_equal(found.pot, expected.pot, n_i * sizeof *found.pot);
    assert_memory_equal(found.nnb, expected.nnb, n_i * sizeof *found.nnb);
    if (n_i > 1 && m.n > 2) assert_int_equal(found.nnb[1], m.n - 1);
    for (size_t i = 0; i < n_i; i++)
        for (size_t k = 0; k < (size_t)found.nnb[i]; k++)
            if (found.list[i * m.n + k] != number[expected.list[i * m.n + k]])
                fail_msg("target %zu: neighbour %zu is %d, not %d", i, k, (int)found.list[i * m.n + k],
                         (int)number[expected.list[i * m.n + k]]);
    free_result(&expected);
    free_result(&found);
    free_model(&m);
    free(targets.x);
    free(number);
    gpunb_free(sent);
}

/* All are there, whatever the length of the last vector. */
static void test_without_gaps(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 15, 16, 17, 63, 65, 1000, 20011};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct stored s = make_stored(sizes[k]);
        gpunb_t *h = make_handle(sizes[k], k % 2);
        for (size_t j = 0; j < sizes[k]; j++) put(h, &s, j, 3.0);
        compare(h, &s, sizes[k], 3.0, 40, k % 2);
        compare(h, &s, sizes[k], 3.0 + 0x1p-9, 40, k % 2);
        free_stored(&s);
        gpunb_free(h);
    }
}

/* Sources come, go and change, a random part of them each time; the times go on, and once back. */
static void change_and_compare(size_t n_max, int weighted, int rounds, size_t n_i)
{
    struct stored s = make_stored(n_max);
    gpunb_t *h = make_handle(n_max, weighted);
    double t = 100;
    for (int round = 0; round < rounds; round++) {
        const double part = round % 3 == 0 ? 0.5 : 0.02;
        for (size_t j = 0; j < n_max; j++) {
            if (uniform() < part) put(h, &s, j, t);
            if (uniform() < part / 4) take_away(h, &s, j);
            if (uniform() < 3.0 / (double)n_max) assert_int_equal(gpunb_push_jp(h), NBC_OK); /* some are set again */
        }
        if (round == 2)
            for (size_t j = n_max / 4; j < n_max / 2; j++) take_away(h, &s, j);
        compare(h, &s, n_max, t, n_i, weighted);
        compare(h, &s, n_max - n_max / 5, t - 0x1p-8, n_i, weighted); /* others beyond, in the same vectors */
        t += round == 4 ? -0x1p-7 : 0x1p-6;
    }
    free_stored(&s);
    gpunb_free(h);
}

static void test_changes(void **state)
{
    (void)state;
    const int gpu = strcmp(backend, "cuda") == 0;
    change_and_compare(50, 0, 12, 50);
    change_and_compare(700, 1, 8, 60);
    change_and_compare(33000, 0, 3, 33);            /* threads share the sources */
    if (gpu) change_and_compare(70000, 0, 3, 3000); /* sources along the curve */
}

/* No source, one, and none again. */
static void test_nobody(void **state)
{
    (void)state;
    struct stored s = make_stored(40);
    struct model m = make_model(PLUMMER, 40);
    struct result r = make_result(3, 40);
    gpunb_t *h = make_handle(40, 0);
    assert_int_equal(gpunb_clear_jp(h, 7), NBC_OK);
    for (int round = 0; round < 3; round++) {
        if (round == 1) put(h, &s, 39, 0);
        if (round == 2) take_away(h, &s, 39);
        m.self[0] = m.self[1] = m.self[2] = 5; /* without a source */
        m.r_nb2[2] = 1e300;
        r.acc[0][0] = 5;
        assert_int_equal(gpunb_predict(h, 40, 0), NBC_OK);
        assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
        assert_true(round == 1 || r.acc[0][0] == 0);
        assert_int_equal(r.nnb[2], round == 1);
        if (round == 1) assert_int_equal(r.list[2 * r.cap], 39);
    }
    free_stored(&s);
    free_model(&m);
    free_result(&r);
    gpunb_free(h);
}

/* More room: stored data stay, in gpunb_send's sources as well; many small steps. */
static void test_reserve(void **state)
{
    (void)state;
    struct stored s = make_stored(900);
    gpunb_t *h = make_handle(3, 0);
    size_t room = 3;
    assert_int_equal(gpunb_set_jp(h, 3, s.x[0], s.v[0], s.acc[0], s.jerk[0], 1, 0), NBC_BAD_ARGUMENT);
    for (int round = 0; round < 9; round++) {
        for (size_t j = round ? room - room / 3 : 0; j < room; j++) put(h, &s, j, 1);
        if (round > 1) take_away(h, &s, room / 2);
        compare(h, &s, room, 1, 20, 0);
        room += room / 2 + 1;
        assert_int_equal(gpunb_reserve(h, room), NBC_OK);
        assert_int_equal(gpunb_reserve(h, 2), NBC_OK);
        compare(h, &s, room, 1, 20, 0);
    }
    assert_int_equal(gpunb_reserve(h, (size_t)1 << 40), NBC_BAD_ARGUMENT);
    compare(h, &s, room, 1, 20, 0);
    struct model m = make_model(PLUMMER, 300);
    struct result before = make_result(20, 300), after = make_result(20, 300);
    assert_int_equal(gpunb_reserve(h, 300), NBC_OK);
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &before), NBC_OK);
    assert_int_equal(gpunb_reserve(h, 5000), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &after), NBC_OK);
    assert_memory_equal(before.acc, after.acc, 20 * sizeof *after.acc);
    free_result(&before);
    free_result(&after);
    free_model(&m);
    free_stored(&s);
    gpunb_free(h);
}

/* Both ways of giving sources, in turn. */
static void test_send_between(void **state)
{
    (void)state;
    struct stored s = make_stored(300);
    struct model m = make_model(PLUMMER, 250);
    struct result first = make_result(250, 250), again = make_result(250, 250);
    gpunb_t *h = make_handle(300, 0);
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &first), NBC_OK);
    for (size_t j = 0; j < 300; j += 1 + j % 3) put(h, &s, j, 2);
    for (int round = 0; round < 3; round++) {
        compare(h, &s, 300, 2, 40, 0);
        assert_int_equal(call_send(h, &m), NBC_OK);
        assert_int_equal(call_regf(h, &m, 0, &again), NBC_OK);
        assert_memory_equal(first.acc, again.acc, 250 * sizeof *again.acc);
        assert_memory_equal(first.nnb, again.nnb, 250 * sizeof *again.nnb);
        assert_memory_equal(first.list, again.list, (size_t)first.nnb[0] * sizeof *again.list);
    }
    free_result(&first);
    free_result(&again);
    free_model(&m);
    free_stored(&s);
    gpunb_free(h);
}

/* A predictor that is not sound is named and not stored. */
static void test_refuses_predictors(void **state)
{
    (void)state;
    struct stored s = make_stored(30);
    gpunb_t *h = make_handle(30, 0);
    for (size_t j = 0; j < 30; j++) put(h, &s, j, 1);
    static const char *const names[] = {"x[1] of source 17 ",    "v[1] of source 17 ", "acc[1] of source 17 ",
                                        "jerk[1] of source 17 ", "mass of source 17 ", "t0 of source 17 "};
    for (int k = 0; k < 6; k++) {
        double *const where[] = {&s.x[17][1], &s.v[17][1], &s.acc[17][1], &s.jerk[17][1], &s.mass[17], &s.t0[17]};
        const double good = *where[k], bad[] = {NAN, INFINITY, -INFINITY, -2e15};
        for (int b = 0; b < 4; b++) {
            *where[k] = bad[b];
            if (b == 3 && (k == 2 || k == 3 || k == 5)) continue; /* no limit but that of a prediction */
            assert_int_equal(set_jp(h, &s, 17), b < 3 ? NBC_NON_FINITE : NBC_BAD_ARGUMENT);
            assert_non_null(strstr(gpunb_last_error(h), names[k]));
        }
        *where[k] = good;
        compare(h, &s, 30, 1, 30, 0);
    }
    assert_int_equal(gpunb_set_jp(h, 1, NULL, s.v[0], s.acc[0], s.jerk[0], 1, 0), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_set_jp(h, 30, s.x[0], s.v[0], s.acc[0], s.jerk[0], 1, 0), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_clear_jp(h, 30), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_predict(h, 31, 1), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_predict(h, 30, NAN), NBC_NON_FINITE);
    assert_int_equal(gpunb_set_jp(NULL, 0, s.x[0], s.v[0], s.acc[0], s.jerk[0], 1, 0), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_clear_jp(NULL, 0), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_predict(NULL, 0, 0), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_reserve(NULL, 9), NBC_BAD_ARGUMENT);
    free_stored(&s);
    gpunb_free(h);
}

/* A prediction that overflows names its source, in gpunb_predict or in the call after it, whichever lane it is in; then
 * there are no sources, until the predictor is right again. */
static void check_overflow(size_t n, size_t bad, int gaps)
{
    struct stored s = make_stored(n);
    gpunb_t *h = make_handle(n, 0);
    char name[40];
    snprintf(name, sizeof name, "source %zu:", bad);
    for (size_t j = 0; j < n; j++)
        if (!gaps || j % 5 || j == bad) put(h, &s, j, 1);
    double *const where[] = {&s.x[bad][2], &s.v[bad][0], &s.acc[bad][1], &s.jerk[bad][2], &s.jerk[bad][0]};
    static const double values[] = {-9.999999e14, 1e15, 1e300, 1e22, -1e308};
    for (int k = 0; k < 5; k++) {
        struct model m = make_model(PLUMMER, 4);
        struct result r = make_result(4, n);
        const double good = *where[k];
        *where[k] = values[k];
        s.t0[bad] = 1;
        if (k == 0) s.v[bad][2] = -1e14;
        assert_int_equal(set_jp(h, &s, bad), NBC_OK);
        int status = gpunb_predict(h, n, 31);
        if (status == NBC_OK && on_devices()) status = call_regf(h, &m, 0, &r);
        assert_int_equal(status, NBC_NON_FINITE);
        if (!strstr(gpunb_last_error(h), name)) fail_msg("%s: %s", name, gpunb_last_error(h));
        assert_int_not_equal(call_regf(h, &m, 0, &r), NBC_OK);
        *where[k] = good;
        s.v[bad][2] = 0.25;
        assert_int_equal(set_jp(h, &s, bad), NBC_OK);
        compare(h, &s, n, 1, 20, 0);
        free_result(&r);
        free_model(&m);
    }
    free_stored(&s);
    gpunb_free(h);
}

static void test_refuses_predictions(void **state)
{
    (void)state;
    check_overflow(40, 0, 0);
    check_overflow(40, 39, 0);
    check_overflow(40, 22, 1);
    check_overflow(12000, 11111, 0);
}

/* Calls for different sources at a time, the first of all among them; the bits are those of one thread. */
static void test_concurrent_calls(void **state)
{
    (void)state;
    enum { N = 6000 };
    const int before = omp_get_max_threads();
    struct stored s = make_stored(N);
    gpunb_t *h = make_handle(N, 0);
    omp_set_num_threads(4);
    for (int round = 0; round < 5; round++) {
        int refused = 0;
        for (size_t j = 0; j < N; j++) {
            draw(&s, j, 1);
            s.present[j] = round == 0 || uniform() < 0.9;
        }
#pragma omp parallel for schedule(dynamic, 3) reduction(| : refused)
        for (size_t j = 0; j < N; j++) refused |= (s.present[j] ? set_jp(h, &s, j) : gpunb_clear_jp(h, j)) != NBC_OK;
        assert_int_equal(refused, 0);
        compare(h, &s, N, 1, 20, 0);
    }
    omp_set_num_threads(before);
    free_stored(&s);
    gpunb_free(h);
}

/* Interactions are those with sources that are there. */
static void test_statistics(void **state)
{
    (void)state;
    struct stored s = make_stored(100);
    struct model m = make_model(PLUMMER, 100);
    struct result r = make_result(7, 100);
    struct gpunb_stats stats;
    gpunb_t *h = make_handle(100, 0);
    for (size_t j = 0; j < 100; j++)
        if (j % 10) put(h, &s, j, 0);
    assert_int_equal(gpunb_predict(h, 100, 0), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    gpunb_get_stats(h, &stats);
    assert_int_equal(stats.interactions, 7 * 90);
    free_result(&r);
    free_model(&m);
    free_stored(&s);
    gpunb_free(h);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_gaps),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_send_between),
        cmocka_unit_test(test_refuses_predictors),
        cmocka_unit_test(test_refuses_predictions),
        cmocka_unit_test(test_concurrent_calls),
        cmocka_unit_test(test_statistics),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return run_on_backends(argc, argv, "gpunb predictors", run_suite);
}
