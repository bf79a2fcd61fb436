/** The bodies that one rank has of a collisionless system, and what it does with them when rank 0 gives an order
 *  (ranks.h). All ranks call the functions together, which fail on all of them or on none. */
#ifndef NB6_RANK_SHARE_H
#define NB6_RANK_SHARE_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/collisionless/ranks/backend.h"
#include "nbody6/collisionless/ranks/domains.h"
#include "nbody6/state/body.h"
#include "nbody6/state/body_rows.h"

#include <stddef.h>
#include <stdint.h>

struct nb6_rank_survey;
struct nb6_residence;
struct nb6_world;

/** A share is opened with these, the same on all ranks. */
struct nb6_rank_opening {
    int64_t n; /**< bodies of all ranks */
    struct nb6_leapfrog_rules rules;
    nb6_time ti_now;
    int is_start; /**< 1: accelerations and steps are made; 0: they come with the bodies */
    size_t room;  /**< bytes of nb6_exchange_open */
    uint64_t n_blocks;
    struct gpunb_options force; /**< without its pointers */
    enum nb6_collisionless_engine engine;
    char backend[NB6_RANK_BACKEND_TEXT]; /**< of nb6_ranks_backend */
};

/** Zero-initialise, but for the world. */
struct nb6_rank_share {
    struct nb6_world *world;
    struct nb6_collisionless *bodies;      /**< of this rank; NULL: none is open */
    const struct nb6_residence *residence; /**< where they are; NULL: in memory of the host */
    int device;                            /**< that makes their forces; < 0: none */
    int64_t n;                             /**< of all ranks */
    int is_start;                          /**< 1: accelerations and steps are to be made */
    double *pot;                           /**< [pot_room] of the bodies; NULL: never made */
    int64_t pot_room;
    struct nb6_rank_domains domains; /**< of forces by trees: bodies are anywhere then, and know their numbers; */
    int64_t *label;                  /**< names of an equal share of all bodies, by number, which stay, */
    void *scratch;                   /**< and rows on their way, of rank 0 */
};

/** Memory for the bodies, an equal share of all.
 *  @param[in] whole  of rank 0, whose force makes the sums there too; NULL on the others */
int nb6_rank_share_open(struct nb6_rank_share *share, const struct nb6_rank_opening *with,
                        const struct nb6_collisionless *whole, struct nbc_error *err);
/** The bodies are there.   @param[in] status  of rank 0, which has read them; the same on all ranks
 *  @param[in] whole  as above */
int nb6_rank_share_begin(struct nb6_rank_share *share, int status, const struct nb6_collisionless *whole,
                         struct nbc_error *err);
/** Nothing if none is open. */
void nb6_rank_share_close(struct nb6_rank_share *share);

/** Some rows of a column come from rank 0, before nb6_rank_share_begin.   @param[in] rows  [count] of rank 0 */
void nb6_rank_share_take(const struct nb6_rank_share *share, enum nb6_body_column column, int64_t first, int64_t count,
                         const void *rows);
/** They go there, at any time.   @param[out] rows  [count] of rank 0 */
void nb6_rank_share_give(const struct nb6_rank_share *share, enum nb6_body_column column, int64_t first, int64_t count,
                         void *rows);

/** Blocks up to a time. */
int nb6_rank_share_evolve(struct nb6_rank_share *share, nb6_time ti_end, struct nbc_error *err);
/** Rows are those of the time of the share. After a failure that is an earlier one. */
int nb6_rank_share_home(struct nb6_rank_share *share, struct nbc_error *err);
/** Potentials of the bodies, for rows and surveys at this time. */
int nb6_rank_share_potential(struct nb6_rank_share *share, struct nbc_error *err);
/** After that.   @return NBC_OK; as nb6_rank_structure */
int nb6_rank_share_survey(const struct nb6_rank_share *share, struct nb6_rank_survey *survey, struct nbc_error *err);

#endif
