#include "tests/support/mass_loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/input/config.h"
#include "nbody6/run/nbody6.h"

static void set_mass(nb6_t *sim, int64_t stars, double mass_of_all)
{
    struct nbc_error err = {0};
    int64_t *name = calloc((size_t)stars, sizeof *name);
    double *mass = calloc((size_t)stars, sizeof *mass);
    assert_true(name && mass);
    for (int64_t i = 0; i < stars; i++) {
        name[i] = i + 1;
        mass[i] = mass_of_all / (double)stars;
    }
    if (nb6_set_masses(sim, stars, name, mass, NULL, NB6_MASS_SLOW, &err)) fail_msg("%s", err.text);
    free(name);
    free(mass);
}

void mass_loss_run(int64_t stars, uint64_t seed, int parts, double t_end, double interval,
                   struct cluster_record *record)
{
    struct nb6_config config;
    cluster_config(&config);
    config.run.dt_adjust = config.run.dt_output = interval;
    struct cluster c = cluster_plummer(stars, seed);
    nb6_t *sim = cluster_start(&config, &c, record);
    for (int part = 1; part <= parts; part++) {
        cluster_evolve(sim, t_end * part / parts);
        set_mass(sim, stars, 1 - MASS_LOSS * part / parts);
    }
    cluster_evolve(sim, t_end + 2);
    cluster_free(&c);
    nb6_free(sim);
}

double mass_loss_mean(const struct cluster_record *record, double t, double end)
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
