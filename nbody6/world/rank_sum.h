/** Numbers of all ranks together, the same bits on each of them and in each call. */
#ifndef NB6_RANK_SUM_H
#define NB6_RANK_SUM_H

struct nb6_world;

enum { NB6_RANK_SUMS = 16 };

/** Sums of numbers, in the order of ranks, compensated.   @param[in] count  up to NB6_RANK_SUMS */
void nb6_rank_sum(struct nb6_world *world, double *value, int count);
/** Likewise the largest ones. */
void nb6_rank_largest(struct nb6_world *world, double *value, int count);

#endif
