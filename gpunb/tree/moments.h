/** Multipoles of one cell, by lanes: of a leaf from its bodies, of all others from their parts. */
#ifndef GPUNB_TREE_MOMENTS_H
#define GPUNB_TREE_MOMENTS_H

#include "gpunb/tree/lanes.h"
#include "gpunb/tree/view.h"

/** Bodies whose moments are made together. */
enum { TREE_BATCH = 8 };

/** Memory of all lanes. */
struct tree_moments_memory {
    double sum[TREE_MOST_MOMENTS]; /* moments of the cell */
    union {
        struct {
            double part[TREE_MOST_MOMENTS];  /* of a part of it */
            double power[TREE_MOST_MOMENTS]; /* products of coordinates */
        };
        double coordinate[TREE_BATCH][3][TREE_MOST_RANK + 1]; /* powers of those of bodies; of x times the mass */
    };
    double scale[TREE_MOST_RANK + 1];
    double trace[2][(TREE_MOST_RANK + 1) * (TREE_MOST_RANK + 2) / 2];
};

/* The products of the component with indices a, b, c, from the entry `at` of the table on. */
NBC_HD void tree_fill_products(struct tree_tables *t, int at, int a, int b, int c)
{
    for (int c1 = 0; c1 <= c; c1++)
        for (int b1 = 0; b1 <= b; b1++)
            for (int a1 = 0; a1 <= a; a1++, at++) {
                t->factor[at][0] = (uint16_t)(tree_components_below(a1 + b1 + c1) + tree_place(b1, c1));
                t->factor[at][1] =
                    (uint16_t)(tree_components_below(a - a1 + b - b1 + c - c1) + tree_place(b - b1, c - c1));
            }
}

/** Tables for all ranks up to `top`, by thread number `own` of `all`. */
NBC_HD void tree_fill_tables(struct tree_tables *t, int top, int own, int all)
{
    int products = 0;
    for (int n = 0; n <= top; n++) {
        for (int i = 0; i <= n; i++)
            for (int c = 0; c <= i; c++) {
                const int a = n - i, b = i - c, at = tree_components_below(n) + tree_place(b, c), first = products;
                products += (a + 1) * (b + 1) * (c + 1);
                if (at % all != own) continue;
                t->factorial[at] = tree_factorial(a) * tree_factorial(b) * tree_factorial(c);
                t->inverse[at] = 1 / t->factorial[at];
                t->multinomial[at] = tree_factorial(n) * t->inverse[at];
                t->rank[at] = (uint8_t)n;
                t->b[at] = (uint8_t)b;
                t->c[at] = (uint8_t)c;
                t->product[at] = (uint16_t)first;
                t->product[at + 1] = (uint16_t)products;
                tree_fill_products(t, first, a, b, c);
            }
        for (int k = 0; 2 * k <= n && own == n % all; k++) {
            t->weight[n][k] = (k % 2 ? -1 : 1) * tree_weight(n, k);
            t->power[n][k] = t->weight[n][k] / tree_factorial(n - 2 * k);
        }
    }
}

/* ---- boxes, centres, radii */

