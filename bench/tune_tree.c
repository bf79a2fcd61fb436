/* Nominal costs of softened forces on this machine (gpunb/tree/costs.h): each kind of work is timed with bodies of a
 * Plummer model, and settings that have much of it.
 *
 * Usage: tune_tree [name=value ...] [--write FILE]
 *   - backend=NAME: as in struct gpunb_options; its automatic choice otherwise
 *   - n=N: bodies (32768; of cuda 1048576, of emulated 4096)
 *   - machine=TEXT: what readers are to know it by
 *   - repeat=R (5): of R times the median counts
 *   - --write FILE: a file for COSTS of &INCOLLISIONLESS
 *
 * Prints the row of gpunb/tree/costs_table.c. On processors times are those of one thread, whatever other programs do;
 * on a GPU bodies are in its memory. The sum of a force is taken apart by least squares of relative errors, with costs
 * that are not negative; the deviation of the times from what the row predicts goes to standard error. */
#define PROGRAM "tune_tree"
#include "bench/support/arguments.h"
#include "bench/tree_scene.h"
#include "gpunb/tree/costs.h"

#include <omp.h>

struct settings {
    const char *backend, *machine, *file;
    size_t n;
    int repeat, on_device, of_process; /* of_process: times are of the processor */
};

enum { MOST_TIMES = 32, MOST_LINES = 128 };

/* ---- least squares */

/* Unknown costs, of direct sums or of forces by tree. */
enum { DIRECT_START, DIRECT_SOURCE, PAIR, DIRECT_COSTS };
enum { TARGET, GROUP, TEST, BODY, FIELD, TERM, LOCAL = TERM + GPUNB_MOST_ORDER, TREE_COSTS = LOCAL + GPUNB_MOST_ORDER };
struct lines {
    int n;
    double count[MOST_LINES][TREE_COSTS], ns[MOST_LINES];
};

/* Coordinate by coordinate, each at least 0: there are few. */
static void solve(const struct lines *l, int unknowns, double *cost)
{
    double square[TREE_COSTS][TREE_COSTS] = {{0}}, right[TREE_COSTS] = {0};
    for (int k = 0; k < l->n; k++)
        for (int a = 0; a < unknowns; a++) {
            right[a] += l->count[k][a] / l->ns[k];
            for (int b = 0; b < unknowns; b++) square[a][b] += l->count[k][a] * l->count[k][b] / (l->ns[k] * l->ns[k]);
        }
    for (int a = 0; a < unknowns; a++) cost[a] = 0;
    for (int sweep = 0; sweep < 100000; sweep++)
        for (int a = 0; a < unknowns; a++) {
            double left = right[a];
            for (int b = 0; b < unknowns; b++) left -= square[a][b] * cost[b];
            if (square[a][a] > 0) cost[a] = fmax(0, cost[a] + left / square[a][a]);
        }
}

static void tell_deviation(const struct lines *l, int unknowns, const double *cost, const char *what)
{
    double sum = 0, most = 0;
    for (int k = 0; k < l->n; k++) {
        double ns = 0;
        for (int a = 0; a < unknowns; a++) ns += l->count[k][a] * cost[a];
        const double d = ns / l->ns[k] - 1;
        sum += d * d;
        most = fmax(most, fabs(d));
    }
    fprintf(stderr, "%s: %d times, deviation %.3f, largest %.3f\n", what, l->n, sqrt(sum / l->n), most);
}

/* ---- direct sums */

static double time_direct(const struct settings *s, size_t n_i, size_t n_j)
{
    const struct gpunb_options options = {.backend = s->backend};
    struct scene scene = make_scene(n_j);
    struct resident resident = {0};
    double ns[MOST_TIMES];
    gpunb_t *h = open_forces(&scene, &options);
    choose_targets(&scene, n_i);
    struct resident *r = s->on_device && settle(&resident, h, &scene) ? &resident : NULL;
    make_force(h, &scene, r);
    for (int k = 0; k < s->repeat; k++) {
        const double begin = now(s->of_process);
        make_force(h, &scene, r);
        ns[k] = 1e9 * (now(s->of_process) - begin);
    }
    leave(&resident);
    gpunb_free(h);
    free_scene(&scene);
    return median(ns, s->repeat);
}

