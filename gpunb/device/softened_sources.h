/** Sources of softened forces in memory of a device, as sums use them: for GPUs and emulated devices. */
#ifndef GPUNB_DEVICE_SOFTENED_SOURCES_H
#define GPUNB_DEVICE_SOFTENED_SOURCES_H

#include "common/hd.h"
#include "gpunb/device/kernels.h"

NBC_HD const double *softened_position(const struct softened_sources *s, size_t j)
{
    return (const double *)((const char *)s->x + j * s->x_step);
}

NBC_HD float softened_mass(const struct softened_sources *s, size_t j)
{
    const char *at = (const char *)s->mass + j * s->mass_step;
    return s->mass_is_float ? *(const float *)at : (float)*(const double *)at;
}

/** A coordinate as sums use it: two floats, or one. */
NBC_HD double softened_rounded(double x, int to_float)
{
    const double high = (double)nbc_rounded(x);
    return to_float ? high : high + (double)nbc_rounded(x - high);
}

#endif
