/** Costs of the lists of the last force by trees, by target. */
#ifndef NB6_RANK_COSTS_H
#define NB6_RANK_COSTS_H

#include <stddef.h>
#include <stdint.h>

/** Zero-initialise. */
struct nb6_rank_costs {
    uint32_t *cost; /**< [room] in pairs, by nominal costs */
    size_t room;
};

/** @return 0 without memory: there is no room then */
int nb6_rank_costs_provide(struct nb6_rank_costs *costs, size_t n);
void nb6_rank_costs_free(struct nb6_rank_costs *costs);
uint64_t nb6_rank_costs_sum(const struct nb6_rank_costs *costs, int64_t n);
/** By bodies.   @param[in] target [n] all different   @param[in,out] work  of each body */
void nb6_rank_costs_add(const struct nb6_rank_costs *costs, int64_t n, const int32_t *target, uint64_t *work);

#endif
