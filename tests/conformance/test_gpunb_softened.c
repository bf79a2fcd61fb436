/* Softened forces, for every backend and precision: against sums in long double, for stars near and far, coincident,
 * without mass, as sources and as other targets. */
#include "tests/conformance/gpunb_model.h"
#include "tests/support/test_size.h"

#include <omp.h>

/* Results of a call, with a check that it does not write behind them. */
struct forces {
    size_t n_i;
    double (*acc)[3], *pot;
};

static struct forces make_forces(size_t n_i)
{
    struct forces f = {n_i, get(n_i, 24), get(n_i, 8)};
    memset(f.acc, 0xff, n_i * 24);
    memset(f.pot, 0xff, n_i * 8);
    return f;
}

static void free_forces(struct forces *f)
{
    free(f->acc);
    free(f->pot);
}

static int call_positions(gpunb_t *h, const struct model *m)
{
    return gpunb_send_positions(h, m->n, m->mass, (const double(*)[3])m->x);
}

static void call_softened(gpunb_t *h, const double (*x)[3], const int32_t *self, double softening, struct forces *f)
{
    const struct gpunb_softened_job job = {
        .n_i = f->n_i, .x = x, .self = self, .softening = softening, .acc = f->acc, .pot = f->pot};
    if (gpunb_softened(h, &job) != NBC_OK) fail_msg("%s", gpunb_last_error(h));
}

/* One sum, with the scale of its terms. */
struct exact {
    long double acc[3], pot, acc_scale, pot_scale;
};

static struct exact exact_sum(const struct model *m, const double x[3], int32_t self, double softening)
{
    struct exact e = {0};
    for (size_t j = 0; j < m->n; j++) {
        long double d[3], r2 = (long double)softening * softening;
        for (int k = 0; k < 3; k++) {
            d[k] = (long double)m->x[j][k] - x[k];
            r2 += d[k] * d[k];
        }
        const long double mr = m->mass[j] / sqrtl(r2);
        for (int k = 0; k < 3; k++) e.acc[k] += mr / r2 * d[k];
        e.acc_scale += fabsl(mr) / r2 * sqrtl(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (self == (int32_t)j) continue;
        e.pot += mr;
        e.pot_scale += fabsl(mr);
    }
    return e;
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Errors in units of the force and of the potential. Double sums differ by the roundings of N terms. A float pair has
 * some roundings of 6e-8, which are independent in the N terms of a sum; the error in the median is far below 1e-6, and
 * no single pair, which may be most of a force, is worse than 3e-6 of the scale of all terms. Positions rounded to
 * float are as good but where `fine` says that differences matter that are small beside the positions. */
static void check(const struct model *m, const double (*x)[3], const int32_t *self, double softening,
                  const struct forces *f, int fine)
{
    const int exact = precision == GPUNB_DOUBLE, rounded = precision == GPUNB_FLOAT && fine;
    const size_t step = f->n_i / 61 + 1;
    double *errors = get(f->n_i, 8);
    size_t n = 0;
    for (size_t i = 0; i < f->n_i; i += step) {
        const struct exact e = exact_sum(m, x[i], self ? self[i] : -1, softening);
        long double d2 = 0, a2 = 0;
        for (int k = 0; k < 3; k++) {
            d2 += (f->acc[i][k] - e.acc[k]) * (f->acc[i][k] - e.acc[k]);
            a2 += e.acc[k] * e.acc[k];
        }
        const long double dp = fabsl(f->pot[i] + e.pot);
        assert_true(isfinite(f->acc[i][0]) && isfinite(f->acc[i][1]) && isfinite(f->acc[i][2]) && isfinite(f->pot[i]));
        if (!rounded) {
            if (!(dp <= 3e-6L * e.pot_scale))
                print_message("target %zu at %.9g %.9g %.9g: potential %.9g, should be %.9g\n", i, x[i][0], x[i][1],
                              x[i][2], f->pot[i], (double)-e.pot);
            assert_true(sqrtl(d2) <= (exact ? 1e-12L : 3e-6L) * e.acc_scale);
            assert_true(dp <= (exact ? 1e-12L : 3e-6L) * e.pot_scale);
        }
        if (a2 > 0) errors[n++] = (double)sqrtl(d2 / a2);
    }
    qsort(errors, n, sizeof *errors, by_value);
    if (n >= 40 && !rounded) assert_true(errors[n / 2] < (exact ? 1e-13 : 1e-6));
    free(errors);
}

static const double (*positions(const struct model *m))[3]
{
    return (const double(*)[3])m->x;
}

/* All stars as targets, which leave themselves out. Sizes about those of cells, tiles and chunks. */
static void test_all_on_all(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 15, 17, 65, 255, 1000, 2049, 5003};
    for (int set = 0; set < N_SETS; set++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            if (few_sizes() && sizes[s] > 1000 && set != COINCIDENT) continue;
            struct model m = make_model((enum set)set, sizes[s]);
            gpunb_t *h = make_handle(m.n, 0);
            struct forces f = make_forces(m.n);
            assert_int_equal(call_positions(h, &m), NBC_OK);
            call_softened(h, positions(&m), m.self, 1.0 / 64.0, &f);
            check(&m, positions(&m), m.self, 1.0 / 64.0, &f, 0);
            free_forces(&f);
            free_model(&m);
            gpunb_free(h);
        }
}

/* The same sources in other arrays, without numbers, and with velocities that are not used. */
static void test_subsets(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 4500);
    gpunb_t *h = make_handle(m.n, 0);
    static const size_t counts[] = {1, 3, 4, 63, 64, 257, 300, 1025, 4500};
    for (int velocities = 0; velocities < (few_sizes() ? 1 : 2); velocities++) {
        assert_int_equal(velocities ? call_send(h, &m) : call_positions(h, &m), NBC_OK);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            struct forces f = make_forces(counts[c]);
            double(*x)[3] = get(counts[c], 24);
            int32_t *self = get(counts[c], 4);
            for (size_t i = 0; i < counts[c]; i++) {
                const size_t j = (i * 2654435761u + c) % m.n;
                self[i] = i % 5 ? (int32_t)j : -1;
                memcpy(x[i], m.x[j], sizeof x[i]);
                if (i % 5 == 0) x[i][i % 3] += 0.01;
            }
            call_softened(h, (const double(*)[3])x, self, 0.02, &f);
            check(&m, (const double(*)[3])x, self, 0.02, &f, 1);
            call_softened(h, (const double(*)[3])x, NULL, 0.02, &f);
            check(&m, (const double(*)[3])x, NULL, 0.02, &f, 1);
            free_forces(&f);
            free(x);
            free(self);
        }
    }
    free_model(&m);
    gpunb_free(h);
}

