/** How the forces of a run of nbody6-collisionless are made, in words. */
#ifndef NB6_FORCES_NOTE_H
#define NB6_FORCES_NOTE_H

#include "gpunb/gpunb.h"

#include <stdio.h>

struct nb6_collisionless;

enum { NB6_FORCES_TEXT = 160, NB6_FORCES_OF_A_SYSTEM = NB6_FORCES_TEXT + 288 };

/** "direct sums", or "tree, FORCE_ERROR = 0.001, order 3, walk groups, REUSE = 4": what `options` set.
 *  @param[in] reuse  longest steps that a tree serves; 1 is not said */
void nb6_forces_describe(const struct gpunb_options *options, int reuse, char text[NB6_FORCES_TEXT]);
/** Those of a system, with the nominal costs of its tree, and its ranks if there are several. */
void nb6_forces_describe_system(const struct nb6_collisionless *system, char text[NB6_FORCES_OF_A_SYSTEM]);
/** Seconds of forces in this session; of a tree those of each stage, and terms of a body; of several ranks messages and
 * waits of the first: for --profile. */
void nb6_forces_print_times(FILE *out, const struct nb6_collisionless *system);

#endif
