/* Bodies are synchronised to a common time before two of them become one, within an engine image (engine/engine.h): as
 * by the host, bit for bit, but without an export of the state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/nbc.h"
#include "nbody6/engine/choice.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/survey.h"
#include "nbody6/state/touched.h"
#include "nbody6/step/decide.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"

/* The engine under test: emulated, then that of a GPU if there is one. */
static enum nb6_engine_choice under_test = NB6_ENGINE_EMULATED;

static void demand(int status, const struct nbc_error *err)
{
    if (status) fail_msg("%s", err->text);
}

static nb6_t *start(int64_t binaries, int64_t n, uint64_t seed)
{
    struct nb6_config config;
    cluster_config_with_binaries(&config, n, binaries);
    config.run.engine = (int)under_test;
    config.model.seed = seed;
    nb6_t *sim = cluster_start_model(&config, NULL);
    cluster_evolve(sim, 0.001); /* the decisions at t = 0 */
    return sim;
}

struct tally {
    int64_t moves, calls;
};

static void to_time(nb6_t *sim, double t, struct tally *tally)
{
    struct nbc_error err = {0};
    enum nb6_stop_reason reason;
    do {
        const int was_ahead = sim->engine_image.ahead;
        demand(nb6_engines_advance(sim, (nb6_time)ldexp(t, NB6_TIME_BITS), 64, &reason, &err), &err);
        tally->moves += was_ahead && !sim->engine_image.ahead;
        tally->calls += reason == NB6_STOP_ENCOUNTER && sim->engine_image.ahead;
    } while (reason != NB6_STOP_REACHED);
}

/* The same, but the state is exported for each decision. */
static void to_time_at_home(nb6_t *sim, double t, struct tally *tally)
{
    const struct nb6_engine *engine = nb6_engine_of(under_test);
    const nb6_time stop = (nb6_time)ldexp(t, NB6_TIME_BITS);
    struct nbc_error err = {0};
    enum nb6_stop_reason reason;
    do {
        if (!sim->engine_image.ahead) {
            nb6_host_service_forget(sim);
            sim->engine_image.owner = engine;
            demand(engine->import(sim, &err), &err);
            nb6_touched_begin(&sim->engine_image.touched, sim->edits);
        }
        demand(engine->advance(sim, stop, 64, &reason, &err), &err);
        if (reason != NB6_STOP_ENCOUNTER && reason != NB6_STOP_HOST) continue;
        sim->engine_image.pending.n = 0;
        tally->moves += sim->engine_image.ahead;
        demand(nb6_engines_bring_home(sim, &err), &err);
        nb6_survey_begin(sim, engine->survey);
        if (reason == NB6_STOP_HOST) demand(nb6_host_engine.advance(sim, stop, 1, &reason, &err), &err);
        if (reason == NB6_STOP_ENCOUNTER) demand(nb6_step_decide_again(sim, &err), &err);
        nb6_survey_end(sim);
    } while (reason != NB6_STOP_REACHED);
}

static void compare(int64_t binaries, int64_t n, uint64_t seed, struct tally *here, struct tally *there)
{
    struct nbc_error err = {0};
    nb6_t *one = start(binaries, n, seed), *other = start(binaries, n, seed);
    to_time(one, 0.4, there);
    to_time_at_home(other, 0.4, here);
    demand(nb6_bring_home(one, &err), &err);
    demand(nb6_bring_home(other, &err), &err);
    assert_int_equal(one->run.counters.blocks, other->run.counters.blocks);
    assert_int_equal(one->run.counters.pairs_formed, other->run.counters.pairs_formed);
    assert_int_equal(cluster_state(one), cluster_state(other));
    cluster_assert_consistent(one);
    nb6_free(one);
    nb6_free(other);
}

static void as_at_home(void **state)
{
    (void)state;
    struct tally here = {0}, there = {0};
    for (uint64_t seed = 1; seed <= 4; seed++) compare(0, 400, seed, &here, &there);
    for (uint64_t seed = 1; seed <= 2; seed++) compare(40, 200, seed, &here, &there);
    print_message("%lld moves and %lld calls, %lld moves if all is decided at home\n", (long long)there.moves,
                  (long long)there.calls, (long long)here.moves);
    assert_true(there.calls > 0);
    assert_true(there.moves + there.calls <= here.moves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_at_home)};
    int failed = cmocka_run_group_tests_name("emulated engine", tests, NULL, NULL);
    struct nbc_error err = {0};
    if (!nb6_device_engine || nb6_device_engine->check(&err)) return failed;
    under_test = NB6_ENGINE_DEVICE;
    return failed + cmocka_run_group_tests_name("device engine", tests, NULL, NULL);
}
