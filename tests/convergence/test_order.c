/* Order of the block step with constant steps: halving them cuts the error of a Plummer cluster by 2^4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>

#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"

/* Two clusters with closest pairs wider than 0.03 up to T_END, so that the longest step here is a small part of every
 * encounter; then the error term of order h^4 dominates. Lists longer than all stars, and empty ones. */
enum { STARS = 64, SEED_A = 1, SEED_B = 5 };
static const double T_END = 0.5, ALL = 1e6, NONE = 1e-6;

/* Steps of the reference, 1/128: its error, seen from the difference between steps, is 1e-15, while the errors measured
 * here are 1e-11 and more. */
static const double REFERENCE_STEP = 0x1p-7;

static double error_of_run(const struct cluster *start, const struct cluster *exact, double dt_irr, double dt_reg,
                           double r_nb, double *nnb)
{
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_ref(&config);
    cluster_config_fixed(&config, dt_irr, dt_reg, r_nb);
    config.run.dt_adjust = config.run.dt_output = 100;
    nb6_t *sim = cluster_start(&config, start, NULL);
    cluster_evolve(sim, T_END);
    /* the steps were what they should be, and all stars are at their own time: no prediction enters the error */
    assert_int_equal(sim->run.counters.steps_irr, (uint64_t)llround(STARS * T_END / dt_irr));
    assert_int_equal(sim->run.counters.steps_reg, (uint64_t)llround(STARS * T_END / dt_reg));
    *nnb = (double)sim->run.counters.pairs_irr / (double)sim->run.counters.steps_irr;
    struct cluster now = cluster_now(sim);
    double error = cluster_rms_distance(&now, exact);
    cluster_free(&now);
    nb6_free(sim);
    return error;
}

/* The issue asks for 2^4 within 15 percent at every halving, from (longest) irregular step 2^-first on. */
static void assert_fourth_order(const char *name, uint64_t seed, int first, int halvings, double reg_to_irr,
                                double r_nb, double nnb_min, double nnb_max)
{
    struct cluster start = cluster_plummer(STARS, seed), exact = cluster_plummer(STARS, seed);
    double last = 0, nnb;
    cluster_integrate_exactly(&exact, T_END, REFERENCE_STEP);
    for (int k = 0; k <= halvings; k++) {
        double dt = ldexp(1, -first - k), error = error_of_run(&start, &exact, dt, reg_to_irr * dt, r_nb, &nnb);
        print_message("%s, seed %d, dt 2^-%d: rms error %.3e, ratio %.2f, %.1f neighbours\n", name, (int)seed,
                      first + k, error, last / error, nnb);
        assert_true(nnb >= nnb_min && nnb <= nnb_max);
        if (k > 0 && !(fabs(last / error - 16) <= 0.15 * 16)) fail_msg("%s: the error ratio is not 16", name);
        last = error;
    }
    cluster_free(&start);
    cluster_free(&exact);
}

static void irregular_alone(void **state)
{
    (void)state;
    assert_fourth_order("irregular", SEED_A, 8, 2, 1, ALL, STARS - 1, STARS - 1);
    assert_fourth_order("irregular", SEED_B, 8, 2, 1, ALL, STARS - 1, STARS - 1);
}

static void regular_alone(void **state)
{
    (void)state;
    assert_fourth_order("regular", SEED_A, 8, 2, 1, NONE, 0, 0);
    assert_fourth_order("regular", SEED_B, 8, 2, 1, NONE, 0, 0);
}

/* Both parts, with lists that change at the regular steps. At a ratio of 4 the irregular error rules. At 16 and a small
 * sphere the regular one adds to it, 6 times as much in the first cluster. Without the list-change term of NA12 eq. 13
 * the ratio would be 2 and the errors a thousand times larger. */
static void both_parts(void **state)
{
    (void)state;
    assert_fourth_order("both, 4:1", SEED_A, 8, 2, 4, 0.7, 8, 20);
    assert_fourth_order("both, 4:1", SEED_B, 8, 2, 4, 0.7, 8, 20);
    assert_fourth_order("both, 16:1", SEED_A, 11, 1, 16, 0.4, 2, 8);
    assert_fourth_order("both, 16:1", SEED_B, 11, 1, 16, 0.4, 2, 8);
}

int main(void)
{
    /* blocks of 64 stars are no work for two threads, and their number changes no result */
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(irregular_alone),
        cmocka_unit_test(regular_alone),
        cmocka_unit_test(both_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
