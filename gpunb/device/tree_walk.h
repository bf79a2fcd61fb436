/** The walk of a team for up to DEVICE_TREE_MOST_TARGETS targets. Lanes test cells side by side; terms and bodies that
 * are found are piled up in shared memory, and all targets meet a full pile. Nothing is kept of a list.
 *
 *  Hamada et al. 2009, Comput. Sci. Res. Dev. 24, 21: many walks in one launch. */
#ifndef GPUNB_DEVICE_TREE_WALK_H
#define GPUNB_DEVICE_TREE_WALK_H

#include "gpunb/device/tree_region.h"

/* ---- the walk */

/* Without the term of the target itself only those cells act as a whole that it is not in. */
TREE_FN int tree_kind_of(const struct tree_group_walk *w, const struct tree_node *cell, const int order, int has_room)
{
    if (!(cell->mass > 0)) return TREE_NOTHING;
    if (cell->n_child == TREE_PARTS_ELSEWHERE) return TREE_TERM;
    struct tree_rule rule = w->job->rule;
    rule.order = order;
    const int has_own = tree_has_own(w, cell->first, cell->count);
    const float r2 = tree_distance2(w, cell->centre);
    const int is_exact = r2 + w->softening2 >= w->coarse2 && !has_own,
              accepted = w->job->has_terms && is_exact &&
                         tree_accepts(&rule, cell->mass, cell->radius, &cell->rest, cell->count, r2, w->scale);
    if (accepted && cell->count > tree_worth_a_term(order)) return TREE_TERM;
    if (!accepted && cell->n_child > 0 && has_room) return TREE_OPEN;
    const float nearest = nbc_quick_root(r2) - cell->radius;
    return !has_own && (nearest > 0 ? nearest * nearest : 0) + w->softening2 >= w->coarse2 ? TREE_FAR : TREE_NEAR;
}

/* Of the list so far, in bodies. */
TREE_FN unsigned tree_cost(const struct tree_group_walk *w, const int order)
{
    return w->listed_cells * (unsigned)tree_worth_a_term(order) + w->listed_bodies;
}

/* @return 1; 0: it has given up, since its list is longer than the limit */
TREE_FN int tree_visit_cells(struct tree_group_walk *w, const struct tree_targets *t, const int order, const int stride,
                             const int want_pot)
{
    const struct tree_node *nodes = w->job->tree.view.node;
    struct tree_slot slot[TREE_OWN];
    struct tree_found found;
    int depth = tree_first_cells(w);
    w->n_far = w->n_near = w->n_terms = 0;
    for (int n = 1; n > 0;) {
        const int most = tree_most_at_a_time(depth);
        n = tree_pop(w, most > 0 || depth == 0 ? most : 1, &depth, slot);
        w->tests += (unsigned)n;
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++) {
            if (TREE_LANE_OF(l) >= n) continue;
            const struct tree_node cell = nodes[slot[l].cell];
            slot[l].kind = tree_kind_of(w, &cell, order, most > 0);
            slot[l].first = cell.first;
            slot[l].count = cell.count;
            slot[l].child = cell.child;
            slot[l].n_child = cell.n_child;
        }
        tree_count_found(slot, &found);
        tree_push_parts(w, slot, &found, &depth);
        const int is_end = n == 0;
        tree_pile_bodies(w, t, slot, &found, is_end, 0, want_pot);
        tree_pile_bodies(w, t, slot, &found, is_end, 1, want_pot);
        tree_pile_terms(w, t, slot, &found, is_end, order, stride, want_pot);
        if (tree_cost(w, order) > w->limit) return 0;
    }
    if (w->region && !w->job->sample) tree_add_field(w, t, want_pot);
    return 1;
}

/* ---- results */

/* A mass onto the sums of a target.   @return m/r */
TREE_FN double tree_add_exactly(const struct device_tree_walk *job, int32_t target, const double x[3], double mass,
                                double sum[TREE_WALK_SUMS])
{
    double d[3], r2 = job->softening * job->softening;
    for (int k = 0; k < 3; k++) {
        d[k] = x[k] - tree_target_x(job, target, k);
        r2 += d[k] * d[k];
    }
    const double mr = mass / sqrt(r2);
    for (int k = 0; k < 3; k++) sum[k] += mr / r2 * d[k];
    return mr;
}

/* A sum that no float holds, once more in double, over all bodies; where cells have their bodies elsewhere, over their
 * masses. */
TREE_FN void tree_sum_exactly(const struct device_tree_walk *job, int32_t target, double sum[TREE_WALK_SUMS])
{
    const struct tree_view *view = &job->tree.view;
    const int32_t own = job->self && job->self[target] >= 0 ? job->tree.place[job->self[target]] : -1;
    for (int q = 0; q < TREE_WALK_SUMS; q++) sum[q] = 0;
    for (int32_t j = 0; j < job->tree.n; j++) {
        const double mr = tree_add_exactly(job, target, view->x[j], view->mass[j], sum);
        if (j != own) sum[3] += mr;
    }
    for (int32_t c = job->tree.others; c < job->tree.end_of_others; c++)
        if (view->cell[c].n_child == TREE_PARTS_ELSEWHERE)
            sum[3] += tree_add_exactly(job, target, view->cell[c].centre, view->cell[c].mass, sum);
}

