/* The same bits from GPUIRR for any number of threads, either way of prediction, any other bodies of a call, and any
 * order of storing. */
#include "common/nbc.h"
#include "tests/conformance/gpuirr_model.h"

#include <omp.h>

enum { N = 3000, NNB = 40, N_ACT = 700 };

static size_t length_of_list(int32_t i)
{
    return (size_t)(i * 7) % (2 * NNB);
}

/* A library of N bodies with lists of about NNB. */
static gpuirr_t *open_cluster(struct body **body)
{
    gpuirr_t *irr = open_library(N);
    int32_t list[2 * NNB];
    *body = make_bodies(N);
    set_bodies(irr, N, *body);
    for (int32_t i = 0; i < N; i++) {
        make_list(N, i, (int32_t)length_of_list(i), list);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)i, length_of_list(i), list));
    }
    return irr;
}

/* Results of a call, comparable byte by byte. */
struct result {
    double acc[N_ACT][3], jerk[N_ACT][3];
    int32_t nearest[N_ACT];
};

static void make_active(int32_t *act)
{
    for (int32_t k = 0; k < N_ACT; k++) act[k] = (k * 4 + 3) % N;
}

static void forces(gpuirr_t *irr, const int32_t *act, struct result *result)
{
    memset(result, 0xff, sizeof *result);
    expect_ok(irr, gpuirr_firr_vec(irr, N_ACT, act, result->acc, result->jerk, result->nearest));
}

static void expect_same(const struct result *a, const struct result *b)
{
    assert_memory_equal(a, b, sizeof *a);
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    static struct result one, many;
    static const int threads[] = {1, 2, 3, 4, 5, 6, 7, 8, 64, 65, 100};
    struct gpuirr_stats earlier, stats;
    int32_t act[N_ACT];
    struct body *body;
    gpuirr_t *irr = open_cluster(&body);
    int before = omp_get_max_threads();
    uint64_t pairs = 0;
    make_active(act);
    for (int k = 0; k < N_ACT; k++) pairs += length_of_list(act[k]);
    for (int all = 0; all < 2; all++) {
        for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
            omp_set_num_threads(threads[k]);
            expect_ok(irr, all ? gpuirr_pred_all(irr, 0, N, 0.3) : gpuirr_pred_act(irr, N_ACT, act, 0.3));
            gpuirr_get_stats(irr, &earlier);
            forces(irr, act, all || k > 0 ? &many : &one);
            gpuirr_get_stats(irr, &stats);
            assert_int_equal(stats.interactions - earlier.interactions, pairs); /* none twice */
            if (all || k > 0) expect_same(&one, &many);
        }
    }
    omp_set_num_threads(before);
    gpuirr_free(irr);
    nbc_free(body);
}

/* A range that holds some bodies only, some of the neighbours only, or none. */
static void same_bits_for_any_predicted_range(void **state)
{
    (void)state;
    static struct result fly, stored;
    static const size_t range[][2] = {{0, N}, {0, 0}, {0, N / 2}, {1, N - 1}, {N / 3, 2 * N / 3}, {N, N}, {5, 6}};
    int32_t act[N_ACT];
    struct body *body;
    gpuirr_t *irr = open_cluster(&body);
    make_active(act);
    expect_ok(irr, gpuirr_pred_act(irr, N_ACT, act, 0.7));
    forces(irr, act, &fly);
    for (size_t k = 0; k < sizeof range / sizeof range[0]; k++) {
        expect_ok(irr, gpuirr_pred_all(irr, 0, N, 0.1)); /* nothing of t = 0.7 is left from before */
        expect_ok(irr, gpuirr_pred_all(irr, range[k][0], range[k][1], 0.7));
        forces(irr, act, &stored);
        expect_same(&fly, &stored);
    }
    gpuirr_free(irr);
    nbc_free(body);
}

/* Bodies and lists that change after the announcement count at once, whichever call announced the time. */
static void same_bits_after_changes(void **state)
{
    (void)state;
    static struct result result[2];
    int32_t act[N_ACT], list[NNB];
    make_active(act);
    for (int all = 0; all < 2; all++) {
        struct body *body;
        gpuirr_t *irr = open_cluster(&body);
        expect_ok(irr, all ? gpuirr_pred_all(irr, 0, N, 0.6) : gpuirr_pred_act(irr, N_ACT, act, 0.6));
        for (int32_t i = 0; i < N; i += 5) {
            body[i].x[0] += 0.25;
            body[i].t0 = 0.5;
            expect_ok(irr, set_body(irr, i, &body[i]));
        }
        make_list(N, act[1], NNB, list);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)act[1], NNB, list));
        forces(irr, act, &result[all]);
        struct exact exact;
        exact_force(body, act[1], NNB, list, 0.6, &exact);
        /* float precision is enough to see that the new state is used */
        expect_within("acceleration", act[1], relative_error(result[all].acc[1], exact.acc, exact.acc_scale), 2e-6);
        gpuirr_free(irr);
        nbc_free(body);
    }
    expect_same(&result[0], &result[1]);
}

