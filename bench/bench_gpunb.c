/* Speed of GPUNB: G interactions/s of whole calls of gpunb_regf (packing of targets, transfers and lists included),
 * median of repeated calls, for every backend, precision and several block sizes, on GPUs also of all sources; on
 * processors beside that of a plain loop compiled for the same instruction set (plain/plain_loop.h), called by turns;
 * then the softened force beside its plain loop, gpunb_send alone, gpunb_send with the first block that follows,
 * gpunb_predict, gpunb_potential. Usage: bench_gpunb [BACKEND [N [NI]]] with a backend like avx2 or cuda:0,1, and one
 * of the sizes. OMP_NUM_THREADS sets the number of threads. */
#include "bench/plain/plain_loop.h"
#include "common/nbc.h"
#include "gpunb/backend.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { N_MAX = 1048576, NI_MAX = 262144, CAP = 1024, CAP_OF_ALL = 512, REPEATS = 31 };

static double mass[N_MAX], x[N_MAX][3], v[N_MAX][3], pot[N_MAX];
static double r_nb2[NI_MAX], dt_reg[NI_MAX], acc[N_MAX][3], jerk[N_MAX][3];
static int32_t self[NI_MAX], nnb[NI_MAX], nblist[(size_t)NI_MAX * CAP_OF_ALL];

/* The sources once more, for the plain loop. */
static float plain_row[7][N_MAX];

