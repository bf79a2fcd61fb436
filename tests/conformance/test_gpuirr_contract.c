/* What GPUIRR promises besides accuracy: refusals, lists, the same bits whatever the threads, memory. */
#include "common/nbc.h"
#include "tests/conformance/gpuirr_model.h"
#include "tests/support/environment.h"

#include <omp.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

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

static void empty_lists(void **state)
{
    (void)state;
    const int32_t act[2] = {1, 0};
    struct body body = {.mass = 1};
    gpuirr_t *irr = open_library(2);
    for (int all = 0; all < 2; all++) {
        double acc[2][3] = {{7, 7, 7}, {7, 7, 7}}, jerk[2][3] = {{7, 7, 7}, {7, 7, 7}};
        int32_t nearest[2] = {7, 7};
        expect_ok(irr, set_body(irr, 0, &body));
        expect_ok(irr, set_body(irr, 1, &body));
        expect_ok(irr, all ? gpuirr_pred_all(irr, 0, 2, 0) : gpuirr_pred_act(irr, 2, act, 0));
        expect_ok(irr, gpuirr_firr_vec(irr, 2, act, acc, jerk, nearest));
        for (int k = 0; k < 2; k++) {
            for (int d = 0; d < 3; d++) assert_true(acc[k][d] == 0 && jerk[k][d] == 0);
            assert_int_equal(nearest[k], -1);
        }
        expect_ok(irr, gpuirr_firr_vec(irr, 0, NULL, NULL, NULL, NULL));
    }
    gpuirr_free(irr);
}

/* Lists grow and shrink, and come back as they were given. */
static void lists_change_length(void **state)
{
    (void)state;
    static const int32_t length[] = {0, 1, 15, 16, 17, 2999, 3, 0, 64, 31, 2000, 999, 1000, 1, 2998, 0, 5};
    static int32_t list[N];
    struct body *body = make_bodies(N);
    gpuirr_t *irr = open_library(N);
    const int32_t act = 11;
    size_t nnb = 99;
    set_bodies(irr, N, body);
    gpuirr_get_list(irr, 11, &nnb);
    assert_int_equal(nnb, 0);
    expect_ok(irr, gpuirr_pred_all(irr, 0, N, 0.25));
    for (size_t k = 0; k < sizeof length / sizeof length[0]; k++) {
        double acc[1][3], jerk[1][3];
        struct exact exact;
        make_list(N, act, length[k], list);
        expect_ok(irr, gpuirr_set_list(irr, 11, (size_t)length[k], length[k] ? list : NULL));
        const int32_t *stored = gpuirr_get_list(irr, 11, &nnb);
        assert_int_equal(nnb, length[k]);
        if (nnb) assert_memory_equal(stored, list, nnb * sizeof *list);
        expect_ok(irr, gpuirr_firr_vec(irr, 1, &act, acc, jerk, NULL));
        exact_force(body, act, length[k], list, 0.25, &exact);
        /* float precision is enough to see that it is this list */
        expect_within("acceleration", act, relative_error(acc[0], exact.acc, exact.acc_scale), 2e-6);
    }
    /* A part of the stored list may be stored as the new list. */
    make_list(N, act, 2000, list);
    for (size_t first = 0; first < 2000; first += 400) {
        expect_ok(irr, gpuirr_set_list(irr, 11, 2000, list));
        expect_ok(irr, gpuirr_set_list(irr, 11, 2000 - first, gpuirr_get_list(irr, 11, &nnb) + first));
        assert_memory_equal(gpuirr_get_list(irr, 11, &nnb), list + first, (2000 - first) * sizeof *list);
        assert_int_equal(nnb, 2000 - first);
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

static void expect_refused(const gpuirr_t *irr, int status, int wanted, const char *part)
{
    assert_int_equal(status, wanted);
    if (!strstr(gpuirr_last_error(irr), part)) fail_msg("'%s' is not in '%s'", part, gpuirr_last_error(irr));
}

static void bad_lists(void **state)
{
    (void)state;
    static const int32_t good[3] = {1, 3, 9}, unsorted[3] = {1, 9, 3}, twice[3] = {1, 3, 3}, self[3] = {1, 4, 9},
                         negative[3] = {-1, 3, 9}, large[3] = {1, 3, 10};
    gpuirr_t *irr = open_library(10);
    size_t nnb;
    expect_ok(irr, gpuirr_set_list(irr, 4, 3, good));
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, unsorted), NBC_BAD_ARGUMENT, "body 4: neighbour 3 comes after 9");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, twice), NBC_BAD_ARGUMENT, "neighbour 3 comes after 3");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, self), NBC_BAD_ARGUMENT, "body 4: its list contains itself");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, negative), NBC_BAD_ARGUMENT, "body 4: neighbour -1 is no body");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, large), NBC_BAD_ARGUMENT, "neighbour 10 is no body of 0 to 9");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, NULL), NBC_BAD_ARGUMENT, "NULL");
    expect_refused(irr, gpuirr_set_list(irr, 4, 10, good), NBC_BAD_ARGUMENT, "10 neighbours among 10 bodies");
    expect_refused(irr, gpuirr_set_list(irr, 4, SIZE_MAX, good), NBC_BAD_ARGUMENT, "neighbours among 10");
    expect_refused(irr, gpuirr_set_list(irr, 10, 3, good), NBC_BAD_ARGUMENT, "no body 10");
    const int32_t *stored = gpuirr_get_list(irr, 4, &nnb);
    assert_int_equal(nnb, 3);
    assert_memory_equal(stored, good, sizeof good);
    assert_null(gpuirr_get_list(irr, 10, &nnb));
    assert_int_equal(nnb, 0);
    gpuirr_free(irr);
}

