/* Multipoles: of leaves from their bodies, of all others from their parts, level by level. */
#include "common/team.h"
#include "gpunb/tree/tensor.h"
#include "gpunb/tree/tree.h"

#include <math.h>
#include <string.h>

enum { CELLS_OF_A_PART = 16, NODES_OF_A_PART = 4096 };

/* The rounding of a radius to float. */
#define RADIUS_MARGIN 1.000001f

/* Moments of one cell, all ranks, and products of a vector. */
struct moments {
    double of[TREE_MOST_MOMENTS];
};

/* Factors that all cells share. */
struct tables {
    double inverse[TREE_MOST_MOMENTS];     /* 1/(a! b! c!) of the component */
    double multinomial[TREE_MOST_MOMENTS]; /* rank!/(a! b! c!) */
    double weight[TREE_MOST_RANK + 1][TREE_MOST_RANK / 2 + 1];
};

struct pass {
    struct gpunb_tree *tree;
    const struct tables *tables;
    size_t begin, end;
};

static void fill_tables(struct tables *t)
{
    for (int n = 0; n <= TREE_MOST_RANK; n++) {
        for (int i = 0; i <= n; i++)
            for (int c = 0; c <= i; c++) {
                const int at = tree_components_below(n) + tree_place(i - c, c);
                t->inverse[at] = 1 / (tree_factorial(n - i) * tree_factorial(i - c) * tree_factorial(c));
                t->multinomial[at] = tree_factorial(n) * t->inverse[at];
            }
        for (int k = 0; 2 * k <= n; k++) t->weight[n][k] = tree_weight(n, k);
    }
}

static int top_rank(const struct gpunb_tree *tree)
{
    return tree->use->order + 2;
}

/* ---- boxes, centres, radii */

static double distance(const double a[3], const double b[3])
{
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

static void bound_leaf(const struct gpunb_tree *tree, struct tree_cell *cell)
{
    const size_t first = (size_t)cell->first, end = first + (size_t)cell->count;
    double moment[3] = {0};
    cell->mass = 0;
    memcpy(cell->low, tree->x[first], sizeof cell->low);
    memcpy(cell->high, tree->x[first], sizeof cell->high);
    for (size_t i = first; i < end; i++) {
        cell->mass += tree->mass[i];
        for (int k = 0; k < 3; k++) {
            const double x = tree->x[i][k];
            moment[k] += tree->mass[i] * (x - tree->x[first][k]);
            cell->low[k] = x < cell->low[k] ? x : cell->low[k];
            cell->high[k] = x > cell->high[k] ? x : cell->high[k];
        }
    }
    for (int k = 0; k < 3; k++)
        cell->centre[k] =
            cell->mass > 0 ? tree->x[first][k] + moment[k] / cell->mass : (cell->low[k] + cell->high[k]) / 2;
    cell->radius = 0;
    for (size_t i = first; i < end; i++) cell->radius = fmax(cell->radius, distance(tree->x[i], cell->centre));
}

/* The farthest corner of a box from a point. */
static double farthest(const struct tree_cell *cell, const double x[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        const double d = fmax(x[k] - cell->low[k], cell->high[k] - x[k]);
        r2 += d * d;
    }
    return sqrt(r2);
}

static void bound_parts(const struct gpunb_tree *tree, struct tree_cell *cell)
{
    const struct tree_cell *part = &tree->cells.cell[cell->child];
    double moment[3] = {0}, radius = 0;
    cell->mass = 0;
    memcpy(cell->low, part[0].low, sizeof cell->low);
    memcpy(cell->high, part[0].high, sizeof cell->high);
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
    for (int p = 0; p < cell->n_child; p++)
        radius = fmax(radius, distance(part[p].centre, cell->centre) + part[p].radius);
    cell->radius = fmin(radius, farthest(cell, cell->centre));
}

/* ---- moments */

static void read_moments(const struct gpunb_tree *tree, size_t cell, struct moments *m)
{
    const int first = tree_components_below(2);
    m->of[0] = 1;
    m->of[1] = m->of[2] = m->of[3] = 0; /* about the centre of mass */
    for (size_t i = 0; i < tree->moments; i++)
        m->of[(size_t)first + i] = tree->use->method->in_double
                                       ? ((double *)tree->moment)[cell * tree->moments + i]
                                       : (double)((float *)tree->moment)[cell * tree->moments + i];
}

static void store(const struct gpunb_tree *tree, void *to, size_t at, const double *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tree->use->method->in_double)
            ((double *)to)[at + i] = from[i];
        else
            ((float *)to)[at + i] = (float)from[i];
}

