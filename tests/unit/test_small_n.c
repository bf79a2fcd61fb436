/* Few bodies and odd ones: 2, 3 and 10 stars, starts from rest, massless stars, mass ratios, outliers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/step.h"
#include "tests/support/cluster.h"

static double de(const struct cluster_record *record)
{
    return record->row[record->n_rows - 1].de_rel;
}

static void assert_energy(const char *what, const struct cluster_record *record, double bound)
{
    print_message("%s: dE/E %.2e\n", what, de(record));
    if (!(fabs(de(record)) < bound)) fail_msg("%s: dE/E = %.3e, bound %.1e", what, de(record), bound);
}

static nb6_t *start(const struct cluster *c, double eta, double dt_adjust, struct cluster_record *record)
{
    struct nb6_config config;
    cluster_config(&config);
    config.integration.eta_irr = config.integration.eta_reg = eta;
    config.run.dt_adjust = config.run.dt_output = dt_adjust;
    return cluster_start(&config, c, record);
}

/* A circular orbit is the same at all times. Its steps are equal: sqrt(eta) of the orbital frequency, 0.01 of a radian,
 * which leaves h^4/720 = 1e-11 each and, most of it periodic, far less than 1e-8 in 12 orbits. */
static void circular_pair(void **state)
{
    (void)state;
    const double row[2][7] = {{0.5, 0.5, 0, 0, 0, 0.5, 0}, {0.5, -0.5, 0, 0, 0, -0.5, 0}};
    struct cluster c = cluster_from_rows(2, row);
    struct cluster_record record;
    nb6_t *sim = start(&c, 0.0001, 1, &record);
    cluster_evolve(sim, 75);
    struct cluster now = cluster_now(sim);
    double r = hypot(now.x[0][0] - now.x[1][0], now.x[0][1] - now.x[1][1]);
    assert_energy("circular pair", &record, 1e-8);
    assert_true(fabs(r - 1) < 1e-7);
    assert_true(fabs(atan2(now.x[0][1], now.x[0][0]) - remainder(75, 2 * 3.14159265358979323846)) < 1e-6);
    cluster_free(&now);
    nb6_free(sim);
    cluster_record_free(&record);
    cluster_free(&c);
}

/* Masses 3, 4 and 5 at rest in the corners of the 3-4-5 triangle. The first encounter, at t = 1.88, brings two of them
 * to 0.01: the reference integrator needs steps of 2^-13 for it and then agrees with itself to 1e-12. The step of ETA =
 * 0.0025 leaves 4e-7 of the position at t = 3 and 7e-7 of the energy at t = 10, and falls by 30 for a quarter of ETA;
 * ten times that is allowed. */
static const double PYTHAGORAS[3][7] = {{3, 1, 3, 0, 0, 0, 0}, {4, -2, -1, 0, 0, 0, 0}, {5, 1, -1, 0, 0, 0, 0}};

static void pythagorean(void **state)
{
    (void)state;
    struct cluster c = cluster_from_rows(3, PYTHAGORAS), exact = cluster_from_rows(3, PYTHAGORAS);
    struct cluster_record record;
    nb6_t *sim = start(&c, 0.0025, 1, &record);
    cluster_evolve(sim, 3);
    cluster_integrate_exactly(&exact, 3, 0x1p-13);
    struct cluster now = cluster_now(sim);
    double distance = cluster_rms_distance(&now, &exact);
    print_message("Pythagorean problem at t = 3: error of the positions %.2e\n", distance);
    assert_true(distance < 4e-6);
    cluster_evolve(sim, 10);
    assert_energy("Pythagorean problem", &record, 7e-6);
    assert_true(fabs(record.row[0].energy.total - (double)cluster_energy(&c)) < 1e-9);
    cluster_free(&now);
    nb6_free(sim);
    cluster_record_free(&record);
    cluster_free(&exact);
    cluster_free(&c);
}

/* At rest there is no jerk, and the step criterion has only the acceleration and its second derivative to go by: the
 * first step has to be finite, and shorter than the time of fall. */
