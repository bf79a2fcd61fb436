#include "tests/support/na12.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "tests/support/cluster.h"

void na12_run(const struct na12_benchmark *b)
{
    struct nb6_config config;
    struct cluster_record record;
    struct cluster c = cluster_plummer(b->n, 1);
    cluster_config(&config);
    config.integration.eta_irr = 0.02;
    config.integration.eta_reg = 0.01;
    config.integration.nnb_opt = b->nnb;
    config.run.dt_adjust = config.run.dt_output = 1;
    nb6_t *sim = cluster_start(&config, &c, &record);
    cluster_free(&c);
    cluster_evolve(sim, 4);
    assert_int_equal(record.n_rows, 5);
    const struct nb6_adjust_row *from = &record.row[2], *to = &record.row[4];
    double irr = (double)(to->counters.steps_irr - from->counters.steps_irr);
    double reg = (double)(to->counters.steps_reg - from->counters.steps_reg);
    double de = fabs(to->energy.total - from->energy.total) / fabs(from->energy.total);
    print_message("N = %d: %.2f million irregular and %.2f million regular steps (legacy %.2f, %.2f), mean number of "
                  "neighbours at the end %.1f (%d), dE/E %.2e, %.0f s from t = 2 to 4\n",
                  (int)b->n, irr * 1e-6, reg * 1e-6, b->steps_irr * 1e-6, b->steps_reg * 1e-6, to->nnb_mean,
                  (int)b->nnb, de, to->wall_s - from->wall_s);
    assert_true(de <= b->de_max);
    assert_true(fabs(irr / b->steps_irr - 1) <= 0.2);
    assert_true(fabs(reg / b->steps_reg - 1) <= 0.2);
    nb6_free(sim);
    cluster_record_free(&record);
}
