/* Speed of GPUNB: G interactions/s of whole calls of gpunb_regf (packing of targets and lists included), median of
 * repeated calls, for every backend, precision and several block sizes; then gpunb_send and gpunb_potential. Usage:
 * bench_gpunb [BACKEND]. OMP_NUM_THREADS sets the number of threads. */
#include "gpunb.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { N_MAX = 262144, NI_MAX = 2048, CAP = 1024, REPEATS = 15 };

static double mass[N_MAX], x[N_MAX][3], v[N_MAX][3], pot[N_MAX];
static double r_nb2[NI_MAX], dt_reg[NI_MAX], acc[NI_MAX][3], jerk[NI_MAX][3];
static int32_t self[NI_MAX], nnb[NI_MAX], nblist[NI_MAX * CAP];

static double uniform(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* Plummer sphere in random order, in N-body units; spheres that hold about 40 neighbours; dt_reg = 1/64. */
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
        if (i >= NI_MAX) continue;
        double density = (double)n * pow(1.0 + s * s, -2.5) / (4.18879 * pow(scale, 3.0));
        r_nb2[i] = fmin(pow(40.0 / (4.18879 * density), 2.0 / 3.0), 0.25);
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

static void measure_regf(gpunb_t *h, const char *name, const char *precision, size_t n, size_t n_i)
{
    double seconds[REPEATS], ticks[REPEATS], pairs = (double)n * (double)n_i, found = 0.0;
    int repeats = pairs > 2e8 || !strcmp(name, "ref") ? 3 : REPEATS, threads = omp_get_max_threads();
    for (int k = 0; k < repeats; k++) {
        double start = nbc_wtime(), tick = cycles();
        int status = gpunb_regf(h, n_i, self, r_nb2, dt_reg, (const double(*)[3])x, (const double(*)[3])v, acc, jerk,
                                NULL, CAP, nnb, nblist);
        ticks[k] = cycles() - tick;
        seconds[k] = nbc_wtime() - start;
        if (status != NBC_OK) fail(h);
    }
    qsort(seconds, (size_t)repeats, sizeof *seconds, by_value);
    qsort(ticks, (size_t)repeats, sizeof *ticks, by_value);
    for (size_t i = 0; i < n_i; i++) found += nnb[i];
    double median = seconds[repeats / 2];
    printf("%-9s %-9s %7zu %6zu %9.1f %9.3f %12.2f %8.1f\n", name, precision, n, n_i, 1e6 * median,
           1e-9 * pairs / median, ticks[repeats / 2] * threads / pairs, found / (double)n_i);
    fflush(stdout);
}

static void measure_backend(const struct gpunb_backend_info *info)
{
    static const char *const names[] = {"default", "float", "twofloat", "double"};
    static const size_t sizes[] = {1024, 16384, 65536, 262144}, blocks[] = {1, 16, 128, 1024, 2048};
    int slow = !strcmp(info->name, "ref");
    for (size_t s = 0; s < (slow ? 2 : 4); s++) {
        make_cluster(sizes[s]);
        for (int p = GPUNB_FLOAT; p <= GPUNB_DOUBLE; p++) {
            struct gpunb_options options = {.backend = info->name, .precision = (enum gpunb_precision)p};
            gpunb_t *h = NULL;
            if (gpunb_create(&h, sizes[s], &options, NULL) != NBC_OK) continue;
            double start = nbc_wtime();
            if (gpunb_send(h, sizes[s], mass, (const double(*)[3])x, (const double(*)[3])v) != NBC_OK) fail(h);
            double send = nbc_wtime() - start;
            for (size_t b = 0; b < 5; b++)
                if (blocks[b] <= sizes[s]) measure_regf(h, info->name, names[p], sizes[s], blocks[b]);
            size_t n_i = sizes[s] < 16384 ? sizes[s] : 2048;
            start = nbc_wtime();
            if (gpunb_potential(h, 0, n_i, sizes[s], mass, (const double(*)[3])x, pot) != NBC_OK) fail(h);
            double all = nbc_wtime() - start, pairs = (double)n_i * (double)sizes[s];
            printf("%-9s %-9s %7zu  send %.1f us; potential %.3f G/s\n", info->name, names[p], sizes[s], 1e6 * send,
                   1e-9 * pairs / all);
            gpunb_free(h);
        }
    }
}

int main(int argc, char **argv)
{
    int measured = 0;
    printf("%d threads\n%-9s %-9s %7s %6s %9s %9s %12s %8s\n", omp_get_max_threads(), "backend", "precision", "N", "ni",
           "us", "G/s", "TSC cyc/int", "mean nb");
    for (int k = 0; gpunb_backend(k); k++) {
        const struct gpunb_backend_info *info = gpunb_backend(k);
        if (argc > 1 ? strcmp(argv[1], info->name) != 0 : !info->available) continue;
        if (!info->available) {
            fprintf(stderr, "bench_gpunb: backend %s: %s\n", info->name, info->reason);
            return 1;
        }
        measure_backend(info);
        measured++;
    }
    if (!measured) fprintf(stderr, "bench_gpunb: no backend '%s'\n", argc > 1 ? argv[1] : "");
    return measured == 0;
}
