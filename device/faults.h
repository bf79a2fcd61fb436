/** Failures of devices on demand, for tests: one switch for all users and all kinds of devices. */
#ifndef NBD_FAULTS_H
#define NBD_FAULTS_H

#include <stdint.h>

enum nbd_fault {
    NBD_FAULT_NONE,
    NBD_FAULT_FAIL,     /**< calls fail */
    NBD_FAULT_NO_MEMORY /**< allocations find no memory; other calls are not counted */
};

#define NBD_FAULT_FOR_EVER INT64_MAX /**< so many times fails a device that is lost */

/** Calls of any device fail, from the k-th from now on, 1 being the next one, so many times. Calls that give something
 *  back do not count. The environment variable NB6_DEVICE_FAULT asks for the same before the first call, as "fail:7",
 *  "memory:3", or "lost:20", from which one on all fail.   @param[in] k  0: only count */
void nbd_fault_set(enum nbd_fault fault, int64_t k, int64_t times);
/** Calls that were counted since, and those that have failed. */
int64_t nbd_fault_calls(void);
int64_t nbd_fault_failures(void);

/** For device.c: the code of a failure that is due, 0: none. */
int nbd_fault_due(int is_allocation);
/** Whether it is want of memory. */
int nbd_fault_lacks_memory(int code);
/** In words; NULL: the code is no such failure. */
const char *nbd_fault_text(int code);

#endif
