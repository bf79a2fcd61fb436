/** Moves of what has changed alone (engine/image_part.h), on a GPU: kernels that run while no blocks are advanced. */
#ifndef NB6_CUDA_PART_H
#define NB6_CUDA_PART_H

#include "common/nbc.h"
#include "nbody6/engine/cuda/memory.h"
#include "nbody6/engine/stages/parcel.h"
#include "nbody6/engine/stages/state.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

struct nb6_sim;

/** The image of an earlier import becomes that of the state. The GPU is in use.
 *  @param[out] is_done  0: the whole state has to move; the image is as it was
 *  @return NBC_OK; NBC_DEVICE: there is no image */
int nb6_device_import_part(struct nb6_sim *sim, struct nb6_device *d, int *is_done, struct nbc_error *err);
/** The state becomes that of the image.   @param[out] is_done  0: the whole state has to move; nothing has changed
 *  @return NBC_OK; NBC_DEVICE; as nb6_dev_store_parcel */
int nb6_device_export_part(struct nb6_sim *sim, struct nb6_device *d, int *is_done, struct nbc_error *err);

#ifdef __cplusplus
extern "C" {
#endif

/** Enqueue: what is new about each body since a time.   @param[out] news [dev->n] */
cudaError_t nb6_device_find_news(const struct nb6_dev *dev, nb6_time since, int32_t *news, cudaStream_t stream);
/** Enqueue: fill a parcel whose place and list_at are there. */
cudaError_t nb6_device_pack_parcel(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, cudaStream_t stream);
/** Enqueue: the pulls of n sources at time t leave all bodies (cuda/pulls.cu).   @param[in] source [n] of the device */
cudaError_t nb6_device_lose_pulls(const struct nb6_dev *dev, nb6_time t, int64_t n,
                                  const struct nb6_pull_source *source, cudaStream_t stream);
/** Enqueue: bodies get their new places, in lists too, which are all in first rows before. */
cudaError_t nb6_device_move_places(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, cudaStream_t stream);
/** Enqueue: bodies and lists of the parcel. */
cudaError_t nb6_device_unpack_parcel(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                                     cudaStream_t stream);
/** Enqueue: all predictors, for control->ti_now. */
cudaError_t nb6_device_renew_predictors(const struct nb6_dev *dev, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
