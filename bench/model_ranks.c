/* Direct sums on many ranks (MTM13 Sec. 4 and 6): models beside what the paper, a virtual network and this machine
 * take.
 *
 * Usage: model_ranks                        tables of the paper and of virtual networks
 *        mpirun -n 2 model_ranks --ping-pong   latency and rate of messages between the first two ranks
 *        mpirun -n P model_ranks [N [BACKEND]]     forces on P processes, beside one of them and the model
 *        model_ranks --threads P [N [BACKEND]]     the same with threads as ranks, each with one thread of OpenMP
 *        ... [N [BACKEND [FORCE_ERROR]]]           forces by a tree
 * BACKEND cuda or emulated: bodies are on the devices of their ranks, each of which has one, and times are those of
 * shared steps, as they are by a tree, for which ranks have bodies in memory. Times are medians. Those of a thread are
 * of the one that leads rank 0, without the time in which other programs had its processor: all its work if
 * OMP_NUM_THREADS=1, and no waits if ranks are threads (MPI waits by looking again and again).
 */
#include "bench/support/rank_tables.h"
#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/exchange.h"
#include "nbody6/collisionless/ranks/model.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/world/launch.h"
#include "nbody6/world/spread.h"
#include "nbody6/world/threads.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 7, SMALL = 8, LARGE = 1 << 22, SOURCE_BYTES = 32 };
static const double ROOM = 0x1p30, SOFTENING = 1.0 / 256;

static void stop(const char *why)
{
    fprintf(stderr, "model_ranks: %s\n", why);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static double median(double seconds[REPEATS])
{
    qsort(seconds, REPEATS, sizeof *seconds, by_value);
    return seconds[REPEATS / 2];
}

/* Of the wall, and of the calling thread alone. */
struct seconds {
    double wall, thread;
};

static struct seconds now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (struct seconds){nbc_wtime(), (double)t.tv_sec + 1e-9 * (double)t.tv_nsec};
}

struct series {
    double wall[REPEATS], thread[REPEATS];
};

static void note(struct series *series, int k, struct seconds start)
{
    const struct seconds end = now();
    if (k < 0) return; /* the first time allocates */
    series->wall[k] = end.wall - start.wall;
    series->thread[k] = end.thread - start.thread;
}

static struct seconds medians(struct series *series)
{
    return (struct seconds){median(series->wall), median(series->thread)};
}

/* ---- messages */

/* Seconds of a message one way, when both ranks send at the same time, as in an exchange of sources. */
static double message_seconds(struct nb6_world *world, size_t bytes)
{
    const int turns = bytes > 1 << 16 ? 8 : 400, rank = nb6_world_rank(world);
    char *mine = nbc_alloc(bytes, 1), *other = nbc_alloc(bytes, 1);
    double seconds[REPEATS];
    if (!mine || !other) stop("no memory");
    for (int k = 0; k < REPEATS; k++) {
        int64_t ready = 0;
        nb6_world_minimum(world, &ready, 1);
        const double start = nbc_wtime();
        for (int turn = 0; turn < turns && rank < 2; turn++) {
            struct nb6_message in, out;
            nb6_world_receive(world, &in, 1 - rank, turn, other, bytes);
            nb6_world_send(world, &out, 1 - rank, turn, mine, bytes);
            nb6_message_wait(world, &in);
            nb6_message_wait(world, &out);
        }
        seconds[k] = (nbc_wtime() - start) / turns;
    }
    nbc_free(mine);
    nbc_free(other);
    return median(seconds);
}

static void find_network(struct nb6_world *world, struct nb6_rank_model *model)
{
    model->latency_s = message_seconds(world, SMALL);
    model->bytes_per_s = LARGE / fmax(message_seconds(world, LARGE) - model->latency_s, 1e-9);
    nb6_world_broadcast(world, model, sizeof *model); /* all use the times of rank 0 */
}

/* ---- forces */

struct forces {
    int64_t n;
    const char *backend;
    double force_error; /* 0: direct sums */
    int threads;        /* of a team that ranks share, as far as they are threads, by a tree */
};

struct bodies {
    int64_t own;
    double *mass, (*x)[3], (*acc)[3];
    int32_t *due;
};

