/** Host side of regular forces by a tree in memory of a device (device/regular_tree.c). */
#ifndef GPUNB_DEVICE_REGULAR_TREE_HOST_H
#define GPUNB_DEVICE_REGULAR_TREE_HOST_H

#include "gpunb/device/device.h"

struct gpunb_regf_device;

/** The last tree of a handle, whose memory belongs to the caller of the force. */
struct device_regular_kept;
void gpunb_device_regular_forget(struct device_state *devices);

/** Make the first device ready.   @param[out] bytes  scratch for up to n sources */
int gpunb_device_regular_tree_bytes(struct device_state *devices, const struct gpunb_tree_use *use, size_t n,
                                    size_t *bytes, struct nbc_error *err);
/** A checked force, which waits for the cells of its tree.
 *  @param[in] version  of the sources; 0: they are others than those of the last call, unless job->is_again
 *  @param[in] scratch  of that size   @param[out] order  [n_i] the targets along the tree; NULL: a mass is negative,
 * and nothing was made */
int gpunb_device_regular_tree(struct device_state *devices, struct gpunb_tree_use *use,
                              const struct gpunb_regf_device *job, uint64_t version, void *scratch,
                              struct nbd_stream *stream, const int32_t **order, struct nbc_error *err);

#endif
