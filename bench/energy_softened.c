/* Energy error and order of the leapfrog with softened forces, by step and softening, for shared and block steps.
 *
 * Usage: energy_softened [N [BACKEND]]: a Plummer model of N (2048) bodies over four units of time, by the forces of
 * BACKEND (auto). For each step: the largest relative energy error at the ends of 16 intervals, the root mean square
 * distance of the bodies at the end from where they are with half the step, the order that follows from two such
 * distances, and the steps of bodies in units of N. With sums in float the distances do not fall below some 1e-6. */
#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/state/ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 6, T_END = 4, INTERVALS = 16 };

/* Results of one run. */
struct outcome {
    double energy_error, steps;
    double (*x)[3];
};

static void stop(const char *why)
{
    fprintf(stderr, "energy_softened: %s\n", why);
    exit(1);
}

static double energy(struct nb6_collisionless *s)
{
    const struct nb6_external none = {0};
    struct nb6_frame frame;
    struct nb6_energy e;
    struct nbc_error err = {0};
    if (nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, &frame, &err)) stop(err.text);
    nb6_energy_of_frame(&frame, &none, &e);
    nb6_frame_free(&frame);
    return e.total;
}

static struct outcome run(const struct nb6_model *m, const struct nb6_collisionless_options *options)
{
    struct nb6_collisionless *s = NULL;
    struct nbc_error err = {0};
    struct outcome o = {0};
    if (nb6_collisionless_create(&s, m->n, NULL, m->mass, (const double(*)[3])m->x, (const double(*)[3])m->v, options,
                                 &err))
        stop(err.text);
    const double before = energy(s);
    for (int k = 1; k <= INTERVALS; k++) {
        if (nb6_collisionless_evolve(s, (double)T_END * k / INTERVALS, &err)) stop(err.text);
        o.energy_error = fmax(o.energy_error, fabs(energy(s) / before - 1));
    }
    o.steps = (double)s->n_steps / (double)m->n;
    o.x = malloc((size_t)m->n * sizeof *o.x);
    if (!o.x) stop("no memory");
    memcpy(o.x, s->x0, (size_t)m->n * sizeof *o.x);
    nb6_collisionless_free(s);
    return o;
}

static double apart(int64_t n, const struct outcome *a, const struct outcome *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) sum += (a->x[i][k] - b->x[i][k]) * (a->x[i][k] - b->x[i][k]);
    return sqrt(sum / (double)n);
}

/* A table of steps, each half of the one before: DT of shared steps, ETA of block steps. */
static void print_table(const struct nb6_model *m, const char *backend, double softening, int block)
{
    struct outcome o[ROWS + 1];
    double distance[ROWS];
    for (int k = 0; k <= ROWS; k++)
        o[k] = run(
            m, &(struct nb6_collisionless_options){.softening = softening,
                                                   .dt = block ? 0.25 : ldexp(1, -4 - k),
                                                   .steps = block ? NB6_COLLISIONLESS_BLOCK : NB6_COLLISIONLESS_SHARED,
                                                   .eta = block ? ldexp(0.4, -k) : 0,
                                                   .force = {.backend = backend}});
    printf("\nN = %lld, softening %g, %s steps\n%10s %9s %9s %9s %6s\n", (long long)m->n, softening,
           block ? "block" : "shared", block ? "ETA" : "DT", "steps", "|dE/E|", "distance", "order");
    for (int k = 0; k < ROWS; k++) {
        distance[k] = apart(m->n, &o[k], &o[k + 1]);
        printf("%10.6g %9.1f %9.1e %9.1e", block ? ldexp(0.4, -k) : ldexp(1, -4 - k), o[k].steps, o[k].energy_error,
               distance[k]);
        if (k > 0)
            printf(" %6.2f\n", log2(distance[k - 1] / distance[k]));
        else
            printf("\n");
    }
    for (int k = 0; k <= ROWS; k++) free(o[k].x);
}

int main(int argc, char **argv)
{
    static const double softenings[] = {0.1, 0.03, 0.01};
    struct nb6_config config;
    struct nb6_model model = {0};
    struct nbc_error err = {0};
    nb6_config_init(&config);
    config.model.n = argc > 1 ? atoll(argv[1]) : 2048;
    if (nb6_model_make(&config, &model, &err)) stop(err.text);
    for (size_t k = 0; k < sizeof softenings / sizeof softenings[0]; k++)
        for (int block = 0; block < 2; block++) print_table(&model, argc > 2 ? argv[2] : "auto", softenings[k], block);
    nb6_model_free(&model);
    return 0;
}