static void bad_calls(void **state)
{
    (void)state;
    const double zero[3] = {0};
    const int32_t good[1] = {0}, negative[1] = {-1}, large[1] = {10};
    double acc[1][3], jerk[1][3];
    gpuirr_t *irr = open_library(10);
    expect_refused(irr, gpuirr_firr_vec(irr, 1, good, acc, jerk, NULL), NBC_BAD_STATE, "gpuirr_pred_all");
    expect_refused(irr, gpuirr_pred_all(irr, 0, 11, 0), NBC_BAD_ARGUMENT, "hi = 11");
    expect_refused(irr, gpuirr_pred_all(irr, 3, 2, 0), NBC_BAD_ARGUMENT, "lo = 3");
    expect_refused(irr, gpuirr_pred_all(irr, 0, 10, NAN), NBC_NON_FINITE, "time");
    expect_refused(irr, gpuirr_pred_act(irr, 1, good, INFINITY), NBC_NON_FINITE, "time is inf");
    expect_refused(irr, gpuirr_pred_act(irr, 1, large, 0), NBC_BAD_ARGUMENT, "no body 10");
    expect_refused(irr, gpuirr_pred_act(irr, 1, NULL, 0), NBC_BAD_ARGUMENT, "act is NULL");
    expect_refused(irr, gpuirr_firr_vec(irr, 1, good, acc, jerk, NULL), NBC_BAD_STATE, "gpuirr_pred_act");
    expect_ok(irr, gpuirr_pred_act(irr, 1, good, 0));
    expect_refused(irr, gpuirr_firr_vec(irr, 1, negative, acc, jerk, NULL), NBC_BAD_ARGUMENT, "no body -1");
    expect_refused(irr, gpuirr_firr_vec(irr, 1, large, acc, jerk, NULL), NBC_BAD_ARGUMENT, "no body 10");
    expect_refused(irr, gpuirr_firr_vec(irr, 1, NULL, acc, jerk, NULL), NBC_BAD_ARGUMENT, "act is NULL");
    expect_refused(irr, gpuirr_firr_vec(irr, 1, good, NULL, jerk, NULL), NBC_BAD_ARGUMENT, "acc or jerk is NULL");
    expect_refused(irr, gpuirr_firr_vec(irr, 1, good, acc, NULL, NULL), NBC_BAD_ARGUMENT, "acc or jerk is NULL");
    expect_refused(irr, gpuirr_set_jp(irr, 10, zero, zero, zero, zero, 1, 0), NBC_BAD_ARGUMENT, "no body 10");
    expect_refused(irr, gpuirr_set_jp(irr, 3, zero, NULL, zero, zero, 1, 0), NBC_BAD_ARGUMENT, "body 3");
    gpuirr_free(irr);
    assert_int_equal(gpuirr_set_list(NULL, 0, 0, NULL), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_set_jp(NULL, 0, zero, zero, zero, zero, 1, 0), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_pred_all(NULL, 0, 0, 0), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_pred_act(NULL, 0, NULL, 0), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_firr_vec(NULL, 0, NULL, NULL, NULL, NULL), NBC_BAD_ARGUMENT);
    gpuirr_free(NULL);
}

