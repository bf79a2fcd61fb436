/* Performance model of forces by tree, fitted and printed beside the measurements of the same run (support/tree_model.h
 * has its equations): a uniform sphere, cells by angle, and groups, as Iwasawa et al. 2020, PASJ 72, 13, have it.
 *
 * Usage: model_tree [name=value ...], or `model_tree work`: operations and bytes of a term by order, for tests
 *   - backend=NAME, order=P (1), leaf=L (16), group=G (256): as in struct gpunb_options
 *   - error=E: in place of angles, the forces of runs: a Plummer model within r = 15, softening 0.02, this force_error,
 *     the default walk, order, leaf and group; the length of a list is linear in log N then, in place of eq. 30
 *   - theta=T (0.5): the angle of eq. 30; cells are accepted by T/1.31, since theirs is that of the side of a cell and
 *     that of this tree is of its radius
 *   - first=K (16), last=K (26), seconds=S (30): sizes are 2^first to 2^last, as long as the next one may be measured
 * in S seconds altogether
 *   - flops=F, bandwidth=B, transfer=B (25e9): rates of the machine; none: support/tree_work.h
 *
 * Procedure: sizes with `group`, then of the largest size whose force took less than a tenth of the time groups of 64
 * to 4096. Each is the median of five forces after a first one. A slowdown factor of a stage is what its time has
 * beyond the bytes or operations of its equation. Ratios are predicted over measured times, the predictions with the
 * lists of eq. 30. On a device `kernel` is that of bodies that are there, with its lists, `link` has keys and sort, and
 * `transfer` the rest of a call from the host. */
#include "bench/support/arguments.h"
#include "bench/support/bodies.h"
#include "bench/support/resident.h"
#include "bench/support/tree_report.h"
#include "common/nbc.h"
#include "common/team.h"
#include "gpunb/backend.h"
#include "gpunb/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5, MOST_SIZES = 16, MOST_GROUPS = 4, MOST_RECORDS = MOST_SIZES + MOST_GROUPS };

/* The angle of eq. 30 over that of this tree, fitted for 2^22 bodies, angles of 0.5 to 1 and groups of 256. */
static const double OF_RADIUS = 1.31, SOFTENING = 1.0 / 4096, SOFTENING_OF_RUNS = 0.02;

struct settings {
    const char *backend;
    int order, leaf, group, first, last;
    double theta, error, seconds, flops, bandwidth, transfer;
};

static void stop(const char *why)
{
    fprintf(stderr, "model_tree: %s\n", why);
    exit(2);
}

static void check(int status, const struct nbc_error *err)
{
    if (status) stop(err->text);
}

/* ---- what is measured */

static gpunb_t *open_handle(const struct settings *s, size_t n, int group)
{
    const int by_error = s->error > 0;
    const struct gpunb_options options = {.backend = s->backend,
                                          .force_error = s->error,
                                          .theta = by_error ? 0 : s->theta / OF_RADIUS,
                                          .order = s->order,
                                          .leaf = s->leaf,
                                          .group = group,
                                          .walk = by_error ? GPUNB_WALK_HYBRID : GPUNB_WALK_GROUPS};
    struct nbc_error err = {0};
    gpunb_t *h = NULL;
    check(gpunb_create(&h, n, &options, &err), &err);
    return h;
}

static double median(double of[REPEATS])
{
    for (int i = 1; i < REPEATS; i++)
        for (int k = i; k > 0 && of[k] < of[k - 1]; k--) {
            const double other = of[k];
            of[k] = of[k - 1];
            of[k - 1] = other;
        }
    return of[REPEATS / 2];
}

/* Seconds of a force whose tree is new, by stage, on the clock: stages of all threads together share that of the call.
 */
static void time_force(gpunb_t *h, const struct gpunb_softened_job *job, double seconds[TREE_MODEL_STAGES])
{
    struct gpunb_tree_counts before, after;
    gpunb_tree_t *tree = NULL;
    double part[GPUNB_TREE_STAGES];
    gpunb_tree_get_counts(h, &before);
    if (gpunb_tree_build(h, &tree)) stop(gpunb_last_error(h));
    const double begin = nbc_wtime();
    if (gpunb_tree_force(h, tree, job)) stop(gpunb_last_error(h));
    const double wall = nbc_wtime() - begin;
    gpunb_tree_free(tree);
    gpunb_tree_get_counts(h, &after);
    for (int k = 0; k < GPUNB_TREE_STAGES; k++) part[k] = after.seconds[k] - before.seconds[k];
    const double sums = part[GPUNB_TREE_CELLS] + part[GPUNB_TREE_PAIRS], all = part[GPUNB_TREE_LISTS] + sums;
    seconds[TREE_MODEL_KEY] = part[GPUNB_TREE_KEY];
    seconds[TREE_MODEL_SORT] = part[GPUNB_TREE_SORT];
    seconds[TREE_MODEL_LINK] = part[GPUNB_TREE_LINK];
    seconds[TREE_MODEL_MOMENTS] = part[GPUNB_TREE_MOMENTS];
    seconds[TREE_MODEL_LISTS] = wall * part[GPUNB_TREE_LISTS] / all;
    seconds[TREE_MODEL_KERNEL] = wall * sums / all;
    seconds[TREE_MODEL_TRANSFER] = 0;
}

