/** The host while a kernel of the device engine runs: it answers the questions of the kernel (engine/host_service.h).
 */
#ifndef NB6_CUDA_HOST_H
#define NB6_CUDA_HOST_H

#include "common/nbc.h"
#include "nbody6/engine/cuda/memory.h"
#include "nbody6/engine/stages/state.h"

struct nb6_sim;

/** Serve the kernel until the one in the stream of `d` has ended.
 *  @param[in,out] home  the image in host memory, which the device maps
 *  @param[in] d  whose mailbox it is
 *  @param[in] begun  start of the call for blocks, to which several kernels may belong
 *  @param[in] status  NBC_OK, or a failure of the host during an earlier kernel of the call
 *  @param[out] seconds  spent on answers
 *  @return NBC_OK; the status of the first answer that failed, which the kernel knows as well; NBC_DEVICE */
int nb6_device_answer(struct nb6_sim *sim, struct nb6_dev *home, const struct nb6_device *d, double begun, int status,
                      double *seconds, struct nbc_error *err);

#endif
