/* Energies and other integrals against sums in long double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/analysis/tree_check.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/run/tree_potential.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "tests/support/cluster.h"
#include "tests/support/test_size.h"

static const struct nb6_external NO_FIELD = {0};

static void assert_near(const char *what, long double value, long double expected, long double tolerance)
{
    if (!(fabsl(value - expected) <= tolerance))
        fail_msg("%s: %.17Lg instead of %.17Lg, tolerance %.2Lg", what, value, expected, tolerance);
}

/* A frame of these stars with potentials that are right to double precision. */
static struct nb6_frame frame_of(const struct cluster *c, double *pot)
{
    struct nb6_frame frame = {.n = c->n, .mass = c->mass, .x = c->x, .v = c->v, .pot = pot};
    for (int64_t i = 0; i < c->n; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < c->n; j++) {
            long double r2 = 0;
            for (int k = 0; k < 3; k++) r2 += powl((long double)c->x[i][k] - c->x[j][k], 2);
            if (j != i) sum -= c->mass[j] / sqrtl(r2);
        }
        pot[i] = (double)sum;
    }
    return frame;
}

/* Masses 3 and 1 at rest and in motion, 2 apart: every sum by hand, all numbers exact. */
static void two_bodies(void **state)
{
    (void)state;
    const double row[2][7] = {{3, 1, 0, 0, 0, 2, 0}, {1, -1, 0, 0, 0, -4, 1}};
    struct cluster c = cluster_from_rows(2, row);
    double pot[2];
    struct nb6_frame frame = frame_of(&c, pot);
    struct nb6_energy e;
    nb6_energy_of_frame(&frame, &NO_FIELD, &e);
    assert_true(e.kinetic == 6 + 8.5 && e.potential == -1.5 && e.tidal == 0 && e.total == 13);
    assert_true(e.mass == 4 && e.virial_ratio == 14.5 / 1.5);
    assert_true(e.centre_x[0] == 0.5 && e.centre_v[1] == 0.5 && e.centre_v[2] == 0.25);
    /* x cross v: star 1 (0, 0, 2) x 3, star 2: (-1, 0, 0) x (0, -4, 1) = (0, 1, 4) */
    assert_true(e.angular_momentum[0] == 0 && e.angular_momentum[1] == 1 && e.angular_momentum[2] == 10);
    const struct nb6_external field = {.active = 1, .kind = 1, .t_x = 2, .t_z = -4, .coriolis = 0.5};
    c.x[0][2] = 0.5; /* potential -(2 x^2 - 4 z^2)/2: -1 + 0.5 for star 1, -1 for star 2 */
    nb6_energy_of_frame(&frame, &field, &e);
    assert_true(e.tidal == 3 * -0.5 - 1 && e.total == e.kinetic + e.potential + e.tidal);
    cluster_free(&c);
}

/* Compensated sums: each term is rounded a few times (2e-16 each), their sum is not: 1e-15 of the sum of sizes. */
static void random_set(void **state)
{
    (void)state;
    enum { N = 500 };
    struct cluster c = cluster_plummer(N, 3);
    static double pot[N];
    const struct nb6_external field = {.active = 1, .kind = 1, .t_x = 0.3, .t_z = -0.8, .coriolis = 0.5};
    struct nb6_energy e;
    for (int i = 0; i < N; i++) c.mass[i] *= 1 + i % 7;
    c.mass[10] = 0;
    struct nb6_frame frame = frame_of(&c, pot);
    nb6_energy_of_frame(&frame, &field, &e);
    long double kinetic = 0, tidal = 0, mass = 0, l[3] = {0}, l_size = 0, v[3] = {0};
    for (int i = 0; i < N; i++) {
        const double *x = c.x[i], *u = c.v[i];
        long double m = c.mass[i];
        for (int k = 0; k < 3; k++) {
            int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            kinetic += m * u[k] * (long double)u[k] / 2;
            l[k] += m * (x[k1] * (long double)u[k2] - x[k2] * (long double)u[k1]);
            l_size += m * fabsl(x[k1] * (long double)u[k2]);
            v[k] += m * u[k];
        }
        tidal -= m * (0.3L * x[0] * x[0] - 0.8L * x[2] * x[2]) / 2;
        mass += m;
    }
    long double total = cluster_energy(&c);
    assert_near("kinetic", e.kinetic, kinetic, 1e-15L * kinetic);
    assert_near("potential", e.potential, total - kinetic, 1e-15L * (kinetic - total));
    assert_near("tidal", e.tidal, tidal, 1e-15L * 10);
    assert_near("mass", e.mass, mass, 1e-15L * mass);
    for (int k = 0; k < 3; k++) {
        assert_near("angular momentum", e.angular_momentum[k], l[k], 1e-15L * l_size);
        assert_near("velocity of the centre", e.centre_v[k], v[k] / mass, 1e-15L);
    }
    cluster_free(&c);
}

