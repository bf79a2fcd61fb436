/* Chains in the driver: bookkeeping of lists and members, the same bits for any number of threads and across a
 * checkpoint in the middle of a chain, events. How well they move: tests/physics/test_chains.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "nbody6/analysis/adjust_row.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/test_size.h"

/* Hard pairs on a circle, a star or another pair on its way to each of them, all to meet at about the same time. */
enum { PAIRS = 8, SITES = 6, STARS = 2 * PAIRS + 4 };
static const double SEMI = 0.01;

static void put(struct cluster *c, int64_t i, double angle, double ahead, const double x[3], const double v[3])
{
    c->mass[i] = 1.0 / STARS;
    c->x[i][0] = cos(angle) + ahead * sin(angle) + x[0];
    c->x[i][1] = sin(angle) - ahead * cos(angle) + x[1];
    c->x[i][2] = 0.1 * sin(5 * angle) + x[2];
    c->v[i][0] = -6 * ahead * sin(angle) - 0.3 * sin(angle) + v[0];
    c->v[i][1] = 6 * ahead * cos(angle) + 0.3 * cos(angle) + v[1];
    c->v[i][2] = v[2];
}

static void put_pair(struct cluster *c, int64_t i, double angle, double ahead, double e)
{
    double r = SEMI * (1 + e), speed = sqrt(2.0 / STARS * (1 - e) / r);
    for (int m = 0; m < 2; m++) {
        double side = m ? -0.5 : 0.5;
        const double x[3] = {side * r * cos(angle + e), side * r * sin(angle + e), 0};
        const double v[3] = {0, side * speed * 0.3, side * speed * 0.95};
        put(c, i + m, angle, ahead, x, v);
    }
}

static struct cluster meeting(void)
{
    struct cluster c = cluster_alloc(STARS);
    static const double past[3] = {0.006, -0.004, 0.003}, rest[3];
    int64_t pair = 0, star = 2 * PAIRS;
    for (int k = 0; k < SITES; k++) {
        double angle = k * 2 * M_PI / SITES;
        put_pair(&c, 2 * pair++, angle, 0, 0.1 * k);
        if (k < PAIRS - SITES)
            put_pair(&c, 2 * pair++, angle, 0.2 + 0.01 * k, 0.5);
        else
            put(&c, star++, angle, 0.2 + 0.01 * k, past, rest);
    }
    return c;
}

static nb6_t *start(struct cluster_record *record, int chains, int systems)
{
    struct nb6_config config;
    struct cluster c = meeting();
    cluster_config(&config);
    config.binaries.wanted = 1;
    config.binaries.n = PAIRS;
    config.pair.adjust = 0;
    config.pair.r_min = 0.05;
    config.pair.dt_min = 1e-2;
    config.pair.chains = chains;
    config.pair.systems = systems;
    config.run.dt_adjust = config.run.dt_output = 0.125;
    nb6_t *sim = cluster_start(&config, &c, record);
    cluster_free(&c);
    return sim;
}

static int64_t chains_now(const nb6_t *sim)
{
    int64_t n = 0;
    for (int64_t k = 0; k < sim->subsystems.n_chain; k++) n += sim->subsystems.chain[k].slot >= 0;
    return n;
}

static int holds(const struct nb6_event_chain *chain, int64_t name)
{
    for (int k = 0; k < chain->n; k++)
        if (chain->name[k] == name) return 1;
    return 0;
}

/* An event names its stars: those that came are in, those that left are out, and a chain that ends had them all. */
static void assert_event(const struct nb6_event *event)
{
    const struct nb6_event_chain *chain = &event->chain;
    if (event->kind < NB6_EVENT_CHAIN_FORMED) return;
    assert_true(chain->n >= 3 && chain->n <= chain->most);
    assert_true(chain->n_moved > 0 || event->kind == NB6_EVENT_CHAIN_ENDED);
    for (int k = 0; k < chain->n_moved; k++)
        assert_int_equal(holds(chain, chain->moved[k]), event->kind != NB6_EVENT_CHAIN_LEFT);
    assert_true(isfinite(chain->binding) && chain->size > 0 && chain->t_formed <= event->t);
    /* The integration of a chain is to keep 1e-10 of its energy. */
    assert_true(fabs(chain->error) < 1e-10 * fabs(chain->binding));
}

static void lists_members_and_events(void **state)
{
    (void)state;
    struct cluster_record record;
    nb6_t *sim = start(&record, 1, 1);
    uint64_t before = 0;
    int64_t most = 0;
    for (int k = 1; k <= 256; k++) {
        cluster_evolve(sim, k / 256.0);
        const struct nb6_counters *c = &sim->run.counters;
        uint64_t now = c->chains_formed + c->chains_ended + c->chain_changes + c->pairs_formed + c->pairs_ended;
        if (now != before) cluster_assert_consistent(sim);
        before = now;
        if (chains_now(sim) > most) most = chains_now(sim);
    }
    for (int64_t k = 0; k < record.n_events; k++) assert_event(&record.event[k]);
    const struct nb6_adjust_row *last = &record.row[record.n_rows - 1];
    print_message(
        "%llu chains formed, %llu ended, %llu changes, at most %lld at once; dE/E %.2e, by changes %.2e\n",
        (unsigned long long)sim->run.counters.chains_formed, (unsigned long long)sim->run.counters.chains_ended,
        (unsigned long long)sim->run.counters.chain_changes, (long long)most, last->de_rel, last->e_pair_changes);
    assert_int_equal(sim->run.counters.chains_formed - sim->run.counters.chains_ended, chains_now(sim));
    assert_true(sim->run.counters.chains_formed >= 5 && sim->run.counters.chains_ended >= 3 && most >= 3);
    /* Single stars at ETAI = 0.02 that fly by each other make it 1e-6; energy passed between chains must not show. */
    assert_true(fabs(last->de_rel) < 1e-5);
    nb6_free(sim);
    cluster_record_free(&record);
}

