#include "bench/support/tree_work.h"

#include "gpunb/tree/cells.h"
#include "gpunb/tree/tensor.h"

#include <math.h>

enum { MULTIPLY_ADD = 2, INVERSE_ROOT = 8, KEY_BYTES = 16, KEY_PASSES = 8 };

/* x = b - a, R^2 = x x + softening^2, 1/R, and u = x/R where it is wanted. */
enum { DISTANCE = 3 + 3 * MULTIPLY_ADD + INVERSE_ROOT, DIRECTION = 3 };

/* ---- as in term.h */

/* term_products: u^a/a! of all ranks below `order`. */
static double products(int order)
{
    double sum = 0;
    for (int n = 2; n < order; n++) sum += 3 + tree_components(n);
    return sum;
}

static double gradient(int rank)
{
    return 3 + MULTIPLY_ADD * 3 * (tree_components(rank - 1) - 1);
}

/* u h */
enum { ALONG = 1 + 2 * MULTIPLY_ADD };

static double of_rank(int n, int want_pot)
{
    double sum = 0;
    for (int k = 0; 2 * k < n; k++) {
        const double of_each = k == 0 ? 1 : MULTIPLY_ADD;
        sum += gradient(n - 2 * k) + ALONG + of_each * (want_pot ? 2 : 1) + (k == 0 ? 0 : 3);
    }
    if (n % 2 == 0) sum += want_pot ? 2 : 1; /* the last trace, whose factor all targets share */
    return sum;
}

double tree_work_sums(int order, int want_pot)
{
    double sum = products(order);
    for (int n = 2; n <= order; n++) sum += of_rank(n, want_pot) + 1 + MULTIPLY_ADD * (want_pot ? 5 : 4);
    return sum;
}

/* A mass at its centre has g = 0 and radial = psi = 1: its acceleration is one multiply-add a coordinate. */
double tree_work_term(int order, int want_pot)
{
    const double masses = 2, size = order > 1 ? 1 : 0, of_acc = order > 1 ? 2 * MULTIPLY_ADD : MULTIPLY_ADD;
    return DISTANCE + DIRECTION + masses + size + tree_work_sums(order, want_pot) + 3 * of_acc +
           (want_pot ? MULTIPLY_ADD : 0);
}

/* ---- as in local.h */

static double derivatives(int rank)
{
    double sum = 0;
    for (int j = rank; j >= 0; j--)
        for (int n = rank - j; n >= 1; n--)
            for (int i = n; i >= 0; i--)
                for (int c = i; c >= 0; c--) {
                    const int last = c > 0 ? c : i > 0 ? i : n;
                    sum += 1 + (last > 1 ? MULTIPLY_ADD : 0);
                }
    return sum;
}

double tree_work_add_cell(int order)
{
    const int rank = TREE_MOST_LOCAL, top = tree_local_top(order);
    double sum = rank + derivatives(rank) + tree_components_below(rank + 1) - 1 + rank; /* powers, scaled */
    sum += MULTIPLY_ADD * tree_components_below(rank + 1);
    for (int n = 2; n <= top; n++) sum += tree_components(n) * (2 + MULTIPLY_ADD * tree_components_below(rank - n + 1));
    return sum;
}

double tree_work_region_cell(int order)
{
    const double ratios = 3; /* mass/R, unit/R, radius/unit */
    return DISTANCE + DIRECTION + ratios + tree_work_add_cell(order);
}

double tree_work_region_target(void)
{
    double sum = DIRECTION + products(TREE_MOST_LOCAL);
    for (int n = 1; n <= TREE_MOST_LOCAL; n++) sum += gradient(n) + 3 + ALONG + MULTIPLY_ADD;
    return sum + MULTIPLY_ADD * 4; /* onto the sums of a target */
}

/* ---- bytes */

double tree_work_node_bytes(void)
{
    return sizeof(struct tree_node);
}

double tree_work_coefficient_bytes(int order)
{
    return (double)sizeof(float) * tree_coefficients(order);
}

double tree_work_body_bytes(void)
{
    return 4 * sizeof(double) + 2 * 3 * sizeof(double);
}

/* ---- the floor */

struct tree_floor tree_floor_of(const struct gpunb_tree_counts *work, double forces, size_t n, double n_cells,
                                int order, int want_pot, const struct machine_rates *rates)
{
    const double per = 1 / (forces * rates->operations), targets = (double)work->targets;
    const double moments = (double)sizeof(float) * (tree_components_below(order + 3) - tree_components_below(2));
    struct tree_floor f = {.pairs = (double)work->pair_terms * TREE_WORK_PAIR * per,
                           .cells = (double)work->cell_terms * tree_work_term(order, want_pot) * per};
    if (work->local_terms > 0)
        f.regions =
            ((double)work->local_terms * tree_work_region_cell(order) + targets * tree_work_region_target()) * per;
    f.bytes = ((double)n * tree_work_body_bytes() + n_cells * tree_work_coefficient_bytes(order)) / rates->bytes;
    f.sums = fmax(f.pairs + f.cells + f.regions, f.bytes);
    f.sort = (double)n * 2 * KEY_PASSES * KEY_BYTES / rates->bytes;
    f.walk = n_cells * tree_work_node_bytes() / rates->bytes;
    f.build = ((double)n * 2 * 4 * sizeof(double) +
               n_cells * (tree_work_node_bytes() + moments + tree_work_coefficient_bytes(order))) /
              rates->bytes;
    return f;
}

struct gpunb_tree_counts tree_work_since(const struct gpunb_tree_counts *all, const struct gpunb_tree_counts *before)
{
    struct gpunb_tree_counts d = *all;
    d.builds -= before->builds;
    d.forces -= before->forces;
    d.targets -= before->targets;
    d.groups -= before->groups;
    d.tests -= before->tests;
    d.cell_terms -= before->cell_terms;
    d.pair_terms -= before->pair_terms;
    d.local_terms -= before->local_terms;
    for (int k = 0; k < GPUNB_TREE_STAGES; k++) d.seconds[k] -= before->seconds[k];
    return d;
}

/* ---- eq. 30 */

double tree_work_list_length(double n, double n_i, double theta)
{
    const double pi = 3.141592653589793, side = cbrt(n), own = cbrt(n_i);
    const double levels = log2(fmax(theta / 2.8 * (side - own), 1));
    return n_i + 14 * own * own / theta + 21 * pi * own / (theta * theta) +
           28 * pi / (3 * theta * theta * theta) * levels;
}