/* The same through a simulation: at t = 0 the stars are where they were put, and the potential of the force library is
 * good to 1e-10 by its contract. */
static void of_a_simulation(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster c = cluster_plummer(300, 5);
    cluster_config(&config);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    struct nb6_energy e = cluster_energy_now(sim);
    assert_near("energy at t = 0", e.total, cluster_energy(&c), 1e-10L);
    cluster_evolve(sim, 0.3);
    struct cluster now = cluster_now(sim);
    e = cluster_energy_now(sim);
    assert_near("energy at t = 0.3", e.total, cluster_energy(&now), 1e-10L);
    cluster_free(&now);
    cluster_free(&c);
    nb6_free(sim);
}

/* Forces that are right are found right, and the one that is wrong is found. */
static void force_check(void **state)
{
    (void)state;
    struct nb6_config config;
    struct nb6_frame frame;
    struct nbc_error err = {0};
    struct nb6_force_check check;
    struct cluster c = cluster_plummer(100, 6);
    cluster_config(&config);
    cluster_config_ref(&config);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    assert_int_equal(nb6_frame_make(sim, 0, 1, &frame, &err), NBC_OK);
    assert_int_equal(nb6_force_check(&frame, &NO_FIELD, 0, &check, &err), NBC_OK);
    /* both sums in double: a hundred roundings, enlarged where forces of opposite directions cancel */
    assert_true(check.acc_median < 1e-15 && check.acc_max < 1e-13 && check.jerk_max < 1e-12);
    double size2 = 0;
    for (int k = 0; k < 3; k++) size2 += frame.acc[42][k] * frame.acc[42][k];
    frame.acc[42][0] += 0.01 * sqrt(size2);
    frame.jerk[7][1] *= 2;
    assert_int_equal(nb6_force_check(&frame, &NO_FIELD, 0, &check, &err), NBC_OK);
    assert_near("acceleration", check.acc_max, 0.01L, 1e-6L);
    assert_int_equal(check.acc_worst, 43);
    assert_int_equal(check.jerk_worst, 8);
    assert_true(check.acc_median < 1e-15);
    /* a tenth of the stars, of which 0, 10, 20, ...: none of these was changed */
    assert_int_equal(nb6_force_check(&frame, &NO_FIELD, 10, &check, &err), NBC_OK);
    assert_true(check.acc_max < 1e-13 && check.jerk_max < 1e-12);
    frame.acc[90][2] += 0.01;
    assert_int_equal(nb6_force_check(&frame, &NO_FIELD, 10, &check, &err), NBC_OK);
    assert_int_equal(check.acc_worst, 91);
    nb6_frame_free(&frame);
    cluster_free(&c);
    nb6_free(sim);
}

static void pull_all(const struct cluster *c, double (*acc)[3])
{
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = 0; j < c->n; j++) {
            double d[3], r2 = 0;
            for (int k = 0; k < 3; k++) d[k] = c->x[j][k] - c->x[i][k];
            for (int k = 0; k < 3; k++) r2 += d[k] * d[k];
            for (int k = 0; k < 3 && i != j; k++) acc[i][k] += c->mass[j] * d[k] / (r2 * sqrt(r2));
        }
}

/* Regular forces by tree of all bodies of a frame on a sample of them: within the aim, with the lists of direct sums; a
 * force by an aim of a tenth is more exact. */
