/** Interface between the kernels of softened forces (cuda/softened.cuh), their launches (cuda/softened.cu) and the
 *  host sides of the two interfaces (cuda/softened_device.c, device/softened.c).
 *
 *  Sources are in tiles of SOFTENED_TILE with positions relative to the centre of the tile. Blocks of threads have
 *  groups of targets; a unit of work is a tile on a group. Units are numbered group by group and dealt out to a grid
 *  that fills the device, each block the same number of consecutive ones: it sums whole groups and parts of two. The
 *  sums of a block for a group go to a slot, and slots are added in their order: the order follows from sizes and the
 *  kind of GPU. */
#ifndef GPUNB_CUDA_SOFTENED_JOB_H
#define GPUNB_CUDA_SOFTENED_JOB_H

#include "gpunb/cuda/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOFTENED_TILE = 128, SOFTENED_CUDA_SUMS = 4 /* acc, sum of m/r */ };

/** A tile in device memory. Past the end of the sources the last one is repeated without mass. */
struct softened_tile {
    float4 centre;              /**< and the square of the distance below which a box of targets is near */
    float4 extent;              /**< half the size of the box about the sources, rounded up */
    float4 from[SOFTENED_TILE]; /**< x - centre, m */
    float4 low[SOFTENED_TILE];  /**< rounding errors of x - centre */
};

/** Scratch of a force on the current device. */
cudaError_t gpunb_cuda_softened_bytes(size_t n_i, size_t n_j, size_t *bytes);
/** Enqueue a force. `work` has the size that gpunb_cuda_softened_bytes returns for these numbers, or for larger ones.
 */
cudaError_t gpunb_cuda_softened_sum(const struct device_softened *job, void *work, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
