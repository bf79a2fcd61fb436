/* The hybrid walk beside those that have one kind of term: forces by tree of a cube and a Plummer model, sizes of half
 * a decade, orders 1 to 8 (Yokota & Barba 2012, figures 4 to 6, whose times have no waves where the choice is good).
 *
 * Usage: bench_walks [name=value ...]
 *   - backend=NAME, error=E (4e-4), soft=S (0.02), memory=M (host, or device: bodies that are there)
 *   - first=P (3), last=P (6): sizes are 10^first to 10^last, as long as the next row takes less than row=S (2) seconds
 *   - clock=C (wall): or processor, of all threads of the process, for machines that are busy with other work
 *   - orders=A-B (1-8), leaf=L, group=G: 0 (default): those of the backend
 *
 * Walks take turns; of each the least time counts, since others can only lengthen it. A row has milliseconds of groups,
 * fmm and hybrid, and that of hybrid over the better of the others; `*` marks those above 1.05. At the end: how many
 * these are, and the worst of each set. */
#include "bench/support/arguments.h"
#include "bench/support/bodies.h"
#include "bench/support/resident.h"
#include "common/nbc.h"
#include "gpunb/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WALKS = 3, LEAST_TURNS = 3, MOST_TURNS = 40 };
static const enum gpunb_walk walks[WALKS] = {GPUNB_WALK_GROUPS, GPUNB_WALK_FMM, GPUNB_WALK_HYBRID};
static const double GOOD = 1.05, MORE_OF_A_SIZE = 3.5;

struct settings {
    const char *backend;
    double error, softening, row;
    int first, last, lowest, highest, leaf, group, in_device, of_processor;
};

/* A walk with its handle. */
struct runner {
    gpunb_t *handle;
    struct gpunb_softened_job job;
    struct resident resident;
    double least;
};

static void stop(const char *why)
{
    fprintf(stderr, "bench_walks: %s\n", why);
    exit(2);
}

static void check(int status, const struct nbc_error *err)
{
    if (status) stop(err->text);
}

