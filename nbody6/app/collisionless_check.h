/** What nbody6-collisionless cannot do. */
#ifndef NB6_COLLISIONLESS_CHECK_H
#define NB6_COLLISIONLESS_CHECK_H

#include "common/nbc.h"

struct nb6_config;

/** @return NBC_OK; NBC_BAD_INPUT (no softening, what only nbody6 has, or times that are no multiples of DT) */
int nb6_collisionless_check(const struct nb6_config *config, struct nbc_error *err);

#endif
