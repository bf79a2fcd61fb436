/* Few-body systems and tides with an engine that keeps bodies elsewhere (step/share.h): the same physics as with the
 * host engine, the same bits however often the state moves, and a loss that undoes the host's share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/dev_image.h"
#include "nbody6/step/dev_state.h"
#include "nbody6/step/engine.h"
#include "nbody6/step/engines.h"
#include "nbody6/step/share.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"

/* The engine under test: emulated, then that of a GPU if there is one. */
static enum nb6_engine_choice elsewhere = NB6_ENGINE_EMULATED;

enum kind { PLAIN, TIDAL, HEAVY, KINDS };

static void configure(struct nb6_config *config, enum kind kind, enum nb6_engine_choice engine)
{
    cluster_config_with_binaries(config, 200, 50);
    config->run.engine = (int)engine;
    config->binaries.range = 100;
    if (kind == TIDAL) cluster_config_field(config, NB6_TIDE_POINT_MASS, 250, 0.05);
    if (kind == HEAVY) config->model.imf = NB6_IMF_KROUPA2001;
}

static nb6_t *start(enum kind kind, enum nb6_engine_choice engine)
{
    struct nb6_config config;
    configure(&config, kind, engine);
    return cluster_start_model(&config, NULL);
}

static enum nb6_stop_reason advance(nb6_t *sim, nb6_time t, int64_t blocks)
{
    struct nbc_error err = {0};
    enum nb6_stop_reason reason;
    if (nb6_engines_advance(sim, t, blocks, &reason, &err)) fail_msg("%s", err.text);
    return reason;
}

/* The same after what is done at t = 0. */
static nb6_t *begin(enum kind kind)
{
    nb6_t *sim = start(kind, elsewhere);
    cluster_evolve(sim, 0.001);
    return sim;
}

/* ---- physics ---- */

/* Both engines move the same systems by the same code; sums differ as those of two backends do, and after some time so
 * do orbits. The limit of the energy error is ten times the largest of the host engine's, 2.6e-8. */
static void as_with_the_host(void **state)
{
    (void)state;
    for (enum kind kind = PLAIN; kind < KINDS; kind++) {
        double steps[2], ks[2], error[2];
        for (int e = 0; e < 2; e++) {
            nb6_t *sim = start(kind, e ? elsewhere : NB6_ENGINE_HOST);
            const double energy = cluster_energy_now(sim).total;
            cluster_evolve(sim, 0.5);
            error[e] = fabs(cluster_energy_now(sim).total / energy - 1);
            steps[e] = (double)sim->counters.steps_irr;
            ks[e] = (double)sim->counters.ks_steps;
            assert_true(sim->pairs.count > 40);
            cluster_assert_consistent(sim);
            nb6_free(sim);
        }
        print_message("kind %d: energy errors %.1e, %.1e; steps %.0f, %.0f; of pairs %.0f, %.0f\n", (int)kind, error[0],
                      error[1], steps[0], steps[1], ks[0], ks[1]);
        assert_true(fabs(steps[1] / steps[0] - 1) < 0.02 && fabs(ks[1] / ks[0] - 1) < 0.1);
        assert_true(error[0] < 2.6e-7 && error[1] < 2.6e-7);
    }
}

/* Systems do not keep blocks at home. */
static void stays_elsewhere(void **state)
{
    (void)state;
    nb6_t *sim = begin(TIDAL);
    const nb6_time t = sim->book.ti_next_adjust;
    int64_t calls = 0, away = 0;
    while (advance(sim, t, 8) != NB6_STOP_REACHED) {
        calls++;
        away += sim->elsewhere.ahead;
    }
    print_message("%d of %d calls end elsewhere\n", (int)away, (int)calls);
    assert_true(calls > 20 && 10 * away > 9 * calls);
    nb6_free(sim);
}

/* ---- the same bits ---- */

static nb6_t *in_pieces(nb6_t *sim, double t)
{
    for (double now = 0.0371; now < t; now += 0.0371) {
        cluster_evolve(sim, now);
        nb6_t *again = cluster_through_checkpoint(sim);
        nb6_free(sim);
        sim = again;
    }
    cluster_evolve(sim, t);
    return sim;
}

/* The state comes home after each few blocks, and may be imported again. */
static nb6_t *to_and_fro(nb6_t *sim, double t)
{
    struct nbc_error err = {0};
    int64_t blocks = 1;
    while (advance(sim, sim->book.ti_next_adjust, blocks) != NB6_STOP_REACHED) {
        assert_int_equal(nb6_bring_home(sim, &err), NBC_OK);
        blocks = blocks % 7 + 2;
    }
    cluster_evolve(sim, t);
    return sim;
}

