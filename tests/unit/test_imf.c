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

/* --- generating functions ---------------------------------------------------------------------------------------- */

/* As the papers write them, with the mathematical library. */
static double paper_mass(enum nb6_imf_kind kind, double x)
{
    switch (kind) {
    case NB6_IMF_MILLER_SCALO:
        return 0.19 * x / (pow(1.0 - x, 0.75) + 0.032 * pow(1.0 - x, 0.25));
    case NB6_IMF_KROUPA1993:
        return 0.08 + (0.19 * pow(x, 1.55) + 0.05 * pow(x, 0.6)) / pow(1.0 - x, 0.58);
    case NB6_IMF_EGGLETON:
        return 0.3 * pow(x / (1.0 - x), 0.55);
    default:
        return 0.3 * x / pow(1.0 - x, 0.55);
    }
}

/* The X of a mass, by bisection down to less than a double has. */
static double paper_x(enum nb6_imf_kind kind, double mass)
{
    double low = 0.0, high = 1.0;
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        if (paper_mass(kind, middle) < mass)
            low = middle;
        else
            high = middle;
    }
    return low;
}

enum { GENERATED = 4, SAMPLE = 100000 };
static const enum nb6_imf_kind generated[GENERATED] = {NB6_IMF_MILLER_SCALO, NB6_IMF_KROUPA1993, NB6_IMF_EGGLETON,
                                                       NB6_IMF_EGGLETON_NBODY6};

/* Fraction of the stars between a and b that lie below m. */
static double paper_fraction(enum nb6_imf_kind kind, double a, double b, double m)
{
    const double least = paper_x(kind, a);
    return (paper_x(kind, m) - least) / (paper_x(kind, b) - least);
}

/* Masses at fractions are those of the paper. Above 100 Msun 1 - X is 1e-5 to 1e-4, which a double holds to 1e-11. */
static void generators_are_those_of_the_papers(void **state)
{
    (void)state;
    const double limits[][2] = {{0.01, 100.0}, {0.2, 10.0}, {0.08, 150.0}, {0.5, 0.6}, {3.0, 50.0}};
    for (int g = 0; g < GENERATED; g++)
        for (int k = 0; k < 5; k++) {
            const double a = limits[k][0], b = limits[k][1];
            const struct nb6_imf imf = make(generated[g], 1.0, a, b);
            double before = 0.0;
            for (int i = 0; i <= 1000; i++) {
                const double u = i / 1000.0, m = nb6_imf_mass(&imf, u);
                assert_true(m >= a && m <= b && m >= before);
                before = m;
                assert_true(fabs(paper_fraction(generated[g], a, b, m) - u) < 1e-11);
            }
        }
}

static int compare(const void *a, const void *b);

/* 10^5 masses: the Kolmogorov-Smirnov distance is below 1.95/sqrt(n), which one sample in a thousand exceeds (the
 * sample is always the same), and the mean within 5 standard errors of the mean of the paper's masses over X, by the
 * midpoint rule with an error far below that. */
static void generated_samples(void **state)
{
    (void)state;
    static double m[SAMPLE];
    const double a = 0.1, b = 20.0;
    for (int g = 0; g < GENERATED; g++) {
        const struct nb6_imf imf = make(generated[g], 1.0, a, b);
        const double least = paper_x(generated[g], a), most = paper_x(generated[g], b);
        nb6_random_t *random = NULL;
        double sum = 0.0, mean = 0.0, square = 0.0, distance = 0.0;
        assert_int_equal(nb6_random_create(19, NB6_RANDOM_MASS, &random, NULL), NBC_OK);
        for (int i = 0; i < SAMPLE; i++) {
            const double expected = paper_mass(generated[g], least + (i + 0.5) / SAMPLE * (most - least));
            m[i] = nb6_imf_mass(&imf, nb6_random_uniform(random));
            sum += m[i] / SAMPLE;
            mean += expected / SAMPLE;
            square += expected * expected / SAMPLE;
        }
        nb6_random_free(random);
        assert_true(fabs(sum - mean) < 5.0 * sqrt((square - mean * mean) / SAMPLE));
        qsort(m, SAMPLE, sizeof m[0], compare);
        for (int i = 0; i < SAMPLE; i++) {
            const double f = paper_fraction(generated[g], a, b, m[i]);
            distance = fmax(distance, fmax(fabs(f - (double)i / SAMPLE), fabs(f - (i + 1.0) / SAMPLE)));
        }
        assert_true(distance < 1.95 / sqrt((double)SAMPLE));
    }
}

/* The distributions behind the generating functions: the power laws of Kroupa, Tout & Gilmore (1.3 from 0.08 to 0.5
 * Msun, 2.2 to 1 Msun, 2.7 above), followed to 0.02 in the fraction below any mass; and the half Gaussian in log m of
 * Miller & Scalo for constant star formation, exp(-1.09 (log m + 1.02)^2), to 0.06 of the number above any mass from
 * 0.1 to 2 Msun, beyond which the fit has a power-law tail and the Gaussian none. The fits are that good: at worst
 * 0.019 and 0.054. */
static void generators_follow_the_laws_they_stand_for(void **state)
{
    (void)state;
    const double edge[4] = {0.08, 0.5, 1.0, 1e9}, slope[3] = {1.3, 2.2, 2.7};
    const double factor[3] = {1.0, pow(0.5, 0.9), pow(0.5, 0.9)};
    double all = 0.0;
    for (int s = 0; s < 3; s++) all += factor[s] * moment(edge[s], edge[s + 1], slope[s], 0);
    const double above_least = 1.0 - paper_x(NB6_IMF_MILLER_SCALO, 0.1), gauss = sqrt(1.09);
    for (double m = 0.1; m < 100.0; m *= 1.1) {
        double below = 0.0;
        for (int s = 0; s < 3 && edge[s] < m; s++)
            below += factor[s] * moment(edge[s], fmin(edge[s + 1], m), slope[s], 0);
        const double w = nb6_imf_fraction_above(nb6_imf_generator_of(NB6_IMF_KROUPA1993), m);
        assert_true(fabs(1.0 - w - below / all) < 0.02);
        if (m > 2.0) continue;
        const double scalo = nb6_imf_fraction_above(nb6_imf_generator_of(NB6_IMF_MILLER_SCALO), m) / above_least;
        assert_true(fabs(scalo / (erfc(gauss * (log10(m) + 1.02)) / erfc(gauss * 0.02)) - 1.0) < 0.06);
    }
}

static void no_stars_below_the_least(void **state)
{
    (void)state;
    const struct nb6_model_config config = {.imf = NB6_IMF_KROUPA1993, .mass_min_msun = 0.01, .mass_max_msun = 0.05};
    struct nb6_imf imf = make(NB6_IMF_KROUPA1993, 1.0, 0.01, 1.0);
    struct nbc_error err = {0};
    assert_true(nb6_imf_mass(&imf, 0.0) == 0.08 && nb6_imf_mass(&imf, 1.0) == 1.0);
    assert_int_equal(nb6_imf_init(&config, &imf, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "BODY1"));
    assert_non_null(strstr(err.text, "0.08"));
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
        cmocka_unit_test(generators_are_those_of_the_papers),
        cmocka_unit_test(generated_samples),
        cmocka_unit_test(generators_follow_the_laws_they_stand_for),
        cmocka_unit_test(no_stars_below_the_least),
        cmocka_unit_test(one_mass),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("imf", tests, NULL, NULL);
}
