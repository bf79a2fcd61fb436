/* Expansions of the orders 1 to 15 in double (bench/orders/): what terms of each kind take in both bases, and the
 * hybrid walk beside those that have one kind of expansion, times and errors (Yokota & Barba 2012, figures 4 and 6).
 *
 * Usage: bench_orders [name=value ...]
 *   - orders=A-B (1-15), basis=NAME: harmonics (default without softening) or tensors, theta=T (0.5), soft=S (0)
 *   - first=P (3), last=P (5): sizes are 10^first to 10^last in half decades, as long as the next row takes less than
 *     row=S (5) seconds
 *   - leaf=L: most bodies of the smallest cells; 0 (default): by the times of terms (orders_leaf_of)
 *   - sample=K (200) targets whose errors are found
 *
 * First each term is timed with artificial bodies: nanoseconds by order, and those of tensors over those of harmonics,
 * which serve where this is above 1. These times are the costs by which `hybrid` chooses. Times are those of one
 * thread, whatever other programs do.
 *
 * A row has the least milliseconds of each walk, without sort; hybrid over the better of the others, `*` above 1.05;
 * percent of the terms of hybrid's expansions that are cells on cells, cells on bodies, bodies on cells; errors of
 * potential and acceleration by fmm and by hybrid, the root of the mean square over that of direct sums. */
#include "bench/orders/orders.h"
#include "bench/support/arguments.h"
#include "bench/support/bodies.h"
#include "common/nbc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 3, TIMED_BODIES = 16 };
static const double GOOD = 1.05, MORE_OF_A_SIZE = 4, LEAST_SECONDS = 1e-3;

struct settings {
    const struct orders_basis *basis;
    double theta, softening, row;
    int lowest, highest, first, last, leaf, sample;
};

static void stop(const char *why)
{
    fprintf(stderr, "bench_orders: %s\n", why);
    exit(2);
}

/* ---- terms */

/* Bodies in two spheres of radius 1/2 whose centres are 2 apart. */
struct scene {
    double s[TIMED_BODIES][3], y[TIMED_BODIES][3], mass[TIMED_BODIES], field[TIMED_BODIES][4];
    double moment[ORDERS_MOST_LENGTH], local[ORDERS_MOST_LENGTH], apart[3];
};

static void make_scene(const struct orders_kernel *k, struct scene *c)
{
    uint64_t state = BENCH_SEED;
    memset(c, 0, sizeof *c);
    bench_on_sphere(&state, 2, c->apart);
    for (int i = 0; i < TIMED_BODIES; i++) {
        c->mass[i] = 1;
        bench_on_sphere(&state, 0.5 * bench_uniform(&state), c->s[i]);
        bench_on_sphere(&state, 0.5 * bench_uniform(&state), c->y[i]);
        k->basis->add_body(k, c->mass[i], c->s[i], c->moment);
        for (int d = 0; d < 3; d++) c->y[i][d] += c->apart[d];
    }
}

/* TIMED_BODIES terms of a kind; of bodies on bodies the square of it. */
static void make_terms(const struct orders_kernel *k, enum orders_kind kind, struct scene *c)
{
    for (int i = 0; i < TIMED_BODIES; i++) switch (kind) {
        case ORDERS_CELL_CELL:
            k->basis->cell_on_cell(k, c->moment, c->y[i], c->local);
            break;
        case ORDERS_CELL_BODY:
            k->basis->cell_on_body(k, c->moment, c->y[i], c->field[i]);
            break;
        case ORDERS_BODY_CELL:
            k->basis->body_on_cell(k, c->mass[i], c->y[i], c->local);
            break;
        default:
            orders_direct(TIMED_BODIES, c->mass, (const double(*)[3])c->s, k->softening2, c->y[i], -1, c->field[i]);
        }
}

/* @return seconds of a term */
static double time_kind(const struct orders_kernel *k, enum orders_kind kind, struct scene *c)
{
    double least = INFINITY;
    int repeats = 1;
    for (int turn = 0; turn < TURNS;) {
        const double begin = orders_clock();
        for (int r = 0; r < repeats; r++) make_terms(k, kind, c);
        const double seconds = orders_clock() - begin;
        if (seconds < LEAST_SECONDS) {
            repeats *= 2;
            continue;
        }
        least = fmin(least, seconds / repeats);
        turn++;
    }
    return least / TIMED_BODIES / (kind == ORDERS_BODY_BODY ? TIMED_BODIES : 1);
}

