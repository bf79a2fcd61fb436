#include "gpunb/tree/scale.h"

double tree_sum_of_sizes(const struct gpunb_tree *tree, const double centre[3], double radius, double softening2)
{
    const double radius2 = radius * radius;
    int32_t stack[8 * TREE_MOST_LEVELS + 8];
    int depth = 1;
    double sum = 0;
    stack[0] = 0;
    while (depth > 0) {
        const struct tree_node *cell = &tree->node[stack[--depth]];
        const double cell2 = (double)cell->radius * (double)cell->radius;
        double r2 = 0;
        if (!(cell->mass > 0)) continue;
        for (int k = 0; k < 3; k++) r2 += (cell->centre[k] - centre[k]) * (cell->centre[k] - centre[k]);
        if (cell->n_child <= 0 || cell2 < TREE_SCALE_THETA2 * (r2 + softening2)) {
            sum += tree_size_of_cell((double)cell->mass, cell2, r2, radius2, softening2);
            continue;
        }
        for (int c = 0; c < cell->n_child; c++) stack[depth++] = cell->child + c;
    }
    return sum * tree->cells.cell[0].mass;
}