/* The sums of a target are its result. */
TREE_FN void tree_give_sums(const struct device_tree_walk *job, int32_t target, double sum[TREE_WALK_SUMS])
{
    double check = 0;
    for (int q = 0; q < TREE_WALK_SUMS; q++) check += 0 * sum[q];
    if (check != 0) tree_sum_exactly(job, target, sum);
    for (int k = 0; k < 3; k++) job->acc[target][k] = sum[k];
    if (job->pot) job->pot[target] = -sum[3];
}

TREE_FN void tree_end_walk(const struct tree_group_walk *w, int32_t first, const int order)
{
    const struct device_tree_walk *job = w->job;
    tree_sync();
    TREE_EACH_ROLLED(i, w->n)
    {
        double sum[TREE_WALK_SUMS] = {0, 0, 0, 0};
        if (job->cost) job->cost[tree_target_at(job, first + i)] = tree_cost(w, order);
        for (int lane = i; lane < TREE_TEAM; lane += w->row) /* those that have shared its list */
            for (int q = 0; q < TREE_WALK_SUMS; q++) sum[q] += w->memory->sum[lane][q];
        if (job->shares == 1) {
            tree_give_sums(job, tree_target_at(job, first + i), sum);
            continue;
        }
        const int at = w->share * job->group + (int)(first - (int32_t)job->first_group * job->group) + i;
        for (int q = 0; q < TREE_WALK_SUMS; q++) job->partial[(size_t)at * TREE_WALK_SUMS + (size_t)q] = sum[q];
    }
    tree_sync();
}

/* The sums of all shares of a list on one target, the i-th of the group. */
TREE_FN void tree_add_shares(const struct device_tree_walk *job, int i)
{
    double sum[TREE_WALK_SUMS] = {0, 0, 0, 0};
    if (!tree_is_finite(&job->tree)) return;
    for (int share = 0; share < job->shares; share++)
        for (int q = 0; q < TREE_WALK_SUMS; q++)
            sum[q] += job->partial[((size_t)(share * job->group + i)) * TREE_WALK_SUMS + (size_t)q];
    tree_give_sums(job, tree_target_at(job, job->first_group * job->group + i), sum);
}

TREE_FN void tree_give_nothing(const struct device_tree_walk *job, int32_t first, int count)
{
    TREE_EACH_ROLLED(i, count)
    {
        const int32_t target = tree_target_at(job, first + i);
        for (int k = 0; k < 3; k++) job->acc[target][k] = (double)NAN;
        if (job->pot) job->pot[target] = (double)NAN;
    }
}

/* Counts of a list are those of its first team, counts of terms those of all. */
TREE_FN void tree_add_counts(const struct tree_group_walk *w, int is_first)
{
    const unsigned of_list = is_first ? 1 : 0, n = (unsigned)w->n;
    TREE_EACH_ROLLED(k, w->share == 0 ? DEVICE_TREE_LOCAL_TERMS : 0)
    {
        const unsigned long long more = k == DEVICE_TREE_GROUPS          ? of_list
                                        : k == DEVICE_TREE_TARGETS       ? n
                                        : k == DEVICE_TREE_TESTS         ? of_list * w->tests
                                        : k == DEVICE_TREE_LISTED_CELLS  ? of_list * w->listed_cells
                                        : k == DEVICE_TREE_LISTED_BODIES ? of_list * w->listed_bodies
                                        : k == DEVICE_TREE_CELL_TERMS    ? (unsigned long long)w->listed_cells * n
                                                                         : (unsigned long long)w->listed_bodies * n;
        TREE_ADD_TO(&w->job->counts[k], more);
    }
}

/* ---- a team */

TREE_FN void tree_add_to_sample(const struct tree_group_walk *w, const int order)
{
    if (TREE_OWN_LANE > 0) return;
    TREE_ADD_TO(&w->job->sampled->groups, 1ull);
    TREE_ADD_TO(&w->job->sampled->cost, (unsigned long long)tree_cost(w, order));
}

TREE_FN void tree_leave(const struct device_tree_walk *job, int32_t first, int count)
{
    if (TREE_OWN_LANE > 0) return;
    const int32_t number = TREE_ADD_TO(&job->left->n, 1);
    job->left->run[number].first = first;
    job->left->run[number].count = count;
}

TREE_FN unsigned tree_limit(const struct device_tree_walk *job)
{
    const struct device_tree_sample *s = job->sampled;
    if (job->sample) return TREE_SAMPLED_MOST;
    if (!job->has_limit || s->groups == 0) return ~0u;
    const unsigned long long limit = TREE_TIMES_AS_LONG * s->cost / s->groups;
    return limit < ~0u ? (unsigned)limit : ~0u;
}

