/* Binaries, triples and larger systems among stars, and the names of units. */
#include "nbody6/analysis/multiples.h"

#include "common/nbc.h"
#include "nbody6/input/words/unit_names.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 16 };

struct stars {
    int64_t n;
    double mass[MOST], x[MOST][3], v[MOST][3];
};

/* A star at a place, in place of which two on a circular orbit may come. */
static void add(struct stars *s, double mass, double x, double v)
{
    s->mass[s->n] = mass;
    memcpy(s->x[s->n], (double[3]){x, 0, 0}, sizeof s->x[0]);
    memcpy(s->v[s->n], (double[3]){0, v, 0}, sizeof s->v[0]);
    s->n++;
}

/* Replace star i by two of half its mass, at pericentre of an orbit of semi-major axis a, eccentricity e. */
static void split(struct stars *s, int64_t i, double a, double e)
{
    const double m = s->mass[i], r = a * (1 - e), v = sqrt(m / a * (1 + e) / (1 - e));
    s->mass[i] = 0.5 * m;
    add(s, 0.5 * m, s->x[i][0] - 0.5 * r, s->v[i][1] - 0.5 * v);
    s->x[i][0] += 0.5 * r;
    s->v[i][1] += 0.5 * v;
}

static struct nb6_multiples find(const struct stars *s)
{
    struct nb6_multiples found;
    struct nbc_error err = {0};
    if (nb6_multiples_find(s->n, s->mass, (const double(*)[3])s->x, (const double(*)[3])s->v, &found, &err))
        fail_msg("%s", err.text);
    return found;
}

static void assert_counts(const struct nb6_multiples *m, int64_t binaries, int64_t triples, int64_t larger)
{
    assert_int_equal(m->n_binary, binaries);
    assert_int_equal(m->n_triple, triples);
    assert_int_equal(m->n_larger, larger);
}

static void orbits(void **state)
{
    (void)state;
    /* Places up to 4 are rounded, of which the separation is 1e-5; 1/a is a difference of two terms a/r = 1000 times as
     * large. */
    const double exact = 2 * 1000 * 4 * DBL_EPSILON / 1e-5;
    struct stars s = {.n = 0};
    for (int k = 0; k < 4; k++) add(&s, 0.25, k, 0.3 * k);
    struct nb6_multiples m = find(&s);
    assert_counts(&m, 0, 0, 0);
    assert_true(m.a_least == 0 && m.a_most == 0 && m.energy_most == 0);
    split(&s, 0, 0.001, 0);
    split(&s, 3, 0.01, 0.999);
    m = find(&s);
    assert_counts(&m, 2, 0, 0);
    assert_true(fabs(m.a_least / 0.001 - 1) < exact && fabs(m.a_most / 0.01 - 1) < exact);
    assert_true(fabs(m.energy_most / (0.125 * 0.125 / 0.002) - 1) < exact);
}

/* At apocentre 2 a, which has to be a quarter of the distance to the third at most. */
static void wide_and_unbound(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct stars s = {.n = 0};
        add(&s, 1, 0, 0);
        add(&s, 1, 1, 5);
        split(&s, 0, k ? 0.11 : 0.13, 0.99);
        const struct nb6_multiples m = find(&s);
        assert_counts(&m, k, 0, 0);
    }
    struct stars s = {.n = 0};
    add(&s, 1, 0, 0);
    split(&s, 0, 0.01, 0.5);
    struct nb6_multiples m = find(&s); /* two stars alone, without a near neighbour */
    assert_counts(&m, 1, 0, 0);
    s.v[0][1] *= 2; /* beyond the velocity of escape, which is 2/(1 + e) of that at pericentre, squared */
    m = find(&s);
    assert_counts(&m, 0, 0, 0);
}

static void hierarchies(void **state)
{
    (void)state;
    struct stars s = {.n = 0};
    add(&s, 1, 0, 0);
    add(&s, 1, 10, 3);
    split(&s, 0, 0.1, 0);
    split(&s, 0, 0.001, 0);
    struct nb6_multiples m = find(&s);
    assert_counts(&m, 0, 1, 0);
    split(&s, 2, 0.001, 0.3); /* the other one of the wide pair */
    m = find(&s);
    assert_counts(&m, 0, 0, 1);
    split(&s, 1, 0.001, 0.3);
    m = find(&s);
    assert_counts(&m, 1, 0, 1);
    assert_true(fabs(m.a_most - 0.001) < 1e-9);
}