/* Two small clusters at a distance of 2000 and stars at 1000 in all directions, some of them close pairs: differences
 * there are below the spacing of floats of that size. */
static void test_far_out(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 6000);
    gpunb_t *h = make_handle(m.n, 0);
    struct forces f = make_forces(m.n);
    for (size_t i = 0; i < m.n; i++) {
        if (i % 30 == 0) {
            const double c = 2.0 * uniform() - 1.0, p = 6.28 * uniform(), s = sqrt(1.0 - c * c);
            m.x[i][0] = 1e3 * s * cos(p);
            m.x[i][1] = 1e3 * s * sin(p);
            m.x[i][2] = 1e3 * c;
        } else if (i % 30 == 1) {
            for (int k = 0; k < 3; k++) m.x[i][k] = m.x[i - 1][k] + 1e-3 * (uniform() - 0.5);
        } else {
            m.x[i][0] += i % 2 ? 1e3 : -1e3;
        }
    }
    assert_int_equal(call_positions(h, &m), NBC_OK);
    call_softened(h, positions(&m), m.self, 1e-3, &f);
    check(&m, positions(&m), m.self, 1e-3, &f, 1);
    struct forces some = make_forces(100);
    call_softened(h, positions(&m), m.self, 1e-3, &some);
    check(&m, positions(&m), m.self, 1e-3, &some, 1);
    free_forces(&some);
    free_forces(&f);
    free_model(&m);
    gpunb_free(h);
}

/* A star alone, stars all in one place, one star and many without mass: zeros are exact, not only small. */
static void test_zeros(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 3000);
    gpunb_t *h = make_handle(m.n, 0);
    struct forces f = make_forces(m.n);
    for (size_t i = 0; i < m.n; i++) {
        memcpy(m.x[i], m.x[0], sizeof m.x[i]);
        m.mass[i] = i == 1234 ? 0.75 : 0.0;
    }
    assert_int_equal(call_positions(h, &m), NBC_OK);
    call_softened(h, positions(&m), m.self, 0x1p-30, &f);
    for (size_t i = 0; i < m.n; i++) {
        const double pot = i == 1234 ? 0.0 : -0.75 * 0x1p30;
        for (int k = 0; k < 3; k++) assert_true(f.acc[i][k] == 0.0);
        assert_true(fabs(f.pot[i] - pot) <= 3e-7 * fabs(pot));
    }
    free_forces(&f);
    free_model(&m);
    gpunb_free(h);
}

