/** Which part of a collisionless system owns which bodies, where forces are made by a tree on several devices.
 *
 *  Parts own bodies that follow each other along the curve of the tree (gpunb/tree/keys.h): targets near to each other
 * have common lists. At the end of a longest step, where all bodies end a step, the curve of that force is divided anew
 * so that all parts have the same work: that of their bodies' lists in all blocks since the last such end, as the walks
 *  count it. So positions and steps alone decide, and a run that is resumed decides alike. It is done at every eighth
 *  such end, and at the first two of a run: before the first one the bodies of a part are spread over space, and their
 *  lists are others than those that they have afterwards.
 *
 *  Trees that are kept over several steps (rebuild.h) have their bodies by the numbers that these have in a part. A
 *  division is along the curve of such a tree, be it new or renewed, so that a body's new place is that in the tree.
 *
 *  Bodies have places, in which parts follow each other. Arrays of the system keep their own order. */
#ifndef NB6_OWNERS_H
#define NB6_OWNERS_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/state/level.h"

#include <stdint.h>

enum {
    NB6_MOST_PARTS = 64,
    NB6_FIRST_DIVISIONS = 2,
    NB6_OWNERS_SUMS = 1 << 16 /* of work, the most that a division reads */
};

struct nb6_owners {
    int64_t n;
    int parts;
    int divided; /**< how often, up to NB6_FIRST_DIVISIONS; 0: bodies are in their own order, in equal parts */
    int64_t first[NB6_MOST_PARTS + 1]; /**< place where each part begins; first[parts] = n */
    int32_t *body;                     /**< [n] of each place */
};

/** Equal parts, in the order of the bodies.   @return NULL without memory; to be freed with nb6_owners_free */
struct nb6_owners *nb6_owners_create(int64_t n, int parts);
/** Accepts NULL. */
void nb6_owners_free(struct nb6_owners *owners);
/** Those of another system with as many bodies and parts, if parts have room for them. */
void nb6_owners_take(struct nb6_owners *owners, const struct nb6_owners *from, int block);

/** Bodies that a part may own: more than its share, of which few may be as much work as many of another part.
 *  @param[in] block  1: block steps, whose work differs more */
int64_t nb6_owners_room(int64_t n, int parts, int block);
/** Whether the curve is divided anew at time t, with this longest step.   @param[in] divided  as in nb6_owners */
int nb6_owners_are_due(int divided, int max_level, nb6_time t);
/** Sums of work along the curve that a division of so many bodies needs; the k-th of s begins at place n k/s. */
int nb6_owners_sums(int64_t n, int parts);
/** Places where parts begin, so that all have the same work as far as room lets them.
 *  @param[in] sum     [nb6_owners_sums(n, parts)]
 *  @param[out] first  [parts + 1]; every part has a body */
void nb6_owners_divide(const uint64_t *sum, int64_t n, int parts, int64_t room, int64_t *first);

#endif
