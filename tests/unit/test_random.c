/* Random numbers and the functions that give the same bits everywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "nbody6/model/random.h"
#include "tests/support/failing_alloc.h"

static nb6_random_t *make(uint64_t seed, enum nb6_random_stream stream)
{
    nb6_random_t *random = NULL;
    assert_int_equal(nb6_random_create(seed, stream, &random, NULL), NBC_OK);
    return random;
}

static uint64_t hash_of_uniforms(uint64_t seed, enum nb6_random_stream stream)
{
    nb6_random_t *random = make(seed, stream);
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a over 64-bit words */
    for (int i = 0; i < 10000; i++) {
        const double u = nb6_random_uniform(random);
        uint64_t bits;
        memcpy(&bits, &u, sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    nb6_random_free(random);
    return hash;
}

/* Recorded once, and found again with the MT19937 of numpy. Another value means that every seed of every user gives
 * another cluster. */
static void numbers_never_change(void **state)
{
    (void)state;
    assert_int_equal(hash_of_uniforms(43532, NB6_RANDOM_POSITION), 0x9f13661904bc3f55u);
    assert_int_equal(hash_of_uniforms(0, NB6_RANDOM_MASS), 0xb31eb08eb59642d8u);
}

static void seeds_and_streams_differ(void **state)
{
    (void)state;
    uint64_t hash[6];
    for (int k = 0; k < 6; k++) {
        hash[k] = hash_of_uniforms((uint64_t)(k / 3), (enum nb6_random_stream)(1 + k % 3));
        for (int i = 0; i < k; i++) assert_int_not_equal(hash[i], hash[k]);
    }
}

/* Mean and variance of 10^6 uniform numbers within 5 standard errors: 5/sqrt(12 10^6), 5 sqrt(1/180)/10^3. Neighbours
 * in the sequence are uncorrelated within 5/10^3 as well. */
static void uniform_is_uniform(void **state)
{
    (void)state;
    enum { N = 1000000 };
    nb6_random_t *random = make(1, NB6_RANDOM_VELOCITY);
    double sum = 0.0, sum2 = 0.0, product = 0.0, last = 0.5;
    for (int i = 0; i < N; i++) {
        const double u = nb6_random_uniform(random);
        assert_true(u > 0.0 && u < 1.0);
        sum += u;
        sum2 += (u - 0.5) * (u - 0.5);
        product += (u - 0.5) * (last - 0.5);
        last = u;
    }
    nb6_random_free(random);
    assert_true(fabs(sum / N - 0.5) < 5.0 / sqrt(12.0 * N));
    assert_true(fabs(sum2 / N - 1.0 / 12.0) < 5.0 * sqrt(1.0 / 180.0 / N));
    assert_true(fabs(product / N) * 12.0 < 5.0 / sqrt((double)N));
}

/* Length kept to rounding; all first and second moments of the directions within 5 standard errors. */
static void directions_are_isotropic(void **state)
{
    (void)state;
    enum { N = 200000 };
    nb6_random_t *random = make(2, NB6_RANDOM_POSITION);
    double mean[3] = {0.0}, square[3] = {0.0}, xy = 0.0;
    for (int i = 0; i < N; i++) {
        double v[3];
        nb6_random_direction(random, 2.5, v);
        assert_true(fabs(sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) - 2.5) < 1e-14);
        for (int d = 0; d < 3; d++) {
            mean[d] += v[d] / 2.5 / N;
            square[d] += v[d] * v[d] / 6.25 / N;
        }
        xy += v[0] * v[1] / 6.25 / N;
    }
    nb6_random_free(random);
    const double error = 1.0 / sqrt((double)N);
    for (int d = 0; d < 3; d++) {
        assert_true(fabs(mean[d]) < 5.0 * error * sqrt(1.0 / 3.0));                           /* variance of x: 1/3 */
        assert_true(fabs(square[d] - 1.0 / 3.0) < 5.0 * error * sqrt(1.0 / 5.0 - 1.0 / 9.0)); /* of x^2 */
    }
    assert_true(fabs(xy) < 5.0 * error * sqrt(1.0 / 15.0)); /* of xy */
}

static void assert_close(double value, double expected, double scale, const char *what, double x)
{
    /* random.h promises 1e-15; the comparison function has an error of its own, half a unit in the last place */
    if (!(fabs(value - expected) <= 1.2e-15 * scale)) {
        print_error("%s(%.17g) = %.17g, not %.17g\n", what, x, value, expected);
        fail();
    }
}

static void functions_are_accurate(void **state)
{
    (void)state;
    nb6_random_t *random = make(3, NB6_RANDOM_MASS);
    for (int i = 0; i < 200000; i++) {
        const double u = nb6_random_uniform(random), wide = ldexp(0.5 + u, (int)(600.0 * u) - 300);
        const double e = 1380.0 * (u - 0.5);
        assert_close(nb6_exp(e), exp(e), exp(e), "exp", e);
        assert_close(nb6_exp(0.01 * e), exp(0.01 * e), exp(0.01 * e), "exp", 0.01 * e);
        assert_close(nb6_log(wide), log(wide), fmax(fabs(log(wide)), 1.0), "log", wide);
        assert_close(nb6_log(1.0 + 0.1 * u), log(1.0 + 0.1 * u), 1.0, "log", 1.0 + 0.1 * u);
        assert_close(nb6_cbrt(wide), cbrt(wide), cbrt(wide), "cbrt", wide);
    }
    nb6_random_free(random);
    assert_true(nb6_exp(0.0) == 1.0 && nb6_log(1.0) == 0.0 && nb6_cbrt(0.0) == 0.0);
    assert_true(nb6_cbrt(27.0) == 3.0 && nb6_cbrt(-8.0) == -2.0 && nb6_cbrt(1.0) == 1.0);
    assert_true(nb6_exp(-701.0) == 0.0 && isinf(nb6_exp(701.0)));
    assert_close(nb6_pow(0.08, -1.35), pow(0.08, -1.35), 4.0 * pow(0.08, -1.35), "pow", 0.08);
}

static int handled;

static void handle(const char *reason, const char *file, int line, int number)
{
    (void)reason, (void)file, (void)line, (void)number;
    handled++;
}

/* GSL's handler ends the program, unless the program has set its own: it is not called, and stays what it is. */
static void no_memory_is_a_status(void **state)
{
    (void)state;
    nb6_random_t *random = NULL;
    gsl_error_handler_t *before = gsl_set_error_handler(handle);
    for (int k = 0; can_fail_alloc() && k < 2; k++) {
        struct nbc_error err = {0};
        fail_alloc(k);
        const int status = nb6_random_create(1, NB6_RANDOM_MASS, &random, &err);
        fail_alloc(-1);
        assert_int_equal(status, NBC_NO_MEMORY);
        assert_null(random);
    }
    random = make(1, NB6_RANDOM_MASS);
    nb6_random_free(random);
    assert_int_equal(handled, 0);
    assert_ptr_equal(gsl_set_error_handler(before), handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_never_change),   cmocka_unit_test(seeds_and_streams_differ),
        cmocka_unit_test(uniform_is_uniform),     cmocka_unit_test(directions_are_isotropic),
        cmocka_unit_test(functions_are_accurate), cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