static double now(const struct settings *s)
{
    struct timespec t;
    if (!s->of_processor) return nbc_wtime();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double force(const struct settings *s, struct runner *r)
{
    struct nbc_error err = {0};
    double seconds;
    if (s->in_device) {
        check(resident_force(&r->resident, r->handle, &seconds, &err), &err);
        return seconds;
    }
    const double begin = now(s);
    if (gpunb_softened(r->handle, &r->job)) stop(gpunb_last_error(r->handle));
    return now(s) - begin;
}

/* A first force makes the last accelerations, a second one the memory. */
static void open_runner(const struct settings *s, const struct bench_bodies *b, int order, enum gpunb_walk walk,
                        struct runner *r)
{
    struct nbc_error err = {0};
    const struct gpunb_options options = {.backend = s->backend,
                                          .force_error = s->error,
                                          .order = order,
                                          .leaf = s->leaf,
                                          .group = s->group,
                                          .walk = walk};
    memset(r, 0, sizeof *r);
    check(gpunb_create(&r->handle, b->n, &options, &err), &err);
    r->job = (struct gpunb_softened_job){
        .n_i = b->n, .x = (const double(*)[3])b->x, .self = b->self, .softening = s->softening, .acc = b->v};
    if (gpunb_send_positions(r->handle, b->n, b->mass, (const double(*)[3])b->x) || gpunb_softened(r->handle, &r->job))
        stop(gpunb_last_error(r->handle));
    r->job.acc_last = (const double(*)[3])b->v;
    r->job.acc = b->acc;
    if (s->in_device) check(resident_open(&r->resident, r->handle, b->n, b->mass, &r->job, &err), &err);
    r->least = force(s, r);
}

/* @return seconds that the row takes at least; *ratio: hybrid over the better of the others */
static double row(const struct settings *s, const char *set, const struct bench_bodies *b, int order, double *ratio)
{
    struct runner r[WALKS];
    for (int w = 0; w < WALKS; w++) open_runner(s, b, order, walks[w], &r[w]);
    const double of_turns = nbc_wtime();
    for (int t = 0; t < MOST_TURNS && (t < LEAST_TURNS || nbc_wtime() - of_turns < 0.2 * s->row); t++)
        for (int k = 0; k < WALKS; k++) {
            struct runner *next = &r[(t + k) % WALKS]; /* each comes after each other one */
            next->least = fmin(next->least, force(s, next));
        }
    for (int w = 0; w < WALKS; w++) {
        resident_close(&r[w].resident);
        gpunb_free(r[w].handle);
    }
    *ratio = r[2].least / fmin(r[0].least, r[1].least);
    printf("%-8s %8zu %5d %10.3f %10.3f %10.3f %7.3f%s\n", set, b->n, order, 1e3 * r[0].least, 1e3 * r[1].least,
           1e3 * r[2].least, *ratio, *ratio > GOOD ? " *" : "");
    fflush(stdout);
    return (r[0].least + r[1].least + r[2].least) * (LEAST_TURNS + 2);
}

/* All sizes and orders of a set. */
static void run_set(const struct settings *s, const char *name, enum bench_set set)
{
    double spent[GPUNB_MOST_ORDER + 1] = {0}, worst = 0;
    int rows = 0, above = 0;
    for (int half = 2 * s->first; half <= 2 * s->last; half++) {
        struct bench_bodies b;
        if (!bench_bodies_make(&b, set, (size_t)lround(pow(10, 0.5 * half)))) stop("no memory; give a smaller last=P");
        for (int order = s->lowest; order <= s->highest; order++) {
            double ratio;
            if (MORE_OF_A_SIZE * spent[order] > s->row) continue;
            spent[order] = row(s, name, &b, order, &ratio);
            worst = fmax(worst, ratio);
            rows++;
            above += ratio > GOOD;
        }
        bench_bodies_free(&b);
    }
    printf("%s: %d of %d rows above %.2f, the worst %.3f\n", name, above, rows, GOOD, worst);
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = {
        .error = 4e-4, .softening = 0.02, .row = 2, .first = 3, .last = 6, .lowest = 1, .highest = GPUNB_MOST_ORDER};
    const char *clock_of = "", *memory = "";
    const struct bench_argument known[] = {
        {.name = "backend", .text = &s.backend},
        {.name = "error", .real = &s.error},
        {.name = "soft", .real = &s.softening},
        {.name = "row", .real = &s.row},
        {.name = "first", .whole = &s.first},
        {.name = "last", .whole = &s.last},
        {.name = "leaf", .whole = &s.leaf},
        {.name = "group", .whole = &s.group},
        {.name = "clock", .text = &clock_of},
        {.name = "memory", .text = &memory},
        {.name = "orders", .lowest = &s.lowest, .highest = &s.highest},
    };
    bench_read_arguments("bench_walks", argc, argv, known, sizeof known / sizeof known[0]);
    s.of_processor = !strcmp(clock_of, "processor");
    s.in_device = !strcmp(memory, "device");
    if (s.lowest < 1 || s.highest > GPUNB_MOST_ORDER) stop("orders are 1-8");
    if (s.first < 1 || s.last > 8 || s.row <= 0) stop("sizes are 10^1 to 10^8, and row is above 0");
    return s;
}

int main(int argc, char **argv)
{
    const struct settings s = read_settings(argc, argv);
    printf("force_error %g, softening %g; milliseconds\n%-8s %8s %5s %10s %10s %10s %7s\n", s.error, s.softening, "set",
           "N", "order", "groups", "fmm", "hybrid", "ratio");
    run_set(&s, "cube", BENCH_CUBE);
    run_set(&s, "plummer", BENCH_PLUMMER);
    return 0;
}
