/* Few-body systems with a known motion, analytic or from a quadruple-precision integration, by both formulations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "tests/support/fewbody.h"
#define DIRECT_REAL quad
#include "tests/support/direct.h"

/* Farthest body from where a direct integration in quadruple precision has it at t. */
static double from_direct(int n, const struct chain_body begin[], double t, const struct chain *c)
{
    struct direct d = {.n = n, .tolerance = 1e-25, .rounding = 1e-28};
    struct chain_body is[DIRECT_MAX], should[DIRECT_MAX];
    for (int i = 0; i < n; i++) {
        d.mass[i] = begin[i].mass;
        for (int k = 0; k < 3; k++) {
            d.x[i][k] = begin[i].x[k];
            d.v[i][k] = begin[i].v[k];
        }
    }
    quad before = direct_energy(&d);
    direct_integrate(&d, t);
    /* The reference is at least as good as its energy. */
    assert_true(fabs((double)((direct_energy(&d) - before) / before)) < 1e-16);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) should[i].x[k] = (double)d.x[i][k];
    chain_bodies(c, is);
    return fewbody_distance(n, is, should);
}

/* Chenciner & Montgomery 2000, initial state of C. Simo to 8 digits, period 6.32591398. */
static void figure_eight(void **state)
{
    static const double x[3][3] = {{-0.97000436, 0.24308753}, {0}, {0.97000436, -0.24308753}};
    static const double v[3][3] = {{0.46620368, 0.43236573}, {-0.93240737, -0.86473146}, {0.46620368, 0.43236573}};
    struct chain_body begin[3], body[3];
    for (int i = 0; i < 3; i++) begin[i] = fewbody(i, 1, x[i], v[i]);
    struct chain c = fewbody_start(*state, 1e-15, 3, begin);
    double energy = chain_energy(&c);
    fewbody_advance(&c, 100 * 6.32591398, NULL, NULL);
    chain_bodies(&c, body);
    double closure = fewbody_distance(3, body, begin), error = chain_energy(&c) / energy - 1;
    print_message("%s: after 100 periods %.1e from the beginning, energy error %.1e, %ld steps\n", (char *)*state,
                  closure, error, (long)c.steps);
    /* The orbit is stable; half a unit of the eighth digit of state and period is a phase that grows in 100 periods to
     * some 1e-6. */
    assert_true(closure < 1e-5);
    assert_true(fabs(error) < 1e-12);
}

/* The same for two periods against the reference: no digit of the initial state matters. */
static void figure_eight_exactly(void **state)
{
    static const double x[3][3] = {{-0.97000436, 0.24308753}, {0}, {0.97000436, -0.24308753}};
    static const double v[3][3] = {{0.46620368, 0.43236573}, {-0.93240737, -0.86473146}, {0.46620368, 0.43236573}};
    struct chain_body begin[3];
    for (int i = 0; i < 3; i++) begin[i] = fewbody(i, 1, x[i], v[i]);
    struct chain c = fewbody_start(*state, 1e-14, 3, begin);
    fewbody_advance(&c, 12, NULL, NULL);
    double error = from_direct(3, begin, 12, &c);
    print_message("%s: figure-eight, t = 12: %.1e from the reference\n", (char *)*state, error);
    /* 40 steps of 1e-14 each, and the growth of a phase. */
    assert_true(error < 1e-11);
}

static void eccentric_pair_in_a_chain(void **state)
{
    const double e = 0.999999, far = 0.5 * (1 + e), slow = 0.5 * sqrt(2 * (1 - e) / (1 + e));
    struct chain_body begin[3] = {fewbody(0, 1, (double[3]){far, 0, 0}, (double[3]){0, slow, 0}),
                                  fewbody(1, 1, (double[3]){-far, 0, 0}, (double[3]){0, -slow, 0}),
                                  fewbody(2, 1, (double[3]){0, 15, 3}, (double[3]){0.3, 0, 0.1})};
    struct chain c = fewbody_start(*state, 1e-14, 3, begin);
    double energy = chain_energy(&c), r, t;
    fewbody_advance(&c, 13, NULL, NULL);
    double error = from_direct(3, begin, 13, &c);
    chain_closest(&c, 0, 1, &r, &t);
    print_message("%s: e = 0.999999: %.1e from the reference, energy error %.1e, pericentre %.6e at %.6f\n",
                  (char *)*state, error, chain_energy(&c) / energy - 1, r, t);
    /* Three pericentres of 1e-6. KS does not notice them (1e-14 found); the leapfrog passes them with a phase error
     * that extrapolation takes away to 1e-12. */
    assert_true(error < 1e-10);
    assert_true(fabs(chain_energy(&c) / energy - 1) < 1e-12);
    /* The third body's tide changes the pericentre by the part (1/15)^3 of the semi-major axis in half an orbit. */
    assert_true(r < 1e-4);
}

