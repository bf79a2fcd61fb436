/* Performance model of softened forces (MTM13 Sec. 6): constants fitted to timings, and predictions beside
 * measurements.
 *
 * MTM13 eq. 5 counts clocks of C_calc for each pair, of the latency L that is not hidden for each turn of the loop over
 * sources, and of C_kernel for each start. With all multiprocessors at work it is t(N) = t_call + N t_body + N^2
 * t_pair; N^2 t_pair is divided by the number of GPUs. A GPU sorts the bodies of large calls along a curve, which costs
 * N t_sort more. t_call is that of a call with one body: launches, transfers and
 * synchronisation; t_body has latencies and the work done for each body once; t_pair is C_calc over the lanes and their
 * clock. t_body, t_pair and t_sort follow from least squares of relative deviations.
 *
 * Usage: model_softened [BACKEND [LANES GHZ]]: a backend like avx512, or cuda:0,1, which is compared with cuda:0 too;
 * LANES and GHZ of all processors used (132 x 128 and 1.98 for one H200) turn t_pair into clocks. */
#include "common/nbc.h"
#include "gpunb/gpunb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 10, LAST = 22, SIZES = LAST - FIRST + 1, REPEATS = 15 };

/* Interactions from which a GPU sorts sources and targets: CURVE_PAIRS of gpunb/cuda/softened.cu. */
static const double SORTED_PAIRS = 6e8;

struct bodies {
    double *mass, (*x)[3], (*acc)[3];
};

/* Timings of one machine, and the constants that fit them. */
struct model {
    int sizes;
    double measured[SIZES];
    double t_call, t_body, t_pair, t_sort;
    int gpu; /* 1: large calls are sorted */
};

