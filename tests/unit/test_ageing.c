/* Stars that age in a run: supernovae with kicks of single stars and of members of pairs, chains and frozen triples.
 * Energies close with their channel; bits do not depend on threads, engines' checkpoints or calls; a change that fails
 * leaves the state before it; what is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/input/properties.h"
#include "nbody6/run/age_stars.h"
#include "nbody6/run/ageing_begin.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/run/overflow.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "stellar/stellar.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/escape_scene.h"
#include "tests/support/faults.h"

static const double MASS = 20; /* Msun, of each star of a scene */

static void demand(int status, const struct nbc_error *err)
{
    if (status) fail_msg("%s", err->text);
}

/* Age at which the core collapses. */
static double age_of_supernova(const struct stellar_model *model)
{
    struct stellar_star star;
    struct stellar_view view;
    struct nbc_error err = {0};
    demand(stellar_birth(model, 1, MASS, 0, &star, &err), &err);
    for (double t = 0;; t = view.ask_again_myr) {
        struct stellar_events events;
        demand(stellar_evolve(model, &star, t, &view, &events, &err), &err);
        for (int k = 0; k < events.n; k++)
            if (events.event[k].kind == STELLAR_SUPERNOVA) return events.event[k].time_myr;
    }
}

/* Stars of a scene begin to age. One of each system and two single ones collapse at about the times given, N-body
 * units; all others are at zero age. */
static void begin(nb6_t *sim, const struct scene *scene, const double *t)
{
    struct nbc_error err = {0};
    struct nb6_config *config = &sim->run.config;
    struct stellar_model *model;
    struct stellar_options options;
    double *birth;
    config->pair.r_star = 0;
    config->stellar = (struct nb6_stellar_config){.evolve = 1, .level = 2, .white_dwarf_kicks = 2, .z = 0.01};
    demand(nb6_input_set(config, "DISP", "20", &err), &err); /* with 265 km/s the kicks hide all other energies */
    sim->run.units = nb6_units_from(1, MASS, 60);            /* masses are 1/60 */
    demand(stellar_options_level('B', &options, &err), &err);
    demand(stellar_create(0.01, &options, &model, &err), &err);
    const double age = age_of_supernova(model);
    stellar_free(model);
    int64_t *name = nbc_alloc((size_t)sim->n, sizeof *name);
    for (int64_t i = 0; i < sim->n; i++) {
        name[i] = sim->star[i].name;
        sim->star[i].radius = 0;
    }
    demand(nb6_properties_create(sim->n, name, &sim->run.properties, &err), &err);
    nbc_free(name);
    demand(nb6_properties_add(sim->run.properties, &(struct nb6_property){"BirthEpoch", "Myr", NULL}, &birth, &err),
           &err);
    for (int k = 0; k < 7; k++)
        birth[k < 5 ? scene->star[k][0] : sim->n - 1 - (k - 5)] = t[k] * sim->run.units.time_myr - age;
    demand(nb6_ageing_begin(sim, &err), &err);
}

static nb6_t *start(struct scene *scene, const double *t, struct cluster_record *record)
{
    *scene = make_scene(PAIR | PERTURBED | CHAIN | TRIPLE | QUADRUPLE | BINARY);
    nb6_t *sim = start_scene(scene, 0, NB6_ESCAPE_KEEP, record);
    begin(sim, scene, t);
    return sim;
}

/* ---- energies and words */

static int64_t count(const struct cluster_record *record, enum nb6_event_kind kind)
{
    int64_t n = 0;
    for (int64_t k = 0; k < record->n_events; k++) n += record->event[k].kind == kind;
    return n;
}

static double mass_of(nb6_t *sim)
{
    double sum = 0;
    for (int64_t i = 0; i < sim->n; i++) sum += sim->body[i].mass;
    return sum;
}

