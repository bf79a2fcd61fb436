/** The physics of a run, as `nbody6 --check` shows it. */
#ifndef NB6_SETUP_PHYSICS_H
#define NB6_SETUP_PHYSICS_H

#include "nbody6/input/config.h"

#include <stdio.h>

/** Print the physics of a run of n stars, included and not, in one block. */
void nb6_setup_physics(FILE *out, const struct nb6_config *config, int64_t n);

#endif
