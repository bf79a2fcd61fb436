/* Microseconds of a block of a collisionless system by engine: a uniform sphere at rest with shared steps, so that all
 * first steps are alike; with block steps it has Plummer's profile, so that steps differ, and the number of bodies due
 * in a block is printed. Engines take turns; medians. usage: bench_collisionless [BACKEND [N ...]] with a backend like
 * cuda:0 or avx512 */
#include "common/nbc.h"
#include "nbody6/collisionless/collisionless.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_TURNS = 5, MOST_TURNS = 201 };
static const double SECONDS = 1.0; /* for each row */

static void check(int status, const struct nbc_error *err)
{
    if (!status) return;
    fprintf(stderr, "bench_collisionless: %s\n", err->text);
    exit(nbc_status_exit_code(status));
}

static uint64_t random_state;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static void set_position(double x[3], int is_plummer)
{
    const double s = uniform() * 0.98 + 0.01, c = 2 * uniform() - 1, p = 6.283185307179586 * uniform();
    const double r = is_plummer ? 1 / sqrt(pow(s, -2.0 / 3.0) - 1) : cbrt(s), q = sqrt(1 - c * c);
    x[0] = r * q * cos(p);
    x[1] = r * q * sin(p);
    x[2] = r * c;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct nb6_collisionless *make(int64_t n, const char *backend, int is_block,
                                      enum nb6_collisionless_engine engine)
{
    const struct nb6_collisionless_options options = {.softening = 0.02,
                                                      .dt = is_block ? 1.0 / 64 : 1.0 / 1024,
                                                      .steps = is_block,
                                                      .eta = 0.02,
                                                      .force = {.backend = backend},
                                                      .engine = engine};
    struct nbc_error err = {0};
    struct nb6_collisionless *s = NULL;
    double *mass = nbc_alloc((size_t)n, sizeof *mass), (*x)[3] = nbc_alloc((size_t)n, sizeof *x),
           (*v)[3] = nbc_alloc((size_t)n, sizeof *v);
    if (!mass || !x || !v) check(nbc_fail(&err, NBC_NO_MEMORY, "no memory for %lld bodies", (long long)n), &err);
    random_state = 88172645463325252u; /* both engines have the same bodies */
    for (int64_t i = 0; i < n; i++) {
        mass[i] = 1.0 / (double)n;
        set_position(x[i], is_block);
    }
    check(nb6_collisionless_create(&s, n, NULL, mass, (const double(*)[3])x, (const double(*)[3])v, &options, &err),
          &err);
    nbc_free(mass);
    nbc_free(x);
    nbc_free(v);
    return s;
}

/* Seconds of a block, in the mean over a longest step. */
static double turn(struct nb6_collisionless *s)
{
    struct nbc_error err = {0};
    const uint64_t before = s->n_blocks;
    const double start = nbc_wtime();
    check(nb6_collisionless_evolve(s, nb6_collisionless_time(s) + nb6_collisionless_longest_step(s), &err), &err);
    return (nbc_wtime() - start) / (double)(s->n_blocks - before);
}

static void row(const char *backend, int64_t n, int is_block)
{
    static double seconds[2][MOST_TURNS];
    struct nbc_error err = {0};
    struct nb6_collisionless *here = make(n, backend, is_block, NB6_COLLISIONLESS_HOST);
    struct nb6_collisionless *there = make(n, backend, is_block, NB6_COLLISIONLESS_DEVICE);
    double spent = 0;
    int turns = 0;
    (void)turn(there); /* the state goes there */
    (void)turn(here);
    while (turns < LEAST_TURNS || (turns < MOST_TURNS && spent < SECONDS)) {
        spent += seconds[0][turns] = turn(here);
        spent += seconds[1][turns] = turn(there);
        turns++;
    }
    for (int e = 0; e < 2; e++) qsort(seconds[e], (size_t)turns, sizeof seconds[e][0], by_value);
    check(nb6_collisionless_home(there, &err), &err);
    int64_t differ = 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) differ += here->x0[i][k] != there->x0[i][k] || here->v[i][k] != there->v[i][k];
    printf("%-8s %8lld %10.0f %10.1f %10.1f %6.2f  %s\n", is_block ? "block" : "shared", (long long)n,
           (double)there->n_steps / (double)there->n_blocks, 1e6 * seconds[0][turns / 2], 1e6 * seconds[1][turns / 2],
           seconds[0][turns / 2] / seconds[1][turns / 2], differ ? "bits differ" : "same bits");
    fflush(stdout);
    nb6_collisionless_free(here);
    nb6_collisionless_free(there);
}

int main(int argc, char **argv)
{
    static const int64_t defaults[] = {2048, 16384, 131072, 1048576};
    const char *backend = argc > 1 ? argv[1] : "cuda:0";
    const int count = argc > 2 ? argc - 2 : (int)(sizeof defaults / sizeof defaults[0]);
    printf("%-8s %8s %10s %10s %10s %6s\n", "steps", "N", "due", "host, us", "device, us", "times");
    for (int is_block = 0; is_block < 2; is_block++)
        for (int k = 0; k < count; k++) row(backend, argc > 2 ? atoll(argv[k + 2]) : defaults[k], is_block);
    return 0;
}
