/* Whole runs: the benchmark of NA12 section 4 (Plummer, ETAI = 0.02, ETAR = 0.01), wall time, its split and steps from
 * t = 2 to 4.
 *
 *     bench_cluster [N ...]      default 1024 4096 16384; NNBOPT is 37 unless the environment variable NNBOPT says
 * otherwise */
#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"

#include <stdio.h>
#include <stdlib.h>

struct interval {
    struct nb6_adjust_row start, end;
};

static int keep(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    (void)sim;
    (void)err;
    struct interval *interval = context;
    if (row->t == 2) interval->start = *row;
    if (row->t == 4) interval->end = *row;
    return NBC_OK;
}

static int set_up(int64_t n, struct nb6_config *config, nb6_t **sim, struct nbc_error *err)
{
    const char *nnb_opt = getenv("NNBOPT");
    nb6_config_init(config);
    config->model.kind = NB6_MODEL_PLUMMER;
    config->model.n = n;
    config->integration.eta_irr = 0.02;
    config->integration.eta_reg = 0.01;
    config->integration.nnb_opt = nnb_opt ? atoi(nnb_opt) : 37;
    config->run.dt_adjust = config->run.dt_output = 2;
    config->run.t_crit = 4;
    struct nb6_model model;
    int status = nb6_model_make(config, &model, err);
    if (status) return status;
    status = nb6_create(sim, config, err);
    if (!status)
        status = nb6_set_bodies(*sim, model.n, model.name, model.mass, (const double(*)[3])model.x,
                                (const double(*)[3])model.v, err);
    nb6_model_free(&model);
    return status;
}

static void print(int64_t n, const struct interval *interval)
{
    const struct nb6_adjust_row *a = &interval->start, *b = &interval->end;
    printf("| %7lld | %8.2f ", (long long)n, b->wall_s - a->wall_s);
    for (int k = 0; k <= NB6_STAGE_ADJUST; k++) printf("| %6.2f ", b->stage_s[k] - a->stage_s[k]);
    printf("| %8.3f | %8.3f | %5.1f | %9.1e |\n", 1e-6 * (double)(b->counters.steps_irr - a->counters.steps_irr),
           1e-6 * (double)(b->counters.steps_reg - a->counters.steps_reg), b->nnb_mean, b->de_rel - a->de_rel);
    fflush(stdout);
}

static int run(int64_t n, struct nbc_error *err)
{
    static struct interval interval;
    struct nb6_config config;
    nb6_t *sim = NULL;
    struct nb6_observer observer = {.context = &interval, .adjust = keep};
    int status = set_up(n, &config, &sim, err);
    if (!status) {
        nb6_set_observer(sim, &observer);
        status = nb6_evolve(sim, 4, err);
    }
    nb6_free(sim);
    if (!status) print(n, &interval);
    return status;
}

int main(int argc, char **argv)
{
    static const int64_t defaults[] = {1024, 4096, 16384};
    int count = argc > 1 ? argc - 1 : (int)(sizeof defaults / sizeof defaults[0]);
    struct nbc_error err = {0, ""};
    printf("Wall seconds from t = 2 to 4, by stage; individual steps in millions; mean neighbour number; relative "
           "energy error\n\n");
    printf("| %7s | %8s ", "N", "wall");
    for (int k = 0; k <= NB6_STAGE_ADJUST; k++) printf("| %6.6s ", nb6_stage_names[k]);
    printf("| steps_i  | steps_r  |  nnb  |     dE/E  |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < count; k++) {
        int64_t n = argc > 1 ? atoll(argv[k + 1]) : defaults[k];
        int status = run(n, &err);
        if (status) {
            fprintf(stderr, "bench_cluster: N = %lld: %s\n", (long long)n, err.text);
            return nbc_status_exit_code(status);
        }
    }
    return 0;
}
