/* Cost of a KS step as a function of the number of perturbers, of unperturbed motion and of a prediction, and how 1000
 * pairs share the threads: medians over repetitions. usage: bench_ks [most threads] */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/nbc.h"
#include "regularization/ks.h"

enum { REPEATS = 9, MOST = 100, PAIRS = 1000 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check(int status, const struct nbc_error *err)
{
    if (!status) return;
    fprintf(stderr, "bench_ks: %s\n", err->text);
    exit(nbc_status_exit_code(status));
}

/* a = 1 and perturbers at distances from 20 on, all round */
static void make(struct ks_pair *pair, double e, struct ks_field *field, struct ks_path paths[MOST], size_t n)
{
    struct nbc_error err = {0};
    double mass[2] = {0.5, 0.5}, s = sqrt((1 - e) / (1 + e));
    double x[2][3] = {{1 + e, 0, 0}, {0}}, v[2][3] = {{0, s, 0}, {0}};
    struct ks_options options = {0.2, 0, 1};
    check(ks_init(pair, &options, mass, (const double(*)[3])x, (const double(*)[3])v, 0, &err), &err);
    for (size_t j = 0; j < n; j++) {
        double d = 20 + 0.5 * (double)j, angle = 2.4 * (double)j;
        paths[j] = (struct ks_path){
            .x = {d * cos(angle), d * sin(angle), 10 * sin((double)j)}, .v = {0.1, -0.1, 0.05}, .mass = 0.5};
    }
    *field = (struct ks_field){.pair = pair, .n = n, .paths = paths};
    check(ks_start(pair, n ? ks_perturb_paths : NULL, field, &err), &err);
}

/* Nanoseconds a step; with `predictions` instead those of a prediction. */
static double step_cost(size_t n, int steps, int predictions)
{
    static struct ks_path paths[MOST];
    struct ks_pair pair;
    struct ks_field field;
    struct nbc_error err = {0};
    double cost[REPEATS], x[3], v[3];
    for (int k = 0; k < REPEATS; k++) {
        make(&pair, 0.5, &field, paths, n);
        for (int i = 0; i < 8; i++) check(ks_step(&pair, n ? ks_perturb_paths : NULL, &field, &err), &err);
        double begin = nbc_wtime();
        for (int i = 0; i < steps; i++) {
            if (predictions)
                check(ks_predict(&pair, pair.t + pair.dt * i / steps, x, v), &err);
            else
                check(ks_step(&pair, n ? ks_perturb_paths : NULL, &field, &err), &err);
        }
        cost[k] = (nbc_wtime() - begin) / steps * 1e9;
    }
    qsort(cost, REPEATS, sizeof cost[0], by_value);
    return cost[REPEATS / 2];
}

static double unperturbed_cost(int calls)
{
    static struct ks_path paths[MOST];
    struct ks_pair pair;
    struct ks_field field;
    struct nbc_error err = {0};
    double cost[REPEATS];
    for (int k = 0; k < REPEATS; k++) {
        make(&pair, 0.5, &field, paths, 0);
        double begin = nbc_wtime();
        for (int i = 0; i < calls; i++) check(ks_unperturbed(&pair, pair.t + 17.3, &err), &err);
        cost[k] = (nbc_wtime() - begin) / calls * 1e9;
    }
    qsort(cost, REPEATS, sizeof cost[0], by_value);
    return cost[REPEATS / 2];
}

/* Seconds for PAIRS pairs with 20 perturbers each over ten periods. */
static double many(int threads)
{
    static struct ks_pair pairs[PAIRS];
    static struct ks_field fields[PAIRS];
    static struct ks_path paths[PAIRS][MOST];
    double seconds[REPEATS];
    for (int k = 0; k < REPEATS; k++) {
        for (int i = 0; i < PAIRS; i++) make(&pairs[i], 0.9 * i / PAIRS, &fields[i], paths[i], 20);
        double begin = nbc_wtime();
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
        for (int i = 0; i < PAIRS; i++) {
            struct nbc_error err = {0};
            check(ks_advance(&pairs[i], 62.8, ks_perturb_paths, &fields[i], &err), &err);
        }
        seconds[k] = nbc_wtime() - begin;
    }
    qsort(seconds, REPEATS, sizeof seconds[0], by_value);
    return seconds[REPEATS / 2];
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : omp_get_max_threads();
    if (argc > 2 || most < 1) {
        fprintf(stderr, "usage: bench_ks [most threads]\n");
        return 2;
    }
    const size_t counts[] = {0, 1, 10, 30, 100};
    printf("perturbers  ns/step  ns/prediction\n");
    for (int k = 0; k < 5; k++)
        printf("%10zu  %7.0f  %13.0f\n", counts[k], step_cost(counts[k], 20000, 0), step_cost(counts[k], 20000, 1));
    printf("unperturbed motion over 2.75 periods: %.0f ns\n", unperturbed_cost(20000));
    double one = many(1);
    for (int t = 1; t <= most; t *= 2) {
        double s = t == 1 ? one : many(t);
        printf("%d pairs with 20 perturbers, 10 periods, %d threads: %.3f s, %.2f times as fast as one\n", PAIRS, t, s,
               one / s);
    }
    return 0;
}
