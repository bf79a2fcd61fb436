/* GPUIRR as the range of body numbers grows: stored data stay, to the last bit. */
#include "common/nbc.h"
#include "tests/conformance/gpuirr_model.h"
#include "tests/support/memory_limit.h"

enum { N = 600, NNB = 45, LARGE = 200000 };

/* Results of a call, comparable byte by byte. */
struct result {
    double acc[N][3], jerk[N][3];
    int32_t nearest[N];
};

static int32_t length_of_list(int32_t i)
{
    int32_t nnb = i * 7 % (2 * NNB);
    return nnb < i ? nnb : i;
}

/* Body i and a list of bodies below it, the same whatever the library holds already. */
static void store(gpuirr_t *irr, const struct body *body, int32_t i)
{
    int32_t list[2 * NNB];
    random_state = 0x9e3779b97f4a7c15u + (uint64_t)i;
    make_list(i + 1, i, length_of_list(i), list);
    expect_ok(irr, set_body(irr, i, &body[i]));
    expect_ok(irr, gpuirr_set_list(irr, (size_t)i, (size_t)length_of_list(i), list));
}

static gpuirr_t *open_cluster(const struct body *body, int32_t n_max)
{
    gpuirr_t *irr = open_library(n_max);
    for (int32_t i = 0; i < N; i++) store(irr, body, i);
    return irr;
}

static void announce(gpuirr_t *irr, int all, double t)
{
    expect_ok(irr, all ? gpuirr_pred_all(irr, 0, N, t) : gpuirr_pred_act(irr, 0, NULL, t));
}

static void all_forces(gpuirr_t *irr, struct result *result)
{
    int32_t act[N];
    for (int32_t i = 0; i < N; i++) act[i] = i;
    memset(result, 0xff, sizeof *result);
    expect_ok(irr, gpuirr_firr_vec(irr, N, act, result->acc, result->jerk, result->nearest));
}

static void expect_same_lists(const gpuirr_t *a, const gpuirr_t *b)
{
    for (size_t i = 0; i < N; i++) {
        size_t in_a, in_b;
        const int32_t *list_a = gpuirr_get_list(a, i, &in_a), *list_b = gpuirr_get_list(b, i, &in_b);
        assert_int_equal(in_a, length_of_list((int32_t)i));
        assert_int_equal(in_a, in_b);
        if (in_a) assert_memory_equal(list_a, list_b, in_a * sizeof *list_a);
    }
}

/* The announced time included: before the call after it, nothing is announced again. */
static void what_is_stored_stays(void **state)
{
    (void)state;
    static struct result before, after;
    struct body *body = make_bodies(N);
    for (int all = 0; all < 2; all++) {
        gpuirr_t *irr = open_cluster(body, N), *untouched = open_cluster(body, N);
        announce(irr, all, 0.3);
        all_forces(irr, &before);
        for (size_t n_max = N + 1; n_max < LARGE; n_max *= 20) {
            expect_ok(irr, gpuirr_reserve(irr, n_max));
            all_forces(irr, &after);
            assert_memory_equal(&before, &after, sizeof before);
        }
        expect_same_lists(irr, untouched);
        announce(irr, !all, 0.3);
        all_forces(irr, &after);
        assert_memory_equal(&before, &after, sizeof before);
        gpuirr_free(irr);
        gpuirr_free(untouched);
    }
    nbc_free(body);
}

/* From one body on, a half more each time, with bodies and lists that come in between and lists that change. */
static void from_one_to_many(void **state)
{
    (void)state;
    static struct result grown, at_once;
    struct body *body = make_bodies(N);
    gpuirr_t *irr = open_library(1), *fixed = open_cluster(body, N);
    size_t n_max = 1;
    for (int32_t i = 0; i < N; i++) {
        if ((size_t)i == n_max) {
            n_max += n_max / 2 + 1;
            expect_ok(irr, gpuirr_reserve(irr, n_max));
        }
        expect_ok(irr, gpuirr_set_list(irr, (size_t)i, 0, NULL));
        store(irr, body, i);
    }
    expect_same_lists(irr, fixed);
    for (int all = 0; all < 2; all++) {
        announce(irr, all, 0.6);
        announce(fixed, all, 0.6);
        all_forces(irr, &grown);
        all_forces(fixed, &at_once);
        assert_memory_equal(&grown, &at_once, sizeof grown);
    }
    gpuirr_free(irr);
    gpuirr_free(fixed);
    nbc_free(body);
}

/* New bodies have no list and no state, which the sums that they enter find out, until they are set. A list so long
 * that it is summed in float where a backend does that. */
