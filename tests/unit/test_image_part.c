/* Systems that form, end and change where an engine has their image (engine/image_part.h): what has changed moves
 * alone, and the image is the one that an import of all makes. */
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
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/image_check.h"

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
        while (parts < 25 && check_block(sim, &parts)) continue;
        print_message("%d moves, %llu pairs formed, %llu ended, %llu mergers\n", parts,
                      (unsigned long long)(now->pairs_formed - before.pairs_formed),
                      (unsigned long long)(now->pairs_ended - before.pairs_ended), (unsigned long long)now->mergers);
        assert_true(now->pairs_formed > before.pairs_formed + 5 && now->pairs_ended > before.pairs_ended + 5);
        assert_true(!with_radii || now->mergers > 0);
        cluster_evolve(sim, DT_ADJUST);
        cluster_assert_consistent(sim);
        cluster_check_sources(sim);
        nb6_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_has_changed_moves_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
