/* Trees of one cell for tests of its terms: bodies, sums in long double, points around it. */
#ifndef TESTS_TREE_CELL_H
#define TESTS_TREE_CELL_H

#include "gpunb/gpunb.h"
#include "gpunb/tree/accept.h"
#include "gpunb/tree/moments.h"
#include "gpunb/tree/tree.h"
#include "tests/support/test_size.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef long double real;

#define TERM_REAL real
#define TERM_FMA(a, b, c) ((a) * (b) + (c))
#define TERM_SET(number) ((real)(number))
#define TERM_NUMBER double
#define TERM_FUNCTION static inline
#include "gpunb/tree/term.h"

enum { MOST_BODIES = 64, DIRECTIONS = 24 };

/* ---- cells */

struct bodies {
    size_t n;
    double mass[MOST_BODIES], x[MOST_BODIES][3];
};

enum kind { EQUAL, DECADES, TWO, LINE, PLANE, SHELL, KINDS };
static const char *const kind_names[KINDS] = {"equal masses", "12 decades", "two bodies", "line", "plane", "shell"};

static uint64_t random_state;

/* Uniform in [0, 1): xorshift64. */
static inline double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static inline void on_sphere(double x[3])
{
    const double c = 2 * uniform() - 1, s = sqrt(1 - c * c), phi = 6.283185307179586 * uniform();
    x[0] = s * cos(phi);
    x[1] = s * sin(phi);
    x[2] = c;
}

static inline struct bodies make_bodies(enum kind kind)
{
    struct bodies b = {.n = kind == TWO ? 2 : 3 + (size_t)(uniform() * 30)};
    for (size_t j = 0; j < b.n; j++) {
        b.mass[j] = kind == DECADES ? pow(10, -12 * uniform()) : kind == TWO ? 0.1 + uniform() : 1;
        for (int k = 0; k < 3; k++) b.x[j][k] = (kind == LINE && k > 0) || (kind == PLANE && k > 1) ? 0 : uniform();
        if (kind == SHELL) on_sphere(b.x[j]);
    }
    return b;
}

/* A tree of one backend that is used for all cells of an order. */
static inline gpunb_t *make_handle(int order, int leaf)
{
    const struct gpunb_options options = {.backend = "ref", .theta = 0.5, .order = order, .leaf = leaf};
    struct nbc_error err = {0};
    gpunb_t *h = NULL;
    if (gpunb_create(&h, MOST_BODIES, &options, &err) != NBC_OK) fail_msg("%s", err.text);
    return h;
}

static inline gpunb_tree_t *make_tree(gpunb_t *h, const struct bodies *b)
{
    gpunb_tree_t *tree = NULL;
    assert_int_equal(gpunb_send_positions(h, b->n, b->mass, (const double(*)[3])b->x), NBC_OK);
    assert_int_equal(gpunb_tree_build(h, &tree), NBC_OK);
    return tree;
}

/* The root of a tree: the cell that is tested. */
static const struct tree_cell *cell_of(const gpunb_tree_t *tree)
{
    return &tree->cells.cell[0];
}

/* ---- sums */

struct sum {
    real acc[3], pot; /* pot: sum of m/R */
};

static inline struct sum direct_sum(const struct bodies *b, const real x[3], double softening)
{
    struct sum sum = {0};
    for (size_t j = 0; j < b->n; j++) {
        real d[3], r2 = (real)softening * softening;
        for (int k = 0; k < 3; k++) {
            d[k] = b->x[j][k] - x[k];
            r2 += d[k] * d[k];
        }
        const real mr = b->mass[j] / sqrtl(r2);
        for (int k = 0; k < 3; k++) sum.acc[k] += mr / r2 * d[k];
        sum.pot += mr;
    }
    return sum;
}

static inline real length(const real a[3])
{
    return sqrtl(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

static inline struct sum difference(const struct sum *a, const struct sum *b)
{
    struct sum d = {.pot = fabsl(a->pot - b->pot)};
    for (int k = 0; k < 3; k++) d.acc[k] = a->acc[k] - b->acc[k];
    return d;
}

/* A point `distance` radii away from the cell: for odd k behind one of its bodies, where errors are largest, else at
 * random. */
static inline void point_at(const struct tree_cell *cell, const struct bodies *b, int k, double distance, real x[3])
{
    double direction[3], size = 0;
    on_sphere(direction);
    if (k % 2) {
        double d[3];
        for (int c = 0; c < 3; c++) {
            d[c] = b->x[(size_t)k % b->n][c] - cell->centre[c];
            size += d[c] * d[c];
        }
        for (int c = 0; c < 3 && size > 0; c++) direction[c] = d[c] / sqrt(size);
    }
    for (int c = 0; c < 3; c++) x[c] = cell->centre[c] + (real)distance * cell->radius * direction[c];
}

static const double softenings[] = {0, 0.1, 1}; /* in units of the radius */
enum { SOFTENINGS = sizeof softenings / sizeof softenings[0] };

#endif
