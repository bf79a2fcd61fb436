/** Domains of ranks whose forces are made by a tree: the bodies of a share come and go (bodies.h). All ranks call the
 * functions together, which fail on all of them or on none. */
#ifndef NB6_RANK_DOMAINS_H
#define NB6_RANK_DOMAINS_H

#include "common/nbc.h"
#include "nbody6/collisionless/ranks/places.h"

#include <stdint.h>

struct nb6_collisionless;
struct nb6_sections;
struct nb6_world;

/** Zero-initialise: there are none. */
struct nb6_rank_domains {
    struct nb6_sections *sections;  /**< NULL: shares stay as they are */
    int has_sections;               /**< rank 0 has some that the system goes on with */
    struct nb6_rank_places then;    /**< of an equal share of bodies by number, whose lists are to be made again */
    int is_to_divide, is_to_settle; /**< domains by the last work, and bodies in them, before the next block */
    double load;                    /**< largest work of a rank in the longest step before the last division, over the
                                         mean; 0: none was known */
};

/** Of this rank alone: domains, and trees of a share that has its force.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_rank_domains_open(struct nb6_rank_domains *domains, struct nb6_collisionless *share, struct nbc_error *err);
void nb6_rank_domains_close(struct nb6_rank_domains *domains, struct nb6_collisionless *share);
/** The first ones, of a share that has its bodies by number.   @param[in] whole  of rank 0, with those that it has;
 *  NULL on the others */
int nb6_rank_domains_begin(struct nb6_rank_domains *domains, struct nb6_collisionless *share,
                           const struct nb6_collisionless *whole, struct nbc_error *err);
/** Before a block, or after the last one: what is left to do. */
int nb6_rank_domains_settle(struct nb6_rank_domains *domains, struct nb6_collisionless *share, struct nbc_error *err);
/** After a block. */
void nb6_rank_domains_note(struct nb6_rank_domains *domains, const struct nb6_collisionless *share);
/** Potentials of the bodies.   @param[out] pot  [share->n]   @return NBC_OK; the last step of each rank by itself */
int nb6_rank_domains_potential(struct nb6_collisionless *share, double *pot, struct nbc_error *err);

#endif
