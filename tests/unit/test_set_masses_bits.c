/* Runs in which masses change (nb6_set_masses) have the same bits for any number of threads, and if they are resumed
 * from a checkpoint right after a change, with the engines that there are; what a change moves, also where it cannot be
 * made in the image of an engine since a pair ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/changed_bodies.h"
#include "nbody6/run/edit_systems.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/escape_scene.h"

static void demand(int status, const struct nbc_error *err)
{
    if (status) fail_msg("%s", err->text);
}

/* Stars of all systems of a scene lose mass slowly, then suddenly; one is kicked. */
static void change_scene(nb6_t *sim, const struct scene *scene, int part)
{
    struct nbc_error err = {0};
    int64_t name[5];
    double mass[5];
    for (int k = 0; k < 5; k++) {
        name[k] = scene->star[k][part] + 1;
        mass[k] = (part ? 0.7 : 0.95) / 60;
    }
    demand(nb6_set_masses(sim, 5, name, mass, NULL, part ? NB6_MASS_SUDDEN : NB6_MASS_SLOW, &err), &err);
    const double v[1][3] = {{0.1, -0.2, 0.3}};
    const int64_t kicked = sim->n - part;
    const double same = 1 / 60.0;
    demand(nb6_set_masses(sim, 1, &kicked, &same, v, NB6_MASS_SUDDEN, &err), &err);
}

static uint64_t run_scene(int threads, enum nb6_engine_choice engine, int resumed)
{
    struct scene scene = make_scene(PAIR | PERTURBED | CHAIN | TRIPLE | QUADRUPLE | BINARY);
    omp_set_num_threads(threads);
    nb6_t *sim = start_scene(&scene, 0, NB6_ESCAPE_KEEP, NULL);
    sim->engine = engine;
    for (int part = 0; part < 2; part++) {
        cluster_evolve(sim, 0.02 + 0.03 * part);
        assert_true(sim->subsystems.n_chain > 0);
        change_scene(sim, &scene, part);
        cluster_assert_consistent(sim);
        cluster_check_sources(sim);
        if (!(resumed & 1 << part)) continue;
        nb6_t *again = cluster_through_checkpoint(sim);
        cluster_assert_same(sim, again);
        nb6_free(sim);
        sim = again;
    }
    cluster_evolve(sim, 0.125);
    cluster_assert_consistent(sim);
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
        const uint64_t bits = run_scene(1, engines[e], 0);
        assert_true(run_scene(3, engines[e], 0) == bits);
        assert_true(run_scene(2, engines[e], 1) == bits);
        assert_true(run_scene(1, engines[e], 3) == bits);
    }
}

static void read_nothing(struct nb6_calls *calls)
{
    *calls = (struct nb6_calls){0};
}

/* Of the whole state, and of what has changed. */
static uint64_t moves_of(const nb6_t *sim)
{
    return sim->profile->moves + sim->profile->part_moves;
}

/* The state is at home between two calls of nb6_evolve, and its image still there: a change costs no move. */
static void moves_are_counted(void **state)
{
    static const struct nb6_call_counter counter = {.read = read_nothing};
    struct nbc_error err = {0};
    struct nb6_config config;
    struct cluster c = cluster_plummer(100, 3);
    const int64_t name = 7;
    const double mass = 0.009;
    (void)state;
    cluster_config(&config);
    config.run.engine = NB6_ENGINE_EMULATED;
    config.pair.systems = 0;
    nb6_t *sim = cluster_start(&config, &c, NULL);
    demand(nb6_profile_start(sim, &counter, &err), &err);
    cluster_evolve(sim, 0.1); /* no list becomes too long for the image, which moves the state as well, up to 0.15 */
    const uint64_t begin = moves_of(sim);
    cluster_evolve(sim, 0.11);
    const uint64_t usual = moves_of(sim) - begin;
    demand(nb6_set_masses(sim, 1, &name, &mass, NULL, NB6_MASS_SLOW, &err), &err);
    assert_true(moves_of(sim) == begin + usual && sim->profile->mass_changes == 1);
    cluster_evolve(sim, 0.12);
    assert_int_equal(moves_of(sim), begin + 2 * usual);
    cluster_free(&c);
    nb6_free(sim);
}

/* ---- a pair that ends */

static nb6_t *start_encounters(struct cluster_record *record)
{
    struct nb6_config config;
    cluster_config_with_binaries(&config, 90, 0);
    config.run.engine = NB6_ENGINE_EMULATED;
    config.run.dt_adjust = config.run.dt_output = 0.5;
    return cluster_start_model(&config, record);
}

/* A change of a star right before the block in which its pair ends, after the step of their motion that brings that: it
 * is made in host memory.   @return whether it was so */
static int change_before_the_end(const struct nb6_event *end)
{
    struct nbc_error err = {0};
    nb6_t *sim = start_encounters(NULL);
    nb6_index i = 0;
    demand(nb6_evolve(sim, end->t - 1e-9, &err), &err);
    while (sim->star[i].name != end->pair.name[0]) i++;
    const int is_away = sim->engine_image.ahead && nb6_edit_systems_serve(sim, nb6_body_with(sim, i));
    const double mass = 0.999 * sim->body[i].mass;
    nb6_t *same = cluster_through_checkpoint(sim);
    assert_true(nb6_is_member(&sim->star[i]));
    demand(nb6_set_masses(sim, 1, &end->pair.name[0], &mass, NULL, NB6_MASS_SLOW, &err), &err);
    const int came_home = is_away && !sim->engine_image.ahead;
    /* Rounding of energies of about 1, once they were booked. */
    assert_true(fabs(cluster_energy_now(sim).total - cluster_energy_now(same).total -
                     sim->run.book.ledger.booked[NB6_CHANNEL_STARS]) < 1e-13);
    assert_true(sim->run.book.ledger.booked[NB6_CHANNEL_STARS] != 0);
    cluster_evolve(sim, end->t + 1e-3);
    cluster_assert_consistent(sim);
    nb6_free(sim);
    nb6_free(same);
    return came_home;
}

static void a_pair_ends_in_a_change(void **state)
{
    struct cluster_record record = {0};
    int64_t came_home = 0;
    (void)state;
    nb6_t *sim = start_encounters(&record);
    cluster_evolve(sim, 0.4);
    for (int64_t k = 0; k < record.n_events; k++)
        if (record.event[k].kind == NB6_EVENT_PAIR_ENDED) came_home += change_before_the_end(&record.event[k]);
    assert_true(came_home > 0);
    nb6_free(sim);
    cluster_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(moves_are_counted),
                                       cmocka_unit_test(a_pair_ends_in_a_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
