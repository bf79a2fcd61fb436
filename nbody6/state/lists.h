/** Neighbour lists and lists of perturbers when two bodies become one or one becomes two. */
#ifndef NB6_LISTS_H
#define NB6_LISTS_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Bodies that have one of two stars in their list, and not the other, ascending; they stay until a list changes.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_lists_one_sided(struct nb6_sim *sim, nb6_index i, nb6_index j, int64_t *n, const nb6_index **body,
                        struct nbc_error *err);
/** Neighbour lists of all others when i and j become c, or c becomes two bodies, of which one may be c itself.
 *  @param[in] add  ascending */
int nb6_lists_join(struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_index c, struct nbc_error *err);
int nb6_lists_split(struct nb6_sim *sim, nb6_index c, const nb6_index add[2], struct nbc_error *err);
/** The same in the lists of perturbers; entries of -1 are none, those of add ascend. */
int nb6_perturbers_replace(struct nb6_sim *sim, const nb6_index remove[2], const nb6_index add[2],
                           struct nbc_error *err);

#endif