static double uniform(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static void stop(const char *why)
{
    fprintf(stderr, "model_softened: %s\n", why);
    exit(1);
}

/* A uniform sphere. */
static struct bodies make_bodies(size_t n)
{
    struct bodies b = {malloc(n * sizeof *b.mass), malloc(n * sizeof *b.x), malloc(n * sizeof *b.acc)};
    if (!b.mass || !b.x || !b.acc) stop("no memory");
    for (size_t i = 0; i < n; i++) {
        double r2 = 2.0;
        while (r2 > 1.0) {
            r2 = 0.0;
            for (int k = 0; k < 3; k++) {
                b.x[i][k] = 2.0 * uniform() - 1.0;
                r2 += b.x[i][k] * b.x[i][k];
            }
        }
        b.mass[i] = 1.0 / (double)n;
    }
    return b;
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Median seconds of a force of n bodies on themselves. */
static double time_of(gpunb_t *h, const struct bodies *b, size_t n)
{
    const struct gpunb_softened_job job = {
        .n_i = n, .x = (const double(*)[3])b->x, .softening = 1.0 / 256.0, .acc = b->acc};
    double seconds[REPEATS];
    int repeats = REPEATS;
    if (gpunb_send_positions(h, n, b->mass, (const double(*)[3])b->x) != NBC_OK) stop(gpunb_last_error(h));
    for (int k = -1; k < repeats; k++) { /* the first one allocates */
        const double start = nbc_wtime();
        if (gpunb_softened(h, &job) != NBC_OK) stop(gpunb_last_error(h));
        const double time = nbc_wtime() - start;
        if (k >= 0) seconds[k] = time;
        if (k < 0 && time > 0.1) repeats = 3;
    }
    qsort(seconds, (size_t)repeats, sizeof *seconds, by_value);
    return seconds[repeats / 2];
}

static double bodies_of(int size)
{
    return ldexp(1.0, FIRST + size);
}

static int is_sorted(const struct model *m, double n)
{
    return m->gpu && n * n >= SORTED_PAIRS;
}

/* Work done once for each of n bodies. */
static double body_time(const struct model *m, double n)
{
    return m->t_body + (is_sorted(m, n) ? m->t_sort : 0.0);
}

static double predicted(const struct model *m, int size)
{
    const double n = bodies_of(size);
    return m->t_call + n * body_time(m, n) + n * n * m->t_pair;
}

/* Least squares of relative deviations for the first `terms` of t_body, t_pair, t_sort: normal equations with a
 * positive definite matrix, and Gaussian elimination. */
static void solve(const struct model *m, int terms, double t[3])
{
    double a[3][4] = {{0}};
    for (int s = 0; s < m->sizes; s++) {
        const double n = bodies_of(s), u = n / m->measured[s];
        const double column[3] = {u, n * u, is_sorted(m, n) ? u : 0}, rest = 1.0 - m->t_call / m->measured[s];
        for (int i = 0; i < terms; i++) {
            for (int k = 0; k < terms; k++) a[i][k] += column[i] * column[k];
            a[i][3] += column[i] * rest;
        }
    }
    for (int i = 0; i < terms; i++)
        for (int j = i + 1; j < terms; j++)
            for (int k = 3; k >= i; k--) a[j][k] -= a[j][i] / a[i][i] * a[i][k];
    for (int i = terms - 1; i >= 0; i--) {
        for (int k = i + 1; k < terms; k++) a[i][3] -= a[i][k] * t[k];
        t[i] = a[i][3] / a[i][i];
    }
}

/* The constants of the least squares; one that is negative is left out. Sorting needs two sizes that are sorted. */
static void fit(struct model *m)
{
    double t[3] = {0, 0, 0};
    const int sorts = m->sizes > 1 && is_sorted(m, bodies_of(m->sizes - 2));
    solve(m, sorts ? 3 : 2, t);
    if (t[2] < 0.0) {
        t[2] = 0.0;
        solve(m, 2, t);
    }
    m->t_body = fmax(t[0], 0.0);
    m->t_pair = t[1];
    m->t_sort = t[2];
}

static struct model measure(const char *backend, const struct bodies *b)
{
    const double longest = strncmp(backend, "cuda", 4) ? 2.0 : 12.0;
    struct gpunb_options options = {.backend = backend};
    struct nbc_error err = {0};
    struct model m = {.gpu = strncmp(backend, "cuda", 4) == 0};
    gpunb_t *h;
    if (gpunb_create(&h, (size_t)1 << LAST, &options, &err) != NBC_OK) stop(err.text);
    m.t_call = time_of(h, b, 1);
    while (m.sizes < SIZES && (m.sizes == 0 || 4.0 * m.measured[m.sizes - 1] < longest)) {
        m.measured[m.sizes] = time_of(h, b, (size_t)bodies_of(m.sizes));
        m.sizes++;
    }
    gpunb_free(h);
    fit(&m);
    return m;
}

static void print(const char *backend, const struct model *m, double lanes, double ghz)
{
    printf("%s: t_call %.2f us, t_body %.4f ns, t_pair %.6f ns (%.2f G/s)", backend, 1e6 * m->t_call, 1e9 * m->t_body,
           1e9 * m->t_pair, 1e-9 / m->t_pair);
    if (m->t_sort > 0) printf(", t_sort %.4f ns", 1e9 * m->t_sort);
    if (lanes > 0) printf(", C_calc %.2f clocks a pair", lanes * ghz * 1e9 * m->t_pair);
    printf("\n%9s %13s %13s %10s %9s\n", "N", "measured us", "predicted us", "deviation", "TFlop/s");
    for (int s = 0; s < m->sizes; s++) {
        const double n = bodies_of(s), t = m->measured[s];
        printf("%9.0f %13.1f %13.1f %9.1f%% %9.4f\n", n, 1e6 * t, 1e6 * predicted(m, s),
               100.0 * (predicted(m, s) / t - 1.0), 26e-12 * n * n / t);
    }
}

/* MTM13 eq. 8 for numbers of GPUs that are no power of four, eq. 9 for those that are: efficiency relative to a GPU
 * that has the same number of bodies, where two streams share each GPU. `sync`: t_sync over t_calc of one GPU. */
static double weak_efficiency(int gpus, double sync)
{
    double sum = 0.0;
    int power = 1;
    for (; 2 * power <= gpus; power *= 4) sum += power;
    return gpus / ((power == gpus ? 2.0 * sum : 1.0 + sum) + sync * 0.5 * log2(gpus));
}

/* The divided pairs of t(N), with the t_call of the pair. */
static void compare(const struct model *one, const struct model *all, int gpus)
{
    printf("efficiency of %d GPUs, t(1) / (%d t(%d)); predicted from one GPU and the t_call of all\n", gpus, gpus,
           gpus);
    printf("%9s %9s %10s %10s\n", "N", "measured", "predicted", "deviation");
    for (int s = 0; s < one->sizes && s < all->sizes; s++) {
        const double n = bodies_of(s), alone = predicted(one, s);
        const double together = all->t_call + n * body_time(one, n) + n * n * one->t_pair / gpus;
        const double measured = one->measured[s] / (gpus * all->measured[s]), model = alone / (gpus * together);
        printf("%9.0f %9.3f %10.3f %9.1f%%\n", n, measured, model, 100.0 * (model / measured - 1.0));
    }
}

static void print_weak(const struct model *m)
{
    printf("MTM13 eq. 8 and 9 with t_sync = t_call: efficiency for so many bodies of a GPU\n%9s", "GPUs");
    for (int s = 0; s < m->sizes; s += 2) printf(" %8.0f", bodies_of(s));
    printf("\n");
    for (int gpus = 2; gpus <= 256; gpus *= 2) {
        printf("%9d", gpus);
        for (int s = 0; s < m->sizes; s += 2) {
            const double calc = predicted(m, s) - m->t_call;
            printf(" %8.3f", weak_efficiency(gpus, m->t_call / calc));
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    const char *backend = argc > 1 ? argv[1] : "auto", *list = strchr(backend, ':');
    const double lanes = argc > 3 ? atof(argv[2]) : 0.0, ghz = argc > 3 ? atof(argv[3]) : 0.0;
    const struct bodies b = make_bodies((size_t)1 << LAST);
    int gpus = 1;
    for (const char *c = list; c && *c; c++) gpus += *c == ',';
    const struct model all = measure(backend, &b);
    print(backend, &all, lanes, ghz);
    if (gpus > 1) {
        char first[64];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(backend, ","), backend);
        const struct model one = measure(first, &b);
        print(first, &one, lanes / gpus, ghz);
        compare(&one, &all, gpus);
    }
    if (!strncmp(backend, "cuda", 4)) print_weak(&all);
    free(b.mass);
    free(b.x);
    free(b.acc);
    return 0;
}
