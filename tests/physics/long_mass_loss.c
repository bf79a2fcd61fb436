/* 8192 stars that all lose the same part of their mass slowly, over 30 units until a fifth is gone: the product of
 * half-mass radius and mass stays (tests/physics/test_mass_loss.c has 1000 stars). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "tests/support/cluster.h"

enum { STARS = 8192, PARTS = 60 };
static const double T_END = 30, LOSS = 0.2;

static void lose(nb6_t *sim, int part)
{
    static int64_t name[STARS];
    static double mass[STARS];
    struct nbc_error err = {0};
    for (int i = 0; i < STARS; i++) {
        name[i] = i + 1;
        mass[i] = (1 - LOSS * part / PARTS) / STARS;
    }
    if (nb6_set_masses(sim, STARS, name, mass, NULL, NB6_MASS_SLOW, &err)) fail_msg("%s", err.text);
}

/* Mean of r_half M over rows from t to `end`. */
static double mean(const struct cluster_record *record, double t, double end)
{
    double sum = 0;
    int n = 0;
    for (int64_t k = 0; k < record->n_rows; k++) {
        const struct nb6_adjust_row *row = &record->row[k];
        if (row->t < t || row->t > end) continue;
        sum += row->r_half * row->energy.mass;
        n++;
    }
    return sum / n;
}

/* The radius of a cluster at rest scatters by 0.5 percent from row to row: means over 5 units, ten rows. */
static void r_half_times_mass_stays(void **state)
{
    struct cluster_record record = {0};
    struct nb6_config config;
    (void)state;
    cluster_config(&config);
    config.run.dt_adjust = config.run.dt_output = T_END / PARTS;
    struct cluster c = cluster_plummer(STARS, 1);
    nb6_t *sim = cluster_start(&config, &c, &record);
    for (int part = 1; part <= PARTS; part++) {
        cluster_evolve(sim, T_END * part / PARTS);
        lose(sim, part);
    }
    cluster_evolve(sim, T_END + 2);
    const struct nb6_adjust_row *row = &record.row[record.n_rows - 1];
    const double early = mean(&record, 0, 5);
    assert_true(fabs(row->energy.mass - (1 - LOSS)) < 1e-12);
    for (double t = 5; t < T_END; t += 5)
        print_message("to t = %g: r_half M / that of the first 5 units %.4f\n", t + 5, mean(&record, t, t + 5) / early);
    print_message("energy: %.1e\n", row->de_cluster);
    assert_true(fabs(mean(&record, T_END - 3, T_END + 2) / early - 1) < 0.02);
    assert_true(fabs(row->de_cluster) < 1e-5);
    cluster_free(&c);
    cluster_record_free(&record);
    nb6_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(r_half_times_mass_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