/* All in three units, in any phase of the systems: some have ended by then. */
static void energy_closes(void **state)
{
    static const double t[7] = {0.02, 0.04, 0.05, 0.09, 0.1, 0.02, 0.11};
    struct scene scene;
    struct cluster_record record = {0};
    (void)state;
    nb6_t *sim = start(&scene, t, &record);
    cluster_evolve(sim, 0.03);
    assert_true(sim->subsystems.n_chain == 1 && sim->run.counters.hierarchies_formed > 0);
    cluster_evolve(sim, 0.25);
    cluster_assert_consistent(sim);
    assert_int_equal(count(&record, NB6_EVENT_SUPERNOVA), 7);
    assert_int_equal(count(&record, NB6_EVENT_REMNANT), 7);
    assert_int_equal(count(&record, NB6_EVENT_MASSES_CHANGED), 0);
    assert_int_equal(sim->run.counters.supernovae, 7);
    assert_true(sim->run.book.transfers.stars.mass < 0);
    /* Only this is lost unbooked, before the first energy, at t = 0: the winds of the stars so far. */
    const struct nb6_adjust_row *last = &record.row[record.n_rows - 1];
    assert_true(fabs(last->transfers.stars.mass - (mass_of(sim) - record.row[0].energy.mass)) < 1e-14);
    /* The integration has 1e-7 of the energy in this scene without changes, and kicks make the energy ten times as
     * large; a change that is not booked as it is made is some 1e-2. */
    assert_true(fabs(last->e_stars) > 1e-3);
    if (!(fabs(last->de_rel) < 1e-5)) fail_msg("energy not booked: %g of %g", last->de_rel, last->energy.total);
    cluster_record_free(&record);
    cluster_free(&scene.c);
    nb6_free(sim);
}

/* ---- bits */

/* @param[in] resumed  bits: at which stops the run goes on from a checkpoint */
static uint64_t run(int threads, enum nb6_engine_choice engine, int resumed)
{
    static const double t[7] = {0.02, 0.04, 0.05, 0.09, 0.1, 0.02, 0.11};
    static const double stop[] = {0.03125, 0.05, 0.09375, 0.125};
    struct scene scene;
    omp_set_num_threads(threads);
    nb6_t *sim = start(&scene, t, NULL);
    sim->engine = engine;
    for (int k = 0; k < 4; k++) {
        cluster_evolve(sim, stop[k]);
        cluster_assert_consistent(sim);
        cluster_check_sources(sim);
        if (!(resumed & 1 << k)) continue;
        nb6_t *again = cluster_through_checkpoint(sim);
        cluster_assert_same(sim, again);
        nb6_free(sim);
        sim = again;
    }
    cluster_evolve(sim, 0.15);
    assert_int_equal(sim->run.counters.supernovae, 7);
    cluster_free(&scene.c);
    return cluster_state_at_end(sim);
}

static void same_bits(void **state)
{
    static const enum nb6_engine_choice engines[] = {NB6_ENGINE_HOST, NB6_ENGINE_EMULATED, NB6_ENGINE_DEVICE};
    char why[NB6_ENGINE_WHY];
    const int n = nb6_engine_missing("device", why) ? 2 : 3;
    (void)state;
    for (int e = 0; e < n; e++) {
        const uint64_t bits = run(1, engines[e], 0);
        assert_true(run(2, engines[e], 5) == bits);
        assert_true(run(3, engines[e], 10) == bits);
        assert_true(run(4, engines[e], 0) == bits);
    }
}

/* ---- collisions */

enum { FEW = 16 };

/* Stars of 20 Msun, of which the first two are at the apocentre of a nearly radial orbit, one of them a black hole. */
static struct cluster meeting_stars(void)
{
    struct cluster c = cluster_plummer(FEW, 3);
    const double a = 0.01, e = 0.999, r = a * (1 + e), speed = sqrt(2.0 / FEW / a * (1 - e) / (1 + e));
    for (int i = 0; i < 2; i++) {
        const double side = i ? -0.5 : 0.5, x[3] = {0.3 + side * r, 0.2, 0.1}, v[3] = {0, side * speed, 0.1};
        memcpy(c.x[i], x, sizeof x);
        memcpy(c.v[i], v, sizeof v);
    }
    return c;
}