/* On a device a launch makes lists and sums: the kernel is the time of bodies that are there, without the build. */
static void time_on_device(gpunb_t *h, size_t n, const struct bench_bodies *b, const struct gpunb_softened_job *job,
                           double seconds[TREE_MODEL_STAGES])
{
    struct resident r;
    struct nbc_error err = {0};
    double whole[REPEATS], walk;
    if (resident_open(&r, h, n, b->mass, job, &err)) return; /* the processor makes the forces */
    for (int k = -1; k < REPEATS; k++) check(resident_force(&r, h, &whole[k < 0 ? 0 : k], &err), &err);
    resident_close(&r);
    seconds[TREE_MODEL_LINK] += seconds[TREE_MODEL_KEY] + seconds[TREE_MODEL_SORT];
    walk = fmax(median(whole) - seconds[TREE_MODEL_LINK] - seconds[TREE_MODEL_MOMENTS], 0);
    seconds[TREE_MODEL_TRANSFER] = fmax(seconds[TREE_MODEL_LISTS] + seconds[TREE_MODEL_KERNEL] - walk, 0);
    seconds[TREE_MODEL_KERNEL] = walk;
    seconds[TREE_MODEL_KEY] = seconds[TREE_MODEL_SORT] = seconds[TREE_MODEL_LISTS] = 0;
}

/* Work since the first force. */
static struct tree_record record_of(const gpunb_t *h, size_t n, const struct gpunb_tree_counts *first)
{
    struct gpunb_tree_counts c;
    struct gpunb_options used;
    gpunb_tree_get_counts(h, &c);
    gpunb_tree_settings(h, &used);
    c = tree_work_since(&c, first);
    const double targets = (double)c.targets, cells = (double)c.cell_terms, pairs = (double)c.pair_terms,
                 locals = (double)c.local_terms;
    const double series =
        locals > 0 ? locals / targets * tree_work_region_cell(used.order) + tree_work_region_target() : 0;
    return (struct tree_record){.n = (double)n,
                                .n_i = targets / (double)c.groups,
                                .n_list = (cells + pairs) / targets,
                                .work = (cells * tree_work_term(used.order, 0) + pairs * TREE_WORK_PAIR) / targets +
                                        series};
}

static struct tree_record measure(const struct settings *s, size_t n, int group)
{
    gpunb_t *h = open_handle(s, n, group);
    struct bench_bodies b;
    if (!bench_bodies_make(&b, s->error > 0 ? BENCH_PLUMMER : BENCH_SPHERE, n))
        stop("no memory for the bodies; give a smaller last=K");
    struct gpunb_softened_job job = {.n_i = n,
                                     .x = (const double(*)[3])b.x,
                                     .self = b.self,
                                     .softening = s->error > 0 ? SOFTENING_OF_RUNS : SOFTENING,
                                     .acc = b.v};
    double seconds[REPEATS][TREE_MODEL_STAGES], stage[REPEATS];
    struct gpunb_tree_counts first;
    if (gpunb_send_positions(h, n, b.mass, (const double(*)[3])b.x)) stop(gpunb_last_error(h));
    time_force(h, &job, seconds[0]); /* which allocates, and makes the last accelerations */
    if (s->error > 0) job.acc_last = (const double(*)[3])b.v;
    job.acc = b.acc;
    gpunb_tree_get_counts(h, &first);
    for (int k = 0; k < REPEATS; k++) time_force(h, &job, seconds[k]);
    struct tree_record r = record_of(h, n, &first);
    for (int k = 0; k < TREE_MODEL_STAGES; k++) {
        for (int t = 0; t < REPEATS; t++) stage[t] = seconds[t][k];
        r.seconds[k] = median(stage);
    }
    time_on_device(h, n, &b, &job, r.seconds);
    gpunb_free(h);
    bench_bodies_free(&b);
    return r;
}