/* A uniform sphere; the same on any number of ranks. */
static struct bodies make_bodies(struct nb6_world *world, int64_t n)
{
    int64_t first, end;
    nb6_world_share(world, n, nb6_world_rank(world), &first, &end);
    const size_t own = (size_t)(end - first);
    struct bodies b = {end - first, nbc_alloc(own, sizeof *b.mass), nbc_alloc(own, sizeof *b.x),
                       nbc_alloc(own, sizeof *b.acc), nbc_alloc(own, sizeof *b.due)};
    if (!b.mass || !b.x || !b.acc || !b.due) stop("no memory");
    for (int64_t i = 0; i < b.own; i++) {
        uint64_t number = (uint64_t)(first + i) * 0x9e3779b97f4a7c15u + 88172645463325252u;
        double r2 = 2;
        while (r2 > 1) {
            r2 = 0;
            for (int k = 0; k < 3; k++) {
                number ^= number << 13;
                number ^= number >> 7;
                number ^= number << 17;
                b.x[i][k] = (double)(number >> 11) * 0x1p-52 - 1;
                r2 += b.x[i][k] * b.x[i][k];
            }
        }
        b.mass[i] = 1.0 / (double)n;
        b.due[i] = (int32_t)i;
    }
    return b;
}

static void free_bodies(struct bodies *b)
{
    nbc_free(b->mass);
    nbc_free(b->x);
    nbc_free(b->acc);
    nbc_free(b->due);
}

static void must(struct nb6_world *world, int status, struct nbc_error *err)
{
    if (nb6_world_agree(world, status, err)) stop(err->text);
}

static gpunb_t *open_force(struct nb6_world *world, const char *backend, int64_t n)
{
    struct nbc_error err = {0};
    gpunb_t *force = NULL;
    must(world, gpunb_create(&force, (size_t)n, &(struct gpunb_options){.backend = backend}, &err), &err);
    return force;
}

/* Median seconds of the forces of all bodies on themselves, on all ranks; the slowest rank counts. */
static struct seconds time_of_ranks(struct nb6_world *world, const struct forces *f, struct nb6_spread_counts *counts)
{
    struct bodies b = make_bodies(world, f->n);
    struct nbc_error err = {0};
    struct nb6_exchange *exchange = NULL;
    gpunb_t *force = open_force(world, f->backend, 1);
    const double(*x)[3] = (const double(*)[3])b.x;
    const struct nb6_exchange_job job = {
        .mass = b.mass, .x = x, .n_due = b.own, .due = b.due, .x_due = x, .softening = SOFTENING, .acc = b.acc};
    struct series series;
    must(world, nb6_exchange_open(&exchange, world, f->n, 0, force, NULL, &err), &err);
    for (int k = -1; k < REPEATS; k++) {
        int64_t ready = 0;
        nb6_world_minimum(world, &ready, 1);
        const struct seconds start = now();
        must(world, nb6_exchange_sum(exchange, &job, &err), &err);
        note(&series, k, start);
    }
    nb6_exchange_get_counts(exchange, counts);
    nb6_exchange_close(exchange);
    gpunb_free(force);
    free_bodies(&b);
    return medians(&series);
}

/* Median seconds of n_i targets and as many sources on rank 0 alone, while the others wait. */
static struct seconds time_of_one(struct nb6_world *world, const char *backend, int64_t n)
{
    struct series series = {0};
    if (nb6_world_rank(world) == 0) {
        struct bodies b = make_bodies(NULL, n);
        gpunb_t *force = NULL;
        struct nbc_error err = {0};
        if (gpunb_create(&force, (size_t)n, &(struct gpunb_options){.backend = backend}, &err)) stop(err.text);
        const struct gpunb_softened_job job = {
            .n_i = (size_t)n, .x = (const double(*)[3])b.x, .softening = SOFTENING, .acc = b.acc};
        for (int k = -1; k < REPEATS; k++) {
            const struct seconds start = now();
            if (gpunb_send_positions(force, (size_t)n, b.mass, (const double(*)[3])b.x) || gpunb_softened(force, &job))
                stop(gpunb_last_error(force));
            note(&series, k, start);
        }
        gpunb_free(force);
        free_bodies(&b);
    }
    struct seconds result = medians(&series);
    nb6_world_broadcast(world, &result, sizeof result);
    return result;
}

/* ---- steps on devices */

static enum nb6_collisionless_engine engine_of(const char *backend)
{
    if (strncmp(backend, "cuda", 4) == 0) return NB6_COLLISIONLESS_DEVICE;
    return strncmp(backend, "emulated", 8) == 0 ? NB6_COLLISIONLESS_EMULATED : NB6_COLLISIONLESS_HOST;
}

/* Of direct sums, and of trees. */
struct counts {
    struct nb6_spread_counts spread;
    struct nb6_rank_trees_counts trees;
};

