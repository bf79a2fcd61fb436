/* Systems that form, end and change, kicks and sudden losses where an engine has their image (engine/image_part.h):
 * what has changed moves alone, and the image is the one that an import of all makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/escape_scene.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/image_check.h"
#include "tests/support/test_size.h"

static const double DT_ADJUST = 0.5;

static void demand(int status, const struct nbc_error *err)
{
    if (status) fail_msg("%s", err->text);
}

/* Wide binaries, among which others form and end; or stars with radii, some of which become one within chains. */
static nb6_t *start_changing(int with_radii)
{
    struct nb6_config config;
    cluster_config_with_binaries(&config, with_radii ? 100 : 150, with_radii ? 50 : 30);
    config.binaries.semi_max = with_radii ? 0.02 : 1.0 / 150;
    config.binaries.range = with_radii ? 3 : 100;
    config.model.seed = 14;
    config.pair.r_star = with_radii ? 3e-4 : 0;
    config.run.dt_adjust = config.run.dt_output = DT_ADJUST;
    config.run.engine = NB6_ENGINE_EMULATED;
    nb6_t *sim = cluster_start_model(&config, NULL);
    cluster_evolve(sim, 0.001);
    return sim;
}

/* Without memory for a part all moves. */
static void import_without_memory(nb6_t *sim)
{
    int has_failed = can_fail_alloc();
    for (long k = 0; has_failed; k++) {
        struct nbc_error err = {0};
        alloc_left = k;
        const int status = nb6_emulated_engine.import(sim, &err);
        has_failed = alloc_left < 0;
        alloc_left = -1;
        demand(status, &err);
        assert_true(sim->engine_image.is_part == !has_failed);
        cluster_assert_image_is_an_import(sim);
    }
}

/* A block. If host memory has changed after it, the next import moves what has changed alone.
 * @param[in,out] parts  how often that was   @return 0: no block is left */
static int check_block(nb6_t *sim, int *parts)
{
    struct nbc_error err = {0};
    enum nb6_stop_reason reason;
    demand(nb6_engines_advance(sim, (nb6_time)ldexp(DT_ADJUST, NB6_TIME_BITS), 1, &reason, &err), &err);
    if (sim->engine_image.ahead || sim->engine_image.touched.n == 0) return reason != NB6_STOP_REACHED;
    demand(nb6_emulated_engine.import(sim, &err), &err);
    cluster_assert_records_of_all_systems(sim);
    cluster_assert_image_is_an_import(sim);
    if (*parts == 0 && sim->engine_image.is_part) import_without_memory(sim);
    *parts += sim->engine_image.is_part;
    return 1;
}

/* Pairs and chains form and end, bodies come and go in all places, and an import of what has changed is an import. */
static void what_has_changed_moves_alone(void **state)
{
    (void)state;
    for (int with_radii = 0; with_radii < 2; with_radii++) {
        nb6_t *sim = start_changing(with_radii);
        const struct nb6_counters *now = &sim->run.counters, before = *now;
        int parts = 0;
        while (parts < test_size(25, 14) && check_block(sim, &parts)) continue;
        print_message("%d moves, %llu pairs formed, %llu ended, %llu mergers\n", parts,
                      (unsigned long long)(now->pairs_formed - before.pairs_formed),
                      (unsigned long long)(now->pairs_ended - before.pairs_ended), (unsigned long long)now->mergers);
        const uint64_t least = (uint64_t)test_size(5, 2);
        assert_true(now->pairs_formed > before.pairs_formed + least && now->pairs_ended > before.pairs_ended + least);
        assert_true(!with_radii || now->mergers > 0);
        cluster_evolve(sim, DT_ADJUST);
        cluster_assert_consistent(sim);
        cluster_check_sources(sim);
        nb6_free(sim);
    }
}

/* ---- kicks and sudden losses */

/* As engines.c does it: both sides are equal then. */
static int import(nb6_t *sim)
{
    struct nbc_error err = {0};
    demand(nb6_emulated_engine.import(sim, &err), &err);
    nb6_touched_begin(&sim->engine_image.touched, sim->edits);
    sim->engine_image.edits = sim->edits;
    return sim->engine_image.is_part;
}

/* A star loses half of its mass, or is kicked, or both. */
static int change(nb6_t *sim, int64_t name, int kind, struct nbc_error *err)
{
    const double mass = kind == 1 ? 1.0 / 60 : 0.5 / 60, v[1][3] = {{0.4, -0.2, 0.1 * kind}};
    return nb6_set_masses(sim, 1, &name, &mass, kind > 0 ? v : NULL, NB6_MASS_SUDDEN, err);
}

/* One change, or two between which nothing moves, of stars of each kind of system and of a single one. */
static void change_all(nb6_t *sim, const struct scene *scene, int kind, int twice)
{
    struct nbc_error err = {0};
    for (int k = 0; k < 6; k++) {
        const int64_t name = k < 5 ? scene->star[k][0] + 1 : sim->n - kind;
        demand(change(sim, name, kind, &err), &err);
        if (twice) demand(change(sim, sim->n - 3 - k, kind, &err), &err);
        assert_int_equal(sim->engine_image.touched.n_pulls, 1 + twice);
        assert_true(import(sim));
        cluster_assert_image_is_an_import(sim);
    }
}

