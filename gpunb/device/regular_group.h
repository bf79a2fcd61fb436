/** Groups of targets of a regular force by tree: the pairs and the lists that cells leave, by a team of lanes. */
#ifndef GPUNB_DEVICE_REGULAR_GROUP_H
#define GPUNB_DEVICE_REGULAR_GROUP_H

#include "gpunb/device/regular_cells.h"

enum {
    REGULAR_FAR_PILE = 64,  /* bodies that are summed together: those that cannot be neighbours, */
    REGULAR_NEAR_PILE = 32, /* and others */
    REGULAR_LIST = 512      /* neighbours that are sorted in memory of the team */
};

/** A body that is no neighbour: its place from the centre of the group. */
struct regular_body {
    NBC_ALIGNED(16) float x[3], mass;
    float v[3], spare;
};

/** Memory of a team that sums pairs. */
struct regular_pair_memory {
    struct regular_body far[REGULAR_FAR_PILE];
    struct gpunb_dev_source near[REGULAR_NEAR_PILE]; /* with their places as the bits of `spare` */
    int32_t stack[REGULAR_STACK];
    int32_t first[TREE_TEAM], before[TREE_TEAM]; /* of the cells that lanes have found */
    struct regular_bounds bounds;
    struct gpunb_dev_sum sum[TREE_TEAM][REGULAR_SEEN]; /* of each lane */
    int32_t found[REGULAR_GROUP];                      /* neighbours of each target, */
    int32_t list[REGULAR_LIST];                        /* and those of one */
};

/** The targets of a lane. Lanes share the bodies of each. */
struct regular_viewers {
    struct gpunb_dev_viewer viewer[REGULAR_SEEN]; /* but for r_nb2 and dt_reg */
    float x[REGULAR_SEEN][3];                     /* from the centre of the group */
};

/** A group that sums its pairs. */
struct regular_pairs {
    struct regular_walk walk;
    struct regular_pair_memory *memory;
    struct regular_viewers own[TREE_OWN];
    int bits;          /* 2^bits lanes have all targets */
    int n_far, n_near; /* bodies that wait */
};

TREE_FN void regular_view(struct regular_pairs *p, int l)
{
    const struct regular_walk *w = &p->walk;
    const struct device_regular_tree *t = w->t;
    TREE_UNROLL
    for (int k = 0; k < REGULAR_SEEN; k++) {
        const int number = regular_seen_by(TREE_LANE_OF(l), p->bits, k);
        const struct regular_target *target = &t->target[w->first + (number < w->count ? number : w->count - 1)];
        const struct gpunb_dev_asked *asked = &t->asked[target->asked];
        struct gpunb_dev_viewer *viewer = &p->own[l].viewer[k];
        viewer->at = t->sorted[target->place];
        viewer->h = gpunb_dev_radius(asked->r_nb2);
        viewer->dt = gpunb_dev_step(asked->dt_reg);
        viewer->place = target->place;
        viewer->is_wanted = number < w->count;
        for (int c = 0; c < 3; c++) p->own[l].x[k][c] = (float)(target->x[c] - w->bounds->centre[c]);
        gpunb_dev_clear(&p->memory->sum[TREE_LANE_OF(l)][k]);
    }
}

/* ---- bodies */

/* A pair that floats cannot tell from one of neighbours.   @return whether it is one */
TREE_FN int regular_settle(const struct regular_pairs *p, int lane, int k, const struct gpunb_dev_viewer *viewer,
                           const struct gpunb_dev_source *source)
{
    const struct device_regular_tree *t = p->walk.t;
    const struct gpunb_dev_asked *asked = &t->asked[t->target[p->walk.first + regular_seen_by(lane, p->bits, k)].asked];
    return gpunb_dev_settle(&viewer->at, source, asked->r_nb2, asked->dt_reg, t->weighted, &p->memory->sum[lane][k]);
}

/* A neighbour goes to the row of its target. */
TREE_FN void regular_note(const struct regular_pairs *p, int lane, int k, int32_t place)
{
    const struct device_regular_tree *t = p->walk.t;
    const int number = regular_seen_by(lane, p->bits, k);
    const int32_t at = regular_add(&p->memory->found[number], 1);
    const int64_t row = t->asked[t->target[p->walk.first + number].asked].row;
    if (at < t->row_room) t->lists[row * t->row_room + at] = t->tree.number[place];
}

