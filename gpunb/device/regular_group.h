/** Groups of targets of a regular force by tree: what cells do to them, then the pairs and the lists that are left, by
 *  a team of lanes. */
#ifndef GPUNB_DEVICE_REGULAR_GROUP_H
#define GPUNB_DEVICE_REGULAR_GROUP_H

#include "gpunb/device/regular_region.h"

enum { REGULAR_LIST = 512 /* neighbours that are sorted in memory of the team */ };

/* A group as a walk.   @return the region around it; NULL: none */
TREE_FN const struct regular_region *regular_begin_group(struct regular_walk *w, const struct device_regular_tree *t,
                                                         int32_t *stack, const struct regular_group *group)
{
    regular_begin(w, t, stack, group->first, group->count);
    w->is_group = 1;
    regular_bound(w, group->around);
    return regular_region_around(t, group->around, &w->list, &w->n);
}

/* Bodies of the cells that lanes have. */
TREE_FN int32_t regular_count_bodies(const struct regular_walk *w, const struct regular_slot slot[TREE_OWN])
{
    int32_t bodies[TREE_OWN];
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++)
        bodies[l] =
            slot[l].kind == REGULAR_FAR || slot[l].kind == REGULAR_NEAR ? w->t->tree.view.node[slot[l].cell].count : 0;
    return tree_lanes_before(bodies);
}

/* ---- fields */

/* Pieces of a group whose list is long, for the next stage.   @return 0: there is no room for them */
TREE_FN int regular_cut(const struct device_regular_tree *t, struct regular_group *group)
{
    const int32_t parts = group->count < REGULAR_PIECES ? group->count : REGULAR_PIECES;
    int32_t fits = 0;
    if (TREE_OWN_LANE == 0) {
        const int32_t at = regular_add(&t->counters->groups, parts);
        fits = at + parts <= t->group_room;
        if (!fits) regular_add(&t->counters->groups, -parts);
        for (int32_t p = 0; p < parts && fits; p++) {
            struct regular_group *piece = &t->group[at + p];
            const int32_t before = group->count * p / parts;
            piece->first = group->first + before;
            piece->count = group->count * (p + 1) / parts - before;
            piece->around = group->around;
            piece->is_cut = 0;
        }
    }
    if (fits && TREE_OWN_LANE == 0) group->is_cut = 1;
    return (int)tree_lanes_max((double)fits);
}

/* The expansion at the targets of a group. */
TREE_FN void regular_add_field(const struct regular_walk *w, struct regular_memory *m)
{
    const double unit = w->bounds.unit, to_acc = w->mass / (unit * unit), to_jerk = to_acc * w->speed / unit;
    tree_sync();
    TREE_EACH(a, TREE_MOST_LOCALS)
    {
        m->field[0][a] = (float)m->local[a];
        m->field[1][a] = (float)m->rate[a];
    }
    tree_sync();
    TREE_EACH_ROLLED(i, w->count)
    {
        const struct regular_target *target = &w->t->target[w->first + i];
        struct gpunb_dev_sum *sum = &w->t->asked[target->asked].sum;
        float h[TREE_MOST_LOCALS], u[3], v[3], acc[3], jerk[3], psi;
        TREE_UNROLL
        for (int a = 0; a < TREE_MOST_LOCALS; a++) h[a] = m->field[1][a];
        for (int k = 0; k < 3; k++) {
            u[k] = (float)((target->x[k] - w->bounds.centre[k]) / unit);
            v[k] = (float)((target->v[k] - w->bounds.v[k]) / w->speed);
        }
        moving_sums(m->field[0], h, u, v, TREE_MOST_LOCAL, acc, jerk, &psi);
        for (int k = 0; k < 3; k++) {
            sum->acc[k] = (double)acc[k] * to_acc;
            sum->jerk[k] = (double)jerk[k] * to_jerk;
        }
    }
    tree_sync();
}

