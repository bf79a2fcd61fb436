/** Nearest neighbours of the stars with which a run begins: found once, for the check of coincident stars, the density
 *  centre, the first pairs and the first neighbour spheres. */
#ifndef NB6_NEAREST_H
#define NB6_NEAREST_H

#include "common/nbc.h"

#include <stdint.h>

/** The sixth neighbour measures the density (Casertano & Hut 1985, ApJ 298, 80). */
enum { NB6_NEAREST_KEPT = 6 };

struct nb6_nearest {
    int64_t n;
    double (*x)[3];                     /**< [n] positions that it is of */
    int64_t (*index)[NB6_NEAREST_KEPT]; /**< [n] nearest others, nearest first, and -1 where there are fewer */
    double (*r2)[NB6_NEAREST_KEPT];     /**< [n] squares of their distances; infinity where there are fewer */
    int32_t *order;                     /**< [n] all of them in an order in which those next to each other are near */
};

/** @param[in] x [n][3]   @param[out] found  NULL after a failure; to be freed by nb6_nearest_free
 *  @return NBC_OK; NBC_BAD_ARGUMENT, NBC_NON_FINITE (names the point), NBC_NO_MEMORY */
int nb6_nearest_find(int64_t n, const double (*x)[3], struct nb6_nearest **found, struct nbc_error *err);
void nb6_nearest_free(struct nb6_nearest *nearest);
/** Whether it was found for these n positions; NULL: for none. */
int nb6_nearest_is_of(const struct nb6_nearest *nearest, int64_t n, const double (*x)[3]);

#endif
