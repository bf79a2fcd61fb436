/* Masses and velocities of stars that change in a run (nb6_set_masses): steps, events, names, the start, and what is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/step/step.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/mass_scene.h"

/* ---- steps */

static void steps_are_back_after_80_blocks(void **state)
{
    struct nbc_error err = {0};
    struct nb6_config config;
    (void)state;
    cluster_config(&config);
    struct cluster c = cluster_plummer(300, 3);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_evolve(sim, 0.07 + 0x1p-40); /* an odd number of ticks: the shortest step there is */
    struct cluster now = cluster_now(sim);
    const int64_t name = 1;
    const double mass = 0.5 * now.mass[0], v[1][3] = {{now.v[0][0] + 0.1, now.v[0][1], now.v[0][2]}};
    int8_t level[300];
    for (int i = 0; i < 300; i++) level[i] = sim->star[i].level_irr;
    demand(nb6_set_masses(sim, 1, &name, &mass, v, NB6_MASS_SUDDEN, &err), &err);
    assert_int_equal(sim->ti_now % 2, 1);
    assert_int_equal(sim->star[0].level_irr, 0);
    for (int k = 0; k < 80; k++) {
        int paused;
        demand(nb6_step(sim, &paused, &err), &err);
    }
    /* First steps are half of what others are, and steps double once in two at most. */
    double shorter = 0;
    for (int i = 0; i < 300; i++) {
        assert_true(level[i] - sim->star[i].level_irr <= 3);
        shorter += (level[i] - sim->star[i].level_irr) / 300.0;
    }
    assert_true(shorter < 0.1);
    cluster_free(&c);
    cluster_free(&now);
    nb6_free(sim);
}

/* ---- events, and what is refused */

static void the_observer_hears_of_it(void **state)
{
    struct cluster_record record = {0};
    struct nbc_error err = {0};
    (void)state;
    nb6_t *sim = start(A_PAIR, NB6_ENGINE_HOST, &record);
    cluster_evolve(sim, 0.0625);
    struct cluster now = cluster_now(sim);
    const int64_t name[2] = {7, 6};
    const double mass[2] = {0.08, 0.09};
    demand(nb6_set_masses(sim, 2, name, mass, NULL, NB6_MASS_SUDDEN, &err), &err);
    const struct nb6_event *event = &record.event[record.n_events - 1];
    assert_int_equal(event->kind, NB6_EVENT_MASSES_CHANGED);
    assert_true(event->t == 0.0625 && event->name == 0 && event->value[0] == 2 && event->value[1] == 1);
    assert_near(event->mass, -0.03, 1e-16);
    for (int k = 0; k < 3; k++) {
        assert_near(event->v[k], -0.02 * now.v[6][k] - 0.01 * now.v[5][k], 1e-16);
        assert_near(sim->run.book.transfers.stars.momentum[k], event->v[k], 0);
        assert_near(sim->run.book.transfers.stars.angular_momentum[k], event->x[k], 0);
    }
    cluster_evolve(sim, 0.25);
    const struct nb6_adjust_row *row = &record.row[record.n_rows - 1];
    assert_near(row->e_stars, event->energy, 0);
    assert_near(row->transfers.stars.mass, -0.03, 1e-16);
    assert_near(row->de_cluster, 0, 1e-9); /* as without the change; the energy booked is 0.06 of that of the cluster */
    cluster_free(&now);
    cluster_record_free(&record);
    nb6_free(sim);
}

/* A frozen triple whose outer star is stopped beside the inner pair is none any more at that very time: the run decides
 * before the next block. */
static void a_kick_ends_a_hierarchy_at_once(void **state)
{
    struct cluster_record record = {0};
    struct nbc_error err = {0};
    (void)state;
    nb6_t *sim = start(A_TRIPLE, NB6_ENGINE_HOST, &record);
    cluster_evolve(sim, 0.0703);
    struct cluster now = cluster_now(sim);
    double v[1][3];
    for (int k = 0; k < 3; k++) v[0][k] = 0.5 * (now.v[0][k] + now.v[1][k]);
    const double t = nb6_time_now(sim);
    const int64_t name = 3, events = record.n_events;
    assert_int_equal(sim->subsystems.count, 2);
    demand(nb6_set_masses(sim, 1, &name, &now.mass[2], (const double(*)[3])v, NB6_MASS_SUDDEN, &err), &err);
    cluster_evolve(sim, t + 1e-9);
    assert_int_equal(sim->subsystems.count, 1);
    assert_int_equal(record.event[events].kind, NB6_EVENT_MASSES_CHANGED);
    assert_true(record.n_events > events + 1 && record.event[events + 1].t == t);
    cluster_free(&now);
    cluster_record_free(&record);
    nb6_free(sim);
}

