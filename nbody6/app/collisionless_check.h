/** What nbody6-collisionless makes of a configuration: what it cannot do, and what it would do. */
#ifndef NB6_COLLISIONLESS_CHECK_H
#define NB6_COLLISIONLESS_CHECK_H

#include "common/nbc.h"
#include "nbody6/collisionless/collisionless.h"

#include <stdint.h>
#include <stdio.h>

struct nb6_config;

/** @return NBC_OK; NBC_BAD_INPUT (no softening, or an end that is too late). What nbody6/input/config_softened.h
 *  refuses is refused where the input is read */
int nb6_collisionless_check(const struct nb6_config *config, struct nbc_error *err);
/** What a system is made with. */
struct nb6_collisionless_options nb6_collisionless_options_of(const struct nb6_config *config);
/** The steps of a run of n bodies, its times of output, and who makes it, in words: for --check. */
void nb6_collisionless_print(const struct nb6_config *config, int64_t n, FILE *out);

#endif