/** The cells that act on a group, by a team.   @param[in] can_cut  0: however long its list is */
TREE_FN void regular_make_field(const struct device_regular_tree *t, struct regular_memory *m,
                                struct regular_group *group, int can_cut)
{
    struct regular_walk w;
    struct regular_slot slot[TREE_OWN];
    const struct regular_region *around = regular_begin_group(&w, t, m->stack, group);
    int waiting = 0, has_room;
    unsigned summed = 0;
    int32_t bodies = 0, n_kept = 0;
    can_cut = can_cut && group->count > 1;
    regular_find_scale(&w, around);
    regular_begin_field(&w, m, around);
    for (int n = regular_pop(&w, slot, &has_room); n > 0; n = regular_pop(&w, slot, &has_room)) {
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++)
            if (TREE_LANE_OF(l) < n) slot[l].kind = regular_kind_of(&w, slot[l].cell, has_room);
        regular_push(&w, slot);
        bodies += regular_count_bodies(&w, slot);
        if (can_cut && bodies > REGULAR_LONG && regular_cut(t, group)) return;
        can_cut = can_cut && bodies <= REGULAR_LONG; /* once without room is for good */
        regular_take_cells(m, slot, &waiting, 0, &n_kept);
        if (waiting >= REGULAR_PILE) regular_sum_waiting(&w, m, &waiting, &summed);
    }
    regular_sum_waiting(&w, m, &waiting, &summed);
    regular_add_field(&w, m);
    regular_count(&w, DEVICE_TREE_TESTS, w.tests);
    regular_count(&w, DEVICE_TREE_LOCAL_TERMS, summed);
    if (TREE_OWN_LANE > 0) return;
    group->is_cut = 0;
    group->scale = w.bounds.scale;
    group->spread2 = w.bounds.spread2;
}

/* ---- pairs */

/** Memory of a team that sums pairs. */
struct regular_pair_memory {
    struct gpunb_dev_source body[TREE_TEAM];      /* bodies that are summed together, */
    int32_t place[TREE_TEAM], is_near[TREE_TEAM]; /* theirs; whether they may be neighbours */
    int32_t stack[REGULAR_STACK];
    int32_t first[TREE_TEAM], before[TREE_TEAM], near[TREE_TEAM]; /* of the cells that lanes have found */
    struct gpunb_dev_sum sum[TREE_TEAM];                          /* of each lane */
    int32_t found[TREE_TEAM];                                     /* neighbours of each target, */
    int32_t list[REGULAR_LIST];                                   /* and those of one */
};

/* The target of a lane. Lanes share the bodies of each. */
struct regular_viewer {
    struct gpunb_dev_viewer viewer;
    int32_t *row;
    int target, share; /* of the group; of the bodies */
};

TREE_FN void regular_view(const struct regular_walk *w, int lane, int bits, struct regular_viewer *to)
{
    const struct device_regular_tree *t = w->t;
    const int target = lane & ((1 << bits) - 1), known = target < w->count ? target : w->count - 1;
    const struct regular_target *own = &t->target[w->first + known];
    const struct gpunb_dev_asked *asked = &t->asked[own->asked];
    to->target = target;
    to->share = lane >> bits;
    to->row = t->lists + asked->row * t->row_room;
    to->viewer.at = t->sorted[own->place];
    to->viewer.r_nb2 = asked->r_nb2;
    to->viewer.dt_reg = asked->dt_reg;
    to->viewer.h = gpunb_dev_radius(asked->r_nb2);
    to->viewer.dt = gpunb_dev_step(asked->dt_reg);
    to->viewer.place = own->place;
    to->viewer.is_wanted = target < w->count;
}

/* A pair that may be one of neighbours. Where floats cannot tell it is decided in double. */
TREE_FN void regular_add_near(const struct regular_walk *w, struct regular_pair_memory *m,
                              const struct regular_viewer *own, int b, float part[6], struct gpunb_dev_sum *sum)
{
    const struct gpunb_dev_source source = m->body[b];
    const int32_t place = m->place[b];
    const float limit2 = gpunb_dev_limit2(&own->viewer, source.size);
    int relation = gpunb_dev_add_source(&own->viewer, &source, limit2, part);
    if (relation == GPUNB_DEV_OTHER || place == own->viewer.place || !own->viewer.is_wanted) return;
    if (relation == GPUNB_DEV_AT_EDGE || !(limit2 > GPUNB_DEV_TINY_R2))
        relation =
            gpunb_dev_settle(&own->viewer.at, &source, own->viewer.r_nb2, own->viewer.dt_reg, w->t->weighted, sum);
    if (!relation) return;
    const int32_t at = regular_add(&m->found[own->target], 1);
    if (at < w->t->row_room) own->row[at] = w->t->tree.number[place];
}

TREE_FN void regular_add_far(const struct regular_pair_memory *m, const struct regular_viewer *own, int b,
                             float part[6])
{
    const struct gpunb_dev_source source = m->body[b];
    float dx[3], dv[3];
    const float r2 = gpunb_dev_differences(&own->viewer.at, &source, dx, dv);
    gpunb_dev_add_pair(dx, dv, source.mass, nbc_inverse_root(r2), part);
}