static void tune_direct(const struct settings *s, struct gpunb_tree_costs *costs)
{
    static const size_t part[][2] = {{32768, 512}, {128, 128}, {128, 8}, {16, 8}, {8, 8}, {16, 2}, {4, 2}, {4, 1}};
    static struct lines l;
    double cost[TREE_COSTS];
    for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
        const size_t n_i = s->n / part[k][0], n_j = s->n / part[k][1];
        if (n_i == 0 || (double)n_i * (double)n_j > (s->on_device ? 4e10 : 4e8)) continue;
        l.count[l.n][DIRECT_START] = 1;
        l.count[l.n][DIRECT_SOURCE] = (double)n_j;
        l.count[l.n][PAIR] = (double)n_i * (double)n_j;
        l.ns[l.n++] = time_direct(s, n_i, n_j);
    }
    solve(&l, DIRECT_COSTS, cost);
    tell_deviation(&l, DIRECT_COSTS, cost, "direct sums");
    costs->direct_start = cost[DIRECT_START];
    costs->direct_source = cost[DIRECT_SOURCE];
    costs->pair = cost[PAIR];
}

/* ---- trees */

static double time_build(const struct settings *s, gpunb_t *h, int is_new)
{
    double ns[MOST_TIMES];
    gpunb_tree_t *tree = NULL;
    if (gpunb_tree_build(h, &tree)) stop(gpunb_last_error(h));
    for (int k = 0; k < s->repeat; k++) {
        if (is_new) gpunb_tree_free(tree);
        const double begin = now(s->of_process);
        if (is_new ? gpunb_tree_build(h, &tree) : gpunb_tree_renew(h, tree)) stop(gpunb_last_error(h));
        ns[k] = 1e9 * (now(s->of_process) - begin);
    }
    gpunb_tree_free(tree);
    return median(ns, s->repeat);
}

/* The build of leaves of 32 bodies; what renewing takes is that of moments. */
static void tune_build(const struct settings *s, const struct scene *scene, struct gpunb_tree_costs *costs)
{
    for (int order = 1; order <= GPUNB_MOST_ORDER; order++) {
        const struct gpunb_options options = {.backend = s->backend, .force_error = 1e-3, .order = order, .leaf = 32};
        gpunb_t *h = open_forces(scene, &options);
        const double renewal = time_build(s, h, 0);
        costs->moments[order - 1] = renewal / (double)s->n;
        if (order == 2) costs->source = fmax(0, time_build(s, h, 1) - renewal) / (double)s->n;
        gpunb_free(h);
    }
}

/* ---- forces by tree */

struct setting {
    enum gpunb_walk walk;
    double error;
    int leaf, group;
};

static double time_tree(const struct settings *s, gpunb_t *h, struct scene *scene, struct resident *r)
{
    const struct gpunb_softened_job job = job_of(scene);
    gpunb_tree_t *tree = NULL;
    if (r) {
        const double begin = now(s->of_process);
        make_force(h, scene, r);
        return 1e9 * (now(s->of_process) - begin);
    }
    if (gpunb_tree_build(h, &tree)) stop(gpunb_last_error(h));
    const double begin = now(s->of_process);
    if (gpunb_tree_force(h, tree, &job)) stop(gpunb_last_error(h));
    const double ns = 1e9 * (now(s->of_process) - begin);
    gpunb_tree_free(tree);
    return ns;
}