/* A pair that may be one of neighbours. Where floats cannot tell it is decided in double. */
TREE_FN void regular_add_near(const struct regular_pairs *p, int lane, int k, const struct gpunb_dev_viewer *viewer,
                              const struct gpunb_dev_source *source, float part[6])
{
    const int32_t place = (int32_t)nbc_bits_of_float(source->spare);
    const float limit2 = gpunb_dev_limit2(viewer, source->size);
    int relation = gpunb_dev_add_source(viewer, source, limit2, part);
    if (relation == GPUNB_DEV_OTHER || place == viewer->place || !viewer->is_wanted) return;
    if (relation == GPUNB_DEV_AT_EDGE || !(limit2 > GPUNB_DEV_TINY_R2))
        relation = regular_settle(p, lane, k, viewer, source);
    if (relation) regular_note(p, lane, k, place);
}

TREE_FN void regular_add_far(const struct regular_viewers *own, int k, const struct regular_body *body, float part[6])
{
    float dx[3], dv[3];
    for (int c = 0; c < 3; c++) {
        dx[c] = body->x[c] - own->x[k][c];
        dv[c] = body->v[c] - own->viewer[k].at.v[c];
    }
    gpunb_dev_add_pair(dx, dv, body->mass, nbc_inverse_root(dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2]), part);
}

/* The bodies of a pile on the targets of the lanes. */
TREE_FN void regular_sum_pile(struct regular_pairs *p, const int is_near)
{
    struct regular_pair_memory *m = p->memory;
    const int n = is_near ? p->n_near : p->n_far, shares = TREE_TEAM >> p->bits;
    tree_sync();
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int lane = TREE_LANE_OF(l);
        float part[REGULAR_SEEN][6] = {{0}};
        TREE_UNROLL_BY(2)
        for (int b = lane >> p->bits; b < n; b += shares) {
            if (is_near) {
                const struct gpunb_dev_source source = m->near[b];
                TREE_UNROLL
                for (int k = 0; k < REGULAR_SEEN; k++)
                    regular_add_near(p, lane, k, &p->own[l].viewer[k], &source, part[k]);
            } else {
                const struct regular_body body = m->far[b];
                TREE_UNROLL
                for (int k = 0; k < REGULAR_SEEN; k++) regular_add_far(&p->own[l], k, &body, part[k]);
            }
        }
        TREE_UNROLL
        for (int k = 0; k < REGULAR_SEEN; k++)
            for (int c = 0; c < 3; c++) {
                m->sum[lane][k].acc[c] += (double)part[k][c];
                m->sum[lane][k].jerk[c] += (double)part[k][3 + c];
            }
    }
    tree_sync();
    *(is_near ? &p->n_near : &p->n_far) = 0;
}

/* The lane of whose bodies the one with this number is. */
TREE_FN int regular_lane_with(const int32_t before[TREE_TEAM], int32_t number)
{
    int lane = 0;
    TREE_UNROLL
    for (int half = TREE_TEAM / 2; half > 0; half /= 2)
        if (before[lane + half] <= number) lane += half;
    return lane;
}

TREE_FN void regular_load_body(const struct regular_pairs *p, int32_t place, int at, const int is_near)
{
    const struct gpunb_dev_source source = p->walk.t->sorted[place];
    if (is_near) {
        p->memory->near[at] = source;
        p->memory->near[at].spare = nbc_float_of_bits((uint32_t)place);
        return;
    }
    struct regular_body *body = &p->memory->far[at];
    for (int c = 0; c < 3; c++) {
        body->x[c] = (float)(((double)source.high[c] - p->walk.bounds->centre[c]) + (double)source.low[c]);
        body->v[c] = source.v[c];
    }
    body->mass = source.mass;
}

/* The bodies of the cells of one kind that lanes have found wait; full piles are summed, and at the end all.
 * @return how many there are */
TREE_FN int32_t regular_pile_bodies(struct regular_pairs *p, const struct regular_slot slot[TREE_OWN], int is_end,
                                    const int is_near)
{
    struct regular_pair_memory *m = p->memory;
    const int32_t most = is_near ? REGULAR_NEAR_PILE : REGULAR_FAR_PILE;
    int *piled = is_near ? &p->n_near : &p->n_far;
    int32_t before[TREE_OWN];
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int is_there = slot[l].kind == (is_near ? REGULAR_NEAR : REGULAR_FAR);
        const struct tree_node *node = &p->walk.t->tree.view.node[is_there ? slot[l].cell : 0];
        before[l] = is_there ? node->count : 0;
        m->first[TREE_LANE_OF(l)] = node->first;
    }
    const int32_t all = tree_lanes_before(before);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) m->before[TREE_LANE_OF(l)] = before[l];
    tree_sync();
    int32_t done = 0;
    do {
        const int32_t room = most - *piled, take = all - done < room ? all - done : room;
        TREE_EACH_ROLLED(q, take)
        {
            const int from = regular_lane_with(m->before, done + q);
            regular_load_body(p, m->first[from] + done + q - m->before[from], *piled + q, is_near);
        }
        *piled += take;
        done += take;
        if (*piled == most || is_end) regular_sum_pile(p, is_near);
    } while (done < all);
    tree_sync();
    return all;
}