static void units(void **state)
{
    (void)state;
    const struct {
        enum nb6_quantity of;
        const char *text;
        enum nb6_unit_kind kind;
        double factor, error;
    } cases[] = {{NB6_MASS, "", NB6_UNIT_NONE, 1, 0},
                 {NB6_MASS, "Msun", NB6_UNIT_PHYSICAL, 1, 0},
                 {NB6_MASS, "M_\\odot", NB6_UNIT_PHYSICAL, 1, 0},
                 {NB6_MASS, "solMass", NB6_UNIT_PHYSICAL, 1, 0},
                 {NB6_MASS, "kg", NB6_UNIT_PHYSICAL, 1 / 1.98841e30, 1e-5},
                 {NB6_MASS, "pc", NB6_UNIT_UNKNOWN, 1, 0},
                 {NB6_MASS, "nbody", NB6_UNIT_NBODY, 1, 0},
                 {NB6_X, "PC", NB6_UNIT_PHYSICAL, 1, 0},
                 {NB6_X, "kpc", NB6_UNIT_PHYSICAL, 1000, 0},
                 {NB6_X, "m", NB6_UNIT_PHYSICAL, 1 / 3.0856775814913673e16, 1e-15},
                 {NB6_X, "km", NB6_UNIT_PHYSICAL, 1 / 3.0856775814913673e13, 1e-15},
                 {NB6_X, "AU", NB6_UNIT_PHYSICAL, 1 / 206264.80624709636, 1e-15},
                 {NB6_X, "Rsun", NB6_UNIT_PHYSICAL, 6.957e8 / 3.0856775814913673e16, 1e-15},
                 {NB6_X, "furlong", NB6_UNIT_UNKNOWN, 1, 0},
                 {NB6_X, "a unit of so many letters", NB6_UNIT_UNKNOWN, 1, 0},
                 {NB6_MASS, "232533 Msun", NB6_UNIT_PHYSICAL, 232533, 0},
                 {NB6_MASS, "1e10 Msun", NB6_UNIT_PHYSICAL, 1e10, 0},
                 {NB6_MASS, "1.0E+10 solMass", NB6_UNIT_PHYSICAL, 1e10, 0},
                 {NB6_MASS, "10^10_Msun", NB6_UNIT_PHYSICAL, 1e10, 0},
                 {NB6_MASS, "1d10*Msun", NB6_UNIT_PHYSICAL, 1e10, 0},
                 {NB6_MASS, "0 Msun", NB6_UNIT_UNKNOWN, 1, 0},
                 {NB6_MASS, "1e10", NB6_UNIT_UNKNOWN, 1, 0},
                 {NB6_MASS, "1.2.3 Msun", NB6_UNIT_UNKNOWN, 1, 0},
                 {NB6_MASS, "-1 Msun", NB6_UNIT_UNKNOWN, 1, 0},
                 {NB6_X, "0.5 kpc", NB6_UNIT_PHYSICAL, 500, 0},
                 {NB6_X, ".25pc", NB6_UNIT_PHYSICAL, 0.25, 0},
                 {NB6_X, "2 nbody", NB6_UNIT_UNKNOWN, 1, 0},
                 {NB6_VX, "0.0653 km/s", NB6_UNIT_PHYSICAL, 0.0653, 0},
                 {NB6_VX, "1e-3 km s^-1", NB6_UNIT_PHYSICAL, 1e-3, 0},
                 {NB6_VX, "km/s", NB6_UNIT_PHYSICAL, 1, 0},
                 {NB6_VX, "km s^{-1}", NB6_UNIT_PHYSICAL, 1, 0},
                 {NB6_VX, "km / s", NB6_UNIT_PHYSICAL, 1, 0},
                 {NB6_VX, "m s**-1", NB6_UNIT_PHYSICAL, 1e-3, 0},
                 {NB6_VX, "pc/Myr", NB6_UNIT_PHYSICAL, 0.97779222, 1e-8},
                 {NB6_VX, "AU/yr", NB6_UNIT_PHYSICAL, 4.74047046, 1e-8}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct nb6_unit unit = nb6_unit_find(cases[k].of, cases[k].text, strlen(cases[k].text));
        if (unit.kind != cases[k].kind) fail_msg("'%s' is of kind %d", cases[k].text, (int)unit.kind);
        if (!(fabs(unit.factor / cases[k].factor - 1) <= cases[k].error))
            fail_msg("'%s' is %.17g", cases[k].text, unit.factor);
    }
}

/* The name of a unit in a message means that unit. */
static void names_of_units(void **state)
{
    (void)state;
    const struct {
        enum nb6_quantity of;
        const char *given, *shown;
    } cases[] = {{NB6_MASS, "msun", "Msun"},      {NB6_MASS, "1e10 Msun", "1e10 Msun"},
                 {NB6_MASS, "kg", "kg"},          {NB6_X, "parsec", "pc"},
                 {NB6_X, "1000 pc", "kpc"},       {NB6_X, "au", "AU"},
                 {NB6_X, "2 pc", "2 pc"},         {NB6_VX, "kms-1", "km/s"},
                 {NB6_VX, "auyr-1", "AU/yr"},     {NB6_VX, "pc/myr", "pc/Myr"},
                 {NB6_VX, "0.5 km/s", "0.5 km/s"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[NB6_UNIT_TEXT];
        const struct nb6_unit unit = nb6_unit_find(cases[k].of, cases[k].given, strlen(cases[k].given));
        nb6_unit_text(cases[k].of, unit.factor, text);
        assert_string_equal(text, cases[k].shown);
        const struct nb6_unit again = nb6_unit_find(cases[k].of, text, strlen(text));
        assert_true(fabs(again.factor / unit.factor - 1) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orbits), cmocka_unit_test(wide_and_unbound),
                                       cmocka_unit_test(hierarchies), cmocka_unit_test(units),
                                       cmocka_unit_test(names_of_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
