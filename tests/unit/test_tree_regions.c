/* Cells on many targets at once: expansions about regions of targets against sums in long double, and the bound of the
 * ranks that they cut. */
#include "tests/support/tree_cell.h"

#include "gpunb/tree/local.h"

/* The expansion of a cell about a point at `distance`, at a target `reach` from there: its error beside what the bound
 * has for it, in units of mass/R^2. */
struct miss {
    double error, bound;
};

static struct miss miss_at(const gpunb_tree_t *tree, const struct bodies *b, double distance, double reach,
                           double softening, int direction)
{
    const struct tree_cell *cell = cell_of(tree);
    const int order = tree->use->sizes.order, top = tree_local_top(order), moments = tree_components_below(top + 1) - 4;
    const double *kept = tree->moment, big2 = distance * distance + softening * softening;
    real centre[3], x[3], u[3], y[3], moment[TREE_MOST_LOCALS], local[TREE_MOST_LOCALS] = {0};
    double sum[TREE_MOST_LOCALS], way[3];
    struct sum got;
    point_at(cell, b, direction, distance / cell->radius, centre);
    random_state = 4711 + (uint64_t)direction;
    on_sphere(way);
    for (int k = 0; k < 3; k++) {
        u[k] = (centre[k] - (real)cell->centre[k]) / sqrtl(big2);
        y[k] = way[k];
        x[k] = centre[k] + reach * y[k];
    }
    for (int m = 0; m < moments; m++) moment[m] = kept[m];
    const real mr = cell->mass / sqrtl(big2), t = reach / sqrtl(big2), ratio = cell->radius / (real)reach;
    if (top == 3)
        local_add_cell(moment, u, mr, t, ratio, 3, TREE_MOST_LOCAL, local);
    else if (top == 4)
        local_add_cell(moment, u, mr, t, ratio, 4, TREE_MOST_LOCAL, local);
    else if (top == 5)
        local_add_cell(moment, u, mr, t, ratio, 5, TREE_MOST_LOCAL, local);
    else
        local_add_cell(moment, u, mr, t, ratio, 6, TREE_MOST_LOCAL, local);
    for (int m = 0; m < TREE_MOST_LOCALS; m++) sum[m] = (double)local[m];
    local_sums(sum, y, TREE_MOST_LOCAL, got.acc, &got.pot);
    for (int k = 0; k < 3; k++) got.acc[k] /= reach;
    const struct sum exact = direct_sum(b, x, softening), off = difference(&got, &exact);
    const float s = (float)(cell->radius / sqrt(big2));
    const double left =
        tree_left_of_region(&cell->rest, cell->count, order, s, (float)t, (float)(softening * softening / big2)) +
        pow((double)t, TREE_MOST_LOCAL) * (TREE_MOST_LOCAL + 1) / (1 - (double)t);
    return (struct miss){(double)(length(off.acc) * big2 / cell->mass), left};
}

/* Errors of the first rank that is cut fall as a power of the size: of the region, 6, and of the cell, order + 3. A
 * wrong coefficient of any rank of either would stay behind. */
static void expansions_about_regions(void **state)
{
    (void)state;
    static const double sizes[] = {0.16, 0.04};
    for (int order = 1; order <= 4; order++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t e = 0; e < sizeof softenings / sizeof softenings[0]; e++) {
                double most[2] = {0, 0};
                gpunb_t *h = make_handle(order, MOST_BODIES);
                random_state = 88172645463325252u + (uint64_t)kind;
                const struct bodies b = make_bodies((enum kind)kind);
                gpunb_tree_t *tree = make_tree(h, &b);
                const double radius = cell_of(tree)->radius;
                for (int z = 0; z < 2; z++)
                    for (int k = 0; k < DIRECTIONS; k++) {
                        const double distance = radius / sizes[z];
                        const struct miss m = miss_at(tree, &b, distance, radius, softenings[e] * radius, k);
                        most[z] = fmax(most[z], m.error);
                        if (m.error > 1.25 * m.bound + 1e-13)
                            fail_msg("order %d, %s, softening %g, size %g: error %.3g above the bound %.3g", order,
                                     kind_names[kind], softenings[e], sizes[z], m.error, m.bound);
                    }
                const double least = pow(sizes[0] / sizes[1], fmin(TREE_MOST_LOCAL, order + 3)) / 2;
                if (most[0] < least * most[1])
                    fail_msg("order %d, %s, softening %g: errors %.3g and %.3g fall by %.3g, not by %.3g", order,
                             kind_names[kind], softenings[e], most[0], most[1], most[0] / most[1], least);
                gpunb_tree_free(tree);
                gpunb_free(h);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expansions_about_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
