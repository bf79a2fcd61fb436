/* GPUs of a build without nvcc: there are none. */
#include "device/device.h"

const struct nbd_kind *const nbd_cuda = NULL;
