/* Nanoseconds per interaction of GPUIRR, prediction included: medians over repetitions. Bodies and their neighbours are
 * anywhere in memory, as in a run with stars not sorted in space. GB/s: the lines of packed bodies that the kernels
 * touch, 64 bytes for each neighbour or predicted body, and the lists. With N = 1024 the first two levels of cache hold
 * all of it: the cost of arithmetic alone. Cold: microseconds of the first call after 10 MB of other data were touched,
 * as regular forces do in a run, and the mean of the first hundred. Step: microseconds of a call with active bodies set
 * since the one before, as in a run, with the time that this takes one thread. Backends for tests only are timed if
 * they are named. usage: bench_gpuirr [backend [N ...]] */
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEAN_NNB = 45,
    LONGEST = 3 * MEAN_NNB,
    LEAST_REPEATS = 51,
    MOST_REPEATS = 100000,
    OTHER_DATA = 10000000, /* bytes */
    COLD_CALLS = 100,
    LEAST_ROUNDS = 3, /* of cold calls */
    MOST_ROUNDS = 1001
};

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

/* The same state whenever it is set. */
static void set_body(gpuirr_t *irr, int32_t n, int32_t i)
{
    const uint64_t kept = random_state;
    double s[4][3];
    random_state = 0x9e3779b97f4a7c15u * ((uint64_t)i + 1);
    for (int k = 0; k < 12; k++) s[k / 3][k % 3] = 2 * uniform() - 1;
    random_state = kept;
    check(gpuirr_set_jp(irr, (size_t)i, s[0], s[1], s[2], s[3], 1.0 / n, 0), gpuirr_last_error(irr));
}

static void fill(gpuirr_t *irr, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        set_body(irr, n, i);
        fill_list(irr, n, i);
    }
}

struct call {
    gpuirr_t *irr;
    int32_t n, n_act;
    int all; /* pred_all, not pred_act */
    int set; /* active bodies are set before */
    int32_t *act;
    double (*acc)[3], (*jerk)[3];
};

/* Seconds of a prediction and a force call, for another set of active bodies each time, in ascending order as a
 * scheduler hands them out. */
static double time_call(const struct call *call, int number)
{
    const double stride = (double)call->n / call->n_act, shift = uniform() * stride, t = 1e-3 * (number % 16);
    for (int32_t k = 0; k < call->n_act; k++) call->act[k] = (int32_t)(shift + k * stride);
    const double start = nbc_wtime();
    for (int32_t k = 0; call->set && k < call->n_act; k++) set_body(call->irr, call->n, call->act[k]);
    if (call->all)
        gpuirr_pred_all(call->irr, 0, (size_t)call->n, t);
    else
        gpuirr_pred_act(call->irr, (size_t)call->n_act, call->act, t);
    check(gpuirr_firr_vec(call->irr, (size_t)call->n_act, call->act, call->acc, call->jerk, NULL),
          gpuirr_last_error(call->irr));
    return nbc_wtime() - start;
}

static double median_of(double *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof seconds[0], by_value);
    return seconds[n / 2];
}

/* Median seconds; *pairs: interactions in one call. */
static double measure(const struct call *call, double *pairs)
{
    double *seconds = nbc_alloc(MOST_REPEATS, sizeof *seconds), spent = 0;
    if (!seconds) check(NBC_NO_MEMORY, "not enough memory");
    struct gpuirr_stats before, after;
    gpuirr_get_stats(call->irr, &before);
    int r = 0;
    for (; r < LEAST_REPEATS || (r < MOST_REPEATS && spent < SECONDS); r++) spent += seconds[r] = time_call(call, r);
    gpuirr_get_stats(call->irr, &after);
    *pairs = (double)(after.interactions - before.interactions) / r;
    const double median = median_of(seconds, r);
    nbc_free(seconds);
    return median;
}

/* Medians of the first call after other data were touched, and of the mean of the first hundred. */
static void measure_cold(const struct call *call, double *first, double *mean)
{
    static double firsts[MOST_ROUNDS], means[MOST_ROUNDS];
    volatile char *other = nbc_alloc(OTHER_DATA, 1);
    if (!other) check(NBC_NO_MEMORY, "not enough memory");
    double spent = 0;
    int r = 0;
    for (; r < LEAST_ROUNDS || (r < MOST_ROUNDS && spent < SECONDS); r++) {
        for (size_t k = 0; k < OTHER_DATA; k += 64) other[k]++;
        means[r] = firsts[r] = time_call(call, 0);
        for (int k = 1; k < COLD_CALLS; k++) means[r] += time_call(call, k);
        spent += means[r];
    }
    *first = median_of(firsts, r);
    *mean = median_of(means, r) / COLD_CALLS;
    nbc_free((void *)other);
}

static void bench(const char *backend, int32_t n)
{
    static const int32_t n_act[] = {1, 16, 64, 256, 1024, 4096, 16384};
    struct gpuirr_options options = {.backend = backend};
    struct nbc_error err = {0};
    struct call call = {.n = n};
    check(gpuirr_create(&call.irr, (size_t)n, &options, &err), err.text);
    fill(call.irr, n);
    call.act = nbc_alloc((size_t)n, sizeof *call.act);
    call.acc = nbc_alloc((size_t)n, sizeof *call.acc);
    call.jerk = nbc_alloc((size_t)n, sizeof *call.jerk);
    if (!call.act || !call.acc || !call.jerk) check(NBC_NO_MEMORY, "not enough memory");
    for (size_t k = 0; k < sizeof n_act / sizeof n_act[0] && n_act[k] <= n; k++) {
        for (call.all = 0; call.all < 2; call.all++) {
            call.n_act = n_act[k];
            double pairs, first, cold, seconds = measure(&call, &pairs);
            measure_cold(&call, &first, &cold);
            call.set = 1;
            const double step = measure(&call, &pairs);
            call.set = 0;
            double bytes = pairs * (64 + sizeof(int32_t)) + (call.all ? n * 2.0 * 64 : 0);
            printf("%-10s %7d %7d  %-8s %7.1f %10.1f %9.2f %6.1f %10.1f %10.1f %10.1f\n", backend, n, n_act[k],
                   call.all ? "pred_all" : "pred_act", pairs / n_act[k], 1e6 * seconds, 1e9 * seconds / pairs,
                   1e-9 * bytes / seconds, 1e6 * first, 1e6 * cold, 1e6 * step);
        }
    }
    nbc_free(call.act);
    nbc_free(call.acc);
    nbc_free(call.jerk);
    gpuirr_free(call.irr);
}

int main(int argc, char **argv)
{
    static const int32_t defaults[] = {16384, 65536, 262144};
    const int32_t count = argc > 2 ? argc - 2 : (int32_t)(sizeof defaults / sizeof defaults[0]);
    const struct gpuirr_backend_info *row;
    printf("threads %d\n%-10s %7s %7s  %-8s %7s %10s %9s %6s %10s %10s %10s\n", omp_get_max_threads(), "backend", "N",
           "active", "mode", "list", "us/call", "ns/pair", "GB/s", "cold, 1st", "cold, 100", "step");
    for (int k = 0; (row = gpuirr_backend(k)); k++) {
        if (argc > 1 ? strcmp(argv[1], row->name) != 0 : strcmp(row->name, "emulated") == 0) continue;
        if (!row->available) {
            printf("skipped: %s: %s\n", row->name, row->reason);
            continue;
        }
        for (int32_t l = 0; l < count; l++) bench(row->name, argc > 2 ? atoi(argv[l + 2]) : defaults[l]);
    }
    return 0;
}
