/** Softened forces of bodies that lie in the memory of a device: for programs that keep them there. All is enqueued on
 *  the stream of the caller, on the device that is current.
 *
 *  Direct sums copy nothing from or to the host, and do not wait. A handle with a tree (gpunb/tree.h) builds one where
 *  it is worth it (gpunb_tree_is_worth), in the scratch of the call: the host reads its shape, and for that waits for
 *  the stream, once or a few times in a call. Kernels of emulated devices may not make such a call. Negative masses are
 *  not found.
 *
 *  The force, its precision and `self` are those of gpunb_softened (gpunb.h) with this handle, whose kernels these are;
 *  numbers are not checked, and what is not finite gives what is not finite. The same call on the same kind of GPU
 * gives the same bits.
 *
 *  Several GPUs: each has all sources and its part of the targets (MTM13 Sec. 3). For direct sums one handle serves all
 *  of them; a tree needs a handle on the device in question ("cuda:2"), which has one call at a time under way. */
#ifndef GPUNB_SOFTENED_DEVICE_H
#define GPUNB_SOFTENED_DEVICE_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Uses of the tree that the caller keeps (gpunb/tree_kept.h). */
enum gpunb_kept_tree {
    GPUNB_TREE_NOT_KEPT = 0, /**< there is none: a tree that is worth it is in the scratch, and dropped */
    GPUNB_TREE_BUILT = 1,    /**< `tree` gets new cells of these sources, and acts on the targets, if there are any */
    GPUNB_TREE_RENEWED = 2,  /**< `tree` keeps its cells for as many sources with the same numbers, and acts, too */
    GPUNB_TREE_UNUSED = 3    /**< direct sums: `tree` stays as it is */
};

/** All pointers are those of device memory. Zero-initialise; `self` and `pot` may stay NULL. */
struct gpunb_softened_device {
    size_t n_j;
    const double *mass;     /**< [n_j] */
    const double (*x_j)[3]; /**< [n_j][3] */
    size_t n_i;
    const double (*x_i)[3];      /**< [n_i][3], which may be x_j or a part of it */
    const int32_t *self;         /**< [n_i] source that the target is; -1: none */
    double softening;            /**< from 1e-15 to 1e15 */
    const double (*acc_last)[3]; /**< [n_i][3] of a tree, as in struct gpunb_softened_job; direct sums do not read it */
    double (*acc)[3];            /**< [n_i][3] overwritten; acc_last may be the same array */
    double *pot;                 /**< [n_i] overwritten; NULL: not wanted */
    uint64_t build;              /**< of the tree: as in gpunb_tree_build_moved */
    uint32_t *cost;              /**< [n_i] work of a target by tree, in pairs: bodies in its list, and cells by what
                                      they cost; NULL: not wanted. Direct sums do not write it */
    int32_t *order;              /**< [n_j] sources as they follow each other in the tree; likewise */
    int is_begun;                /**< 1: gpunb_softened_device_begin was the call before, with the same job */
    void *work;                  /**< scratch of this call until the stream is done with it, aligned to 256 bytes */
    size_t work_bytes;           /**< its size */
    enum gpunb_kept_tree kept;   /**< with others than GPUNB_TREE_NOT_KEPT the scratch is that of
                                      gpunb_softened_device_kept_bytes */
    struct gpunb_tree *tree;     /**< of this handle, by gpunb_softened_device_tree; one that is renewed has cells */
};

/** gpunb_create without memory for sources, which is allocated when the first of them come: for programs that have all
 *  their bodies in memory of a device, and may never send any. Of GPUs the first is taken, unless options name others.
 *  @return as gpunb_create; calls that bring sources return NBC_NO_MEMORY and NBC_DEVICE in its place */
int gpunb_create_empty(gpunb_t **handle, size_t n_j_max, const struct gpunb_options *options, struct nbc_error *err);

/** Scratch that a call with up to so many targets and sources needs on the current device.
 *  @return NBC_OK; NBC_UNAVAILABLE (the backend has no devices); NBC_BAD_ARGUMENT (more than 2^31 - 1); NBC_DEVICE */
int gpunb_softened_device_bytes(gpunb_t *handle, size_t n_i, size_t n_j, size_t *bytes);
/** Enqueue one force.   @param[in] stream  a cudaStream_t; NULL: the default one. Of an emulated device a struct
 *  nbd_stream.
 *  @return NBC_OK; NBC_UNAVAILABLE, as above; NBC_BAD_ARGUMENT (softening, a pointer that is NULL, too little scratch);
 *          NBC_DEVICE (a launch failed, or what came before it on the stream) */
int gpunb_softened_device(gpunb_t *handle, const struct gpunb_softened_device *job, void *stream);
/** Enqueue what a force by tree has to do before the host reads the shape of the tree; does not wait. The force
 * follows, with the same job and `is_begun`: meanwhile handles on other devices can begin theirs, so that trees are
 * built side by side. Does nothing where the force is a direct sum.   @return as gpunb_softened_device */
int gpunb_softened_device_begin(gpunb_t *handle, const struct gpunb_softened_device *job, void *stream);

/** gpunb_gpus of a handle whose precision is that of gpunb_softened_device; 0: it has another one. */
int gpunb_softened_devices(const gpunb_t *handle, int room, int *device);

#ifdef __cplusplus
}
#endif
#endif
