/* gpuirr_pred_all announces a time; bodies are predicted as forces are asked for, all at once where that is worth it.
 * Forces have the bits of a library that predicts each body in the force call, whatever is stored, announced and asked
 * for in between. */
#include "common/nbc.h"
#include "tests/conformance/gpuirr_model.h"
#include "tests/support/test_size.h"

enum { N = 1200, NNB = 40, LONGEST = 2 * NNB };

/* Two libraries with the same bodies and lists: `irr` is announced times as a program does it, `at_once` is announced
 * the same time by gpuirr_pred_act immediately before each force call, and so never uses stored predictions. */
struct pair {
    gpuirr_t *irr, *at_once;
    struct body *body;
    int32_t nnb[N], list[N][LONGEST];
    double t;
};

/* A whole number in [0, n). */
static int32_t below(int32_t n)
{
    return (int32_t)(0.5 * (uniform() + 1) * n);
}

static void store_body(struct pair *p, int32_t i)
{
    expect_ok(p->irr, set_body(p->irr, i, &p->body[i]));
    expect_ok(p->at_once, set_body(p->at_once, i, &p->body[i]));
}

static void store_list(struct pair *p, int32_t i)
{
    p->nnb[i] = below(LONGEST + 1);
    make_list(N, i, p->nnb[i], p->list[i]);
    expect_ok(p->irr, gpuirr_set_list(p->irr, (size_t)i, (size_t)p->nnb[i], p->list[i]));
    expect_ok(p->at_once, gpuirr_set_list(p->at_once, (size_t)i, (size_t)p->nnb[i], p->list[i]));
}

static void move_body(struct pair *p, int32_t i)
{
    struct body *b = &p->body[i];
    for (int d = 0; d < 3; d++) b->x[d] += 0.125 * uniform();
    b->t0 = p->t - 0.125 * (0.5 * (uniform() + 1));
    store_body(p, i);
}

static struct pair *open_pair(void)
{
    struct pair *p = nbc_alloc(1, sizeof *p);
    assert_non_null(p);
    p->irr = open_library(N);
    p->at_once = open_library(N);
    p->body = make_bodies(N);
    for (int32_t i = 0; i < N; i++) {
        store_body(p, i);
        store_list(p, i);
    }
    return p;
}

static void close_pair(struct pair *p)
{
    gpuirr_free(p->irr);
    gpuirr_free(p->at_once);
    nbc_free(p->body);
    nbc_free(p);
}

static void announce(struct pair *p, size_t lo, size_t hi, double t)
{
    p->t = t;
    expect_ok(p->irr, gpuirr_pred_all(p->irr, lo, hi, t));
}

struct result {
    double acc[N][3], jerk[N][3], noise[N];
    int32_t nearest[N];
};

static void ask(gpuirr_t *irr, int32_t n, const int32_t *act, struct result *result)
{
    memset(result, 0xff, sizeof *result);
    expect_ok(irr, gpuirr_firr_noise(irr, (size_t)n, act, result->acc, result->jerk, result->nearest, result->noise));
}

/* Forces on n bodies, the same from both libraries, and those at the announced time: float precision tells times
 * apart. */
static void compare(struct pair *p, int32_t n)
{
    static struct result announced, at_once;
    static int32_t act[N];
    const int32_t first = below(N);
    for (int32_t k = 0; k < n; k++) act[k] = (first + 7 * k) % N;
    ask(p->irr, n, act, &announced);
    expect_ok(p->at_once, gpuirr_pred_act(p->at_once, (size_t)n, act, p->t));
    ask(p->at_once, n, act, &at_once);
    assert_memory_equal(&announced, &at_once, sizeof announced);
    const int32_t k = below(n), i = act[k];
    struct exact exact;
    exact_force(p->body, i, p->nnb[i], p->list[i], p->t, &exact);
    expect_within("acceleration", i, relative_error(announced.acc[k], exact.acc, exact.acc_scale), 2e-6);
}

/* Seconds that the library has spent on predicting all. */
static double predicting(const gpuirr_t *irr)
{
    struct gpuirr_stats stats;
    gpuirr_get_stats(irr, &stats);
    return stats.seconds_pred;
}

/* Backends that can keep predictions. */
static int keeps_predictions(void)
{
    return strcmp(backend, "ref") != 0 && strcmp(backend, "cuda") != 0 && strcmp(backend, "emulated") != 0;
}