/* The n bodies of the pile, on the target of a lane. */
TREE_FN void regular_add_bodies(const struct regular_walk *w, struct regular_pair_memory *m,
                                const struct regular_viewer *own, int lane, int n, int shares)
{
    struct gpunb_dev_sum sum;
    float part[6] = {0, 0, 0, 0, 0, 0};
    gpunb_dev_clear(&sum);
    for (int b = own->share; b < n; b += shares) {
        if (m->is_near[b])
            regular_add_near(w, m, own, b, part, &sum);
        else
            regular_add_far(m, own, b, part);
    }
    for (int c = 0; c < 3; c++) {
        m->sum[lane].acc[c] += sum.acc[c] + (double)part[c];
        m->sum[lane].jerk[c] += sum.jerk[c] + (double)part[3 + c];
    }
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

/* The bodies of the cells that lanes have found, pile by pile.   @return how many there are */
TREE_FN int32_t regular_sum_bodies(const struct regular_walk *w, struct regular_pair_memory *m,
                                   const struct regular_slot slot[TREE_OWN], const struct regular_viewer own[TREE_OWN],
                                   int bits)
{
    int32_t before[TREE_OWN];
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int is_summed = slot[l].kind == REGULAR_FAR || slot[l].kind == REGULAR_NEAR;
        const struct tree_node *node = &w->t->tree.view.node[is_summed ? slot[l].cell : 0];
        before[l] = is_summed ? node->count : 0;
        m->first[TREE_LANE_OF(l)] = node->first;
        m->near[TREE_LANE_OF(l)] = slot[l].kind == REGULAR_NEAR;
    }
    const int32_t all = tree_lanes_before(before);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) m->before[TREE_LANE_OF(l)] = before[l];
    for (int32_t done = 0; done < all; done += TREE_TEAM) {
        const int n = all - done < TREE_TEAM ? (int)(all - done) : TREE_TEAM;
        tree_sync();
        TREE_EACH(q, n)
        {
            const int from = regular_lane_with(m->before, done + q);
            m->place[q] = m->first[from] + done + q - m->before[from];
            m->is_near[q] = m->near[from];
            m->body[q] = w->t->sorted[m->place[q]];
        }
        tree_sync();
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++) regular_add_bodies(w, m, &own[l], TREE_LANE_OF(l), n, TREE_TEAM >> bits);
    }
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
TREE_FN void regular_end_group(const struct regular_walk *w, struct regular_pair_memory *m, int bits)
{
    const struct device_regular_tree *t = w->t;
    tree_sync();
    TREE_EACH_ROLLED(i, w->count)
    {
        struct gpunb_dev_asked *asked = &t->asked[t->target[w->first + i].asked];
        for (int lane = i; lane < TREE_TEAM; lane += 1 << bits) gpunb_dev_add(&asked->sum, &m->sum[lane]);
        asked->count = m->found[i];
    }
    tree_sync();
    for (int i = 0; i < w->count; i++) {
        const struct gpunb_dev_asked *asked = &t->asked[t->target[w->first + i].asked];
        regular_end_list(m, t->lists + asked->row * t->row_room, t->row_room, m->found[i]);
    }
}

/** The pairs of a group and its lists, by a team: the walk of regular_make_field again. */
TREE_FN void regular_make_pairs(const struct device_regular_tree *t, struct regular_pair_memory *m,
                                const struct regular_group *group)
{
    struct regular_walk w;
    struct regular_slot slot[TREE_OWN];
    struct regular_viewer own[TREE_OWN];
    int bits = 0, has_room;
    int32_t bodies = 0;
    if (group->is_cut) return;
    regular_begin_group(&w, t, m->stack, group);
    w.bounds.scale = group->scale;
    w.bounds.spread2 = group->spread2;
    while (1 << bits < w.count) bits++;
    tree_sync();
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int lane = TREE_LANE_OF(l);
        regular_view(&w, lane, bits, &own[l]);
        gpunb_dev_clear(&m->sum[lane]);
        m->found[lane] = 0;
    }
    for (int n = regular_pop(&w, slot, &has_room); n > 0; n = regular_pop(&w, slot, &has_room)) {
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++)
            if (TREE_LANE_OF(l) < n) slot[l].kind = regular_kind_of(&w, slot[l].cell, has_room);
        regular_push(&w, slot);
        bodies += regular_sum_bodies(&w, m, slot, own, bits);
    }
    regular_end_group(&w, m, bits);
    regular_count(&w, DEVICE_TREE_GROUPS, 1);
    regular_count(&w, DEVICE_TREE_TARGETS, (unsigned)w.count);
    regular_count(&w, DEVICE_TREE_LISTED_BODIES, (unsigned)bodies);
    if (TREE_OWN_LANE == 0)
        TREE_ADD_TO(&t->counts[DEVICE_TREE_PAIR_TERMS], (unsigned long long)bodies * (unsigned)w.count);
}

#endif
