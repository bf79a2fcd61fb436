/* Mass functions: the inverted distribution against its closed form and against samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/imf.h"
#include "nbody6/model/random.h"

static struct nb6_imf make(enum nb6_imf_kind kind, double alpha, double m_min, double m_max)
{
    const struct nb6_model_config config = {
        .imf = kind, .imf_alpha = alpha, .mass_min_msun = m_min, .mass_max_msun = m_max};
    struct nb6_imf imf;
    struct nbc_error err = {0};
    if (nb6_imf_init(&config, &imf, &err)) fail_msg("%s", err.text);
    return imf;
}

/* Integral of m^(k - slope) from a to b. */
static double moment(double a, double b, double slope, int k)
{
    const double p = 1.0 + k - slope;
    return p == 0.0 ? log(b / a) : (pow(b, p) - pow(a, p)) / p;
}

/* Kroupa 2001: continuous at the breaks, so the coefficients are 1, 0.08, 0.08 * 0.5. */
static double kroupa_moment(double a, double b, int k)
{
    static const double edge[4] = {0.0, 0.08, 0.5, 1e9}, slope[3] = {0.3, 1.3, 2.3}, factor[3] = {1.0, 0.08, 0.04};
    double sum = 0.0;
    for (int s = 0; s < 3; s++) {
        const double lo = fmax(a, edge[s]), hi = fmin(b, edge[s + 1]);
        if (hi > lo) sum += factor[s] * moment(lo, hi, slope[s], k);
    }
    return sum;
}

/* F(m(u)) = u. 1e-13 is for roundings, magnified by the cancellation in 1 - (m2/m1)^p; 1e-10 near slope 1, as imf.c
 * says. */
static void power_law_inverts_its_distribution(void **state)
{
    (void)state;
    const double slopes[] = {-1.0, 0.0, 1.0, 1.0 + 1e-9, 1.0 - 1e-7, 1.0 + 1e-5, 1.5, 2.0, 2.35, 3.0, 5.0};
    for (int k = 0; k < 11; k++) {
        const struct nb6_imf imf = make(NB6_IMF_POWER_LAW, slopes[k], 0.08, 150.0);
        double before = 0.0;
        for (int i = 0; i <= 1000; i++) {
            const double u = i / 1000.0, m = nb6_imf_mass(&imf, u), s = slopes[k];
            assert_true(m >= 0.08 && m <= 150.0 && m >= before);
            before = m;
            if (fabs(s - 1.0) < 1e-3 && s != 1.0) {
                /* the closed form is of no use here: to first order in p = 1 - s, as an expansion about slope 1 */
                const double l = log(150.0 / 0.08), y = log(m / 0.08), p = 1.0 - s;
                const double f =
                    (y + p * y * y / 2.0 + p * p * y * y * y / 6.0) / (l + p * l * l / 2.0 + p * p * l * l * l / 6.0);
                assert_true(fabs(f - u) < 2e-10);
            } else {
                assert_true(fabs(moment(0.08, m, s, 0) / moment(0.08, 150.0, s, 0) - u) < 1e-13);
            }
        }
    }
}

static void kroupa_inverts_its_distribution(void **state)
{
    (void)state;
    const double limits[][2] = {{0.01, 100.0}, {0.08, 150.0}, {0.1, 50.0}, {0.5, 120.0}, {0.6, 2.0},
                                {0.01, 0.07},  {0.01, 0.08},  {0.02, 0.3}, {0.08, 0.5},  {0.3, 0.4}};
    const int segments[] = {3, 2, 2, 1, 1, 1, 1, 2, 1, 1};
    for (int k = 0; k < 10; k++) {
        const double a = limits[k][0], b = limits[k][1];
        const struct nb6_imf imf = make(NB6_IMF_KROUPA2001, 0.0, a, b);
        assert_int_equal(imf.n_segments, segments[k]);
        for (int i = 0; i <= 1000; i++) {
            const double u = i / 1000.0, m = nb6_imf_mass(&imf, u);
            assert_true(m >= a && m <= b);
            assert_true(fabs(kroupa_moment(a, m, 0) / kroupa_moment(a, b, 0) - u) < 1e-13);
        }
    }
}