/* @param[in] length_pc  unit of length: with 1.35e-4 stars of 6 Rsun have radii of 1e-3 */
static nb6_t *start_collisions(const struct cluster *c, double length_pc, double birth_myr,
                               struct cluster_record *record)
{
    struct nb6_config config;
    struct nbc_error err = {0};
    int64_t name[FEW];
    double *type, *birth;
    cluster_config(&config);
    config.binaries.wanted = 1;
    config.binaries.n = 1;
    config.pair.adjust = 0;
    config.pair.r_min = 0.05;
    config.pair.dt_min = 1e-3;
    config.pair.systems = 1;
    config.run.dt_adjust = config.run.dt_output = 0.125;
    config.rbar_pc = length_pc;
    config.zmbar_msun = MASS;
    nb6_t *sim = cluster_start(&config, c, record);
    sim->run.config.stellar = (struct nb6_stellar_config){.evolve = 1, .level = 1, .collide = 1, .z = 0.02};
    for (int64_t i = 0; i < FEW; i++) name[i] = sim->star[i].name;
    demand(nb6_properties_create(FEW, name, &sim->run.properties, &err), &err);
    demand(nb6_properties_add(sim->run.properties, &(struct nb6_property){"StellarType", "1", NULL}, &type, &err),
           &err);
    demand(nb6_properties_add(sim->run.properties, &(struct nb6_property){"BirthEpoch", "Myr", NULL}, &birth, &err),
           &err);
    for (int64_t i = 0; i < FEW; i++) {
        type[i] = i == 0 ? STELLAR_BH : STELLAR_MS;
        birth[i] = birth_myr;
    }
    demand(nb6_ageing_begin(sim, &err), &err);
    return sim;
}

/* The body that goes on, after the pericentre at t = 0.009 and before the stars become one, at 1/32. */
static int64_t find_waiting(const nb6_t *sim)
{
    int64_t i = 0;
    while (i < sim->n && sim->ageing->aged[i].waits == 0) i++;
    assert_true(i < 2);
    return i;
}

/* The hole takes a half of the star, which has lost 1e-10 by a wind, and what is lost is booked; a checkpoint between
 * both times changes nothing. */
static void collision(void **state)
{
    struct cluster c = meeting_stars();
    struct cluster_record record = {0};
    (void)state;
    nb6_t *sim = start_collisions(&c, 1.35e-4, 0, &record);
    cluster_evolve(sim, 0.02);
    const int64_t i = find_waiting(sim);
    assert_true(sim->run.counters.mergers == 1 && count(&record, NB6_EVENT_PRODUCT) == 0);
    assert_true(fabs(sim->body[i].mass - 2.0 / FEW) < 1e-15);
    assert_true(sim->ageing->aged[i].due == 0x1p40 / 32 && sim->ageing->aged[1 - i].due == NB6_NEVER_DUE);
    nb6_t *again = cluster_through_checkpoint(sim);
    cluster_assert_same(sim, again);
    cluster_evolve(sim, 0.1);
    cluster_evolve(again, 0.1);
    assert_true(cluster_state(sim) == cluster_state(again));
    cluster_assert_consistent(sim);
    const struct nb6_event *event = record.event;
    while (event->kind != NB6_EVENT_PRODUCT) assert_true(++event < record.event + record.n_events);
    const struct nb6_event_stellar *s = &event->stellar;
    assert_true(event->t == 1.0 / 32 && s->type_after == STELLAR_BH &&
                s->type[0] + s->type[1] == STELLAR_BH + STELLAR_MS);
    assert_true(fabs(s->mass_after - 1.5 * MASS) < 1e-7 && fabs(s->mass[0] + s->mass[1] - 2 * MASS) < 1e-7);
    assert_true(fabs(sim->body[i].mass - 1.5 / FEW) < 1e-9 && sim->ageing->aged[1 - i].is_one);
    cluster_evolve(sim, 0.25);
    assert_int_equal(sim->n, FEW - 1);
    const struct nb6_adjust_row *last = &record.row[record.n_rows - 1];
    assert_true(fabs(last->transfers.stars.mass + 0.5 / FEW) < 1e-9);
    /* Without a collision this cluster has 1e-7. */
    if (!(fabs(last->de_rel) < 1e-6)) fail_msg("energy: %g", last->de_rel);
    cluster_free(&c);
    cluster_record_free(&record);
    nb6_free(again);
    nb6_free(sim);
}