/* world: NULL: one rank. */
static struct seconds time_steps(struct nb6_world *world, const struct forces *f, enum nb6_collisionless_engine engine,
                                 struct counts *counts)
{
    const double step = 0x1p-20;
    const struct nb6_collisionless_options options = {.softening = SOFTENING,
                                                      .dt = step,
                                                      .steps = NB6_COLLISIONLESS_SHARED,
                                                      .force = {.backend = f->backend, .force_error = f->force_error},
                                                      .engine = engine,
                                                      .world = world};
    const int64_t n = f->n;
    struct bodies b = make_bodies(NULL, n);
    struct nb6_collisionless *s = NULL;
    struct nbc_error err = {0};
    struct series series;
    memset(b.acc, 0, (size_t)n * sizeof *b.acc); /* velocities */
    if (nb6_collisionless_create(&s, n, NULL, b.mass, (const double(*)[3])b.x, (const double(*)[3])b.acc, &options,
                                 &err))
        stop(err.text);
    for (int k = -1; k < REPEATS; k++) {
        const struct seconds start = now();
        if (nb6_collisionless_evolve(s, (k + 2) * step, &err)) stop(err.text);
        note(&series, k, start);
    }
    if (s->ranks && counts) nb6_ranks_get_counts(s->ranks, &counts->spread);
    if (s->ranks && counts) (void)nb6_ranks_get_tree_counts(s->ranks, &counts->trees);
    nb6_collisionless_free(s);
    free_bodies(&b);
    return medians(&series);
}

/* Of all ranks together; rank 0 knows them. */
static struct seconds time_steps_of_ranks(struct nb6_world *world, const struct forces *f, struct counts *counts)
{
    struct seconds seconds = {0};
    if (nb6_world_rank(world) == 0) {
        seconds = time_steps(world, f, f->force_error > 0 ? NB6_COLLISIONLESS_HOST : engine_of(f->backend), counts);
        nb6_ranks_dismiss(world, 0);
    } else
        (void)nb6_ranks_serve(world, NULL);
    nb6_world_broadcast(world, &seconds, sizeof seconds);
    return seconds;
}

static struct seconds time_steps_of_one(struct nb6_world *world, const char *backend, int64_t n)
{
    char first[32];
    struct seconds seconds = {0};
    snprintf(first, sizeof first, "%s:0", backend);
    if (nb6_world_rank(world) == 0)
        seconds = time_steps(NULL, &(struct forces){.n = n, .backend = first}, engine_of(backend), NULL);
    nb6_world_broadcast(world, &seconds, sizeof seconds);
    return seconds;
}

/* ---- steps by a tree */

/* Of rank 0 alone, while the others wait.   @param[in] engine  where its bodies are */
static struct seconds time_tree_of_one(struct nb6_world *world, const struct forces *f, int64_t n,
                                       enum nb6_collisionless_engine engine)
{
    char first[32];
    struct seconds seconds = {0};
    struct forces alone = *f;
    alone.n = n;
    snprintf(first, sizeof first, "%s%s", f->backend, engine_of(f->backend) == NB6_COLLISIONLESS_HOST ? "" : ":0");
    alone.backend = first;
    if (nb6_world_rank(world) == 0) seconds = time_steps(NULL, &alone, engine, NULL);
    nb6_world_broadcast(world, &seconds, sizeof seconds);
    return seconds;
}

/* Of a tree of so many bodies, and of a force by it. */
struct tree_times {
    struct seconds build, force;
    double terms; /* of a target */
};

static void time_tree(gpunb_t *tree, const struct gpunb_softened_job *job, struct tree_times *times)
{
    struct series build, force;
    struct gpunb_tree_counts before, after;
    gpunb_tree_get_counts(tree, &before);
    for (int k = -1; k < REPEATS; k++) {
        gpunb_tree_t *cells;
        const struct seconds start = now();
        if (gpunb_tree_build(tree, &cells)) stop(gpunb_last_error(tree));
        note(&build, k, start);
        const struct seconds built = now();
        if (gpunb_tree_force(tree, cells, job)) stop(gpunb_last_error(tree));
        note(&force, k, built);
        gpunb_tree_free(cells);
    }
    gpunb_tree_get_counts(tree, &after);
    const uint64_t terms = after.cell_terms + after.pair_terms - before.cell_terms - before.pair_terms;
    *times =
        (struct tree_times){medians(&build), medians(&force), (double)terms / (double)(after.targets - before.targets)};
}