static int compare(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* 10^5 masses: mean within 5 standard errors, fraction above 1 Msun too, and the Kolmogorov-Smirnov distance below
 * 1.95/sqrt(n), which one sample in a thousand exceeds (the sample is always the same). */
static void kroupa_sample(void **state)
{
    (void)state;
    enum { N = 100000 };
    static double m[N];
    const double a = 0.08, b = 150.0, all = kroupa_moment(a, b, 0);
    const struct nb6_imf imf = make(NB6_IMF_KROUPA2001, 0.0, a, b);
    nb6_random_t *random = NULL;
    assert_int_equal(nb6_random_create(5, NB6_RANDOM_MASS, &random, NULL), NBC_OK);
    double sum = 0.0, above = 0.0, distance = 0.0;
    for (int i = 0; i < N; i++) {
        m[i] = nb6_imf_mass(&imf, nb6_random_uniform(random));
        sum += m[i];
        above += m[i] > 1.0;
    }
    nb6_random_free(random);
    const double mean = kroupa_moment(a, b, 1) / all, variance = kroupa_moment(a, b, 2) / all - mean * mean;
    assert_true(fabs(sum / N - mean) < 5.0 * sqrt(variance / N));
    const double fraction = kroupa_moment(1.0, b, 0) / all;
    assert_true(fabs(above / N - fraction) < 5.0 * sqrt(fraction * (1.0 - fraction) / N));
    qsort(m, N, sizeof m[0], compare);
    for (int i = 0; i < N; i++) {
        const double f = kroupa_moment(a, m[i], 0) / all;
        distance = fmax(distance, fmax(fabs(f - (double)i / N), fabs(f - (i + 1.0) / N)));
    }
    assert_true(distance < 1.95 / sqrt((double)N));
}

static void one_mass(void **state)
{
    (void)state;
    struct nb6_imf imf = make(NB6_IMF_EQUAL, 2.35, 0.1, 10.0);
    assert_true(nb6_imf_mass(&imf, 0.0) == 1.0 && nb6_imf_mass(&imf, 0.3) == 1.0 && nb6_imf_mass(&imf, 1.0) == 1.0);
    imf = make(NB6_IMF_POWER_LAW, 2.35, 0.7, 0.7);
    assert_true(nb6_imf_mass(&imf, 0.0) == 0.7 && nb6_imf_mass(&imf, 0.9) == 0.7);
    imf = make(NB6_IMF_KROUPA2001, 0.0, 0.5, 0.5);
    assert_true(nb6_imf_mass(&imf, 0.2) == 0.5 && nb6_imf_mass(&imf, 1.0) == 0.5);
}

static void refusals(void **state)
{
    (void)state;
    const double limits[][2] = {{0.0, 1.0}, {-1.0, 1.0}, {2.0, 1.0}, {NAN, 1.0}, {0.1, NAN}, {0.1, INFINITY}};
    for (int k = 0; k < 12; k++) {
        const struct nb6_model_config config = {.imf = k % 2 ? NB6_IMF_POWER_LAW : NB6_IMF_KROUPA2001,
                                                .mass_min_msun = limits[k / 2][0],
                                                .mass_max_msun = limits[k / 2][1]};
        struct nb6_imf imf;
        struct nbc_error err = {0};
        assert_int_equal(nb6_imf_init(&config, &imf, &err), NBC_BAD_INPUT);
        assert_non_null(strstr(err.text, "BODYN"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_law_inverts_its_distribution),
        cmocka_unit_test(kroupa_inverts_its_distribution),
        cmocka_unit_test(kroupa_sample),
        cmocka_unit_test(one_mass),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("imf", tests, NULL, NULL);
}
