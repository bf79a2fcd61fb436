/** Multipoles of moving cells as polynomials, and what they do to moving targets: of regular forces by tree on devices.
 *
 *  A rank n of a cell is a potential mass/R s^n Q_n(u) at x = R u from its centre, s = radius/R, with the harmonic
 *  polynomial (tensor.h)
 *      Q_n(u) = sum_k A_nk |u|^2k (T_nk u^(n-2k)) = sum_b q_b u^b/b!,
 *  so that |u| = 1 takes no part and there are no traces. With the velocity w of the target relative to the cell, in
 *  units of R, z = u w, and D = w grad + the change of q_b with time,
 *      acc  = mass/R^2 sum_n s^n (grad Q_n - (2n+1) Q_n u),
 *      jerk = mass/R^2 sum_n s^n (D grad Q_n - (2n+1)(z grad Q_n + (D Q_n - (2n+3) z Q_n) u + Q_n w)),
 *  where Q_0 = 1, Q_1 = 0, n Q_n = u grad Q_n and n D Q_n = u D grad Q_n + w grad Q_n. The q_b have ranks up to
 *  REGULAR_ORDER, their changes one rank more: jerks would lose a rank otherwise, since a change of rank n is a jerk of
 *  s^n speed/radius = s^(n-1) speed/R. */
#ifndef GPUNB_DEVICE_REGULAR_TERMS_H
#define GPUNB_DEVICE_REGULAR_TERMS_H

#include "gpunb/device/regular_steps.h"

/* After TREE_FN */
#include "gpunb/device/float_term.h"

/* ---- rows of a cell: rank by rank its q_b, then their changes with time, in units of the speed over the radius of the
 * cell of all, those of the last rank alone; each rank in whole loads of four */

NBC_ASSERT_CONSTANT(REGULAR_ORDER + 1 <= TREE_MOST_LOCAL, "rates of the last rank are there");

/** Memory of a team that makes a row. */
struct regular_terms_memory {
    double tensor[TREE_MOST_LOCALS], trace[2][TREE_MOST_LOCALS], term[TREE_MOST_LOCALS];
};

/* b! w_nk sum over |e| = k of k!/e! T_(b - 2e)/(b - 2e)!, with T what k traces have left. */
TREE_FN double regular_term_of_trace(const struct tree_tables *tables, const double *trace, int n, int k, int at)
{
    const int b = tables->b[at], c = tables->c[at], a = n - b - c, first = tree_components_below(n - 2 * k);
    double sum = 0;
    for (int z = 0; z <= k && 2 * z <= c; z++)
        for (int y = 0; y + z <= k && 2 * y <= b; y++) {
            const int x = k - y - z, from = tree_place(b - 2 * y, c - 2 * z);
            if (2 * x > a) continue;
            sum += trace[from] * tables->inverse[first + from] *
                   tables->multinomial[tree_components_below(k) + tree_place(y, z)];
        }
    return tables->factorial[at] * tables->weight[n][k] * sum;
}

/* The polynomials of the tensors in memory. */
TREE_FN void regular_make_terms_of(const struct tree_tables *tables, double scale, int is_rate,
                                   struct regular_terms_memory *m, float *row)
{
    for (int n = 2; n <= REGULAR_ORDER + is_rate; n++) {
        const int first = tree_components_below(n), size = tree_components(n);
        const double *tensor = m->tensor + first;
        float *to = row + regular_row_below(n) + (is_rate && n <= REGULAR_ORDER ? size : 0);
        TREE_EACH(i, size) m->term[i] = 0;
        for (int k = 0; 2 * k <= n; k++) {
            if (k > 0) {
                tree_trace(tables, tensor, n - 2 * k + 2, m->trace[k % 2]);
                tensor = m->trace[k % 2];
            }
            TREE_EACH(i, size) m->term[i] += regular_term_of_trace(tables, tensor, n, k, first + i);
        }
        tree_sync();
        TREE_EACH(i, size) to[i] = (float)(m->term[i] * scale);
    }
    tree_sync();
}

