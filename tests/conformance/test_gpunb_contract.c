/* Promises of GPUNB besides accuracy: the same bits for any number of threads, refusals, counts, the choice of a
 * backend. */
#include "common/nbc.h"
#include "gpunb/backend.h"
#include "tests/conformance/gpunb_model.h"
#include "tests/support/environment.h"

#include <omp.h>

/* Bit for bit the same: repeated, with 1 to 8 threads, and on a processor whatever block of few, or of many, targets a
 * target is in: for many the sources are sorted. (A GPU cuts the sources into as many parts as fill it, so there the
 * sums depend on the size of the block.) */
static void test_same_bits(void **state)
{
    (void)state;
    struct model m = make_model(MASSES, 9001);
    gpunb_t *h = make_handle(m.n, 0);
    assert_int_equal(call_send(h, &m), NBC_OK);
    int threads_before = omp_get_max_threads(), any_block = !on_devices();
    static const size_t blocks[] = {1, 2, 5, 24, 120, 450, 500};
    enum { FEW = 5 }; /* blocks */
    struct result few = make_result(120, 2000), many = make_result(500, 2000);
    omp_set_num_threads(1);
    assert_int_equal(call_regf(h, &m, 0, &few), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &many), NBC_OK);
    for (int threads = 1; threads <= 8; threads++) {
        omp_set_num_threads(threads);
        for (size_t b = any_block ? 0 : FEW + 1; b < sizeof blocks / sizeof blocks[0]; b++) {
            const struct result *first = b < FEW ? &few : &many;
            size_t offset = (size_t)threads * 3 % (first->n_i + 1 - blocks[b]);
            struct result r = make_result(blocks[b], 2000);
            assert_int_equal(call_send(h, &m), NBC_OK);
            assert_int_equal(call_regf(h, &m, offset, &r), NBC_OK);
            for (size_t i = 0; i < r.n_i; i++) assert_same_row(&r, i, first, offset + i);
            free_result(&r);
        }
    }
    omp_set_num_threads(threads_before);
    free_result(&few);
    free_result(&many);
    free_model(&m);
    gpunb_free(h);
}

static void test_overflow(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 5000);
    gpunb_t *h = make_handle(m.n, 0);
    assert_int_equal(call_send(h, &m), NBC_OK);
    static const size_t blocks[] = {1, 7, 600};
    for (int b = 0; b < 3; b++) {
        struct result full = make_result(blocks[b], m.n), small = make_result(blocks[b], 20);
        m.r_nb2[0] = 1e4;
        assert_int_equal(call_regf(h, &m, 0, &full), NBC_OK);
        assert_int_equal(full.nnb[0], m.n - 1);
        small.list[blocks[b] * 20] = -5; /* the first element past the end */
        assert_int_equal(call_regf(h, &m, 0, &small), NBC_NB_OVERFLOW);
        assert_non_null(strstr(gpunb_last_error(h), "target 0 with 4999"));
        assert_int_equal(small.list[blocks[b] * 20], -5);
        for (size_t i = 0; i < blocks[b]; i++) {
            assert_int_equal(small.nnb[i], full.nnb[i]);
            if (small.nnb[i] <= 20) assert_same_row(&small, i, &full, i);
        }
        free_result(&full);
        free_result(&small);
    }
    free_model(&m);
    gpunb_free(h);
}

/* A number that is not finite, or too large, is named, and nothing changes. */
static void test_refuses_numbers(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 50);
    gpunb_t *h = make_handle(m.n, 0);
    struct result before = make_result(50, 50), r = make_result(50, 50);
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &before), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    const struct {
        double *where;
        const char *sent, *target;
    } cases[] = {{&m.mass[7], "mass of source 7 ", NULL},
                 {&m.x[49][2], "x[2] of source 49 ", "x_i[2] of target 49 "},
                 {&m.v[0][1], "v[1] of source 0 ", "v_i[1] of target 0 "},
                 {&m.r_nb2[3], NULL, "r_nb2 of target 3 "},
                 {&m.dt[4], NULL, "dt_reg of target 4 "}};
    static const double values[] = {NAN, INFINITY, -INFINITY};
    for (size_t c = 0; c < 5; c++) {
        double good = *cases[c].where;
        for (int k = 0; k < 3; k++) {
            *cases[c].where = values[k];
            if (cases[c].target) {
                int status = call_regf(h, &m, 0, &r);
                /* An infinite sphere or step is out of range as well as not finite: either is a refusal. */
                assert_int_equal(status, NBC_NON_FINITE);
                assert_non_null(strstr(gpunb_last_error(h), cases[c].target));
            }
            if (cases[c].sent) {
                assert_int_equal(call_send(h, &m), NBC_NON_FINITE);
                assert_non_null(strstr(gpunb_last_error(h), cases[c].sent));
            }
        }
        *cases[c].where = good;
        for (size_t i = 0; i < m.n; i++) assert_same_row(&r, i, &before, i);
    }
    m.x[5][0] = 1e16;
    assert_int_equal(call_send(h, &m), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(gpunb_last_error(h), "x[0] of source 5 "));
    m.x[5][0] = 0.5;
    m.r_nb2[9] = -1.0;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_ARGUMENT);
    m.r_nb2[9] = 1.0;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK); /* the sources of the last good call are still there */
    free_result(&before);
    free_result(&r);
    free_model(&m);
    gpunb_free(h);
}

