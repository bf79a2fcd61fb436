/** How the multipoles of one cell change with time, by lanes: of a leaf from its bodies, of all others from their
 * parts.
 *
 *  The moment of a rank is the sum of m s s ... s over the bodies at s from the centre of mass, which moves with the
 * mean velocity. Its rate is the sum over each factor s of the same product with the velocity w of the body, relative
 * to that mean, in place of s: the derivative of a product. Units are the mass of the cell, its radius and `speed`, the
 *  largest |w| of its bodies: a rate of rank n is in mass radius^(n - 1) speed. The rate of rank 1 vanishes. */
#ifndef GPUNB_TREE_RATES_H
#define GPUNB_TREE_RATES_H

#include "gpunb/tree/moments.h"

/** The motion of the bodies of a cell. */
struct tree_motion {
    double v[3];     /**< mean velocity, weighted by mass; that of the first body, if there is no mass */
    double speed;    /**< all bodies are no faster, relative to it */
    double heaviest; /**< the largest mass */
};

/** A tree whose moments are made, and where the rates go. */
struct tree_rates_view {
    const struct tree_view *tree;
    const double (*v)[3];       /**< of bodies, by place */
    struct tree_motion *motion; /**< [cells] */
    void *rate;                 /**< [cells][tree->moments], as the moments */
};

/** Memory of all lanes, for ranks up to TREE_MOST_LOCAL: those of regular forces. */
struct tree_rates_memory {
    double sum[TREE_MOST_LOCALS];                                 /* rates of the cell */
    double moment[TREE_MOST_LOCALS], rate[TREE_MOST_LOCALS];      /* of a part of it */
    double power[TREE_MOST_LOCALS], power_rate[TREE_MOST_LOCALS]; /* of its centre, over the factorials */
    double scale[TREE_MOST_LOCAL + 1], rate_scale[TREE_MOST_LOCAL + 1];
    double coordinate[TREE_BATCH][3][TREE_MOST_LOCAL + 1], change[TREE_BATCH][3][TREE_MOST_LOCAL + 1];
};

/* ---- velocities */

TREE_FN void tree_move_leaf(const struct tree_rates_view *r, const struct tree_cell *cell, struct tree_motion *motion)
{
    const double(*v)[3] = r->v + cell->first, *mass = r->tree->mass + cell->first;
    double moment[3] = {0, 0, 0}, speed = 0, heaviest = 0;
    TREE_EACH(i, cell->count)
    {
        for (int k = 0; k < 3; k++) moment[k] += mass[i] * (v[i][k] - v[0][k]);
        heaviest = fmax(heaviest, mass[i]);
    }
    for (int k = 0; k < 3; k++) {
        moment[k] = tree_lanes_sum(moment[k]);
        motion->v[k] = cell->mass > 0 ? v[0][k] + moment[k] / cell->mass : v[0][k];
    }
    TREE_EACH(i, cell->count) speed = fmax(speed, tree_distance(v[i], motion->v));
    motion->speed = tree_lanes_max(speed);
    motion->heaviest = tree_lanes_max(heaviest);
}

TREE_FN void tree_move_parts(const struct tree_rates_view *r, const struct tree_cell *cell, struct tree_motion *motion)
{
    const struct tree_cell *part = &r->tree->cell[cell->child];
    const struct tree_motion *of_part = &r->motion[cell->child];
    double moment[3] = {0, 0, 0}, speed = 0;
    motion->heaviest = 0;
    for (int p = 0; p < cell->n_child; p++) {
        for (int k = 0; k < 3; k++) moment[k] += part[p].mass * (of_part[p].v[k] - of_part[0].v[k]);
        motion->heaviest = fmax(motion->heaviest, of_part[p].heaviest);
    }
    for (int k = 0; k < 3; k++)
        motion->v[k] = cell->mass > 0 ? of_part[0].v[k] + moment[k] / cell->mass : of_part[0].v[k];
    for (int p = 0; p < cell->n_child; p++)
        speed = fmax(speed, tree_distance(of_part[p].v, motion->v) + of_part[p].speed);
    motion->speed = speed;
}

/* ---- rates */

/* Powers of a coordinate of a body, and their rates: r s^(r - 1) w. */
TREE_FN void tree_powers_of_body(const struct tree_rates_view *r, const struct tree_cell *cell,
                                 const struct tree_motion *motion, int body, int k, int top, double *power,
                                 double *change)
{
    const size_t at = (size_t)(cell->first + body);
    const double s = (r->tree->x[at][k] - cell->centre[k]) / cell->radius;
    const double w = (r->v[at][k] - motion->v[k]) / motion->speed;
    power[0] = k == 0 ? r->tree->mass[at] / cell->mass : 1;
    change[0] = 0;
    for (int n = 1; n <= top; n++) {
        power[n] = power[n - 1] * s;
        change[n] = n * power[n - 1] * w;
    }
}

