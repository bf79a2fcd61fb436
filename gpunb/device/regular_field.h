/** The fields of expansions about regions at the targets of a group. */
#ifndef GPUNB_DEVICE_REGULAR_FIELD_H
#define GPUNB_DEVICE_REGULAR_FIELD_H

#include "gpunb/device/regular_steps.h"

/* Each needs those before it */
#include "gpunb/device/float_term.h"

#include "gpunb/tree/local.h"

#include "gpunb/tree/moving.h"

/** The results of the targets of a group become what the region around it has, by a team. */
TREE_FN void regular_make_fields(const struct device_regular_tree *t, const struct regular_group *group)
{
    const int32_t *list;
    int32_t n;
    const struct regular_region *around = regular_region_around(t, group->around, &list, &n);
    const double mass = t->tree.view.cell[0].mass, speed = regular_speed(t);
    TREE_EACH_ROLLED(i, group->count)
    {
        const struct regular_target *target = &t->target[group->first + i];
        struct gpunb_dev_sum *sum = &t->asked[target->asked].sum;
        gpunb_dev_clear(sum);
        if (!around) continue;
        const struct regular_bounds *bounds = &around->bounds;
        const double to_acc = mass / (bounds->unit * bounds->unit), to_jerk = to_acc * speed / bounds->unit;
        float h[TREE_MOST_LOCALS], u[3], v[3], acc[3], jerk[3], psi;
        TREE_UNROLL
        for (int a = 0; a < TREE_MOST_LOCALS; a++) h[a] = around->rate[a];
        for (int k = 0; k < 3; k++) {
            u[k] = (float)((target->x[k] - bounds->centre[k]) / bounds->unit);
            v[k] = (float)((target->v[k] - bounds->v[k]) / speed);
        }
        moving_sums(around->local, h, u, v, TREE_MOST_LOCAL, acc, jerk, &psi);
        for (int k = 0; k < 3; k++) {
            sum->acc[k] = (double)acc[k] * to_acc;
            sum->jerk[k] = (double)jerk[k] * to_jerk;
        }
    }
}

#endif
