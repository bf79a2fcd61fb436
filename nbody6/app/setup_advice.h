/** The advice of `nbody6 --check`. */
#ifndef NB6_SETUP_ADVICE_H
#define NB6_SETUP_ADVICE_H

#include "nbody6/app/setup_facts.h"
#include "nbody6/input/config.h"

#include <stdint.h>
#include <stdio.h>

struct nb6_external;
struct nb6_units;

/** Room for the text of nb6_advise_short_steps. */
enum { NB6_ADVICE_ROOM = 320 };

/** Print memory and wall time by nominal costs, and a warning, a line each, for settings that do not go together with
 * the stars: half-mass and tidal radius, the widest binary and the distance of neighbours, RMIN and the core, DTADJ and
 * the crossing time, the length unit and the size, SMAX and the steps that forces ask for. */
void nb6_setup_advise(FILE *out, const struct nb6_config *config, const struct nb6_setup_facts *facts,
                      const struct nb6_units *units, const struct nb6_external *field);
/** Whether SMAX is so short that it is the reason for nearly all steps of n stars, n_binary binaries among them.
 *  @param[in] t  that are left, N-body units   @param[out] text  the cost */
int nb6_advise_short_steps(const struct nb6_config *config, int64_t n, int64_t n_binary, double t,
                           char text[NB6_ADVICE_ROOM]);

#endif