static void new_bodies_are_not_set(void **state)
{
    (void)state;
    enum { OLD = 60, NEW = 70 };
    struct body *body = make_bodies(NEW);
    struct exact exact;
    const int32_t act = 0, beyond = NEW;
    int32_t list[OLD];
    double acc[1][3], jerk[1][3];
    size_t nnb = 7;
    gpuirr_t *irr = open_library(OLD);
    set_bodies(irr, OLD, body);
    for (int32_t k = 0; k < OLD; k++) list[k] = k + 1;
    list[OLD - 1] = NEW - 1;
    assert_int_equal(gpuirr_set_list(irr, 0, OLD, list), NBC_BAD_ARGUMENT);
    expect_ok(irr, gpuirr_reserve(irr, NEW));
    gpuirr_get_list(irr, NEW - 1, &nnb);
    assert_int_equal(nnb, 0);
    assert_int_equal(gpuirr_set_list(irr, 0, 1, &beyond), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(gpuirr_last_error(irr), "no body of 0 to 69"));
    expect_ok(irr, gpuirr_set_list(irr, 0, OLD, list));
    for (int all = 0; all < 2; all++) {
        expect_ok(irr, all ? gpuirr_pred_all(irr, 0, NEW, 0.5) : gpuirr_pred_act(irr, 1, &act, 0.5));
        assert_int_equal(gpuirr_firr_vec(irr, 1, &act, acc, jerk, NULL), NBC_NON_FINITE);
    }
    expect_ok(irr, set_body(irr, NEW - 1, &body[NEW - 1]));
    expect_ok(irr, gpuirr_firr_vec(irr, 1, &act, acc, jerk, NULL));
    exact_force(body, 0, OLD, list, 0.5, &exact);
    /* float precision is enough to see that all of them count */
    expect_within("acceleration", 0, relative_error(acc[0], exact.acc, exact.acc_scale), 2e-6);
    gpuirr_free(irr);
    nbc_free(body);
}

static void what_it_refuses(void **state)
{
    (void)state;
    struct body body = {.mass = 1};
    gpuirr_t *irr = open_library(10);
    assert_int_equal(gpuirr_reserve(NULL, 10), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_reserve(irr, (size_t)INT32_MAX + 1), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(gpuirr_last_error(irr), "gpuirr_reserve: n_max is 2147483648"));
    for (size_t less = 0; less <= 10; less++) expect_ok(irr, gpuirr_reserve(irr, 10 - less));
    expect_ok(irr, set_body(irr, 9, &body)); /* it did not shrink */
    assert_int_equal(set_body(irr, 10, &body), NBC_BAD_ARGUMENT);
    gpuirr_free(irr);
}

/* More memory at each attempt, so that each of the allocations is once the one that fails. */
static void no_memory_changes_nothing(void **state)
{
    (void)state;
    static struct result before, after;
    if (strcmp(backend, "cuda") == 0) {
        print_message("skipped: too little memory: the CUDA driver takes address space as it likes\n");
        skip();
    }
    if (!can_limit_memory()) skip();
    struct body *body = make_bodies(N);
    gpuirr_t *irr = open_cluster(body, N), *untouched = open_cluster(body, N);
    int status = NBC_NO_MEMORY, failures = 0;
    announce(irr, 1, 0.3);
    all_forces(irr, &before);
    for (size_t more = 0; status != NBC_OK; more += (size_t)1 << 20) {
        assert_int_equal(limit_memory(more), 0);
        status = gpuirr_reserve(irr, LARGE);
        unlimit_memory();
        all_forces(irr, &after);
        assert_memory_equal(&before, &after, sizeof before);
        if (status == NBC_OK) continue;
        assert_int_equal(status, NBC_NO_MEMORY);
        assert_int_equal(set_body(irr, N, &body[0]), NBC_BAD_ARGUMENT); /* the range is as it was */
        failures++;
    }
    assert_true(failures > 10); /* 192 bytes a body and more are not found in 10 steps of a megabyte */
    expect_same_lists(irr, untouched);
    expect_ok(irr, set_body(irr, LARGE - 1, &body[0]));
    gpuirr_free(irr);
    gpuirr_free(untouched);
    nbc_free(body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_stored_stays),      cmocka_unit_test(from_one_to_many),
    cmocka_unit_test(new_bodies_are_not_set),    cmocka_unit_test(what_it_refuses),
    cmocka_unit_test(no_memory_changes_nothing),
};

RUN_FOR_EACH_BACKEND(tests)
