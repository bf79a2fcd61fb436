/** A run from a checkpoint. */
#ifndef NB6_RESTORE_H
#define NB6_RESTORE_H

#include "common/nbc.h"

struct nb6_config;
struct nb6_sim;

/** nb6_restore with parts of the configuration changed: device, backends, end of the run (run.h), and the changes by
 *  nb6_input_change, to which the state is adapted (nbody6/run/change.h).
 *  @return as nb6_restore; NBC_BAD_INPUT: a change that this state cannot follow */
int nb6_restore_changed(struct nb6_sim **sim, const char *path, const struct nb6_config *config, struct nbc_error *err);

#endif
