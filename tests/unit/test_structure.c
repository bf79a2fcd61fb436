/* Density centre, core and Lagrangian radii: by hand, against Plummer's model, and where nothing is defined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/analysis/structure_watched.h"
#include "nbody6/model/random.h"
#include "nbody6/state/nearest.h"

enum { N_MAX = 100000 };
static double mass[N_MAX], x[N_MAX][3], v[N_MAX][3];
static const double PI = 3.14159265358979323846;

static struct nb6_structure find(int64_t n)
{
    struct nb6_structure s;
    struct nbc_error err = {0};
    if (nb6_structure_find(n, mass, (const double(*)[3])x, (const double(*)[3])v, &s, &err)) fail_msg("%s", err.text);
    for (int d = 0; d < 3; d++) assert_true(isfinite(s.r_density[d]) && isfinite(s.v_density[d]));
    for (int k = 0; k < NB6_LAGR_COUNT; k++) assert_true(isfinite(s.r_lagr[k]) && s.r_lagr[k] >= 0.0);
    assert_true(isfinite(s.r_core) && isfinite(s.rho_core) && isfinite(s.r_half));
    return s;
}

/* Complete Plummer sphere of scale length 1, by quantiles in radius: r is free of sampling error. */
static void make_plummer(int64_t n)
{
    nb6_random_t *random = NULL;
    assert_int_equal(nb6_random_create(7, NB6_RANDOM_POSITION, &random, NULL), NBC_OK);
    for (int64_t i = 0; i < n; i++) {
        const double u = ((double)i + 0.5) / (double)n;
        mass[i] = 1.0 / (double)n;
        nb6_random_direction(random, 1.0 / sqrt(pow(u, -2.0 / 3.0) - 1.0), x[i]);
        nb6_random_direction(random, 0.5, v[i]);
    }
    nb6_random_free(random);
}

/* Stars of different mass on an axis at 1, 2, 3, ...: cumulative masses by hand. */
static void lagrangian_radii_by_hand(void **state)
{
    (void)state;
    const double m[6] = {0.0005, 0.0095, 0.09, 0.4, 0.4, 0.1}, centre[3] = {0.0, -1.0, 0.0};
    double r[NB6_LAGR_COUNT], r_half;
    memset(x, 0, sizeof x);
    for (int i = 0; i < 6; i++) {
        x[i][1] = (i % 2 ? -1.0 : 1.0) * (i + 1) - 1.0;
        mass[i] = m[i];
    }
    assert_int_equal(nb6_structure_lagrangian(6, mass, (const double(*)[3])x, centre, 1.0, r, &r_half, NULL), NBC_OK);
    /*                          0.1 0.3 0.5 1 3 5 10 20 30 40 50 60 70 80 90 95 99 100 percent */
    const double expected[NB6_LAGR_COUNT] = {2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6};
    for (int k = 0; k < NB6_LAGR_COUNT; k++) assert_true(r[k] == expected[k]);
    assert_true(r_half == 4.0);
    /* of twice the mass: radii of removed mass are not defined */
    assert_int_equal(nb6_structure_lagrangian(6, mass, (const double(*)[3])x, centre, 2.0, r, &r_half, NULL), NBC_OK);
    assert_true(r[9] == 5.0 && r[10] == 6.0 && r[11] == 0.0 && r[17] == 0.0 && r_half == 6.0);
}

/* Radii of the 1 to 95 percent spheres of n = 10^5 against (f^(-2/3) - 1)^(-1/2). Radii are quantiles, so what remains
 * is the shift of the density centre: its error of about 0.5 r_c/sqrt(n_core) = 0.003 shifts a sphere in second order.
 */
static void plummer_lagrangian(void **state)
{
    (void)state;
    make_plummer(N_MAX);
    const struct nb6_structure s = find(N_MAX);
    for (int k = 3; k < 16; k++) {
        const double f = nb6_lagr_fractions[k], r = 1.0 / sqrt(pow(f, -2.0 / 3.0) - 1.0);
        assert_true(fabs(s.r_lagr[k] / r - 1.0) < 2e-3);
    }
    assert_true(s.r_half == s.r_lagr[10]);
}

/* Means with the weight rho^2 over Plummer's density (1 + r^2)^(-5/2), from Beta functions: <r^2> = 0.3. Core density:
 * <rho> = 0.46311 * 3/(4 pi), raised by E[1/G^2] (E[1/G])^-2 = 5/4 because the estimate of each rho by five neighbours
 * scatters. The square of an estimate has a relative scatter of (E[1/G^4]/E[1/G^2]^2 - 1)^(1/2) = 1.5; the core has
 * 10^4 stars, and each estimate shares its neighbours with about six others: 1.5 sqrt(6/10^4) = 4 percent, allowed is
 * twice that. Radius: half of it, and the variation of r^2 within the core damps it to a third; members: 2.3 times that
 * of the radius (d ln M/d ln r). */
