/* Winds and supernovae of stars that age where an engine has the state (run/age_stars.h): it does not move for them;
 * the same bits for threads and checkpoints; without memory, and with a lost device, ages and words are those of
 * before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>

#include "common/nbc.h"
#include "device/faults.h"
#include "nbody6/engine/choice.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/run/age_stars.h"
#include "nbody6/run/ageing_begin.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "stellar/stellar.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_state.h"
#include "tests/support/failing_alloc.h"

static void demand(int status, const struct nbc_error *err)
{
    if (status) fail_msg("%s", err->text);
}

/* ---- a cluster with winds */

/* Age in Myr at which a star of this mass has the first event of a kind. */
static double age_of(enum stellar_event_kind kind, double mass)
{
    struct stellar_options options;
    struct stellar_model *model;
    struct stellar_star star;
    struct stellar_view view;
    struct nbc_error err = {0};
    double age = -1;
    demand(stellar_options_level('B', &options, &err), &err);
    demand(stellar_create(0.01, &options, &model, &err), &err);
    demand(stellar_birth(model, 1, mass, 0, &star, &err), &err);
    for (double t = 0; age < 0; t = view.ask_again_myr) {
        struct stellar_events events;
        demand(stellar_evolve(model, &star, t, &view, &events, &err), &err);
        for (int k = 0; k < events.n && age < 0; k++)
            if (events.event[k].kind == (int32_t)kind) age = events.event[k].time_myr;
    }
    stellar_free(model);
    return age;
}

/* Stars of a mean mass, 60 of them, age from now on.   @return [n] time of birth of each in Myr, of all now, which the
 * caller may change before nb6_ageing_begin */
static double *let_age(nb6_t *sim, double mass)
{
    struct nbc_error err = {0};
    struct nb6_config *config = &sim->run.config;
    double *birth;
    config->stellar = (struct nb6_stellar_config){.evolve = 1, .level = 2, .white_dwarf_kicks = 2, .z = 0.01};
    sim->run.units = nb6_units_from(1, mass, 60);
    int64_t *name = nbc_alloc((size_t)sim->n, sizeof *name);
    for (int64_t i = 0; i < sim->n; i++) name[i] = sim->star[i].name;
    demand(nb6_properties_create(sim->n, name, &sim->run.properties, &err), &err);
    nbc_free(name);
    demand(nb6_properties_add(sim->run.properties, &(struct nb6_property){"BirthEpoch", "Myr", NULL}, &birth, &err),
           &err);
    return birth;
}

/* Stars of 22 Msun lose a part of 5e-4 some five times a unit each. */
static const double WINDY = 22;

/* Stars stay as they are; or they lose mass; or one explodes as well. */
enum ageing { NO_AGEING, WINDS, SUPERNOVA };

/* Single stars of many ages, one of which leaves the main sequence at about t = 0.2, and one explodes at 0.3; adjusts
 * each half unit. */
static nb6_t *start_winds(enum nb6_engine_choice engine, enum ageing age, struct cluster_record *record)
{
    struct nb6_config config;
    struct nbc_error err = {0};
    cluster_config_with_binaries(&config, 60, 0);
    config.pair.adjust = 0;
    config.pair.r_min = 1e-6; /* pairs that form and end move the state */
    config.run.engine = engine;
    config.run.dt_adjust = config.run.dt_output = 0.5;
    nb6_t *sim = cluster_start_model(&config, record);
    if (!age) return sim;
    double *birth = let_age(sim, WINDY);
    for (int64_t i = 1; i < sim->n; i++) birth[i] = -0.03 * (double)i;
    birth[0] = 0.2 * sim->run.units.time_myr - age_of(STELLAR_CHANGE, WINDY);
    if (age == SUPERNOVA) birth[1] = 0.3 * sim->run.units.time_myr - age_of(STELLAR_SUPERNOVA, WINDY);
    demand(nb6_ageing_begin(sim, &err), &err);
    return sim;
}

static int64_t count(const struct cluster_record *record, enum nb6_event_kind kind)
{
    int64_t n = 0;
    for (int64_t k = 0; k < record->n_events; k++) n += record->event[k].kind == kind;
    return n;
}

/* The state stays where it is at the end. */
static int evolve_away(nb6_t *sim, double t)
{
    struct nbc_error err = {0};
    return nb6_evolve(sim, t, &err);
}

static void read_nothing(struct nb6_calls *calls)
{
    *calls = (struct nb6_calls){0};
}

static uint64_t moves_of(enum nb6_engine_choice engine, enum ageing age)
{
    static const struct nb6_call_counter counter = {.read = read_nothing};
    struct cluster_record record = {0};
    struct nbc_error err = {0};
    nb6_t *sim = start_winds(engine, age, &record);
    assert_int_equal(evolve_away(sim, 0.01), NBC_OK); /* those that were born before have become what they are */
    demand(nb6_profile_start(sim, &counter, &err), &err);
    for (int k = 1; k < 5; k++) assert_int_equal(evolve_away(sim, 0.1 * k), NBC_OK);
    assert_int_equal(count(&record, NB6_EVENT_SUPERNOVA), 0); /* told once the state is in host memory */
    assert_int_equal(sim->run.counters.supernovae, age == SUPERNOVA);
    assert_true(!age || (sim->engine_image.ahead && sim->run.counters.type_changes >= 2)); /* to a giant, which burns
                                                                                              helium at once */
    assert_int_equal(evolve_away(sim, 1.5), NBC_OK);
    assert_int_equal(count(&record, NB6_EVENT_SUPERNOVA), age == SUPERNOVA);
    assert_int_equal(count(&record, NB6_EVENT_TYPE_CHANGE) + (age == SUPERNOVA), sim->run.counters.type_changes);
    assert_true(!age || sim->profile->mass_changes > 20);
    const struct nb6_adjust_row *last = &record.row[record.n_rows - 1];
    assert_true(!age || fabs(last->transfers.stars.mass) > 1e-3);
    /* As energy_closes; without winds it is some 1e-8. */
    if (!(fabs(last->de_rel) < 1e-6)) fail_msg("energy not booked: %g of %g", last->de_rel, last->energy.total);
    const uint64_t moves = sim->profile->moves + sim->profile->part_moves;
    cluster_record_free(&record);
    nb6_free(sim);
    return moves;
}

