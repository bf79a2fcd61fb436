/** The host while the kernel of the device engine is at work: it answers what the kernel asks (engine/host_service.h).
 */
#ifndef NB6_CUDA_HOST_H
#define NB6_CUDA_HOST_H

#include "common/nbc.h"
#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/stages/state.h"

#include <cuda_runtime_api.h>

struct nb6_sim;

/** Until the kernel in a stream has ended.
 *  @param[in,out] home  the image in memory, which the device sees
 *  @param[in] helpers  whose kernels may fail meanwhile
 *  @param[in] begun  when the call for blocks has, of which this may be one of several kernels
 *  @param[in] status  what the host has failed in in an earlier one, NBC_OK
 *  @param[out] seconds  that answers took
 *  @return NBC_OK; what the first answer that failed returned, of which the kernel has been told; NBC_DEVICE */
int nb6_device_answer(struct nb6_sim *sim, struct nb6_dev *home, struct nb6_host_mailbox *mailbox, cudaStream_t stream,
                      const struct nb6_device_helpers *helpers, double begun, int status, double *seconds,
                      struct nbc_error *err);

#endif
