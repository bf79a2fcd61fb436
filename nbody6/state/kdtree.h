/** Nearest neighbours of points in space by a balanced k-d tree. O(n log n) to build, O(log n) for a query.
 *  Threads: building and the two functions for all points use OpenMP; a tree that is built is read-only, so queries may
 *  run side by side. Results depend on the points only, not on the number of threads: neighbours are ordered by
 *  (distance, index), ties included. */
#ifndef NB6_KDTREE_H
#define NB6_KDTREE_H

#include "common/nbc.h"

#include <stdint.h>

typedef struct nb6_kdtree nb6_kdtree_t;

/** A tree over n points, which are copied.
 *  @param[in]  x     [n][3]; n >= 0
 *  @param[out] tree  set on success only
 *  @return NBC_OK; NBC_BAD_ARGUMENT (n < 0); NBC_NON_FINITE (names the point); NBC_NO_MEMORY */
int nb6_kdtree_build(int64_t n, const double (*x)[3], nb6_kdtree_t **tree, struct nbc_error *err);
void nb6_kdtree_free(nb6_kdtree_t *tree);
/** All points as the tree has them: those that follow each other are near each other.   @return [n] indices */
const int64_t *nb6_kdtree_order(const nb6_kdtree_t *tree);
/** The k points nearest to a place, nearest first.
 *  @param[in]  exclude index of a point that does not count (the one that asks), -1 for none
 *  @param[in]  k       >= 1
 *  @param[out] index   [k]; r2 [k] squared distances
 *  @return number found: k, or all there are */
int nb6_kdtree_nearest(const nb6_kdtree_t *tree, const double place[3], int64_t exclude, int k, int64_t *index,
                       double *r2);
/** Gets the nearest others of point i; called by several threads at once, for each point once.
 *  @param[in] found  how many there are, k at most   @param[in] index, r2  [found] as of nb6_kdtree_nearest */
typedef void nb6_kdtree_take(void *context, int64_t i, int found, const int64_t *index, const double *r2);
/** The k nearest other points of every point, which are handed over as they are found.
 *  @return NBC_OK; NBC_BAD_ARGUMENT (k < 1 or above 32767); NBC_NO_MEMORY */
int nb6_kdtree_each(const nb6_kdtree_t *tree, int k, nb6_kdtree_take *take, void *context, struct nbc_error *err);
/** The k nearest other points of every point. Where there are fewer than k, rows are padded with index -1, r2 infinity.
 *  @param[out] index [n][k]; r2 [n][k]; nearest first; either may be NULL
 *  @return NBC_OK; NBC_BAD_ARGUMENT (k < 1 or above 32767); NBC_NO_MEMORY */
int nb6_kdtree_neighbours(const nb6_kdtree_t *tree, int k, int64_t *index, double *r2, struct nbc_error *err);

#endif
