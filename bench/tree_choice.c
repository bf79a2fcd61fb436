/* The choice between direct sums and a tree, by nominal costs, against the times of both; and that of the order.
 *
 * Usage: tree_choice [backend=NAME] [error=E] [least=L] [most=M] [repeat=R] [threads=T] [orders=N]
 *   - error (1e-3): aim
 *   - least, most (4, 20; of cuda 24): bodies, 2^L to 2^M; targets are all of them, a tenth, a hundredth, a thousandth
 *   - repeat (5): of so many times, by turns, the median counts
 *   - threads (1): of a processor; times of one are those that it works, whatever other programs do
 *   - orders=N: instead, forces of N bodies on themselves with each order at aims from 1e-2 to 1e-6
 *
 * Prints a line for each force: bodies, targets, milliseconds by direct sums and by tree and as predicted, the choice,
 * and its time over the least one. Direct sums that would take above ten seconds are not made; the tree is, then. */
#define PROGRAM "tree_choice"
#include "bench/support/arguments.h"
#include "bench/tree_scene.h"
#include "gpunb/backend.h"
#include "gpunb/tree/costs.h"

#include <omp.h>

struct settings {
    const char *backend;
    double error;
    int least, most, repeat, threads, on_device;
    size_t orders;
};

enum { MOST_TIMES = 32 };

static double time_once(const struct settings *s, gpunb_t *h, struct scene *scene, struct resident *r)
{
    const int of_process = !s->on_device && s->threads == 1;
    const double begin = now(of_process);
    make_force(h, scene, r);
    return 1e3 * (now(of_process) - begin);
}

static const double MOST_NS = 1e10;

/* Handles with direct sums, and with a tree in any case. */
static void compare(const struct settings *s, struct scene *scene, double *worst)
{
    const struct gpunb_options options[2] = {
        {.backend = s->backend}, {.backend = s->backend, .force_error = s->error, .walk = GPUNB_WALK_HYBRID}};
    const struct gpunb_options of_choice = {.backend = s->backend, .force_error = s->error};
    struct resident resident[2] = {{.count = 0}, {.count = 0}};
    double ms[2][MOST_TIMES], by_tree;
    gpunb_t *h[2], *choice = open_forces(scene, &of_choice);
    const double pairs = gpunb_softened_pairs(choice, scene->n_i, scene->n, &by_tree);
    struct gpunb_tree_costs costs;
    gpunb_tree_costs_row(gpunb_info(choice)->name, &costs);
    const double pair_ns = costs.pair;
    const int tree = gpunb_tree_is_worth(choice, scene->n_i, scene->n), first = pairs * pair_ns > MOST_NS;
    gpunb_free(choice);
    for (int k = first; k < 2; k++) {
        h[k] = open_forces(scene, &options[k]);
        make_force(h[k], scene, s->on_device && settle(&resident[k], h[k], scene) ? &resident[k] : NULL);
    }
    for (int turn = 0; turn < s->repeat; turn++)
        for (int k = first; k < 2; k++) ms[k][turn] = time_once(s, h[k], scene, s->on_device ? &resident[k] : NULL);
    const double of_tree = median(ms[1], s->repeat), direct = first ? 1e-6 * pairs * pair_ns : median(ms[0], s->repeat);
    const double ratio = (tree ? of_tree : direct) / fmin(of_tree, direct);
    *worst = fmax(*worst, ratio);
    printf("%9zu %9zu  direct %10.4f%s tree %10.4f, predicted %10.4f %10.4f  %-6s %.3f\n", scene->n, scene->n_i, direct,
           first ? "*" : ",", of_tree, 1e-6 * pairs * pair_ns, 1e-6 * by_tree * pair_ns, tree ? "tree" : "direct",
           ratio);
    fflush(stdout);
    for (int k = first; k < 2; k++) {
        leave(&resident[k]);
        gpunb_free(h[k]);
    }
}

static void compare_all(const struct settings *s)
{
    double worst = 0;
    for (int l = s->least; l <= s->most; l++) {
        struct scene scene = make_scene((size_t)1 << l);
        first_force(&scene, s->backend);
        for (size_t part = 1; part <= 1000 && part <= scene.n; part *= 10) {
            choose_targets(&scene, scene.n / part);
            compare(s, &scene, &worst);
        }
        free_scene(&scene);
    }
    printf("the choice takes at most %.3f times as long as the better one\n", worst);
}

static void compare_orders(const struct settings *s)
{
    struct scene scene = make_scene(s->orders);
    first_force(&scene, s->backend);
    choose_targets(&scene, scene.n);
    for (int e = 0; e <= 8; e++) {
        double of[GPUNB_MOST_ORDER + 1][MOST_TIMES], least = INFINITY, ms[GPUNB_MOST_ORDER + 1];
        struct gpunb_options options = {
            .backend = s->backend, .force_error = pow(10, -2 - 0.5 * e) * 1.0000001, .walk = GPUNB_WALK_HYBRID};
        struct gpunb_options taken;
        for (int turn = 0; turn < s->repeat; turn++)
            for (int order = 0; order <= GPUNB_MOST_ORDER; order++) {
                struct resident resident = {0};
                options.order = order;
                gpunb_t *h = open_forces(&scene, &options);
                struct resident *r = s->on_device && settle(&resident, h, &scene) ? &resident : NULL;
                if (order == 0) gpunb_tree_settings(h, &taken);
                of[order][turn] = time_once(s, h, &scene, r);
                leave(&resident);
                gpunb_free(h);
            }
        for (int order = 0; order <= GPUNB_MOST_ORDER; order++) {
            ms[order] = median(of[order], s->repeat);
            least = fmin(least, ms[order]);
        }
        printf("aim %.1e order %d leaf %d group %d: %.2f ms, %.3f of the least; by order", options.force_error,
               taken.order, taken.leaf, taken.group, ms[0], ms[0] / least);
        for (int order = 1; order <= GPUNB_MOST_ORDER; order++) printf(" %.2f", ms[order]);
        printf("\n");
        fflush(stdout);
    }
    free_scene(&scene);
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = {.error = 1e-3, .least = 4, .repeat = 5, .threads = 1};
    const struct bench_argument known[] = {{"backend", .text = &s.backend}, {"error", .real = &s.error},
                                           {"least", .whole = &s.least},    {"most", .whole = &s.most},
                                           {"repeat", .whole = &s.repeat},  {"threads", .whole = &s.threads},
                                           {"orders", .size = &s.orders}};
    bench_read_arguments(PROGRAM, argc, argv, known, sizeof known / sizeof known[0]);
    if (s.repeat < 1 || s.repeat > MOST_TIMES) stop("repeat is 1 to 32");
    s.on_device = s.backend && (!strncmp(s.backend, "cuda", 4) || !strncmp(s.backend, "emulated", 8));
    if (s.most == 0) s.most = s.on_device ? 24 : 20;
    return s;
}

int main(int argc, char **argv)
{
    const struct settings s = read_settings(argc, argv);
    omp_set_num_threads(s.threads);
    if (s.orders > 0)
        compare_orders(&s);
    else
        compare_all(&s);
    return 0;
}
