/* Refusals of GPUIRR, and the choice of a backend. */
#include "common/nbc.h"
#include "tests/conformance/gpuirr_model.h"
#include "tests/support/environment.h"

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

/* The first row of the table that this machine can run; the user may hide some of them. */
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bad_calls), cmocka_unit_test(non_finite_is_refused), cmocka_unit_test(unset_bodies_are_found_out),
    cmocka_unit_test(creation),  cmocka_unit_test(instruction_sets),
};

RUN_FOR_EACH_BACKEND(tests)
