/** Lists of ranks (trees.h) of runs that go on. All ranks call the functions together, which fail on all of them or on
 *  none. */
#ifndef NB6_RANK_PLAN_H
#define NB6_RANK_PLAN_H

#include "common/nbc.h"
#include "gpunb/tree/costs.h"
#include "nbody6/collisionless/rebuild.h"

#include <stdint.h>

struct nb6_collisionless;
struct nb6_rank_places;
struct nb6_world;

/** Shares with trees begin with these: nominal costs, when cells are made next, whether rank 0 has domains. */
struct nb6_rank_tree_start {
    char costs[GPUNB_TREE_COSTS_TEXT];
    int reuse;
    struct nb6_rebuild rebuild;
    uint64_t build_block;
    int has_sections;
};
/** All ranks get that of rank 0.   @param[in] whole  of rank 0; NULL on the others */
void nb6_rank_tree_start_tell(struct nb6_world *world, const struct nb6_collisionless *whole,
                              struct nb6_rank_tree_start *start);

/** A tree whose lists are not those of the last build does not stand: the next block builds one, as it would have
 *  done. */
void nb6_rank_plan_judge(struct nb6_collisionless *share);
/** Of a share that has its bodies by number each body goes to the rank that had it, and the lists are made again.
 *  @param[in] mine  [share->n]   @return NBC_OK; NBC_NO_MEMORY */
int nb6_rank_plan_resume(struct nb6_collisionless *share, const struct nb6_rank_places *mine, struct nbc_error *err);

#endif
