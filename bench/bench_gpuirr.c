/* Nanoseconds per interaction of GPUIRR, prediction included: medians over repetitions. Bodies and their neighbours are
 * anywhere in memory, as in a run whose stars are not sorted in space. GB/s: the lines of packed bodies that the
 * kernels touch, 64 bytes for each neighbour or predicted body, and the lists. With N = 1024 the first two levels of
 * cache hold all of it: what arithmetic alone costs. usage: bench_gpuirr [backend [N ...]] */
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEAN_NNB = 45, LONGEST = 3 * MEAN_NNB, LEAST_REPEATS = 51, MOST_REPEATS = 100000 };

/* Short calls are repeated for this long: before that they mostly show how the caches were filled. */
static const double SECONDS = 0.1;

static uint64_t random_state = 88172645463325252u;

/* Uniform in [0, 1): xorshift64. */
static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static void check(int status, const char *text)
{
    if (!status) return;
    fprintf(stderr, "bench_gpuirr: %s\n", text);
    exit(nbc_status_exit_code(status));
}

static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_list(gpuirr_t *irr, int32_t n, int32_t i)
{
    int32_t list[LONGEST], count = 0;
    int wanted = MEAN_NNB / 2 + (int)(uniform() * (MEAN_NNB + 1));
    for (int k = 0; k < wanted; k++) list[k] = (int32_t)(uniform() * n);
    qsort(list, (size_t)wanted, sizeof list[0], by_number);
    for (int k = 0; k < wanted; k++)
        if (list[k] != i && (count == 0 || list[count - 1] != list[k])) list[count++] = list[k];
    check(gpuirr_set_list(irr, (size_t)i, (size_t)count, list), gpuirr_last_error(irr));
}

static void fill(gpuirr_t *irr, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        double s[4][3];
        for (int k = 0; k < 12; k++) s[k / 3][k % 3] = 2 * uniform() - 1;
        check(gpuirr_set_jp(irr, (size_t)i, s[0], s[1], s[2], s[3], 1.0 / n, 0), gpuirr_last_error(irr));
        fill_list(irr, n, i);
    }
}

/* Median seconds of a prediction and a force call; *pairs: interactions in one call. */
static double measure(gpuirr_t *irr, int32_t n, int32_t n_act, int all, double *pairs)
{
    double *seconds = nbc_alloc(MOST_REPEATS, sizeof *seconds), spent = 0;
    int32_t *act = nbc_alloc((size_t)n_act, sizeof *act);
    double(*acc)[3] = nbc_alloc((size_t)n_act, sizeof *acc), (*jerk)[3] = nbc_alloc((size_t)n_act, sizeof *jerk);
    if (!seconds || !act || !acc || !jerk) check(NBC_NO_MEMORY, "not enough memory");
    struct gpuirr_stats before, after;
    gpuirr_get_stats(irr, &before);
    int r = 0;
    for (; r < LEAST_REPEATS || (r < MOST_REPEATS && spent < SECONDS); r++) {
        /* Another set of active bodies each time, in ascending order as a scheduler hands them out. */
        double stride = (double)n / n_act, shift = uniform() * stride;
        for (int32_t k = 0; k < n_act; k++) act[k] = (int32_t)(shift + k * stride);
        double t = 1e-3 * (r % 16), start = nbc_wtime();
        if (all)
            gpuirr_pred_all(irr, 0, (size_t)n, t);
        else
            gpuirr_pred_act(irr, (size_t)n_act, act, t);
        check(gpuirr_firr_vec(irr, (size_t)n_act, act, acc, jerk, NULL), gpuirr_last_error(irr));
        spent += seconds[r] = nbc_wtime() - start;
    }
    gpuirr_get_stats(irr, &after);
    *pairs = (double)(after.interactions - before.interactions) / r;
    qsort(seconds, (size_t)r, sizeof seconds[0], by_value);
    const double median = seconds[r / 2];
    nbc_free(seconds);
    nbc_free(act);
    nbc_free(acc);
    nbc_free(jerk);
    return median;
}

static void bench(const char *backend, int32_t n)
{
    static const int32_t n_act[] = {16, 256, 4096};
    struct gpuirr_options options = {.backend = backend};
    struct nbc_error err = {0};
    gpuirr_t *irr;
    check(gpuirr_create(&irr, (size_t)n, &options, &err), err.text);
    fill(irr, n);
    for (int k = 0; k < 3 && n_act[k] <= n; k++) {
        for (int all = 0; all < 2; all++) {
            double pairs, seconds = measure(irr, n, n_act[k], all, &pairs);
            double bytes = pairs * (64 + sizeof(int32_t)) + (all ? n * 2.0 * 64 : 0);
            printf("%-10s %7d %7d  %-8s %7.1f %10.1f %9.2f %6.1f\n", backend, n, n_act[k],
                   all ? "pred_all" : "pred_act", pairs / n_act[k], 1e6 * seconds, 1e9 * seconds / pairs,
                   1e-9 * bytes / seconds);
        }
    }
    gpuirr_free(irr);
}

int main(int argc, char **argv)
{
    static const int32_t defaults[] = {16384, 65536, 262144};
    const int32_t count = argc > 2 ? argc - 2 : (int32_t)(sizeof defaults / sizeof defaults[0]);
    const struct gpuirr_backend_info *row;
    printf("threads %d\n%-10s %7s %7s  %-8s %7s %10s %9s %6s\n", omp_get_max_threads(), "backend", "N", "active",
           "mode", "list", "us/call", "ns/pair", "GB/s");
    for (int k = 0; (row = gpuirr_backend(k)); k++) {
        if (!row->available || (argc > 1 && strcmp(argv[1], row->name) != 0)) continue;
        for (int32_t l = 0; l < count; l++) bench(row->name, argc > 2 ? atoi(argv[l + 2]) : defaults[l]);
    }
    return 0;
}
