/** Regions: targets of some groups that follow each other. Cells far from a region act on all its targets at once, by
 *  an expansion about its centre, and are met once for all of its groups, which begin their walks with the cells that
 *  are left. So targets have a tree as well, of two levels (Dehnen 2002, J. Comput. Phys. 179, 27). */
#ifndef GPUNB_DEVICE_TREE_REGION_H
#define GPUNB_DEVICE_TREE_REGION_H

#include "gpunb/device/tree_local.h"

/* Cells whose parts would be as far within a group as they are: of this part of the region's radius. */
#define TREE_LEFT_RADIUS 0.5f

/** A walk for a region. */
struct tree_region_walk {
    struct tree_group_walk group; /**< all its targets */
    struct tree_local_centre at;
    float most_spread2; /**< the square of its size over the distance of a cell that acts on it as a whole */
    int n_waiting;      /**< cells that do */
    unsigned n_locals;
    double sum; /**< of the sizes of their terms, of each lane */
};

/* With a body that is not finite no cell can be told from the others: there is no walk. */
TREE_FN int tree_is_finite(const struct device_tree *tree)
{
    const struct tree_cell *root = &tree->view.cell[0];
    return isfinite(root->centre[0] + root->centre[1] + root->centre[2] + root->radius + root->mass);
}

/* Where the expansion is about, and how far cells have to be. */
TREE_FN void tree_begin_region(struct tree_region_walk *r, int32_t first, int count, const int order)
{
    const struct tree_group_walk *w = &r->group;
    struct tree_rule rule = w->job->rule;
    double reach2 = 0;
    rule.order = order;
    TREE_EACH_ROLLED(i, count)
    {
        const int32_t t = tree_target_at(w->job, first + i);
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            const double d = tree_target_x(w->job, t, k) - w->centre[k];
            r2 += d * d;
        }
        reach2 = fmax(reach2, r2);
    }
    r->at.view = &w->job->tree.view;
    r->at.memory = w->memory;
    for (int k = 0; k < 3; k++) r->at.x[k] = w->centre[k];
    r->at.reach = (float)sqrt(tree_lanes_max(reach2));
    r->at.per_reach = 1 / r->at.reach;
    r->at.softening2 = w->softening2;
    r->at.mass = (float)r->at.view->cell[0].mass;
    r->most_spread2 = w->part > 0 ? tree_most_spread2(&rule, w->part) : rule.region_theta2;
    r->n_waiting = 0;
    r->n_locals = 0;
    r->sum = 0;
    tree_sync();
    TREE_EACH(m, TREE_MOST_LOCALS) w->memory->local_sum[m] = 0;
}

/* The kind of a cell. As TREE_TERM it is left for the groups: if it is small, or would act on a group in the middle of
 * the region as a whole. Groups that are nearer to it open it themselves. */
TREE_FN int tree_kind_in_region(const struct tree_region_walk *r, const struct tree_node *cell, const int order,
                                int has_room)
{
    const struct tree_group_walk *w = &r->group;
    struct tree_rule rule = w->job->rule;
    float r2 = 0;
    if (!(cell->mass > 0)) return TREE_NOTHING;
    rule.order = order;
    for (int k = 0; k < 3; k++) {
        const float x = (float)(cell->centre[k] - w->centre[k]);
        r2 += x * x;
    }
    if (!tree_has_own(w, cell->first, cell->count) &&
        tree_accepts_region(&rule, cell->mass, cell->radius, &cell->rest, cell->count, r2, r->at.reach, r->most_spread2,
                            w->scale))
        return TREE_LOCAL;
    if (cell->n_child <= 0 || !has_room || cell->radius < TREE_LEFT_RADIUS * r->at.reach) return TREE_TERM;
    return tree_accepts(&rule, cell->mass, cell->radius, &cell->rest, cell->count, r2, w->scale) ? TREE_TERM
                                                                                                 : TREE_OPEN;
}

