/** What nbody6-collisionless cannot do, and what it would do. */
#ifndef NB6_COLLISIONLESS_CHECK_H
#define NB6_COLLISIONLESS_CHECK_H

#include "common/nbc.h"

#include <stdio.h>

struct nb6_config;

/** @return NBC_OK; NBC_BAD_INPUT (no softening, or an end that is too late). What nbody6/input/config_softened.h
 *  refuses is refused where the input is read */
int nb6_collisionless_check(const struct nb6_config *config, struct nbc_error *err);
/** The steps and the times of output of a run, in words: for --check. */
void nb6_collisionless_print(const struct nb6_config *config, FILE *out);

#endif
