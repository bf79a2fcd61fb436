/* A cluster in which all stars lose the same part of their mass slowly: it widens as the mass falls, and the product of
 * half-mass radius and mass stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "nbody6/analysis/adjust_row.h"
#include "tests/support/mass_loss.h"

/* A fifth of the mass in seven crossing times of the half-mass radius, in 40 parts: each of them is small beside what
 * two-body relaxation does in a crossing time. */
enum { STARS = 1000, PARTS = 40, SEEDS = 2 };
static const double T_END = 20;

static void run(uint64_t seed, double *early, double *late)
{
    struct cluster_record record = {0};
    mass_loss_run(STARS, seed, PARTS, T_END, T_END / (2 * PARTS), &record);
    const struct nb6_adjust_row *row = &record.row[record.n_rows - 1];
    assert_true(fabs(row->energy.mass - (1 - MASS_LOSS)) < 1e-12 &&
                fabs(row->transfers.stars.mass + MASS_LOSS) < 1e-12);
    /* Measured: 6e-7 and 8e-7, without a loss 1.4e-6 and 1.7e-6. What left has taken 0.1 of energy. */
    assert_true(fabs(row->de_cluster) < 1e-5 && row->e_stars > 0.05);
    *early += mass_loss_mean(&record, 0, 5) / SEEDS;
    *late += mass_loss_mean(&record, T_END - 3, T_END + 2) / SEEDS;
    cluster_record_free(&record);
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
