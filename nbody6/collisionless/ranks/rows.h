/** Columns of the bodies of all ranks on their way to rank 0 and back, some rows at a time, so that it need not hold
 * all bodies. All ranks call a function together, with the same arguments but for those that rank 0 alone has. */
#ifndef NB6_RANK_ROWS_H
#define NB6_RANK_ROWS_H

#include "nbody6/state/body_rows.h"

#include <stddef.h>
#include <stdint.h>

struct nb6_collisionless;
struct nb6_world;

/** Bytes of a row. */
size_t nb6_rank_row_bytes(enum nb6_body_column column);
/** The array of a share; NULL: its bodies have no such array.   @param[in] pot  [share->n] or NULL */
void *nb6_rank_column(const struct nb6_collisionless *share, enum nb6_body_column column, double *pot);
/** Rows of equal shares (nb6_world_share) go to rank 0.
 *  @param[in] n  bodies of all ranks   @param[in] mine  [own share]   @param[out] rows  [count]; rank 0 */
void nb6_rank_rows_out(struct nb6_world *world, int64_t n, size_t row, int64_t first, int64_t count, const void *mine,
                       void *rows);
/** The other way.   @param[out] mine  [own share], of which rows in the range are set   @param[in] rows  [count]; rank
 * 0
 */
void nb6_rank_rows_in(struct nb6_world *world, int64_t n, size_t row, int64_t first, int64_t count, const void *rows,
                      void *mine);

/** Bytes that rank 0 needs for rows of bodies that are anywhere. */
enum { NB6_RANK_ROWS_SCRATCH = 1 << 18 };
/** Rows of bodies that have numbers, from 1 on, go to rank 0 from the ranks that have them.
 *  @param[in] own, number  bodies of this rank, and their numbers, ascending   @param[in] mine  [own]
 *  @param[out] rows  [count] of the numbers from first + 1 on; rank 0
 *  @param[out] scratch  of rank 0: NB6_RANK_ROWS_SCRATCH bytes */
void nb6_rank_rows_find(struct nb6_world *world, int64_t own, const int64_t *number, size_t row, int64_t first,
                        int64_t count, const void *mine, void *rows, void *scratch);

/** Bodies that are all in memory of rank 0; there are none of a column that is NULL, but for names, from 1 on. */
struct nb6_rank_arrays {
    int64_t n;
    const void *column[NB6_ROWS_LEVEL + 1];
};
/** `give` of a struct nb6_body_source, whose context is a struct nb6_rank_arrays. */
int nb6_rank_give_arrays(void *context, const struct nb6_body_sink *sink, struct nbc_error *err);

#endif