static void plummer_core(void **state)
{
    (void)state;
    make_plummer(N_MAX);
    const struct nb6_structure s = find(N_MAX);
    assert_true(fabs(s.r_core / sqrt(0.3) - 1.0) < 0.03);
    assert_true(fabs(s.rho_core / (1.25 * 0.46311 * 3.0 / (4.0 * PI)) - 1.0) < 0.08);
    const double expected = N_MAX * pow(1.0 + 1.0 / 0.3, -1.5); /* mass within r_core */
    assert_true(fabs((double)s.n_core / expected - 1.0) < 0.07);
    for (int d = 0; d < 3; d++) {
        assert_true(fabs(s.r_density[d]) < 5.0 * 0.003); /* 5 standard errors, see above */
        assert_true(fabs(s.v_density[d]) <
                    5.0 * 0.5 / sqrt(3.0) * 2.0 / sqrt(0.1 * N_MAX)); /* 10 percent in the core */
    }
}

/* Twice a lighter, looser cluster far away moves the centre of mass, not the density centre. */
static void density_centre_ignores_the_halo(void **state)
{
    (void)state;
    make_plummer(3000);
    for (int i = 0; i < 1000; i++) {
        for (int d = 0; d < 3; d++) x[i * 3][d] = 30.0 + 10.0 * x[i * 3][d];
        mass[i * 3] *= 0.5;
    }
    const struct nb6_structure s = find(3000);
    for (int d = 0; d < 3; d++) assert_true(fabs(s.r_density[d]) < 0.2);
}

/* The whole cluster shifted and moving: only the centre changes. 1e-9: roundings of x at 1e3 enter r_6 of about 0.03.
 */
static void shift(void **state)
{
    (void)state;
    const double by[3] = {1000.0, -500.0, 250.0}, velocity[3] = {-3.0, 2.0, 1.0};
    make_plummer(2000);
    const struct nb6_structure a = find(2000);
    for (int i = 0; i < 2000; i++) {
        for (int d = 0; d < 3; d++) {
            x[i][d] += by[d];
            v[i][d] += velocity[d];
        }
    }
    const struct nb6_structure b = find(2000);
    for (int d = 0; d < 3; d++) {
        assert_true(fabs(b.r_density[d] - a.r_density[d] - by[d]) < 1e-9);
        assert_true(fabs(b.v_density[d] - a.v_density[d] - velocity[d]) < 1e-9);
    }
    assert_true(fabs(b.r_core - a.r_core) < 1e-9 && fabs(b.rho_core - a.rho_core) < 1e-9);
    assert_true(fabs(b.r_half - a.r_half) < 1e-9 && b.n_core == a.n_core);
}

/* Other units: lengths by 2^-60, masses by 2^40. Powers of two, so only the cubes in rho round differently. */
static void scale(void **state)
{
    (void)state;
    make_plummer(500);
    const struct nb6_structure a = find(500);
    for (int i = 0; i < 500; i++) {
        for (int d = 0; d < 3; d++) x[i][d] = ldexp(x[i][d], -60);
        mass[i] = ldexp(mass[i], 40);
    }
    const struct nb6_structure b = find(500);
    assert_true(fabs(ldexp(b.r_core, 60) / a.r_core - 1.0) < 1e-14);
    assert_true(fabs(ldexp(b.rho_core, -220) / a.rho_core - 1.0) < 1e-14);
    assert_true(ldexp(b.r_half, 60) == a.r_half && b.n_core == a.n_core);
}

static void few_stars(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 8; n++) {
        make_plummer(n);
        for (int i = 0; i < n; i++) mass[i] = (double)(i + 1);
        const struct nb6_structure s = find(n);
        double sum = 0.0, centre[3] = {0.0}, r_max = 0.0;
        for (int i = 0; i < n; i++) {
            sum += mass[i];
            for (int d = 0; d < 3; d++) centre[d] += mass[i] * x[i][d];
        }
        for (int i = 0; i < n; i++) {
            double r2 = 0.0;
            for (int d = 0; d < 3; d++) r2 += (x[i][d] - s.r_density[d]) * (x[i][d] - s.r_density[d]);
            r_max = fmax(r_max, sqrt(r2));
        }
        assert_true(fabs(s.r_lagr[17] - r_max) < 1e-15 * (1.0 + r_max));
        if (n >= 7) continue;
        assert_true(s.r_core == 0.0 && s.rho_core == 0.0 && s.n_core == 0);
        for (int d = 0; d < 3; d++) assert_true(fabs(s.r_density[d] - centre[d] / sum) < 1e-14);
    }
}

