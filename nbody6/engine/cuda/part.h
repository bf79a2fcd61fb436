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

enum { NB6_DEVICE_NEWS_THREADS = 1024 };

/** Bodies with news, and numbers in their new lists. */
struct nb6_device_news {
    int64_t n, numbers;
};

/** Those of all bodies, and how far the image is. */
struct nb6_device_report {
    struct nb6_device_news news;
    struct nb6_dev_control control;
};

/** Blocks of threads that look for news, each of which counts its own. */
static inline int64_t nb6_device_news_blocks(int64_t n)
{
    return (n + NB6_DEVICE_NEWS_THREADS - 1) / NB6_DEVICE_NEWS_THREADS;
}

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

/** Enqueue: bodies with news since a time (stages/parcel.h), ascending, in dev->member, and the offsets of their new
 *  lists, or -1, in dev->list_at. Scratch is overwritten.
 *  @param[out] report  of all   @param[out] of_block [nb6_device_news_blocks(dev->n)]  scratch */
cudaError_t nb6_device_name_news(const struct nb6_dev *dev, nb6_time since, struct nb6_device_report *report,
                                 struct nb6_device_news *of_block, cudaStream_t stream);
/** Enqueue: fill a parcel of the first bodies that have been named. */
cudaError_t nb6_device_pack_parcel(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, cudaStream_t stream);
/** Enqueue: the pulls of n sources at time t leave all bodies (cuda/pulls.cu).   @param[in] source [n] of the device
 *  @param[in] renews  1: they get new predictors, for control->ti_now */
cudaError_t nb6_device_lose_pulls(const struct nb6_dev *dev, nb6_time t, int64_t n,
                                  const struct nb6_pull_source *source, int renews, cudaStream_t stream);
/** Enqueue: bodies get their new places, in lists too, which are all in rows dev->settled before, and in the others
 *  after it. */
cudaError_t nb6_device_move_places(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, cudaStream_t stream);
/** Enqueue: control, bodies, lists and systems of the parcel; then all predictors, no body is shown, and all are
 * watched as the parcel has it, unless systems are all to come (n_system -1). */
cudaError_t nb6_device_unpack_parcel(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                                     const struct nb6_dev_control *control, cudaStream_t stream);
/** Enqueue: the device gets this control, as it is now. */
cudaError_t nb6_device_set_control(const struct nb6_dev *dev, const struct nb6_dev_control *control,
                                   cudaStream_t stream);
/** Enqueue: all predictors, for control->ti_now. */
cudaError_t nb6_device_renew_predictors(const struct nb6_dev *dev, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