/* Cells that act on the region wait, others go onto its list. */
TREE_FN void tree_keep_cells(struct tree_region_walk *r, const struct tree_slot slot[TREE_OWN],
                             const struct tree_found *found, int32_t *list)
{
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        if (slot[l].kind == TREE_TERM) list[found->terms[l]] = slot[l].cell;
        if (slot[l].kind == TREE_LOCAL) r->group.memory->cell[r->n_waiting + found->locals[l]] = slot[l].cell;
    }
    r->n_waiting += found->all_locals;
    r->n_locals += (unsigned)found->all_locals;
}

/* @return cells that are left; -1: there are too many, and groups begin with all */
TREE_FN int tree_visit_for_region(struct tree_region_walk *r, int32_t *list, const int order)
{
    struct tree_group_walk *w = &r->group;
    struct tree_slot slot[TREE_OWN];
    struct tree_found found;
    int depth = tree_first_cells(w), left = 0;
    while (depth > 0) {
        const int most = tree_most_at_a_time(depth), n = tree_pop(w, most > 0 ? most : 1, &depth, slot);
        w->tests += (unsigned)n;
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++) {
            if (TREE_LANE_OF(l) >= n) continue;
            const struct tree_node cell = w->job->tree.view.node[slot[l].cell];
            slot[l].kind = tree_kind_in_region(r, &cell, order, most > 0);
            slot[l].child = cell.child;
            slot[l].n_child = cell.n_child;
            if (slot[l].kind == TREE_LOCAL) r->sum += (double)tree_size_of_term(w, &cell);
        }
        tree_count_found(slot, &found);
        if (left + found.all_terms > DEVICE_TREE_REGION_CELLS) return -1;
        tree_push_parts(w, slot, &found, &depth);
        tree_keep_cells(r, slot, &found, list + left);
        left += found.all_terms;
        if (r->n_waiting < TREE_LOCAL_PILE && depth > 0) continue;
        if (r->n_waiting > 0) tree_sum_cells_of(&r->at, r->n_waiting, order);
        r->n_waiting = 0;
    }
    return left;
}

/* The region is stored for its groups. */
TREE_FN void tree_end_region(const struct tree_region_walk *r, struct device_tree_region *region, int n)
{
    const struct tree_group_walk *w = &r->group;
    const double sum = tree_lanes_sum(r->sum) * w->job->tree.view.cell[0].mass;
    tree_sync();
    TREE_EACH(m, TREE_MOST_LOCALS) region->local[m] = (float)w->memory->local_sum[m];
    if (TREE_OWN_LANE > 0) return;
    region->n = n;
    region->sum = sum;
    region->per_reach = r->at.per_reach;
    for (int k = 0; k < 3; k++) region->centre[k] = r->at.x[k];
    TREE_ADD_TO(&w->job->counts[DEVICE_TREE_TESTS], (unsigned long long)w->tests);
    TREE_ADD_TO(&w->job->counts[DEVICE_TREE_LOCAL_TERMS], (unsigned long long)r->n_locals);
}

/** One region, by a team. */
TREE_FN void tree_make_region(const struct device_tree_walk *job, struct tree_walk_memory *memory, int item,
                              const int order)
{
    const int32_t first = item * job->region_targets, left = job->n_i - first,
                  count = left < job->region_targets ? left : job->region_targets;
    struct tree_region_walk r;
    int n = -1;
    r.group.job = job;
    r.group.memory = memory;
    r.group.region = 0;
    r.group.n = count;
    r.group.tests = 0;
    if (tree_is_finite(&job->tree)) {
        tree_bound_group(&r.group, first, count);
        tree_find_places(&r.group, first, count);
        tree_find_scale(&r.group, first, count);
        tree_begin_region(&r, first, count, order);
        if (r.at.reach > 0)
            n = tree_visit_for_region(&r, job->region_cell + (size_t)item * DEVICE_TREE_REGION_CELLS, order);
        if (n >= 0) tree_end_region(&r, &job->region[item], n);
    }
    if (n < 0 && TREE_OWN_LANE == 0) job->region[item].n = n;
}

#endif
