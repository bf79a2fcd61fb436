/** nbody6-collisionless on several ranks: rank 0 makes the run, the others serve it. */
#ifndef NB6_ON_RANKS_H
#define NB6_ON_RANKS_H

#include "common/nbc.h"
#include "nbody6/collisionless/collisionless.h"

#include <stdint.h>
#include <stdio.h>

struct nb6_config;

/** Options of a system on these ranks.
 *  @return as nb6_collisionless_options_of; NBC_BAD_INPUT (what one rank alone can do so far: a tree) */
int nb6_collisionless_options_on(const struct nb6_config *config, struct nb6_world *world,
                                 struct nb6_collisionless_options *options, struct nbc_error *err);
/** A line of --check about several ranks; nothing for one. */
void nb6_on_ranks_print(const struct nb6_world *world, int64_t n, FILE *out);
/** All ranks but the first: until rank 0 ends. Signals are noted, and end the run on all ranks at one step.
 *  @return the exit code of the command */
int nb6_on_ranks_serve(struct nb6_world *world);
/** Of a process whose ranks could not be connected: the first of them has time for its message, before the launcher
 * ends all others with one that has ended. */
void nb6_on_ranks_keep_silent(void);

#endif
