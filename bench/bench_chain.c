/* What regularization costs: microseconds for an evaluation of all forces in a step, steps and forces of known
 * problems, by both formulations. */
#include "chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5 };

static uint64_t random_state = 88172645463325252u;

/* Uniform in [0, 1): xorshift64. */
static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static void check(int status, const struct nbc_error *err)
{
    if (!status) return;
    fprintf(stderr, "bench_chain: %s\n", err->text);
    exit(nbc_status_exit_code(status));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, int32_t method, double tolerance, int n, const struct chain_body body[], double t)
{
    struct chain c;
    double seconds[REPEATS], error = 0;
    for (int r = 0; r < REPEATS; r++) {
        struct chain_options options;
        struct chain_event event;
        struct nbc_error err = {0};
        chain_options_init(&options);
        options.method = method;
        options.tolerance = tolerance;
        memset(&c, 0, sizeof c);
        check(chain_init(&c, &options, n, body, 0, &err), &err);
        double energy = chain_energy(&c), start = nbc_wtime();
        check(chain_advance(&c, t, NULL, &event, &err), &err);
        seconds[r] = nbc_wtime() - start;
        error = chain_energy(&c) / energy - 1;
    }
    qsort(seconds, REPEATS, sizeof seconds[0], by_value);
    printf("%-22s %-6s %7.0e %8lld %10lld %10.3f %12.1f %10.1e\n", name, chain_method_name(method), tolerance,
           (long long)c.steps, (long long)c.evaluations, seconds[REPEATS / 2] * 1e6 / (double)c.evaluations,
           seconds[REPEATS / 2] * 1e3, error);
}

static void from_rest(int n, struct chain_body body[])
{
    memset(body, 0, (size_t)n * sizeof *body);
    for (int i = 0; i < n; i++) {
        body[i].id = i;
        body[i].mass = (0.5 + uniform()) / n;
        for (int k = 0; k < 3; k++) body[i].x[k] = 2 * uniform() - 1;
    }
}

int main(void)
{
    const struct chain_body pythagorean[3] = {{.id = 3, .mass = 3, .x = {1, 3, 0}},
                                              {.id = 4, .mass = 4, .x = {-2, -1, 0}},
                                              {.id = 5, .mass = 5, .x = {1, -1, 0}}};
    struct chain_body body[CHAIN_MAX];
    printf("%-22s %-6s %7s %8s %10s %10s %12s %10s\n", "problem", "method", "tol", "steps", "forces", "us/force", "ms",
           "dE/E");
    for (int32_t method = 0; method < CHAIN_METHODS; method++) {
        for (double tolerance = 1e-10; tolerance > 1e-15; tolerance *= 1e-2)
            measure("Pythagorean, t = 60", method, tolerance, 3, pythagorean, 60);
        for (int n = 4; n <= CHAIN_MAX; n *= 2) {
            char name[40];
            random_state = 88172645463325252u;
            from_rest(n, body);
            snprintf(name, sizeof name, "%d from rest, t = 2", n);
            measure(name, method, 1e-14, n, body, 2);
        }
    }
    return 0;
}
