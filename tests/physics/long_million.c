/* A million stars are set up and take block steps within 2 GiB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <sys/resource.h>

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/step.h"
#include "tests/support/cluster.h"

enum { STARS = 1000000, BLOCKS = 200 };

static double peak_gib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (double)usage.ru_maxrss * 1024 / (double)(1 << 30); /* Linux counts in KiB */
}

/* The O(N^2) energy sum of an adjust is left out: it needs no memory of its own, and as much time as the start. */
static void block_steps(void **state)
{
    (void)state;
    struct nb6_config config;
    struct nbc_error err = {0};
    cluster_config(&config);
    struct cluster c = cluster_plummer(STARS, 1);
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_free(&c);
    print_message("set up: peak %.2f GiB\n", peak_gib());
    int paused;
    for (int block = 0; block < BLOCKS; block++)
        if (nb6_step(sim, &paused, &err)) fail_msg("block %d: %s", block, err.text);
    double neighbours = 0;
    for (int64_t i = 0; i < STARS; i++) neighbours += sim->star[i].nnb;
    print_message("t = %.3g, %llu irregular and %llu regular steps, %.0f neighbours in the mean, peak %.2f GiB\n",
                  nb6_time_to_double(sim->ti_now), (unsigned long long)sim->run.counters.steps_irr,
                  (unsigned long long)sim->run.counters.steps_reg, neighbours / STARS, peak_gib());
    assert_true(sim->run.counters.blocks == BLOCKS && sim->run.counters.steps_irr > BLOCKS);
    assert_true(peak_gib() < 2);
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(block_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
