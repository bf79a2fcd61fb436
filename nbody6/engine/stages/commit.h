/** Commit (stage of the block step), on a device: the new records become the state, which cannot fail. */
#ifndef NB6_STAGES_COMMIT_H
#define NB6_STAGES_COMMIT_H

#include "common/hd.h"
#include "nbody6/engine/stages/quiet.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/stages/work.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/state/body.h"
#include "nbody6/state/stuck.h"
#include "nbody6/step/corrector.h"

#include <stdint.h>

/** Consequences of the new records of a member, which is body i. */
NBC_HD void nb6_dev_commit_rest(const struct nb6_dev *dev, int64_t member, int32_t i)
{
    const struct nb6_corrected *c = &dev->corrected[member];
    if (dev->is_reg[member]) dev->row_now[i] = (int8_t)!dev->row_now[i];
    if (i >= dev->first_centre) {
        if (nb6_dev_quiet_looks(dev, i, dev->is_reg[member])) dev->flag[member] |= NB6_DEV_LOOK;
        return;
    }
    if (dev->flag[member] & NB6_DEV_NEAR &&
        nb6_encounter_is_looked_at(&dev->rules.encounter, c->level_irr, c->acc_irr, dev->body[i].mass))
        dev->flag[member] |= NB6_DEV_LOOK;
}

/** The motion of a member, which is body i. */
NBC_HD void nb6_dev_commit_motion(const struct nb6_dev *dev, int64_t member, int32_t i)
{
    const struct nb6_corrected *c = &dev->corrected[member];
    if (nb6_device_field_does_work(&dev->rules.field)) nb6_dev_count_work(dev, nb6_dev_work(dev, i, c->x, c->v));
    nb6_commit_corrected(c, dev->control->t, dev->is_reg[member], &dev->body[i], &dev->star[i]);
    dev->predictor[i] = nb6_predictor_of(&dev->body[i]);
}

NBC_HD void nb6_dev_commit(const struct nb6_dev *dev, int64_t member)
{
    const int32_t i = dev->irr[member];
    nb6_dev_commit_motion(dev, member, i);
    dev->level[i] = dev->corrected[member].level_irr;
    nb6_dev_commit_rest(dev, member, i);
}

/** Totals of a block, once for all members. All loads come first: threads of a device wait for them once. */
NBC_HD void nb6_dev_count_block(const struct nb6_dev *dev)
{
    struct nb6_dev_control *control = dev->control;
    struct nb6_stuck stuck = control->stuck;
    const int32_t first = dev->irr[0], second = dev->n > 1 ? dev->irr[1] : 0;
    nb6_stuck_count(&stuck, dev->n, control->n_irr, 1 + (int64_t)first, 1 + (int64_t)second);
    control->stuck = stuck;
    control->ti_now = control->t;
    control->blocks++;
    control->blocks_reg += control->n_reg > 0;
    control->steps_irr += (uint64_t)control->n_irr;
    control->steps_reg += (uint64_t)control->n_reg;
    control->pairs_irr += control->pairs_irr_block;
    control->pairs_reg += control->pairs_reg_block;
    control->overflows += control->overflows_block;
    control->calls_by_tree += control->by_tree_block;
}

#endif
