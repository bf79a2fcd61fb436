/** Changes of bodies on a GPU between two blocks (stages/edit.h): kernels that run while no blocks are advanced. */
#ifndef NB6_CUDA_EDIT_H
#define NB6_CUDA_EDIT_H

#include "common/nbc.h"
#include "nbody6/engine/cuda/memory.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/edit.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

struct nb6_sim;

/** Both as the functions of engine/engine.h. The GPU is in use. */
int nb6_device_gather(struct nb6_device *d, nb6_time t, int64_t n, const nb6_index *body, int with_potentials,
                      struct nb6_gathered *gathered, struct nbc_error *err);
int nb6_device_edit(struct nb6_sim *sim, struct nb6_device *d, const struct nb6_edit *edit, struct nbc_error *err);

#ifdef __cplusplus
extern "C" {
#endif

/** Enqueue: bodies, stars and potentials at time t of n places.
 *  @param[out] at [dev->n] scratch, all of the device   @param[out] gathered [n] without potentials
 *  @param[out] potential [n][NB6_DEV_POTENTIAL_SLICES] */
cudaError_t nb6_device_find_potentials(const struct nb6_dev *dev, nb6_time t, int64_t n, const int32_t *place,
                                       struct nb6_dev_mass *at, struct nb6_gathered *gathered, double *potential,
                                       cudaStream_t stream);
/** Enqueue: bodies and stars of n places.   @param[out] gathered [n] without potentials */
cudaError_t nb6_device_fetch_bodies(const struct nb6_dev *dev, int64_t n, const int32_t *place,
                                    struct nb6_gathered *gathered, cudaStream_t stream);
/** Enqueue: the edit, with `changed` in memory of the device. */
cudaError_t nb6_device_change_bodies(const struct nb6_dev *dev, const struct nb6_dev_edit *edit, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
