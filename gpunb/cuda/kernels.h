/** Launchers of the CUDA kernels (the .cu files), which gpunb/device/kernels.h describes. They only enqueue; they
 * return the result of cudaGetLastError. */
#ifndef GPUNB_CUDA_KERNELS_H
#define GPUNB_CUDA_KERNELS_H

#include "gpunb/device/kernels.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t gpunb_cuda_store(const struct gpunb_jp *from, const unsigned char *marks, unsigned char mark, int n,
                             struct gpunb_jp *jp, uint64_t *count, cudaStream_t stream);
cudaError_t gpunb_cuda_predict_share(const struct device_prediction *prediction, cudaStream_t stream);

cudaError_t gpunb_cuda_keys(const struct device_positions *positions, const struct gpunb_map *map, uint32_t *keys,
                            int32_t *places, cudaStream_t stream);
cudaError_t gpunb_cuda_sort(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys,
                            const int32_t *places, int32_t *sorted_places, int n, cudaStream_t stream);
cudaError_t gpunb_cuda_sort64(void *scratch, size_t *bytes, const uint64_t *keys, uint64_t *sorted_keys,
                              const int32_t *places, int32_t *sorted_places, int n, int bits, cudaStream_t stream);
cudaError_t gpunb_cuda_tiles(const struct device_source *sources, int n, int identity,
                             const struct device_layout *layout, const struct device_copy *copy, cudaStream_t stream);
cudaError_t gpunb_cuda_predicted_tiles(const struct device_prediction *prediction, const struct device_layout *layout,
                                       const struct device_copy *copy, cudaStream_t stream);
cudaError_t gpunb_cuda_rank(const struct device_targets *targets, const struct gpunb_map *map, int32_t *order,
                            cudaStream_t stream);

cudaError_t gpunb_cuda_blocks_per_sm(const struct device_variant *variant, int *blocks);
cudaError_t gpunb_cuda_force(const struct device_variant *variant, const struct device_force *force,
                             cudaStream_t stream);
cudaError_t gpunb_cuda_finish(const struct device_finish *finish, cudaStream_t stream);

cudaError_t gpunb_cuda_regular_blocks(int device, int *blocks);
cudaError_t gpunb_cuda_regular_prepare(const struct gpunb_dev_job *job, int is_again, int blocks, cudaStream_t stream);
cudaError_t gpunb_cuda_regular_pairs(const struct gpunb_dev_job *job, int64_t share, int blocks, cudaStream_t stream);
cudaError_t gpunb_cuda_regular_viewers(const struct gpunb_dev_job *job, int64_t first, int64_t n, cudaStream_t stream);
cudaError_t gpunb_cuda_regular_left(const struct gpunb_dev_job *job, int64_t first, int64_t n, int64_t share,
                                    int blocks, cudaStream_t stream);
cudaError_t gpunb_cuda_regular_finish(const struct gpunb_dev_job *job, int64_t first, int64_t n, int blocks,
                                      cudaStream_t stream);

cudaError_t gpunb_cuda_regular_sources(const struct device_source *sources, int n, int weighted,
                                       struct gpunb_dev_source *to, cudaStream_t stream);
cudaError_t gpunb_cuda_regular_ask(const struct device_asking *asking, cudaStream_t stream);
cudaError_t gpunb_cuda_regular_send(const struct device_sending *sending, cudaStream_t stream);

cudaError_t gpunb_cuda_pot_tiles(const struct device_body *bodies, int n, const int32_t *index,
                                 struct device_pot_tile *tiles, struct device_body *sorted, cudaStream_t stream);
cudaError_t gpunb_cuda_potential(const struct device_potential *potential, int splits, double *pot,
                                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