static void time_terms(const struct orders_kernel *k, double cost[ORDERS_KINDS])
{
    struct scene scene;
    make_scene(k, &scene);
    for (int kind = 0; kind < ORDERS_KINDS; kind++) cost[kind] = time_kind(k, (enum orders_kind)kind, &scene);
}

/* @param[out] cost  [order] of the basis of the settings */
static void print_terms(const struct settings *s, double cost[][ORDERS_KINDS])
{
    const struct orders_basis *bases[2] = {&orders_tensors, &orders_harmonics};
    struct orders_kernel k;
    printf("nanoseconds a term: of tensors, of harmonics, and the first over the second\n%5s", "order");
    for (int kind = 0; kind < ORDERS_BODY_BODY; kind++) printf(" %26s", orders_kind_names[kind]);
    printf(" %12s\n", orders_kind_names[ORDERS_BODY_BODY]);
    for (int order = s->lowest; order <= s->highest; order++) {
        double of[2][ORDERS_KINDS];
        for (int b = 0; b < 2; b++) {
            orders_kernel_init(&k, bases[b], order, bases[b]->has_softening ? s->softening : 0);
            time_terms(&k, of[b]);
        }
        memcpy(cost[order], of[s->basis == &orders_harmonics], sizeof of[0]);
        printf("%5d", order);
        for (int kind = 0; kind < ORDERS_BODY_BODY; kind++)
            printf(" %10.1f %9.1f %5.2f", 1e9 * of[0][kind], 1e9 * of[1][kind], of[0][kind] / of[1][kind]);
        printf(" %12.2f\n", 1e9 * of[0][ORDERS_BODY_BODY]);
    }
}

/* ---- walks */

/* Mean squares of some bodies' differences from direct sums, over those of the sums: roots.
 * @param[out] error  of the potential, of the acceleration */
static void find_errors(const struct settings *s, const struct orders_job *job, double (*exact)[4], double error[2])
{
    double sum[2] = {0}, of_exact[2] = {0};
    for (int i = 0; i < s->sample; i++) {
        const double *found = job->field[(size_t)i * job->n / (size_t)s->sample];
        for (int k = 0; k < 4; k++) {
            const double d = found[k] - exact[i][k];
            sum[k < 3] += d * d;
            of_exact[k < 3] += exact[i][k] * exact[i][k];
        }
    }
    for (int k = 0; k < 2; k++) error[k] = sqrt(sum[k] / of_exact[k]);
}

/* @return seconds that the row took */
static double row(const struct settings *s, const char *set, struct orders_job *job, double (*exact)[4], double *ratio)
{
    const double begin = orders_clock();
    double least[ORDERS_WALKS] = {INFINITY, INFINITY, INFINITY}, error[ORDERS_WALKS][2];
    struct orders_counts counts;
    job->leaf = s->leaf > 0 ? s->leaf : orders_leaf_of(job->cost);
    for (int turn = 0; turn < TURNS && (turn == 0 || orders_clock() - begin < s->row / 2); turn++)
        for (int w = 0; w < ORDERS_WALKS; w++) {
            job->walk = (enum orders_walk)w;
            if (orders_force(job, &counts)) stop("no memory; give a smaller last=P");
            least[w] = fmin(least[w], counts.seconds);
            if (turn == 0) find_errors(s, job, exact, error[w]);
        }
    const double *terms = counts.terms; /* of hybrid, which comes last */
    const double of_cells = fmax(1, terms[ORDERS_CELL_CELL] + terms[ORDERS_CELL_BODY] + terms[ORDERS_BODY_CELL]);
    *ratio = least[ORDERS_HYBRID] / fmin(least[ORDERS_TREECODE], least[ORDERS_FMM]);
    printf("%-8s %8zu %5d %4d %10.3f %10.3f %10.3f %6.3f%-2s %5.1f %5.1f %5.1f", set, job->n, job->kernel->order,
           job->leaf, 1e3 * least[0], 1e3 * least[1], 1e3 * least[2], *ratio, *ratio > GOOD ? " *" : "",
           100 * terms[ORDERS_CELL_CELL] / of_cells, 100 * terms[ORDERS_CELL_BODY] / of_cells,
           100 * terms[ORDERS_BODY_CELL] / of_cells);
    for (int w = ORDERS_FMM; w < ORDERS_WALKS; w++) printf(" %8.1e %8.1e", error[w][0], error[w][1]);
    printf("\n");
    fflush(stdout);
    return orders_clock() - begin;
}