/* Few bodies do not cost the prediction of all; many calls for few bodies at one time do at last, once. */
static void all_are_predicted_when_it_is_worth_it(void **state)
{
    (void)state;
    struct pair *p = open_pair();
    for (int time = 0; time < 3; time++) {
        announce(p, 0, N, 0.25 + time / 64.0);
        for (int call = 0; call < 14; call++) compare(p, 5);
        assert_true(predicting(p->irr) == 0);
    }
    for (int call = 0; call < 200; call++) compare(p, 5);
    const double once = predicting(p->irr);
    assert_true(keeps_predictions() == (once > 0));
    compare(p, N);
    assert_true(predicting(p->irr) == once);
    announce(p, 0, N, 0.3);
    compare(p, N);
    assert_true(keeps_predictions() == (predicting(p->irr) > once));
    close_pair(p);
}

/* One call for n bodies after each announcement. */
static void same_bits_for_any_number_of_bodies(void **state)
{
    (void)state;
    struct pair *p = open_pair();
    for (int32_t n = 1; n <= N; n = n < 8 ? n + 1 : n + n / 3) {
        announce(p, 0, N, 0.25 + n / 8192.0);
        compare(p, n);
        compare(p, n);
    }
    close_pair(p);
}

/* Bodies and lists that are stored after the announcement count in all later forces, before and after all bodies were
 * predicted; the time stays the announced one. */
static void same_bits_with_bodies_and_lists_set_in_between(void **state)
{
    (void)state;
    struct pair *p = open_pair();
    for (int round = 0; round < test_size(24, 16); round++) {
        announce(p, 0, N, 0.25 + round / 64.0);
        if (round & 1) compare(p, 6);
        if (round & 2) compare(p, N);
        for (int32_t i = round; i < N; i += 50) move_body(p, i);
        if (round & 4) compare(p, 6);
        for (int32_t i = round; i < N; i += 31) store_list(p, i);
        if (round & 8) compare(p, N);
        compare(p, 60);
        compare(p, N);
        compare(p, N);
    }
    close_pair(p);
}

/* The last announcement counts, with its time and its range, whatever was predicted for those before. */
static void same_bits_after_repeated_announcements(void **state)
{
    (void)state;
    struct pair *p = open_pair();
    for (int round = 0; round < test_size(40, 15); round++) {
        const int32_t lo = below(N), hi = lo + below(N - lo + 1);
        announce(p, 0, N, 0.25);
        if (round % 3 == 0) compare(p, N);
        announce(p, (size_t)lo, (size_t)hi, round % 2 ? 0.25 : 0.5);
        if (round % 5 == 0) announce(p, (size_t)lo, (size_t)hi, p->t);
        compare(p, N);
        announce(p, 0, N, 0.3);
        compare(p, 3);
    }
    close_pair(p);
}

/* Calls in any order. */
static void same_bits_for_any_calls(void **state)
{
    (void)state;
    struct pair *p = open_pair();
    announce(p, 0, N, 0.25);
    for (int call = 0; call < test_size(600, 200); call++) {
        const int32_t what = below(12), i = below(N);
        if (what == 0) announce(p, (size_t)i / 4, N, 0.25 + call / 1024.0);
        if (what == 1) announce(p, 0, N, p->t);
        if (what == 2) {
            p->t += 1 / 512.0;
            expect_ok(p->irr, gpuirr_pred_act(p->irr, 1, &i, p->t));
        }
        if (what >= 3 && what < 6) move_body(p, i);
        if (what == 6) store_list(p, i);
        if (what == 7) compare(p, 1 + below(9));
        if (what >= 8 && what < 11) compare(p, N / 4 + below(N / 2));
        if (what == 11) expect_ok(p->irr, gpuirr_reserve(p->irr, N + (size_t)call));
    }
    close_pair(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_are_predicted_when_it_is_worth_it),
    cmocka_unit_test(same_bits_for_any_number_of_bodies),
    cmocka_unit_test(same_bits_with_bodies_and_lists_set_in_between),
    cmocka_unit_test(same_bits_after_repeated_announcements),
    cmocka_unit_test(same_bits_for_any_calls),
};

RUN_FOR_EACH_BACKEND(tests)