static void add_bodies(const struct gpunb_tree *tree, const struct tree_cell *cell, struct moments *m)
{
    const int top = top_rank(tree), n = tree_components_below(top + 1);
    struct moments power;
    for (size_t i = (size_t)cell->first; i < (size_t)(cell->first + cell->count); i++) {
        double s[3];
        const double mass = tree->mass[i] / cell->mass;
        for (int k = 0; k < 3; k++) s[k] = (tree->x[i][k] - cell->centre[k]) / cell->radius;
        tree_powers(s, top, power.of);
        for (int c = 0; c < n; c++) m->of[c] += mass * power.of[c];
    }
}

/* Moments of a part about the centre of the whole: sum over a of binomial(b, a) d^(b - a) times those of a, in which
 * powers and moments divided by the factorials of their indices need no binomials. */
static void add_part(const struct pass *pass, const struct tree_cell *whole, size_t part, struct moments *m)
{
    const struct gpunb_tree *tree = pass->tree;
    const struct tree_cell *cell = &tree->cells.cell[part];
    const double *inverse = pass->tables->inverse;
    const int top = top_rank(tree);
    struct moments of_part, power;
    double d[3], scale = cell->mass / whole->mass;
    if (!(cell->mass > 0)) return;
    read_moments(tree, part, &of_part);
    for (int k = 0; k < 3; k++) d[k] = (cell->centre[k] - whole->centre[k]) / whole->radius;
    tree_powers(d, top, power.of);
    for (int n = 0, at = 0; n <= top; n++, scale *= cell->radius / whole->radius)
        for (int i = 0; i < tree_components(n); i++, at++) {
            power.of[at] *= inverse[at];
            of_part.of[at] *= inverse[at] * scale;
        }
    for (int n = 0; n <= top; n++)
        for (int i = 0; i <= n; i++)
            for (int c = 0; c <= i; c++) {
                const int b = i - c, a = n - i;
                double sum = 0;
                for (int c1 = 0; c1 <= c; c1++)
                    for (int b1 = 0; b1 <= b; b1++) {
                        const int rest = c - c1 + b - b1;
                        for (int a1 = 0; a1 <= a; a1++)
                            sum += of_part.of[tree_components_below(a1 + b1 + c1) + tree_place(b1, c1)] *
                                   power.of[tree_components_below(a - a1 + rest) + tree_place(b - b1, c - c1)];
                    }
                const int at = tree_components_below(n) + tree_place(b, c);
                m->of[at] += sum / inverse[at];
            }
}

/* T_nk for all k, from T_n0 on, times its weight if `weighted`.   @return the length */
static size_t traces_of(const double *tensor, int n, double (*trace)[(TREE_MOST_RANK + 1) * (TREE_MOST_RANK + 2) / 2])
{
    memcpy(trace[0], tensor, (size_t)tree_components(n) * sizeof *tensor);
    int k = 1;
    for (; 2 * k <= n; k++) tree_trace(trace[k - 1], n - 2 * k + 2, trace[k]);
    return (size_t)k;
}

/* The largest potential of the multipole of rank n: sum_ij m_i m_j |s_i|^n |s_j|^n P_n(cos ij) = sum_k A_nk |T_nk|^2.
 */
static float power_of(const struct pass *pass, const double *tensor, int n)
{
    double trace[TREE_MOST_RANK / 2 + 1][(TREE_MOST_RANK + 1) * (TREE_MOST_RANK + 2) / 2], sum = 0;
    const size_t traces = traces_of(tensor, n, trace);
    for (size_t k = 0; k < traces; k++) {
        const int rank = n - 2 * (int)k;
        const double *multinomial = pass->tables->multinomial + tree_components_below(rank);
        double norm2 = 0;
        for (int i = 0; i < tree_components(rank); i++) norm2 += multinomial[i] * trace[k][i] * trace[k][i];
        sum += (k % 2 ? -1 : 1) * pass->tables->weight[n][k] / tree_factorial(rank) * norm2;
    }
    return (float)sqrt(fmax(sum, 0));
}

/* The sum of m |s|^n of an even rank: nothing is left but traces. */
static float size_of(const double *tensor, int n)
{
    double trace[TREE_MOST_RANK / 2 + 1][(TREE_MOST_RANK + 1) * (TREE_MOST_RANK + 2) / 2];
    traces_of(tensor, n, trace);
    return (float)trace[n / 2][0];
}

/* Sums m |s|^n do not grow with the rank: |s| is not above 1. The shape of a cube has a multipole of rank 4 of some
 * 0.15, and that of few bodies one of 1/sqrt(count), whatever the ranks before. */