static void same_bits(void **state)
{
    (void)state;
    static const struct {
        int threads;
        nb6_t *(*evolve)(nb6_t *sim, double t);
    } ways[] = {{2, NULL}, {4, NULL}, {1, in_pieces}, {2, to_and_fro}};
    const int before = omp_get_max_threads();
    for (enum kind kind = TIDAL; kind < KINDS; kind++) {
        omp_set_num_threads(1);
        nb6_t *first = begin(kind);
        cluster_evolve(first, 0.25);
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            nb6_t *sim = begin(kind);
            omp_set_num_threads(ways[k].threads);
            if (ways[k].evolve)
                sim = ways[k].evolve(sim, 0.25);
            else
                cluster_evolve(sim, 0.25);
            cluster_assert_same(first, sim);
            nb6_free(sim);
        }
        nb6_free(first);
    }
    omp_set_num_threads(before);
}

/* ---- what the host keeps ---- */

/* Who is watched, as it was kept up with while perturbers came and went, is who would be found anew. */
static void watches_whom_it_should(void **state)
{
    (void)state;
    if (elsewhere != NB6_ENGINE_EMULATED) skip(); /* the image is not in memory */
    struct nb6_dev anew = {0};
    nb6_t *sim = begin(HEAVY);
    int64_t compared = 0;
    while (advance(sim, sim->book.ti_next_adjust, 8) != NB6_STOP_REACHED) {
        const struct nb6_dev *dev = sim->elsewhere.image;
        if (!sim->elsewhere.ahead) continue;
        const struct nb6_dev_size size = {dev->n_max, dev->row_room, dev->systems, dev->bodies};
        assert_true(nb6_dev_allocate_state(&anew, &size, 1));
        anew.n = dev->n;
        anew.first_centre = dev->first_centre;
        memcpy(anew.body_of, dev->body_of, (size_t)dev->n * sizeof *dev->body_of);
        nb6_share_fill(sim, &anew);
        assert_int_equal(anew.control->n_ask, dev->control->n_ask);
        assert_int_equal(anew.control->t_ask, dev->control->t_ask);
        assert_memory_equal(anew.watch, dev->watch, (size_t)dev->n);
        if (anew.control->n_ask > 0)
            assert_memory_equal(anew.ask, dev->ask, (size_t)anew.control->n_ask * sizeof *anew.ask);
        compared += anew.control->n_ask > 0;
        nb6_dev_free_state(&anew);
    }
    assert_true(compared > 5);
    nb6_free(sim);
}

/* Motions, perturbers, counters and bodies that the host has written are as they were when the state left. */
static void a_loss_undoes_it(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    nb6_t *sim = begin(HEAVY);
    int64_t losses = 0;
    while (losses < 5) {
        assert_int_equal(nb6_bring_home(sim, &err), NBC_OK);
        const uint64_t home = cluster_state(sim), ks_steps = sim->counters.ks_steps;
        for (int calls = 0; calls < 12 && (calls == 0 || sim->elsewhere.ahead); calls++) advance(sim, INT64_MAX, 8);
        if (!sim->elsewhere.ahead || sim->counters.ks_steps == ks_steps) continue;
        assert_int_equal(nb6_engines_forget(sim, &err), NBC_OK);
        if (cluster_state(sim) != home) fail_msg("after %d losses: the state is another one", (int)losses);
        losses++;
        cluster_evolve(sim, nb6_time_to_double(sim->ti_reached) + 0.003);
    }
    cluster_evolve(sim, 0.25);
    cluster_assert_consistent(sim);
    nb6_free(sim);
}

static int has_device(void)
{
    struct nbc_error err = {0};
    return nb6_device_engine && nb6_device_engine->check(&err) == NBC_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_with_the_host),       cmocka_unit_test(stays_elsewhere),  cmocka_unit_test(same_bits),
        cmocka_unit_test(watches_whom_it_should), cmocka_unit_test(a_loss_undoes_it),
    };
    int failed = cmocka_run_group_tests_name("emulated engine", tests, NULL, NULL);
    if (!has_device()) return failed;
    elsewhere = NB6_ENGINE_DEVICE;
    return failed + cmocka_run_group_tests_name("device engine", tests, NULL, NULL);
}
