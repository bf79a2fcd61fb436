/** Bodies on a GPU that are called before two of them become one (stages/synchronise.h): kernels of their own, since
 * all bodies have to be looked at, and blocks are not made meanwhile. */
#ifndef NB6_CUDA_SYNCHRONISE_H
#define NB6_CUDA_SYNCHRONISE_H

#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/stages/synchronise.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Enqueue them. Those who are concerned are dev->irr, in any order, and are called if anybody is behind.
 *  @param[in,out] call  of the device: places, all else 0 */
cudaError_t nb6_device_synchronise(const struct nb6_dev *dev, struct nb6_dev_synchronisation *call,
                                   cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
