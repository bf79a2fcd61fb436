/** A profile (state/profile.h) for readers. */
#ifndef NB6_PROFILE_TABLE_H
#define NB6_PROFILE_TABLE_H

#include <stdio.h>

struct nb6_profile;

/** Two tables by size of block, those without and those with regular members in rows of their own: microseconds a block
 *  in each stage, and calls a block; below, all blocks together and the work between them. */
void nb6_profile_print(FILE *out, const struct nb6_profile *profile);

#endif
