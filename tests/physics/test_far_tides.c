/* Pairs and chains feel the tide of bodies beyond their neighbour sphere (pairs/tides.c): the field against direct
 * sums, and what it is for, the energy of clusters in which wide pairs come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>

#include "gpuirr/gpuirr.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "tests/support/cluster.h"

enum { STARS = 200, SEEDS = 4 };

/* m (3 x x/r^2 - 1)/r^3 in long double of all bodies that are no neighbours of the centre of mass, at its last regular
 * step, which is the present time. */
static void direct(const nb6_t *sim, int32_t centre, long double field[6])
{
    size_t nnb = 0;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)centre, &nnb);
    for (int k = 0; k < 6; k++) field[k] = 0;
    for (int64_t m = 0; m < sim->subsystems.n_source; m++) {
        const int32_t j = sim->subsystems.source[m];
        int neighbour = j == centre;
        for (size_t k = 0; k < nnb; k++) neighbour |= list[k] == j;
        if (neighbour) continue;
        long double x[3], r2 = 0;
        for (int k = 0; k < 3; k++) {
            x[k] = (long double)sim->body[j].x0[k] - sim->body[centre].x0[k];
            r2 += x[k] * x[k];
        }
        const long double w = sim->body[j].mass / (r2 * sqrtl(r2));
        for (int a = 0, k = 0; a < 3; a++)
            for (int b = a; b < 3; b++, k++) field[k] += w * (3 * x[a] * x[b] / r2 - (a == b));
    }
}

/* At t = 0 all bodies are at the same time. Ten wide binaries, each with neighbours and with others beyond. */
static void field(void **state)
{
    (void)state;
    enum { PAIRS = 10 };
    struct nb6_config config;
    struct cluster c = cluster_plummer(STARS, 3);
    const double a = 0.01;
    int checked = 0;
    cluster_config(&config);
    config.binaries.wanted = 1;
    config.binaries.n = PAIRS;
    for (int p = 0; p < PAIRS; p++) {
        const double v = sqrt((c.mass[2 * p] + c.mass[2 * p + 1]) / a);
        for (int k = 0; k < 3; k++) {
            c.x[2 * p + 1][k] = c.x[2 * p][k] + (k == 0 ? a : 0);
            c.v[2 * p + 1][k] = c.v[2 * p][k] + (k == 1 ? v : 0);
        }
    }
    nb6_t *sim = cluster_start(&config, &c, NULL);
    for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++) {
        const struct nb6_tide *far = &sim->subsystems.system[slot].far;
        long double expected[6], size2 = 0, error2 = 0;
        if (sim->subsystems.system[slot].member[0] < 0 || sim->subsystems.pert[slot].n == 0) continue;
        direct(sim, (int32_t)(sim->n + slot), expected);
        for (int k = 0; k < 6; k++) {
            size2 += expected[k] * expected[k];
            error2 += (far->field[k] - expected[k]) * (far->field[k] - expected[k]);
        }
        if (size2 == 0) continue; /* all are neighbours */
        checked++;
        assert_true(far->t == 0);
        assert_true(error2 < 1e-26L * size2); /* a hundred terms of either sign, each rounded */
    }
    print_message("%d far tides as by direct sums\n", checked);
    assert_true(checked > PAIRS / 2);
    nb6_free(sim);
    cluster_free(&c);
}

/* Steps a quarter of the usual ones leave 1e-8 to 1e-7 by t = 5. Without the far tide it is 2e-6 to 7e-6, for any step:
 * each pair that ends leaves what the tide should have changed. */
static void energy(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct nb6_config config;
        struct cluster_record record;
        struct cluster c = cluster_plummer(STARS, seed);
        cluster_config(&config);
        config.integration.eta_irr = config.integration.eta_reg = 0.005;
        config.integration.dt_max = 0.125;
        nb6_t *sim = cluster_start(&config, &c, &record);
        cluster_evolve(sim, 5);
        const double de = record.row[record.n_rows - 1].de_rel;
        print_message("seed %d: dE/E %.2e, %d pairs\n", (int)seed, de, (int)sim->run.counters.pairs_formed);
        assert_true(sim->run.counters.pairs_formed > 10);
        assert_true(fabs(de) < 5e-7);
        nb6_free(sim);
        cluster_record_free(&record);
        cluster_free(&c);
    }
}

int main(void)
{
    omp_set_num_threads(1); /* several test programs run at once, and the number of threads changes no result */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(field),
        cmocka_unit_test(energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