static void bad_requests_change_nothing(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    nb6_t *sim = start(A_PAIR, NB6_ENGINE_HOST, NULL), *empty = NULL;
    struct nb6_config config;
    cluster_evolve(sim, 0.07);
    const uint64_t bits = cluster_state(sim);
    const int64_t both[2] = {1, 2}, twice[2] = {7, 7}, nobody[2] = {7, 1000};
    const double mass[2] = {0.05, 0.05}, negative[2] = {0.05, -1}, infinite[2] = {INFINITY, 1}, none[STARS] = {0};
    const double v[2][3] = {{0, 0, 0}, {0, NAN, 0}};
    const int64_t all[STARS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
#define SET(...) nb6_set_masses(sim, __VA_ARGS__, &err)
    cluster_assert_refused(sim, SET(2, twice, mass, NULL, NB6_MASS_SLOW), NBC_BAD_INPUT, &err, "star 7 is given twice",
                           bits);
    cluster_assert_refused(sim, SET(2, nobody, mass, NULL, NB6_MASS_SLOW), NBC_BAD_INPUT, &err, "there is no star 1000",
                           bits);
    cluster_assert_refused(sim, SET(2, both, negative, NULL, NB6_MASS_SLOW), NBC_BAD_INPUT, &err,
                           "star 2: the new mass -1", bits);
    cluster_assert_refused(sim, SET(2, both, infinite, NULL, NB6_MASS_SLOW), NBC_NON_FINITE, &err,
                           "star 1: the new mass", bits);
    cluster_assert_refused(sim, SET(2, both, mass, v, NB6_MASS_SUDDEN), NBC_NON_FINITE, &err,
                           "star 2: the new velocity", bits);
    cluster_assert_refused(sim, SET(1, both, mass, v, NB6_MASS_SLOW), NBC_BAD_ARGUMENT, &err, "suddenly", bits);
    cluster_assert_refused(sim, SET(1, both, mass, NULL, (enum nb6_mass_change)7), NBC_BAD_ARGUMENT, &err, "not 7",
                           bits);
    cluster_assert_refused(sim, SET(2, both, none, NULL, NB6_MASS_SUDDEN), NBC_BAD_INPUT, &err,
                           "stars 1 and 2 are a pair", bits);
    cluster_assert_refused(sim, SET(STARS, all, none, NULL, NB6_MASS_SUDDEN), NBC_BAD_INPUT, &err, "would be zero",
                           bits);
    cluster_assert_refused(sim, SET(STARS + 1, all, none, NULL, NB6_MASS_SUDDEN), NBC_BAD_ARGUMENT, &err,
                           "11 stars of 10", bits);
    cluster_assert_refused(sim, SET(1, NULL, mass, NULL, NB6_MASS_SUDDEN), NBC_BAD_ARGUMENT, &err, "NULL", bits);
    cluster_assert_refused(sim, SET(0, NULL, NULL, NULL, NB6_MASS_SUDDEN), NBC_OK, &err, "", bits);
    nb6_free(sim);
    cluster_config(&config);
    demand(nb6_create(&empty, &config, &err), &err);
    assert_int_equal(nb6_set_masses(empty, 1, both, mass, NULL, NB6_MASS_SLOW, &err), NBC_BAD_STATE);
    assert_int_equal(nb6_set_masses(NULL, 1, both, mass, NULL, NB6_MASS_SLOW, &err), NBC_BAD_ARGUMENT);
    nb6_free(empty);
}

/* Names that a program gave to stars need not ascend. */
static void names_in_any_order(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    nb6_t *sim = start(ONE, NB6_ENGINE_HOST, NULL);
    const int64_t added[2] = {500, 400}, name[3] = {400, 7, 500};
    const double x[2][3] = {{3, 0, 0}, {0, 3, 0}}, v[2][3] = {{0}}, new_mass[2] = {M, M}, mass[3] = {0.04, 0.07, 0.05};
    demand(nb6_add_bodies(sim, 2, added, new_mass, x, v, &err), &err);
    demand(nb6_set_masses(sim, 3, name, mass, NULL, NB6_MASS_SUDDEN, &err), &err);
    assert_true(sim->body[6].mass == 0.07);
    for (int64_t i = STARS; i < sim->n; i++) assert_true(sim->body[i].mass == (sim->star[i].name == 400 ? 0.04 : 0.05));
    nb6_free(sim);
}

/* Before anything was evolved no energy is known, and nothing is booked; the run begins with the new masses. */
static void at_the_start(void **state)
{
    struct cluster_record record = {0};
    struct nbc_error err = {0};
    (void)state;
    nb6_t *sim = start(A_CHAIN, NB6_ENGINE_HOST, &record);
    const int64_t name[2] = {1, 6};
    const double mass[2] = {0.08, 0.09}, v[2][3] = {{0.1, 0.2, 0}, {0, 0, 0.1}};
    demand(nb6_set_masses(sim, 2, name, mass, v, NB6_MASS_SUDDEN, &err), &err);
    cluster_assert_consistent(sim);
    cluster_evolve(sim, 0.125);
    assert_near(record.row[0].e_stars, 0, 0);
    assert_near(record.row[record.n_rows - 1].de_cluster, 0, 1e-6);
    cluster_record_free(&record);
    nb6_free(sim);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_back_after_80_blocks),
        cmocka_unit_test(the_observer_hears_of_it),
        cmocka_unit_test(a_kick_ends_a_hierarchy_at_once),
        cmocka_unit_test(bad_requests_change_nothing),
        cmocka_unit_test(names_in_any_order),
        cmocka_unit_test(at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
