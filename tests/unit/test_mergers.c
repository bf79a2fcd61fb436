/* Collisions of stars, in pairs and in chains: mass and momentum stay, the energy is booked, the star is gone, and a
 * checkpoint knows of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nbody6/analysis/adjust_row.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/escape_scene.h"

enum { FIELD_STARS = 12 };

static void put(struct cluster *c, int64_t i, double mass, const double x[3], const double v[3])
{
    c->mass[i] = mass;
    memcpy(c->x[i], x, sizeof c->x[i]);
    memcpy(c->v[i], v, sizeof c->v[i]);
}

/* Two stars at the apocentre of a nearly radial orbit. */
static void put_radial_pair(struct cluster *c, double mass, double a, double e, const double x[3])
{
    double r = a * (1 + e), speed = sqrt(2 * mass * (1 - e) / r);
    for (int i = 0; i < 2; i++) {
        double side = i ? -0.5 : 0.5;
        put(c, i, mass, (double[3]){x[0] + side * r, x[1], x[2]}, (double[3]){0, side * speed, 0.1});
    }
}

static void configure(struct nb6_config *config, double radius, int systems, double dt_adjust)
{
    cluster_config(config);
    config->integration.eta_irr = config->integration.eta_reg = 0.005;
    config->binaries.wanted = 1;
    config->binaries.n = 1;
    config->pair.adjust = 0;
    config->pair.r_min = 0.05;
    config->pair.dt_min = 1e-3;
    config->pair.gamma_min = 1e-8;
    config->pair.r_star = radius;
    config->pair.systems = systems;
    config->run.dt_adjust = config->run.dt_output = dt_adjust;
}

static nb6_t *start(const struct cluster *c, double radius, int systems, double dt_adjust,
                    struct cluster_record *record)
{
    struct nb6_config config;
    configure(&config, radius, systems, dt_adjust);
    return cluster_start(&config, c, record);
}

static void momentum(const struct cluster *c, double p[3], double *mass)
{
    *mass = 0;
    memset(p, 0, 3 * sizeof *p);
    for (int64_t i = 0; i < c->n; i++) {
        *mass += c->mass[i];
        for (int k = 0; k < 3; k++) p[k] += c->mass[i] * c->v[i][k];
    }
}

static int64_t find_merger(const struct cluster_record *record)
{
    for (int64_t k = 0; k < record->n_events; k++)
        if (record->event[k].kind == NB6_EVENT_MERGER) return k;
    return -1;
}

/* From the start to two adjusts after a merger. */
static void run_to_merger(struct cluster *c, double radius, int in_a_chain)
{
    struct cluster_record record;
    nb6_t *sim = start(c, radius, 1, 0.0625, &record);
    const int64_t n = sim->n;
    double before[3], after[3], mass[2], end = 0;
    momentum(c, before, &mass[0]);
    for (int k = 1; k <= 256 && end == 0; k++) {
        cluster_evolve(sim, k / 512.0);
        if (find_merger(&record) < 0) continue;
        cluster_assert_consistent(sim);
        struct cluster now = cluster_now(sim); /* before the adjust: the star is there, without mass */
        assert_int_equal(now.n, sim->n);
        momentum(&now, after, &mass[1]);
        assert_true(fabs(mass[1] / mass[0] - 1) < 1e-14);
        cluster_free(&now);
        end = nb6_time_now(sim) + 0.125;
    }
    assert_true(end > 0);
    const struct nb6_event merger = record.event[find_merger(&record)];
    assert_int_equal(sim->run.counters.chains_formed > 0, in_a_chain);
    assert_true(merger.mass > merger.value[1] && merger.value[2] < 2.1 * radius);
    assert_true(fabs(merger.value[3] / (cbrt(2) * radius) - 1) < 1e-12);
    cluster_evolve(sim, end);
    assert_int_equal(sim->n, n - (int64_t)sim->run.counters.mergers);
    assert_int_equal(sim->run.counters.escapers, 0);
    cluster_assert_consistent(sim);
    struct cluster now = cluster_now(sim);
    momentum(&now, after, &mass[1]);
    const struct nb6_adjust_row *last = &record.row[record.n_rows - 1];
    print_message("%s: stars %lld and %lld at t = %.4f, r = %.2e, energy %.4f; %d mergers; dE/E %.2e\n",
                  in_a_chain ? "in a chain" : "in a pair", (long long)merger.name, (long long)merger.value[0], merger.t,
                  merger.value[2], merger.energy, (int)sim->run.counters.mergers, last->de_rel);
    assert_true(fabs(mass[1] / mass[0] - 1) < 1e-14);
    /* Hermite conserves momentum to its truncation error; a lost star would cost 0.1. */
    for (int k = 0; k < 3; k++) assert_true(fabs(after[k] - before[k]) < 1e-6);
    assert_true(fabs(merger.energy) > 1e-3); /* or the next line would show nothing */
    /* Not booked is the tide of the field on the two at their meeting: m (r/d)^2 of some 0.1 in either unit. */
    assert_true(fabs(last->de_rel) < 1e-5);
    nb6_free(sim);
    cluster_free(&now);
    cluster_record_free(&record);
}