/* Radii of a star within the last 16th of a unit, in which the run has taken up changes. */
static void find_radii(const nb6_t *sim, int64_t i, double *least, double *most, int *type)
{
    const struct nb6_aged *aged = &sim->ageing->aged[i];
    const double now = nb6_time_to_myr(sim, sim->ti_reached), ago = sim->run.units.time_myr / 16;
    *least = INFINITY;
    *most = 0;
    for (int k = 0; k <= 32; k++) {
        struct stellar_view view;
        struct nbc_error err = {0};
        demand(nb6_ageing_view(sim->ageing, aged, fmax(aged->star.time_myr, now - ago * (32 - k) / 32), &view, &err),
               &err);
        *least = fmin(*least, nb6_ageing_radius(sim, &view));
        *most = fmax(*most, nb6_ageing_radius(sim, &view));
        *type = view.type;
    }
}

/* Stars of 20 Msun leave the main sequence and become giants: bodies have their radii to 5 percent, the largest change
 * between two looks, and half of that, which makes a star due. */
static void radii_follow(void **state)
{
    struct cluster c = meeting_stars();
    double smallest = INFINITY, largest = 0;
    (void)state;
    nb6_t *sim = start_collisions(&c, 1, -8.5, NULL);
    for (int k = 1; k <= 16; k++) {
        cluster_evolve(sim, 0.1 * k);
        for (int64_t i = 1; i < sim->n; i++) {
            double least, most;
            int type;
            find_radii(sim, i, &least, &most, &type);
            const double radius = sim->star[i].radius;
            if (!(radius > least * (1 - 0.075) && radius < most * (1 + 0.075)))
                fail_msg("type %d at t = %g: %g, not %g to %g", type, 0.1 * k, radius, least, most);
            smallest = fmin(smallest, radius);
            largest = fmax(largest, radius);
        }
    }
    assert_true(largest > 20 * smallest); /* giants */
    cluster_free(&c);
    nb6_free(sim);
}

/* ---- failures */

/* Stars that collapse right now, all at once. */
static nb6_t *before_supernovae(void)
{
    static const double t[7] = {0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001};
    struct scene scene;
    nb6_t *sim = start(&scene, t, NULL);
    cluster_evolve(sim, 0.02);
    assert_true(sim->subsystems.n_chain == 1 && sim->run.counters.supernovae == 0);
    for (int64_t i = 0; i < sim->n; i++)
        if (sim->ageing->aged[i].due == 0x1p40 / 32) sim->ageing->aged[i].due = sim->ti_reached;
    cluster_free(&scene.c);
    return sim;
}

/* Two stars that become one right now. */
static nb6_t *before_product(void)
{
    struct cluster c = meeting_stars();
    nb6_t *sim = start_collisions(&c, 1.35e-4, 0, NULL);
    cluster_evolve(sim, 0.02);
    sim->ageing->aged[find_waiting(sim)].due = sim->ti_reached;
    cluster_free(&c);
    return sim;
}

