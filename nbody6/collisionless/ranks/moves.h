/** Records that go from each rank to others, such as bodies that come into another domain. */
#ifndef NB6_MOVES_H
#define NB6_MOVES_H

#include "common/nbc.h"

#include <stddef.h>
#include <stdint.h>

struct nb6_world;

/** All ranks call it together.
 *  @param[in]  size  bytes of a record
 *  @param[in]  item  [n] records   @param[in] to  [n] the rank that each goes to, which may be this one
 *  @param[out] come  [*n_come] those for this rank, in the order of ranks, and of each in its order; to be freed with
 *              nbc_free; set on success only
 *  @return NBC_OK; NBC_NO_MEMORY, on all ranks */
int nb6_moves_make(struct nb6_world *world, size_t size, int64_t n, const void *item, const int32_t *to, void **come,
                   int64_t *n_come, struct nbc_error *err);

#endif
