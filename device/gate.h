/** Which devices of a process are in use by kernels that work alone on them. */
#ifndef NBD_GATE_H
#define NBD_GATE_H

#include "device/device.h"

#include <stdint.h>

/** A device in a set: a bit for each number, modulo 64. */
static inline uint64_t nbd_gate_bit(const struct nbd_device *device)
{
    return UINT64_C(1) << device->number % 64;
}

/** Wait until nobody has any of these devices, and take all of them at once: two callers that share several never wait
 *  for each other. */
void nbd_gate_take(uint64_t devices);
void nbd_gate_give_back(uint64_t devices);

#endif
