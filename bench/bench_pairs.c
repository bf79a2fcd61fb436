/* Regularized pairs in whole runs: the cost of 1000 isolated pairs in a cluster of 16384 bodies, the cost of a
 * perturbed step and of a perturber, and how perturbed pairs share the threads. Each timing is the shortest of some
 * repetitions.
 *
 *     bench_pairs [repetitions]      default 3 */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int status, const struct nbc_error *err)
{
    if (!status) return;
    fprintf(stderr, "bench_pairs: %s\n", err->text);
    exit(nbc_status_exit_code(status));
}

struct bodies {
    int64_t n;
    double *mass;
    double (*x)[3], (*v)[3];
};

/* A Plummer model of n equal bodies, of which the first `pairs` are circular pairs of this semi-major axis, each in a
 * plane of its own. */
static struct bodies cluster(int64_t n, int64_t pairs, double a)
{
    struct nb6_config config;
    struct nb6_model model;
    struct nbc_error err = {0, ""};
    nb6_config_init(&config);
    config.model.kind = NB6_MODEL_PLUMMER;
    config.model.n = n;
    check(nb6_model_make(&config, &model, &err), &err);
    size_t stars = (size_t)(n + pairs);
    struct bodies c = {n + pairs, nbc_alloc(stars, sizeof *c.mass), nbc_alloc(stars, sizeof *c.x),
                       nbc_alloc(stars, sizeof *c.v)};
    if (!c.mass || !c.x || !c.v) exit(1);
    for (int64_t i = 0; i < c.n; i++) {
        int64_t system = i < 2 * pairs ? i / 2 : i - pairs;
        double half = i >= 2 * pairs ? 0 : i % 2 ? -0.5 : 0.5, m = model.mass[system], angle = 2.4 * (double)system;
        double along[3] = {cos(angle), sin(angle), 0}, across[3] = {0, 0, 1}, speed = sqrt(m / a);
        c.mass[i] = half == 0 ? m : 0.5 * m;
        for (int k = 0; k < 3; k++) {
            c.x[i][k] = model.x[system][k] + half * a * along[k];
            c.v[i][k] = model.v[system][k] + half * speed * across[k];
        }
    }
    nb6_model_free(&model);
    return c;
}

static void release(struct bodies *c)
{
    nbc_free(c->mass);
    nbc_free(c->x);
    nbc_free(c->v);
}

/* Costs of a run of some time, without its start. */
struct work {
    double wall_s, pairs_s, perturbed, largest_group;
    double steps, forces;
};

static struct work difference(const struct nb6_sim *sim, double wall_s, const struct work *before)
{
    struct work w = {wall_s - before->wall_s,
                     sim->stage_s[NB6_STAGE_PAIRS] - before->pairs_s,
                     0,
                     0,
                     (double)sim->run.counters.ks_steps - before->steps,
                     (double)sim->run.counters.ks_forces - before->forces};
    for (int64_t slot = 0; slot < sim->subsystems.n_slot; slot++) {
        double members = 0;
        w.perturbed += sim->subsystems.pert[slot].n > 0;
        if (sim->subsystems.pert[slot].n == 0 || sim->subsystems.leader[slot] != slot) continue;
        for (int64_t m = slot; m >= 0; m = sim->subsystems.follower[m]) members++;
        w.largest_group = fmax(w.largest_group, members);
    }
    return w;
}

static struct work evolve(const struct bodies *c, int64_t pairs, double gamma_min, double t)
{
    static const struct work nothing;
    struct nb6_config config;
    struct nbc_error err = {0, ""};
    nb6_t *sim = NULL;
    nb6_config_init(&config);
    config.integration.eta_irr = config.integration.eta_reg = 0.02;
    config.run.dt_adjust = config.run.dt_output = 16;
    config.run.t_crit = 16;
    config.binaries.wanted = pairs > 0;
    config.binaries.n = pairs;
    config.pair.gamma_min = gamma_min;
    check(nb6_create(&sim, &config, &err), &err);
    check(nb6_set_bodies(sim, c->n, NULL, c->mass, (const double(*)[3])c->x, (const double(*)[3])c->v, &err), &err);
    check(nb6_evolve(sim, 1.0 / 64, &err), &err);
    check(nb6_bring_home(sim, &err), &err);
    struct work before = difference(sim, nbc_wtime(), &nothing);
    check(nb6_evolve(sim, 1.0 / 64 + t, &err), &err);
    check(nb6_bring_home(sim, &err), &err);
    struct work w = difference(sim, nbc_wtime(), &before);
    nb6_free(sim);
    return w;
}

static struct work best(int repetitions, const struct bodies *c, int64_t pairs, double gamma_min, double t, int threads)
{
    struct work least = {.wall_s = INFINITY, .pairs_s = INFINITY};
    omp_set_num_threads(threads);
    for (int k = 0; k < repetitions; k++) {
        struct work w = evolve(c, pairs, gamma_min, t);
        double wall = fmin(w.wall_s, least.wall_s), pairs_s = fmin(w.pairs_s, least.pairs_s);
        least = w;
        least.wall_s = wall;
        least.pairs_s = pairs_s;
    }
    return least;
}

/* Close enough never to meet a perturber, among the same bodies. */
static void isolated(int repetitions, int threads)
{
    struct bodies single = cluster(16384, 0, 1), paired = cluster(16384, 1000, 1e-7);
    double least[2] = {INFINITY, INFINITY}, pairs_s = INFINITY;
    for (int k = 0; k < repetitions; k++) { /* by turns */
        least[0] = fmin(least[0], best(1, &single, 0, 1e-6, 0.125, threads).wall_s);
        struct work w = best(1, &paired, 1000, 1e-6, 0.125, threads);
        least[1] = fmin(least[1], w.wall_s);
        pairs_s = fmin(pairs_s, w.pairs_s);
    }
    printf("16384 bodies, 0.125 units, %d threads: %.3f s; 1000 of them unperturbed pairs %.3f s (%+.1f percent), of "
           "which %.3f s for pairs\n",
           threads, least[0], least[1], 100 * (least[1] / least[0] - 1), pairs_s);
    release(&single);
    release(&paired);
}

static void perturbed(int repetitions, int most)
{
    struct bodies c = cluster(5000, 1000, 4e-4);
    struct work one = {0};
    printf("1000 pairs among 4000 stars, a = 4e-4, 1/16 unit\n");
    printf("  GMIN  threads  perturbed  largest group  KS steps  perturbers  pairs: s  us a step  as fast\n");
    for (int g = 6; g <= 7; g++)
        for (int threads = 1; threads <= most; threads *= 2) {
            struct work w = best(repetitions, &c, 1000, pow(10, -g), 1.0 / 16, threads);
            if (threads == 1) one = w;
            printf("  1e-%d  %7d  %9.0f  %13.0f  %8.0f  %10.1f  %8.3f  %9.2f  %7.2f\n", g, threads, w.perturbed,
                   w.largest_group, w.steps, w.forces / w.steps, w.pairs_s, 1e6 * w.pairs_s / w.steps,
                   one.pairs_s / w.pairs_s);
        }
    release(&c);
}

int main(int argc, char **argv)
{
    int repetitions = argc > 1 ? atoi(argv[1]) : 3, most = omp_get_max_threads();
    if (repetitions < 1) {
        fprintf(stderr, "usage: bench_pairs [repetitions]\n");
        return 2;
    }
    perturbed(repetitions, most);
    isolated(repetitions, most);
    return 0;
}