static void degenerate_stars(void **state)
{
    (void)state;
    make_plummer(100);
    memset(mass, 0, sizeof mass); /* massless: centre of the places */
    assert_true(find(100).rho_core == 0.0);
    make_plummer(100);
    for (int i = 0; i < 100; i++) memset(x[i], 0, sizeof x[i]); /* all at one place */
    assert_true(find(100).r_half == 0.0);
    make_plummer(100);
    for (int i = 0; i < 50; i++) memcpy(x[i], x[99], sizeof x[i]); /* half of them at one place */
    const struct nb6_structure s = find(100);
    for (int d = 0; d < 3; d++) assert_true(fabs(s.r_density[d] - x[99][d]) < 1e-6);
    make_plummer(100);
    for (int i = 0; i < 99; i++) mass[i] = 0.0; /* one star with mass */
    find(100);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    struct nb6_structure s[2];
    memset(s, 0, sizeof s);
    make_plummer(50000);
    const int before = omp_get_max_threads();
    for (int k = 0; k < 2; k++) {
        omp_set_num_threads(k + 1);
        s[k] = find(50000);
    }
    omp_set_num_threads(before);
    assert_memory_equal(&s[0], &s[1], sizeof s[0]);
}

/* Rows of neighbours as they are handed over. */
struct watched {
    int64_t index[20][NB6_NEAREST_KEPT];
    double r2[20][NB6_NEAREST_KEPT];
    int found[20];
};

static void watch(void *context, int64_t i, int found, const int64_t *index, const double *r2)
{
    struct watched *w = context;
    w->found[i] += found;
    memcpy(w->index[i], index, (size_t)found * sizeof *index);
    memcpy(w->r2[i], r2, (size_t)found * sizeof *r2);
}

/* The same structure with neighbours that are known, found, and handed over; of too few stars for densities as well. */
static void neighbours_are_handed_over(void **state)
{
    (void)state;
    const double(*cx)[3] = (const double(*)[3])x, (*cv)[3] = (const double(*)[3])v;
    for (int n = 20; n > 0; n = n == 20 ? 3 : 0) {
        struct watched w = {.found = {0}};
        struct nb6_structure known, handed;
        struct nb6_nearest *nearest;
        make_plummer(n);
        const struct nb6_structure found = find(n);
        assert_int_equal(nb6_nearest_find(n, cx, &nearest, NULL), NBC_OK);
        assert_int_equal(nb6_structure_of(n, mass, cx, cv, nearest, &known, NULL), NBC_OK);
        assert_int_equal(nb6_structure_watched(n, mass, cx, cv, watch, &w, &handed, NULL), NBC_OK);
        assert_memory_equal(&found, &known, sizeof found);
        assert_memory_equal(&found, &handed, sizeof found);
        for (int i = 0; i < n; i++) {
            assert_int_equal(w.found[i], n == 20 ? NB6_NEAREST_KEPT : n - 1);
            assert_memory_equal(w.index[i], nearest->index[i], (size_t)w.found[i] * sizeof w.index[i][0]);
            assert_memory_equal(w.r2[i], nearest->r2[i], (size_t)w.found[i] * sizeof w.r2[i][0]);
        }
        nb6_nearest_free(nearest);
    }
}

static void refusals(void **state)
{
    (void)state;
    struct nb6_structure s;
    struct nbc_error err = {0};
    const double(*cx)[3] = (const double(*)[3])x, (*cv)[3] = (const double(*)[3])v;
    make_plummer(20);
    assert_int_equal(nb6_structure_find(0, mass, cx, cv, &s, &err), NBC_BAD_ARGUMENT);
    v[3][0] = NAN;
    assert_int_equal(nb6_structure_find(20, mass, cx, cv, &s, &err), NBC_NON_FINITE);
    assert_non_null(strstr(err.text, "velocity of star 3"));
    v[3][0] = 0.0;
    x[5][2] = INFINITY;
    assert_int_equal(nb6_structure_find(20, mass, cx, cv, &s, &err), NBC_NON_FINITE);
    x[5][2] = 0.0;
    mass[7] = -1.0;
    assert_int_equal(nb6_structure_find(20, mass, cx, cv, &s, &err), NBC_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lagrangian_radii_by_hand),
        cmocka_unit_test(plummer_lagrangian),
        cmocka_unit_test(plummer_core),
        cmocka_unit_test(density_centre_ignores_the_halo),
        cmocka_unit_test(shift),
        cmocka_unit_test(scale),
        cmocka_unit_test(few_stars),
        cmocka_unit_test(degenerate_stars),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(neighbours_are_handed_over),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("structure", tests, NULL, NULL);
}
