/* What stands for GPUs where there is no nvcc. */
#include "device/device.h"

const struct nbd_kind *const nbd_cuda = NULL;