static void from_rest(void **state)
{
    (void)state;
    struct cluster c = cluster_from_rows(3, PYTHAGORAS);
    nb6_t *sim = start(&c, 0.02, 1, NULL);
    for (int i = 0; i < 3; i++) {
        double step = nb6_step_length(sim->star[i].level_irr);
        assert_true(step >= 1e-4 && step <= 0.125);
    }
    nb6_free(sim);
    cluster_free(&c);
    c = cluster_plummer(10, 3);
    memset(c.v, 0, 10 * sizeof *c.v);
    struct cluster_record record;
    sim = start(&c, 0.01, 0.125, &record);
    cluster_evolve(sim, 0.125); /* before the first pair collides head-on */
    assert_energy("10 stars from rest", &record, 1e-6);
    nb6_free(sim);
    cluster_record_free(&record);
    cluster_free(&c);
}

/* Three stars at rest on a line: the two that are closer collide head-on, at no distance at all, while the third pulls
 * along the line. Measured: 6e-8, by steps of single stars. */
static void on_a_line(void **state)
{
    (void)state;
    const double m = 1.0 / 3, row[3][7] = {{m, 0}, {m, 1}, {m, 3}};
    struct cluster c = cluster_from_rows(3, row);
    struct cluster_record record;
    nb6_t *sim = start(&c, 0.002, 1, &record);
    cluster_evolve(sim, 4);
    assert_energy("on a line", &record, 1e-6);
    assert_true(sim->run.counters.ks_steps > 0);
    nb6_free(sim);
    cluster_record_free(&record);
    cluster_free(&c);
}

/* Ten stars over some crossing times: the energy is conserved in all their encounters. */
static void ten_stars(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        struct cluster c = cluster_plummer(10, seed);
        struct cluster_record record;
        nb6_t *sim = start(&c, 0.005, 1, &record);
        cluster_evolve(sim, 5);
        assert_energy("ten stars", &record, 1e-4);
        nb6_free(sim);
        cluster_record_free(&record);
        cluster_free(&c);
    }
}

/* A star without mass moves in the field of the others without acting on them: the same bits with and without it, as
 * long as the lists hold all stars. */
static void massless_star(void **state)
{
    (void)state;
    enum { N = 6 };
    struct cluster few = cluster_plummer(N, 12), c = cluster_alloc(N + 1), exact = cluster_alloc(N + 1);
    memcpy(c.mass, few.mass, N * sizeof *c.mass);
    memcpy(c.x, few.x, N * sizeof *c.x);
    memcpy(c.v, few.v, N * sizeof *c.v);
    c.x[N][0] = 1.5;
    c.v[N][1] = 0.7;
    memcpy(exact.mass, c.mass, (N + 1) * sizeof *c.mass);
    memcpy(exact.x, c.x, (N + 1) * sizeof *c.x);
    memcpy(exact.v, c.v, (N + 1) * sizeof *c.v);
    nb6_t *with = start(&c, 0.001, 1, NULL), *without = start(&few, 0.001, 1, NULL);
    cluster_evolve(with, 1);
    cluster_evolve(without, 1);
    struct cluster a = cluster_now(with), b = cluster_now(without);
    assert_memory_equal(a.x, b.x, N * sizeof *a.x);
    assert_memory_equal(a.v, b.v, N * sizeof *a.v);
    cluster_integrate_exactly(&exact, 1, 0x1p-9);
    double error2 = 0;
    for (int k = 0; k < 3; k++) error2 += pow(a.x[N][k] - exact.x[N][k], 2);
    print_message("massless star: error %.2e\n", sqrt(error2));
    assert_true(error2 < 1e-12); /* it stays off the others, and steps of sqrt(0.001) of its time-scale leave 1e-7 */
    nb6_free(with);
    nb6_free(without);
    cluster_free(&a);
    cluster_free(&b);
    cluster_free(&c);
    cluster_free(&few);
    cluster_free(&exact);
}

/* Test particles do not change what is close among the others: not at t = 0, and not by the first adjust. */
static void test_particles(void **state)
{
    (void)state;
    enum { STARS = 40 };
    struct cluster alone = cluster_plummer(STARS, 7), more = cluster_alloc(2 * STARS);
    for (int64_t i = 0; i < 2 * STARS; i++) {
        more.mass[i] = i < STARS ? alone.mass[i] : 0;
        for (int k = 0; k < 3; k++) {
            more.x[i][k] = (i < STARS ? 1 : -1.5) * alone.x[i % STARS][k];
            more.v[i][k] = alone.v[i % STARS][k];
        }
    }
    nb6_t *sim = start(&more, 0.02, 0x1p-6, NULL);
    const double r_min = sim->book.r_min, dt_min = sim->book.dt_min;
    cluster_evolve(sim, 0);
    print_message("RMIN %.17g at the start, %.17g after the adjust at t = 0\n", r_min, sim->book.r_min);
    assert_true(r_min > 0 && sim->run.book.energy_known);
    /* the same stars, at the same places: only sums are in another order */
    assert_true(fabs(sim->book.r_min / r_min - 1) < 1e-12 && fabs(sim->book.dt_min / dt_min - 1) < 1e-12);
    nb6_free(sim);
    cluster_free(&alone);
    cluster_free(&more);
}

