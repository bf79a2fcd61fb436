/** Stages of a regular force by tree (device/regular_tree.h) as one thread does them, for GPUs and emulated devices. */
#ifndef GPUNB_DEVICE_REGULAR_STEPS_H
#define GPUNB_DEVICE_REGULAR_STEPS_H

#include "gpunb/device/regular_tree.h"

/** Loads of four numbers. */
struct regular_four {
    NBC_ALIGNED(16) float of[4];
};

/* A float is not below the double that it stands for. */
#define REGULAR_MARGIN 1.000001f

/** A source that takes part, of those tried after an absent one. */
NBC_HD int32_t regular_stand_in(const struct device_regular_tree *t, int32_t j)
{
    enum { TRIALS = 64 };
    uint32_t at = (uint32_t)j;
    for (int k = 0; k < TRIALS && !gpunb_dev_takes_part(&t->source[j]); k++) {
        at = at * 2654435761u + 12345u;
        j = (int32_t)(at % (uint32_t)t->tree.n);
    }
    return j;
}

/** Where the tree has a source. One that takes no part is where another one is, without mass, so that cells are none
 *  the larger for it. */
NBC_HD void regular_take_source(const struct device_regular_tree *t, int32_t j)
{
    const struct gpunb_dev_source *source = &t->source[regular_stand_in(t, j)];
    for (int k = 0; k < 3; k++)
        t->x_all[j][k] = gpunb_dev_takes_part(source) ? (double)source->high[k] + (double)source->low[k] : 0;
    t->mass_all[j] = gpunb_dev_takes_part(&t->source[j]) ? (double)t->source[j].mass : 0;
}

NBC_HD void regular_sort_source(const struct device_regular_tree *t, int32_t place)
{
    const int32_t j = t->tree.number[place];
    const struct gpunb_dev_source *source = &t->source[regular_stand_in(t, j)];
    t->sorted[place] = t->source[j];
    for (int k = 0; k < 3; k++) t->v[place][k] = (double)source->v[k];
}

NBC_HD void regular_place_target(const struct device_regular_tree *t, int32_t m)
{
    t->key[m] = (uint64_t)t->tree.place[t->asked[m].source];
    t->number[m] = m;
}

NBC_HD void regular_make_target(const struct device_regular_tree *t, int32_t at)
{
    struct regular_target *target = &t->target[at];
    const struct gpunb_dev_asked *asked = &t->asked[t->order[at]];
    target->place = (int32_t)t->sorted_key[at];
    target->asked = t->order[at];
    for (int k = 0; k < 3; k++) {
        target->x[k] = t->tree.x[target->place][k];
        target->v[k] = t->v[target->place][k];
    }
    target->size = (double)asked->size_last;
    target->radius = gpunb_dev_radius(asked->r_nb2) * REGULAR_MARGIN;
    target->step = gpunb_dev_step(asked->dt_reg) * REGULAR_MARGIN;
}

NBC_HD void regular_take_size(const struct device_regular_tree *t, int32_t at)
{
    const double *acc = t->asked[t->target[at].asked].sum.acc;
    t->target[at].size = sqrt(acc[0] * acc[0] + acc[1] * acc[1] + acc[2] * acc[2]);
}

/** Velocities and rates, as rates.h makes them. */
NBC_HD struct tree_rates_view regular_rates_view(const struct device_regular_tree *t)
{
    struct tree_rates_view view;
    view.tree = &t->tree.view;
    view.v = (const double(*)[3])t->v;
    view.motion = t->motion;
    view.rate = t->rate;
    return view;
}

/** The unit of velocities. */
NBC_HD double regular_speed(const struct device_regular_tree *t)
{
    return t->motion[0].speed > 0 ? t->motion[0].speed : 1;
}

/* ---- the plan */

/** The first target at a place, or behind it. */
NBC_HD int32_t regular_target_at(const struct device_regular_tree *t, int32_t place)
{
    return tree_lower_bound(t->sorted_key, 1, 0, t->n_i, (uint64_t)place);
}

/** Count up, for one thread of all.   @return the number before */
NBC_HD int32_t regular_add(int32_t *number, int32_t more)
{
#ifdef __CUDA_ARCH__
    return atomicAdd(number, more);
#else
    return __atomic_fetch_add(number, more, __ATOMIC_RELAXED);
#endif
}