/* Of rank 0 alone. */
static struct tree_times find_tree_times(struct nb6_world *world, const struct forces *f, int64_t n)
{
    struct tree_times times = {0};
    if (nb6_world_rank(world) == 0) {
        struct bodies b = make_bodies(NULL, n);
        struct nbc_error err = {0};
        gpunb_t *tree = NULL;
        const struct gpunb_options options = {.backend = f->backend, .force_error = f->force_error};
        const double(*x)[3] = (const double(*)[3])b.x;
        double(*last)[3] = nbc_alloc((size_t)n, sizeof *last);
        struct gpunb_softened_job job = {.n_i = (size_t)n, .x = x, .self = b.due, .softening = SOFTENING, .acc = b.acc};
        if (!last) stop("no memory");
        if (gpunb_create(&tree, (size_t)n, &options, &err)) stop(err.text);
        if (gpunb_send_positions(tree, (size_t)n, b.mass, x) || gpunb_softened(tree, &job))
            stop(gpunb_last_error(tree));
        memcpy(last, b.acc, (size_t)n * sizeof *last);
        job.acc_last = (const double(*)[3])last;
        time_tree(tree, &job, &times);
        gpunb_free(tree);
        nbc_free(last);
        free_bodies(&b);
    }
    nb6_world_broadcast(world, &times, sizeof times);
    return times;
}

/* Of a step on ranks, of which each has its part of all that one process does, with lists as long as there. Boxes,
 * what others get, and what has come below one root take two thirds of the time of the own tree (rebuild.c has 1.5 to
 * 1.8 for both, by clocks of threads). Bytes are those that rank 0 sends; a thread that waits takes no time of its own.
 */
static double model_of_trees(double latency, double rate, const struct nb6_rank_trees_counts *sent, double one,
                             double build, int ranks)
{
    static const double AND_LISTS = 2.0 / 3;
    const struct nb6_rank_tree_model m = {.latency_s = latency,
                                          .bytes_per_s = rate,
                                          .work_s = (one + AND_LISTS * build) / ranks,
                                          .tree_bytes = (double)sent->bytes / fmax((double)sent->forces, 1)};
    return nb6_rank_tree_seconds(&m, ranks);
}

static void measure_trees(struct nb6_world *world, const struct forces *f)
{
    const int ranks = nb6_world_size(world);
    const int64_t n = f->n ? f->n : 1 << 20;
    const struct forces asked = {n, f->backend, f->force_error, f->threads};
    struct nb6_rank_model network = {0};
    struct counts counts = {0};
    find_network(world, &network);
    omp_set_num_threads(f->threads);
    const struct tree_times tree = find_tree_times(world, &asked, n);
    const double device = time_tree_of_one(world, f, n / ranks, engine_of(f->backend)).wall,
                 share = time_tree_of_one(world, f, n / ranks, NB6_COLLISIONLESS_HOST).wall;
    const struct seconds one = time_tree_of_one(world, f, n, NB6_COLLISIONLESS_HOST),
                         all = time_steps_of_ranks(world, &asked, &counts);
    if (nb6_world_rank(world) > 0) return;
    const double latency = network.latency_s, rate = network.bytes_per_s,
                 model = model_of_trees(latency, rate, &counts.trees, one.wall, tree.build.wall, ranks),
                 of_thread = model_of_trees(0, rate, &counts.trees, one.thread, tree.build.thread, ranks);
    const double bodies = (double)n, force = tree.force.thread, build = tree.build.thread;
    printf("%d ranks (%s), backend %s, FORCE_ERROR = %g: latency %.3g s, rate %.3g bytes/s\n"
           "of one thread: a body of a tree %.3g s, a term %.3g s, %.0f of each target, other work %.3g s a body\n"
           "       N     one[s]   share[s]  share on device[s]   ranks[s]   times  of a share   model[s]  off  "
           "ranks(thread)[s]   model[s]  off\n"
           "%8lld %10.3e %10.3e %19.3e %10.3e %7.2f %11.2f %10.3e %+3.0f %% %16.3e %10.3e %+3.0f %%\n",
           ranks, nb6_world_name(world), f->backend, f->force_error, latency, rate, build / bodies,
           force / bodies / tree.terms, tree.terms, (one.thread - build - force) / bodies, (long long)n, one.wall,
           share, device, all.wall, one.wall / all.wall, all.wall / share, model, 100 * (model / all.wall - 1),
           all.thread, of_thread, 100 * (of_thread / all.thread - 1));
}

