/** Select (stage of the block step), on a device: the time of the next block, and its members, by a scan of all
 *  levels in order. */
#ifndef NB6_STAGES_SELECT_H
#define NB6_STAGES_SELECT_H

#include "common/hd.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <stdint.h>

/** Bodies of a part: [*first, *end). */
NBC_HD void nb6_dev_part(const struct nb6_dev *dev, int64_t part, int64_t *first, int64_t *end)
{
    *first = dev->n * part / dev->parts;
    *end = dev->n * (part + 1) / dev->parts;
}

/** The lowest level of a part. */
NBC_HD void nb6_dev_find_level(const struct nb6_dev *dev, int64_t part)
{
    int64_t first, end;
    int lowest = NB6_TIME_BITS + 1;
    nb6_dev_part(dev, part, &first, &end);
    for (int64_t i = first; i < end; i++)
        if (dev->level[i] >= 0 && dev->level[i] < lowest) lowest = dev->level[i];
    dev->count[part].level = lowest;
}

/** The next multiple of the shortest step; every longer step is a multiple of it. Once for all parts. */
NBC_HD nb6_time nb6_dev_next(const struct nb6_dev *dev)
{
    int lowest = NB6_TIME_BITS + 1;
    for (int64_t part = 0; part < dev->parts; part++)
        if (dev->count[part].level < lowest) lowest = dev->count[part].level;
    return lowest > NB6_TIME_BITS ? INT64_MAX : ((dev->control->ti_now >> lowest) + 1) << lowest;
}

NBC_HD int nb6_dev_is_due(const struct nb6_dev *dev, int64_t i)
{
    return dev->level[i] >= 0 && (dev->control->t & (nb6_step_ticks(dev->level[i]) - 1)) == 0;
}

NBC_HD int nb6_dev_ends_regular_step(const struct nb6_dev *dev, int64_t i, nb6_time t)
{
    const nb6_time step = nb6_step_ticks(dev->star[i].level_reg);
    return t - dev->star[i].t0_reg >= step && (t & (step - 1)) == 0;
}

/** Count the members in a part. */
NBC_HD void nb6_dev_count_due(const struct nb6_dev *dev, int64_t part)
{
    int64_t first, end;
    struct nb6_dev_count *count = &dev->count[part];
    nb6_dev_part(dev, part, &first, &end);
    count->irr = count->reg = count->pairs_irr = 0;
    for (int64_t i = first; i < end; i++) {
        if (!nb6_dev_is_due(dev, i)) continue;
        count->irr++;
        count->reg += nb6_dev_ends_regular_step(dev, i, dev->control->t);
        count->pairs_irr += dev->star[i].nnb;
    }
}

/** Compute where each part begins. Once for all parts. */
NBC_HD void nb6_dev_place_parts(const struct nb6_dev *dev)
{
    struct nb6_dev_control *control = dev->control;
    control->n_irr = control->n_reg = 0;
    control->pairs_irr_block = control->pairs_reg_block = control->overflows_block = 0;
    control->by_tree_block = 0;
    for (int64_t part = 0; part < dev->parts; part++) {
        struct nb6_dev_count *count = &dev->count[part];
        const int64_t irr = count->irr, reg = count->reg;
        count->irr = control->n_irr;
        count->reg = control->n_reg;
        control->n_irr += irr;
        control->n_reg += reg;
        control->pairs_irr_block += (uint64_t)count->pairs_irr;
    }
}

/** Members of the block, ascending. */
NBC_HD void nb6_dev_fill_due(const struct nb6_dev *dev, int64_t part)
{
    int64_t first, end, irr = dev->count[part].irr, reg = dev->count[part].reg;
    nb6_dev_part(dev, part, &first, &end);
    for (int64_t i = first; i < end; i++) {
        if (!nb6_dev_is_due(dev, i)) continue;
        const int regular = nb6_dev_ends_regular_step(dev, i, dev->control->t);
        dev->is_reg[irr] = (int8_t)regular;
        dev->flag[irr] = 0;
        if (regular) dev->reg[reg++] = (int32_t)irr;
        dev->irr[irr++] = (int32_t)i;
    }
}

#endif