NBC_HD void regular_add_group(const struct device_regular_tree *t, int32_t first, int32_t count, int32_t around)
{
    struct regular_group *group = &t->group[regular_add(&t->counters->groups, 1)];
    group->first = first;
    group->count = count;
    group->around = around;
    group->is_cut = 0;
}

/** Targets that follow each other, as groups of nearly the same size. */
NBC_HD void regular_add_groups(const struct device_regular_tree *t, int32_t first, int32_t count, int32_t around)
{
    const int32_t groups = (count + REGULAR_GROUP - 1) / REGULAR_GROUP;
    for (int32_t g = 0; g < groups; g++) {
        const int32_t begin = (int32_t)((int64_t)count * g / groups),
                      end = (int32_t)((int64_t)count * (g + 1) / groups);
        regular_add_group(t, first + begin, end - begin, around);
    }
}

/** Whether so many targets of a cell with so many sources are not divided by the parts of the cell. */
NBC_HD int regular_is_run(int32_t targets, int32_t sources)
{
    return targets <= 1 || (targets <= REGULAR_RUN && sources <= REGULAR_SPAN);
}

/** Groups of the parts of a cell that are not divided: of those that follow each other, together. */
NBC_HD void regular_group_parts(const struct device_regular_tree *t, int32_t c)
{
    const struct tree_cell *cell = &t->tree.view.cell[c];
    int32_t first = regular_target_at(t, cell->first), waiting = 0, sources = 0;
    for (int32_t p = cell->child; p < cell->child + cell->n_child; p++) {
        const struct tree_cell *part = &t->tree.view.cell[p];
        const int32_t end = regular_target_at(t, part->first + part->count), count = end - first - waiting;
        const int is_run = regular_is_run(count, part->count);
        if (waiting > 0 && (!is_run || !regular_is_run(waiting + count, sources + part->count))) {
            regular_add_groups(t, first, waiting, c);
            first += waiting;
            waiting = sources = 0;
        }
        if (is_run) {
            waiting += count;
            sources = waiting > 0 ? sources + part->count : 0;
        } else
            first = end;
    }
    if (waiting > 0) regular_add_groups(t, first, waiting, c);
}

/** A cell becomes a region if it has many targets, but not too many; parts of it that are not divided are grouped. */
NBC_HD void regular_plan_cell(const struct device_regular_tree *t, int32_t c)
{
    const struct tree_cell *cell = &t->tree.view.cell[c];
    const int32_t first = regular_target_at(t, cell->first), end = regular_target_at(t, cell->first + cell->count),
                  count = end - first;
    const int is_run = regular_is_run(count, cell->count);
    if (c == 0) t->parent[0] = REGULAR_NONE;
    for (int32_t p = cell->child; p < cell->child + cell->n_child; p++) t->parent[p] = c;
    t->region_of[c] = REGULAR_NONE;
    if (count >= REGULAR_REGION_FROM && count <= REGULAR_REGION) {
        const int32_t number = regular_add(&t->counters->regions, 1);
        if (number < t->region_room) {
            t->region_of[c] = number;
            t->region_cell[number] = c;
        }
    }
    if (!is_run && cell->n_child > 0)
        regular_group_parts(t, c);
    else if (!is_run || (c == 0 && count > 0))
        regular_add_groups(t, first, count, c);
}

/** The first region of a level. */
NBC_HD int32_t regular_first_region(const struct device_regular_tree *t, int level)
{
    const int32_t first = t->counters->begin[level];
    return first < t->region_room ? first : t->region_room;
}

/** The region of a cell, or of one that it is a part of, which has a list; NULL: none. */
NBC_HD const struct regular_region *regular_region_around(const struct device_regular_tree *t, int32_t c,
                                                          const int32_t **list, int32_t *n)
{
    while (c != REGULAR_NONE && (t->region_of[c] == REGULAR_NONE || t->region[t->region_of[c]].n == REGULAR_NONE))
        c = t->parent[c];
    const struct regular_region *region = c == REGULAR_NONE ? 0 : &t->region[t->region_of[c]];
    *list = region ? t->left + (size_t)t->region_of[c] * REGULAR_LEFT : &t->counters->root;
    *n = region ? region->n : 1;
    return region;
}

#endif