/* A line of counts; on a device the time of the build, which is known, is taken off. */
static void add_line(const struct settings *s, struct scene *scene, int order, const struct setting *of,
                     const struct gpunb_tree_costs *costs, struct lines *l)
{
    const struct gpunb_options options = {.backend = s->backend,
                                          .force_error = of->error,
                                          .order = order,
                                          .leaf = of->leaf,
                                          .group = s->on_device ? 64 : of->group,
                                          .walk = of->walk};
    struct gpunb_tree_counts before, c;
    struct resident resident = {0};
    double ns[MOST_TIMES];
    gpunb_t *h = open_forces(scene, &options);
    struct resident *r = s->on_device && settle(&resident, h, scene) ? &resident : NULL;
    time_tree(s, h, scene, r);
    gpunb_tree_get_counts(h, &before);
    for (int k = 0; k < s->repeat; k++) ns[k] = time_tree(s, h, scene, r);
    gpunb_tree_get_counts(h, &c);
    leave(&resident);
    gpunb_free(h);
    const double each = 1.0 / s->repeat, n = (double)scene->n;
    double *count = l->count[l->n];
    count[TARGET] = n;
    count[GROUP] = each * (double)(c.groups - before.groups);
    count[TEST] = each * (double)(c.tests - before.tests);
    count[BODY] = each * (double)(c.pair_terms - before.pair_terms);
    count[FIELD] = c.local_terms > before.local_terms ? n : 0;
    count[TERM + order - 1] = each * (double)(c.cell_terms - before.cell_terms);
    count[LOCAL + order - 1] = each * (double)(c.local_terms - before.local_terms);
    const double build = r ? costs->start + n * (costs->source + costs->moments[order - 1]) : 0;
    l->ns[l->n] = fmax(median(ns, s->repeat) - build, 1);
    l->n++;
}

static void tune_forces(const struct settings *s, struct scene *scene, struct gpunb_tree_costs *costs)
{
    static const struct setting each[] = {{GPUNB_WALK_GROUPS, 1e-3, 32, 256},
                                          {GPUNB_WALK_GROUPS, 1e-4, 16, 256},
                                          {GPUNB_WALK_HYBRID, 1e-3, 32, 256},
                                          {GPUNB_WALK_HYBRID, 1e-2, 32, 512},
                                          {GPUNB_WALK_FMM, 1e-3, 32, 256}},
                                more[] = {{GPUNB_WALK_GROUPS, 1e-3, 8, 128},   {GPUNB_WALK_GROUPS, 1e-2, 16, 128},
                                          {GPUNB_WALK_GROUPS, 1e-3, 128, 512}, {GPUNB_WALK_GROUPS, 1e-3, 512, 1024},
                                          {GPUNB_WALK_HYBRID, 1e-2, 16, 128},  {GPUNB_WALK_HYBRID, 1e-2, 64, 1024}};
    static struct lines l;
    double cost[TREE_COSTS];
    for (int order = 1; order <= GPUNB_MOST_ORDER; order++) {
        for (size_t k = 0; k < sizeof each / sizeof each[0]; k++) add_line(s, scene, order, &each[k], costs, &l);
        for (size_t k = 0; k < sizeof more / sizeof more[0] && order % 2 == 0; k++)
            add_line(s, scene, order, &more[k], costs, &l);
    }
    solve(&l, TREE_COSTS, cost);
    tell_deviation(&l, TREE_COSTS, cost, "forces by tree");
    costs->target = cost[TARGET];
    costs->group = cost[GROUP];
    costs->test = cost[TEST];
    costs->body = cost[BODY];
    costs->field = cost[FIELD];
    memcpy(costs->term, cost + TERM, sizeof costs->term);
    memcpy(costs->local, cost + LOCAL, sizeof costs->local);
}

/* The cost of the least force. */
static void tune_start(const struct settings *s, struct gpunb_tree_costs *costs)
{
    const struct gpunb_options options = {
        .backend = s->backend, .force_error = 1e-3, .order = 1, .walk = GPUNB_WALK_GROUPS};
    struct scene scene = make_scene(64);
    struct resident resident = {0};
    double ns[MOST_TIMES];
    gpunb_t *h = open_forces(&scene, &options);
    choose_targets(&scene, scene.n);
    struct resident *r = s->on_device && settle(&resident, h, &scene) ? &resident : NULL;
    make_force(h, &scene, r);
    for (int k = 0; k < s->repeat; k++) {
        const double begin = now(s->of_process);
        make_force(h, &scene, r);
        ns[k] = 1e9 * (now(s->of_process) - begin);
    }
    costs->start = median(ns, s->repeat);
    leave(&resident);
    gpunb_free(h);
    free_scene(&scene);
}

/* ---- output */

static void print_value(const char *name, const double *value, int count)
{
    printf(" .%s = %s", name, count > 1 ? "{" : "");
    for (int k = 0; k < count; k++) printf("%s%.3g", k ? ", " : "", value[k]);
    printf("%s,\n", count > 1 ? "}" : "");
}

