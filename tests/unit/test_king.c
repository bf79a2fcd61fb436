/* King's models against published concentrations and an independent integration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/model/king.h"

static nb6_king_t *solve(double w0)
{
    nb6_king_t *king = NULL;
    struct nbc_error err = {0};
    if (nb6_king_solve(w0, &king, &err)) fail_msg("%s", err.text);
    return king;
}

/* The closed form. */
static double density_by_definition(double w)
{
    const double pi = 3.14159265358979323846;
    return exp(w) * erf(sqrt(w)) - sqrt(4.0 * w / pi) * (1.0 + 2.0 * w / 3.0);
}

/* The definition loses 16 digits less those of the result to cancellation; the series none. At small W its leading
 * term is 8/(15 sqrt(pi)) W^(5/2). */
static void density(void **state)
{
    (void)state;
    for (double w = 0.05; w < 16.0; w += 0.05) {
        const double expected = density_by_definition(w);
        assert_true(fabs(nb6_king_density(w) - expected) < 1e-15 * (4.0 + 8.0 * exp(w)));
    }
    const double w = 1e-6;
    assert_true(fabs(nb6_king_density(w) / (8.0 / 15.0 / sqrt(3.14159265358979323846) * pow(w, 2.5)) - 1.0) < w);
    assert_true(nb6_king_density(0.0) == 0.0 && nb6_king_density(-1.0) == 0.0);
}

/* Concentrations log10(r_t/r_c) as tabulated for King's models, to half a unit of their last digit (0.672,
 * 0.840, 1.029, 1.255, 1.528, 1.833, 2.119, 2.350, 2.739 for W0 = 3, 4, 5, 6, 7, 8, 9, 10, 12). */
static void concentrations(void **state)
{
    (void)state;
    const double w0[] = {3, 4, 5, 6, 7, 8, 9, 10, 12};
    const double c[] = {0.672, 0.840, 1.029, 1.255, 1.528, 1.833, 2.119, 2.350, 2.739};
    for (int k = 0; k < 9; k++) {
        nb6_king_t *king = solve(w0[k]);
        if (fabs(log10(nb6_king_tidal_radius(king)) - c[k]) > 0.51e-3) {
            fail_msg("W0 = %g: c = %.5f, not %.3f", w0[k], log10(nb6_king_tidal_radius(king)), c[k]);
        }
        nb6_king_free(king);
    }
}

/* Poisson's equation as it stands, W(x) by Runge-Kutta in x: another variable, another singularity, the closed form of
 * the density. */
struct direct {
    double x_edge, mass, potential, x_half;
};

static void slopes(double w0, double x, const double s[3], double d[3])
{
    const double rho = s[0] > 1e-3 ? density_by_definition(s[0]) : nb6_king_density(s[0]);
    const double mass_gradient = 9.0 * rho / density_by_definition(w0) * x * x;
    d[0] = -s[1] / (x * x);           /* W */
    d[1] = mass_gradient;             /* M = -x^2 W' */
    d[2] = -s[1] * mass_gradient / x; /* potential energy */
}

static void step(double w0, double x, double h, double s[3])
{
    double k[4][3], t[3];
    const double at[4] = {0.0, 0.5, 0.5, 1.0};
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 3; i++) t[i] = j ? s[i] + at[j] * h * k[j - 1][i] : s[i];
        slopes(w0, x + at[j] * h, t, k[j]);
    }
    for (int i = 0; i < 3; i++) s[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
}

static struct direct integrate(double w0, double half_mass)
{
    struct direct result = {0.0, 0.0, 0.0, 0.0};
    double x = 1e-3, s[3] = {w0 - 1.5 * x * x, 3.0 * x * x * x, -1.8 * pow(x, 5.0)};
    for (;;) {
        const double h = 1e-3 * fmax(x, 0.1), before = s[1];
        double next[3] = {s[0], s[1], s[2]};
        step(w0, x, h, next);
        if (!(next[0] > 0.0)) break;
        if (before < half_mass && next[1] >= half_mass)
            result.x_half = x + h * (half_mass - before) / (next[1] - before);
        x += h;
        memcpy(s, next, sizeof s);
    }
    /* next to no mass beyond the last step: 1/x is linear in W there */
    result.x_edge = 1.0 / (1.0 / x - s[0] / s[1]);
    result.mass = s[1];
    result.potential = s[2] / (s[1] * s[1]);
    return result;
}

/* 1e-6 is the accuracy of the comparison (second-order start, straight line through the half mass); king.h claims
 * 1e-9, which W0 = 6 and 12 below show with figures of 12 digits. */
static void independent_integration(void **state)
{
    (void)state;
    const double w0[] = {0.3, 1.0, 3.0, 6.0, 9.0, 12.0};
    for (int k = 0; k < 6; k++) {
        nb6_king_t *king = solve(w0[k]);
        const struct direct first = integrate(w0[k], INFINITY), direct = integrate(w0[k], 0.5 * first.mass);
        assert_true(fabs(nb6_king_tidal_radius(king) / direct.x_edge - 1.0) < 1e-6);
        assert_true(fabs(nb6_king_potential_energy(king) / direct.potential - 1.0) < 1e-6);
        assert_true(fabs(nb6_king_radius(king, 0.5) / direct.x_half - 1.0) < 1e-6);
        nb6_king_free(king);
    }
}

/* The same integration in x as above with steps of 1e-3 and 2e-3 agreed to 3e-12. */
static void accurate_to_nine_digits(void **state)
{
    (void)state;
    const double w0[] = {0.3, 6.0, 12.0}, x_edge[] = {1.00470696611, 17.9916097256, 548.199066102};
    for (int k = 0; k < 3; k++) {
        nb6_king_t *king = solve(w0[k]);
        assert_true(fabs(nb6_king_tidal_radius(king) / x_edge[k] - 1.0) < 1e-9);
        nb6_king_free(king);
    }
}

static void radius_of_mass_is_monotone(void **state)
{
    (void)state;
    nb6_king_t *king = solve(7.0);
    double before = 0.0;
    for (int i = 1; i <= 10000; i++) {
        const double r = nb6_king_radius(king, i / 10000.0);
        assert_true(r > before);
        before = r;
    }
    assert_true(nb6_king_radius(king, 0.0) < 1e-6); /* bisection ends within 2^-50 of the first interval */
    /* M - M(r) ~ (r_t - r)^(7/2) near the edge: a rounding of M, 1e-16, is 3e-5 in r; ends may not be exceeded */
    const double edge = nb6_king_tidal_radius(king);
    assert_true(nb6_king_radius(king, 1.0) <= edge && nb6_king_radius(king, 1.0) > edge * (1.0 - 1e-3));
    nb6_king_free(king);
}

static void refusals(void **state)
{
    (void)state;
    const double bad[] = {0.0, -3.0, 0.05, 16.5, NAN, INFINITY};
    for (int k = 0; k < 6; k++) {
        nb6_king_t *king = NULL;
        struct nbc_error err = {0};
        assert_int_equal(nb6_king_solve(bad[k], &king, &err), NBC_BAD_INPUT);
        assert_null(king);
        assert_non_null(strstr(err.text, "W0"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density),
        cmocka_unit_test(concentrations),
        cmocka_unit_test(independent_integration),
        cmocka_unit_test(accurate_to_nine_digits),
        cmocka_unit_test(radius_of_mass_is_monotone),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("king", tests, NULL, NULL);
}