/* Each of the fourteen numbers of a body, NaN or infinite, is refused by its name, and what was stored stays. */
static void non_finite_is_refused(void **state)
{
    (void)state;
    static const char *const name[14] = {"x[0]",   "x[1]",   "x[2]",    "v[0]",    "v[1]",    "v[2]", "acc[0]",
                                         "acc[1]", "acc[2]", "jerk[0]", "jerk[1]", "jerk[2]", "mass", "t0"};
    static const double bad[3] = {NAN, INFINITY, -INFINITY};
    const int32_t act = 0, list = 1;
    struct body *body = make_bodies(2);
    double before[2][1][3], after[2][1][3];
    gpuirr_t *irr = open_library(2);
    set_bodies(irr, 2, body);
    expect_ok(irr, gpuirr_set_list(irr, 0, 1, &list));
    expect_ok(irr, gpuirr_pred_act(irr, 1, &act, 0.25));
    expect_ok(irr, gpuirr_firr_vec(irr, 1, &act, before[0], before[1], NULL));
    for (int k = 0; k < 14; k++) {
        for (int b = 0; b < 3; b++) {
            double number[14];
            char expected[64];
            memcpy(number, &body[1], sizeof number);
            number[k] = bad[b];
            int status = gpuirr_set_jp(irr, 1, number, number + 3, number + 6, number + 9, number[12], number[13]);
            snprintf(expected, sizeof expected, "body 1: %s is ", name[k]);
            expect_refused(irr, status, NBC_NON_FINITE, expected);
        }
    }
    expect_ok(irr, gpuirr_firr_vec(irr, 1, &act, after[0], after[1], NULL));
    assert_memory_equal(before, after, sizeof before);
    gpuirr_free(irr);
    nbc_free(body);
}

