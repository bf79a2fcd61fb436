/** The structure of a cluster (structure.h), and the nearest neighbours that are found on the way. Private to
 *  libnbody6. */
#ifndef NB6_STRUCTURE_WATCHED_H
#define NB6_STRUCTURE_WATCHED_H

#include "common/nbc.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/state/kdtree.h"

#include <stdint.h>

/** nb6_structure_find, which hands over the six nearest neighbours of each star, the costliest part, as they are found.
 *  @param[in] take  gets them (kdtree.h), for any number of stars   @return as nb6_structure_find */
int nb6_structure_watched(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                          nb6_kdtree_take *take, void *context, struct nb6_structure *out, struct nbc_error *err);

#endif