/* A planet of 1e-8 about a star: the star's own motion of 1e-8 is kept too, because positions are double. */
static void mass_ratio(void **state)
{
    (void)state;
    const double m = 1e-8, row[2][7] = {{1, 0, 0, 0, 0, -1e-8, 0}, {1e-8, 1, 0, 0, 0, 1, 0}};
    struct cluster c = cluster_from_rows(2, row);
    struct cluster_record record;
    nb6_t *sim = start(&c, 0.001, 1, &record);
    cluster_evolve(sim, 30);
    assert_energy("mass ratio 1e8", &record, 1e-6);
    struct cluster now = cluster_now(sim);
    for (int k = 0; k < 2; k++) {
        double centre = now.x[0][k] + m * now.x[1][k], start_centre = k == 0 ? m : 0;
        /* the forces are equal and opposite; steps differ, so that they are so only to their own error, 1e-6 m */
        assert_true(fabs(centre - start_centre) < 1e-5 * m * 30);
    }
    double phase = atan2(now.x[1][1] - now.x[0][1], now.x[1][0] - now.x[0][0]);
    assert_true(fabs(remainder(phase - 30, 2 * 3.14159265358979323846)) < 1e-4);
    cluster_free(&now);
    nb6_free(sim);
    cluster_record_free(&record);
    cluster_free(&c);
}

/* A star at 1e6 has a list and a sphere like all others, moves on, and costs the others no accuracy: float copies of
 * positions could not resolve the cluster there. */
static void far_outlier(void **state)
{
    (void)state;
    enum { N = 100 };
    struct cluster c = cluster_plummer(N, 3);
    struct cluster_record record;
    for (int k = 0; k < 3; k++) {
        c.x[31][k] = k == 0 ? 1e6 : 0;
        c.v[31][k] = k == 1 ? 1 : 0;
    }
    nb6_t *sim = start(&c, 0.02, 1, &record);
    cluster_evolve(sim, 2);
    assert_energy("outlier at 1e6", &record, 5e-6); /* ten times what it is with the star at 10 */
    struct cluster now = cluster_now(sim);
    assert_true(fabs(now.x[31][1] - 2) < 1e-9 && fabs(now.x[31][0] - 1e6) < 1e-9);
    assert_true(isfinite(sim->star[31].r_nb));
    cluster_free(&now);
    nb6_free(sim);
    cluster_record_free(&record);
    cluster_free(&c);
}

/* An unbound pair flies apart for a long time: steps grow to their limit, and nothing overflows. */
static void flying_apart(void **state)
{
    (void)state;
    const double row[2][7] = {{1, 1, 0, 0, 50, 0, 0}, {1, -1, 0, 0, -50, 0, 0}};
    struct cluster c = cluster_from_rows(2, row);
    struct cluster_record record;
    nb6_t *sim = start(&c, 0.02, 1000, &record);
    cluster_evolve(sim, 5000); /* beyond 2^12 units, where the time origin of the libraries moves */
    assert_energy("flying apart", &record, 1e-6);
    assert_true(sim->run.counters.steps_irr < (uint64_t)(2 * 5000 / 0.125) + 2000);
    nb6_free(sim);
    cluster_record_free(&record);
    cluster_free(&c);
}

/* Lists among few stars: now and then all others are neighbours, and nothing is left of the regular force. Its step
 * must not collapse then (it once did, down to a tick): these clusters take 2500 steps at most. */
static int not_too_many(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    (void)context;
    (void)err;
    *stop = sim->run.counters.steps_irr > 50000;
    return NBC_OK;
}

