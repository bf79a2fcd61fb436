/* Lengths of the lists of a tree, from which gpunb/tree/counts.c is fitted (bench/fit_tree_counts.py).
 *
 * Usage: tree_counts [backend=NAME] [least=L] [most=M] [lines=K]
 *   - backend: as in struct gpunb_options
 *   - least, most (12, 18): bodies, 2^L to 2^M
 *   - lines (64): settings for each number of bodies
 *
 * A Plummer model within r = 15, softening 0.02. Settings are spread evenly over orders, aims, leaves, groups, and
 * the part of the bodies that are targets, each number by its own irrational step. A line: bodies, targets, order, aim,
 * leaf, group; of a group on average: targets, tests, cells, bodies, cells on all targets at once. */
#define PROGRAM "tree_counts"
#include "bench/support/arguments.h"
#include "bench/tree_scene.h"

struct settings {
    const char *backend;
    int least, most, lines;
    double group_bits, group_range; /* groups are 2^bits to 2^(bits + range) */
};

static const double MOST_TARGETS = 131072, LEAST_TARGETS = 1024;

static double spread(int k, double step)
{
    const double x = 0.5 + step * k;
    return x - floor(x);
}

/* Aims that an order serves: with masses at their centres small ones are direct sums. */
static double aim_for(int order, double part)
{
    const double digits = order == 1 ? 2.5 : order == 2 ? 3.5 : 4.5;
    return pow(10, -1.5 - digits * part);
}

static void print_line(struct scene *b, const struct settings *s, int k)
{
    const int order = 1 + k % GPUNB_MOST_ORDER;
    const double most = fmin(1, MOST_TARGETS / (double)b->n), least = fmin(most, LEAST_TARGETS / (double)b->n);
    const struct gpunb_options options = {.backend = s->backend,
                                          .force_error = aim_for(order, spread(k, 0.7548776662)),
                                          .order = order,
                                          .leaf = (int)exp2(4 + 2 * spread(k, 0.5698402910)),
                                          .group = (int)exp2(s->group_bits + s->group_range * spread(k, 0.8191725134)),
                                          .walk = GPUNB_WALK_HYBRID};
    const double part = k / GPUNB_MOST_ORDER % 4 == 0 ? 1 : most * pow(least / most, spread(k, 0.6710436067));
    choose_targets(b, (size_t)fmax(1, floor(part * (double)b->n)));
    gpunb_t *h = open_forces(b, &options);
    const struct gpunb_softened_job job = job_of(b);
    struct gpunb_tree_counts c;
    if (gpunb_softened(h, &job)) stop(gpunb_last_error(h));
    gpunb_tree_get_counts(h, &c);
    const double groups = (double)c.groups;
    printf("%zu %zu %d %.4e %d %d  %.5g %.5g %.5g %.5g %.5g\n", b->n, b->n_i, order, options.force_error, options.leaf,
           options.group, (double)c.targets / groups, (double)c.tests / groups, (double)c.listed_cells / groups,
           (double)c.listed_bodies / groups, (double)c.local_terms / groups);
    fflush(stdout);
    gpunb_free(h);
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = {.least = 12, .most = 18, .lines = 64};
    const struct bench_argument known[] = {{"backend", .text = &s.backend},
                                           {"least", .whole = &s.least},
                                           {"most", .whole = &s.most},
                                           {"lines", .whole = &s.lines}};
    bench_read_arguments(PROGRAM, argc, argv, known, sizeof known / sizeof known[0]);
    const int on_device = s.backend && (!strncmp(s.backend, "cuda", 4) || !strncmp(s.backend, "emulated", 8));
    s.group_bits = on_device ? 5 : 7;
    s.group_range = on_device ? 1.01 : 4;
    return s;
}

int main(int argc, char **argv)
{
    const struct settings s = read_settings(argc, argv);
    for (int l = s.least, k = 0; l <= s.most; l++) {
        struct scene b = make_scene((size_t)1 << l);
        first_force(&b, s.backend);
        for (int end = k + s.lines; k < end; k++) print_line(&b, &s, k);
        free_scene(&b);
    }
    return 0;
}
