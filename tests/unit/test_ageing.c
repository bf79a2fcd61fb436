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
    /* What is not booked is lost before the first energy, at t = 0: the winds of the stars so far. */
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
    sim->run.book.wall_used_s = 0;
    const uint64_t bits = cluster_state(sim);
    assert_int_equal(sim->run.counters.supernovae, 7);
    cluster_free(&scene.c);
    nb6_free(sim);
    return bits;
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

static void state_stays(void **state)
{
    (void)state;
    nb6_t *base = before_supernovae();
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
        if (fault_can_happen(kind)) assert_int_equal(sim->run.counters.supernovae, 7);
        nb6_free(sim);
    }
    nb6_free(base);
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
                                       cmocka_unit_test(state_stays), cmocka_unit_test(stars_that_programs_change),
                                       cmocka_unit_test(lobes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
