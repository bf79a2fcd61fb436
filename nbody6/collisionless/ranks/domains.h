/** Domains of ranks whose forces are made by a tree: the bodies of a share come and go (bodies.h), and rank 0 has
 *  the arrays of all. All ranks call the functions together, which fail on all of them or on none. */
#ifndef NB6_RANK_DOMAINS_H
#define NB6_RANK_DOMAINS_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_collisionless;
struct nb6_sections;
struct nb6_world;

/** Zero-initialise: there are none. */
struct nb6_rank_domains {
    struct nb6_sections *sections;  /**< NULL: shares stay as they are */
    int is_to_divide, is_to_settle; /**< domains by the last work, and bodies in them, before the next block */
};

/** Of this rank alone: domains, and trees of a share that has its force.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_rank_domains_open(struct nb6_rank_domains *domains, struct nb6_collisionless *share, struct nbc_error *err);
void nb6_rank_domains_close(struct nb6_rank_domains *domains, struct nb6_collisionless *share);
/** The first ones, of a share that has its bodies.
 *  @param[in] has_sections  1: rank 0 has domains that the system goes on with   @param[in] then  those, on rank 0 */
int nb6_rank_domains_begin(struct nb6_rank_domains *domains, struct nb6_collisionless *share, int has_sections,
                           const struct nb6_sections *then, struct nbc_error *err);
/** Before a block, or after the last one: what is left to do. */
int nb6_rank_domains_settle(struct nb6_rank_domains *domains, struct nb6_collisionless *share, struct nbc_error *err);
/** After a block. */
void nb6_rank_domains_note(struct nb6_rank_domains *domains, const struct nb6_collisionless *share);
/** x0, v, acc, level of all n bodies.   @param[out] whole  of rank 0; NULL on the others */
int nb6_rank_domains_home(const struct nb6_collisionless *share, int64_t n, const struct nb6_collisionless *whole,
                          struct nbc_error *err);
/** Potentials of all n bodies.   @param[out] all  [n] of rank 0; NULL on the others */
int nb6_rank_domains_potential(struct nb6_collisionless *share, int64_t n, double *all, struct nbc_error *err);

#endif
