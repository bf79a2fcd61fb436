/* Orbits, trees of pairs, and the criterion of stability. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "regularization/hierarchy.h"

static const double PI = 3.14159265358979324;

static void orbits(void **state)
{
    (void)state;
    /* At pericentre, a = 2, mass 3. */
    static const double eccentricity[4] = {0, 1e-9, 0.5, 1 - 1e-9};
    for (int k = 0; k < 4; k++) {
        struct hierarchy_orbit o;
        double e = eccentricity[k], q = 2 * (1 - e), speed = sqrt(3 * (1 + e) / q);
        hierarchy_orbit_find(3, (double[3]){q, 0, 0}, (double[3]){0, 0, speed}, &o);
        /* Rounding; for e near 1 that of 1 - e itself, magnified by 1/(1 - e). */
        assert_true(fabs(o.e - e) < 1e-15);
        assert_true(fabs(o.pericentre / q - 1) < 1e-14);
        assert_true(fabs(o.a / 2 - 1) < 1e-15 / (1 - e) + 1e-14);
        assert_true(fabs(o.period / (2 * PI * sqrt(8.0 / 3)) - 1) < 2e-15 / (1 - e) + 2e-14);
        assert_true(o.j[1] < 0 && o.j[0] == 0 && o.j[2] == 0);
    }
    struct hierarchy_orbit o;
    hierarchy_orbit_find(1, (double[3]){2, 0, 0}, (double[3]){0, 2, 0}, &o);
    assert_true(o.a < 0 && o.e > 1 && o.period == 0);
    assert_true(fabs(o.pericentre - 2) < 1e-14);
}

/* The formula at values worked out by hand: 2.8 (2 * 1.5/sqrt(0.5))^0.4 = 2.8 * 4.242640687^0.4 = 4.99146. */
static void criterion(void **state)
{
    (void)state;
    assert_true(fabs(hierarchy_critical_ratio(0, 0, 0) - 2.8) < 1e-14);
    assert_true(fabs(hierarchy_critical_ratio(1, 0.5, 0) / 2.8 - exp(0.4 * log(3 * sqrt(2)))) < 1e-14);
    assert_true(fabs(hierarchy_critical_ratio(0, 0, PI) - 2.8 * 0.7) < 1e-14);
    assert_true(fabs(hierarchy_critical_ratio(0, 0, PI / 2) - 2.8 * 0.85) < 1e-14);
    assert_true(isinf(hierarchy_critical_ratio(1, 1, 0)));
}

/* A circular pair of total mass 2 and separation a around x, v; in the plane x-y or, tilted, x-z. */
static void put_pair(double mass[2], double x[2][3], double v[2][3], double a, const double at[3], const double move[3],
                     int tilted)
{
    for (int i = 0; i < 2; i++) {
        double sign = i ? 0.5 : -0.5;
        mass[i] = 1;
        for (int k = 0; k < 3; k++) {
            x[i][k] = at[k];
            v[i][k] = move[k];
        }
        x[i][0] += sign * a;
        v[i][tilted ? 2 : 1] += sign * sqrt(2 / a);
    }
}

static void trees(void **state)
{
    (void)state;
    struct hierarchy h;
    double mass[5], x[5][3], v[5][3];
    /* Two pairs around each other, separation 10, and a body that escapes. */
    put_pair(mass, x, v, 1, (double[3]){-5, 0, 0}, (double[3]){0, -0.5 * sqrt(0.4), 0}, 0);
    put_pair(mass + 2, x + 2, v + 2, 0.5, (double[3]){5, 0, 0}, (double[3]){0, 0.5 * sqrt(0.4), 0}, 1);
    mass[4] = 1;
    for (int k = 0; k < 3; k++) {
        x[4][k] = 300;
        v[4][k] = 3;
    }
    assert_int_equal(hierarchy_find(5, mass, (const double(*)[3])x, (const double(*)[3])v, &h), NBC_OK);
    assert_int_equal(h.pairs, 3);
    assert_int_equal(h.roots, 2);
    /* The tightest first. */
    assert_true(h.pair[0].first == 2 && h.pair[0].second == 3);
    assert_true(h.pair[1].first == 0 && h.pair[1].second == 1);
    assert_true(h.pair[2].first == 5 && h.pair[2].second == 6);
    assert_true(h.root[0] == 4 && h.root[1] == 7);
    assert_true(fabs(h.pair[2].orbit.a - 10) < 1e-12 && h.pair[2].orbit.e < 1e-12);
    /* The wider pair, coplanar, decides: 10/(2.8 2^0.4). The other would be allowed more, being tighter and inclined.
     */
    assert_true(fabs(h.pair[2].ratio - 10 / (2.8 * pow(2, 0.4))) < 1e-12);
    assert_true(fabs(h.pair[2].inclination) < 1e-12);
    assert_true(h.pair[2].stable && h.pair[0].stable && h.pair[0].ratio == 0);

    double dx[3], dv[3], total;
    hierarchy_roots_relative(&h, mass, (const double(*)[3])x, (const double(*)[3])v, &total, dx, dv);
    assert_true(total == 5 && fabs(fabs(dx[0]) - 300) < 1e-12 && fabs(fabs(dv[0]) - 3) < 1e-12);

    /* The same at separation 3: unstable. */
    put_pair(mass, x, v, 1, (double[3]){-1.5, 0, 0}, (double[3]){0, -0.5 * sqrt(4.0 / 3), 0}, 0);
    put_pair(mass + 2, x + 2, v + 2, 0.5, (double[3]){1.5, 0, 0}, (double[3]){0, 0.5 * sqrt(4.0 / 3), 0}, 1);
    assert_int_equal(hierarchy_find(4, mass, (const double(*)[3])x, (const double(*)[3])v, &h), NBC_OK);
    assert_int_equal(h.pairs, 3);
    assert_false(h.pair[2].stable);
    assert_int_equal(h.roots, 1);

    assert_int_equal(hierarchy_find(0, mass, (const double(*)[3])x, (const double(*)[3])v, &h), NBC_BAD_ARGUMENT);
    mass[0] = 0;
    assert_int_equal(hierarchy_find(2, mass, (const double(*)[3])x, (const double(*)[3])v, &h), NBC_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orbits), cmocka_unit_test(criterion), cmocka_unit_test(trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
