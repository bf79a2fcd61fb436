/** Launches of the kernels of the backend `cuda`. The functions only enqueue; they return the result of
 *  cudaGetLastError. */
#ifndef GPUIRR_CUDA_KERNELS_H
#define GPUIRR_CUDA_KERNELS_H

#include "gpuirr/device/device.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** For one body at least. */
cudaError_t gpuirr_cuda_store(const struct gpuirr_device_store_job *job, cudaStream_t stream);
/** For one task at least. */
cudaError_t gpuirr_cuda_forces(const struct gpuirr_device_force_job *job, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
