/** Synchronisation of bodies on a device before two of them become one (fewbody/ready.h): their steps end at the next
 *  multiple of a step. */
#ifndef NB6_STAGES_SYNCHRONISE_H
#define NB6_STAGES_SYNCHRONISE_H

#include "common/hd.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/state/body.h"

#include <stdint.h>

/** The two bodies, by places, and the step at whose next multiple they and other affected bodies are synchronised. */
struct nb6_dev_synchronisation {
    int32_t place[2];
    int32_t level;
    int32_t behind; /**< affected bodies whose steps do not end at the time of the last block */
    int32_t n;      /**< affected bodies, beside the two */
};

/** The shorter of both steps. */
NBC_HD int32_t nb6_dev_synchronise_level(const struct nb6_dev *dev, const int32_t place[2])
{
    const int32_t a = dev->star[place[0]].level_irr, b = dev->star[place[1]].level_irr;
    return a < b ? a : b;
}

/** A bit for either of the two among every lanes-th number of the list of body k. */
NBC_HD int nb6_dev_synchronise_sees(const struct nb6_dev *dev, const struct nb6_dev_synchronisation *sync, int32_t k,
                                    int lane, int lanes)
{
    const int32_t *list = nb6_dev_list(dev, k), nnb = dev->star[k].nnb;
    int seen = 0;
    for (int32_t m = lane; m < nnb; m += lanes) seen |= (list[m] == sync->place[0]) | (list[m] == sync->place[1]) << 1;
    return seen;
}

/** Whether body k, with these of the two in its list, has to be synchronised with them. */
NBC_HD int nb6_dev_synchronise_includes(const struct nb6_dev_synchronisation *sync, int32_t k, int seen)
{
    return k != sync->place[0] && k != sync->place[1] && (seen == 1 || seen == 2);
}

/** Whether both steps of body k end at the time of the last block. */
NBC_HD int nb6_dev_is_synchronised(const struct nb6_dev *dev, int32_t k)
{
    const nb6_time t = dev->control->ti_now;
    return dev->body[k].t0 == t && dev->star[k].t0_reg == t;
}

/** Synchronise body k: as nb6_body_synchronise. It differs from its copy in host memory then. */
NBC_HD void nb6_dev_synchronise_body(const struct nb6_dev *dev, int32_t k, int32_t level)
{
    struct nb6_star *star = &dev->star[k];
    if (star->level_irr > level) star->level_irr = (int8_t)level;
    star->level_reg = star->level_irr;
    dev->level[k] = star->level_irr;
    if (dev->shown[k] == NB6_DEV_HIDDEN) dev->shown[k] = NB6_DEV_ALONE;
}

#endif
