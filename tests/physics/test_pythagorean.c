/* The Pythagorean problem: masses 3, 4, 5 at rest (Burrau 1913; Szebehely & Peters 1967, AJ 72, 876), by small plain
 * steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "tests/support/cluster.h"

/* A quadruple-precision integration, 12 digits. */
static const double AT_10[3][2] = {
    {0.778480410138, 0.141392300290}, {-2.025092477978, 0.097219384146}, {1.152985736300, -0.162610887491}};
static const double AT_20_MASS_3[2] = {3.004292636696, 0.511925235025};

static struct cluster at_rest(void)
{
    static const double row[3][7] = {{3, 1, 3}, {4, -2, -1}, {5, 1, -1}};
    return cluster_from_rows(3, row);
}

static double distance(const double is[3], const double should[2])
{
    return sqrt(pow(is[0] - should[0], 2) + pow(is[1] - should[1], 2) + pow(is[2], 2));
}

/* The integrator that other tests take for exact, against figures from outside: they have 12 digits, and 6e-12 was
 * found. */
static void reference_integrator(void **state)
{
    (void)state;
    struct cluster c = at_rest();
    cluster_integrate_exactly(&c, 10, 0x1p-13);
    for (int i = 0; i < 3; i++) {
        print_message("mass %g: %.2e from the reference at t = 10\n", c.mass[i], distance(c.x[i], AT_10[i]));
        assert_true(distance(c.x[i], AT_10[i]) < 1e-10);
    }
    cluster_free(&c);
}

/* 1e-9 and 8e-8 were found with ETAI = 1e-4; the bounds leave a factor of ten, because the encounters in between
 * magnify the last bits of another compiler. */
static void driver(void **state)
{
    (void)state;
    struct nb6_config config;
    struct cluster c = at_rest();
    cluster_config(&config);
    config.integration.eta_irr = config.integration.eta_reg = 1e-4;
    config.integration.dt_max = 0.125;
    nb6_t *sim = cluster_start(&config, &c, NULL);
    cluster_free(&c);
    cluster_evolve(sim, 10);
    struct cluster now = cluster_now(sim);
    double at_10 = 0;
    for (int i = 0; i < 3; i++) at_10 = fmax(at_10, distance(now.x[i], AT_10[i]));
    cluster_free(&now);
    cluster_evolve(sim, 20);
    now = cluster_now(sim);
    double at_20 = distance(now.x[0], AT_20_MASS_3);
    cluster_free(&now);
    nb6_free(sim);
    print_message("farthest from the reference: %.2e at t = 10, %.2e at t = 20\n", at_10, at_20);
    assert_true(at_10 < 1e-8);
    assert_true(at_20 < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reference_integrator), cmocka_unit_test(driver)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