static void in_a_pair(void **state)
{
    (void)state;
    struct cluster c = cluster_with_field(2, FIELD_STARS, 3);
    put_radial_pair(&c, c.mass[2], 0.01, 0.99, (double[3]){0.3, -0.2, 0.15});
    run_to_merger(&c, 1e-4, 0);
    cluster_free(&c);
}

/* The force on a third star in an orbit around the two loses their quadrupole when they are one. Did it keep its
 * polynomials, the energy of the cluster would be wrong by 2.7e-6 at once; it is 1.7e-7 after a dozen outer orbits. */
static void in_a_triple(void **state)
{
    (void)state;
    struct cluster c = cluster_with_field(3, FIELD_STARS, 3);
    const double m = c.mass[3], x[3] = {0.3, -0.2, 0.15}, r = 0.004, speed = sqrt(3 * m / r);
    put_radial_pair(&c, m, 0.001, 0.9, x);
    put(&c, 2, m, (double[3]){x[0], x[1] + r, x[2]}, (double[3]){0, 0, 0.1 + speed});
    struct cluster_record record;
    nb6_t *sim = start(&c, 2e-4, 0, 0.0625, &record);
    cluster_evolve(sim, 0.0625);
    const struct nb6_adjust_row *last = &record.row[record.n_rows - 1];
    print_message("in a triple: %d mergers, dE/E %.2e\n", (int)sim->run.counters.mergers, last->de_cluster);
    assert_int_equal(sim->run.counters.mergers, 1);
    assert_true(fabs(last->de_cluster) < 5e-7);
    cluster_assert_consistent(sim);
    nb6_free(sim);
    cluster_free(&c);
    cluster_record_free(&record);
}

static struct cluster with_chain(void)
{
    struct cluster c = cluster_with_field(3, FIELD_STARS, 3);
    put_radial_pair(&c, c.mass[3], 0.01, 0.1, (double[3]){0.3, -0.2, 0.15});
    put(&c, 2, c.mass[3], (double[3]){0.301, -0.15, 0.15}, (double[3]){0, -1, 0.1});
    return c;
}

static void in_a_chain(void **state)
{
    (void)state;
    struct cluster c = with_chain();
    run_to_merger(&c, 3e-3, 1);
    cluster_free(&c);
}

/* The next time that an adjust may have. */
static double just_after(double t)
{
    return nb6_time_to_double((nb6_time)ceil(ldexp(t, NB6_TIME_BITS)));
}

/* The first merger of a run, which ends with it. */
static struct nb6_event run_until_merger(nb6_t *sim, struct cluster_record *record)
{
    for (int k = 1; k <= 256 && find_merger(record) < 0; k++) cluster_evolve(sim, k / 512.0);
    assert_true(find_merger(record) >= 0);
    const struct nb6_event merger = record->event[find_merger(record)];
    nb6_free(sim);
    cluster_record_free(record);
    return merger;
}

/* An adjust after a merger in a chain and before the end of the block that commits it. */
static void before_the_run_knows(void **state)
{
    (void)state;
    struct cluster c = with_chain();
    struct cluster_record record;
    nb6_t *sim = start(&c, 3e-3, 1, 0.0625, &record);
    const struct nb6_event merger = run_until_merger(sim, &record);
    const double t = just_after(merger.t);
    sim = start(&c, 3e-3, 1, t, &record);
    cluster_evolve(sim, t);
    assert_int_equal(record.n_rows, 2);
    assert_true(find_merger(&record) < 0);
    cluster_evolve(sim, 2 * t);
    assert_int_equal(record.n_rows, 3);
    const struct nb6_adjust_row *row = record.row;
    print_message("before its block: e_merged %.6f, dE/E %.1e; after it %.1e\n", row[1].e_merged, row[1].de_cluster,
                  row[2].de_cluster);
    assert_true(fabs(row[1].e_merged - merger.energy) < 1e-6 * fabs(merger.energy));
    /* as in a run that knows of it */
    for (int k = 1; k < 3; k++) assert_true(fabs(row[k].de_rel) < 1e-5 && fabs(row[k].de_rel_interval) < 1e-5);
    nb6_free(sim);
    cluster_record_free(&record);
    cluster_free(&c);
}