static void print_row(const struct gpunb_tree_costs *c)
{
    printf("{.backend = \"%s\", .machine = \"%s\", .processor = \"%s\",\n", c->backend, c->machine, c->processor);
#define ONE(name) print_value(#name, &c->name, 1);
#define EACH(name) print_value(#name, c->name, GPUNB_MOST_ORDER);
    GPUNB_TREE_COSTS(ONE, EACH)
#undef ONE
#undef EACH
    printf("},\n");
}

static void round_costs(struct gpunb_tree_costs *c)
{
    char text[32];
#define ONE(name)                                                                                                      \
    snprintf(text, sizeof text, "%.3g", c->name);                                                                      \
    c->name = atof(text);
#define EACH(name)                                                                                                     \
    for (int k = 0; k < GPUNB_MOST_ORDER; k++) {                                                                       \
        snprintf(text, sizeof text, "%.3g", c->name[k]);                                                               \
        c->name[k] = atof(text);                                                                                       \
    }
    GPUNB_TREE_COSTS(ONE, EACH)
#undef ONE
#undef EACH
}

static void write_file(const struct gpunb_tree_costs *costs, const char *name)
{
    char text[GPUNB_TREE_COSTS_TEXT];
    FILE *out = fopen(name, "w");
    gpunb_tree_costs_print(costs, text);
    if (!out || fprintf(out, "# Nominal costs of softened forces, in ns, by bench/tune_tree\n%s", text) < 0 ||
        fclose(out))
        stop("the file cannot be written");
}

/* ---- the command */

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = {.repeat = 5, .machine = ""};
    const struct bench_argument known[] = {{"backend", .text = &s.backend},
                                           {"machine", .text = &s.machine},
                                           {"n", .size = &s.n},
                                           {"repeat", .whole = &s.repeat}};
    int rest = 1; /* of argv, without --write and its file */
    for (int a = 1; a < argc; a++) {
        if (strcmp(argv[a], "--write") != 0)
            argv[rest++] = argv[a];
        else if (a + 1 < argc)
            s.file = argv[++a];
        else
            stop("--write needs the name of a file");
    }
    bench_read_arguments(PROGRAM, rest, argv, known, sizeof known / sizeof known[0]);
    if (s.repeat < 1 || s.repeat > MOST_TIMES) stop("repeat is 1 to 32");
    return s;
}

/* The backend that is meant, and the row's names. */
static void name_row(struct settings *s, struct gpunb_tree_costs *costs)
{
    const struct gpunb_options options = {.backend = s->backend};
    struct nbc_error err = {0};
    gpunb_t *h = NULL;
    if (gpunb_create(&h, s->n > 0 ? s->n : 1048576, &options, &err)) stop(err.text);
    s->backend = gpunb_info(h)->name;
    s->on_device = !strcmp(s->backend, "cuda") || !strcmp(s->backend, "emulated");
    s->of_process = strcmp(s->backend, "cuda") != 0;
    if (s->n == 0) s->n = !strcmp(s->backend, "cuda") ? 1048576 : s->on_device ? 4096 : 32768;
    snprintf(costs->backend, sizeof costs->backend, "%s", s->backend);
    snprintf(costs->machine, sizeof costs->machine, "%s", s->machine);
    char machine[GPUNB_TREE_MACHINE];
    gpunb_tree_machine(h, machine);
    snprintf(costs->processor, sizeof costs->processor, "%.63s", machine);
    if (!s->machine[0]) snprintf(costs->machine, sizeof costs->machine, "%s", costs->processor);
    gpunb_free(h);
}

int main(int argc, char **argv)
{
    struct settings s = read_settings(argc, argv);
    struct gpunb_tree_costs costs = {0};
    omp_set_num_threads(1);
    name_row(&s, &costs);
    struct scene scene = make_scene(s.n);
    first_force(&scene, s.backend);
    choose_targets(&scene, s.n);
    tune_direct(&s, &costs);
    tune_start(&s, &costs);
    tune_build(&s, &scene, &costs);
    tune_forces(&s, &scene, &costs);
    free_scene(&scene);
    round_costs(&costs);
    print_row(&costs);
    if (s.file) write_file(&costs, s.file);
    return 0;
}