/* On a line every encounter is a collision. The motion after one is the limit of ever closer encounters. */
static void collinear_free_fall(void **state)
{
    const double rest[3] = {0};
    struct chain_body begin[3] = {fewbody(0, 1, (double[3]){0, 0, 0}, rest), fewbody(1, 1, (double[3]){1, 0, 0}, rest),
                                  fewbody(2, 1, (double[3]){3, 0, 0}, rest)};
    struct chain_body body[3];
    struct chain c = fewbody_start(*state, 1e-14, 3, begin);
    double energy = chain_energy(&c);
    for (int k = 1; k <= 40; k++) {
        assert_int_equal(fewbody_advance(&c, 0.25 * k, NULL, NULL), CHAIN_NONE);
        chain_bodies(&c, body);
        for (int i = 0; i < 3; i++) assert_true(fabs(body[i].x[1]) < 1e-12 && fabs(body[i].x[2]) < 1e-12);
        /* They keep their order: bodies on a line cannot pass each other. */
        assert_true(body[0].x[0] < body[1].x[0] && body[1].x[0] < body[2].x[0]);
    }
    double error = chain_energy(&c) / energy - 1;
    print_message("%s: collinear fall to t = 10, energy error %.1e, %ld steps\n", (char *)*state, error, (long)c.steps);
    /* KS is regular in a collision. The leapfrog is not: the energy of a pair is a difference of terms that grow
     * without limit near one, and 2e-10 was found. */
    assert_true(fabs(error) < (c.options.method == CHAIN_METHOD_KS ? 1e-11 : 1e-8));
}

/* Two light bodies that pass each other closely beside one 1e8 times as heavy. */
static void mass_ratio(void **state)
{
    const double rest[3] = {0};
    struct chain_body begin[3] = {fewbody(0, 1, rest, rest),
                                  fewbody(1, 1e-8, (double[3]){1, 0, 0}, (double[3]){0, 1.1, 0}),
                                  fewbody(2, 1e-8, (double[3]){1.001, 0, 0}, (double[3]){0, 1.1, 1e-4})};
    struct chain c = fewbody_start(*state, 1e-14, 3, begin);
    double energy = chain_energy(&c);
    fewbody_advance(&c, 15, NULL, NULL);
    double error = from_direct(3, begin, 15, &c);
    print_message("%s: mass ratio 1e8: %.1e from the reference, energy error %.1e, %ld steps\n", (char *)*state, error,
                  chain_energy(&c) / energy - 1, (long)c.steps);
    /* Two orbits, and the mutual encounter: its deflection magnifies errors. */
    assert_true(error < 1e-10);
    assert_true(fabs(chain_energy(&c) / energy - 1) < 1e-12);
}

/* Eight bodies that fall together from rest, against the reference. */
static void eight_bodies(void **state)
{
    struct chain_body begin[8];
    const double rest[3] = {0};
    uint64_t random = 7;
    for (int i = 0; i < 8; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = 2 * fewbody_uniform(&random) - 1;
        begin[i] = fewbody(i, 0.05 + 0.2 * fewbody_uniform(&random), x, rest);
    }
    struct chain c = fewbody_start(*state, 1e-14, 8, begin);
    double energy = chain_energy(&c);
    fewbody_advance(&c, 1.5, NULL, NULL);
    double error = from_direct(8, begin, 1.5, &c);
    print_message("%s: eight bodies: %.1e from the reference, energy error %.1e, %ld steps, chain rebuilt %ld times\n",
                  (char *)*state, error, chain_energy(&c) / energy - 1, (long)c.steps, (long)c.switches);
    /* Thirty steps of 1e-14, and some growth in the collapse. */
    assert_true(error < 1e-11);
    assert_true(fabs(chain_energy(&c) / energy - 1) < 1e-12);
    assert_true(c.switches > 0);
}

#define BOTH(test) cmocka_unit_test_prestate(test, "chain"), cmocka_unit_test_prestate(test, "ar")

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(figure_eight),        BOTH(figure_eight_exactly), BOTH(eccentric_pair_in_a_chain),
        BOTH(collinear_free_fall), BOTH(mass_ratio),           BOTH(eight_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
