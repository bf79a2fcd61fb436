/* Close and hard at t = 0, declared or not: regularized where that is right, and the energy is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"

enum { FIELD_STARS = 20 };
static const double PLACE[3] = {0.3, -0.2, 0.15}, DRIFT[3] = {0.1, 0.05, -0.1};

/* Stars relative to a moving place among twenty others. */
static struct cluster among_twenty(int n, const double row[][7])
{
    struct cluster c = cluster_with_field(n, FIELD_STARS, 3);
    for (int i = 0; i < n; i++) {
        c.mass[i] = row[i][0];
        for (int k = 0; k < 3; k++) {
            c.x[i][k] = PLACE[k] + row[i][1 + k];
            c.v[i][k] = DRIFT[k] + row[i][4 + k];
        }
    }
    return c;
}

struct outcome {
    int64_t pairs, first; /* at t = 0, and once the first block has been decided on */
    double error;         /* of the energy */
    double start;         /* difference of the first energy from that of the stars by direct sums */
};

/* Steps that collapse would take for ever. */
static int too_many(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    (void)context;
    (void)err;
    *stop = sim->run.counters.blocks > 20000;
    return NBC_OK;
}

static struct outcome run(const struct nb6_config *config, const struct cluster *c, double t)
{
    nb6_t *sim = cluster_start(config, c, NULL);
    nb6_set_observer(sim, &(struct nb6_observer){.poll = too_many});
    const double before = cluster_energy_now(sim).total;
    struct outcome o = {.pairs = sim->subsystems.count, .start = before - (double)cluster_energy(c)};
    cluster_evolve(sim, 0x1p-30); /* before the first block, but after the decisions of t = 0 */
    cluster_assert_consistent(sim);
    o.first = sim->subsystems.count;
    cluster_evolve(sim, t);
    assert_false(nb6_stopped(sim));
    cluster_assert_consistent(sim);
    o.error = cluster_energy_now(sim).total - before;
    nb6_free(sim);
    return o;
}

/* The field's own errors in this time are 1e-9; ten times that. The first energy includes m1 m2/r with the rounding
 * error of positions near 1: 1e-16/r of it. */
static const double ENERGY = 1e-8, T_END = 0.125;

static void check(const char *what, const struct cluster *c, double r, int64_t pairs, double *worst)
{
    struct nb6_config config;
    cluster_config(&config);
    const struct outcome o = run(&config, c, T_END);
    if (o.pairs != pairs || o.first < 1)
        fail_msg("%s: %d pairs at t = 0 instead of %d, %d then", what, (int)o.pairs, (int)pairs, (int)o.first);
    const double rounding = 3e-14 * c->mass[0] * c->mass[1] / r; /* over hundreds of steps, at ten times the energy */
    if (!(fabs(o.error) < ENERGY + rounding)) fail_msg("%s: dE = %g", what, o.error);
    assert_true(fabs(o.start) < 1e-9 + 4e-16 / r * c->mass[0] * c->mass[1] / r);
    *worst = fmax(*worst, fabs(o.error));
}

/* Two stars at r from each other. Speeds in units of that of a circular orbit: at rest, bound, hyperbolic; approaching,
 * receding, passing. The bound ones are pairs before anything is computed, the others from the first block on. */
static void two_stars(void **state)
{
    (void)state;
    const double m = 1.0 / FIELD_STARS, speed[] = {0, 0.9, -0.9, 1.3, 2.5, -2.5};
    for (double r = 1e-4; r > 5e-10; r /= 10) {
        double worst = 0;
        for (size_t k = 0; k < sizeof speed / sizeof *speed; k++)
            for (int across = 0; across < 2; across++) {
                const double v = speed[k] * sqrt(2 * m / r) / 2, vx = across ? 0 : v, vy = across ? v : 0;
                const double row[2][7] = {{m, r / 2, 0, 0, vx, vy, 0}, {m, -r / 2, 0, 0, -vx, -vy, 0}};
                struct cluster c = among_twenty(2, row);
                char what[80];
                snprintf(what, sizeof what, "two stars at %.0e, %.1f of the circular speed %s", r, speed[k],
                         across ? "across" : "along");
                check(what, &c, r, fabs(speed[k]) < 1.4, &worst);
                cluster_free(&c);
            }
        print_message("two stars at %.0e from each other: dE %.1e at most\n", r, worst);
    }
}

