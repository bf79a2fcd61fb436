/* GPUNB: a block that is started and waited for, against the same block in one call: bit for bit, for every backend and
 * precision of this machine; and blocks that are given up. */
#include "common/nbc.h"
#include "tests/conformance/gpunb_model.h"

enum { N = 700 };

static int call_start(gpunb_t *h, const struct model *m, struct result *r)
{
    return gpunb_regf_start(h, r->n_i, m->self, m->r_nb2, m->dt, (const double(*)[3])m->x, (const double(*)[3])m->v,
                            r->acc, r->jerk, r->pot, r->cap, r->nnb, r->list);
}

static void assert_same(const struct result *a, const struct result *b)
{
    assert_memory_equal(a->acc, b->acc, a->n_i * sizeof *a->acc);
    assert_memory_equal(a->jerk, b->jerk, a->n_i * sizeof *a->jerk);
    assert_memory_equal(a->pot, b->pot, a->n_i * sizeof *a->pot);
    assert_memory_equal(a->nnb, b->nnb, a->n_i * sizeof *a->nnb);
    for (size_t i = 0; i < a->n_i; i++)
        assert_memory_equal(a->list + i * a->cap, b->list + i * b->cap, (size_t)a->nnb[i] * sizeof *a->list);
}

/* Nothing was written: all is as get() left it. */
static void assert_untouched(const struct result *r)
{
    int touched = 0;
    for (size_t i = 0; i < r->n_i; i++) touched |= norm(r->acc[i]) != 0 || norm(r->jerk[i]) != 0 || r->nnb[i] != 0;
    assert_int_equal(touched, 0);
}

/* Sources that the library predicts at t = 0, where they stand as in the model; every `gap`-th is not there. */
static void store(gpunb_t *h, const struct model *m, size_t gap)
{
    const double zero[3] = {0, 0, 0};
    for (size_t j = 0; j < m->n; j++) {
        if (gap > 0 && j % gap == 1) continue;
        assert_int_equal(gpunb_set_jp(h, j, m->x[j], m->v[j], zero, zero, m->mass[j], 0), NBC_OK);
    }
}

static void test_same_as_one_call(void **state)
{
    (void)state;
    static const size_t n_i[] = {0, 1, 5, 33, 300, N};
    struct model m = make_model(MASSES, N);
    gpunb_t *h = make_handle(N, 0);
    for (int way = 0; way < 3; way++) {
        if (way > 0) store(h, &m, way == 2 ? 10 : 0);
        for (size_t k = 0; k < sizeof n_i / sizeof *n_i; k++) {
            struct result one = make_result(n_i[k], N), two = make_result(n_i[k], N);
            assert_int_equal(way > 0 ? gpunb_predict(h, N, 0) : call_send(h, &m), NBC_OK);
            assert_int_equal(call_regf(h, &m, 0, &one), NBC_OK);
            assert_int_equal(way > 0 ? gpunb_predict(h, N, 0) : call_send(h, &m), NBC_OK);
            assert_int_equal(call_start(h, &m, &two), NBC_OK);
            assert_untouched(&two);
            assert_int_equal(gpunb_regf_wait(h), NBC_OK);
            assert_same(&one, &two);
            free_result(&one);
            free_result(&two);
        }
    }
    gpunb_free(h);
    free_model(&m);
}

/* Permitted calls in between do not change the block that was started. */
static void test_work_in_between(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, N);
    struct result one = make_result(40, N), two = make_result(40, N), next = make_result(40, N);
    const double zero[3] = {0, 0, 0}, far[3] = {30, 0, 0};
    double pot[3];
    gpunb_t *h = make_handle(N, 0);
    store(h, &m, 10);
    assert_int_equal(gpunb_predict(h, N, 0), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &one), NBC_OK);
    assert_int_equal(gpunb_predict(h, N, 0), NBC_OK);
    assert_int_equal(call_start(h, &m, &two), NBC_OK);
    for (size_t j = 0; j < N; j += 3)
        assert_int_equal(j % 2 ? gpunb_clear_jp(h, j) : gpunb_set_jp(h, j, far, zero, zero, zero, 1.0, 0), NBC_OK);
    assert_int_equal(gpunb_potential(h, 5, 3, N, m.mass, (const double(*)[3])m.x, pot), NBC_OK);
    assert_int_equal(gpunb_regf_wait(h), NBC_OK);
    assert_same(&one, &two);
    assert_int_equal(gpunb_predict(h, N, 0), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &next), NBC_OK);
    assert_true(memcmp(one.acc, next.acc, 40 * sizeof *one.acc) != 0); /* calls in between take effect from here on */
    free_result(&one);
    free_result(&two);
    free_result(&next);
    gpunb_free(h);
    free_model(&m);
}

/* A potential that is started has the bits of one that is waited for at once, whatever comes in between; one that is
 * given up writes nothing. */
