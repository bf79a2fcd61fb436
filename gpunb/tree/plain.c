/* The sums of lists in plain double: the reference of all others. */
#include "gpunb/tree/method.h"

#include <math.h>

#define TERM_REAL double
#define TERM_FMA(a, b, c) ((a) * (b) + (c))
#define TERM_SET(number) ((double)(number))
#define TERM_NUMBER double
#define TERM_FUNCTION static inline __attribute__((always_inline))
#include "gpunb/tree/term.h"

#include "gpunb/tree/local.h"

static inline __attribute__((always_inline)) void add_cell(const struct gpunb_tree_targets *t, size_t i,
                                                           const struct gpunb_tree_term *cell, const int order)
{
    double x[3], u[3], g[3], radial, psi, r2 = t->softening2;
    for (int k = 0; k < 3; k++) {
        x[k] = t->x[k][i] - cell->at[k];
        r2 += x[k] * x[k];
    }
    const double inverse = 1 / sqrt(r2), mr = cell->mass * inverse;
    for (int k = 0; k < 3; k++) u[k] = x[k] * inverse;
    term_sums(cell->numbers, u, cell->radius * inverse, order, 1, g, &radial, &psi);
    for (int k = 0; k < 3; k++) t->sum[k][i] += mr * inverse * (g[k] - radial * u[k]);
    t->sum[3][i] += mr * psi;
}

/* Orders as constants, as term.h wants them. */
static void add_one(const struct gpunb_tree_targets *t, size_t i, const struct gpunb_tree_term *cell, int order)
{
    switch (order) {
#define ORDER(n)                                                                                                       \
    case n:                                                                                                            \
        add_cell(t, i, cell, n);                                                                                       \
        break;
        ORDER(1)
        ORDER(2)
        ORDER(3)
        ORDER(4)
        ORDER(5)
        ORDER(6)
        ORDER(7)
    default:
        add_cell(t, i, cell, GPUNB_MOST_ORDER);
        break;
#undef ORDER
    }
}

void gpunb_tree_add_terms(const struct gpunb_tree_targets *targets, int order, const struct gpunb_tree_term *term,
                          size_t n)
{
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < targets->n; i++) add_one(targets, i, &term[c], order);
}

/* Ranks of moments as constants, too. */
static void add_local(const struct gpunb_tree_term *cell, const double u[3], double inverse, double unit, int order,
                      double *local)
{
    const double mr = cell->mass * inverse, t = unit * inverse, ratio = cell->radius / unit;
    switch (order) {
    case 1:
        local_add_cell(cell->numbers, u, mr, t, ratio, 3, TREE_MOST_LOCAL, local);
        break;
    case 2:
        local_add_cell(cell->numbers, u, mr, t, ratio, 4, TREE_MOST_LOCAL, local);
        break;
    case 3:
        local_add_cell(cell->numbers, u, mr, t, ratio, 5, TREE_MOST_LOCAL, local);
        break;
    default:
        local_add_cell(cell->numbers, u, mr, t, ratio, TREE_MOST_LOCAL, TREE_MOST_LOCAL, local);
        break;
    }
}

void gpunb_tree_add_bodies(const struct gpunb_tree_targets *targets, const struct gpunb_tree_bodies *bodies)
{
    for (size_t i = 0; i < targets->n; i++)
        for (size_t j = 0; j < bodies->n; j++) {
            double d[3], r2 = targets->softening2;
            for (int k = 0; k < 3; k++) {
                d[k] = bodies->x[k][j] - targets->x[k][i];
                r2 += d[k] * d[k];
            }
            const double mr = bodies->mass[j] / sqrt(r2);
            for (int k = 0; k < 3; k++) targets->sum[k][i] += mr / r2 * d[k];
            if (!bodies->own || bodies->own[i] - bodies->first != (int32_t)j) targets->sum[3][i] += mr;
        }
}

void gpunb_tree_add_locals(const struct gpunb_tree_term *term, size_t n, int order, double unit, double softening2,
                           double *local)
{
    for (size_t c = 0; c < n; c++) {
        double u[3], r2 = softening2;
        for (int k = 0; k < 3; k++) r2 += term[c].at[k] * term[c].at[k];
        const double inverse = 1 / sqrt(r2);
        for (int k = 0; k < 3; k++) u[k] = -term[c].at[k] * inverse;
        add_local(&term[c], u, inverse, unit, order, local);
    }
}

void gpunb_tree_add_field(const struct gpunb_tree_targets *t, double unit, const double *local)
{
    for (size_t i = 0; i < t->n; i++) {
        double u[3], acc[3], psi;
        for (int k = 0; k < 3; k++) u[k] = t->x[k][i] / unit;
        local_sums(local, u, TREE_MOST_LOCAL, acc, &psi);
        for (int k = 0; k < 3; k++) t->sum[k][i] += acc[k] / unit;
        t->sum[3][i] += psi;
    }
}
