/* Milliseconds of a step of a collisionless system by tree on one GPU and on several, in turns; medians, in the mean
 * over eight steps, of which one divides the bodies among the GPUs anew. A Plummer model within r = 15 that moves;
 * shared steps. `work` is the largest work of a GPU over the mean, `terms` that of all GPUs together over that of one,
 * whose lists are not cut where parts end.
 *
 * usage: bench_owners [devices=0,1] [n=N,N,...] [error=AIM] [order=P] [reuse=K] [turns=T] [kind=cuda]
 *        kind=emulated: as many parts on emulated devices, to try it */
#include "bench/support/arguments.h"
#include "common/nbc.h"
#include "gpunb/tree.h"
#include "gpunb/tree/accept.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/resident.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 8, MOST_TURNS = 99, FIRST_STEPS = 3 };

struct settings {
    const char *kind, *devices, *n;
    double error;
    int order, reuse, turns;
};

static void check(int status, const char *text)
{
    if (!status) return;
    fprintf(stderr, "bench_owners: %s\n", text);
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

static void set_vector(double x[3], double r)
{
    const double c = 2 * uniform() - 1, p = 6.283185307179586 * uniform(), q = sqrt(1 - c * c);
    x[0] = r * q * cos(p);
    x[1] = r * q * sin(p);
    x[2] = r * c;
}

/* Velocities of the dispersion at each radius, all alike in size: bodies move as much as in a Plummer model. */
static void set_body(double x[3], double v[3])
{
    double r = 16;
    while (r > 15) r = 1 / sqrt(pow(uniform() * 0.999 + 1e-6, -2.0 / 3.0) - 1);
    set_vector(x, r);
    set_vector(v, sqrt(0.5 / sqrt(1 + r * r)));
}

static struct nb6_collisionless *make(const struct settings *set, const char *devices, int parts, int64_t n)
{
    char backend[64];
    const int is_cuda = !strcmp(set->kind, "cuda");
    struct nbc_error err = {0};
    struct nb6_collisionless *s = NULL;
    double *mass = nbc_alloc((size_t)n, sizeof *mass), (*x)[3] = nbc_alloc((size_t)n, sizeof *x),
           (*v)[3] = nbc_alloc((size_t)n, sizeof *v);
    if (!mass || !x || !v) check(NBC_NO_MEMORY, "no memory for the bodies");
    snprintf(backend, sizeof backend, is_cuda ? "%s:%s" : "%s", set->kind, devices);
    const struct nb6_collisionless_options options = {
        .softening = 0.02,
        .dt = 1.0 / 1024,
        .force = {.backend = backend, .force_error = set->error, .order = set->order, .walk = GPUNB_WALK_HYBRID},
        .engine = is_cuda ? NB6_COLLISIONLESS_DEVICE : NB6_COLLISIONLESS_EMULATED,
        .parts = is_cuda ? 0 : parts,
        .reuse = set->reuse};
    random_state = 88172645463325252u; /* all systems have the same bodies */
    for (int64_t i = 0; i < n; i++) {
        mass[i] = 1.0 / (double)n;
        set_body(x[i], v[i]);
    }
    check(nb6_collisionless_create(&s, n, NULL, mass, (const double(*)[3])x, (const double(*)[3])v, &options, &err),
          err.text);
    nbc_free(mass);
    nbc_free(x);
    nbc_free(v);
    return s;
}

/* @return seconds of a step */
static double evolve(struct nb6_collisionless *s, int steps)
{
    struct nbc_error err = {0};
    const double t = nb6_collisionless_time(s) + steps * nb6_collisionless_longest_step(s), start = nbc_wtime();
    check(nb6_collisionless_evolve(s, t, &err), err.text);
    return (nbc_wtime() - start) / steps;
}

/* Work of the lists of each part so far, in bodies.   @return that of all */
static double read_work(const struct nb6_collisionless *s, int order, double work[NB6_MOST_PARTS])
{
    double all = 0;
    for (int p = 0; p < nb6_resident_parts(s->resident); p++) {
        struct gpunb_tree_counts counts = {0};
        check(nb6_resident_add_part_counts(s->resident, p, &counts, NULL), "counts of a part are lost");
        work[p] = (double)counts.pair_terms + tree_worth_a_term(order) * (double)counts.cell_terms;
        all += work[p];
    }
    return all;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void row(const struct settings *set, int parts, int64_t n)
{
    static double seconds[2][MOST_TURNS], before[2][NB6_MOST_PARTS], after[2][NB6_MOST_PARTS];
    struct nb6_collisionless *s[2];
    double work[2], most = 0;
    char first[16];
    snprintf(first, sizeof first, "%d", atoi(set->devices));
    for (int k = 0; k < 2; k++) {
        s[k] = make(set, k ? set->devices : first, k ? parts : 1, n);
        evolve(s[k], FIRST_STEPS); /* the state goes to its GPUs, and is divided twice */
        work[k] = -read_work(s[k], set->order, before[k]);
    }
    for (int turn = 0; turn < set->turns; turn++)
        for (int k = 0; k < 2; k++) seconds[k][turn] = evolve(s[k], STEPS);
    for (int k = 0; k < 2; k++) {
        work[k] += read_work(s[k], set->order, after[k]);
        qsort(seconds[k], (size_t)set->turns, sizeof seconds[k][0], by_value);
        nb6_collisionless_free(s[k]);
    }
    for (int p = 0; p < parts; p++) most = fmax(most, after[1][p] - before[1][p]);
    const double one = seconds[0][set->turns / 2], several = seconds[1][set->turns / 2];
    printf("%10lld %4d %10.3f %10.3f %6.2f %7.3f %7.3f\n", (long long)n, parts, 1e3 * one, 1e3 * several, one / several,
           most * parts / work[1], work[1] / work[0]);
    fflush(stdout);
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings set = {
        .kind = "cuda", .devices = "0,1", .n = "1048576,4194304,16777216", .error = 6e-3, .order = 2, .turns = 5};
    const struct bench_argument known[] = {{"devices", .text = &set.devices}, {"n", .text = &set.n},
                                           {"error", .real = &set.error},     {"order", .whole = &set.order},
                                           {"reuse", .whole = &set.reuse},    {"turns", .whole = &set.turns},
                                           {"kind", .text = &set.kind}};
    bench_read_arguments("bench_owners", argc, argv, known, sizeof known / sizeof known[0]);
    check(set.turns < 1 || set.turns > MOST_TURNS ? NBC_BAD_INPUT : NBC_OK, "turns is 1 to 99");
    check(set.order < 1 ? NBC_BAD_INPUT : NBC_OK, "order is at least 1");
    return set;
}

int main(int argc, char **argv)
{
    const struct settings set = read_settings(argc, argv);
    int parts = 1;
    for (const char *c = set.devices; *c; c++) parts += *c == ',';
    printf("%10s %4s %10s %10s %6s %7s %7s\n", "N", "GPUs", "one, ms", "all, ms", "times", "work", "terms");
    for (const char *n = set.n; n; n = strchr(n, ',')) {
        n += *n == ',';
        row(&set, parts, atoll(n));
    }
    return 0;
}
