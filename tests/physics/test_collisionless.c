/* The leapfrog of collisionless systems: its order, an orbit against a reference, reversal, momentum, energy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/ledger.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"

/* A cluster at time t. */
static struct cluster evolved(const struct cluster *c, const struct nb6_collisionless_options *options, double t)
{
    struct nb6_collisionless *s = collisionless_start(c, options);
    struct cluster end = cluster_copy(c);
    collisionless_evolve(s, t);
    collisionless_home(s);
    memcpy(end.x, s->x0, (size_t)c->n * sizeof *end.x);
    memcpy(end.v, s->v, (size_t)c->n * sizeof *end.v);
    nb6_collisionless_free(s);
    return end;
}

/* Root mean square of the differences of positions. */
static double apart(const struct cluster *a, const struct cluster *b)
{
    double sum = 0;
    for (int64_t i = 0; i < a->n; i++)
        for (int k = 0; k < 3; k++) sum += (a->x[i][k] - b->x[i][k]) * (a->x[i][k] - b->x[i][k]);
    return sqrt(sum / (double)a->n);
}

static void momentum(const struct cluster *c, double p[3])
{
    memset(p, 0, 3 * sizeof *p);
    for (int64_t i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++) p[k] += c->mass[i] * c->v[i][k];
}

static double momentum_change(const struct cluster *a, const struct cluster *b)
{
    double p[3], q[3];
    momentum(a, p);
    momentum(b, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

/* Forces in double, so that what is measured are errors of steps. */
static struct nb6_collisionless_options exact_forces(double dt, double eta)
{
    return (struct nb6_collisionless_options){.softening = 0.1,
                                              .dt = dt,
                                              .steps = eta > 0 ? NB6_COLLISIONLESS_BLOCK : NB6_COLLISIONLESS_SHARED,
                                              .eta = eta,
                                              .force = {.backend = "ref"}};
}

/* ---- two bodies */

enum { T_ORBIT = 4 };

static void derivative(const long double y[4], long double dy[4])
{
    const long double r2 = y[0] * y[0] + y[1] * y[1] + 0.01L, inv = 1 / (r2 * sqrtl(r2));
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = -y[0] * inv;
    dy[3] = -y[1] * inv;
}

/* Relative motion of two bodies of total mass 1 and softening 0.1, by steps of 2^-14 of the classical fourth-order
 * Runge-Kutta scheme in long double: steps of twice the length differ by less than 1e-12, asserted below. */
static void reference_orbit(double x, double vy, int steps, double at[2])
{
    long double y[4] = {x, 0, 0, vy}, k[4][4], z[4];
    const long double h = (long double)T_ORBIT / steps;
    for (int s = 0; s < steps; s++) {
        derivative(y, k[0]);
        for (int stage = 1; stage < 4; stage++) {
            for (int c = 0; c < 4; c++) z[c] = y[c] + (stage < 3 ? h / 2 : h) * k[stage - 1][c];
            derivative(z, k[stage]);
        }
        for (int c = 0; c < 4; c++) y[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
    }
    at[0] = (double)y[0];
    at[1] = (double)y[1];
}

/* Of the relative position of bodies 3/4 and 1/4 on an orbit with pericentre at about 0.2, two softening lengths. */
static double orbit_error(double dt, double eta)
{
    const double row[2][7] = {{0.75, 0.25, 0, 0, 0, 0.125, 0}, {0.25, -0.75, 0, 0, 0, -0.375, 0}};
    const struct nb6_collisionless_options options = exact_forces(dt, eta);
    struct cluster c = cluster_from_rows(2, row), end = evolved(&c, &options, T_ORBIT);
    double at[2], rough[2];
    reference_orbit(1, 0.5, T_ORBIT * 16384, at);
    reference_orbit(1, 0.5, T_ORBIT * 8192, rough);
    assert_true(hypot(at[0] - rough[0], at[1] - rough[1]) < 1e-12);
    const double error = hypot(end.x[0][0] - end.x[1][0] - at[0], end.x[0][1] - end.x[1][1] - at[1]);
    cluster_free(&c);
    cluster_free(&end);
    return error;
}

static void shared_orbit_has_second_order(void **state)
{
    (void)state;
    double error[5];
    for (int k = 0; k < 5; k++) {
        error[k] = orbit_error(ldexp(1, -7 - k), 0);
        print_message("shared steps of 2^%d: error %.3e\n", -7 - k, error[k]);
        /* Terms of fourth order are next: a share of some dt^2, below 1 per cent after the first. */
        if (k > 1) assert_true(fabs(error[k - 1] / error[k] - 4) < 0.05);
    }
    assert_true(error[4] < 1e-4);
}

/* Steps of a body change from one length to the next at other places, which the mean order over four halvings feels
 * by some tenths. */
static void block_orbit_has_second_order(void **state)
{
    (void)state;
    double error[5];
    for (int k = 0; k < 5; k++) {
        error[k] = orbit_error(ldexp(1, -5 - k), ldexp(0.25, -k));
        print_message("block steps, eta 2^%d: error %.3e\n", -2 - k, error[k]);
    }
    assert_true(fabs(log2(error[0] / error[4]) / 4 - 2) < 0.2);
}

/* ---- a cluster */

static double cluster_error(const struct cluster *c, const struct cluster *exact, double dt, double eta)
{
    const struct nb6_collisionless_options options = exact_forces(dt, eta);
    struct cluster end = evolved(c, &options, 1);
    const double error = apart(&end, exact);
    cluster_free(&end);
    return error;
}

/* Against steps of 2^-12, with an error of 4^-4 of that of the finest steps under test. */
static void cluster_has_second_order(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(64, 11);
    const struct nb6_collisionless_options fine = exact_forces(0x1p-12, 0);
    struct cluster exact = evolved(&c, &fine, 1);
    double shared[4], block[4];
    for (int k = 0; k < 4; k++) {
        shared[k] = cluster_error(&c, &exact, ldexp(1, -5 - k), 0);
        block[k] = cluster_error(&c, &exact, ldexp(1, -3 - k), ldexp(0.25, -k));
        print_message("cluster, halving %d: shared %.3e, block %.3e\n", k, shared[k], block[k]);
    }
    assert_true(fabs(log2(shared[0] / shared[3]) / 3 - 2) < 0.05);
    assert_true(fabs(log2(block[0] / block[3]) / 3 - 2) < 0.2);
    cluster_free(&exact);
    cluster_free(&c);
}

static double way_back(const struct cluster *c, double dt, double eta)
{
    const struct nb6_collisionless_options options = exact_forces(dt, eta);
    struct cluster there = evolved(c, &options, 2);
    for (int64_t i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++) there.v[i][k] = -there.v[i][k];
    struct cluster back = evolved(&there, &options, 2);
    const double error = apart(c, &back);
    cluster_free(&there);
    cluster_free(&back);
    return error;
}

/* Shared steps lead back to within rounding, some 1e-16 for each of 256 steps with random signs, which softened
 * encounters amplify by a factor of 100 at most in two time units. Block steps, which depend on what was, do not. */
static void shared_steps_are_reversible(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(128, 12);
    const double shared = way_back(&c, 0x1p-6, 0), block = way_back(&c, 0x1p-3, 0.25);
    print_message("there and back: shared %.2e, block %.2e\n", shared, block);
    assert_true(shared < 1e-13);
    assert_true(block > 1e-6);
    cluster_free(&c);
}

/* With shared steps a kick changes the momentum by what rounding leaves of the sum of forces: 1e-16 of their size, 1,
 * for each of 128 kicks, with random signs. */
static void shared_steps_conserve_momentum(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(256, 13);
    const struct nb6_collisionless_options options = exact_forces(0x1p-6, 0), blocks = exact_forces(0x1p-3, 0.25);
    struct cluster shared = evolved(&c, &options, 2), block = evolved(&c, &blocks, 2);
    print_message("change of momentum: shared %.2e, block %.2e\n", momentum_change(&c, &shared),
                  momentum_change(&c, &block));
    assert_true(momentum_change(&c, &shared) < 1e-15);
    assert_true(momentum_change(&c, &block) < 1e-3);
    cluster_free(&c);
    cluster_free(&shared);
    cluster_free(&block);
}

/* ---- energy, with the forces that runs have */

static double energy(struct nb6_collisionless *s)
{
    const struct nb6_external none = {0};
    struct nb6_energy e;
    struct nb6_frame frame;
    struct nbc_error err = {0};
    if (nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, &frame, &err)) fail_msg("%s", err.text);
    nb6_energy_of_frame(&frame, &none, &e);
    nb6_frame_free(&frame);
    return e.total;
}

/* The largest relative error at the ends of four time units. */
static double energy_error(const struct cluster *c, double dt, double eta)
{
    struct nb6_collisionless_options options = exact_forces(dt, eta);
    options.force.backend = NULL;
    struct nb6_collisionless *s = collisionless_start(c, &options);
    const double before = energy(s);
    double worst = 0;
    for (int t = 1; t <= 4; t++) {
        collisionless_evolve(s, t);
        worst = fmax(worst, fabs(energy(s) / before - 1));
    }
    nb6_collisionless_free(s);
    return worst;
}

/* The error of a leapfrog in a cluster in equilibrium is that of its steps, (dt/t_dynamical)^2 and less as it averages
 * over bodies: 2^-5 against crossing times of half a unit in the centre gives less than 1e-3; a fourth with half the
 * step, above 1e-6, where floats are felt. */
static void energy_is_conserved(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(1024, 14);
    const double coarse = energy_error(&c, 0x1p-5, 0), fine = energy_error(&c, 0x1p-7, 0),
                 block = energy_error(&c, 0x1p-3, 0.2);
    print_message("energy errors: steps of 1/32 %.2e, of 1/128 %.2e, block steps %.2e\n", coarse, fine, block);
    assert_true(coarse < 1e-3);
    assert_true(fine < coarse / 8);
    assert_true(block < 1e-3);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_orbit_has_second_order),  cmocka_unit_test(block_orbit_has_second_order),
        cmocka_unit_test(cluster_has_second_order),       cmocka_unit_test(shared_steps_are_reversible),
        cmocka_unit_test(shared_steps_conserve_momentum), cmocka_unit_test(energy_is_conserved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
