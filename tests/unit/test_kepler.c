/* Stumpff functions, the Kepler solver on all conics against values of 50 digits, and elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "regularization/kepler.h"

static const double EPS = 1.1102230246251565e-16; /* 2^-53 */

struct row {
    const char *label;
    double in[8];       /* mass, dt, x, v */
    long double out[6]; /* x, v after dt */
    double cond_x, cond_v;
};
static const struct row table[] = {
#include "../data/kepler_table.inc"
};

static double distance(const double a[3], const long double b[3])
{
    long double sum = 0;
    for (int i = 0; i < 3; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return (double)sqrtl(sum);
}

/* 1e-13 times the conditioning is what is asked for. */
static void advance_agrees_with_the_table(void **state)
{
    (void)state;
    double worst = 0;
    const char *where = "";
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct row *k = &table[i];
        double x[3], v[3];
        for (int d = 0; d < 3; d++) {
            x[d] = k->in[2 + d];
            v[d] = k->in[5 + d];
        }
        int status = kepler_advance(k->in[0], k->in[1], x, v);
        if (status) fail_msg("%s: status %d", k->label, status);
        double ex = distance(x, k->out) / k->cond_x, ev = distance(v, k->out + 3) / k->cond_v;
        if (!(ex < 1e-13 && ev < 1e-13)) fail_msg("%s: errors %.2e (x), %.2e (v) of the condition", k->label, ex, ev);
        if (fmax(ex, ev) > worst) {
            worst = fmax(ex, ev);
            where = k->label;
        }
    }
    print_message("%zu orbits, largest error/condition %.2e (%s)\n", sizeof table / sizeof table[0], worst, where);
    assert_true(sizeof table / sizeof table[0] > 300);
}

/* The definition, summed in quad precision. */
static void stumpff_agree_with_their_series(void **state)
{
    (void)state;
    for (int i = -400; i <= 400; i++) {
        double z = copysign(exp10(abs(i) / 100.0 - 2.5), i), c[KEPLER_STUMPFF_MAX + 1];
        if (fabs(z) > 400) continue;
        kepler_stumpff(z, c);
        for (int n = 0; n <= KEPLER_STUMPFF_MAX; n++) {
            __float128 term = 1, sum = 0, first;
            for (int k = 2; k <= n; k++) term /= k;
            first = term;
            for (int k = 0; k < 200; k++) {
                sum += term;
                term *= -(__float128)z / ((n + 2 * k + 1) * (n + 2 * k + 2));
            }
            /* Rounding of the recursion: a few units, times at most z^4/8! = 1.6 in the range of the series, and at
             * most 8!/(2 z^3) = 5 above it. */
            double error = fabs((double)((__float128)c[n] - sum)), scale = fmax((double)first, fabs((double)sum));
            if (!(error <= 40 * EPS * scale)) fail_msg("c_%d(%g): error %.1f eps", n, z, error / scale / EPS);
        }
    }
}

static void elements_of_known_orbits(void **state)
{
    (void)state;
    struct kepler_elements el;
    const double pi = 3.14159265358979323846;

    /* circle */
    assert_int_equal(kepler_elements(1, (double[3]){0, 1, 0}, (double[3]){-1, 0, 0}, &el), NBC_OK);
    assert_true(fabs(el.a - 1) < 4 * EPS && el.e < 4 * EPS && fabs(el.period - 2 * pi) < 16 * EPS);

    /* apocentre of a = 1, e = 0.6: r = 1.6, v^2 = 2/1.6 - 1 = 0.25; half a period from the pericentre either way */
    assert_int_equal(kepler_elements(1, (double[3]){1.6, 0, 0}, (double[3]){0, 0.5, 0}, &el), NBC_OK);
    assert_true(fabs(el.a - 1) < 8 * EPS && fabs(el.e - 0.6) < 8 * EPS && fabs(el.q - 0.4) < 8 * EPS);
    assert_true(fabs(fabs(el.t_pericentre) - pi) < 16 * EPS);

    /* parabola */
    assert_int_equal(kepler_elements(1, (double[3]){2, 0, 0}, (double[3]){0, 1, 0}, &el), NBC_OK);
    assert_true(isinf(el.a) && isinf(el.period) && el.e == 1 && fabs(el.q - 2) < 8 * EPS && el.t_pericentre == 0);

    /* hyperbola a = -1, e = 2, pericentre at r = 1: v^2 = 2 + 1 */
    assert_int_equal(kepler_elements(1, (double[3]){1, 0, 0}, (double[3]){0, sqrt(3), 0}, &el), NBC_OK);
    assert_true(fabs(el.a + 1) < 8 * EPS && fabs(el.e - 2) < 8 * EPS && fabs(el.q - 1) < 8 * EPS);

    assert_int_equal(kepler_elements(0, (double[3]){1, 0, 0}, (double[3]){0, 1, 0}, &el), NBC_BAD_ARGUMENT);
    assert_int_equal(kepler_elements(1, (double[3]){0, 0, 0}, (double[3]){0, 1, 0}, &el), NBC_BAD_ARGUMENT);
    assert_int_equal(kepler_elements(1, (double[3]){NAN, 0, 0}, (double[3]){0, 1, 0}, &el), NBC_NON_FINITE);
}

/* Going back by the time since the pericentre leads to the pericentre, on every conic of the table. */
static void time_of_pericentre(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const double *in = table[i].in;
        double x[3] = {in[2], in[3], in[4]}, v[3] = {in[5], in[6], in[7]};
        struct kepler_elements el;
        assert_int_equal(kepler_elements(in[0], x, v, &el), NBC_OK);
        double r0 = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        assert_int_equal(kepler_advance(in[0], -el.t_pericentre, x, v), NBC_OK);
        double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        /* r has a minimum there, so that an error dt of the time gives r - q = dt^2/2 d^2r/dt^2 < dt^2 mass/(2 q^2),
         * and rounding of the way there 2^-53 r0; q itself is good to a few units. */
        double dt = 64 * EPS * fabs(el.t_pericentre), limit = 64 * EPS * (r0 + el.q);
        limit += fmin(dt * dt * in[0] / (el.q * el.q), 4 * cbrt(in[0] * dt * dt));
        if (!(fabs(r - el.q) <= limit)) fail_msg("%s: r %.17g, pericentre %.17g", table[i].label, r, el.q);
    }
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    double x[3] = {1, 2, 3}, v[3] = {4, 5, 6}, s;
    assert_int_equal(kepler_advance(-1, 1, x, v), NBC_BAD_ARGUMENT);
    assert_int_equal(kepler_advance(1, INFINITY, x, v), NBC_NON_FINITE);
    assert_int_equal(kepler_advance(NAN, 1, x, v), NBC_NON_FINITE);
    assert_int_equal(kepler_anomaly(1, 0, 0, -1, 1, &s, NULL), NBC_BAD_ARGUMENT);
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3 && v[0] == 4 && v[1] == 5 && v[2] == 6);
    v[0] = NAN;
    assert_int_equal(kepler_advance(1, 1, x, v), NBC_NON_FINITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stumpff_agree_with_their_series), cmocka_unit_test(advance_agrees_with_the_table),
        cmocka_unit_test(elements_of_known_orbits),        cmocka_unit_test(time_of_pericentre),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests_name("kepler", tests, NULL, NULL);
}