/** The row of a cell, by a team. */
TREE_FN void regular_make_terms(const struct device_regular_tree *t, int32_t c, struct regular_terms_memory *m)
{
    const struct tree_view *view = &t->tree.view;
    const struct tree_cell *cell = &view->cell[c], *all = &view->cell[0];
    const int first = tree_components_below(2), n = tree_components_below(REGULAR_ORDER + 2) - first;
    const float *moment = (const float *)view->moment + (size_t)c * (size_t)view->moments,
                *rate = t->rate + (size_t)c * (size_t)view->moments;
    const double speed = t->motion[0].speed > 0 ? t->motion[c].speed / t->motion[0].speed : 0,
                 turns = cell->radius > 0 ? speed * all->radius / cell->radius : 0;
    float *row = t->term + (size_t)c * REGULAR_ROW_ROOM;
    TREE_EACH(i, n) m->tensor[first + i] = (double)moment[i];
    tree_sync();
    regular_make_terms_of(view->tables, 1, 0, m, row);
    TREE_EACH(i, n) m->tensor[first + i] = (double)rate[i];
    tree_sync();
    regular_make_terms_of(view->tables, turns, 1, m, row);
}

/* ---- targets */

/** A cell as targets meet it: lengths in those of the cell of all, from the centre of the group; velocities relative to
 *  its mean one, in the speed of the cell of all; the mass as a part of all. */
struct regular_term_head {
    NBC_ALIGNED(16) float x[3], mass;
    float v[3], radius;
};

/* How products of coordinates (term_products) change. */
TREE_FN void regular_change_products(const float *v, const float w[3], const int order, float *change)
{
    change[0] = 0;
    TREE_UNROLL
    for (int n = 1; n < order; n++) {
        const float *before = v + tree_components_below(n - 1);
        float *now = change + tree_components_below(n);
        TREE_UNROLL
        for (int i = 0; i <= n; i++) {
            TREE_UNROLL
            for (int c = 0; c <= i; c++) {
                const int a = n - i, b = i - c;
                float sum = a > 0 ? w[0] * before[tree_place(b, c)]
                                  : (b > 0 ? w[1] * before[tree_place(b - 1, c)] : w[2] * before[tree_place(b, c - 1)]);
                if (a > 0 && b > 0) sum = TERM_FMA(w[1], before[tree_place(b - 1, c)], sum);
                if ((a > 0 || b > 0) && c > 0) sum = TERM_FMA(w[2], before[tree_place(b, c - 1)], sum);
                now[tree_place(b, c)] = sum;
            }
        }
    }
}

/* Onto the gradient of a polynomial of rank n.   @param[in] v  products of the rank before, or their changes */
TREE_FN void regular_add_gradient(const float *q, const float *v, const int n, float g[3])
{
    TREE_UNROLL
    for (int i = 0; i < n; i++) {
        TREE_UNROLL
        for (int c = 0; c <= i; c++) {
            const int at = i * (i + 1) / 2 + c, next = (i + 1) * (i + 2) / 2 + c;
            g[0] = TERM_FMA(q[at], v[at], g[0]);
            g[1] = TERM_FMA(q[next], v[at], g[1]);
            g[2] = TERM_FMA(q[next + 1], v[at], g[2]);
        }
    }
}

TREE_FN float regular_dot(const float a[3], const float b[3])
{
    return TERM_FMA(a[2], b[2], TERM_FMA(a[1], b[1], a[0] * b[0]));
}

/** A cell on a target, in units of mass/R^2: acc = g - radial u, jerk = dg - z turned - radial w - along u. */
struct regular_meeting {
    float u[3], w[3], z, mr2, small, power; /* small: radius/R; power: its power of the rank */
    float product[TREE_MOST_LOCALS], change[TREE_MOST_LOCALS];
    float g[3], dg[3], turned[3], radial, along;
};

TREE_FN void regular_meet(const struct regular_term_head *head, const float x[3], const float v[3],
                          struct regular_meeting *to)
{
    float d[3];
    for (int k = 0; k < 3; k++) d[k] = x[k] - head->x[k];
    const float inverse = nbc_inverse_root(regular_dot(d, d));
    for (int k = 0; k < 3; k++) {
        to->u[k] = d[k] * inverse;
        to->w[k] = (v[k] - head->v[k]) * inverse;
        to->g[k] = to->dg[k] = to->turned[k] = 0;
    }
    to->z = regular_dot(to->u, to->w);
    to->mr2 = head->mass * inverse * inverse;
    to->power = to->small = head->radius * inverse;
    to->radial = 1;
    to->along = -3 * to->z;
    term_products(to->u, REGULAR_ORDER + 1, to->product);
    regular_change_products(to->product, to->w, REGULAR_ORDER, to->change);
}

