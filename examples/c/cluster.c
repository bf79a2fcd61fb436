/* A cluster of 500 stars to t = 2, with a table of what it does, a checkpoint at t = 1, and the second half once more
 * from there: with the same bits.
 *
 *   cc -std=c11 cluster.c -o cluster $(pkg-config --cflags --libs libnbody6) -lm
 */
#include <nbody6/adjust_row.h>
#include <nbody6/input.h>
#include <nbody6/model.h>
#include <nbody6/nbody6.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int status, const struct nbc_error *err)
{
    if (status == NBC_OK) return;
    fprintf(stderr, "cluster: %s\n", err->text);
    exit(nbc_status_exit_code(status));
}

/* Called at each multiple of DTADJ. */
static int print_row(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    (void)context;
    (void)sim;
    (void)err;
    printf("t = %5.3f  N = %lld  E = %.8f  dE/E = %9.2e  half-mass radius %.4f\n", row->t, (long long)row->n,
           row->energy.total, row->de_cluster, row->r_half);
    return NBC_OK;
}

/* Any variable of the input can be set, by the name and with the value that it has there. */
static void describe(struct nb6_config *config, struct nbc_error *err)
{
    static const char *const variables[][2] = {
        {"N", "500"},     {"NRAND", "7"},  {"ETAI", "0.02"}, {"ETAR", "0.02"},  {"DTADJ", "0.5"},
        {"TCRIT", "2.0"}, {"KZ(20)", "6"}, {"BODY1", "20"},  {"BODYN", "0.08"}, /* masses of Kroupa 2001, in Msun */
        {"RBAR", "1.0"},  {"QE", "1e-3"},
    };
    nb6_config_init(config);
    for (size_t k = 0; k < sizeof variables / sizeof variables[0]; k++)
        check(nb6_input_set(config, variables[k][0], variables[k][1], err), err);
}

static nb6_t *start(struct nb6_config *config, struct nbc_error *err)
{
    struct nb6_model model;
    nb6_t *sim;
    check(nb6_model_make(config, &model, err), err);
    nb6_model_settle(&model, config);
    check(nb6_create(&sim, config, err), err);
    check(nb6_set_bodies(sim, model.n, model.name, model.mass, (const double(*)[3])model.x, (const double(*)[3])model.v,
                         err),
          err);
    nb6_model_free(&model);
    return sim;
}

static double (*positions(nb6_t *sim, struct nbc_error *err))[3]
{
    double(*x)[3] = malloc((size_t)nb6_count(sim) * sizeof *x);
    if (!x) exit(1);
    check(nb6_get_bodies(sim, nb6_count(sim), NULL, NULL, x, NULL, err), err);
    return x;
}

int main(void)
{
    const struct nb6_observer observer = {.adjust = print_row};
    struct nb6_config config;
    struct nbc_error err = {0};
    describe(&config, &err);
    nb6_t *sim = start(&config, &err), *again;
    nb6_set_observer(sim, &observer);
    check(nb6_evolve(sim, 1, &err), &err);
    check(nb6_checkpoint(sim, "cluster.h5", &err), &err);
    check(nb6_evolve(sim, 2, &err), &err);

    check(nb6_restore(&again, "cluster.h5", &err), &err);
    check(nb6_evolve(again, 2, &err), &err);
    double(*x)[3] = positions(sim, &err), (*y)[3] = positions(again, &err);
    const int same = memcmp(x, y, (size_t)nb6_count(sim) * sizeof *x) == 0;
    printf("from the checkpoint: %s\n", same ? "the same bits" : "DIFFERENT");
    free(x);
    free(y);
    nb6_free(sim);
    nb6_free(again);
    return same ? 0 : 1;
}
