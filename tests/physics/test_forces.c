/* Forces in the middle of runs, from the polynomials and from every backend, against direct sums in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"

enum { STARS = 1000 };

/* Largest of the medians and of the maxima at the adjust times. */
struct errors {
    double acc_median, acc_max, jerk_median, jerk_max;
    int checks;
};

static struct errors run(const char *reg, const char *irr, double eta, double dt_adjust, double t, int in_a_field)
{
    struct nb6_config config;
    struct cluster_record record;
    struct errors e = {0, 0, 0, 0, 0};
    struct cluster c = cluster_plummer(STARS, 1);
    cluster_config(&config);
    strcpy(config.run.device, reg);
    strcpy(config.run.irr_backend, irr);
    config.run.force_check = 1;
    config.run.dt_adjust = config.run.dt_output = dt_adjust;
    config.integration.eta_irr = config.integration.eta_reg = eta;
    if (in_a_field) config.tide.kind = NB6_TIDE_SOLAR;
    nb6_t *sim = cluster_start(&config, &c, &record);
    cluster_evolve(sim, t);
    for (int64_t k = 0; k < record.n_events; k++) {
        const double *value = record.event[k].value;
        if (record.event[k].kind != NB6_EVENT_FORCE_CHECK) continue;
        e.acc_median = fmax(e.acc_median, value[0]);
        e.acc_max = fmax(e.acc_max, value[1]);
        e.jerk_median = fmax(e.jerk_median, value[2]);
        e.jerk_max = fmax(e.jerk_max, value[3]);
        e.checks++;
    }
    print_message("%s + %s, eta %.4f, up to t = %.3f: acceleration median %.2e max %.2e, jerk median %.2e max %.2e\n",
                  gpunb_info(sim->reg)->name, gpuirr_info(sim->irr)->name, eta, t, e.acc_median, e.acc_max,
                  e.jerk_median, e.jerk_max);
    nb6_free(sim);
    cluster_record_free(&record);
    cluster_free(&c);
    return e;
}

/* At t = 0 nothing is predicted, and the errors are those of the sums. `ref` has 1000 roundings of 1e-16 in double,
 * fewer than that where they do not add up. The others sum in float, with a spacing of 1.2e-7, in parts; cancellation
 * in the centre enlarges it a few times (measured: medians 6e-8 and 9e-8, maxima 2.9e-7 and 9e-7). */
static void at_the_start(void **state)
{
    (void)state;
    const struct gpunb_backend_info *info;
    int tried = 0;
    for (int k = 0; (info = gpunb_backend(k)); k++) {
        if (!info->available) print_message("skipped: gpunb %s: %s\n", info->name, info->reason);
        if (!info->available) continue;
        int exact = strcmp(info->name, "ref") == 0;
        struct errors e = run(info->name, exact ? "ref" : "auto", 0.02, 1, 0, 0);
        assert_int_equal(e.checks, 1);
        assert_true(e.acc_median < (exact ? 5e-15 : 2e-7) && e.acc_max < (exact ? 1e-13 : 1e-6));
        assert_true(e.jerk_median < (exact ? 5e-15 : 2e-7) && e.jerk_max < (exact ? 1e-13 : 5e-6));
        tried++;
    }
    assert_true(tried >= 2);
}

/* At multiples of the longest step all bodies have just been corrected. Forces were taken at predicted places, which
 * are off by F'' h^4/24, so that they are good to fourth order in the step, and jerks to third. Measured medians 1e-6
 * and 5e-5; the maxima, of stars in an encounter or with forces that nearly cancel, 4e-4 and 7e-3. Five times that. */
static void at_block_times(void **state)
{
    (void)state;
    const struct gpunb_backend_info *info;
    for (int k = 0; (info = gpunb_backend(k)); k++) {
        if (!info->available) continue;
        struct errors e = run(info->name, "auto", 0.02, 0.125, 1, 0);
        assert_int_equal(e.checks, 9);
        assert_true(e.acc_median < 5e-6 && e.acc_max < 2e-3);
        assert_true(e.jerk_median < 2.5e-4 && e.jerk_max < 3.5e-2);
    }
    struct errors e = run("ref", "ref", 0.02, 0.125, 1, 1);
    assert_true(e.acc_median < 5e-6 && e.acc_max < 2e-3); /* in the field of the galaxy */
}

/* Half the steps: 2^4 and 2^3, measured 15 and 7. The maximum over nine times of a median over stars is a steady
 * number, but the stars' steps are powers of two of their own: a third either way is allowed. */
static void orders(void **state)
{
    (void)state;
    struct errors coarse = run("ref", "ref", 0.02, 0.125, 1, 0), fine = run("ref", "ref", 0.005, 0.125, 1, 0);
    double acc = coarse.acc_median / fine.acc_median, jerk = coarse.jerk_median / fine.jerk_median;
    print_message("half the steps: acceleration %.1f times better, jerk %.1f times\n", acc, jerk);
    assert_true(acc > 16 / 1.5 && acc < 16 * 1.5);
    assert_true(jerk > 8 / 1.5 && jerk < 8 * 1.5);
}

/* Between block times forces come from polynomials alone, up to a whole step old. Measured: medians 1.4e-4 and 7e-3.
 * Without the second and third derivatives of either part the first is 5.7e-4. */
static void between_block_times(void **state)
{
    (void)state;
    struct errors e = run("ref", "ref", 0.02, 0.3, 1, 0);
    assert_true(e.acc_median < 3e-4 && e.acc_max < 2e-2);
    assert_true(e.jerk_median < 3e-2);
}

int main(void)
{
    /* several test programs run at once, and the number of threads changes no result */
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_start),
        cmocka_unit_test(at_block_times),
        cmocka_unit_test(orders),
        cmocka_unit_test(between_block_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