static int n_engines(void)
{
    char why[NB6_ENGINE_WHY];
    return nb6_engine_missing("device", why) ? 1 : 2;
}
static const enum nb6_engine_choice with_image[] = {NB6_ENGINE_EMULATED, NB6_ENGINE_DEVICE};

/* It moves as often as without winds: home at each of the three adjusts. */
static void winds_move_nothing(void **state)
{
    (void)state;
    for (int e = 0; e < n_engines(); e++)
        for (enum ageing age = NO_AGEING; age <= SUPERNOVA; age++) assert_int_equal(moves_of(with_image[e], age), 3);
}

static uint64_t run_winds(int threads, enum nb6_engine_choice engine, int resumed)
{
    omp_set_num_threads(threads);
    nb6_t *sim = start_winds(engine, SUPERNOVA, NULL);
    for (int k = 0; k < 6; k++) {
        assert_int_equal(evolve_away(sim, 0.09375 * (k + 1)), NBC_OK); /* on the grid of ages, right after changes */
        if (!(resumed & 1 << k)) continue;
        sim = cluster_resumed(sim);
    }
    cluster_evolve(sim, 0.7);
    return cluster_state_at_end(sim);
}

static void same_bits_of_winds(void **state)
{
    (void)state;
    for (int e = 0; e < n_engines(); e++) {
        const uint64_t bits = run_winds(1, with_image[e], 0);
        assert_true(run_winds(3, with_image[e], 0) == bits);
        assert_true(run_winds(2, with_image[e], 0x3f) == bits);
    }
}

/* At t = 0.1, with an image ahead; some stars are due, and lose mass or end a phase.   @param[in] lose  0: none does */
static nb6_t *before_winds(nb6_t *base, int lose)
{
    nb6_t *sim = cluster_through_checkpoint(base);
    assert_int_equal(evolve_away(sim, 0.1), NBC_OK);
    assert_true(sim->engine_image.ahead);
    for (int64_t i = 0; i < 8; i++) {
        sim->ageing->aged[i].due = sim->ti_reached;
        if (lose) sim->ageing->aged[i].mass *= 1.001; /* of which its star has less */
    }
    return sim;
}

/* Without memory nothing has changed. */
static void winds_without_memory(void **state)
{
    (void)state;
    if (!can_fail_alloc()) return;
    nb6_t *base = start_winds(NB6_ENGINE_EMULATED, WINDS, NULL);
    for (int lose = 0; lose < 2; lose++) {
        nb6_t *same = before_winds(base, lose);
        const uint64_t before = cluster_state_at_home(same);
        int64_t failures = 0;
        for (int happened = 1, k = 0; happened; k++) {
            struct nbc_error err = {0};
            nb6_t *sim = before_winds(base, lose);
            fail_alloc(k);
            const int status = nb6_age_stars(sim, &err);
            happened = alloc_left < 0;
            fail_alloc(-1);
            assert_true(sim->engine_image.ahead);
            assert_true(status == NBC_OK || status == NBC_NO_MEMORY);
            if (status && (sim->transaction.n_event || cluster_state_at_home(sim) != before)) fail_msg("call %d", k);
            failures += status != NBC_OK;
            nb6_free(sim);
        }
        assert_true(failures > 3);
        nb6_free(same);
    }
    nb6_free(base);
}

/* From its k-th call on a device fails. The state is that of the last time in host memory, with ages and words; made
 * again, it has the same bits.   @return 0: it had fewer calls */
static int lose_device(nb6_t *base, uint64_t end, int64_t k)
{
    nb6_t *sim = cluster_through_checkpoint(base);
    nbd_fault_set(NBD_FAULT_FAIL, k, NBD_FAULT_FOR_EVER);
    const int status = evolve_away(sim, 0.3);
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    if (status) {
        assert_int_equal(status, NBC_DEVICE);
        assert_true(nb6_device_is_lost(sim) && !sim->engine_image.ahead && sim->transaction.n_event == 0);
        assert_true(cluster_state_at_home(sim) == cluster_state_at_home(base));
        assert_int_equal(evolve_away(sim, 0.3), NBC_OK);
    }
    assert_true(cluster_state_at_end(sim) == end);
    return status != NBC_OK;
}

static void a_device_is_lost(void **state)
{
    (void)state;
    for (int e = 0; e < n_engines(); e++) {
        nb6_t *base = start_winds(with_image[e], SUPERNOVA, NULL);
        cluster_evolve(base, 0.05);
        nb6_t *sim = cluster_through_checkpoint(base);
        int64_t k = 1;
        assert_int_equal(evolve_away(sim, 0.3), NBC_OK);
        const uint64_t end = cluster_state_at_home(sim);
        while (lose_device(base, end, k)) k += 1 + k / 4; /* each of the first ones, and some of those that follow */
        assert_true(k > 4);
        nb6_free(sim);
        nb6_free(base);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(winds_move_nothing), cmocka_unit_test(same_bits_of_winds),
                                       cmocka_unit_test(winds_without_memory), cmocka_unit_test(a_device_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