static void force_does_not_depend_on_company(void **state)
{
    (void)state;
    static struct result together, backwards;
    int32_t act[N_ACT], reversed[N_ACT];
    struct body *body;
    gpuirr_t *irr = open_cluster(&body);
    make_active(act);
    for (int k = 0; k < N_ACT; k++) reversed[k] = act[N_ACT - 1 - k];
    expect_ok(irr, gpuirr_pred_act(irr, N_ACT, act, 0.4));
    forces(irr, act, &together);
    forces(irr, act, &backwards); /* once more: nothing is left over from the first call */
    expect_same(&together, &backwards);
    forces(irr, reversed, &backwards);
    for (int k = 0; k < N_ACT; k++) {
        double acc[1][3], jerk[1][3];
        int32_t nearest;
        expect_ok(irr, gpuirr_firr_vec(irr, 1, &act[k], acc, jerk, &nearest));
        assert_memory_equal(acc[0], together.acc[k], sizeof acc);
        assert_memory_equal(jerk[0], together.jerk[k], sizeof jerk);
        assert_int_equal(nearest, together.nearest[k]);
        assert_memory_equal(backwards.acc[N_ACT - 1 - k], together.acc[k], sizeof acc);
        assert_memory_equal(backwards.jerk[N_ACT - 1 - k], together.jerk[k], sizeof jerk);
    }
    gpuirr_free(irr);
    nbc_free(body);
}

/* Bodies and lists stored by many threads at once are what one thread stores. */
static void concurrent_storing(void **state)
{
    (void)state;
    static struct result serial, parallel;
    int32_t act[N_ACT];
    struct body *body;
    gpuirr_t *irr = open_cluster(&body), *other = open_library(N);
    int failed = 0, before = omp_get_max_threads();
    make_active(act);
    omp_set_num_threads(4);
    for (int round = 0; round < 3; round++) {
#pragma omp parallel for reduction(+ : failed) schedule(dynamic)
        for (int32_t i = 0; i < N; i++) {
            size_t nnb;
            const int32_t *list = gpuirr_get_list(irr, (size_t)i, &nnb);
            failed += gpuirr_set_list(other, (size_t)i, nnb / 3, list) != NBC_OK;
            failed += set_body(other, i, &body[i]) != NBC_OK;
            failed += gpuirr_set_list(other, (size_t)i, nnb, list) != NBC_OK;
        }
    }
    omp_set_num_threads(before);
    assert_int_equal(failed, 0);
    expect_ok(irr, gpuirr_pred_act(irr, N_ACT, act, 0.2));
    expect_ok(other, gpuirr_pred_act(other, N_ACT, act, 0.2));
    forces(irr, act, &serial);
    forces(other, act, &parallel);
    expect_same(&serial, &parallel);
    gpuirr_free(irr);
    gpuirr_free(other);
    nbc_free(body);
}

/* Bodies at rest in ten places, and if wanted every 500th too fast for a double to hold its prediction. */
static void set_ten_places(gpuirr_t *irr, const struct body *body, int fast_ones)
{
    for (int32_t i = 0; i < N; i++) {
        struct body at_rest = {.mass = 1, .v = {fast_ones && i % 500 == 499 ? 1e300 : 0}};
        memcpy(at_rest.x, body[i % 10].x, sizeof at_rest.x);
        expect_ok(irr, set_body(irr, i, &at_rest));
    }
}

/* Results that many threads report together: the number of coincident pairs, and the first active body with a force
 * that is not finite. */
static void reports_of_many_threads(void **state)
{
    (void)state;
    static struct result result;
    int32_t act[N_ACT], first_bad = -1;
    struct body *body;
    gpuirr_t *irr = open_cluster(&body);
    struct gpuirr_stats stats;
    uint64_t coincident = 0, interactions = 0;
    char expected[64];
    int before = omp_get_max_threads();
    omp_set_num_threads(4);
    make_active(act);
    for (int k = 0; k < N_ACT; k++) {
        size_t nnb;
        const int32_t *list = gpuirr_get_list(irr, (size_t)act[k], &nnb);
        int fast = act[k] % 500 == 499, mixed = 0;
        for (size_t l = 0; l < nnb; l++) {
            coincident += list[l] % 10 == act[k] % 10;
            mixed |= fast != (list[l] % 500 == 499);
        }
        if (mixed && first_bad < 0) first_bad = act[k];
        interactions += nnb;
    }
    set_ten_places(irr, body, 0);
    expect_ok(irr, gpuirr_pred_act(irr, N_ACT, act, 1));
    forces(irr, act, &result);
    gpuirr_get_stats(irr, &stats);
    assert_int_equal(stats.calls, 1);
    assert_int_equal(stats.bodies, N_ACT);
    assert_int_equal(stats.interactions, interactions);
    assert_int_equal(stats.coincident_pairs, coincident);
    set_ten_places(irr, body, 1);
    assert_true(first_bad >= 0);
    snprintf(expected, sizeof expected, "force on body %d at t = 1 ", first_bad);
    expect_refused(irr, gpuirr_firr_vec(irr, N_ACT, act, result.acc, result.jerk, NULL), NBC_NON_FINITE, expected);
    omp_set_num_threads(before);
    gpuirr_free(irr);
    nbc_free(body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(same_bits_for_any_threads), cmocka_unit_test(same_bits_for_any_predicted_range),
    cmocka_unit_test(same_bits_after_changes),   cmocka_unit_test(force_does_not_depend_on_company),
    cmocka_unit_test(concurrent_storing),        cmocka_unit_test(reports_of_many_threads),
};

RUN_FOR_EACH_BACKEND(tests)
