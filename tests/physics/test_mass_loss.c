/* A cluster in which all stars lose the same part of their mass slowly: it widens as the mass falls, and the product of
 * half-mass radius and mass stays. */
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

/* A fifth of the mass in seven crossing times of the half-mass radius, in 40 parts: each of them is small beside what
 * two-body relaxation does in a crossing time. */
enum { STARS = 1000, PARTS = 40, SEEDS = 2 };
static const double T_END = 20, LOSS = 0.2;

static void lose(nb6_t *sim, int part)
{
    struct nbc_error err = {0};
    int64_t name[STARS];
    double mass[STARS];
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

static void run(uint64_t seed, double *early, double *late)
{
    struct cluster_record record = {0};
    struct nb6_config config;
    cluster_config(&config);
    config.run.dt_adjust = config.run.dt_output = T_END / (2 * PARTS);
    struct cluster c = cluster_plummer(STARS, seed);
    nb6_t *sim = cluster_start(&config, &c, &record);
    for (int part = 1; part <= PARTS; part++) {
        cluster_evolve(sim, T_END * part / PARTS);
        lose(sim, part);
    }
    cluster_evolve(sim, T_END + 2);
    const struct nb6_adjust_row *row = &record.row[record.n_rows - 1];
    assert_true(fabs(row->energy.mass - (1 - LOSS)) < 1e-12 && fabs(row->transfers.stars.mass + LOSS) < 1e-12);
    /* Measured: 6e-7 and 8e-7, without a loss 1.4e-6 and 1.7e-6. What left has taken 0.1 of energy. */
    assert_true(fabs(row->de_cluster) < 1e-5 && row->e_stars > 0.05);
    *early += mean(&record, 0, 5) / SEEDS;
    *late += mean(&record, T_END - 3, T_END + 2) / SEEDS;
    cluster_free(&c);
    cluster_record_free(&record);
    nb6_free(sim);
}

static void r_half_times_mass_stays(void **state)
{
    double early = 0, late = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) run(seed, &early, &late);
    print_message("r_half M: %.4f, then %.4f\n", early, late);
    /* Measured: 1.5 percent more, of which relaxation makes 1.3 (the same without a loss). Means over ten rows of two
     * clusters scatter by 0.7 percent. */
    assert_true(fabs(late / early - 1) < 0.03);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(r_half_times_mass_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
