/* Chains in the driver, among other stars: against an exact integration of all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/test_size.h"

enum { FIELD_STARS = 20 };
static const double SEMI = 0.01;
/* Of exact integrations: half as long changes no digit of the errors below; twice as long does, of the two chains. */
static const double STEP = 4e-5;

/* Two stars on an orbit of semi-major axis a and eccentricity e, at apocentre, around a place. */
static void put_pair(struct cluster *c, int64_t at, double mass, const double x[3], const double v[3], double a,
                     double e, double tilt)
{
    double r = a * (1 + e), speed = sqrt(2 * mass * (1 - e) / r);
    for (int i = 0; i < 2; i++) {
        double side = i ? -0.5 : 0.5;
        c->mass[at + i] = mass;
        for (int k = 0; k < 3; k++) {
            c->x[at + i][k] = x[k];
            c->v[at + i][k] = v[k];
        }
        c->x[at + i][0] += side * r;
        c->v[at + i][1] += side * speed * cos(tilt);
        c->v[at + i][2] += side * speed * sin(tilt);
    }
}

static void put_star(struct cluster *c, int64_t at, double mass, const double x[3], const double v[3])
{
    c->mass[at] = mass;
    memcpy(c->x[at], x, sizeof c->x[at]);
    memcpy(c->v[at], v, sizeof c->v[at]);
}

static struct nb6_config accurate(int64_t binaries)
{
    struct nb6_config config;
    cluster_config(&config);
    config.integration.eta_irr = config.integration.eta_reg = 0.002; /* the field stars' own errors stay small */
    config.binaries.wanted = 1;
    config.binaries.n = binaries;
    config.pair.adjust = 0;
    config.pair.r_min = 0.05;
    config.pair.dt_min = 1e-4;
    config.pair.gamma_min = 1e-8;
    return config;
}

static int64_t count(const struct cluster_record *record, enum nb6_event_kind kind)
{
    int64_t n = 0;
    for (int64_t k = 0; k < record->n_events; k++) n += record->event[k].kind == kind;
    return n;
}

/* Run and compare. *most: most chains at any one time. */
static double error_of(const char *what, struct cluster *c, int64_t binaries, double t, struct cluster_record *record,
                       int64_t *most)
{
    struct nb6_config config = accurate(binaries);
    struct cluster exact = cluster_alloc(c->n);
    memcpy(exact.mass, c->mass, (size_t)c->n * sizeof *c->mass);
    memcpy(exact.x, c->x, (size_t)c->n * sizeof *c->x);
    memcpy(exact.v, c->v, (size_t)c->n * sizeof *c->v);
    nb6_t *sim = cluster_start(&config, c, record);
    *most = 0;
    for (int k = 1; k <= 64; k++) {
        cluster_evolve(sim, t * k / 64);
        int64_t now = 0;
        for (int64_t m = 0; m < sim->subsystems.n_chain; m++) now += sim->subsystems.chain[m].slot >= 0;
        if (now > *most) *most = now;
    }
    struct cluster now = cluster_now(sim);
    struct nb6_energy energy = cluster_energy_now(sim);
    const double error_of_energy = (energy.total - sim->run.book.ledger.start) / sim->run.book.e_scale;
    const double direct = (double)((cluster_energy(&now) - cluster_energy(&exact)) / cluster_energy(&exact));
    cluster_integrate_exactly(&exact, nb6_time_now(sim), STEP);
    double worst = 0, rms = cluster_rms_distance(&now, &exact);
    for (int64_t i = 0; i < c->n; i++)
        for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(now.x[i][k] - exact.x[i][k]));
    print_message("%s: %d chains formed, %d joins, %d left, %d ended; largest error of a position %.2e, rms %.2e; "
                  "dE/E %.2e, of the stars %.2e\n",
                  what, (int)count(record, NB6_EVENT_CHAIN_FORMED), (int)count(record, NB6_EVENT_CHAIN_JOINED),
                  (int)count(record, NB6_EVENT_CHAIN_LEFT), (int)count(record, NB6_EVENT_CHAIN_ENDED), worst, rms,
                  error_of_energy, direct);
    nb6_free(sim);
    cluster_free(&now);
    cluster_free(&exact);
    return worst;
}

static void a_pair_and_a_star(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    struct cluster_record record;
    struct cluster c = cluster_with_field(3, FIELD_STARS, 3);
    const double m = c.mass[3];
    int64_t most;
    put_pair(&c, 0, m, (double[3]){0.1, -0.2, 0.15}, (double[3]){0.2, 0.1, -0.1}, SEMI, 0.3, 0.6);
    put_star(&c, 2, m, (double[3]){0.1 + 0.012, -0.2 + 0.2, 0.15}, (double[3]){0.2, 0.1 - 1.5, -0.1});
    double worst = error_of("a pair and a star", &c, 1, 0.2, &record, &most);
    assert_true(count(&record, NB6_EVENT_CHAIN_FORMED) >= 1);
    assert_true(worst < 1e-5);
    cluster_free(&c);
    cluster_record_free(&record);
}

