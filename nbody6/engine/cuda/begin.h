/** Bodies that begin anew on a GPU between two blocks (stages/begin.h): kernels that run while no blocks are advanced.
 */
#ifndef NB6_CUDA_BEGIN_H
#define NB6_CUDA_BEGIN_H

#include "common/nbc.h"
#include "nbody6/engine/cuda/memory.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/begin.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

struct nb6_sim;

/** As the function of engine/engine.h. The GPU is in use. */
int nb6_device_disturb(struct nb6_device *d, const struct nb6_edit *edit, struct nb6_disturbed *disturbed,
                       struct nbc_error *err);
/** `edit` of engine/engine.h with `sudden`. The GPU is in use, and nobody else works on it. */
int nb6_device_begin(struct nb6_sim *sim, struct nb6_device *d, const struct nb6_edit *edit, struct nbc_error *err);

/** Slices of all bodies whose velocities are summed apart. */
enum { NB6_DEVICE_VELOCITY_SLICES = 64 };

#ifdef __cplusplus
extern "C" {
#endif

/** Enqueue: place, role and count, which is zero before, of those who begin anew, and the sums of all velocities.
 *  control->t becomes the time of the edit.   @param[out] sum [NB6_DEVICE_VELOCITY_SLICES][4] */
cudaError_t nb6_device_find_begins(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int32_t *place,
                                   int32_t *role, double *sum, cudaStream_t stream);
/** Enqueue: all sources, and what is asked of GPUNB. */
cudaError_t nb6_device_stand(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, cudaStream_t stream);
/** Enqueue: results of GPUNB for n targets, or, again, for those of b->again; what is asked for again is put into
 *  `again`, `asked_by`; then irregular forces. */
cudaError_t nb6_device_find_first_forces(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t n,
                                         int is_again, struct gpunb_dev_asked *again, int32_t *asked_by,
                                         cudaStream_t stream);
/** Enqueue: bodies that begin anew, masses of others, derivatives and levels. */
cudaError_t nb6_device_take_begun(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
