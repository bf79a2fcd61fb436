/* Moving expansions in plain double: the reference of sums over cells, and what all backends do once for each region
 * and target. */
#include "gpunb/tree/regular_walk.h"

#define TERM_REAL double
#define TERM_FMA(a, b, c) ((a) * (b) + (c))
#define TERM_SET(number) ((double)(number))
#define TERM_NUMBER double
#define TERM_FUNCTION static inline __attribute__((always_inline))
#include "gpunb/tree/term.h"

#include "gpunb/tree/local.h"

#include "gpunb/tree/moving.h"

void gpunb_tree_add_moving(const struct gpunb_tree_mover *mover, size_t n, double unit, struct gpunb_tree_field *field)
{
    for (size_t c = 0; c < n; c++) {
        const struct gpunb_tree_mover *cell = &mover[c];
        double x[3], r2 = 0;
        for (int k = 0; k < 3; k++) r2 += cell->at[k] * cell->at[k];
        const double inverse = 1 / sqrt(r2);
        for (int k = 0; k < 3; k++) x[k] = -cell->at[k] * inverse;
        moving_add_cell(cell->moments, cell->rates, x, cell->v, cell->mass * inverse, unit * inverse,
                        cell->radius / unit, cell->speed, TREE_MOST_LOCAL, field->local, field->rate);
    }
}

void tree_shift_field(const struct gpunb_tree_field *from, const double u[3], const double w[3], double ratio,
                      struct gpunb_tree_field *to)
{
    moving_shift(from->local, from->rate, u, w, ratio, TREE_MOST_LOCAL, to->local, to->rate);
}

void tree_add_field(const struct gpunb_tree_field *field, double unit, const double y[3], const double w[3],
                    struct gpunb_sum *sum)
{
    double h[TREE_LOCAL_ROOM], u[3], acc[3], jerk[3], psi;
    memcpy(h, field->rate, sizeof h);
    for (int k = 0; k < 3; k++) u[k] = y[k] / unit;
    moving_sums(field->local, h, u, w, TREE_MOST_LOCAL, acc, jerk, &psi);
    for (int k = 0; k < 3; k++) {
        sum->acc[k] += acc[k] / unit;
        sum->jerk[k] += jerk[k] / (unit * unit);
    }
    sum->pot += psi;
}
