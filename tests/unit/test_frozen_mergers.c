/* Collisions of stars where pairs are frozen: two stars become one, never a star and a centre of mass, and no pair is
 * frozen, or stays so, if its stars touch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/fewbody/hierarchies/hierarchies.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/orbit_of_two.h"

enum { FIELD_STARS = 12, MOST = 4 };
static const double INNER = 1e-3, BACKWARDS = 3.8;
static const enum nb6_engine_choice ENGINES[] = {NB6_ENGINE_HOST, NB6_ENGINE_EMULATED};

/* A triple of stars 0, 1 and 2, or a quadruple of 0, 1 and 2, 3, on orbits that are stable for points. */
struct system {
    int companions; /* 1, 2 */
    double e_in, outer, e_out;
    double light; /* mass of the companion, of a triple, over that of the others */
    double tilt;  /* of the outer orbit: pairs inside have 0.7 and 1.1 */
};

static struct cluster make(const struct system *s)
{
    struct cluster c = cluster_with_field(2 + s->companions, FIELD_STARS, 3);
    const double m = c.mass[2 + s->companions], x[3] = {0.3, -0.2, 0.15}, v[3] = {0, 0, 0.1};
    const double third = s->companions == 2 ? 2 * m : s->light * m;
    double y[2][3], w[2][3];
    orbit_of_two(2 * m, third, s->outer, s->e_out, s->tilt, x, v, y, w);
    c.mass[2] = third;
    memcpy(c.x[2], y[1], sizeof c.x[2]);
    memcpy(c.v[2], w[1], sizeof c.v[2]);
    for (int part = 0; part < s->companions; part++) {
        const int first = 2 * part;
        orbit_of_two(m, m, INNER, s->e_in, part ? 1.1 : 0.7, y[part], w[part], &c.x[first], &c.v[first]);
        c.mass[first] = c.mass[first + 1] = m;
    }
    return c;
}

static void set_radii(nb6_t *sim, int n, const double *radius)
{
    for (int i = 0; i < n; i++) sim->star[i].radius = radius[i];
    sim->edits++;
}

static nb6_t *start(const struct system *s, enum nb6_engine_choice engine, const double radius[MOST],
                    struct cluster_record *record)
{
    struct nb6_config config;
    struct cluster c = make(s);
    cluster_config(&config);
    config.integration.eta_irr = config.integration.eta_reg = 0.005;
    config.binaries.wanted = 1;
    config.binaries.n = s->companions;
    config.pair.adjust = 0;
    config.pair.r_min = 0.02;
    config.pair.dt_min = 1e-3;
    config.pair.gamma_min = 1e-8;
    config.pair.r_star = 1e-9; /* stars merge; those of the system have radii of their own */
    config.pair.slow_down = 0; /* phases count */
    config.run.dt_adjust = config.run.dt_output = 1.0 / 64;
    nb6_t *sim = cluster_start(&config, &c, record);
    sim->engine = sim->run.config.run.engine = engine;
    set_radii(sim, 2 + s->companions, radius);
    cluster_free(&c);
    return sim;
}

static int64_t frozen_now(const nb6_t *sim)
{
    int64_t n = 0;
    for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++)
        if (nb6_slot_is_used(&sim->subsystems, slot)) n += nb6_is_hierarchy(sim, slot) != 0;
    return n;
}

static void finish(nb6_t *sim, struct cluster_record *record)
{
    nb6_free(sim);
    cluster_record_free(record);
}

/* The k-th merger. */
static const struct nb6_event *merger(const struct cluster_record *record, int k)
{
    for (int64_t at = 0; at < record->n_events; at++)
        if (record->event[at].kind == NB6_EVENT_MERGER && k-- == 0) return &record->event[at];
    fail_msg("there was no such merger");
    return NULL;
}

/* Every merger is of two of the first n stars, and the stars that are left have the mass of all. */
static void check_mergers(nb6_t *sim, const struct cluster_record *record, int n)
{
    double mass = 0, first = 0;
    for (int64_t at = 0; at < record->n_events; at++) {
        const struct nb6_event *e = &record->event[at];
        if (e->kind != NB6_EVENT_MERGER) continue;
        assert_in_range(e->name, 1, n);
        assert_in_range((int64_t)e->value[0], 1, n);
        assert_true(e->name != (int64_t)e->value[0] && e->mass > e->value[1] && e->value[1] > 0);
    }
    const int64_t before = n + FIELD_STARS;
    cluster_assert_consistent(sim);
    assert_int_equal(sim->n, before - (int64_t)sim->run.counters.mergers);
    struct cluster now = cluster_now(sim);
    for (int64_t i = 0; i < now.n; i++) {
        mass += now.mass[i];
        assert_true(now.mass[i] > 0);
    }
    first = sim->run.book.mass_start;
    assert_true(fabs(mass / first - 1) < 1e-14); /* rounding of a sum of 16 */
    cluster_free(&now);
}