/* Each failure leaves the state as it was.   @return the state after the change without one, to be freed */
static nb6_t *fail_everywhere(nb6_t *base)
{
    nb6_t *last = NULL;
    for (enum fault kind = REFUSED; kind < FAULT_KINDS; kind++) {
        nb6_t *sim = cluster_through_checkpoint(base);
        const uint64_t before = cluster_state(sim);
        int64_t failures = 0;
        for (long k = 0; fault_can_happen(kind); k++) {
            struct nbc_error err = {0};
            fault_set(kind, k);
            const int status = nb6_age_stars(sim, &err);
            const int happened = fault_clear();
            if (!status && !happened) break;
            if (status) {
                failures++;
                if (!happened) fail_msg("without a fault: %s", err.text);
                if (cluster_state(sim) != before) fail_msg("fault %d, call %ld: %s", (int)kind, k, err.text);
                continue;
            }
            nb6_free(sim); /* the failed call was not needed */
            sim = cluster_through_checkpoint(base);
        }
        assert_true(failures > 0 || !fault_can_happen(kind));
        if (fault_can_happen(kind)) {
            nb6_free(last);
            last = sim;
        } else {
            nb6_free(sim);
        }
    }
    nb6_free(base);
    return last;
}

static void state_stays(void **state)
{
    (void)state;
    nb6_t *sim = fail_everywhere(before_supernovae());
    assert_int_equal(sim->run.counters.supernovae, 7);
    nb6_free(sim);
    sim = fail_everywhere(before_product());
    assert_true(sim->ageing->aged[0].is_one || sim->ageing->aged[1].is_one);
    nb6_free(sim);
}

/* ---- others */

/* Masses follow from the ages: no program sets them. Stars that come are born; those that stay go on. */
static void stars_that_programs_change(void **state)
{
    static const double t[7] = {5, 5, 5, 5, 5, 5, 5};
    struct scene scene;
    struct nbc_error err = {0};
    const int64_t name = 7;
    const double mass = 0.01, x[1][3] = {{3, 3, 3}}, v[1][3] = {{0, 0, 0}};
    (void)state;
    nb6_t *sim = start(&scene, t, NULL);
    cluster_evolve(sim, 0.05);
    assert_int_equal(nb6_set_masses(sim, 1, &name, &mass, NULL, NB6_MASS_SLOW, &err), NBC_BAD_STATE);
    assert_non_null(strstr(err.text, "KZ(19)=0"));
    const struct nb6_aged last = sim->ageing->aged[sim->n - 1];
    demand(nb6_remove_bodies(sim, 1, &name, &err), &err);
    demand(nb6_add_bodies(sim, 1, NULL, &mass, x, v, &err), &err);
    assert_memory_equal(&sim->ageing->aged[sim->n - 2], &last, sizeof last);
    const struct nb6_aged *new = &sim->ageing->aged[sim->n - 1];
    assert_int_equal(new->star.name, sim->star[sim->n - 1].name);
    assert_true(new->star.time_myr == nb6_time_to_myr(sim, sim->ti_reached) && new->star.age_myr == 0);
    assert_true(new->due > sim->ti_reached);
    cluster_evolve(sim, 0.06);
    cluster_free(&scene.c);
    nb6_free(sim);
}

/* Numbers by hand from Eggleton's eq. 2. */
static void lobes(void **state)
{
    (void)state;
    assert_true(fabs(nb6_roche_lobe(1) - 0.37892) < 1e-5);
    assert_true(fabs(nb6_roche_lobe(0.1) - 0.20677) < 1e-5);
    assert_true(fabs(nb6_roche_lobe(8) - 0.56022) < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(energy_closes), cmocka_unit_test(same_bits),
                                       cmocka_unit_test(collision),     cmocka_unit_test(radii_follow),
                                       cmocka_unit_test(state_stays),   cmocka_unit_test(stars_that_programs_change),
                                       cmocka_unit_test(lobes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