/* A chain in which stars merge, far out and on its way to leave, after a binary that comes along and perturbs it. */
static struct cluster leaving_chain(void)
{
    static const double x[3] = {36, 48, 0}, v[3] = {3, 4, 0}, apart[3] = {0.3, 0.2, 0};
    struct cluster c = cluster_with_field(5, FIELD_STARS, 3), three = with_chain();
    put_radial_pair(&c, c.mass[5], 0.01, 0.1, apart);
    for (int i = 0; i < 3; i++) put(&c, 2 + i, three.mass[i], three.x[i], three.v[i]);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++) {
            c.x[i][k] += x[k] + (i < 2 ? three.x[0][k] : 0);
            c.v[i][k] += v[k];
        }
    cluster_free(&three);
    return c;
}

static nb6_t *start_leaving(const struct cluster *c, double dt_adjust, enum nb6_escape_kind escape,
                            struct cluster_record *record)
{
    struct nb6_config config;
    configure(&config, 3e-3, 1, dt_adjust);
    config.binaries.n = 2;
    config.integration.r_nb_init = 1; /* the binary alone is a neighbour of the chain */
    config.escape = escape;
    return cluster_start(&config, c, record);
}

/* The same while the chain is among those that escape: it leaves when the run knows of the merger. The binary leaves
 * before, so that the chain loses a perturber, and its stars get other numbers. */
static void escape_before_the_run_knows(void **state)
{
    (void)state;
    struct cluster c = leaving_chain();
    struct cluster_record record;
    nb6_t *sim = start_leaving(&c, 0.0625, NB6_ESCAPE_KEEP, &record);
    const struct nb6_event merger = run_until_merger(sim, &record);
    const double t = just_after(merger.t);
    sim = start_leaving(&c, t, NB6_ESCAPE_CUT_OFF, &record);
    cluster_evolve(sim, 0.75 * t);
    assert_int_equal(sim->subsystems.n_chain, 1);
    assert_int_equal(sim->subsystems.pert[sim->subsystems.chain[0].slot].n, 1);
    cluster_evolve(sim, t);
    assert_true(find_merger(&record) < 0);
    assert_int_equal(sim->n, 3 + FIELD_STARS);
    assert_int_equal(sim->subsystems.chain[0].n_merged, 1);
    nb6_t *resumed = cluster_through_checkpoint(sim);
    for (int k = 2; k < 5; k++) cluster_evolve(sim, k * t);
    cluster_evolve(resumed, 4 * t);
    cluster_assert_same(sim, resumed);
    cluster_assert_consistent(sim);
    assert_int_equal(sim->n, FIELD_STARS);
    assert_int_equal(sim->run.counters.escapers + sim->run.counters.mergers, 5);
    const struct nb6_event *told = &record.event[find_merger(&record)];
    assert_true(told->name == merger.name && told->gone == merger.gone && merger.value[0] == (double)merger.gone);
    assert_true(fabs(record.row[1].e_merged - merger.energy) < 1e-6 * fabs(merger.energy));
    for (int64_t k = 1; k < record.n_rows; k++) {
        const struct nb6_adjust_row *row = &record.row[k];
        print_message("on its way out: t = %.6f, n = %lld, e_merged %.6f, dE/E %.1e\n", row->t, (long long)row->n,
                      row->e_merged, row->de_rel);
        assert_true(fabs(row->de_rel) < 1e-5); /* as if it stayed, see above */
    }
    nb6_free(sim);
    nb6_free(resumed);
    cluster_record_free(&record);
    cluster_free(&c);
}

