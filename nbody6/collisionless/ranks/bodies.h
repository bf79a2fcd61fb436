/** The bodies of a rank that has a domain (sections.h): they come and go, and each knows its number in the whole
 * system, `name`, from 1 on, in the order of which a rank has them. All functions are called by all ranks together, and
 * fail on all of them or on none, with nothing changed. */
#ifndef NB6_RANK_BODIES_H
#define NB6_RANK_BODIES_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_collisionless;
struct nb6_sections;

/** Each body goes to the rank in whose domain it is, at a time when all bodies end a step.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_rank_bodies_settle(struct nb6_collisionless *share, const struct nb6_sections *sections, struct nbc_error *err);
/** Each body goes to a rank.   @param[in] rank  [share->n]   @return NBC_OK; NBC_NO_MEMORY */
int nb6_rank_bodies_send(struct nb6_collisionless *share, const int32_t *rank, struct nbc_error *err);
/** Bodies, as they are, in equal shares of the whole by number (nb6_world_share).
 *  @param[in]  n     bodies of all ranks
 *  @param[out] home  mass, x0, v, acc, level of the share of this rank   @return NBC_OK; NBC_NO_MEMORY */
int nb6_rank_bodies_home(const struct nb6_collisionless *share, int64_t n, struct nb6_collisionless *home,
                         struct nbc_error *err);
/** The same of a number for each body.   @param[in] mine  [share->n]   @param[out] home  of the share of this rank */
int nb6_rank_bodies_home_numbers(const struct nb6_collisionless *share, int64_t n, const double *mine, double *home,
                                 struct nbc_error *err);

#endif