static void two_pairs(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    struct cluster_record record;
    struct cluster c = cluster_with_field(4, FIELD_STARS, 3);
    const double m = c.mass[4];
    int64_t most;
    put_pair(&c, 0, m, (double[3]){0.1, -0.2, 0.15}, (double[3]){0.2, 0.1, -0.1}, SEMI, 0.3, 0.6);
    put_pair(&c, 2, m, (double[3]){0.1 + 0.02, 0.1, 0.15}, (double[3]){0.2, 0.1 - 3, -0.1}, 0.5 * SEMI, 0.5, 2.2);
    double worst = error_of("two pairs", &c, 2, 0.25, &record, &most);
    assert_true(count(&record, NB6_EVENT_CHAIN_FORMED) >= 1);
    assert_true(worst < 1e-5);
    cluster_free(&c);
    cluster_record_free(&record);
}

static void two_chains_at_once(void **state)
{
    (void)state;
    TEST_SKIP_SANITIZED();
    struct cluster_record record;
    struct cluster c = cluster_with_field(6, FIELD_STARS, 3);
    const double m = c.mass[6];
    int64_t most;
    put_pair(&c, 0, m, (double[3]){0.1, -0.2, 0.15}, (double[3]){0.2, 0.1, -0.1}, SEMI, 0.3, 0.6);
    put_pair(&c, 2, m, (double[3]){-0.3, 0.2, 0.1}, (double[3]){-0.1, 0.1, 0.2}, SEMI, 0.2, 1.1);
    put_star(&c, 4, m, (double[3]){0.1 + 0.012, -0.2 + 0.2, 0.15}, (double[3]){0.2, 0.1 - 1.5, -0.1});
    put_star(&c, 5, m, (double[3]){-0.3 + 0.008, 0.2, 0.1 - 0.2}, (double[3]){-0.1, 0.1, 0.2 + 1.5});
    double worst = error_of("two chains at once", &c, 2, 0.2, &record, &most);
    assert_true(most >= 2);
    assert_true(worst < 1e-5);
    cluster_free(&c);
    cluster_record_free(&record);
}

/* Two bound triples that meet. Six bodies are too chaotic to compare orbits; the energy is compared. Each chain acts on
 * the other as parts on a point, which costs 1.3e-5 here before they become one at 2 R_c; where that happened at R_c,
 * it was 2.7e-4. */
static void two_chains_that_meet(void **state)
{
    (void)state;
    struct cluster_record record;
    struct cluster c = cluster_with_field(6, FIELD_STARS, 3);
    const double m = c.mass[6];
    put_pair(&c, 0, m, (double[3]){0.1, -0.2, 0.15}, (double[3]){1, 0.1, -0.1}, SEMI, 0.3, 0.6);
    put_pair(&c, 2, m, (double[3]){0.46, -0.14, 0.15}, (double[3]){-1, 0.1, -0.1}, SEMI, 0.2, 1.1);
    put_star(&c, 4, m, (double[3]){0.13, -0.18, 0.15}, (double[3]){1, 0.1, -0.1});
    put_star(&c, 5, m, (double[3]){0.48, -0.14, 0.18}, (double[3]){-1, 0.1, -0.1});
    const long double before = cluster_energy(&c);
    const struct nb6_config config = accurate(2);
    nb6_t *sim = cluster_start(&config, &c, &record);
    cluster_evolve(sim, 0.2);
    struct cluster now = cluster_now(sim);
    struct nb6_energy energy = cluster_energy_now(sim);
    const double change = (double)((cluster_energy(&now) - before) / before);
    print_message("two chains that meet: %d chains formed, %d joins; dE/E %.2e, of the stars %.2e\n",
                  (int)count(&record, NB6_EVENT_CHAIN_FORMED), (int)count(&record, NB6_EVENT_CHAIN_JOINED),
                  (energy.total - sim->run.book.ledger.start) / sim->run.book.e_scale, change);
    assert_int_equal(count(&record, NB6_EVENT_CHAIN_FORMED), 2);
    assert_true(count(&record, NB6_EVENT_CHAIN_JOINED) >= 1);
    assert_true(fabs(change) < 3e-5);
    assert_true(fabs(energy.total - sim->run.book.ledger.start) < 3e-5 * sim->run.book.e_scale);
    nb6_free(sim);
    cluster_free(&now);
    cluster_free(&c);
    cluster_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_and_a_star),
        cmocka_unit_test(two_pairs),
        cmocka_unit_test(two_chains_at_once),
        cmocka_unit_test(two_chains_that_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
