/** Models that are divided among parts, as processes have them, and forces that all parts make together
 *  (gpunb/tree/essential.h). For tests; main() sets the backend (gpunb_model.h). */
#ifndef GPUNB_PARTS_H
#define GPUNB_PARTS_H

#include "gpunb/tree/essential.h"
#include "tests/conformance/gpunb_tree_model.h"

enum { MOST_PARTS = 64 };

/* A part of a model: its own bodies, by their numbers in it. */
struct part {
    gpunb_t *handle;
    struct gpunb_essential *essential;
    struct model own;
    size_t *number;
    struct gpunb_softened_job job;
    double (*acc)[3], (*last)[3], *pot;
    uint32_t *cost;
};

struct parts {
    int n;
    struct part part[MOST_PARTS];
};

/* ---- bodies of each */

static const double (*sorted_x)[3];

static inline int by_x(const void *a, const void *b)
{
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    return sorted_x[i][0] != sorted_x[j][0] ? (sorted_x[i][0] > sorted_x[j][0] ? 1 : -1) : (i > j) - (i < j);
}

static inline size_t first_of(const struct parts *p, size_t n, int part)
{
    return n * (size_t)part / (size_t)p->n;
}

static inline void take_bodies(struct part *part, const struct model *m, const size_t *number, size_t n)
{
    part->own = (struct model){.n = n,
                               .self = get(n, sizeof *part->own.self),
                               .mass = get(n, sizeof *part->own.mass),
                               .x = get(n, sizeof *part->own.x)};
    part->number = get(n, sizeof *part->number);
    part->acc = get(n, sizeof *part->acc);
    part->last = get(n, sizeof *part->last);
    part->pot = get(n, sizeof *part->pot);
    part->cost = get(n, sizeof *part->cost);
    for (size_t i = 0; i < n; i++) {
        part->number[i] = number[i];
        part->own.self[i] = (int32_t)i;
        part->own.mass[i] = m->mass[number[i]];
        memcpy(part->own.x[i], m->x[number[i]], sizeof part->own.x[i]);
    }
}

/* Slabs of x, or each body to the next part. */
static inline void divide(struct parts *p, const struct model *m, int in_slabs)
{
    size_t *number = get(m->n, sizeof *number), *dealt = get(m->n, sizeof *dealt);
    for (size_t i = 0; i < m->n; i++) number[i] = i;
    sorted_x = positions(m);
    qsort(number, m->n, sizeof *number, by_x);
    for (int k = 0; k < p->n; k++) {
        const size_t first = first_of(p, m->n, k), end = first_of(p, m->n, k + 1);
        size_t count = 0;
        for (size_t i = (size_t)k; i < m->n && !in_slabs; i += (size_t)p->n) dealt[count++] = i;
        if (in_slabs)
            take_bodies(&p->part[k], m, number + first, end - first);
        else
            take_bodies(&p->part[k], m, dealt, count);
    }
    free(number);
    free(dealt);
}

static inline void free_parts(struct parts *p)
{
    for (int k = 0; k < p->n; k++) {
        struct part *part = &p->part[k];
        gpunb_essential_free(part->essential);
        gpunb_free(part->handle);
        free(part->own.self);
        free(part->own.mass);
        free(part->own.x);
        free(part->number);
        free(part->acc);
        free(part->last);
        free(part->pot);
        free(part->cost);
    }
}

static inline struct parts make_parts(int n, const struct model *m, int in_slabs, struct gpunb_options options)
{
    struct parts p = {.n = n};
    divide(&p, m, in_slabs);
    for (int k = 0; k < n; k++) {
        p.part[k].handle = make_tree_handle(p.part[k].own.n + 1, options);
        assert_int_equal(gpunb_essential_open(&p.part[k].essential, p.part[k].handle, n, k), NBC_OK);
    }
    return p;
}

/* ---- a force, as processes make it together. Each returns the first failure. */

static inline int begin(struct parts *p, double softening, int has_last, int wants_pot)
{
    int status = NBC_OK;
    for (int k = 0; k < p->n && !status; k++) {
        struct part *part = &p->part[k];
        memcpy(part->last, part->acc, part->own.n * sizeof *part->last);
        part->job = (struct gpunb_softened_job){.n_i = part->own.n,
                                                .x = positions(&part->own),
                                                .self = part->own.self,
                                                .softening = softening,
                                                .acc_last = has_last ? (const double(*)[3])part->last : NULL,
                                                .acc = part->acc,
                                                .pot = wants_pot ? part->pot : NULL,
                                                .build = 7};
        status = gpunb_send_positions(part->handle, part->own.n, part->own.mass, positions(&part->own));
        if (!status) status = gpunb_essential_begin(part->essential, &part->job);
    }
    return status;
}

static inline void tell(struct parts *p)
{
    const size_t bytes = gpunb_essential_top_bytes(p->part[0].essential);
    struct gpunb_essential_reach *reach = get((size_t)p->n, sizeof *reach);
    char *top = get((size_t)p->n, bytes);
    for (int k = 0; k < p->n; k++) gpunb_essential_top(p->part[k].essential, top + (size_t)k * bytes);
    for (int k = 0; k < p->n; k++) gpunb_essential_take_tops(p->part[k].essential, top);
    for (int k = 0; k < p->n; k++) gpunb_essential_reach(p->part[k].essential, &reach[k]);
    for (int k = 0; k < p->n; k++) gpunb_essential_take_reaches(p->part[k].essential, reach);
    free(top);
    free(reach);
}

static inline int send(struct parts *p)
{
    int status = NBC_OK;
    for (int from = 0; from < p->n; from++)
        for (int to = 0; to < p->n && !status; to++) {
            struct gpunb_essential *one = p->part[from].essential, *other = p->part[to].essential;
            const void *data;
            size_t bytes;
            assert_int_equal(gpunb_essential_is_sent(one, from, to), gpunb_essential_is_sent(other, from, to));
            if (!gpunb_essential_is_sent(one, from, to)) continue;
            status = gpunb_essential_export(one, to, gpunb_essential_boxes(other), &data, &bytes);
            if (!status) status = gpunb_essential_take(other, from, data);
        }
    return status;
}

static inline int make_force_once(struct parts *p, double softening, int has_last, int wants_pot)
{
    int status = begin(p, softening, has_last, wants_pot);
    if (status) return status;
    tell(p);
    status = send(p);
    for (int k = 0; k < p->n && !status; k++) status = gpunb_essential_force(p->part[k].essential, p->part[k].cost);
    return status;
}

/* With an aim the force by angle comes first. */
static inline int make_force(struct parts *p, double softening, int has_aim)
{
    const int status = has_aim ? make_force_once(p, softening, 0, 0) : NBC_OK;
    return status ? status : make_force_once(p, softening, has_aim, 1);
}

static inline struct forces gather(const struct parts *p, size_t n)
{
    struct forces f = make_forces(n);
    for (int k = 0; k < p->n; k++)
        for (size_t i = 0; i < p->part[k].own.n; i++) {
            memcpy(f.acc[p->part[k].number[i]], p->part[k].acc[i], sizeof *f.acc);
            f.pot[p->part[k].number[i]] = p->part[k].pot[i];
        }
    return f;
}

#endif