static void tree_check(void **state)
{
    (void)state;
    enum { STARS = 3000 };
    struct cluster c = cluster_plummer(STARS, 8);
    struct nb6_frame frame = {.n = STARS, .mass = c.mass, .x = c.x, .v = c.v};
    struct nb6_tree_check fine, rough;
    struct nbc_error err = {0};
    struct gpunb_options options = {.backend = "portable", .force_error = 1e-2};
    frame.acc = nbc_alloc(STARS, sizeof *frame.acc);
    frame.r_nb = nbc_alloc(STARS, sizeof *frame.r_nb);
    frame.dt_reg = nbc_alloc(STARS, sizeof *frame.dt_reg);
    frame.nnb = nbc_alloc(STARS, sizeof *frame.nnb); /* 0: lists have to get room */
    for (int i = 0; i < STARS; i++) {
        frame.r_nb[i] = 0.3;
        frame.dt_reg[i] = 1.0 / 64;
    }
    pull_all(&c, frame.acc);
    assert_int_equal(nb6_tree_check(&frame, &options, 1, 500, &rough, &err), NBC_OK);
    options.force_error = 1e-4;
    assert_int_equal(nb6_tree_check(&frame, &options, 1, 500, &fine, &err), NBC_OK);
    assert_true(rough.targets == 500 && rough.lists == 0 && fine.lists == 0);
    assert_true(rough.acc_99 < 1e-2 && rough.jerk_99 < 0.3 && fine.acc_99 < 1e-4 && fine.jerk_99 < 3e-3);
    assert_true(rough.acc_median > fine.acc_median && rough.jerk_median > fine.jerk_median);
    assert_true(fine.acc_median < fine.acc_99 && fine.jerk_median < fine.jerk_99);
    options.backend = "no such one";
    assert_int_equal(nb6_tree_check(&frame, &options, 1, 500, &fine, &err), NBC_UNAVAILABLE);
    nbc_free(frame.acc);
    nbc_free(frame.r_nb);
    nbc_free(frame.dt_reg);
    nbc_free(frame.nnb);
    cluster_free(&c);
}

static double potential_energy(const struct cluster *c, const double *pot)
{
    double sum = 0;
    for (int64_t i = 0; i < c->n; i++) sum += 0.5 * c->mass[i] * pot[i];
    return sum;
}

/* Potentials by a tree: the energy is off by less than is told. Where that is above what is allowed, nothing pulls, or
 * a mass is negative, there are direct sums. */
static void potential_by_tree(void **state)
{
    (void)state;
    enum { STARS = TEST_SANITIZED ? 2000 : 12000 };
    struct cluster c = cluster_plummer(STARS, 9);
    double *tree = nbc_alloc(STARS, sizeof *tree), *direct = nbc_alloc(STARS, sizeof *direct), error = 0, again = 0;
    const double(*x)[3] = (const double(*)[3])c.x;
    struct nbc_error err = {0};
    gpunb_t *h = NULL;
    const struct gpunb_options options = {.backend = "portable"};
    assert_int_equal(gpunb_create(&h, STARS, &options, &err), NBC_OK);
    c.mass[17] *= 100; /* several times in the sample */
    assert_int_equal(nb6_potential_make(h, 0, STARS, c.mass, x, direct, &error, &err), NBC_OK);
    assert_true(error == 0);
    assert_int_equal(nb6_potential_by_tree(h, STARS, c.mass, x, tree, &error), NBC_OK);
    const double is = potential_energy(&c, tree), should = potential_energy(&c, direct);
    assert_true(error > 0 && error < 1e-8);
    assert_true(fabs(is - should) <= error * fabs(0.5 * should));
    assert_memory_not_equal(tree, direct, STARS * sizeof *tree);
    memset(tree, 0, STARS * sizeof *tree);
    assert_int_equal(nb6_potential_make(h, 1, STARS, c.mass, x, tree, &again, &err), NBC_OK);
    assert_true(error <= NB6_MOST_POTENTIAL_ERROR ? again == error : again == 0);
    assert_true((potential_energy(&c, tree) == is) == (again > 0));
    memset(c.mass, 0, STARS * sizeof *c.mass);
    assert_int_equal(nb6_potential_by_tree(h, STARS, c.mass, x, tree, &error), NBC_OK);
    assert_true(isinf(error));
    assert_int_equal(nb6_potential_make(h, 1, STARS, c.mass, x, tree, &error, &err), NBC_OK);
    assert_true(error == 0 && tree[0] == 0);
    c.mass[2] = 2;
    c.mass[3] = -1;
    assert_int_equal(nb6_potential_make(h, 1, STARS, c.mass, x, tree, &error, &err), NBC_OK);
    assert_true(error == 0 && tree[2] > 0);
    gpunb_free(h);
    nbc_free(tree);
    nbc_free(direct);
    cluster_free(&c);
}

/* Only where the user takes forces by tree, of very many stars. */
static void potentials_that_want_a_tree(void **state)
{
    (void)state;
    struct nb6_config config;
    cluster_config(&config);
    assert_false(nb6_potential_wants_tree(&config, 1 << 23));
    config.integration.force_error = 1e-4;
    assert_true(nb6_potential_wants_tree(&config, 1 << 22));
    assert_false(nb6_potential_wants_tree(&config, (1 << 22) - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_bodies),
        cmocka_unit_test(random_set),
        cmocka_unit_test(of_a_simulation),
        cmocka_unit_test(force_check),
        cmocka_unit_test(tree_check),
        cmocka_unit_test(potential_by_tree),
        cmocka_unit_test(potentials_that_want_a_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