/* Two stars on an orbit, at apocentre. */
static void put_orbit(struct cluster *c, const int64_t i[2], const double m[2], double a, double e, const double x[3],
                      const double v[3])
{
    const double total = m[0] + m[1], r = a * (1 + e), speed = sqrt(total * (1 - e) / r);
    for (int s = 0; s < 2; s++) {
        const double share = s ? m[0] / total : -m[1] / total;
        for (int k = 0; k < 3; k++) {
            c->x[i[s]][k] = x[k] + (k == 0 ? share * r : 0);
            c->v[i[s]][k] = v[k] + (k == 1 ? share * speed : 0);
        }
    }
}

/* Pairs of stars 0, 1 and 2, 3 on their way to each other; the pair 4, 5 with star 6 around it; and a field. */
static struct cluster pairs_and_triple(void)
{
    enum { FEW = 7, FIELD = 20 };
    static const double left[3] = {0.3, 0, 0}, right[3] = {0.31, 0, 0}, triple[3] = {0.3, 0.3, 0}, rest[3],
                        inwards[3] = {-1, 0, 0};
    struct cluster c = cluster_with_field(FEW, FIELD, 4);
    const double m = c.mass[FEW], one[2] = {m, m}, two[2] = {2 * m, m};
    for (int i = 0; i < FEW; i++) c.mass[i] = m;
    put_orbit(&c, (const int64_t[]){0, 1}, one, 0.003, 0.1, left, rest);
    put_orbit(&c, (const int64_t[]){2, 3}, one, 0.003, 0.1, right, inwards);
    put_orbit(&c, (const int64_t[]){4, 6}, two, 0.02, 0.1, triple, rest);
    const double x[3] = {c.x[4][0], c.x[4][1], c.x[4][2]}, v[3] = {c.v[4][0], c.v[4][1], c.v[4][2]};
    put_orbit(&c, (const int64_t[]){4, 5}, one, 0.001, 0.1, x, v);
    return c;
}

/* Two pairs become a chain in the block in which a triple becomes a hierarchy, which gets the number of one of those
 * pairs. The chain, a neighbour of the triple, must not have that number in its list twice. */
static void a_number_that_is_free_again(void **state)
{
    (void)state;
    struct cluster c = pairs_and_triple();
    struct nb6_config config;
    cluster_config(&config);
    config.binaries.wanted = 1;
    config.binaries.n = 3;
    config.pair.adjust = 0;
    config.pair.r_min = 0.05;
    config.pair.dt_min = 1e-2;
    config.integration.r_nb_init = 1; /* the chain has the triple in its list */
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_evolve(sim, 0x1p-30); /* the decisions of t = 0 */
    assert_int_equal(sim->run.counters.chains_formed, 1);
    assert_int_equal(sim->run.counters.hierarchies_formed, 1);
    assert_int_equal(sim->subsystems.n_slot, 3);
    cluster_assert_consistent(sim);
    cluster_evolve(sim, 0.125);
    cluster_assert_consistent(sim);
    nb6_free(sim);
    cluster_free(&c);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    const double t = 1.0 / test_size(2, 8);
    omp_set_num_threads(1);
    nb6_t *one = start(NULL, 1, 1);
    cluster_evolve(one, t);
    assert_true(one->run.counters.chain_steps > 100);
    for (int threads = 2; threads <= test_size(4, 2); threads++) {
        omp_set_num_threads(threads);
        nb6_t *many = start(NULL, 1, 1);
        cluster_evolve(many, t);
        cluster_assert_same(one, many);
        nb6_free(many);
    }
    omp_set_num_threads(1);
    nb6_free(one);
}

/* Stopped at odd times, looked at, written and read back, several times in the middle of a chain. */
static void across_checkpoints(void **state)
{
    (void)state;
    const double t_end = 0.25 * test_size(3, 1);
    int in_a_chain = 0;
    nb6_t *whole = start(NULL, 1, 1), *parts = start(NULL, 1, 1);
    cluster_evolve(whole, t_end);
    for (double t = 0.053; t < t_end; t += 0.053) {
        cluster_evolve(parts, t);
        cluster_energy_now(parts);
        in_a_chain += chains_now(parts) > 0;
        nb6_t *resumed = cluster_through_checkpoint(parts);
        nb6_free(parts);
        parts = resumed;
        cluster_assert_consistent(parts);
    }
    assert_true(in_a_chain >= 3);
    cluster_evolve(parts, t_end);
    cluster_assert_same(whole, parts);
    nb6_free(whole);
    nb6_free(parts);
}

/* Chains are looked for only if both options ask for it. */
static void switched_off(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        nb6_t *sim = start(NULL, k, 1 - k);
        cluster_evolve(sim, 0.25);
        assert_int_equal(sim->run.counters.chains_formed, 0);
        nb6_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_members_and_events),
        cmocka_unit_test(a_number_that_is_free_again),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(across_checkpoints),
        cmocka_unit_test(switched_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
