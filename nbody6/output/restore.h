/** A run from a checkpoint. */
#ifndef NB6_RESTORE_H
#define NB6_RESTORE_H

#include "common/nbc.h"

struct nb6_config;
struct nb6_sim;

/** nb6_restore with parts of the configuration changed (device, backends, end of the run; see run.h). */
int nb6_restore_changed(struct nb6_sim **sim, const char *path, const struct nb6_config *config, struct nbc_error *err);

#endif