/* Any finite input gives finite results. */
static void test_no_nan_from_finite(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        struct model m = make_model(PLUMMER, 60);
        make_any_size(&m, round);
        gpunb_t *h = make_handle(m.n, round % 3 == 0);
        struct result r = make_result(m.n, m.n);
        assert_int_equal(call_send(h, &m), NBC_OK);
        assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
        for (size_t i = 0; i < m.n; i++) {
            assert_true(isfinite(r.pot[i]));
            for (int k = 0; k < 3; k++) assert_true(isfinite(r.acc[i][k]) && isfinite(r.jerk[i][k]));
        }
        assert_int_equal(gpunb_potential(h, 0, m.n, m.n, m.mass, (const double(*)[3])m.x, r.pot), NBC_OK);
        for (size_t i = 0; i < m.n; i++) assert_true(isfinite(r.pot[i]));
        free_result(&r);
        free_model(&m);
        gpunb_free(h);
    }
}

static void test_bad_arguments(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 20);
    gpunb_t *h = make_handle(10, 0);
    struct result r = make_result(20, 20);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_STATE);
    assert_int_equal(call_send(h, &m), NBC_BAD_ARGUMENT); /* 20 sources where 10 were announced */
    assert_non_null(strstr(gpunb_last_error(h), "20"));
    m.n = 10;
    assert_int_equal(call_send(h, &m), NBC_OK);
    m.self[4] = 10;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_ARGUMENT);
    m.self[4] = -2;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_ARGUMENT);
    m.self[4] = 4;
    r.n_i = 10;
    r.cap = 0;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_ARGUMENT);
    r.cap = 20;
    assert_int_equal(gpunb_regf(h, 1, NULL, m.r_nb2, m.dt, NULL, NULL, r.acc, r.jerk, NULL, 1, r.nnb, r.list),
                     NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_send(h, 1, NULL, NULL, NULL), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_potential(h, 5, 6, 10, m.mass, (const double(*)[3])m.x, r.pot), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_regf(NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL),
                     NBC_BAD_ARGUMENT);
    /* Nothing to do is fine: no targets, then no sources. */
    r.n_i = 0;
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    m.n = 0;
    assert_int_equal(call_send(h, &m), NBC_OK);
    r.n_i = 3;
    r.acc[2][1] = 5.0;
    assert_int_equal(gpunb_regf(h, 3, NULL, m.r_nb2, m.dt, (const double(*)[3])m.x, (const double(*)[3])m.v, r.acc,
                                r.jerk, r.pot, r.cap, r.nnb, r.list),
                     NBC_OK);
    assert_true(r.acc[2][1] == 0.0 && r.nnb[2] == 0 && r.pot[2] == 0.0);
    free_result(&r);
    free_model(&m);
    gpunb_free(h);
}

static void test_statistics(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 100);
    gpunb_t *h = make_handle(m.n, 0);
    struct result r = make_result(30, m.n);
    struct gpunb_stats stats;
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    gpunb_get_stats(h, &stats);
    assert_int_equal(stats.calls, 2);
    assert_int_equal(stats.targets, 60);
    assert_int_equal(stats.interactions, 6000);
    assert_string_equal(gpunb_info(h)->name, backend);
    free_result(&r);
    free_model(&m);
    gpunb_free(h);
}

/* Least that must travel: a source has three doubles and four floats, a target eight doubles; a result has six, and the
 * steps between neighbours take two bytes each. Sources that a device has already need not go again. */