/* Runs of one system with each engine have the same collisions. The tide of the field on the merging stars is not
 * booked: m (r/d)^2 of 0.1 units or less with r = 1e-2, d = 0.5: 1e-5 of the energy. */
static void same_mergers(const struct system *s, const double radius[MOST], int n_mergers, double t)
{
    struct cluster_record record[2];
    for (int k = 0; k < 2; k++) {
        nb6_t *sim = start(s, ENGINES[k], radius, &record[k]);
        cluster_evolve(sim, t);
        assert_int_equal(sim->run.counters.mergers, n_mergers);
        check_mergers(sim, &record[k], 2 + s->companions);
        const struct nb6_adjust_row *row = &record[k].row[record[k].n_rows - 1];
        const struct nb6_event *e = merger(&record[k], 0);
        print_message("engine %d: stars %d and %d at t = %.6f, r = %.2e, energy %.6g; dE/E %.1e\n", k, (int)e->name,
                      (int)e->value[0], e->t, e->value[2], e->energy, row->de_rel);
        assert_true(fabs(row->de_rel) < 1e-5);
        nb6_free(sim);
    }
    for (int k = 0; k < n_mergers; k++) {
        const struct nb6_event *a = merger(&record[0], k), *b = merger(&record[1], k);
        assert_true(a->name == b->name && a->value[0] == b->value[0]);
        /* sums of forces in another order, which few inner orbits hardly raise */
        assert_true(fabs(a->energy / b->energy - 1) < 1e-6);
    }
    for (int k = 0; k < 2; k++) cluster_record_free(&record[k]);
}

/* A companion so large that it touches a star of the pair at its pericentre, where it does not reach the centre of
 * mass; and one that would. A heavy one, and a light one, whose tide alone makes no chain. */
static void a_star_and_a_pair(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const struct system s = {1, 0.1, 0.008, 0.2, k == 2 ? 1e-3 : 1, 0.3};
        const double radius[MOST] = {1e-5, 1e-5, k == 1 ? 7.5e-3 : 6.2e-3};
        same_mergers(&s, radius, 2, 0.0625);
    }
}

static void stars_of_a_pair(void **state)
{
    (void)state;
    const struct system triple = {1, 0.95, 0.012, 0.2, 1, 0.3}, quadruple = {2, 0.9, 0.02, 0.3, 1, 0.3};
    same_mergers(&triple, (const double[MOST]){3e-5, 4e-5, 1e-5}, 1, 0.03125);
    same_mergers(&quadruple, (const double[MOST]){8e-5, 8e-5, 1e-6, 1e-6}, 1, 0.03125);
    same_mergers(&quadruple, (const double[MOST]){8e-5, 8e-5, 8e-5, 7e-5}, 2, 0.03125);
}

/* Two stars of a quadruple are one, 3.15e-3 large, which does not reach the centre of the other pair at the pericentre,
 * 3.6e-3, but its stars, which would not touch one as small as before. */
static void what_has_merged(void **state)
{
    (void)state;
    const struct system s = {2, 0.1, 0.0045, 0.2, 1, BACKWARDS};
    same_mergers(&s, (const double[MOST]){2.5e-3, 2.5e-3, 1e-6, 1e-6}, 3, 0.0625);
}

/* Frozen while its stars are small, until radii make them touch: the orbits are what they were, and the next block of
 * the outer pair finds it. */
static void radii_that_grow(const struct system *s, const double radius[MOST], int n_mergers)
{
    static const double SMALL[MOST] = {1e-6, 1e-6, 1e-6, 1e-6};
    for (int k = 0; k < 2; k++) {
        struct cluster_record record;
        nb6_t *sim = start(s, ENGINES[k], SMALL, &record);
        double t = 0;
        while (frozen_now(sim) == 0 && t < 0.25) cluster_evolve(sim, t += 1.0 / 512);
        assert_int_equal(frozen_now(sim), 1);
        set_radii(sim, 2 + s->companions, radius);
        cluster_evolve(sim, t + 1.0 / 64);
        assert_int_equal(frozen_now(sim), 0);
        int64_t ended = 0;
        for (int64_t at = 0; at < record.n_events; at++)
            ended += record.event[at].kind == NB6_EVENT_PAIR_ENDED && record.event[at].pair.reason == NB6_PAIR_UNSTABLE;
        assert_int_equal(ended, 1);
        cluster_evolve(sim, t + 1.0 / 16);
        print_message("radii that grow: %d mergers\n", (int)sim->run.counters.mergers);
        assert_int_equal(sim->run.counters.mergers, n_mergers);
        check_mergers(sim, &record, 2 + s->companions);
        finish(sim, &record);
    }
}

