/** Cells that act on the targets of a group (regular_terms.h), by a team of lanes: lanes test cells side by side; those
 *  that act are piled up in memory of the team, and all targets meet a full pile. */
#ifndef GPUNB_DEVICE_REGULAR_CELLS_H
#define GPUNB_DEVICE_REGULAR_CELLS_H

#include "gpunb/device/regular_terms.h"
#include "gpunb/device/regular_walk.h"

enum { REGULAR_TERMS = 16 /* cells that a group meets together */ };

/** Memory of a team. */
struct regular_cells_memory {
    struct regular_term_head head[REGULAR_TERMS];
    struct regular_four row[REGULAR_TERMS][REGULAR_ROW_ROOM / 4];
    double sum[TREE_TEAM][REGULAR_SEEN][6];
    struct regular_bounds bounds;
    int32_t stack[REGULAR_STACK], waiting[2 * REGULAR_TERMS + TREE_TEAM];
};

/** The targets of each own lane: lanes share the cells of each. */
struct regular_seen {
    float x[TREE_OWN][REGULAR_SEEN][3], v[TREE_OWN][REGULAR_SEEN][3];
    int bits;
};

/* A group as a walk.   @return the region around it; NULL: none */
TREE_FN const struct regular_region *regular_begin_group(struct regular_walk *w, const struct device_regular_tree *t,
                                                         struct regular_bounds *bounds, int32_t *stack,
                                                         const struct regular_group *group)
{
    regular_begin(w, t, bounds, stack, group->first, group->count);
    regular_bound(w, group->around);
    return regular_region_around(t, group->around, &w->list, &w->n);
}

/* The targets of a group are dealt out to 2^bits lanes, REGULAR_SEEN to each. */
TREE_FN int regular_bits_for(int32_t count)
{
    int bits = 0;
    while (REGULAR_SEEN << bits < count) bits++;
    return bits;
}

/* The number in its group of the k-th target of a lane; there may be fewer. */
TREE_FN int regular_seen_by(int lane, int bits, int k)
{
    return (lane & ((1 << bits) - 1)) + (k << bits);
}

TREE_FN void regular_see_targets(const struct regular_walk *w, struct regular_cells_memory *m, struct regular_seen *to)
{
    to->bits = regular_bits_for(w->count);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        TREE_UNROLL
        for (int k = 0; k < REGULAR_SEEN; k++) {
            const int lane = TREE_LANE_OF(l), i = regular_seen_by(lane, to->bits, k);
            const struct regular_target *target = &w->t->target[w->first + (i < w->count ? i : w->count - 1)];
            for (int c = 0; c < 3; c++) {
                to->x[l][k][c] = (float)((target->x[c] - w->bounds->centre[c]) / w->length);
                to->v[l][k][c] = (float)((target->v[c] - w->bounds->v[c]) / w->speed);
            }
            for (int q = 0; q < 6; q++) m->sum[lane][k][q] = 0;
        }
    }
}

/* The first n cells that wait, in memory of all lanes. */
TREE_FN void regular_stage_terms(const struct regular_walk *w, struct regular_cells_memory *m, int n)
{
    enum { FOURS = REGULAR_ROW_ROOM / 4 };
    const struct device_regular_tree *t = w->t;
    tree_sync();
    TREE_EACH_ROLLED(i, n)
    {
        const int32_t c = m->waiting[i];
        const struct tree_node *node = &t->tree.view.node[c];
        struct regular_term_head *head = &m->head[i];
        for (int k = 0; k < 3; k++) {
            head->x[k] = (float)((node->centre[k] - w->bounds->centre[k]) / w->length);
            head->v[k] = (float)((t->motion[c].v[k] - w->bounds->v[k]) / w->speed);
        }
        head->mass = node->mass;
        head->radius = (float)(node->radius / w->length);
    }
    TREE_EACH(q, n * FOURS)
    m->row[q / FOURS][q % FOURS] =
        ((const struct regular_four *)t->term)[(size_t)m->waiting[q / FOURS] * FOURS + (size_t)(q % FOURS)];
    tree_sync();
}