/* The region of a target, if it is of use. */
TREE_FN const struct device_tree_region *tree_region_of(const struct device_tree_walk *job, int32_t first)
{
    if (job->region_targets == 0) return 0;
    const struct device_tree_region *region = &job->region[first / job->region_targets];
    return region->n < 0 ? 0 : region;
}

/* Targets at places [first, first + count), with a list for those at [group_first, + group_count). A list that is too
 * long is left for a launch with smaller groups. */
TREE_FN void tree_walk_for(struct tree_group_walk *w, int32_t first, int count, int32_t group_first, int group_count,
                           const int order, const int stride, const int want_pot)
{
    struct tree_targets t;
    w->tests = w->listed_cells = w->listed_bodies = 0;
    w->n = count;
    w->piles = 0;
    w->region = tree_region_of(w->job, first);
    tree_find_places(w, group_first, group_count);
    tree_find_scale(w, group_first, group_count);
    tree_place_targets(w, first, &t);
    const int is_done = tree_visit_cells(w, &t, order, stride, want_pot);
    tree_sync();
    if (w->job->sample)
        tree_add_to_sample(w, order);
    else if (!is_done)
        tree_leave(w->job, first, count);
    else {
        tree_end_walk(w, first, order);
        tree_add_counts(w, first == group_first);
    }
}

/* A run of targets, which is cut where it is wide, or torn, unless it is a part of a group that is not. */
TREE_FN void tree_walk_run(struct tree_group_walk *w, int32_t first, int count, int32_t group_first, int group_count,
                           const int order, const int stride, const int want_pot)
{
    int is_part = 0, left = count;
    if (!tree_is_finite(&w->job->tree)) {
        tree_give_nothing(w->job, first, count);
        return;
    }
    if (group_count > count) {
        tree_bound_group(w, group_first, group_count);
        is_part = tree_cut_group(w, group_first, group_count) == 0;
    }
    for (int32_t at = first; left > 0;) {
        int n = left;
        for (int cut = n; cut > 0 && !is_part;) {
            n = cut;
            tree_bound_group(w, at, n);
            cut = tree_cut_group(w, at, n);
        }
        tree_walk_for(w, at, n, is_part ? group_first : at, is_part ? group_count : n, order, stride, want_pot);
        at += n;
        left -= n;
    }
}

/** Items of a launch: the teams of all groups, or those of runs that were left. */
TREE_FN int64_t tree_items(const struct device_tree_walk *job)
{
    if (job->again) return (int64_t)job->again->n * job->parts;
    if (job->sample) return DEVICE_TREE_SAMPLE;
    return (int64_t)job->n_groups *
           ((job->group + DEVICE_TREE_MOST_TARGETS - 1) / DEVICE_TREE_MOST_TARGETS * job->shares);
}

/* The part-th DEVICE_TREE_MOST_TARGETS of a group, of which a share of the list is met. */
TREE_FN void tree_find_part(const struct device_tree_walk *job, int64_t item, int *share, int32_t *first, int *count,
                            int32_t *group_first, int *group_count)
{
    const int teams = (job->group + DEVICE_TREE_MOST_TARGETS - 1) / DEVICE_TREE_MOST_TARGETS * job->shares,
              of_group = (int)(item % teams);
    const int64_t group = job->sample ? item * job->n_groups / DEVICE_TREE_SAMPLE : job->first_group + item / teams;
    const int32_t begin = (int32_t)(group * job->group), left = job->n_i - begin;
    *share = of_group % job->shares;
    *group_first = begin;
    *group_count = left < job->group ? left : job->group;
    *first = begin + of_group / job->shares * DEVICE_TREE_MOST_TARGETS;
    *count = begin + *group_count - *first;
    if (*count > DEVICE_TREE_MOST_TARGETS) *count = DEVICE_TREE_MOST_TARGETS;
}

/* A part of a run that an earlier launch has left is a group. */
TREE_FN void tree_find_left(const struct device_tree_walk *job, int64_t item, int32_t *first, int *count)
{
    const struct device_tree_run *run = &job->again->run[item / job->parts];
    const int part = (int)(item % job->parts), before = run->count * part / job->parts;
    *first = run->first + before;
    *count = run->count * (part + 1) / job->parts - before;
}

/** One item, by a team. */
TREE_FN void tree_walk_item(const struct device_tree_walk *job, struct tree_walk_memory *memory, int64_t item,
                            const int order, const int stride, const int want_pot)
{
    struct tree_group_walk w;
    int32_t first, group_first;
    int count, group_count;
    w.job = job;
    w.memory = memory;
    w.share = 0;
    w.limit = tree_limit(job);
    if (job->again) {
        tree_find_left(job, item, &first, &count);
        group_first = first;
        group_count = count;
    } else
        tree_find_part(job, item, &w.share, &first, &count, &group_first, &group_count);
    if (count > 0) tree_walk_run(&w, first, count, group_first, group_count, order, stride, want_pot);
}

#endif
