/* Systems in which rounding, not truncation, bounds the accuracy: masses over many decades, hierarchies, and tolerances
 * that no step can reach. None may take more than so many evaluations, and the energy must be good to what the library
 * says of its steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "tests/support/fewbody.h"

enum { MOST_STEPS = 20000 };

/* T + |U|: the energy is the difference of the two terms. */
static double scale_of(const struct chain *c)
{
    struct chain_body body[CHAIN_MAX];
    double centre[2][3], kinetic = 0;
    chain_bodies(c, body);
    chain_centre(c, centre[0], centre[1]);
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++) kinetic += 0.5 * body[i].mass * pow(body[i].v[k] - centre[1][k], 2);
    return 2 * kinetic - chain_energy(c);
}

/* To t in a bounded number of steps; returns what it took.
 * "chain" may say that rounding leaves more than 1e-9 in a step; "auto" and "ar" have no reason to. */
static struct chain follow(const char *method, double tolerance, int n, const struct chain_body body[], double t)
{
    struct chain c = fewbody_start(method, tolerance, n, body);
    struct chain_event event;
    struct nbc_error err = {0};
    c.options.max_steps = MOST_STEPS;
    const double energy = chain_energy(&c), scale = scale_of(&c);
    int status = chain_advance(&c, t, NULL, &event, &err);
    if (status) {
        assert_string_equal(method, "chain");
        assert_int_equal(status, NBC_INTERNAL);
        assert_non_null(strstr(err.text, "rounding"));
        return c;
    }
    assert_int_equal(event.kind, CHAIN_NONE);
    assert_true(c.options.tolerance == tolerance);
    double error = fabs(chain_energy(&c) - energy) / fmax(scale, scale_of(&c));
    /* Each step adds its error to the energy, and a hundred times that in the worst of encounters. */
    double allowed = 100 * fmax(tolerance, c.worst_error) * (double)c.steps + 1e-12;
    if (!(error < allowed))
        fail_msg("%s, tolerance %g: energy error %g, %ld steps with up to %g", method, tolerance, error, (long)c.steps,
                 c.worst_error);
    assert_true((c.unreached > 0) == (c.worst_error > tolerance));
    assert_true(c.worst_error <= 1e-9);
    return c;
}

/* "ar" needs some thousands. "chain" does what it is not made for in less than a second. */
static int64_t most_evaluations(const char *method)
{
    return strcmp(method, "chain") == 0 ? 1000000 : 20000;
}

/* Masses from 1 down to 1/range in a sphere of radius 1. */
static void random_system(int n, double range, uint64_t *random, struct chain_body body[])
{
    for (int i = 0; i < n; i++) {
        double x[3], v[3];
        for (int k = 0; k < 3; k++) {
            x[k] = 2 * fewbody_uniform(random) - 1;
            v[k] = fewbody_uniform(random) - 0.5;
        }
        body[i] = fewbody(i, i < 2 ? pow(range, -i) : pow(range, -fewbody_uniform(random)), x, v);
    }
}

static void masses_over_decades(void **state)
{
    static const int number[] = {3, 5, 8, 12, 16};
    static const double range[] = {1e5, 1e8}, tolerance[] = {1e-15, 1e-14, 1e-13, 1e-10, 1e-6, 1e-3};
    uint64_t random = 5;
    int64_t most = 0, unreached = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 6; k++) {
                struct chain_body body[CHAIN_MAX];
                random_system(number[i], range[j], &random, body);
                const struct chain c = follow(*state, tolerance[k], number[i], body, 0.2);
                if (c.evaluations > most) most = c.evaluations;
                unreached += c.unreached;
            }
    print_message("%s: at most %ld evaluations, %ld steps above the tolerance\n", (char *)*state, (long)most,
                  (long)unreached);
    assert_true(most < most_evaluations(*state));
}

/* Two bodies on a circle, around x with v. */
static void put_circle(struct chain_body body[2], double m1, double m2, double a, const double x[3], const double v[3])
{
    const double speed = sqrt((m1 + m2) / a), mass[2] = {m1, m2}, part[2] = {m2 / (m1 + m2), -m1 / (m1 + m2)};
    for (int i = 0; i < 2; i++)
        body[i] = fewbody(body[i].id, mass[i], (double[3]){x[0] + part[i] * a, x[1], x[2]},
                          (double[3]){v[0], v[1] + part[i] * speed, v[2]});
}

/* A planet around a star around a black hole, and two tight pairs far apart. */
static void hierarchies(void **state)
{
    static const double tolerance[] = {1e-15, 1e-13, 1e-9}, rest[3] = {0};
    int64_t most = 0;
    for (int k = 0; k < 3; k++) {
        struct chain_body body[4] = {{.id = 1}, {.id = 2}, {.id = 3}, {.id = 4}};
        put_circle(body, 1, 1e-6, 1e-3, (double[3]){1, 0, 0}, (double[3]){0, 1e3, 0});
        body[2] = fewbody(3, 1e6, rest, rest);
        struct chain c = follow(*state, tolerance[k], 3, body, 1e-3);
        if (c.evaluations > most) most = c.evaluations;
        put_circle(body, 1, 0.5, 1e-4, (double[3]){1, 0, 0}, (double[3]){0, 0.5, 0});
        put_circle(body + 2, 1, 1, 2e-4, (double[3]){-1, 0, 0}, (double[3]){0, -0.5, 0});
        c = follow(*state, tolerance[k], 4, body, 1e-4);
        if (c.evaluations > most) most = c.evaluations;
    }
    print_message("%s: at most %ld evaluations\n", (char *)*state, (long)most);
    assert_true(most < most_evaluations(*state));
}

#define ALL(test)                                                                                                      \
    cmocka_unit_test_prestate(test, "chain"), cmocka_unit_test_prestate(test, "ar"),                                   \
        cmocka_unit_test_prestate(test, "auto")

int main(void)
{
    const struct CMUnitTest tests[] = {ALL(masses_over_decades), ALL(hierarchies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
