/* 8192 stars that all lose the same part of their mass slowly, over 30 units until a fifth is gone: the product of
 * half-mass radius and mass stays (tests/physics/test_mass_loss.c has 1000 stars). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "nbody6/analysis/adjust_row.h"
#include "tests/support/mass_loss.h"

enum { STARS = 8192, PARTS = 60 };
static const double T_END = 30;

/* The radius of a cluster at rest scatters by 0.5 percent from row to row: means over 5 units, ten rows. */
static void r_half_times_mass_stays(void **state)
{
    struct cluster_record record = {0};
    (void)state;
    mass_loss_run(STARS, 1, PARTS, T_END, T_END / PARTS, &record);
    const struct nb6_adjust_row *row = &record.row[record.n_rows - 1];
    const double early = mass_loss_mean(&record, 0, 5);
    assert_true(fabs(row->energy.mass - (1 - MASS_LOSS)) < 1e-12);
    for (double t = 5; t < T_END; t += 5)
        print_message("to t = %g: r_half M / that of the first 5 units %.4f\n", t + 5,
                      mass_loss_mean(&record, t, t + 5) / early);
    print_message("energy: %.1e\n", row->de_cluster);
    assert_true(fabs(mass_loss_mean(&record, T_END - 3, T_END + 2) / early - 1) < 0.02);
    assert_true(fabs(row->de_cluster) < 1e-5);
    cluster_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(r_half_times_mass_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