/* Direct sums of the sample. */
static double (*direct_sums(const struct settings *s, const struct bench_bodies *b))[4]
{
    double(*exact)[4] = nbc_alloc((size_t)s->sample, sizeof *exact);
    for (int i = 0; exact && i < s->sample; i++) {
        const size_t target = (size_t)i * b->n / (size_t)s->sample;
        orders_direct(b->n, b->mass, (const double(*)[3])b->x, s->softening * s->softening, b->x[target],
                      (ptrdiff_t)target, exact[i]);
    }
    return exact;
}

static void run_set(const struct settings *s, const char *name, enum bench_set set, double cost[][ORDERS_KINDS])
{
    double spent[ORDERS_MOST + 1] = {0}, worst = 0;
    int rows = 0, above = 0;
    for (int half = 2 * s->first; half <= 2 * s->last; half++) {
        struct bench_bodies b;
        if (!bench_bodies_make(&b, set, (size_t)lround(pow(10, 0.5 * half)))) stop("no memory; give a smaller last=P");
        double(*exact)[4] = direct_sums(s, &b), (*field)[4] = nbc_alloc(b.n, sizeof *field);
        if (!exact || !field) stop("no memory; give a smaller last=P");
        for (int order = s->lowest; order <= s->highest; order++) {
            struct orders_kernel kernel;
            struct orders_job job = {.kernel = &kernel,
                                     .theta = s->theta,
                                     .n = b.n,
                                     .mass = b.mass,
                                     .x = (const double(*)[3])b.x,
                                     .field = field};
            double ratio;
            if (MORE_OF_A_SIZE * spent[order] > s->row) continue;
            orders_kernel_init(&kernel, s->basis, order, s->softening);
            memcpy(job.cost, cost[order], sizeof job.cost);
            spent[order] = row(s, name, &job, exact, &ratio);
            worst = fmax(worst, ratio);
            rows++;
            above += ratio > GOOD;
        }
        nbc_free(exact);
        nbc_free(field);
        bench_bodies_free(&b);
    }
    printf("%s: %d of %d rows above %.2f, the worst %.3f\n", name, above, rows, GOOD, worst);
}

static const struct orders_basis *basis_named(const char *name)
{
    if (!strcmp(name, orders_tensors.name)) return &orders_tensors;
    if (!strcmp(name, orders_harmonics.name)) return &orders_harmonics;
    stop("basis is tensors or harmonics");
    return NULL;
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = {
        .theta = 0.5, .row = 5, .lowest = 1, .highest = ORDERS_MOST, .first = 3, .last = 5, .sample = 200};
    const char *basis = NULL;
    const struct bench_argument known[] = {
        {.name = "basis", .text = &basis},
        {.name = "theta", .real = &s.theta},
        {.name = "soft", .real = &s.softening},
        {.name = "row", .real = &s.row},
        {.name = "first", .whole = &s.first},
        {.name = "last", .whole = &s.last},
        {.name = "leaf", .whole = &s.leaf},
        {.name = "sample", .whole = &s.sample},
        {.name = "orders", .lowest = &s.lowest, .highest = &s.highest},
    };
    bench_read_arguments("bench_orders", argc, argv, known, sizeof known / sizeof known[0]);
    if (basis) s.basis = basis_named(basis);
    if (!s.basis) s.basis = s.softening > 0 ? &orders_tensors : &orders_harmonics;
    if (s.softening > 0 && !s.basis->has_softening) stop("harmonics have no softening");
    if (s.lowest < 1 || s.highest > ORDERS_MOST) stop("orders are 1-15");
    if (s.first < 1 || s.last > 7 || !(s.row > 0)) stop("sizes are 10^1 to 10^7, and row is above 0");
    if (!(s.theta > 0 && s.theta < 1) || !(s.softening >= 0)) stop("theta is between 0 and 1, soft is not below 0");
    if (s.sample < 1 || s.leaf < 0) stop("sample is 1 and more, leaf 0 and more");
    return s;
}

int main(int argc, char **argv)
{
    const struct settings s = read_settings(argc, argv);
    double cost[ORDERS_MOST + 1][ORDERS_KINDS] = {{0}};
    print_terms(&s, cost);
    printf("walks: %s, theta %g, softening %g; milliseconds\n%-8s %8s %5s %4s %10s %10s %10s %6s   %5s %5s %5s %17s "
           "%17s\n",
           s.basis->name, s.theta, s.softening, "set", "N", "order", "leaf", "treecode", "fmm", "hybrid", "ratio",
           "c-c", "c-b", "b-c", "errors: fmm", "hybrid");
    run_set(&s, "cube", BENCH_CUBE, cost);
    run_set(&s, "plummer", BENCH_PLUMMER, cost);
    return 0;
}
