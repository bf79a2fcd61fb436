/** The stages of a part on a GPU (part.h): each is enqueued on a stream of the device that is current. */
#ifndef NB6_RESIDENCE_KERNELS_H
#define NB6_RESIDENCE_KERNELS_H

#include "nbody6/collisionless/residence.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** First kicks and drift; `bad` of the word becomes the first body that is farther than `limit`. */
cudaError_t nb6_kernel_drift(const struct nb6_part *part, const struct nb6_part_block *block, double limit,
                             cudaStream_t stream);
/** Scratch of nb6_kernel_select, in bytes. */
cudaError_t nb6_kernel_select_bytes(int32_t n_own, size_t *bytes);
/** The bodies that are due, in ascending order, and their positions. */
cudaError_t nb6_kernel_select(const struct nb6_part *part, const struct nb6_part_block *block, void *scratch,
                              size_t bytes, cudaStream_t stream);
/** Add both parts of accelerations; `bad` of the word becomes the first body whose sum is not finite. */
cudaError_t nb6_kernel_check(const struct nb6_part *part, const struct nb6_part_block *block, cudaStream_t stream);
/** Second kicks, next steps, and how many bodies of each level there are then. */
cudaError_t nb6_kernel_commit(const struct nb6_part *part, const struct nb6_part_block *block, cudaStream_t stream);
/** The four of a part alone on its rank (residence.h); none of them for no bodies. */
cudaError_t nb6_kernel_pack(const struct nb6_part *part, struct nb6_source *to, cudaStream_t stream);
cudaError_t nb6_kernel_unpack(const struct nb6_source *from, int64_t n, double *mass, double (*x)[3],
                              cudaStream_t stream);
cudaError_t nb6_kernel_add(double (*sum)[3], const double (*more)[3], int32_t n, cudaStream_t stream);
cudaError_t nb6_kernel_total(const struct nb6_part *part, int32_t n_due, int slots, const double (*sum)[3],
                             cudaStream_t stream);
/** Work of all bodies along the curve, summed in so many pieces. */
cudaError_t nb6_kernel_weigh(const struct nb6_part *part, const struct nb6_part_move *move, int sums,
                             cudaStream_t stream);
/** Sources and bodies of a part that has its new owners, and how many bodies of each level there are. */
cudaError_t nb6_kernel_take(const struct nb6_part *part, const struct nb6_part_move *move, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
