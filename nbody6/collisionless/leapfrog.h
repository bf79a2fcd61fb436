/** One block of the leapfrog (collisionless.h has the method). */
#ifndef NB6_LEAPFROG_H
#define NB6_LEAPFROG_H

#include "common/nbc.h"
#include "nbody6/collisionless/part.h"

struct nb6_collisionless;

struct nb6_leapfrog_rules nb6_leapfrog_rules(const struct nb6_collisionless *system);

/** Accelerations and steps of all bodies at the start.
 *  @return as nb6_leapfrog_block */
int nb6_leapfrog_start(struct nb6_collisionless *system, struct nbc_error *err);
/** To the next block time. Nothing has changed after a failure.
 *  @return NBC_OK; NBC_NON_FINITE (names the body); what GPUNB says */
int nb6_leapfrog_block(struct nb6_collisionless *system, struct nbc_error *err);

#endif