/* ---- lists */

TREE_FN void regular_exchange(int32_t *list, int low, int high, int n)
{
    if (high >= n) return;
    const int32_t a = list[low], b = list[high];
    if (a <= b) return;
    list[low] = b;
    list[high] = a;
}

/* A list becomes ascending: the bitonic network in which all comparators move the smaller number forward, so that
 * missing numbers stay at the end (Batcher 1968). */
TREE_FN void regular_sort(int32_t *list, int n)
{
    for (int size = 1; size < n; size *= 2)
        for (int step = size; step > 0; step /= 2) {
            const int pairs = (n + 2 * step - 1) / (2 * step) * step;
            tree_sync();
            TREE_EACH(k, pairs)
            {
                const int low = 2 * k - (k & (step - 1));
                regular_exchange(list, low, step == size ? low ^ (2 * size - 1) : low + step, n);
            }
        }
    tree_sync();
}

/* A row that is too short stays as neighbours were found: its contents have no meaning. */
TREE_FN void regular_end_list(struct regular_pair_memory *m, int32_t *row, int64_t room, int32_t n)
{
    if (n > room || n < 2) return;
    if (n > REGULAR_LIST) {
        regular_sort(row, n);
        return;
    }
    tree_sync();
    TREE_EACH(k, n) m->list[k] = row[k];
    regular_sort(m->list, n);
    TREE_EACH(k, n) row[k] = m->list[k];
    tree_sync();
}

/* Sums and lists of the targets. */
TREE_FN void regular_end_group(const struct regular_pairs *p)
{
    const struct regular_walk *w = &p->walk;
    const struct device_regular_tree *t = w->t;
    struct regular_pair_memory *m = p->memory;
    tree_sync();
    TREE_EACH_ROLLED(i, w->count)
    {
        struct gpunb_dev_asked *asked = &t->asked[t->target[w->first + i].asked];
        const int first = i & ((1 << p->bits) - 1);
        for (int lane = first; lane < TREE_TEAM; lane += 1 << p->bits)
            gpunb_dev_add(&asked->sum, &m->sum[lane][i >> p->bits]);
        asked->count = m->found[i];
    }
    tree_sync();
    for (int i = 0; i < w->count; i++) {
        const struct gpunb_dev_asked *asked = &t->asked[t->target[w->first + i].asked];
        regular_end_list(m, t->lists + asked->row * t->row_room, t->row_room, m->found[i]);
    }
}

/** The pairs of a group and its lists, by a team: the walk of regular_make_cells again. */
TREE_FN void regular_make_pairs(const struct device_regular_tree *t, struct regular_pair_memory *m,
                                const struct regular_group *group)
{
    struct regular_pairs p;
    struct regular_slot slot[TREE_OWN];
    struct regular_walk *w = &p.walk;
    int has_room;
    int32_t bodies = 0;
    if (group->is_cut) return;
    regular_begin_group(w, t, &m->bounds, m->stack, group);
    w->bounds->scale = group->scale;
    p.memory = m;
    p.bits = regular_bits_for(group->count);
    p.n_far = p.n_near = 0;
    tree_sync();
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) regular_view(&p, l);
    TREE_EACH(i, REGULAR_GROUP) m->found[i] = 0;
    for (int n = 1; n > 0;) {
        n = regular_pop(w, slot, &has_room);
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++)
            if (TREE_LANE_OF(l) < n) slot[l].kind = regular_kind_for_group(w, slot[l].cell, has_room);
        regular_push(w, slot);
        bodies += regular_pile_bodies(&p, slot, n == 0, 0);
        bodies += regular_pile_bodies(&p, slot, n == 0, 1);
    }
    regular_end_group(&p);
    regular_count(w, DEVICE_TREE_GROUPS, 1);
    regular_count(w, DEVICE_TREE_TARGETS, (unsigned)w->count);
    regular_count(w, DEVICE_TREE_LISTED_BODIES, (unsigned)bodies);
    if (TREE_OWN_LANE == 0)
        TREE_ADD_TO(&w->t->counts[DEVICE_TREE_PAIR_TERMS], (unsigned long long)bodies * (unsigned)w->count);
}

#endif