static void lists_of_few(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct cluster c = cluster_plummer(6, seed);
        struct nb6_config config;
        cluster_config(&config);
        config.integration.nnb_opt = 3;
        nb6_t *sim = cluster_start(&config, &c, NULL);
        nb6_set_observer(sim, &(struct nb6_observer){.poll = not_too_many});
        cluster_evolve(sim, 1);
        if (nb6_stopped(sim)) fail_msg("seed %d: steps collapse at t = %.12g", (int)seed, nb6_time_now(sim));
        assert_true(sim->run.counters.pairs_irr < 5 * sim->run.counters.steps_irr); /* lists were in use */
        nb6_free(sim);
        cluster_free(&c);
    }
}

/* The same above 1000 stars, where the velocity criterion holds back long steps as well: spheres that grow until they
 * hold all stars leave a regular force of zero, which must end in the longest step and not in the shortest. */
static void spheres_grow_to_all(void **state)
{
    (void)state;
    enum { STARS = 1010 };
    struct cluster c = cluster_plummer(STARS, 1);
    struct nb6_config config;
    cluster_config(&config);
    config.integration.nnb_opt = 40;
    config.integration.nnb_max = STARS;
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_free(&c);
    struct nbc_error err = {0};
    int64_t holds_all = 0, shortest = NB6_TIME_BITS;
    int paused;
    for (int block = 0; block < 3000; block++) {
        if (block == 300)
            for (int64_t i = 0; i < STARS; i++) sim->star[i].r_nb = 1e6;
        if (nb6_step(sim, &paused, &err)) fail_msg("block %d: %s", block, err.text);
        for (int64_t k = 0; k < sim->active.n_reg; k++) {
            const struct nb6_star *star = &sim->star[sim->active.irr[sim->active.reg[k]]];
            holds_all += star->nnb == STARS - 1;
            if (star->level_reg < shortest) shortest = star->level_reg;
        }
    }
    print_message("t = %.4f, %lld lists hold all, shortest regular step 2^%lld ticks\n",
                  nb6_time_to_double(sim->ti_now), (long long)holds_all, (long long)shortest);
    assert_true(holds_all > 0);
    assert_true(shortest > NB6_TIME_BITS - 20); /* irregular steps are not below 2^-17 here */
    nb6_free(sim);
}

static int too_many_blocks(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    (void)context;
    (void)err;
    *stop = sim->run.counters.blocks > 100000;
    return NBC_OK;
}

/* A hundred planets of 1e-6 of their star: in lists of a few neighbours the star came and went, and 10^6 steps led to
 * t = 0.01. It
 * takes some thousand blocks. */
static void planets(void **state)
{
    (void)state;
    enum { PLANETS = 100 };
    struct cluster c = cluster_alloc(PLANETS + 1);
    c.mass[0] = 1;
    for (int i = 1; i <= PLANETS; i++) {
        const double a = 0.1 * pow(20, (i - 1) / (PLANETS - 1.0)), angle = 2.4 * i, v = 1 / sqrt(a),
                     tilt = 0.2 * sin(i);
        const double x[3] = {a * cos(angle), a * sin(angle) * cos(tilt), a * sin(angle) * sin(tilt)};
        const double w[3] = {-v * sin(angle), v * cos(angle) * cos(tilt), v * cos(angle) * sin(tilt)};
        c.mass[i] = 1e-6;
        memcpy(c.x[i], x, sizeof x);
        memcpy(c.v[i], w, sizeof w);
    }
    nb6_t *sim = start(&c, 0.02, 0.5, NULL);
    nb6_set_observer(sim, &(struct nb6_observer){.poll = too_many_blocks});
    const double before = cluster_energy_now(sim).total;
    cluster_evolve(sim, 0.5);
    assert_false(nb6_stopped(sim));
    const double error = cluster_energy_now(sim).total / before - 1;
    print_message("planets: %d steps, dE/E %.2e\n", (int)sim->run.counters.steps_irr, error);
    assert_true(fabs(error) < 1e-5); /* the innermost ones make steps of a sixtieth of an orbit */
    nb6_free(sim);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circular_pair), cmocka_unit_test(pythagorean),         cmocka_unit_test(from_rest),
        cmocka_unit_test(on_a_line),     cmocka_unit_test(ten_stars),           cmocka_unit_test(massless_star),
        cmocka_unit_test(mass_ratio),    cmocka_unit_test(far_outlier),         cmocka_unit_test(flying_apart),
        cmocka_unit_test(lists_of_few),  cmocka_unit_test(spheres_grow_to_all), cmocka_unit_test(test_particles),
        cmocka_unit_test(planets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