/* Sizes, then groups of one of them.   @return how many are sizes */
static int measure_all(const struct settings *s, struct tree_record *record, int *count)
{
    const double begin = nbc_wtime();
    int sizes = 0, of_groups = 0;
    double spent = 0;
    while (sizes < MOST_SIZES && s->first + sizes <= s->last) {
        if (sizes > 0 && nbc_wtime() - begin + 2.2 * spent > 0.7 * s->seconds) break;
        const double now = nbc_wtime();
        record[sizes] = measure(s, (size_t)1 << (s->first + sizes), s->group);
        spent = nbc_wtime() - now;
        if (spent < 0.05 * s->seconds) of_groups = s->first + sizes;
        sizes++;
    }
    *count = sizes;
    for (int group = 64; of_groups > 0 && s->error == 0 && group <= 4096; group *= 4) {
        if (group == s->group || nbc_wtime() - begin > s->seconds) continue;
        record[(*count)++] = measure(s, (size_t)1 << of_groups, group);
    }
    return sizes;
}

/* ---- what is asked for */

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = {.first = 16, .last = 26, .theta = 0.5, .seconds = 30, .transfer = 25e9};
    const struct bench_argument known[] = {
        {.name = "backend", .text = &s.backend},   {.name = "order", .whole = &s.order},
        {.name = "leaf", .whole = &s.leaf},        {.name = "group", .whole = &s.group},
        {.name = "first", .whole = &s.first},      {.name = "last", .whole = &s.last},
        {.name = "theta", .real = &s.theta},       {.name = "seconds", .real = &s.seconds},
        {.name = "flops", .real = &s.flops},       {.name = "bandwidth", .real = &s.bandwidth},
        {.name = "transfer", .real = &s.transfer}, {.name = "error", .real = &s.error},
    };
    bench_read_arguments("model_tree", argc, argv, known, sizeof known / sizeof known[0]);
    if (s.error == 0 && s.order == 0) s.order = 1;
    if (s.error == 0 && s.leaf == 0) s.leaf = 16;
    if (s.error == 0 && s.group == 0) s.group = 256;
    if (s.first < 8 || s.last > 30 || s.last < s.first) stop("first and last: sizes are 2^8 to 2^30, the larger last");
    if (!(s.seconds > 0 && s.transfer > 0)) stop("seconds and transfer are above 0");
    return s;
}

static struct machine_rates rates_of(const struct settings *s, struct gpunb_tree_costs *costs, int *threads)
{
    gpunb_t *h = open_handle(s, 1, s->group);
    struct machine_rates rates = machine_rates_of(gpunb_info(h)->name);
    gpunb_tree_costs_row(gpunb_info(h)->name, costs);
    *threads = gpunb_gpus(h, 0, NULL) > 0 ? 1 : nbc_team_size(); /* costs are those of one thread, or of a whole GPU */
    struct gpunb_options used;
    gpunb_tree_settings(h, &used);
    printf("backend %s, order %d, leaves of %d, groups of %d, ", gpunb_info(h)->name, used.order, used.leaf,
           used.group);
    if (s->error > 0)
        printf("force_error %g, Plummer model\n", s->error);
    else
        printf("angle %g of eq. 30, uniform sphere\n", s->theta);
    gpunb_free(h);
    if (s->flops > 0) rates.operations = s->flops;
    if (s->bandwidth > 0) rates.bytes = s->bandwidth;
    return rates;
}

int main(int argc, char **argv)
{
    struct tree_record record[MOST_RECORDS];
    int count;
    if (argc == 2 && !strcmp(argv[1], "work")) {
        tree_report_work();
        return 0;
    }
    const struct settings s = read_settings(argc, argv);
    struct gpunb_tree_costs costs;
    int threads;
    struct tree_model model = {.rates = rates_of(&s, &costs, &threads),
                               .transfer = s.transfer,
                               .theta = s.error > 0 ? 0 : s.theta / OF_RADIUS};
    const int sizes = measure_all(&s, record, &count);
    tree_model_fit(&model, record, count);
    tree_report_constants(&model);
    tree_report_records(&model, "sizes", record, sizes);
    tree_report_exponent(record, sizes);
    if (model.theta > 0) {
        tree_report_records(&model, "groups", record + sizes, count - sizes);
        tree_report_steps(&model);
        tree_report_plane();
    }
    tree_report_roofline(&model, &record[sizes - 1], &costs, threads);
    return 0;
}