static void test_potential_in_between(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, N), other = make_model(MASSES, N);
    const double(*x)[3] = (const double(*)[3])m.x;
    struct result one = make_result(40, N), two = make_result(40, N);
    double expected[N], pot[N], lost[3] = {-7, -7, -7}, few[3];
    gpunb_t *h = make_handle(N, 0);
    assert_int_equal(gpunb_potential_wait(h), NBC_BAD_STATE);
    assert_int_equal(gpunb_potential(h, 0, N, N, m.mass, x, expected), NBC_OK);
    assert_int_equal(gpunb_potential_wait(h), NBC_BAD_STATE);
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &one), NBC_OK);
    assert_int_equal(gpunb_potential_start(h, 0, N, N, m.mass, x, pot), NBC_OK);
    store(h, &m, 10);
    assert_int_equal(gpunb_reserve(h, 3 * N), NBC_OK);
    assert_int_equal(call_send(h, &other), NBC_OK);
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &two), NBC_OK);
    assert_int_equal(gpunb_potential_wait(h), NBC_OK);
    assert_memory_equal(pot, expected, sizeof pot);
    assert_same(&one, &two);
    assert_int_equal(gpunb_potential_start(h, 0, 3, N, m.mass, x, lost), NBC_OK);
    assert_int_equal(gpunb_potential(h, 5, 3, N, m.mass, x, few), NBC_OK);
    assert_int_equal(gpunb_potential_wait(h), NBC_BAD_STATE);
    assert_true(lost[0] == -7 && lost[1] == -7 && lost[2] == -7);
    for (int k = 0; k < 3; k++) assert_true(fabs(few[k] / expected[5 + k] - 1) < 1e-10);
    assert_int_equal(gpunb_potential_start(h, 0, 0, N, m.mass, x, NULL), NBC_OK);
    assert_int_equal(gpunb_potential_wait(h), NBC_OK);
    assert_int_equal(gpunb_potential_start(h, 0, 3, N, m.mass, x, lost), NBC_OK); /* and one that is not ended */
    gpunb_free(h);
    free_result(&one);
    free_result(&two);
    free_model(&m);
    free_model(&other);
}

static int give_up(gpunb_t *h, const struct model *m, int way, struct result *other)
{
    if (way == 0) return call_send(h, m);
    if (way == 1) return gpunb_predict(h, N, 0);
    if (way == 2) return gpunb_reserve(h, 2 * N);
    return call_regf(h, m, 0, other);
}

static void test_given_up(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, N);
    for (int way = 0; way < 4; way++) {
        struct result one = make_result(50, N), lost = make_result(50, N), two = make_result(50, N);
        gpunb_t *h = make_handle(N, 0);
        store(h, &m, 0);
        assert_int_equal(gpunb_predict(h, N, 0), NBC_OK);
        assert_int_equal(gpunb_regf_wait(h), NBC_BAD_STATE);
        assert_int_equal(call_regf(h, &m, 0, &one), NBC_OK);
        assert_int_equal(gpunb_regf_wait(h), NBC_BAD_STATE);
        assert_int_equal(call_start(h, &m, &lost), NBC_OK);
        assert_int_equal(give_up(h, &m, way, &two), NBC_OK);
        assert_int_equal(gpunb_regf_wait(h), NBC_BAD_STATE);
        assert_non_null(strstr(gpunb_last_error(h), "gpunb_regf_start"));
        assert_untouched(&lost);
        if (way < 3) assert_int_equal(call_regf(h, &m, 0, &two), NBC_OK);
        assert_same(&one, &two);
        assert_int_equal(call_start(h, &m, &lost), NBC_OK); /* and one that is never asked for */
        gpunb_free(h);
        free_result(&one);
        free_result(&lost);
        free_result(&two);
    }
    free_model(&m);
}

/* A block that is refused was not started; one that overflows says so when it is waited for. */
static void test_refusals(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, N);
    struct result r = make_result(60, N), small = make_result(60, 1);
    gpunb_t *h = make_handle(N, 0);
    assert_int_equal(call_start(h, &m, &r), NBC_BAD_STATE);
    assert_int_equal(gpunb_regf_wait(h), NBC_BAD_STATE);
    assert_int_equal(call_send(h, &m), NBC_OK);
    m.x[3][1] = NAN;
    assert_int_equal(call_start(h, &m, &r), NBC_NON_FINITE);
    assert_int_equal(gpunb_regf_wait(h), NBC_BAD_STATE);
    assert_untouched(&r);
    m.x[3][1] = 0.25;
    assert_int_equal(call_start(h, &m, &small), NBC_OK);
    assert_int_equal(gpunb_regf_wait(h), NBC_NB_OVERFLOW);
    assert_int_equal(gpunb_regf_wait(h), NBC_BAD_STATE);
    assert_int_equal(gpunb_regf_start(NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL),
                     NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_regf_wait(NULL), NBC_BAD_ARGUMENT);
    free_result(&r);
    free_result(&small);
    gpunb_free(h);
    free_model(&m);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_one_call),
        cmocka_unit_test(test_work_in_between),
        cmocka_unit_test(test_potential_in_between),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return run_on_backends(argc, argv, "gpunb start and wait", run_suite);
}