/* A radius below every pericentre changes no bit. */
static void points_and_small_stars(void **state)
{
    (void)state;
    struct cluster c = cluster_with_field(2, FIELD_STARS, 3);
    put_radial_pair(&c, c.mass[2], 0.01, 0.5, (double[3]){0.3, -0.2, 0.15});
    nb6_t *points = start(&c, 0, 1, 0.0625, NULL), *stars = start(&c, 1e-6, 1, 0.0625, NULL);
    cluster_evolve(points, 0.25);
    cluster_evolve(stars, 0.25);
    struct cluster a = cluster_now(points), b = cluster_now(stars);
    assert_memory_equal(a.x, b.x, (size_t)a.n * sizeof *a.x);
    assert_int_equal(stars->run.counters.mergers, 0);
    nb6_free(points);
    nb6_free(stars);
    cluster_free(&a);
    cluster_free(&b);
    cluster_free(&c);
}

/* Two blocks of the centre of mass are enough, though no step of the motion ends in them: one in which perturbers are
 * synchronised, one in which they are at the common time. */
static void nobody_waits_with(enum nb6_engine_choice engine)
{
    const double APART = 1.0 / 1024; /* looks of this test */
    struct scene s = make_scene((1 << ESCAPE_KINDS) - 1);
    nb6_t *sim = start_scene(&s, 1, NB6_ESCAPE_KEEP, NULL);
    sim->engine = sim->run.config.run.engine = engine;
    const int64_t slot = nb6_owner_slot(&sim->star[s.star[6][0]]);
    double t = 0, met = -1, longest = 0;
    while (sim->run.counters.mergers == 0 && t < 0.25) {
        if (met < 0 && nb6_pair_has_met(sim, slot)) met = t;
        if (met >= 0) longest = fmax(longest, nb6_step_length(sim->star[nb6_centre(sim, slot)].level_irr));
        cluster_evolve(sim, t += APART);
    }
    print_message("met at %.4f, one star at %.4f; longest step of the centre of mass %.4f\n", met, t, longest);
    assert_true(met >= 0 && sim->run.counters.mergers == 1);
    assert_true(t - met <= 2 * longest + 2 * APART);
    nb6_free(sim);
    cluster_free(&s.c);
}

static void who_has_met_does_not_wait(void **state)
{
    (void)state;
    nobody_waits_with(NB6_ENGINE_HOST);
    nobody_waits_with(NB6_ENGINE_EMULATED);
}

/* Stars that have met become one also if others are added meanwhile, and all begin anew. */
static void who_has_met_while_stars_come(void **state)
{
    (void)state;
    static const double mass = 0.01, x[1][3] = {{-40, 3, 5}}, v[1][3] = {{0, 0, 0}};
    struct nbc_error err = {0};
    struct scene s = make_scene((1 << ESCAPE_KINDS) - 1);
    nb6_t *sim = start_scene(&s, 1, NB6_ESCAPE_KEEP, NULL);
    const int64_t star = s.star[6][0];
    double t = 0;
    while (!nb6_pair_has_met(sim, nb6_owner_slot(&sim->star[star])) && t < 0.25) cluster_evolve(sim, t += 1.0 / 1024);
    assert_int_equal(sim->run.counters.mergers, 0);
    if (nb6_add_bodies(sim, 1, NULL, &mass, x, v, &err)) fail_msg("%s", err.text);
    assert_true(nb6_pair_has_met(sim, nb6_owner_slot(&sim->star[star])));
    nb6_free(sim);
    cluster_free(&s.c);
}

/* Between the merger and the adjust that takes the star out. */
static void across_a_checkpoint(void **state)
{
    (void)state;
    struct cluster c = cluster_with_field(2, FIELD_STARS, 3);
    put_radial_pair(&c, c.mass[2], 0.01, 0.99, (double[3]){0.3, -0.2, 0.15});
    nb6_t *whole = start(&c, 1e-4, 1, 0.0625, NULL);
    double t = 0;
    while (whole->run.counters.mergers == 0 && t < 0.5) cluster_evolve(whole, t += 1.0 / 512);
    assert_int_equal(whole->run.counters.mergers, 1);
    nb6_t *resumed = cluster_through_checkpoint(whole);
    cluster_evolve(whole, t + 0.25);
    cluster_evolve(resumed, t + 0.25);
    cluster_assert_same(whole, resumed);
    nb6_free(whole);
    nb6_free(resumed);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_pair),
        cmocka_unit_test(in_a_triple),
        cmocka_unit_test(in_a_chain),
        cmocka_unit_test(points_and_small_stars),
        cmocka_unit_test(who_has_met_does_not_wait),
        cmocka_unit_test(who_has_met_while_stars_come),
        cmocka_unit_test(across_a_checkpoint),
        cmocka_unit_test(before_the_run_knows),
        cmocka_unit_test(escape_before_the_run_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