static void measure(struct nb6_world *world, void *context)
{
    struct forces f = *(const struct forces *)context;
    const int ranks = nb6_world_size(world);
    struct nb6_rank_model model = {.source_bytes = SOURCE_BYTES};
    struct counts counts = {0};
    const int on_devices = engine_of(f.backend) != NB6_COLLISIONLESS_HOST;
    if (f.force_error > 0) {
        measure_trees(world, &f);
        return;
    }
    const int64_t largest = f.n ? f.n : on_devices ? 1 << 20 : 1 << 16;
    find_network(world, &model);
    if (nb6_world_rank(world) == 0)
        printf(
            "%d ranks (%s), backend %s: latency %.3g s, rate %.3g bytes/s\n"
            "       N     one[s]   share[s]   ranks[s]   model[s]  off    times  efficiency  waits[s]  times(thread)\n",
            ranks, nb6_world_name(world), f.backend, model.latency_s, model.bytes_per_s);
    for (int64_t n = f.n ? f.n : 4096; n <= largest; n *= 4) {
        const struct forces now_asked = {n, f.backend, 0, 1};
        struct seconds (*const alone)(struct nb6_world *, const char *, int64_t) =
            on_devices ? time_steps_of_one : time_of_one;
        const struct seconds one = alone(world, f.backend, n);
        const double share = alone(world, f.backend, n / ranks).wall, own = (double)(n / ranks);
        const struct seconds all = on_devices ? time_steps_of_ranks(world, &now_asked, &counts)
                                              : time_of_ranks(world, &now_asked, &counts.spread);
        /* A set of sources costs what the share alone does, as far as it is not in proportion to the pairs. */
        model.pair_s = fmax((one.wall - share) / ((double)n * (double)n - own * own), 0);
        model.call_s = fmax(share - model.pair_s * own * own, 0);
        const double predicted = nb6_rank_seconds(&model, (double)n, ranks, ROOM);
        if (nb6_world_rank(world) == 0)
            printf("%8lld %10.3e %10.3e %10.3e %10.3e  %+3.0f %% %5.2f  %8.2f  %9.1e  %11.2f\n", (long long)n, one.wall,
                   share, all.wall, predicted, 100 * (predicted / all.wall - 1), one.wall / all.wall,
                   one.wall / all.wall / ranks, counts.spread.wait_s / (double)counts.spread.runs,
                   one.thread / all.thread);
    }
}

static void take_forces(struct forces *f, int argc, char **argv)
{
    if (argc > 0) f->n = atoll(argv[0]);
    if (argc > 1) f->backend = argv[1];
    if (argc > 2) f->force_error = atof(argv[2]);
    if (argc > 0 && (f->n < 1 || f->n > INT32_MAX)) stop("N is a number of bodies");
    if (argc > 2 && !(f->force_error > 0 && f->force_error < 1)) stop("FORCE_ERROR is more than 0 and less than 1");
}

int main(int argc, char **argv)
{
    struct nb6_world *world;
    struct nbc_error err = {0};
    struct forces f = {.backend = gpunb_backend_name(0), .threads = omp_get_max_threads()};
    int is_first;
    for (int k = 0; (f.backend = gpunb_backend_name(k)); k++) /* the best one on processors */
        if (strcmp(f.backend, "cuda") != 0 && gpunb_backend(k)->available) break;
    if (nb6_world_open(&world, &is_first, &err)) stop(err.text);
    const int ranks = nb6_world_size(world);
    if (argc > 1 && strcmp(argv[1], "--ping-pong") == 0) {
        struct nb6_rank_model model = {0};
        if (ranks < 2) stop("--ping-pong needs two ranks: mpirun -n 2 model_ranks --ping-pong");
        find_network(world, &model);
        if (is_first) printf("latency %.3g s, rate %.3g bytes/s\n", model.latency_s, model.bytes_per_s);
    } else if (argc > 2 && strcmp(argv[1], "--threads") == 0) {
        take_forces(&f, argc - 3, argv + 3);
        if (atoi(argv[2]) < 2) stop("--threads needs two ranks at least");
        if (nb6_world_threads_run(atoi(argv[2]), &(struct nb6_threads_options){0}, measure, &f, &err)) stop(err.text);
    } else if (ranks > 1) {
        take_forces(&f, argc - 1, argv + 1);
        measure(world, &f);
    } else {
        if (rank_tables_print(&err)) stop(err.text);
    }
    nb6_world_close(world);
    return 0;
}
