/** Blocks in a row whose members are the same one or two bodies, while all others wait. A run is stuck in them if steps
 *  follow rounding errors, or a close orbit that nothing regularizes. They are counted in blocks, never in seconds, so
 *  that what is told of them is the same in each run. */
#ifndef NB6_STUCK_H
#define NB6_STUCK_H

#include "common/hd.h"

#include <stdint.h>

/** So many are told (NB6_EVENT_STUCK). Where the motions of a cluster ask for steps that differ by less than this
 *  factor there are no so many between two steps of a third body. */
enum { NB6_STUCK_BLOCKS = 100000 };

/** Bodies are known by positive numbers: by names in the state, by 1 + place in an image. */
struct nb6_stuck {
    int64_t blocks; /**< in a row so far; NB6_STUCK_BLOCKS + 1: more than that */
    int64_t who[2]; /**< 0: nobody so far; in an image minus the name of who takes no part any more */
};

/** Whether a body is one of them, or becomes one. */
NBC_HD int nb6_stuck_takes(struct nb6_stuck *stuck, int64_t id)
{
    if (id == stuck->who[0] || id == stuck->who[1]) return 1;
    if (stuck->who[1] != 0) return 0;
    stuck->who[1] = id;
    return 1;
}

/** A block is committed.
 *  @param[in] n_source  bodies that take part: of two nobody waits
 *  @param[in] n, first, second  members; who they are if there are no more than two, second: if there are two */
NBC_HD void nb6_stuck_count(struct nb6_stuck *stuck, int64_t n_source, int64_t n, int64_t first, int64_t second)
{
    if (n > 2 || n_source <= 2) {
        stuck->blocks = stuck->who[0] = stuck->who[1] = 0;
        return;
    }
    if (stuck->blocks > 0 && nb6_stuck_takes(stuck, first) && (n < 2 || nb6_stuck_takes(stuck, second))) {
        stuck->blocks += stuck->blocks <= NB6_STUCK_BLOCKS;
        return;
    }
    stuck->blocks = 1;
    stuck->who[0] = first;
    stuck->who[1] = n < 2 ? 0 : second;
}

/** Blocks that may be made before somebody looks whether they have become so many, of those that are asked for. */
NBC_HD int64_t nb6_stuck_most_blocks(const struct nb6_stuck *stuck, int64_t blocks)
{
    const int is_on = stuck->blocks > 0 && stuck->blocks < NB6_STUCK_BLOCKS;
    const int64_t left = is_on ? NB6_STUCK_BLOCKS - stuck->blocks : (int64_t)NB6_STUCK_BLOCKS;
    return blocks < left ? blocks : left;
}

/** The same two in the same order, whoever came first. */
NBC_HD void nb6_stuck_order(struct nb6_stuck *stuck)
{
    const int64_t first = stuck->who[0];
    if (stuck->who[1] == 0 || first < stuck->who[1]) return;
    stuck->who[0] = stuck->who[1];
    stuck->who[1] = first;
}

#endif