/* All targets meet the first n cells that wait. */
TREE_FN void regular_sum_terms(const struct regular_walk *w, struct regular_cells_memory *m,
                               const struct regular_seen *seen, int n)
{
    regular_stage_terms(w, m, n);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int lane = TREE_LANE_OF(l);
        float sum[REGULAR_SEEN][6] = {{0}};
        TREE_UNROLL_BY(1)
        for (int i = lane >> seen->bits; i < n; i += TREE_TEAM >> seen->bits)
            regular_add_term(&m->head[i], m->row[i], seen->x[l], seen->v[l], sum);
        TREE_UNROLL
        for (int k = 0; k < REGULAR_SEEN; k++)
            for (int q = 0; q < 6; q++) m->sum[lane][k][q] += (double)sum[k][q];
    }
    tree_sync();
}

/* Cells that lanes have found wait, and those for which there is no room act; at the end all do.
 * @param[in,out] waiting  how many wait   @return how many act on the group */
TREE_FN int32_t regular_pile_terms(const struct regular_walk *w, struct regular_cells_memory *m,
                                   const struct regular_slot slot[TREE_OWN], const struct regular_seen *seen,
                                   int is_end, int *waiting)
{
    int32_t before[TREE_OWN];
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) before[l] = slot[l].kind == REGULAR_ACTS;
    const int32_t all = tree_lanes_before(before);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++)
        if (slot[l].kind == REGULAR_ACTS) m->waiting[*waiting + before[l]] = slot[l].cell;
    *waiting += all;
    while (*waiting >= REGULAR_TERMS || (is_end && *waiting > 0)) {
        const int n = *waiting < REGULAR_TERMS ? *waiting : REGULAR_TERMS;
        regular_sum_terms(w, m, seen, n);
        *waiting -= n;
        for (int first = 0; first < *waiting; first += REGULAR_TERMS) { /* those that move do not overlap */
            TREE_EACH(i, REGULAR_TERMS) m->waiting[first + i] = m->waiting[first + REGULAR_TERMS + i];
            tree_sync();
        }
    }
    return all;
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

/* The sums of all lanes onto the results. */
TREE_FN void regular_end_cells(const struct regular_walk *w, const struct regular_cells_memory *m, int bits)
{
    const double to_acc = w->mass / (w->length * w->length), to_jerk = to_acc * w->speed / w->length;
    tree_sync();
    TREE_EACH_ROLLED(i, w->count)
    {
        struct gpunb_dev_sum *sum = &w->t->asked[w->t->target[w->first + i].asked].sum;
        for (int lane = i & ((1 << bits) - 1); lane < TREE_TEAM; lane += 1 << bits)
            for (int k = 0; k < 3; k++) {
                sum->acc[k] += m->sum[lane][i >> bits][k] * to_acc;
                sum->jerk[k] += m->sum[lane][i >> bits][3 + k] * to_jerk;
            }
    }
    tree_sync();
}

/** The cells that act on a group, by a team.   @param[in] can_cut  0: however long its list is */
TREE_FN void regular_make_cells(const struct device_regular_tree *t, struct regular_cells_memory *m,
                                struct regular_group *group, int can_cut)
{
    struct regular_walk w;
    struct regular_slot slot[TREE_OWN];
    struct regular_seen seen;
    const struct regular_region *around = regular_begin_group(&w, t, &m->bounds, m->stack, group);
    int waiting = 0, has_room;
    int32_t bodies = 0, acting = 0;
    can_cut = can_cut && group->count > 1;
    regular_find_scale(&w, around);
    regular_see_targets(&w, m, &seen);
    for (int n = 1; n > 0;) {
        n = regular_pop(&w, slot, &has_room);
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++)
            if (TREE_LANE_OF(l) < n) slot[l].kind = regular_kind_for_group(&w, slot[l].cell, has_room);
        regular_push(&w, slot);
        if (can_cut) bodies += regular_count_bodies(&w, slot);
        if (can_cut && bodies > REGULAR_LONG && regular_cut(t, group)) return;
        can_cut = can_cut && bodies <= REGULAR_LONG; /* once without room is for good */
        acting += regular_pile_terms(&w, m, slot, &seen, n == 0, &waiting);
    }
    regular_end_cells(&w, m, seen.bits);
    regular_count(&w, DEVICE_TREE_TESTS, w.tests);
    regular_count(&w, DEVICE_TREE_LISTED_CELLS, (unsigned)acting);
    regular_count(&w, DEVICE_TREE_CELL_TERMS, (unsigned)acting * (unsigned)w.count);
    if (TREE_OWN_LANE > 0) return;
    group->is_cut = 0;
    group->scale = w.bounds->scale;
}

#endif