/* Without memory a change leaves no pulls behind, nor does the move that follows. */
static void change_without_memory(nb6_t *sim, const struct scene *scene)
{
    int has_failed = can_fail_alloc();
    for (long k = 0; has_failed; k++) {
        struct nbc_error err = {0};
        alloc_left = k;
        const int status = change(sim, scene->star[0][0] + 1, 2, &err);
        has_failed = alloc_left < 0;
        alloc_left = -1;
        assert_true(!status || has_failed);
        if (status) assert_int_equal(sim->engine_image.touched.n_pulls, 0);
        alloc_left = k % 4;
        (void)import(sim);
        alloc_left = -1;
        cluster_assert_image_is_an_import(sim);
    }
}

static void kicks_and_losses_move_alone(void **state)
{
    struct scene scene = make_scene(PAIR | PERTURBED | CHAIN | TRIPLE | QUADRUPLE);
    (void)state;
    for (int kind = test_size(0, 2); kind < 3; kind++) {
        nb6_t *sim = start_scene(&scene, 0, NB6_ESCAPE_KEEP, NULL);
        sim->engine = NB6_ENGINE_EMULATED;
        cluster_evolve(sim, 0.02);
        assert_true(sim->subsystems.n_chain > 0 && sim->run.counters.hierarchies_formed > 0);
        (void)import(sim);
        change_all(sim, &scene, kind, kind % 2);
        cluster_assert_consistent(sim);
        cluster_evolve(sim, 0.03);
        if (kind == 2) change_without_memory(sim, &scene);
        cluster_evolve(sim, 0.04);
        cluster_assert_consistent(sim);
        cluster_check_sources(sim);
        nb6_free(sim);
    }
    cluster_free(&scene.c);
}

/* ---- stars that come and go */

static const double COMES_AT[4][3] = {{0.5, 0.4, -0.3}, {-0.7, 0.2, 0.1}, {0.1, -0.6, 0.4}, {3, 1, 2}};

static int64_t come(nb6_t *sim, int k)
{
    static const double v[1][3] = {{0.1, -0.2, 0.3}};
    struct nbc_error err = {0};
    const double mass = 0.02;
    demand(nb6_add_bodies(sim, 1, NULL, &mass, &COMES_AT[k], v, &err), &err);
    return sim->star[sim->n - 1].name;
}

static void go(nb6_t *sim, int64_t name)
{
    struct nbc_error err = {0};
    demand(nb6_remove_bodies(sim, 1, &name, &err), &err);
}

static void assert_import(nb6_t *sim)
{
    assert_true(sim->engine_image.image != NULL);
    assert_true(import(sim));
    cluster_assert_image_is_an_import(sim);
    cluster_assert_consistent(sim);
    cluster_check_sources(sim);
}

/* Alone, and several changes between which nothing moves: of others, and of the very star. */
static void change_stars(nb6_t *sim)
{
    struct nbc_error err = {0};
    go(sim, sim->star[sim->n - 2].name);
    assert_import(sim);
    (void)come(sim, 0);
    assert_import(sim);
    const int64_t name = come(sim, 1);
    go(sim, sim->star[sim->n - 3].name);
    demand(change(sim, name, 2, &err), &err);
    assert_int_equal(sim->engine_image.touched.n_pulls, 3);
    assert_import(sim);
    go(sim, name);
    go(sim, come(sim, 2));
    assert_import(sim);
    (void)come(sim, 3);
    cluster_evolve(sim, nb6_time_now(sim) + 0.005);
}

/* Without memory for a star that comes, or goes, an image has the numbers of before. */
static void change_numbers_without_memory(nb6_t *sim)
{
    static const double mass = 0.02, v[1][3] = {{0.1, -0.2, 0.3}};
    int has_failed = can_fail_alloc();
    for (long k = 0; has_failed; k++) {
        struct nbc_error err = {0};
        const int64_t name = sim->star[sim->n - 2].name;
        alloc_left = k / 2;
        const int status =
            k % 2 ? nb6_add_bodies(sim, 1, NULL, &mass, &COMES_AT[0], v, &err) : nb6_remove_bodies(sim, 1, &name, &err);
        has_failed = alloc_left < 0;
        alloc_left = -1;
        assert_true(!status || has_failed);
        (void)import(sim);
        cluster_assert_image_is_an_import(sim);
    }
}

static void stars_that_come_and_go_move_alone(void **state)
{
    struct scene scene = make_scene(PAIR | PERTURBED | CHAIN | TRIPLE | QUADRUPLE);
    (void)state;
    nb6_t *sim = start_scene(&scene, 0, NB6_ESCAPE_KEEP, NULL);
    sim->engine = NB6_ENGINE_EMULATED;
    cluster_evolve(sim, 0.02);
    assert_true(sim->subsystems.n_chain > 0 && sim->run.counters.hierarchies_formed > 0);
    for (int k = 0; k < test_size(2, 1); k++) {
        (void)import(sim);
        change_stars(sim);
    }
    change_numbers_without_memory(sim);
    cluster_assert_consistent(sim);
    cluster_check_sources(sim);
    cluster_free(&scene.c);
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_has_changed_moves_alone),
                                       cmocka_unit_test(kicks_and_losses_move_alone),
                                       cmocka_unit_test(stars_that_come_and_go_move_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