TREE_FN void tree_add_rates_of_bodies(const struct tree_rates_view *r, const struct tree_cell *cell,
                                      const struct tree_motion *motion, int top, struct tree_rates_memory *m)
{
    const struct tree_tables *tables = r->tree->tables;
    for (int32_t first = 0; first < cell->count; first += TREE_BATCH) {
        const int batch = cell->count - first < TREE_BATCH ? (int)(cell->count - first) : TREE_BATCH;
        TREE_EACH(q, 3 * batch)
        tree_powers_of_body(r, cell, motion, first + q / 3, q % 3, top, m->coordinate[q / 3][q % 3],
                            m->change[q / 3][q % 3]);
        tree_sync();
        TREE_EACH(at, tree_components_below(top + 1))
        {
            const int b = tables->b[at], c = tables->c[at], a = tables->rank[at] - b - c;
            double sum = m->sum[at];
            for (int i = 0; i < batch; i++) {
                const double x = m->coordinate[i][0][a], y = m->coordinate[i][1][b], z = m->coordinate[i][2][c];
                sum += m->change[i][0][a] * y * z + x * (m->change[i][1][b] * z + y * m->change[i][2][c]);
            }
            m->sum[at] = sum;
        }
        tree_sync();
    }
}

TREE_FN double tree_read(const struct tree_view *tree, const void *from, size_t at)
{
    return tree->in_double ? ((const double *)from)[at] : (double)((const float *)from)[at];
}

/* Moments of a part and their rates in units of the whole, over the factorials of their indices. */
TREE_FN void tree_read_part(const struct tree_rates_view *r, const struct tree_cell *whole,
                            const struct tree_motion *motion, size_t part, int top, struct tree_rates_memory *m)
{
    const struct tree_view *tree = r->tree;
    const struct tree_cell *cell = &tree->cell[part];
    const int kept = tree_components_below(2);
    TREE_EACH(rank, top + 1)
    {
        const double size = cell->radius / whole->radius;
        m->scale[rank] = cell->mass / whole->mass;
        m->rate_scale[rank] = m->scale[rank] * r->motion[part].speed / motion->speed;
        for (int k = 0; k < rank; k++) m->scale[rank] *= size;
        for (int k = 1; k < rank; k++) m->rate_scale[rank] *= size;
    }
    tree_sync();
    TREE_EACH(at, tree_components_below(top + 1))
    {
        const int rank = tree->tables->rank[at];
        const size_t from = part * (size_t)tree->moments + (size_t)(at - kept);
        const double moment = at < kept ? at == 0 : tree_read(tree, tree->moment, from);
        const double rate = at < kept ? 0 : tree_read(tree, r->rate, from);
        m->moment[at] = moment * tree->tables->inverse[at] * m->scale[rank];
        m->rate[at] = rate * tree->tables->inverse[at] * m->rate_scale[rank];
    }
    tree_sync();
}

/* Rates of a part about the centre of the whole: those of a product of series (tree_add_part). */
TREE_FN void tree_add_rates_of_part(const struct tree_rates_view *r, const struct tree_cell *whole,
                                    const struct tree_motion *motion, size_t part, int top, struct tree_rates_memory *m)
{
    const struct tree_tables *tables = r->tree->tables;
    const struct tree_cell *cell = &r->tree->cell[part];
    const int n = tree_components_below(top + 1);
    double d[3], turn[3];
    if (!(cell->mass > 0)) return;
    for (int k = 0; k < 3; k++) {
        d[k] = (cell->centre[k] - whole->centre[k]) / whole->radius;
        turn[k] = (r->motion[part].v[k] - motion->v[k]) / motion->speed;
    }
    tree_read_part(r, whole, motion, part, top, m);
    tree_powers(tables, d, top, m->power);
    TREE_EACH(at, n) m->power[at] *= tables->inverse[at];
    tree_sync();
    TREE_EACH(at, n)
    {
        const int rank = tables->rank[at], b = tables->b[at], c = tables->c[at];
        const double *before = m->power + tree_components_below(rank - 1);
        double sum = 0;
        if (rank > b + c) sum += turn[0] * before[tree_place(b, c)];
        if (b > 0) sum += turn[1] * before[tree_place(b - 1, c)];
        if (c > 0) sum += turn[2] * before[tree_place(b, c - 1)];
        m->power_rate[at] = sum;
    }
    tree_sync();
    TREE_EACH(at, n)
    m->sum[at] += tables->factorial[at] *
                  (tree_product(tables, m->rate, m->power, at) + tree_product(tables, m->moment, m->power_rate, at));
    tree_sync();
}

/** Motion and rates of a cell whose parts have theirs. */
TREE_FN void tree_make_rates(const struct tree_rates_view *r, size_t c, struct tree_rates_memory *m)
{
    const struct tree_cell cell = r->tree->cell[c];
    const int top = r->tree->order + 2, first = tree_components_below(2);
    struct tree_motion motion;
    if (cell.n_child == 0)
        tree_move_leaf(r, &cell, &motion);
    else
        tree_move_parts(r, &cell, &motion);
    TREE_EACH(i, tree_components_below(top + 1)) m->sum[i] = 0;
    tree_sync();
    if (cell.mass > 0 && cell.radius > 0 && motion.speed > 0) {
        if (cell.n_child == 0) tree_add_rates_of_bodies(r, &cell, &motion, top, m);
        for (int p = 0; p < cell.n_child; p++)
            tree_add_rates_of_part(r, &cell, &motion, (size_t)(cell.child + p), top, m);
    }
    TREE_EACH(i, r->tree->moments)
    tree_store(r->tree, r->rate, c * (size_t)r->tree->moments + (size_t)i, m->sum[first + i]);
    if (TREE_OWN_LANE == 0) r->motion[c] = motion;
}

#endif
