/** Stage 8 on a device: what was corrected becomes the state, which cannot fail; then candidates of encounters, at whom
 *  the host has to look. */
#ifndef NB6_DEV_COMMIT_H
#define NB6_DEV_COMMIT_H

#include "common/hd.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/state/body.h"
#include "nbody6/step/corrector.h"
#include "nbody6/step/dev_state.h"

#include <math.h>
#include <stdint.h>

NBC_HD void nb6_dev_commit(const struct nb6_dev *dev, int64_t slot)
{
    const int32_t i = dev->irr[slot];
    nb6_commit_corrected(&dev->corrected[slot], dev->control->t, dev->is_reg[slot], &dev->body[i], &dev->star[i]);
    dev->level[i] = dev->star[i].level_irr;
    if (dev->is_reg[slot]) dev->row_now[i] = (int8_t)!dev->row_now[i];
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

/** The nearest neighbour of a body at the block time, which is its own.   @return 0: there is none */
NBC_HD int nb6_dev_nearest(const struct nb6_dev *dev, int32_t i, int32_t *nearest, double x[3], double v[3])
{
    const int32_t *list = nb6_dev_list(dev, i);
    const struct nb6_body *body = &dev->body[i];
    double r2_min = INFINITY;
    *nearest = -1;
    for (int32_t k = 0; k < dev->star[i].nnb; k++) {
        const struct nb6_body *other = &dev->body[list[k]];
        double y[3], w[3], r2 = 0;
        nb6_predict(other, nb6_time_to_double(dev->control->t - other->t0), y, w);
        for (int d = 0; d < 3; d++) r2 += (y[d] - body->x0[d]) * (y[d] - body->x0[d]);
        if (!(r2 < r2_min)) continue;
        r2_min = r2;
        *nearest = list[k];
        for (int d = 0; d < 3; d++) {
            x[d] = y[d] - body->x0[d];
            v[d] = w[d] - body->v0[d];
        }
    }
    return *nearest >= 0 && r2_min > 0;
}

/** Whether nb6_pairs_search may find something in a member: nobody it would take is left out. */
NBC_HD void nb6_dev_look(const struct nb6_dev *dev, int64_t slot)
{
    const int32_t i = dev->irr[slot];
    const struct nb6_encounter_rules *rules = &dev->rules.encounter;
    int32_t j;
    double x[3], v[3];
    if (!nb6_encounter_is_looked_at(rules, dev->level[i], dev->star[i].acc_irr, dev->body[i].mass)) return;
    if (!nb6_dev_nearest(dev, i, &j, x, v)) return;
    if (nb6_encounter_is_possible(rules, dev->body[i].mass + dev->body[j].mass, x, v))
        dev->flag[slot] |= NB6_DEV_CANDIDATE;
}

#endif
