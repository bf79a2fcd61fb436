/* Calls of the libraries and allocations that fail while the state is imported or exported (engine/engine.h): after any
 * failure the next calls go on from there, and end with the same bits as without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/cluster_check.h"
#include "tests/support/cluster_state.h"
#include "tests/support/faults.h"
#include "tests/support/test_size.h"

/* Some hundred blocks: in images of a few, fetched each time, and of the host while there is a pair. */
static int evolve(nb6_t *sim, nb6_time t, struct nbc_error *err)
{
    enum nb6_stop_reason reason = NB6_STOP_BLOCKS;
    int status = NBC_OK;
    for (int64_t blocks = 1; !status && reason != NB6_STOP_REACHED; blocks++) {
        status = nb6_engines_advance(sim, t, blocks, &reason, err);
        if (!status && blocks % 3 == 0) status = nb6_bring_home(sim, err);
    }
    return status ? status : nb6_bring_home(sim, err);
}

/* Two stars that meet in a field of others, and become a pair if pairs are looked for. */
static nb6_t *begin(int with_pairs)
{
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_ref(&config);
    config.run.engine = NB6_ENGINE_EMULATED;
    config.pair.adjust = 0;
    config.pair.r_min = with_pairs ? 0.01 : 0;
    config.pair.dt_min = with_pairs ? 1e-3 : 0;
    struct cluster c = cluster_with_field(2, 30, 4);
    for (int m = 0; m < 2; m++) {
        c.mass[m] = 0.01;
        c.x[m][0] = m ? 0.012 : -0.012;
        c.v[m][0] = m ? -0.5 : 0.5;
        c.v[m][1] = m ? 0.05 : -0.05;
    }
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_free(&c);
    return sim;
}

/* @return 1 if a call has failed */
static int evolve_with_fault(const nb6_t *first, nb6_time t, uint64_t end, enum fault kind, long k)
{
    struct nbc_error err = {0};
    nb6_t *sim = cluster_through_checkpoint((nb6_t *)(uintptr_t)first);
    fault_set(kind, k);
    int status = evolve(sim, t, &err);
    const int happened = fault_clear();
    if (status && !happened) fail_msg("without a fault: status %d, %s", status, err.text);
    assert_true(!status || err.text[0] != '\0' || kind != NO_ALLOCATION); /* injected ones have no words */
    if (status && evolve(sim, t, &err)) fail_msg("after fault %d, call %ld: %s", (int)kind, k, err.text);
    if (cluster_state(sim) != end) fail_msg("fault %d, call %ld: the state is another one", (int)kind, k);
    cluster_check_sources(sim);
    nb6_free(sim);
    return happened;
}

/* Every one of the first calls fails, then every so many-th. */
static void try_all(int with_pairs, enum fault kind)
{
    const nb6_time t = (nb6_time)1 << (NB6_TIME_BITS - 5);
    struct nbc_error err = {0};
    long faults = 0;
    if (!fault_can_happen(kind)) return;
    nb6_t *first = begin(with_pairs), *sim = cluster_through_checkpoint(first);
    if (evolve(sim, t, &err)) fail_msg("%s", err.text);
    const uint64_t end = cluster_state(sim);
    assert_true((sim->run.counters.pairs_formed > 0) == with_pairs && sim->run.counters.blocks > 100);
    nb6_free(sim);
    for (long k = 0; evolve_with_fault(first, t, end, kind, k); k += 1 + k / test_size(8, 3)) faults++;
    print_message("fault %d: %ld times\n", (int)kind, faults);
    assert_true(faults > test_size(10, 5));
    nb6_free(first);
}

static void any_call_fails(void **state)
{
    (void)state;
    try_all(1, REFUSED);
    try_all(1, FAILED_AFTERWARDS);
    try_all(1, NO_ALLOCATION);
}

/* Not while the host has a pair: its block commits what it knows to be sound. */
static void a_body_is_not_taken(void **state)
{
    (void)state;
    try_all(0, NOT_SENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_call_fails), cmocka_unit_test(a_body_is_not_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
