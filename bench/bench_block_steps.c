/* Block steps of a Plummer model, by direct sums and by a tree: seconds a unit of time.
 *
 * Usage: bench_block_steps [name=value ...]
 *   - backend=NAME, first=K (14), last=K (16): sizes are 2^first to 2^last
 *   - eta=E (0.02), soft=S (0.02), dt=DT (0.0078125): accuracy, softening and the longest step, a power of two
 *   - error=E (4e-4): the aim of the tree; row=S (2): seconds that a row measures at least, in whole longest steps
 *
 * A longest step is made before, since first steps are alike. Direct sums and the tree take turns by longest steps.
 * `due` is the mean number of bodies that end a step in a block. Without direct=1 (default), direct=0, there is the
 * tree alone. */
#include "bench/support/arguments.h"
#include "common/nbc.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/input/config.h"
#include "nbody6/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECT, TREE, METHODS };

struct settings {
    const char *backend;
    double eta, softening, dt, error, row;
    int first, last, direct;
};

/* A system of a method, and what its steps took. */
struct runner {
    struct nb6_collisionless *system;
    double seconds, time, blocks, steps;
};

static void stop(const char *why)
{
    fprintf(stderr, "bench_block_steps: %s\n", why);
    exit(2);
}

static void check(int status, const struct nbc_error *err)
{
    if (status) stop(err->text);
}

static struct nb6_model make_model(int64_t n)
{
    struct nb6_config config;
    struct nb6_model model = {0};
    struct nbc_error err = {0};
    nb6_config_init(&config);
    config.model.kind = NB6_MODEL_PLUMMER;
    config.model.n = n;
    check(nb6_model_make(&config, &model, &err), &err);
    return model;
}

static void advance(struct runner *r)
{
    struct nbc_error err = {0};
    struct nb6_collisionless *s = r->system;
    const double blocks = (double)s->n_blocks, steps = (double)s->n_steps, begin = nbc_wtime();
    const double dt = nb6_collisionless_longest_step(s);
    check(nb6_collisionless_evolve(s, nb6_collisionless_time(s) + dt, &err), &err);
    r->seconds += nbc_wtime() - begin;
    r->time += dt;
    r->blocks += (double)s->n_blocks - blocks;
    r->steps += (double)s->n_steps - steps;
}

static void open_runner(const struct settings *s, const struct nb6_model *m, int64_t n, int method, struct runner *r)
{
    const struct nb6_collisionless_options options = {
        .softening = s->softening,
        .dt = s->dt,
        .steps = NB6_COLLISIONLESS_BLOCK,
        .eta = s->eta,
        .force = {.backend = s->backend, .force_error = method == TREE ? s->error : 0}};
    struct nbc_error err = {0};
    memset(r, 0, sizeof *r);
    check(nb6_collisionless_create(&r->system, n, NULL, m->mass, (const double(*)[3])m->x, (const double(*)[3])m->v,
                                   &options, &err),
          &err);
    advance(r);
    r->seconds = r->time = r->blocks = r->steps = 0;
}

static void row(const struct settings *s, int64_t n)
{
    struct nb6_model model = make_model(n);
    struct runner r[METHODS] = {{0}};
    const int from = s->direct ? DIRECT : TREE;
    for (int k = from; k < METHODS; k++) open_runner(s, &model, n, k, &r[k]);
    nb6_model_free(&model);
    do {
        for (int k = from; k < METHODS; k++) advance(&r[k]);
    } while (r[DIRECT].seconds + r[TREE].seconds < s->row);
    const double tree = r[TREE].seconds / r[TREE].time;
    printf("%9lld %10.0f %10.0f", (long long)n, r[TREE].steps / r[TREE].blocks, r[TREE].blocks / r[TREE].time);
    if (s->direct) {
        const double direct = r[DIRECT].seconds / r[DIRECT].time;
        printf(" %12.3f %12.3f %7.2f\n", direct, tree, direct / tree);
    } else
        printf(" %12s %12.3f %7s\n", "-", tree, "-");
    fflush(stdout);
    for (int k = from; k < METHODS; k++) nb6_collisionless_free(r[k].system);
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = {
        .eta = 0.02, .softening = 0.02, .dt = 1.0 / 128, .error = 4e-4, .row = 2, .first = 14, .last = 16, .direct = 1};
    const struct bench_argument known[] = {
        {.name = "backend", .text = &s.backend}, {.name = "eta", .real = &s.eta},
        {.name = "soft", .real = &s.softening},  {.name = "dt", .real = &s.dt},
        {.name = "error", .real = &s.error},     {.name = "row", .real = &s.row},
        {.name = "first", .whole = &s.first},    {.name = "last", .whole = &s.last},
        {.name = "direct", .whole = &s.direct},
    };
    bench_read_arguments("bench_block_steps", argc, argv, known, sizeof known / sizeof known[0]);
    if (s.first < 2 || s.last > 30) stop("sizes are 2^2 to 2^30");
    return s;
}

int main(int argc, char **argv)
{
    const struct settings s = read_settings(argc, argv);
    printf(
        "ETA = %g, softening %g, longest step %g, tree of force_error %g: seconds a unit of time\n%9s %10s %10s %12s "
        "%12s %7s\n",
        s.eta, s.softening, s.dt, s.error, "N", "due", "blocks", "direct", "tree", "ratio");
    for (int k = s.first; k <= s.last; k++) row(&s, (int64_t)1 << k);
    return 0;
}
