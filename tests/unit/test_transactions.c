/* A step that fails leaves the state before it, bit for bit, and the run goes on: every call of a library and of the
 * regularization fails in turn, without doing anything or after it was done, its numbers turn into NaN, and every
 * allocation fails in turn (tests/support/faults.h). */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/step.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { KINDS = NO_ALLOCATION + 1 }; /* of faults */

struct heard {
    int64_t events;
};

static int on_event(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    struct heard *heard = context;
    (void)sim;
    (void)event;
    (void)err;
    heard->events++;
    return NBC_OK;
}

/* One step, after every fault of a kind was tried in it.   @return faults that made it fail */
static int64_t step_with_faults(struct nb6_sim *sim, enum fault kind, const struct heard *heard)
{
    int64_t failures = 0;
    for (long k = 0;; k++) {
        struct nbc_error err = {0};
        const uint64_t before = cluster_state(sim);
        const int64_t told = heard->events, blocks = (int64_t)sim->run.counters.blocks, undecided = sim->book.undecided;
        int paused = 0;
        fault_set(kind, k);
        const int status = nb6_step(sim, &paused, &err);
        const int happened = fault_clear();
        cluster_check_sources(sim);
        if (!status) {
            if (!happened || paused || k > 2000) return failures;
            continue; /* the block is committed: the failed call was not needed */
        }
        if (!happened) fail_msg("without a fault: status %d, %s", status, err.text);
        assert_true(err.text[0] != '\0' || kind != NO_ALLOCATION);
        failures++;
        /* One of the transactions of a step is committed, and the next one failed: the next step tries it again. */
        if ((int64_t)sim->run.counters.blocks > blocks || sim->book.undecided != undecided) return failures;
        if (cluster_state(sim) != before)
            print_message("fault %d, call %ld: status %d, %s\n", kind, k, status, err.text);
        assert_int_equal(cluster_state(sim), before);
        assert_int_equal(heard->events, told);
    }
}

static nb6_t *begin(const struct nb6_config *config, int64_t n, const double *mass, const double (*x)[3],
                    const double (*v)[3])
{
    struct nbc_error err = {0};
    nb6_t *sim = NULL;
    if (nb6_create(&sim, config, &err)) fail_msg("%s", err.text);
    if (nb6_set_bodies(sim, n, NULL, mass, x, v, &err)) fail_msg("%s", err.text);
    return sim;
}

/* Nothing but binaries, whose stars collide. */
static nb6_t *binaries(double t_x, uint64_t seed)
{
    struct nb6_config config;
    struct nb6_model model;
    struct nbc_error err = {0};
    cluster_config(&config);
    cluster_config_ref(&config);
    config.model.n = config.binaries.n = 15;
    config.model.seed = seed;
    config.pair.r_star = 1e-4;
    if (t_x > 0) cluster_config_field(&config, NB6_TIDE_POINT_MASS, 30, t_x);
    if (nb6_model_make(&config, &model, &err)) fail_msg("%s", err.text);
    nb6_t *sim = begin(&config, model.n, model.mass, (const double(*)[3])model.x, (const double(*)[3])model.v);
    nb6_model_free(&model);
    return sim;
}

/* A circular binary of two equal stars in the place of star i and the next. */
static void put_binary(struct cluster *c, int64_t i, double mass, double a, const double x[3], const double v[3])
{
    const double speed = 0.5 * sqrt(mass / a);
    for (int m = 0; m < 2; m++) {
        const double side = m ? -1 : 1;
        const double place[3] = {x[0] + side * a / 2, x[1], x[2]}, velocity[3] = {v[0], v[1] + side * speed, v[2]};
        c->mass[i + m] = mass / 2;
        memcpy(c->x[i + m], place, sizeof place);
        memcpy(c->v[i + m], velocity, sizeof velocity);
    }
}

/* Two binaries meet, in a chain; a third one has a companion, and is frozen with it. */
static nb6_t *encounters(void)
{
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_ref(&config);
    struct cluster c = cluster_with_field(7, 20, 3);
    put_binary(&c, 0, 0.08, 1e-3, (double[3]){-0.012, -0.002, 0}, (double[3]){0.5, 0, 0});
    put_binary(&c, 2, 0.04, 3e-3, (double[3]){0.012, 0.002, 0}, (double[3]){-0.5, 0, 0});
    put_binary(&c, 4, 0.04, 1e-3, (double[3]){0.3, 0.4, 0}, (double[3]){0, 0, 0});
    const double r = 0.02, x[3] = {0.3 + r, 0.4, 0}, v[3] = {0, sqrt(0.06 / r), 0};
    c.mass[6] = 0.02;
    memcpy(c.x[6], x, sizeof x);
    memcpy(c.v[6], v, sizeof v);
    nb6_t *sim = begin(&config, c.n, c.mass, (const double(*)[3])c.x, (const double(*)[3])c.v);
    cluster_free(&c);
    return sim;
}

/* Steps with all faults of all kinds, one kind after the other. */
static void run_with_faults(nb6_t *sim, int steps, int allocations, int64_t failures[KINDS])
{
    struct heard heard = {0};
    const struct nb6_observer observer = {.context = &heard, .event = on_event};
    nb6_set_observer(sim, &observer);
    for (int k = 0; k < steps; k++) {
        enum fault kind = (enum fault)(1 + k % (KINDS - 1));
        if (!allocations && kind == NO_ALLOCATION) kind = REFUSED;
        failures[kind] += step_with_faults(sim, kind, &heard);
    }
}

static void every_fault(void **state)
{
    enum { STEPS = 10000, SYSTEMS = 3 };
    (void)state;
    int64_t failures[KINDS] = {0};
    struct nb6_counters all = {0};
    const int allocations = fault_can_happen(NO_ALLOCATION);
    for (int k = 0; k < SYSTEMS; k++) {
        nb6_t *sim = k == 2 ? encounters() : binaries(k ? 0.1 : 0, (uint64_t)k + 1);
        run_with_faults(sim, STEPS, allocations, failures);
        all.pairs_formed += sim->run.counters.pairs_formed;
        all.pairs_ended += sim->run.counters.pairs_ended;
        all.chains_formed += sim->run.counters.chains_formed;
        all.chains_ended += sim->run.counters.chains_ended;
        all.hierarchies_formed += sim->run.counters.hierarchies_formed;
        all.mergers += sim->run.counters.mergers;
        nb6_free(sim);
    }
    print_message("pairs %d and %d, chains %d and %d, hierarchies %d, mergers %d; faults:", (int)all.pairs_formed,
                  (int)all.pairs_ended, (int)all.chains_formed, (int)all.chains_ended, (int)all.hierarchies_formed,
                  (int)all.mergers);
    for (int kind = 1; kind < KINDS; kind++) {
        print_message(" %lld", (long long)failures[kind]);
        if (kind != NO_ALLOCATION || allocations) assert_true(failures[kind] > 1000);
    }
    print_message("\n");
    /* or less is tested than meant */
    assert_true(all.pairs_ended > 10 && all.chains_formed > 0 && all.chains_ended > 0);
    assert_true(all.hierarchies_formed > 0 && all.mergers > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_fault)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