static void test_traffic(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 1000);
    gpunb_t *h = make_handle(m.n, 0);
    struct result r = make_result(30, m.n);
    struct gpunb_stats created, sent, again, done;
    gpunb_get_stats(h, &created);
    assert_int_equal(call_send(h, &m), NBC_OK);
    gpunb_get_stats(h, &sent);
    assert_int_equal(call_send(h, &m), NBC_OK);
    gpunb_get_stats(h, &again);
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_OK);
    gpunb_get_stats(h, &done);
    uint64_t neighbours = 0, on_device = (uint64_t)on_devices();
    for (size_t i = 0; i < r.n_i; i++) neighbours += (uint64_t)r.nnb[i];
    assert_int_equal(created.bytes_sent, 0);
    assert_int_equal(created.bytes_received, 0);
    assert_int_equal(again.bytes_sent, sent.bytes_sent);
    assert_int_equal(again.bytes_received, 0);
    assert_true(sent.bytes_sent >= on_device * m.n * 40);
    assert_true(done.bytes_sent - again.bytes_sent >= on_device * r.n_i * 64);
    assert_true(done.bytes_received >= on_device * (r.n_i * 48 + neighbours * 2));
    if (!on_device) assert_int_equal(done.bytes_sent + done.bytes_received, 0);
    free_result(&r);
    free_model(&m);
    gpunb_free(h);
}

/* The table and the choice of a backend: by name, by environment, the best one. */
static void test_choice(void **state)
{
    (void)state;
    int rows = 0, best = -1, refs = 0;
    for (; gpunb_backend(rows); rows++) {
        const struct gpunb_backend_info *info = gpunb_backend(rows);
        assert_true(info->available == (info->reason[0] == '\0'));
        assert_true(info->ns_per_pair > 0.0);
        if (info->available && best < 0 && strcmp(info->name, "cuda") != 0) best = rows; /* of few sources */
        refs += !strcmp(info->name, "ref") && info->available;
    }
    assert_int_equal(refs, 1);
    assert_null(gpunb_backend(-1));
    assert_null(gpunb_backend(rows));
    static const char *const any[] = {NULL, "", "auto"};
    for (int k = 0; k < 3; k++) {
        gpunb_t *h = NULL;
        struct gpunb_options options = {.backend = any[k]};
        unsetenv("GPUNB_BACKEND");
        assert_int_equal(gpunb_create(&h, 10, &options, NULL), NBC_OK);
        assert_ptr_equal(gpunb_info(h), gpunb_backend(best));
        gpunb_free(h);
        setenv("GPUNB_BACKEND", "ref", 1);
        assert_int_equal(gpunb_create(&h, 10, &options, NULL), NBC_OK);
        assert_string_equal(gpunb_info(h)->name, "ref");
        gpunb_free(h);
    }
    gpunb_t *h = NULL;
    struct nbc_error err = {0};
    setenv("GPUNB_BACKEND", "abacus", 1);
    assert_int_equal(gpunb_create(&h, 10, NULL, &err), NBC_UNAVAILABLE);
    assert_non_null(strstr(err.text, "'abacus' (in $GPUNB_BACKEND)"));
    assert_non_null(strstr(err.text, "portable"));
    unsetenv("GPUNB_BACKEND");
    struct gpunb_options options = {.backend = "ref", .precision = GPUNB_FLOAT};
    assert_int_equal(gpunb_create(&h, 10, &options, &err), NBC_UNAVAILABLE);
    assert_non_null(strstr(err.text, "'float'"));
    assert_int_equal(gpunb_create(&h, (size_t)1 << 40, NULL, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_create(NULL, 10, NULL, &err), NBC_BAD_ARGUMENT);
    assert_null(h);
}

/* The table says of each instruction set what the processor and NBC_ISA say; a level that there is not is refused. */
static void test_instruction_sets(void **state)
{
    (void)state;
    char *kept = keep_variable("NBC_ISA");
    gpunb_t *h = NULL;
    struct nbc_error err = {0};
    for (int k = 0; gpunb_backend(k); k++) {
        const struct gpunb_backend_info *info = gpunb_backend(k);
        for (int level = NBC_ISA_AVX2; nbc_isa_name(level); level++) {
            if (strcmp(info->name, nbc_isa_name(level)) != 0 || strcmp(info->reason, "not compiled in") == 0) continue;
            const char *missing = nbc_isa_missing((enum nbc_isa)level);
            assert_string_equal(info->reason, missing ? missing : "");
        }
    }
    set_variable("NBC_ISA", "sse9");
    assert_int_equal(gpunb_create(&h, 10, NULL, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "NBC_ISA is 'sse9'"));
    assert_null(h);
    restore_variable("NBC_ISA", kept);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),       cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_refuses_numbers), cmocka_unit_test(test_no_nan_from_finite),
        cmocka_unit_test(test_bad_arguments),   cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_traffic),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest choice[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_instruction_sets)};
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    int failed = cmocka_run_group_tests_name("gpunb choice of backend", choice, NULL, NULL);
    return failed + run_on_backends(argc, argv, "gpunb contract", run_suite) != 0;
}
