/* Cost of regularization: microseconds for an evaluation of all forces in a step, steps and forces of known problems,
 * by both formulations; with the argument `methods`, both beside each other on random systems. */
#include "common/nbc.h"
#include "regularization/chain.h"

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

static void measure_known(void)
{
    const struct chain_body pythagorean[3] = {{.id = 3, .mass = 3, .x = {1, 3, 0}},
                                              {.id = 4, .mass = 4, .x = {-2, -1, 0}},
                                              {.id = 5, .mass = 5, .x = {1, -1, 0}}};
    struct chain_body body[CHAIN_MAX];
    printf("%-22s %-6s %7s %8s %10s %10s %12s %10s\n", "problem", "method", "tol", "steps", "forces", "us/force", "ms",
           "dE/E");
    for (int32_t method = 0; method <= CHAIN_METHOD_AR; method++) {
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
}

/* ---- which method for which masses */

enum { SYSTEMS = 12, MOST_STEPS = 1000 };

struct cost {
    double error, evaluations;
};

/* Masses from 1 down to 1/range, uniform in the logarithm with both ends taken, in a sphere of radius 1 with speeds of
 * some tenths to the circular one; with tight > 0, the last body circles some other one at that distance. */
static void random_system(int n, double range, double tight, struct chain_body body[])
{
    double total = 0;
    memset(body, 0, (size_t)n * sizeof *body);
    for (int i = 0; i < n; i++) {
        body[i].id = i;
        body[i].mass = i < 2 ? pow(range, -i) : pow(range, -uniform());
        total += body[i].mass;
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            body[i].x[k] = 2 * uniform() - 1;
            body[i].v[k] = sqrt(total) * (uniform() - 0.5);
        }
    if (!(tight > 0)) return;
    struct chain_body *a = &body[n - 1], *b = &body[(int)(uniform() * (n - 1))];
    double speed = sqrt((a->mass + b->mass) / tight);
    for (int k = 0; k < 3; k++) {
        a->x[k] = b->x[k] + (k == 0 ? tight : 0);
        a->v[k] = b->v[k] + (k == 1 ? speed : 0);
    }
}

/* The energy is judged by T + |U|, of which it is the difference. An integration that does not end counts with all the
 * evaluations that it took. */
static struct cost integrate(int32_t method, int n, const struct chain_body body[], double t)
{
    struct chain c;
    struct chain_options options;
    struct chain_event event;
    struct nbc_error err = {0};
    chain_options_init(&options);
    options.method = method;
    options.tolerance = 1e-13;
    options.max_steps = MOST_STEPS;
    memset(&c, 0, sizeof c);
    check(chain_init(&c, &options, n, body, 0, &err), &err);
    double kinetic = 0, centre[2][3], energy = chain_energy(&c);
    chain_centre(&c, centre[0], centre[1]);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) kinetic += 0.5 * body[i].mass * pow(body[i].v[k] - centre[1][k], 2);
    int failed = chain_advance(&c, t, NULL, &event, &err) != NBC_OK;
    return (struct cost){.error = failed ? HUGE_VAL : fabs(chain_energy(&c) - energy) / (2 * kinetic - energy),
                         .evaluations = (double)c.evaluations};
}

static double middle(double value[], int n)
{
    qsort(value, (size_t)n, sizeof *value, by_value);
    return value[n / 2];
}

static void compare_methods(int n, double range, double tight)
{
    double error[CHAIN_METHODS][SYSTEMS], work[CHAIN_METHODS][SYSTEMS];
    for (int k = 0; k < SYSTEMS; k++) {
        struct chain_body body[CHAIN_MAX];
        random_system(n, range, tight, body);
        for (int32_t method = 0; method < CHAIN_METHODS; method++) {
            struct cost cost = integrate(method, n, body, tight > 0 ? 0.01 : 0.5);
            error[method][k] = cost.error;
            work[method][k] = cost.evaluations;
        }
    }
    printf("%3d %8.0e %8.0e", n, range, tight);
    for (int32_t method = 0; method < CHAIN_METHODS; method++) {
        double typical = middle(error[method], SYSTEMS), evaluations = middle(work[method], SYSTEMS);
        printf("   %8.1e %8.1e %8.0f", typical, error[method][SYSTEMS - 1], evaluations);
    }
    printf("\n");
}

static void measure_methods(void)
{
    static const double range[] = {1, 10, 100, 1e3, 1e5, 1e8}, tight[] = {0, 1e-3};
    static const int number[] = {2, 3, 5, 8, 12, 16};
    printf("%3s %8s %8s   %-26s   %-26s   %s\n%21s", "n", "masses", "tight", chain_method_name(0), chain_method_name(1),
           chain_method_name(2), "");
    for (int32_t method = 0; method < CHAIN_METHODS; method++) printf("   %8s %8s %8s", "dE", "largest", "forces");
    printf("\n");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) compare_methods(number[i], range[j], tight[k]);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "methods") == 0)
        measure_methods();
    else
        measure_known();
    return 0;
}
