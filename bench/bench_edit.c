/* Costs of changes of stars in a run with an engine image (nb6_set_masses, nb6_add_bodies, nb6_remove_bodies): the
 * call, and what it brings to the blocks after it, beyond those of as long an interval without a change.
 *
 * Usage: bench_edit [n=N] [engine=NAME] [repeats=K] [steps=M]
 *   - n=N (32768): single stars of a Plummer model
 *   - engine=NAME (auto): host, device or emulated
 *   - repeats=K (9): changes of each kind, of which medians are shown
 *   - steps=M (1024): an interval is 1/M
 *   - force_error=E (0): regular forces by a tree; 0: direct sums
 *   - whole=1 (0): after each change the whole state moves to the image
 */
#include "bench/support/arguments.h"
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"

#include <stdio.h>
#include <stdlib.h>

enum kind { WIND, KICK, LOSS, ADDED, REMOVED, KINDS };
static const char *const kinds[KINDS] = {"wind of 1 percent", "kick", "loss of a half", "star added", "star removed"};

enum { MOST_REPEATS = 101 };

static void demand(int status, const struct nbc_error *err)
{
    if (!status) return;
    fprintf(stderr, "bench_edit: %s\n", err->text);
    exit(1);
}

static void read_nothing(struct nb6_calls *calls)
{
    *calls = (struct nb6_calls){0};
}

static nb6_t *start(size_t n, const char *engine, double force_error)
{
    static const struct nb6_call_counter counter = {.read = read_nothing};
    struct nb6_config config;
    struct nb6_model model;
    struct nbc_error err = {0};
    nb6_t *sim = NULL;
    nb6_config_init(&config);
    config.model.kind = NB6_MODEL_PLUMMER;
    config.model.n = (int64_t)n;
    config.integration.nnb_opt = 37;
    config.run.dt_adjust = config.run.dt_output = config.run.t_crit = 1;
    config.integration.force_error = force_error;
    config.pair.systems = 0;
    if (engine) demand(nb6_input_set(&config, "ENGINE", engine, &err), &err);
    demand(nb6_model_make(&config, &model, &err), &err);
    demand(nb6_create(&sim, &config, &err), &err);
    demand(nb6_set_bodies(sim, model.n, model.name, model.mass, (const double(*)[3])model.x,
                          (const double(*)[3])model.v, &err),
           &err);
    nb6_model_free(&model);
    demand(nb6_profile_start(sim, &counter, &err), &err);
    return sim;
}

/* Star k of the run, as it is about the place that others have. */
static void change(nb6_t *sim, enum kind kind, int64_t k)
{
    struct nbc_error err = {0};
    const int64_t i = (k * 7919 + 17) % sim->n, name = sim->star[i].name;
    const double was = sim->body[i].mass, mass = kind == WIND ? 0.99 * was : kind == LOSS ? 0.5 * was : was;
    const double v[1][3] = {{0.5, -0.3, 0.2}}, x[1][3] = {{0.01 * (double)(k % 89), 0.7, -0.003 * (double)(k % 97)}};
    switch (kind) {
    case ADDED:
        demand(nb6_add_bodies(sim, 1, NULL, &mass, x, v, &err), &err);
        break;
    case REMOVED:
        demand(nb6_remove_bodies(sim, 1, &name, &err), &err);
        break;
    default:
        demand(nb6_set_masses(sim, 1, &name, &mass, kind == KICK ? v : NULL,
                              kind == WIND ? NB6_MASS_SLOW : NB6_MASS_SUDDEN, &err),
               &err);
    }
}

static double evolve(nb6_t *sim, double t)
{
    struct nbc_error err = {0};
    const double begin = nbc_wtime();
    demand(nb6_evolve(sim, t, &err), &err);
    return nbc_wtime() - begin;
}

static int ascending(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static double median(double *of, int n)
{
    qsort(of, (size_t)n, sizeof *of, ascending);
    return of[n / 2];
}

/* An interval without a change, then one with it, by turns. */
static void measure(nb6_t *sim, enum kind kind, int repeats, int whole_moves, double dt, double *t)
{
    double call[MOST_REPEATS], all[MOST_REPEATS];
    const struct nb6_profile *profile = nb6_profile_read(sim);
    const uint64_t whole = profile->moves, parts = profile->part_moves;
    for (int k = 0; k < repeats; k++) {
        const double usual = evolve(sim, *t += dt), begin = nbc_wtime();
        change(sim, kind, (int64_t)kind * repeats + k);
        call[k] = nbc_wtime() - begin;
        if (whole_moves) nb6_touched_any(&sim->engine_image.touched);
        all[k] = call[k] + evolve(sim, *t += dt) - usual;
    }
    printf("%-18s call %8.3f ms, with what follows %8.3f ms; %.1f moves of all, %.1f of what has changed\n",
           kinds[kind], 1e3 * median(call, repeats), 1e3 * median(all, repeats),
           (double)(profile->moves - whole) / repeats, (double)(profile->part_moves - parts) / repeats);
}

int main(int argc, char **argv)
{
    size_t n = 32768;
    int repeats = 9, steps = 1024, whole = 0;
    double force_error = 0;
    const char *engine = NULL;
    const struct bench_argument known[] = {{.name = "n", .size = &n},
                                           {.name = "engine", .text = &engine},
                                           {.name = "repeats", .whole = &repeats},
                                           {.name = "steps", .whole = &steps},
                                           {.name = "force_error", .real = &force_error},
                                           {.name = "whole", .whole = &whole}};
    bench_read_arguments("bench_edit", argc, argv, known, sizeof known / sizeof known[0]);
    if (n < 2 || repeats < 1 || repeats > MOST_REPEATS || steps < 1) {
        fprintf(stderr, "bench_edit: n is 2 or more, repeats 1 to %d, steps 1 or more\n", MOST_REPEATS);
        return 2;
    }
    nb6_t *sim = start(n, engine, force_error);
    double t = 4.0 / steps;
    (void)evolve(sim, t);
    printf("%zu stars, %s engine\n", n, nb6_engine_name(sim));
    for (enum kind kind = WIND; kind < KINDS; kind++) measure(sim, kind, repeats, whole, 1.0 / steps, &t);
    nb6_free(sim);
    return 0;
}