/* The potential without the term of the star itself keeps its digits where that term is a million times the rest, and
 * the inverse cube of the softening does not fit a float. */
static void test_small_softening(void **state)
{
    (void)state;
    static const double softenings[] = {1e-6, 1e-13, 1e-15};
    for (size_t s = 0; s < (size_t)test_size(3, 1); s++)
        for (size_t n = 2; n < 5000; n += 4000) {
            struct model m = make_model(PLUMMER, n);
            gpunb_t *h = make_handle(m.n, 0);
            struct forces f = make_forces(m.n);
            assert_int_equal(call_positions(h, &m), NBC_OK);
            call_softened(h, positions(&m), m.self, softenings[s], &f);
            check(&m, positions(&m), m.self, softenings[s], &f, 0);
            free_forces(&f);
            free_model(&m);
            gpunb_free(h);
        }
}

/* Threads change no bit. */
static void test_same_bits(void **state)
{
    (void)state;
    struct model m = make_model(MASSES, 5000);
    gpunb_t *h = make_handle(m.n, 0);
    const int threads = omp_get_max_threads();
    static const size_t counts[] = {1, 70, 300, 5000};
    assert_int_equal(call_positions(h, &m), NBC_OK);
    for (size_t c = 0; c < 4; c++) {
        struct forces one = make_forces(counts[c]), many = make_forces(counts[c]);
        omp_set_num_threads(1);
        call_softened(h, positions(&m), m.self, 0.01, &one);
        for (int t = 2; t <= 5; t += few_sizes() ? 3 : 1) {
            omp_set_num_threads(t);
            call_softened(h, positions(&m), m.self, 0.01, &many);
            assert_memory_equal(one.acc, many.acc, counts[c] * 24);
            assert_memory_equal(one.pot, many.pot, counts[c] * 8);
        }
        free_forces(&one);
        free_forces(&many);
    }
    omp_set_num_threads(threads);
    free_model(&m);
    gpunb_free(h);
}

/* Without a potential the acceleration is the same except for roundings: a compiler may order operations otherwise. */
static void test_without_potential(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 3000);
    gpunb_t *h = make_handle(m.n, 0);
    struct forces f = make_forces(m.n);
    assert_int_equal(call_positions(h, &m), NBC_OK);
    for (size_t n_i = 10; n_i <= m.n; n_i += m.n - 10) {
        const struct gpunb_softened_job job = {
            .n_i = n_i, .x = positions(&m), .self = m.self, .softening = 0.01, .acc = f.acc};
        assert_int_equal(gpunb_softened(h, &job), NBC_OK);
        for (size_t i = 0; i < n_i; i += 7) {
            const struct exact e = exact_sum(&m, m.x[i], -1, 0.01);
            for (int k = 0; k < 3; k++) assert_true(fabsl(f.acc[i][k] - e.acc[k]) <= 3e-6L * e.acc_scale);
        }
    }
    free_forces(&f);
    free_model(&m);
    gpunb_free(h);
}

/* Sources that GPUNB predicts, with numbers that are not there: `self` has the numbers of the caller. */
static void test_predicted(void **state)
{
    (void)state;
    const double zero[3] = {0};
    struct model m = make_model(PLUMMER, 1200);
    gpunb_t *h = make_handle(m.n, 0);
    struct forces f = make_forces(m.n / 2);
    double(*x)[3] = get(m.n, 24);
    int32_t *self = get(m.n, 4);
    for (size_t j = 0; j < m.n; j++) {
        if (j % 2 == 0) {
            m.mass[j] = 0; /* it is not there, and so it has no mass in the sums that are compared */
            continue;
        }
        assert_int_equal(gpunb_set_jp(h, j, m.x[j], m.v[j], zero, zero, m.mass[j], 0), NBC_OK);
        for (int k = 0; k < 3; k++) m.x[j][k] += 0.25 * m.v[j][k];
        memcpy(x[j / 2], m.x[j], sizeof x[j / 2]);
        self[j / 2] = (int32_t)j;
    }
    assert_int_equal(gpunb_predict(h, m.n, 0.25), NBC_OK);
    call_softened(h, (const double(*)[3])x, self, 0.01, &f);
    check(&m, (const double(*)[3])x, self, 0.01, &f, 0);
    free(x);
    free(self);
    free_forces(&f);
    free_model(&m);
    gpunb_free(h);
}