static void measure_rest(const struct pass *pass, struct tree_cell *cell, const struct moments *m)
{
    const int first = pass->tree->use->order + 1, even = first / 2 * 2;
    for (int r = 0; r < 2; r++)
        cell->rest.power[r] = power_of(pass, m->of + tree_components_below(first + r), first + r);
    cell->rest.size = size_of(m->of + tree_components_below(even), even);
    cell->rest.shape = cell->rest.size * fmaxf(0.15f, 1 / sqrtf((float)cell->count));
}

static void make_coefficients(const struct pass *pass, size_t c, const struct moments *m)
{
    const struct gpunb_tree *tree = pass->tree;
    double trace[TREE_MOST_RANK / 2 + 1][(TREE_MOST_RANK + 1) * (TREE_MOST_RANK + 2) / 2];
    size_t at = c * tree->coefficients;
    for (int n = 2; n <= tree->use->order; n++) {
        const size_t traces = traces_of(m->of + tree_components_below(n), n, trace);
        for (size_t k = 0; k < traces; k++) {
            const int length = tree_components(n - 2 * (int)k);
            for (int i = 0; i < length; i++) trace[k][i] *= (k % 2 ? -1 : 1) * pass->tables->weight[n][k];
            store(tree, tree->coefficient, at, trace[k], (size_t)length);
            at += (size_t)length;
        }
    }
}

static void make_cell(const struct pass *pass, size_t c)
{
    const struct gpunb_tree *tree = pass->tree;
    struct tree_cell *cell = &tree->cells.cell[c];
    struct moments m;
    if (cell->n_child == 0)
        bound_leaf(tree, cell);
    else
        bound_parts(tree, cell);
    memset(m.of, 0, (size_t)tree_components_below(top_rank(tree) + 1) * sizeof m.of[0]);
    if (cell->mass > 0 && cell->radius > 0) {
        if (cell->n_child == 0) add_bodies(tree, cell, &m);
        for (int p = 0; p < cell->n_child; p++) add_part(pass, cell, (size_t)(cell->child + p), &m);
    }
    measure_rest(pass, cell, &m);
    store(tree, tree->moment, c * tree->moments, m.of + tree_components_below(2), tree->moments);
    make_coefficients(pass, c, &m);
}

static void make_part(void *context, int part, int parts)
{
    const struct pass *pass = context;
    int64_t first, end;
    nbc_range((int64_t)(pass->end - pass->begin), part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) make_cell(pass, pass->begin + (size_t)c);
}

/* Nodes for walks, made when the mass of all is known. */
static void make_nodes(void *context, int part, int parts)
{
    const struct pass *pass = context;
    const struct gpunb_tree *tree = pass->tree;
    const double all = tree->cells.cell[0].mass;
    int64_t first, end;
    nbc_range((int64_t)pass->end, part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) {
        const struct tree_cell *cell = &tree->cells.cell[c];
        tree->node[c] = (struct tree_node){
            .centre = {cell->centre[0], cell->centre[1], cell->centre[2]},
            .mass = cell->mass > 0 ? (float)(cell->mass / all) : 0,
            .radius = (float)cell->radius * RADIUS_MARGIN,
            .rest = cell->rest,
            .first = cell->first,
            .count = cell->count,
            .child = cell->child,
            .n_child = cell->n_child,
        };
    }
}

int tree_make_moments(struct gpunb_tree *tree)
{
    const size_t size = tree->use->method->in_double ? sizeof(double) : sizeof(float);
    const size_t n = tree->cells.level[tree->cells.n_levels];
    struct tables tables;
    tree->moments = (size_t)(tree_components_below(top_rank(tree) + 1) - tree_components_below(2));
    tree->coefficients = (size_t)tree_coefficients(tree->use->order);
    tree->moment = tree_room(&tree->moments_room, n * tree->moments, size);
    tree->coefficient = tree_room(&tree->coefficients_room, n * tree->coefficients, size);
    tree->node = tree_room(&tree->nodes, n, sizeof *tree->node);
    if (!tree->moment || !tree->coefficient || !tree->node) return NBC_NO_MEMORY;
    fill_tables(&tables);
    for (int l = tree->cells.n_levels - 1; l >= 0; l--) {
        struct pass pass = {tree, &tables, tree->cells.level[l], tree->cells.level[l + 1]};
        nbc_team_run(nbc_parts((int64_t)(pass.end - pass.begin), CELLS_OF_A_PART), make_part, &pass);
    }
    struct pass all = {tree, &tables, 0, n};
    nbc_team_run(nbc_parts((int64_t)n, NODES_OF_A_PART), make_nodes, &all);
    return NBC_OK;
}
