/** The kernels of CUDA. */
#ifndef GPUNB_CUDA_TABLE_H
#define GPUNB_CUDA_TABLE_H

#include "gpunb/device/kernels.h"

extern const struct gpunb_kernels gpunb_cuda_kernels;

#endif