/* A call after which nothing has changed. */
static void refuse(gpunb_t *h, const struct gpunb_softened_job *job, int status, const char *words)
{
    double before[3];
    if (job && job->acc) memcpy(before, job->acc[0], sizeof before);
    assert_int_equal(gpunb_softened(h, job), status);
    if (!strstr(gpunb_last_error(h), words)) fail_msg("'%s' is not in: %s", words, gpunb_last_error(h));
    if (job && job->acc) assert_memory_equal(before, job->acc[0], sizeof before);
}

static void test_errors(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 100);
    struct result r = make_result(m.n, 10);
    gpunb_t *h = make_handle(m.n, 0);
    struct forces f = make_forces(m.n);
    int32_t wrong[] = {0, 100};
    double nan_x[2][3] = {{0, 0, 0}, {0, NAN, 0}};
    const struct gpunb_softened_job good = {.n_i = 2, .x = positions(&m), .softening = 0.1, .acc = f.acc, .pot = f.pot};
    struct gpunb_softened_job job = good;
    refuse(h, &good, NBC_BAD_STATE, "gpunb_send_positions");
    assert_int_equal(call_positions(h, &m), NBC_OK);
    refuse(h, NULL, NBC_BAD_ARGUMENT, "job");
    static const double bad[] = {0.0, -1.0, 1e-16, 1e16};
    for (int k = 0; k < 4; k++) {
        job.softening = bad[k];
        refuse(h, &job, NBC_BAD_ARGUMENT, "softening");
    }
    job.softening = NAN;
    refuse(h, &job, NBC_NON_FINITE, "softening");
    job = good;
    job.acc = NULL;
    refuse(h, &job, NBC_BAD_ARGUMENT, "acc");
    job = good;
    job.x = NULL;
    refuse(h, &job, NBC_BAD_ARGUMENT, "x is NULL");
    job.x = (const double(*)[3])nan_x;
    refuse(h, &job, NBC_NON_FINITE, "x[1] of target 1");
    job = good;
    job.self = wrong;
    refuse(h, &job, NBC_BAD_ARGUMENT, "self of target 1 is 100");
    assert_int_equal(gpunb_softened(NULL, &good), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_send_positions(NULL, 0, NULL, NULL), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_send_positions(h, m.n + 1, m.mass, positions(&m)), NBC_BAD_ARGUMENT);
    assert_int_equal(gpunb_softened(h, &good), NBC_OK); /* the sources are still there */
    /* No source has velocities. */
    assert_int_equal(call_regf(h, &m, 0, &r), NBC_BAD_STATE);
    assert_non_null(strstr(gpunb_last_error(h), "velocities"));
    assert_int_equal(call_send(h, &m), NBC_OK);
    assert_true(call_regf(h, &m, 0, &r) != NBC_BAD_STATE);
    free_result(&r);
    free_forces(&f);
    free_model(&m);
    gpunb_free(h);
}

/* No target feels a force, and no source exerts one. */
static void test_nothing(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 70);
    gpunb_t *h = make_handle(m.n, 0);
    struct forces f = make_forces(m.n);
    assert_int_equal(call_positions(h, &m), NBC_OK);
    const struct gpunb_softened_job none = {.softening = 0.1};
    assert_int_equal(gpunb_softened(h, &none), NBC_OK);
    assert_int_equal(gpunb_send_positions(h, 0, NULL, NULL), NBC_OK);
    call_softened(h, positions(&m), NULL, 0.1, &f);
    for (size_t i = 0; i < m.n; i++)
        assert_true(f.acc[i][0] == 0 && f.acc[i][1] == 0 && f.acc[i][2] == 0 && f.pot[i] == 0);
    free_forces(&f);
    free_model(&m);
    gpunb_free(h);
}

static void test_statistics(void **state)
{
    (void)state;
    struct model m = make_model(PLUMMER, 70);
    gpunb_t *h = make_handle(m.n, 0);
    struct forces f = make_forces(m.n);
    struct gpunb_stats before, after;
    assert_int_equal(call_positions(h, &m), NBC_OK);
    gpunb_get_stats(h, &before);
    call_softened(h, positions(&m), NULL, 0.1, &f);
    gpunb_get_stats(h, &after);
    assert_int_equal(after.calls - before.calls, 1);
    assert_int_equal(after.targets - before.targets, 70);
    assert_int_equal(after.interactions - before.interactions, 4900);
    free_forces(&f);
    free_model(&m);
    gpunb_free(h);
}

static int run_suite(const char *title)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_on_all),
        cmocka_unit_test(test_subsets),
        cmocka_unit_test(test_far_out),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_small_softening),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_without_potential),
        cmocka_unit_test(test_predicted),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_statistics),
    };
    return cmocka_run_group_tests_name(title, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return run_on_backends(argc, argv, "gpunb softened", run_suite);
}