/* Three within 1e-6: a pair and a star at the start, and a chain as soon as they approach. Until then the star makes
 * some steps of its own. The first ones have no history and leave 4e-8 of 3 m^2/r where it starts from rest; 25 times
 * that is allowed. */
static void three_stars(void **state)
{
    (void)state;
    const double m = 1.0 / FIELD_STARS, r = 1e-6;
    for (int moving = 0; moving < 2; moving++) {
        const double v = moving ? sqrt(m / r) : 0;
        const double row[3][7] = {{m, 0.5 * r, 0, 0, 0, 0.5 * v, 0},
                                  {m, -0.5 * r, 0, 0, 0, -0.7 * v, 0},
                                  {m, 0.1 * r, 0.9 * r, 0, 0.6 * v, 0, 0.1 * v}};
        struct cluster c = among_twenty(3, row);
        struct nb6_config config;
        cluster_config(&config);
        const struct outcome o = run(&config, &c, 0x1p-10);
        print_message("three stars within 1e-6 %s: dE %.1e of 3 m^2/r\n", moving ? "that move" : "at rest",
                      o.error / (3 * m * m / r));
        assert_true(fabs(o.error) < 1e-6 * 3 * m * m / r);
        cluster_free(&c);
    }
}

/* A companion without mass: there is nothing to be wrong but that it is lost. */
static void massless_companion(void **state)
{
    (void)state;
    const double m = 1.0 / FIELD_STARS;
    for (double r = 1e-3; r > 5e-9; r /= 100) {
        const double row[2][7] = {{m, 0, 0, 0, 0, 0, 0}, {0, r, 0, 0, 0, sqrt(m / r), 0}};
        struct cluster c = among_twenty(2, row);
        struct nb6_config config;
        cluster_config(&config);
        nb6_t *sim = cluster_start(&config, &c, NULL);
        assert_int_equal(sim->subsystems.count, 1);
        cluster_evolve(sim, T_END);
        struct cluster now = cluster_now(sim);
        double r2 = 0;
        for (int k = 0; k < 3; k++) r2 += pow(now.x[1][k] - now.x[0][k], 2);
        print_message("massless companion at %.0e: at %.6f of it\n", r, sqrt(r2) / r);
        assert_true(fabs(sqrt(r2) / r - 1) < 1e-3);
        nb6_free(sim);
        cluster_free(&now);
        cluster_free(&c);
    }
}

/* Binaries that are not declared, axes of 1e-7 to 1, in a Plummer model: those smaller than RMIN are pairs at t = 0. */
static void many_sizes(void **state)
{
    (void)state;
    enum { SYSTEMS = 60 };
    struct cluster centres = cluster_plummer(SYSTEMS, 3), c = cluster_alloc(2 * SYSTEMS);
    int64_t hard = 0;
    for (int i = 0; i < SYSTEMS; i++) {
        const double a = pow(10, -7 + 7.0 * i / SYSTEMS), m = centres.mass[i] / 2, r = a * 1.3;
        const double v = sqrt(2 * m / a * 0.7 / 1.3);
        for (int s = 0; s < 2; s++) {
            const int at = i + s * SYSTEMS, side = s ? 1 : -1;
            c.mass[at] = m;
            memcpy(c.x[at], centres.x[i], sizeof c.x[at]);
            memcpy(c.v[at], centres.v[i], sizeof c.v[at]);
            c.x[at][i % 3] += 0.5 * side * r;
            c.v[at][(i + 1) % 3] += 0.5 * side * v;
        }
    }
    struct nb6_config config;
    cluster_config(&config);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    for (int i = 0; i < SYSTEMS; i++) hard += 2 * pow(10, -7 + 7.0 * i / SYSTEMS) < sim->book.r_min;
    const int64_t found = sim->subsystems.count;
    nb6_free(sim);
    const struct outcome o = run(&config, &c, T_END);
    print_message("%d binaries of 1e-7 to 1: %d are hard, %d found at t = 0; dE %.1e\n", SYSTEMS, (int)hard, (int)found,
                  o.error);
    assert_true(found >= hard - 1 && found <= hard + 6);
    assert_true(fabs(o.error) < 1e-6);
    cluster_free(&centres);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_stars),
        cmocka_unit_test(three_stars),
        cmocka_unit_test(massless_companion),
        cmocka_unit_test(many_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
