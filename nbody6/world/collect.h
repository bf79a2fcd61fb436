/** Arrays that all ranks get of all others, in as many steps as doubling the known ranks takes. All ranks call the
 *  functions together. */
#ifndef NB6_WORLD_COLLECT_H
#define NB6_WORLD_COLLECT_H

#include <stddef.h>
#include <stdint.h>

struct nb6_world;

/** The items of all ranks, one rank after another, on all of them.
 *  @param[in]     count  [ranks] items of each
 *  @param[in]     size   bytes of an item
 *  @param[in,out] all    [sum of count]; has the own items in their place before */
void nb6_world_collect(struct nb6_world *world, const int64_t *count, size_t size, void *all);
/** Numbers for each rank go there, and those of each come.
 *  @param[in] go [ranks]   @param[out] come [ranks]; may not be `go`   @param[out] more  [2 ranks] scratch */
void nb6_world_deal(struct nb6_world *world, const int64_t *go, int64_t *come, int64_t *more);
/** Sums over all ranks, on all of them: the order of the terms depends on the number of ranks alone.
 *  @param[in,out] value  [n]   @param[out] more  [n] scratch */
void nb6_world_add(struct nb6_world *world, int64_t n, double *value, double *more);

#endif