NBC_HD double tree_distance(const double a[3], const double b[3])
{
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

TREE_FN void tree_bound_leaf(const struct tree_view *tree, struct tree_cell *cell)
{
    const double(*x)[3] = tree->x + cell->first, *mass = tree->mass + cell->first;
    double moment[3] = {0, 0, 0}, radius = 0;
    cell->mass = 0;
    for (int k = 0; k < 3; k++) cell->low[k] = cell->high[k] = x[0][k];
    TREE_EACH(i, cell->count)
    {
        cell->mass += mass[i];
        for (int k = 0; k < 3; k++) {
            moment[k] += mass[i] * (x[i][k] - x[0][k]);
            cell->low[k] = x[i][k] < cell->low[k] ? x[i][k] : cell->low[k];
            cell->high[k] = x[i][k] > cell->high[k] ? x[i][k] : cell->high[k];
        }
    }
    cell->mass = tree_lanes_sum(cell->mass);
    for (int k = 0; k < 3; k++) {
        moment[k] = tree_lanes_sum(moment[k]);
        cell->low[k] = tree_lanes_min(cell->low[k]);
        cell->high[k] = tree_lanes_max(cell->high[k]);
        cell->centre[k] = cell->mass > 0 ? x[0][k] + moment[k] / cell->mass : (cell->low[k] + cell->high[k]) / 2;
    }
    TREE_EACH(i, cell->count) radius = fmax(radius, tree_distance(x[i], cell->centre));
    cell->radius = tree_lanes_max(radius);
}

/* The farthest corner of a box from a point. */
NBC_HD double tree_farthest(const struct tree_cell *cell, const double x[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        const double d = fmax(x[k] - cell->low[k], cell->high[k] - x[k]);
        r2 += d * d;
    }
    return sqrt(r2);
}

TREE_FN void tree_bound_parts(const struct tree_view *tree, struct tree_cell *cell)
{
    const struct tree_cell *part = &tree->cell[cell->child];
    double moment[3] = {0, 0, 0}, radius = 0;
    cell->mass = 0;
    for (int k = 0; k < 3; k++) {
        cell->low[k] = part[0].low[k];
        cell->high[k] = part[0].high[k];
    }
    for (int p = 0; p < cell->n_child; p++) {
        cell->mass += part[p].mass;
        for (int k = 0; k < 3; k++) {
            moment[k] += part[p].mass * (part[p].centre[k] - part[0].centre[k]);
            cell->low[k] = fmin(cell->low[k], part[p].low[k]);
            cell->high[k] = fmax(cell->high[k], part[p].high[k]);
        }
    }
    for (int k = 0; k < 3; k++)
        cell->centre[k] =
            cell->mass > 0 ? part[0].centre[k] + moment[k] / cell->mass : (cell->low[k] + cell->high[k]) / 2;
    TREE_EACH(p, cell->n_child) radius = fmax(radius, tree_distance(part[p].centre, cell->centre) + part[p].radius);
    cell->radius = fmin(tree_lanes_max(radius), tree_farthest(cell, cell->centre));
}

/* ---- moments */

TREE_FN void tree_read_moments(const struct tree_view *tree, size_t cell, double *m)
{
    const int first = tree_components_below(2);
    const size_t from = cell * (size_t)tree->moments;
    TREE_EACH(i, first) m[i] = i == 0; /* about the centre of mass */
    TREE_EACH(i, tree_kept_moments(tree->order))
    m[first + i] = tree->in_double ? ((const double *)tree->moment)[from + (size_t)i]
                                   : (double)((const float *)tree->moment)[from + (size_t)i];
}

TREE_FN void tree_store(const struct tree_view *tree, void *to, size_t at, double value)
{
    if (tree->in_double)
        ((double *)to)[at] = value;
    else
        ((float *)to)[at] = (float)value;
}

/* Products of the coordinates of a vector, rank by rank: x^a y^b z^c at tree_components_below(rank) + place. */
TREE_FN void tree_powers(const struct tree_tables *tables, const double x[3], int rank, double *power)
{
    if (TREE_OWN_LANE == 0) power[0] = 1;
    for (int n = 1; n <= rank; n++) {
        const double *before = power + tree_components_below(n - 1);
        const int first = tree_components_below(n);
        tree_sync();
        TREE_EACH(i, tree_components(n))
        {
            const int b = tables->b[first + i], c = tables->c[first + i];
            power[first + i] = b > 0   ? before[tree_place(b - 1, c)] * x[1]
                               : c > 0 ? before[tree_place(0, c - 1)] * x[2]
                                       : before[0] * x[0];
        }
    }
    tree_sync();
}

/* Some bodies of a cell at a time: each lane makes the powers of a coordinate, then sums components over the bodies. */
TREE_FN void tree_add_bodies(const struct tree_view *tree, const struct tree_cell *cell, int top,
                             struct tree_moments_memory *m)
{
    const struct tree_tables *tables = tree->tables;
    const int n = tree_components_below(top + 1);
    const double per_radius = 1 / cell->radius, per_mass = 1 / cell->mass;
    for (int32_t first = 0; first < cell->count; first += TREE_BATCH) {
        const int batch = cell->count - first < TREE_BATCH ? (int)(cell->count - first) : TREE_BATCH;
        TREE_EACH(q, 3 * batch)
        {
            const int i = q / 3, k = q % 3;
            const size_t at = (size_t)(cell->first + first + i);
            const double s = (tree->x[at][k] - cell->centre[k]) * per_radius;
            double power = k == 0 ? tree->mass[at] * per_mass : 1;
            for (int r = 0; r <= top; r++, power *= s) m->coordinate[i][k][r] = power;
        }
        tree_sync();
        TREE_EACH(at, n)
        {
            const int b = tables->b[at], c = tables->c[at], a = tables->rank[at] - b - c;
            double sum = m->sum[at];
            for (int i = 0; i < batch; i++)
                sum += m->coordinate[i][0][a] * m->coordinate[i][1][b] * m->coordinate[i][2][c];
            m->sum[at] = sum;
        }
        tree_sync();
    }
}

/* A component of a product of series. */
TREE_FN double tree_product(const struct tree_tables *tables, const double *p, const double *q, int at)
{
    double sum = 0;
    for (int k = tables->product[at]; k < tables->product[at + 1]; k++)
        sum += p[tables->factor[k][0]] * q[tables->factor[k][1]];
    return sum;
}

/* Moments of a part about the centre of the whole: sum over a of binomial(b, a) d^(b - a) times those of a, in which
 * powers and moments divided by the factorials of their indices need no binomials. */
TREE_FN void tree_add_part(const struct tree_view *tree, const struct tree_cell *whole, size_t part, int top,
                           struct tree_moments_memory *m)
{
    const struct tree_tables *tables = tree->tables;
    const struct tree_cell *cell = &tree->cell[part];
    const int n = tree_components_below(top + 1);
    double d[3];
    if (!(cell->mass > 0)) return;
    tree_read_moments(tree, part, m->part);
    for (int k = 0; k < 3; k++) d[k] = (cell->centre[k] - whole->centre[k]) / whole->radius;
    TREE_EACH(rank, top + 1)
    {
        double scale = cell->mass / whole->mass;
        for (int k = 0; k < rank; k++) scale *= cell->radius / whole->radius;
        m->scale[rank] = scale;
    }
    tree_powers(tables, d, top, m->power);
    TREE_EACH(at, n)
    {
        m->power[at] *= tables->inverse[at];
        m->part[at] *= tables->inverse[at] * m->scale[tables->rank[at]];
    }
    tree_sync();
    TREE_EACH(at, n)
    m->sum[at] += tree_product(tables, m->part, m->power, at) * tables->factorial[at];
    tree_sync();
}

/* ---- what follows from them */

/* The trace of a tensor of this rank. */
TREE_FN void tree_trace(const struct tree_tables *tables, const double *tensor, int rank, double *trace)
{
    const int first = tree_components_below(rank - 2);
    TREE_EACH(i, tree_components(rank - 2))
    {
        const int b = tables->b[first + i], c = tables->c[first + i];
        trace[i] = tensor[i] + tensor[tree_place(b + 2, c)] + tensor[tree_place(b, c + 2)];
    }
    tree_sync();
}

/* The largest potential of the multipole of rank n: sum_ij m_i m_j |s_i|^n |s_j|^n P_n(cos ij) = sum_k A_nk |T_nk|^2.
 */
TREE_FN float tree_power_of(const struct tree_tables *tables, int n, struct tree_moments_memory *m)
{
    const double *tensor = m->sum + tree_components_below(n);
    double sum = 0;
    for (int k = 0; 2 * k <= n; k++) {
        const int rank = n - 2 * k;
        const double *multinomial = tables->multinomial + tree_components_below(rank);
        double norm2 = 0;
        if (k > 0) {
            tree_trace(tables, tensor, rank + 2, m->trace[k % 2]);
            tensor = m->trace[k % 2];
        }
        TREE_EACH(i, tree_components(rank)) norm2 += multinomial[i] * tensor[i] * tensor[i];
        sum += tables->power[n][k] * tree_lanes_sum(norm2);
    }
    tree_sync();
    return (float)sqrt(fmax(sum, 0.0));
}

/* The sum of m |s|^n of an even rank: nothing is left but traces. */
TREE_FN float tree_size_of(const struct tree_tables *tables, int n, struct tree_moments_memory *m)
{
    const double *tensor = m->sum + tree_components_below(n);
    for (int rank = n; rank > 0; rank -= 2) {
        double *trace = m->trace[rank / 2 % 2];
        tree_trace(tables, tensor, rank, trace);
        tensor = trace;
    }
    const float size = (float)tensor[0];
    tree_sync();
    return size;
}

/* Sums m |s|^n do not grow with the rank: |s| is not above 1. */
TREE_FN void tree_measure_rest(const struct tree_view *tree, struct tree_cell *cell, struct tree_moments_memory *m)
{
    const int first = tree->order + 1, even = first / 2 * 2;
    for (int r = 0; r < 2; r++) cell->rest.power[r] = tree_power_of(tree->tables, first + r, m);
    cell->rest.size = tree_size_of(tree->tables, even, m);
    cell->rest.quadrupole = tree_power_of(tree->tables, 2, m);
}

TREE_FN void tree_make_coefficients(const struct tree_view *tree, size_t c, struct tree_moments_memory *m)
{
    const struct tree_tables *tables = tree->tables;
    size_t at = c * (size_t)tree->stride;
    for (int n = 2; n <= tree->order; n++) {
        const double *tensor = m->sum + tree_components_below(n);
        for (int k = 0; 2 * k <= n; k++) {
            const int rank = n - 2 * k;
            const double weight = tables->weight[n][k];
            if (k > 0) {
                tree_trace(tables, tensor, rank + 2, m->trace[k % 2]);
                tensor = m->trace[k % 2];
            }
            TREE_EACH(i, tree_components(rank)) tree_store(tree, tree->coefficient, at + (size_t)i, tensor[i] * weight);
            at += (size_t)tree_components(rank);
        }
        tree_sync();
    }
}

/** Box, centre and radius of a cell whose parts have theirs. */
TREE_FN struct tree_cell tree_bound_cell(const struct tree_view *tree, size_t c)
{
    struct tree_cell cell = tree->cell[c];
    if (cell.n_child == 0)
        tree_bound_leaf(tree, &cell);
    else
        tree_bound_parts(tree, &cell);
    return cell;
}

TREE_FN void tree_clear_moments(const struct tree_view *tree, struct tree_moments_memory *m)
{
    TREE_EACH(i, tree_components_below(tree->order + 3)) m->sum[i] = 0;
    tree_sync();
}

/** A cell whose moments are in memory. */
TREE_FN void tree_store_cell(const struct tree_view *tree, size_t c, struct tree_cell *cell,
                             struct tree_moments_memory *m)
{
    const int first = tree_components_below(2);
    tree_measure_rest(tree, cell, m);
    TREE_EACH(i, tree_kept_moments(tree->order))
    tree_store(tree, tree->moment, c * (size_t)tree->moments + (size_t)i, m->sum[first + i]);
    tree_make_coefficients(tree, c, m);
    if (TREE_OWN_LANE == 0) tree->cell[c] = *cell;
}

/** All of a cell whose parts have theirs. */
TREE_FN void tree_make_cell(const struct tree_view *tree, size_t c, struct tree_moments_memory *m)
{
    struct tree_cell cell = tree_bound_cell(tree, c);
    const int top = tree->order + 2;
    tree_clear_moments(tree, m);
    if (cell.mass > 0 && cell.radius > 0) {
        if (cell.n_child == 0) tree_add_bodies(tree, &cell, top, m);
        for (int p = 0; p < cell.n_child; p++) tree_add_part(tree, &cell, (size_t)(cell.child + p), top, m);
    }
    tree_store_cell(tree, c, &cell, m);
}

/** A cell as walks read it, when the mass of all is known. */
NBC_HD void tree_make_node(const struct tree_view *tree, size_t c)
{
    const struct tree_cell *cell = &tree->cell[c];
    struct tree_node *node = &tree->node[c];
    for (int k = 0; k < 3; k++) node->centre[k] = cell->centre[k];
    node->mass = cell->mass > 0 ? (float)(cell->mass / tree->cell[0].mass) : 0;
    node->radius = (float)cell->radius * TREE_RADIUS_MARGIN;
    node->rest = cell->rest;
    node->first = cell->first;
    node->count = cell->count;
    node->child = cell->child;
    node->n_child = cell->n_child;
}

#endif
