/** Records that go from each rank to others, such as bodies that come into another domain. */
#ifndef NB6_MOVES_H
#define NB6_MOVES_H

#include "common/nbc.h"

#include <stddef.h>
#include <stdint.h>

struct nb6_moves;
struct nb6_world;

/** @return of this rank: NBC_OK; NBC_NO_MEMORY */
int nb6_moves_open(struct nb6_moves **moves, struct nb6_world *world, struct nbc_error *err);
/** Accepts NULL. */
void nb6_moves_close(struct nb6_moves *moves);

struct nb6_moves_job {
    size_t size;       /**< bytes of a record */
    int64_t n;         /**< records that go */
    const int32_t *to; /**< [n] the rank that each goes to, which may be this one */
    int status;        /**< of this rank so far: if it is not NBC_OK, nothing else is read */
    /** Record number i.   @param[out] record  [size] */
    void (*fill)(const void *context, int64_t i, void *record);
    /** Room for so many that come; NULL: none is needed.   @return of this rank: NBC_OK; NBC_NO_MEMORY */
    int (*provide)(void *context, int64_t n_come, struct nbc_error *err);
    void *context;
};

/** All ranks call it together.
 *  @param[out] come  [*n_come] those for this rank, in the order of ranks, and of each in its order; to be freed with
 *              nbc_free; set on success only
 *  @return NBC_OK; NBC_NO_MEMORY, or a status of a job, on all ranks */
int nb6_moves_make(struct nb6_moves *moves, const struct nb6_moves_job *job, void **come, int64_t *n_come,
                   struct nbc_error *err);

#endif