/* A list that names a body which was never stored gives no silent force. */
static void unset_bodies_are_found_out(void **state)
{
    (void)state;
    struct body body = {.mass = 1};
    const int32_t list[2] = {1, 2}, act[2] = {3, 0};
    double acc[2][3], jerk[2][3];
    gpuirr_t *irr = open_library(4);
    for (int32_t i = 0; i < 4; i++) {
        body.x[0] = i;
        if (i != 2) expect_ok(irr, set_body(irr, i, &body));
    }
    expect_ok(irr, gpuirr_set_list(irr, 0, 2, list));
    for (int all = 0; all < 2; all++) {
        expect_ok(irr, all ? gpuirr_pred_all(irr, 0, 4, 0) : gpuirr_pred_act(irr, 2, act, 0));
        expect_refused(irr, gpuirr_firr_vec(irr, 2, act, acc, jerk, NULL), NBC_NON_FINITE, "force on body 0");
        assert_true(acc[0][0] == 0); /* the other one's is right */
    }
    gpuirr_free(irr);
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

/* What many threads report together: how many pairs coincide, and the first active body whose force is not finite. */
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

/* The first row of the table that this machine can run; whoever runs the tests may hide some of them. */
static const char *best_backend(void)
{
    int k = 0;
    while (gpuirr_backend(k) && !gpuirr_backend(k)->available) k++;
    return gpuirr_backend(k)->name;
}

static void creation(void **state)
{
    (void)state;
    gpuirr_t *irr = NULL;
    struct nbc_error err = {0};
    struct gpuirr_options options = {.backend = "no such backend"};
    assert_int_equal(gpuirr_create(&irr, 10, &options, &err), NBC_UNAVAILABLE);
    assert_non_null(strstr(err.text, "portable, ref"));
    assert_null(irr);
    assert_int_equal(gpuirr_create(&irr, 0, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_create(&irr, (size_t)INT32_MAX + 1, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_create(NULL, 10, NULL, NULL), NBC_BAD_ARGUMENT);
    assert_null(gpuirr_backend(-1));
    /* The environment decides when the options do not; "auto" does not. */
    const char *const undecided[2] = {NULL, "auto"};
    for (int k = 0; k < 2; k++) {
        options.backend = undecided[k];
        setenv("GPUIRR_BACKEND", backend, 1);
        assert_int_equal(gpuirr_create(&irr, 10, &options, &err), NBC_OK);
        assert_string_equal(gpuirr_info(irr)->name, backend);
        gpuirr_free(irr);
        setenv("GPUIRR_BACKEND", "nonsense", 1);
        assert_int_equal(gpuirr_create(&irr, 10, &options, &err), NBC_UNAVAILABLE);
        assert_non_null(strstr(err.text, "GPUIRR_BACKEND"));
        unsetenv("GPUIRR_BACKEND");
        assert_int_equal(gpuirr_create(&irr, 10, &options, &err), NBC_OK);
        assert_string_equal(gpuirr_info(irr)->name, best_backend());
        gpuirr_free(irr);
    }
}

/* The table says of each instruction set what the processor and NBC_ISA say; a level that there is not is refused. */
static void instruction_sets(void **state)
{
    (void)state;
    char *kept = keep_variable("NBC_ISA");
    gpuirr_t *irr = NULL;
    struct nbc_error err = {0};
    struct gpuirr_options options = {.backend = backend};
    for (int k = 0; gpuirr_backend(k); k++) {
        const struct gpuirr_backend_info *info = gpuirr_backend(k);
        assert_true(info->available == (info->reason[0] == '\0'));
        for (int level = NBC_ISA_AVX2; nbc_isa_name(level); level++) {
            if (strcmp(info->name, nbc_isa_name(level)) != 0 || strcmp(info->reason, "not compiled in") == 0) continue;
            const char *missing = nbc_isa_missing((enum nbc_isa)level);
            assert_string_equal(info->reason, missing ? missing : "");
        }
    }
    set_variable("NBC_ISA", "sse9");
    assert_int_equal(gpuirr_create(&irr, 10, &options, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "NBC_ISA is 'sse9'"));
    assert_null(irr);
    restore_variable("NBC_ISA", kept);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
static double bytes_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

/* 128 bytes of predictor in double, 64 packed, 64 of prediction, 80 list entries, 32 of overhead: a million bodies with
 * lists of 60 in 0.6 gigabytes. What long lists took is given back when they shrink. So many bodies that the pages of
 * 2 MiB which arrays begin and end with do not count. */
static void memory_of_a_body(void **state)
{
    (void)state;
    enum { BODIES = 400000, LIST = 60 };
    double before = bytes_in_use();
    gpuirr_t *irr = open_library(BODIES);
    int32_t list[LIST];
    for (int32_t i = 0; i < BODIES; i++) {
        for (int32_t k = 0; k < LIST; k++) list[k] = k + (k >= i);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)i, LIST - 5 + (size_t)(i % 6), list));
    }
    assert_true((bytes_in_use() - before) / BODIES < 128 + 64 + 64 + 4 * 80 + 32);
    for (int32_t i = 0; i < BODIES; i++) {
        for (int32_t k = 0; k < 16; k++) list[k] = k + (k >= i);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)i, 16, list));
    }
    assert_true((bytes_in_use() - before) / BODIES < 128 + 64 + 64 + 4 * 32 + 32); /* half of it would do */
    gpuirr_free(irr);
}
#else
static void memory_of_a_body(void **state)
{
    (void)state;
    print_message("skipped: memory of a body: only glibc without a sanitizer says what is in use\n");
    skip();
}
#endif

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(memory_of_a_body), /* first: later tests leave free blocks behind */
    cmocka_unit_test(same_bits_for_any_threads),
    cmocka_unit_test(same_bits_for_any_predicted_range),
    cmocka_unit_test(same_bits_after_changes),
    cmocka_unit_test(force_does_not_depend_on_company),
    cmocka_unit_test(empty_lists),
    cmocka_unit_test(lists_change_length),
    cmocka_unit_test(concurrent_storing),
    cmocka_unit_test(bad_lists),
    cmocka_unit_test(bad_calls),
    cmocka_unit_test(non_finite_is_refused),
    cmocka_unit_test(unset_bodies_are_found_out),
    cmocka_unit_test(reports_of_many_threads),
    cmocka_unit_test(creation),
    cmocka_unit_test(instruction_sets),
};

RUN_FOR_EACH_BACKEND(tests)
