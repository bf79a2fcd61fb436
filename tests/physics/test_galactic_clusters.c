/* Clusters in a galaxy with everything on: Jacobi's integral, and the errors of single changes of subsystems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/test_size.h"

/* ---- chains cost no energy */

enum { SEEDS = 5 };

/* A Kroupa mass function, a third of all systems binaries, and a tidal radius of 2. */
static double energy_error(int64_t systems, enum nb6_tide_kind kind, uint64_t seed, int on, double t, uint64_t *chains)
{
    struct nb6_config config;
    struct nb6_model model;
    struct cluster_record record;
    struct nbc_error err = {0};
    cluster_config(&config);
    config.model.n = systems;
    config.model.seed = seed;
    config.model.imf = NB6_IMF_KROUPA2001;
    config.model.mass_max_msun = 10;
    config.model.mass_min_msun = 0.1;
    config.binaries.wanted = 1;
    config.binaries.n = systems / 3;
    config.binaries.semi_max = 0.5 / (double)systems;
    config.binaries.range = 5;
    config.run.dt_adjust = config.run.dt_output = 0.25;
    config.pair.systems = on;
    cluster_config_field(&config, kind, systems + systems / 3, 1.0 / 8);
    if (nb6_model_make(&config, &model, &err)) fail_msg("%s", err.text);
    struct cluster c = {model.n, model.mass, model.x, model.v};
    nb6_t *sim = cluster_start(&config, &c, &record);
    cluster_evolve(sim, t);
    *chains += sim->run.counters.chains_formed;
    const double error = fabs(record.row[record.n_rows - 1].de_rel);
    assert_true(fabs(record.row[0].energy.tidal) > 1e-4);
    nb6_free(sim);
    nb6_model_free(&model);
    cluster_record_free(&record);
    return error;
}

static int ascending(const void *p, const void *q)
{
    double x = *(const double *)p, y = *(const double *)q;
    return (x > y) - (x < y);
}

/* Medians, because what two chains do to each other's parts is not in their forces, which costs up to 1e-3 where one of
 * few stars is as wide as the way to the next. */
static void with_and_without(int64_t systems, enum nb6_tide_kind kind, double t)
{
    double median[2];
    uint64_t chains[2] = {0, 0};
    for (int on = 0; on < 2; on++) {
        const int seeds = test_seeds(3, SEEDS);
        double error[SEEDS];
        for (int s = 0; s < seeds; s++) error[s] = energy_error(systems, kind, 1 + (uint64_t)s, on, t, &chains[on]);
        qsort(error, (size_t)seeds, sizeof *error, ascending);
        median[on] = error[seeds / 2];
    }
    print_message("%d systems, %s: |dE/E| %.1e with %d chains, %.1e without\n", (int)systems,
                  kind == NB6_TIDE_SOLAR ? "solar neighbourhood" : "point mass", median[1], (int)chains[1], median[0]);
    assert_true(chains[1] > 0 && chains[0] == 0);
    /* Medians of five errors, or of three of them, that scatter by 10 either way (measured: 0.15 to 3.4 times as
     * large). */
    assert_true(median[1] < 10 * median[0]);
}

static void chains_cost_nothing(void **state)
{
    (void)state;
    for (int kind = NB6_TIDE_SOLAR; kind <= NB6_TIDE_POINT_MASS; kind++) {
        with_and_without(12, (enum nb6_tide_kind)kind, 3);
        with_and_without(188, (enum nb6_tide_kind)kind, 0.5);
    }
}

/* ---- pairs that form and end */

struct watch {
    double before, worst, changed;
    uint64_t changes;
};

/* Energy change of a block beyond that of its events. */
static int after_block(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    struct watch *w = context;
    const uint64_t changes = sim->run.counters.pairs_formed + sim->run.counters.pairs_ended;
    (void)stop;
    (void)err;
    const double energy = cluster_energy_now(sim).total;
    if (changes != w->changes) {
        cluster_assert_consistent(sim);
        w->worst =
            fmax(w->worst, fabs(energy - w->before - (nb6_ledger_known_error(&sim->run.book.ledger) - w->changed)));
    }
    w->before = energy;
    w->changed = nb6_ledger_known_error(&sim->run.book.ledger);
    w->changes = changes;
    return NBC_OK;
}

/* Each of the others, and the galaxy, may act on a pair with GMIN of its attraction before it is a perturber: as much
 * of m1 m2/r changes when that begins or ends. All are neighbours of each other, so that there is no other tide. */
static int check_change(void *context, nb6_t *sim, const struct nb6_event *e, struct nbc_error *err)
{
    (void)context;
    (void)err;
    if (e->kind != NB6_EVENT_PAIR_FORMED && e->kind != NB6_EVENT_PAIR_ENDED) return NBC_OK;
    const double bound =
        (double)(sim->n + 1) * sim->run.config.pair.gamma_min * e->pair.mass[0] * e->pair.mass[1] / e->pair.r;
    if (!(fabs(e->pair.energy_change) <= bound))
        fail_msg("t = %g: a change of %g, bound %g", e->t, e->pair.energy_change, bound);
    return NBC_OK;
}

static void pairs_form_and_end(void **state)
{
    (void)state;
    enum { STARS = 40 };
    struct nb6_config config;
    struct cluster c = cluster_plummer(STARS, 4);
    cluster_config(&config);
    cluster_config_field(&config, NB6_TIDE_SOLAR, STARS, 1.0 / 8);
    config.pair.systems = 0;
    config.integration.nnb_opt = STARS - 1;
    config.pair.gamma_min = 1e-4; /* or all bodies would be perturbers, and nothing change */
    nb6_t *sim = cluster_start(&config, &c, NULL);
    struct watch watch = {.before = cluster_energy_now(sim).total};
    nb6_set_observer(sim, &(struct nb6_observer){.context = &watch, .poll = after_block, .event = check_change});
    cluster_evolve(sim, 4);
    print_message("pairs in a galaxy: %d formed, %d ended; jump of the energy %.1e at most\n",
                  (int)sim->run.counters.pairs_formed, (int)sim->run.counters.pairs_ended, watch.worst);
    assert_true(sim->run.counters.pairs_formed > 5 && sim->run.counters.pairs_ended > 5);
    assert_true(watch.worst < 1e-6);
    nb6_free(sim);
    cluster_free(&c);
}

int main(void)
{
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_cost_nothing),
        cmocka_unit_test(pairs_form_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