/* A rank of the cell and its rate. */
TREE_FN void regular_add_rank(const float *row, const int n, struct regular_meeting *to)
{
    const float *v = to->product + tree_components_below(n - 1), *change = to->change + tree_components_below(n - 1);
    const float weight = (float)(2 * n + 1), part = 1 / (float)n;
    float g[3] = {0, 0, 0}, dg[3] = {0, 0, 0};
    regular_add_gradient(row, v, n, g);
    regular_add_gradient(row + tree_components(n), v, n, dg);
    regular_add_gradient(row, change, n, dg);
    to->power *= to->small;
    const float q = regular_dot(to->u, g) * part, dq = (regular_dot(to->u, dg) + regular_dot(to->w, g)) * part,
                heavier = weight * to->power;
    TREE_UNROLL
    for (int k = 0; k < 3; k++) {
        to->g[k] = TERM_FMA(to->power, g[k], to->g[k]);
        to->dg[k] = TERM_FMA(to->power, dg[k], to->dg[k]);
        to->turned[k] = TERM_FMA(heavier, g[k], to->turned[k]);
    }
    to->radial = TERM_FMA(heavier, q, to->radial);
    to->along = TERM_FMA(heavier, TERM_FMA(-(weight + 2) * to->z, q, dq), to->along);
}

/* The rate alone of the rank behind the last one. */
TREE_FN void regular_add_last_rate(const float *rate, struct regular_meeting *to)
{
    enum { N = REGULAR_ORDER + 1 };
    float dg[3] = {0, 0, 0};
    regular_add_gradient(rate, to->product + tree_components_below(N - 1), N, dg);
    to->power *= to->small;
    TREE_UNROLL
    for (int k = 0; k < 3; k++) to->dg[k] = TERM_FMA(to->power, dg[k], to->dg[k]);
    to->along = TERM_FMA((float)(2 * N + 1) / (float)N * to->power, regular_dot(to->u, dg), to->along);
}

TREE_FN void regular_end_meeting(const struct regular_meeting *of, float sum[6])
{
    TREE_UNROLL
    for (int k = 0; k < 3; k++) {
        const float jerk =
            TERM_FMA(-of->z, of->turned[k], of->dg[k]) - TERM_FMA(of->radial, of->w[k], of->along * of->u[k]);
        sum[k] = TERM_FMA(of->mr2, TERM_FMA(-of->radial, of->u[k], of->g[k]), sum[k]);
        sum[3 + k] = TERM_FMA(of->mr2, jerk, sum[3 + k]);
    }
}

/** A cell on the targets of a lane at x with the velocities v, units as in the head: onto accelerations and jerks. */
TREE_FN void regular_add_term(const struct regular_term_head *head, const struct regular_four *row,
                              const float x[REGULAR_SEEN][3], const float v[REGULAR_SEEN][3],
                              float sum[REGULAR_SEEN][6])
{
    struct regular_meeting of[REGULAR_SEEN];
    TREE_UNROLL
    for (int k = 0; k < REGULAR_SEEN; k++) regular_meet(head, x[k], v[k], &of[k]);
    TREE_UNROLL
    for (int n = 2; n <= REGULAR_ORDER + 1; n++) {
        float of_rank[REGULAR_ROW_ROOM];
        TREE_UNROLL
        for (int k = 0; k < regular_quads(n); k++) {
            const struct regular_four four = row[regular_row_below(n) / 4 + k];
            for (int q = 0; q < 4; q++) of_rank[4 * k + q] = four.of[q];
        }
        TREE_UNROLL
        for (int k = 0; k < REGULAR_SEEN; k++)
            if (n <= REGULAR_ORDER)
                regular_add_rank(of_rank, n, &of[k]);
            else
                regular_add_last_rate(of_rank, &of[k]);
    }
    TREE_UNROLL
    for (int k = 0; k < REGULAR_SEEN; k++) regular_end_meeting(&of[k], sum[k]);
}

#endif
