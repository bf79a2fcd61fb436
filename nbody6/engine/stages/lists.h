/** Packed neighbour lists for copies between host memory and device: one after another (dev->lists, list_at), instead
 *  of in rows, of which they fill a third. On the device the second rows have room for them, since all lists are in
 *  first rows during a copy. Each function handles every lanes-th number of the list of body i. */
#ifndef NB6_STAGES_LISTS_H
#define NB6_STAGES_LISTS_H

#include "common/hd.h"
#include "nbody6/engine/stages/state.h"

#include <stdint.h>

/** From one of its rows to this one, if it is in the other; the caller sets row_now when all lanes have finished. */
NBC_HD void nb6_dev_settle_list(const struct nb6_dev *dev, int32_t i, int row, int lane, int lanes)
{
    if (dev->row_now[i] == row) return;
    const int32_t *from = nb6_dev_row(dev, i, !row), nnb = dev->star[i].nnb;
    int32_t *to = nb6_dev_row(dev, i, row);
    for (int32_t k = lane; k < nnb; k += lanes) to[k] = from[k];
}

/** From the first row to packed lists. */
NBC_HD void nb6_dev_pack_list(const struct nb6_dev *dev, int32_t i, int lane, int lanes)
{
    const int32_t *from = nb6_dev_row(dev, i, 0), nnb = dev->star[i].nnb;
    int32_t *to = dev->lists + dev->list_at[i];
    for (int32_t k = lane; k < nnb; k += lanes) to[k] = from[k];
}

/** From the second row to the first one, if that is the list. */
NBC_HD void nb6_dev_unpack_list(const struct nb6_dev *dev, int32_t i, int lane, int lanes)
{
    const int32_t *from = dev->lists + dev->list_at[i], nnb = dev->star[i].nnb;
    int32_t *to = nb6_dev_row(dev, i, 0);
    for (int32_t k = lane; k < nnb; k += lanes) to[k] = from[k];
}

#endif
