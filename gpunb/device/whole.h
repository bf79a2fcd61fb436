/** Blocks whose targets are most of the sources, each of them bit for bit where its source is: pairs of targets are
 *  summed once for both, in the memory of the first device (gpunb/regf_device.h). */
#ifndef GPUNB_DEVICE_WHOLE_H
#define GPUNB_DEVICE_WHOLE_H

#include "gpunb/device/device.h"

/** Whether the sizes and the kind of a call are such: that its targets are, devices tell. */
int gpunb_device_may_be_whole(const struct device_call *call);
/** Enqueue the begin of the forces, after the sources are there. It waits until it is known where the targets are.
 *  @param[in] targets  [call->block->n_i] in memory of the host
 *  @param[out] is_whole  0: they are elsewhere, or there is no memory for them; nothing was done
 *  @return NBC_OK; NBC_DEVICE */
int gpunb_device_whole_begin(const struct device_call *call, const struct device_targets *targets, int *is_whole,
                             struct nbc_error *err);
/** Targets of a piece of the call that was begun. */
size_t gpunb_device_whole_piece(const struct device_call *call);
/** Enqueue the forces of piece p, and the way back of its results beside those of the next one. */
int gpunb_device_whole_launch(const struct device_call *call, size_t p, struct nbc_error *err);

#endif