static double uniform(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* Plummer sphere in random order, in N-body units; spheres that hold about 10 N^(1/4) stars; dt_reg = 1/64. */
static void make_cluster(size_t n)
{
    const double scale = 3.0 * 3.141592653589793 / 16.0;
    for (size_t i = 0; i < n; i++) {
        double s = 1.0 / sqrt(pow(uniform() * 0.99 + 1e-3, -2.0 / 3.0) - 1.0);
        double c = 2.0 * uniform() - 1.0, p = 6.283185307179586 * uniform(), q = sqrt(1.0 - c * c);
        x[i][0] = scale * s * q * cos(p);
        x[i][1] = scale * s * q * sin(p);
        x[i][2] = scale * s * c;
        for (int k = 0; k < 3; k++) v[i][k] = uniform() - 0.5;
        mass[i] = 1.0 / (double)n;
        plain_row[0][i] = (float)mass[i];
        for (int k = 0; k < 3; k++) {
            plain_row[1 + k][i] = (float)x[i][k];
            plain_row[4 + k][i] = (float)v[i][k];
        }
        if (i >= NI_MAX) continue;
        double density = (double)n * pow(1.0 + s * s, -2.5) / (4.18879 * pow(scale, 3.0));
        r_nb2[i] = fmin(pow(10.0 * pow((double)n, 0.25) / (4.18879 * density), 2.0 / 3.0), 0.25);
        dt_reg[i] = 1.0 / 64.0;
        self[i] = (int32_t)i;
    }
}

/* Cycles of the time-stamp counter, which ticks at the nominal clock; 0 where there is none. */
static double cycles(void)
{
#if defined(__x86_64__)
    return (double)__rdtsc();
#else
    return 0.0;
#endif
}

static int by_value(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void fail(const gpunb_t *h)
{
    fprintf(stderr, "bench_gpunb: %s\n", gpunb_last_error(h));
    exit(1);
}

static double call_regf(gpunb_t *h, size_t n_i)
{
    const size_t cap = n_i * CAP <= sizeof nblist / sizeof *nblist ? CAP : CAP_OF_ALL;
    double start = nbc_wtime();
    int status = gpunb_regf(h, n_i, self, r_nb2, dt_reg, (const double(*)[3])x, (const double(*)[3])v, acc, jerk, NULL,
                            cap, nnb, nblist);
    if (status != NBC_OK && status != NBC_NB_OVERFLOW) fail(h);
    return nbc_wtime() - start;
}

/* The loop for the instruction set of a backend, NULL for others. */
static plain_loop *plain_loop_of(const char *name)
{
#if defined(__x86_64__)
    if (!strcmp(name, "avx512")) return plain_loop_avx512;
    if (!strcmp(name, "avx2")) return plain_loop_avx2;
#endif
    return strcmp(name, "portable") ? NULL : plain_loop_portable;
}

static double call_plain(plain_loop *loop, size_t n, size_t n_i)
{
    const struct plain_sources sources = {
        n, plain_row[0], plain_row[1], plain_row[2], plain_row[3], plain_row[4], plain_row[5], plain_row[6]};
    double start = nbc_wtime();
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n_i; i++) {
        struct plain_target target = {.dt = (float)dt_reg[i], .h2 = (float)r_nb2[i]};
        struct plain_sums sums;
        for (int k = 0; k < 3; k++) {
            target.x[k] = (float)x[i][k];
            target.v[k] = (float)v[i][k];
        }
        loop(&sources, &target, &sums);
        for (int k = 0; k < 3; k++) {
            acc[i][k] = (double)sums.acc[k];
            jerk[i][k] = (double)sums.jerk[k];
        }
        nnb[i] = sums.neighbours;
    }
    return nbc_wtime() - start;
}

static double call_send(gpunb_t *h, size_t n)
{
    double start = nbc_wtime();
    if (gpunb_send(h, n, mass, (const double(*)[3])x, (const double(*)[3])v) != NBC_OK) fail(h);
    return nbc_wtime() - start;
}

/* Repetitions that end in a few seconds, and a median to speak of. */
static int repetitions(double seconds)
{
    return seconds > 0.2 ? 3 : seconds > 0.02 ? 7 : REPEATS;
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

static void measure_regf(gpunb_t *h, const char *name, const char *precision, size_t n, size_t n_i)
{
    double seconds[REPEATS], plain[REPEATS], ticks[REPEATS], pairs = (double)n * (double)n_i, found = 0.0;
    plain_loop *loop = plain_loop_of(name);
    int threads = omp_get_max_threads();
    call_regf(h, n_i); /* memory is allocated, lists find their length */
    int repeats = repetitions(call_regf(h, n_i));
    for (int k = 0; k < repeats; k++) {
        plain[k] = loop ? call_plain(loop, n, n_i) : 0.0;
        double tick = cycles();
        seconds[k] = call_regf(h, n_i);
        ticks[k] = cycles() - tick;
    }
    for (size_t i = 0; i < n_i; i++) found += nnb[i];
    double time = median(seconds, repeats);
    printf("%-9s %-9s %7zu %6zu %9.1f %9.3f %12.3f %8.1f", name, precision, n, n_i, 1e6 * time, 1e-9 * pairs / time,
           median(ticks, repeats) * threads / pairs, found / (double)n_i);
    if (loop) {
        const double plain_time = median(plain, repeats);
        printf(" %9.3f %6.2f", 1e-9 * pairs / plain_time, plain_time / time);
    }
    printf("\n");
    fflush(stdout);
}

/* All sources new, then a block: the cost of a block step. Positions move by less than a spacing each time. */
static void measure_send(gpunb_t *h, const char *name, const char *precision, size_t n, size_t n_i)
{
    double send[REPEATS], both[REPEATS];
    call_send(h, n);
    int repeats = repetitions(call_regf(h, n_i));
    for (int k = 0; k < repeats; k++) {
        for (size_t j = 0; j < n; j++) x[j][k % 3] += 1e-6 * v[j][k % 3];
        send[k] = call_send(h, n);
        both[k] = send[k] + call_regf(h, n_i);
    }
    printf("%-9s %-9s %7zu %6zu send %.1f us, send and first block %.1f us\n", name, precision, n, n_i,
           1e6 * median(send, repeats), 1e6 * median(both, repeats));
}

/* Predictors of all, or all but every 50th, which are cleared. */
static void set_predictors(gpunb_t *h, size_t n, int gaps)
{
    int bad = 0;
#pragma omp parallel for schedule(static) reduction(| : bad)
    for (size_t j = 0; j < n; j++)
        bad |= gaps && j % 50 == 0 ? gpunb_clear_jp(h, j) : gpunb_set_jp(h, j, x[j], v[j], v[j], v[j], mass[j], 0);
    if (bad) fail(h);
}

/* A caller with its own predictors: predict all, send all. */
static double predict_and_send(gpunb_t *h, size_t n, double t)
{
    double start = nbc_wtime();
#pragma omp parallel for schedule(static) if (n > 4096)
    for (size_t j = 0; j < n; j++)
        for (int k = 0; k < 3; k++) {
            acc[j][k] = x[j][k] + t * (v[j][k] + t * (0.5 * v[j][k] + t * (v[j][k] * (1.0 / 6.0))));
            jerk[j][k] = v[j][k] + t * (v[j][k] + t * (0.5 * v[j][k]));
        }
    if (gpunb_send(h, n, mass, (const double(*)[3])acc, (const double(*)[3])jerk) != NBC_OK) fail(h);
    return nbc_wtime() - start;
}

/* A twentieth of the predictors are new each time: the cost of a block step beside its forces. */
static void measure_predict(gpunb_t *h, const char *name, const char *precision, size_t n)
{
    double send[REPEATS], set[REPEATS], predict[2][REPEATS], start;
    for (int k = 0; k < REPEATS; k++) send[k] = predict_and_send(h, n, 0.001 * k);
    for (int gaps = 0; gaps < 2; gaps++) {
        set_predictors(h, n, gaps);
        if (gpunb_predict(h, n, 0) != NBC_OK) fail(h);
        for (int k = 0; k < REPEATS; k++) {
            start = nbc_wtime();
            for (size_t j = 1; j < n; j += 20) /* odd: none of those that are cleared */
                if (gpunb_set_jp(h, j, x[j], v[j], v[j], v[j], mass[j], 0) != NBC_OK) fail(h);
            set[k] = nbc_wtime() - start;
            start = nbc_wtime();
            if (gpunb_predict(h, n, 0.001 * k) != NBC_OK) fail(h);
            predict[gaps][k] = nbc_wtime() - start;
        }
    }
    printf("%-9s %-9s %7zu        predict here and send %.1f us; gpunb_predict %.1f us, with gaps %.1f us, "
           "a new predictor %.0f ns\n",
           name, precision, n, 1e6 * median(send, REPEATS), 1e6 * median(predict[0], REPEATS),
           1e6 * median(predict[1], REPEATS), 20e9 * median(set, REPEATS) / (double)n);
}

static void measure_rest(gpunb_t *h, const char *name, const char *precision, size_t n)
{
    size_t n_i = !strncmp(name, "cuda", 4) || n < 16384 ? n : 2048;
    double pairs = (double)n_i * (double)n, start = nbc_wtime();
    if (gpunb_potential(h, 0, n_i, n, mass, (const double(*)[3])x, pot) != NBC_OK) fail(h);
    double all = nbc_wtime() - start;
    printf("%-9s %-9s %7zu %6zu potential %.3f G/s\n", name, precision, n, n_i, 1e-9 * pairs / all);
}

/* The loop for the instruction set of a backend, NULL for others. */
static plain_softened *plain_softened_of(const char *name)
{
#if defined(__x86_64__)
    if (!strcmp(name, "avx512")) return plain_softened_avx512;
    if (!strcmp(name, "avx2")) return plain_softened_avx2;
#endif
    return strcmp(name, "portable") ? NULL : plain_softened_portable;
}

static double call_plain_softened(plain_softened *loop, size_t n, size_t n_i, int want_pot)
{
    const struct plain_sources sources = {
        n, plain_row[0], plain_row[1], plain_row[2], plain_row[3], plain_row[4], plain_row[5], plain_row[6]};
    double start = nbc_wtime();
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n_i; i++) {
        float sums[4];
        loop(&sources, (float[3]){(float)x[i][0], (float)x[i][1], (float)x[i][2]}, 1.0f / 65536.0f, want_pot, sums);
        for (int k = 0; k < 3; k++) acc[i][k] = (double)sums[k];
        pot[i] = -(double)sums[3];
    }
    return nbc_wtime() - start;
}

static double call_softened(gpunb_t *h, size_t n_i, int want_pot)
{
    const struct gpunb_softened_job job = {
        .n_i = n_i, .x = (const double(*)[3])x, .softening = 1.0 / 256.0, .acc = acc, .pot = want_pot ? pot : NULL};
    double start = nbc_wtime();
    if (gpunb_softened(h, &job) != NBC_OK) fail(h);
    return nbc_wtime() - start;
}

/* Softened forces, 26 operations a pair, without the potential and with it, beside a plain loop. */
static void measure_softened(gpunb_t *h, const char *name, const char *precision, size_t n, size_t n_i)
{
    plain_softened *loop = plain_softened_of(name);
    const double pairs = (double)n_i * (double)n;
    if (gpunb_send_positions(h, n, mass, (const double(*)[3])x) != NBC_OK) fail(h);
    for (int want_pot = 0; want_pot < 2; want_pot++) {
        double seconds[REPEATS], plain[REPEATS];
        call_softened(h, n_i, want_pot);
        int repeats = repetitions(call_softened(h, n_i, want_pot));
        for (int k = 0; k < repeats; k++) {
            plain[k] = loop ? call_plain_softened(loop, n, n_i, want_pot) : 0.0;
            seconds[k] = call_softened(h, n_i, want_pot);
        }
        const double time = median(seconds, repeats);
        printf("%-9s %-9s %7zu %6zu softened%s %.1f us, %.3f G/s, %.4f TFlop/s", name, precision, n, n_i,
               want_pot ? " with potential" : "", 1e6 * time, 1e-9 * pairs / time, 26e-12 * pairs / time);
        if (loop) {
            const double plain_time = median(plain, repeats);
            printf("; plain loop %.3f G/s, times %.2f", 1e-9 * pairs / plain_time, plain_time / time);
        }
        printf("\n");
        fflush(stdout);
    }
}

static void measure_backend(const char *name, size_t only_n, size_t only_n_i)
{
    static const char *const names[] = {"default", "float", "twofloat", "double"};
    static const size_t sizes[] = {1024, 16384, 65536, 131072, 262144, 1048576};
    static const size_t blocks[] = {1, 16, 64, 128, 1024, 2048, 8192};
    int slow = !strcmp(name, "ref"), gpu = !strncmp(name, "cuda", 4);
    for (size_t s = 0; s < (slow ? 2 : gpu ? 6 : 5); s++) {
        if (only_n && only_n != sizes[s]) continue;
        make_cluster(sizes[s]);
        for (int p = GPUNB_FLOAT; p <= GPUNB_DOUBLE; p++) {
            struct gpunb_options options = {.backend = name, .precision = (enum gpunb_precision)p};
            gpunb_t *h = NULL;
            struct nbc_error err = {0};
            if (gpunb_create(&h, sizes[s], &options, &err) != NBC_OK) {
                if (!strstr(err.text, "has no precision")) fprintf(stderr, "bench_gpunb: %s\n", err.text);
                continue;
            }
            call_send(h, sizes[s]);
            for (size_t b = 0; b < (gpu ? 7 : 6); b++)
                if (blocks[b] <= sizes[s] && (!only_n_i || only_n_i == blocks[b]))
                    measure_regf(h, name, names[p], sizes[s], blocks[b]);
            if (gpu && sizes[s] >= 65536 && sizes[s] <= NI_MAX && (!only_n_i || only_n_i == sizes[s]))
                measure_regf(h, name, names[p], sizes[s], sizes[s]);
            if (only_n_i) {
                gpunb_free(h);
                continue;
            }
            for (size_t b = 0; b < (gpu ? 7 : 6); b++)
                if (blocks[b] < sizes[s]) measure_softened(h, name, names[p], sizes[s], blocks[b]);
            if (gpu || sizes[s] < 20000) measure_softened(h, name, names[p], sizes[s], sizes[s]);
            call_send(h, sizes[s]);
            measure_send(h, name, names[p], sizes[s], 16);
            if (sizes[s] >= 2048) measure_send(h, name, names[p], sizes[s], 2048);
            measure_predict(h, name, names[p], sizes[s]);
            measure_rest(h, name, names[p], sizes[s]);
            gpunb_free(h);
        }
    }
}

int main(int argc, char **argv)
{
    int measured = 0;
    printf("%d threads\n%-9s %-9s %7s %6s %9s %9s %12s %8s %9s %6s\n", omp_get_max_threads(), "backend", "precision",
           "N", "ni", "us", "G/s", "TSC cyc/int", "mean nb", "plain", "times");
    for (int k = 0; gpunb_backend(k); k++) {
        const struct gpunb_backend_info *info = gpunb_backend(k);
        size_t length = argc > 1 ? strcspn(argv[1], ":") : 0;
        if (argc > 1 ? strlen(info->name) != length || strncmp(argv[1], info->name, length) != 0 : !info->available)
            continue;
        if (!info->available) {
            fprintf(stderr, "bench_gpunb: backend %s: %s\n", info->name, info->reason);
            return 1;
        }
        measure_backend(argc > 1 ? argv[1] : info->name, argc > 2 ? strtoul(argv[2], NULL, 10) : 0,
                        argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
        measured++;
    }
    if (!measured) fprintf(stderr, "bench_gpunb: no backend '%s'\n", argc > 1 ? argv[1] : "");
    return measured == 0;
}
