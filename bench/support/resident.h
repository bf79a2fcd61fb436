/** Bodies in memory of a device, and their forces on themselves, where nothing is copied. */
#ifndef BENCH_RESIDENT_H
#define BENCH_RESIDENT_H

#include "device/device.h"
#include "gpunb/softened_device.h"

struct resident {
    struct nbd_device device;
    struct nbd_stream *stream;
    struct gpunb_softened_device job;
};

/** Bodies, their numbers and last accelerations (NULL: none) to the device of a handle: the targets of `job` are its
 *  sources.
 *  @return NBC_OK; NBC_UNAVAILABLE (the backend has no devices); NBC_DEVICE */
int resident_open(struct resident *r, gpunb_t *h, size_t n, const double *mass, const struct gpunb_softened_job *job,
                  struct nbc_error *err);
/** A force.   @param[out] seconds  from the call until it is there   @return NBC_OK; NBC_DEVICE */
int resident_force(struct resident *r, gpunb_t *h, double *seconds, struct nbc_error *err);
/** The accelerations of the last force.   @param[out] acc [n][3] */
int resident_read(struct resident *r, double (*acc)[3], struct nbc_error *err);
void resident_close(struct resident *r);

#endif