static void whose_radii_grow(void **state)
{
    (void)state;
    const struct system triple = {1, 0.1, 0.008, 0.2, 1, 0.3}, eccentric = {1, 0.9, 0.012, 0.2, 1, 0.3},
                        quadruple = {2, 0, 0.0045, 0.2, 1, BACKWARDS};
    radii_that_grow(&triple, (const double[MOST]){1e-6, 1e-6, 6.2e-3}, 2);
    radii_that_grow(&eccentric, (const double[MOST]){6e-5, 6e-5, 1e-6}, 1);
    /* One star of each pair: apocentres and radii are more than the pericentre, 3.6e-3, which backwards is stable. */
    radii_that_grow(&quadruple, (const double[MOST]){8.5e-4, 1e-6, 8.5e-4, 1e-6}, 0);
}

/* The measure itself: the pericentre over apocentres and radii. */
static void what_is_stable(void **state)
{
    (void)state;
    const struct system s = {2, 0.1, 0.0045, 0.2, 1, BACKWARDS};
    struct cluster_record record;
    static const double SMALL[MOST] = {1e-9, 1e-9, 1e-9, 1e-9};
    nb6_t *sim = start(&s, NB6_ENGINE_HOST, SMALL, &record);
    const int32_t i = nb6_centre(sim, nb6_owner_slot(&sim->star[0])),
                  j = nb6_centre(sim, nb6_owner_slot(&sim->star[2]));
    double x[3], v[3], a;
    for (int k = 0; k < 3; k++) {
        x[k] = sim->body[j].x0[k] - sim->body[i].x0[k];
        v[k] = sim->body[j].v0[k] - sim->body[i].v0[k];
    }
    const double pericentre = 0.0045 * 0.8, apocentre = INNER * 1.1;
    const double points = nb6_orbit_stability(sim, i, j, x, v, &a);
    set_radii(sim, 4, (const double[]){8e-4, 1e-5, 1e-5, 7e-4});
    const double touching = nb6_orbit_stability(sim, i, j, x, v, &a);
    assert_true(points > 1 && fabs(touching - pericentre / (2 * apocentre + 8e-4 + 7e-4)) < 1e-9);
    set_radii(sim, 4, (const double[]){5e-4, 4.1e-4, 1e-9, 1e-9}); /* more than the pericentre, 9e-4 */
    assert_true(fabs(nb6_orbit_stability(sim, i, j, x, v, &a) - 9e-4 / 9.1e-4) < 1e-9);
    set_radii(sim, 4, (const double[]){0, 0, 0, 0});
    assert_true(nb6_orbit_stability(sim, i, j, x, v, &a) == points);
    finish(sim, &record);
}

static void assert_refused(nb6_t *sim, int32_t a, int32_t b, const char *why)
{
    static const double nowhere[3];
    const struct nb6_merger merger = {.star = {a, b}, .mass = 1, .radius = 1};
    struct nbc_error err = {0};
    const double before = sim->body[0].mass;
    assert_int_equal(nb6_merge_stars(sim, &merger, nowhere, nowhere, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, why));
    assert_true(sim->body[0].mass == before && sim->run.counters.mergers == 0);
}

static void who_is_no_star(void **state)
{
    (void)state;
    const struct system s = {1, 0.1, 0.012, 0.2, 1, 0.3};
    struct cluster_record record;
    nb6_t *sim = start(&s, NB6_ENGINE_HOST, (const double[MOST]){1e-6, 1e-6, 1e-6}, &record);
    const int32_t centre = nb6_centre(sim, nb6_owner_slot(&sim->star[0]));
    assert_refused(sim, 0, centre, "is no star");
    assert_refused(sim, centre, 0, "is no star");
    assert_refused(sim, -1, 0, "is no star");
    assert_refused(sim, 0, INT32_MAX, "is no star");
    assert_refused(sim, 0, 0, "with itself");
    nb6_set_merged(&sim->star[5], 4);
    assert_refused(sim, 0, 5, "has merged");
    finish(sim, &record);
}

/* A checkpoint between the block that breaks a hierarchy up and its mergers. */
static void across_a_checkpoint(void **state)
{
    (void)state;
    const struct system s = {1, 0.1, 0.008, 0.2, 1, 0.3};
    struct cluster_record record;
    nb6_t *sim = start(&s, NB6_ENGINE_HOST, (const double[MOST]){1e-5, 1e-5, 6.2e-3}, &record);
    double t = 0;
    while (sim->subsystems.n_chain == 0 && t < 0.0625) cluster_evolve(sim, t += 1.0 / 4096);
    assert_true(sim->subsystems.n_chain > 0 && sim->run.counters.mergers == 0);
    nb6_t *resumed = cluster_through_checkpoint(sim);
    cluster_evolve(sim, t + 0.0625);
    cluster_evolve(resumed, t + 0.0625);
    assert_int_equal(sim->run.counters.mergers, 2);
    cluster_assert_same(sim, resumed);
    nb6_free(resumed);
    finish(sim, &record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_star_and_a_pair),   cmocka_unit_test(stars_of_a_pair), cmocka_unit_test(what_has_merged),
        cmocka_unit_test(whose_radii_grow),    cmocka_unit_test(what_is_stable),  cmocka_unit_test(who_is_no_star),
        cmocka_unit_test(across_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
