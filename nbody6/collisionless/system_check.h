/** Options and bodies that a collisionless system can be made of. */
#ifndef NB6_SYSTEM_CHECK_H
#define NB6_SYSTEM_CHECK_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_collisionless_options;

/** Steps of up to 2^10 and times of up to 2^22, so that ticks have room in 63 bits. */
enum { NB6_LONGEST_LEVEL = NB6_TIME_BITS + 10 };

/** @return NBC_OK; NBC_BAD_ARGUMENT */
int nb6_system_check_options(int64_t n, const struct nb6_collisionless_options *options, struct nbc_error *err);
/** @param[in] mass, v  [n]   @return NBC_OK; NBC_BAD_ARGUMENT, NBC_NON_FINITE: names the body */
int nb6_system_check_bodies(int64_t n, const double *mass, const double (*v)[3], struct nbc_error *err);

#endif
