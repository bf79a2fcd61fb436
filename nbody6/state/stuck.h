/** Blocks in a row with the same one or two members, while all others wait. A run is stuck in them if steps follow
 *  rounding errors, or a close orbit that is not regularized. They are counted in blocks, never in seconds, so that the
 *  event is the same in each run. */
#ifndef NB6_STUCK_H
#define NB6_STUCK_H

#include "common/hd.h"

#include <stdint.h>

/** The event NB6_EVENT_STUCK comes after this number. If the steps in a cluster differ by less than this factor, there
 *  are not as many blocks between two steps of a third body. */
enum { NB6_STUCK_BLOCKS = 100000 };

/** Bodies are known by positive numbers: by names in the state, by 1 + place in an image. */
struct nb6_stuck {
    int64_t blocks; /**< in a row so far; NB6_STUCK_BLOCKS + 1: more than that */
    int64_t who[2]; /**< 0: none so far; in an image minus the name of a body that does not take part any more */
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
 *  @param[in] n_source  bodies that take part; of two none waits
 *  @param[in] n, first, second  number of members, and the bodies: first if there are one or two, second if there are
 *  two */
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

/** Number of blocks, up to `blocks`, that may be computed before the count must be checked. */
NBC_HD int64_t nb6_stuck_most_blocks(const struct nb6_stuck *stuck, int64_t blocks)
{
    const int is_on = stuck->blocks > 0 && stuck->blocks < NB6_STUCK_BLOCKS;
    const int64_t left = is_on ? NB6_STUCK_BLOCKS - stuck->blocks : (int64_t)NB6_STUCK_BLOCKS;
    return blocks < left ? blocks : left;
}

/** Sort the two, so that their order does not depend on the first member. */
NBC_HD void nb6_stuck_order(struct nb6_stuck *stuck)
{
    const int64_t first = stuck->who[0];
    if (stuck->who[1] == 0 || first < stuck->who[1]) return;
    stuck->who[0] = stuck->who[1];
    stuck->who[1] = first;
}

#endif
