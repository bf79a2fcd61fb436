/** What `nbody6 --check` advises. */
#ifndef NB6_SETUP_ADVICE_H
#define NB6_SETUP_ADVICE_H

#include "nbody6/app/setup_facts.h"
#include "nbody6/input/config.h"

#include <stdio.h>

struct nb6_external;
struct nb6_units;

/** Print memory and wall time by nominal costs, and a warning, a line each, for settings that do not go together with
 * the stars: half-mass and tidal radius, the widest binary and the distance of neighbours, RMIN and the core, DTADJ and
 * the crossing time, the length unit and the size. */
void nb6_setup_advise(FILE *out, const struct nb6_config *config, const struct nb6_setup_facts *facts,
                      const struct nb6_units *units, const struct nb6_external *field);

#endif
