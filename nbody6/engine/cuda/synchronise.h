/** Synchronisation of bodies on a GPU before two of them become one (stages/synchronise.h). These kernels run while
 *  no blocks are advanced, since they search the lists of all bodies. */
#ifndef NB6_CUDA_SYNCHRONISE_H
#define NB6_CUDA_SYNCHRONISE_H

#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/stages/synchronise.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Enqueue the kernels. Affected bodies are listed in dev->irr, in any order, and synchronised if any of them is not
 *  at the block time.
 *  @param[in,out] sync  of the device: places, all else 0 */
cudaError_t nb6_device_synchronise(const struct nb6_dev *dev, struct nb6_dev_synchronisation *sync,
                                   cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
