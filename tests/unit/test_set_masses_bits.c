/* Runs in which masses change (nb6_set_masses) have the same bits for any number of threads, and if they are resumed
 * from a checkpoint right after a change, with the engines that there are; what a change moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
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
    sim->run.book.wall_used_s = 0;
    const uint64_t bits = cluster_state(sim);
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

/* The state is at home between two calls of nb6_evolve: a change costs one move, back into the image. */
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
    const uint64_t begin = sim->profile->moves;
    cluster_evolve(sim, 0.11);
    const uint64_t usual = sim->profile->moves - begin;
    demand(nb6_set_masses(sim, 1, &name, &mass, NULL, NB6_MASS_SLOW, &err), &err);
    assert_true(sim->profile->moves == begin + usual && sim->profile->mass_changes == 1);
    cluster_evolve(sim, 0.12);
    assert_int_equal(sim->profile->moves, begin + 2 * usual + 1);
    cluster_free(&c);
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(moves_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
