/** Stage 8 on a device: the new records become the state, which cannot fail; then candidates of encounters, at whom the
 *  host has to look. */
#ifndef NB6_DEV_COMMIT_H
#define NB6_DEV_COMMIT_H

#include "common/hd.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/state/body.h"
#include "nbody6/step/corrector.h"
#include "nbody6/step/dev_quiet.h"
#include "nbody6/step/dev_state.h"

#include <math.h>
#include <stdint.h>

/** What else follows from the new records of a member, which is body i. */
NBC_HD void nb6_dev_commit_rest(const struct nb6_dev *dev, int64_t slot, int32_t i)
{
    const struct nb6_corrected *c = &dev->corrected[slot];
    dev->level[i] = c->level_irr;
    if (dev->is_reg[slot]) dev->row_now[i] = (int8_t)!dev->row_now[i];
    if (i >= dev->first_centre) {
        if (nb6_dev_quiet_looks(dev, i, dev->is_reg[slot])) dev->flag[slot] |= NB6_DEV_LOOK;
        return;
    }
    if (dev->flag[slot] & NB6_DEV_NEAR &&
        nb6_encounter_is_looked_at(&dev->rules.encounter, c->level_irr, c->acc_irr, dev->body[i].mass))
        dev->flag[slot] |= NB6_DEV_LOOK;
}

/** The motion of a member, which is body i. */
NBC_HD void nb6_dev_commit_motion(const struct nb6_dev *dev, int64_t slot, int32_t i)
{
    nb6_commit_corrected(&dev->corrected[slot], dev->control->t, dev->is_reg[slot], &dev->body[i], &dev->star[i]);
    dev->brief[i] = nb6_brief_of(&dev->body[i]);
}

NBC_HD void nb6_dev_commit(const struct nb6_dev *dev, int64_t slot)
{
    const int32_t i = dev->irr[slot];
    nb6_dev_commit_motion(dev, slot, i);
    nb6_dev_commit_rest(dev, slot, i);
}

/** Once for all. */
NBC_HD void nb6_dev_count_block(const struct nb6_dev *dev)
{
    struct nb6_dev_control *control = dev->control;
    control->ti_now = control->t;
    control->blocks++;
    control->blocks_reg += control->n_reg > 0;
    control->steps_irr += (uint64_t)control->n_irr;
    control->steps_reg += (uint64_t)control->n_reg;
    control->pairs_irr += control->pairs_irr_block;
    control->pairs_reg += control->pairs_reg_block;
    control->overflows += control->overflows_block;
}

/** A neighbour of a body at the block time, as seen from there. */
struct nb6_dev_nearest {
    int32_t body; /**< -1: nobody */
    double r2, x[3], v[3];
};

/** Body j from a body that the last block has moved. */
NBC_HD void nb6_dev_look_from(const struct nb6_dev *dev, int32_t i, int32_t j, struct nb6_dev_nearest *seen)
{
    const struct nb6_body *body = &dev->body[i], *other = &dev->body[j];
    nb6_predict(other, nb6_time_to_double(body->t0 - other->t0), seen->x, seen->v);
    seen->body = j;
    seen->r2 = 0;
    for (int d = 0; d < 3; d++) {
        seen->x[d] -= body->x0[d];
        seen->v[d] -= body->v0[d];
        seen->r2 += seen->x[d] * seen->x[d];
    }
}

/** The nearest one of every 32nd neighbour of a body that the last block has moved. */
NBC_HD void nb6_dev_nearest_of_lane(const struct nb6_dev *dev, int32_t i, int lane, struct nb6_dev_nearest *nearest)
{
    const int32_t *list = nb6_dev_list(dev, i);
    nearest->body = -1;
    nearest->r2 = INFINITY;
    for (int d = 0; d < 3; d++) nearest->x[d] = nearest->v[d] = 0;
    for (int32_t k = lane; k < dev->star[i].nnb; k += NB6_DEV_LANES) {
        struct nb6_dev_nearest seen;
        nb6_dev_look_from(dev, i, list[k], &seen);
        if (seen.r2 < nearest->r2) *nearest = seen;
    }
}

/** Whether nb6_pairs_search may find something in a star: nobody it would take is left out. It takes no systems. */
NBC_HD int nb6_dev_is_candidate(const struct nb6_dev *dev, int32_t i, const struct nb6_dev_nearest *nearest)
{
    if (nearest->body < 0 || nearest->body >= dev->first_centre || !(nearest->r2 > 0)) return 0;
    return nb6_encounter_is_possible(&dev->rules.encounter, dev->body[i].mass + dev->body[nearest->body].mass,
                                     nearest->x, nearest->v);
}

#endif
