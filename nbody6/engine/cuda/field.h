/** The field at points in space, on a GPU (stages/field.h): kernels that run while no blocks are advanced. */
#ifndef NB6_CUDA_FIELD_H
#define NB6_CUDA_FIELD_H

#include "common/nbc.h"
#include "nbody6/engine/cuda/memory.h"
#include "nbody6/engine/edit.h"
#include "nbody6/engine/stages/field.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

/** As the function of engine/engine.h. The GPU is in use. */
int nb6_device_field(struct nb6_device *d, nb6_time t, const struct nb6_field_points *points, struct nbc_error *err);

#ifdef __cplusplus
extern "C" {
#endif

/** Enqueue: masses and places of all bodies at time t.
 *  @param[out] at [dev->n]   @param[out] centre [dev->n - dev->first_centre][3] */
cudaError_t nb6_device_find_masses(const struct nb6_dev *dev, nb6_time t, struct nb6_dev_mass *at, double (*centre)[3],
                                   cudaStream_t stream);
/** Enqueue: the sums at n points.   @param[in] x [n][3]   @param[out] slices [n][NB6_DEV_FIELD_SLICES][4] scratch
 *  @param[out] sum [n][4] */
cudaError_t nb6_device_sum_field(const struct nb6_dev *dev, const struct nb6_dev_mass *at, int64_t n,
                                 const double (*x)[3], double *slices, double (*sum)[NB6_DEV_FIELD_SUMS],
                                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
