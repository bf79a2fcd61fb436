/** Regular forces of sources that lie in the memory of a device, on targets that are some of them: for programs that
 *  keep both there. Nothing is copied from or to the host, no call waits, and none but gpunb_regf_device_bytes
 *  allocates: all is enqueued on the stream of the caller, on the first device of the handle. Results do not depend on
 *  the order of the targets; the same call on the same kind of devices gives the same bits.
 *
 *  Differences of positions are those of two floats. Neighbours are decided as by gpunb_regf (gpunb.h), in
 * double where floats cannot tell. Pairs of targets that are far from each other are summed once for both.
 *
 *  Several devices: the first one has the sources and the results; the others, as far as they and the first one reach
 *  each other's memory, make a part of the sums. */
#ifndef GPUNB_REGF_DEVICE_H
#define GPUNB_REGF_DEVICE_H

#include "common/nbc.h"
#include "gpunb/device/sums.h"
#include "gpunb/gpunb.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All pointers are those of memory of the first device of the handle. Zero-initialise. */
struct gpunb_regf_device {
    size_t n_j;
    struct gpunb_dev_source *source; /**< [n_j], in memory for a multiple of GPUNB_DEV_LANES of them; read only */
    size_t n_i;
    struct gpunb_dev_asked *asked; /**< [n_i] different sources, and their results */
    int weighted;                  /**< as gpunb_options.mass_weighted: `size` of the sources follows it */
    int32_t *lists;                /**< rows for neighbours, ascending; targets name different ones */
    size_t row_room;               /**< numbers in a row; a longer list is cut, but its count is right */
    int has_last;                  /**< 1: targets know the sizes of their last accelerations; of a tree only */
    uint64_t build;                /**< of a tree: as in gpunb_tree_build_moved */
    int is_again;  /**< 1: sources and scratch are those of the last call of the handle: nothing is sorted, and `build`
                        has no meaning */
    void *scratch; /**< of this call, until the stream is done with it; kept for calls that come again,
                        aligned to 256 bytes */
    size_t scratch_bytes; /**< its size */
};

/** Make the handle ready for up to so many sources: memory on its other devices, which may grow.
 *  @param[out] bytes  scratch that a call needs
 *  @return NBC_OK; NBC_UNAVAILABLE (a backend without devices; a device whose thread blocks cannot wait for each
 *          other); NBC_BAD_ARGUMENT (more than 2^31 - 1); NBC_DEVICE. gpunb_last_error has the text */
int gpunb_regf_device_bytes(gpunb_t *handle, size_t n_j, size_t *bytes);
/** Number of devices that share the sums of a handle that is ready; and the number of the first one among those of its
 *  kind.   @return 0 and -1 if it is not */
int gpunb_regf_device_count(const gpunb_t *handle);
int gpunb_regf_device_first(const gpunb_t *handle);
/** Enqueue the forces. Numbers in device memory are not checked.
 *  @param[in] stream  of the first device: a cudaStream_t; of emulated devices, a struct nbd_stream
 *  @return NBC_OK; NBC_UNAVAILABLE; NBC_BAD_ARGUMENT (a pointer that is NULL, too little scratch); NBC_BAD_STATE (not
 *          made ready for so many sources); NBC_DEVICE (a launch failed) */
int gpunb_regf_device(gpunb_t *handle, const struct gpunb_regf_device *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
