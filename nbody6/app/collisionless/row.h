/** The row of a collisionless run at an adjust time, as nbody6 logs it, from a frame. Columns of neighbours, pairs and
 *  chains are 0; steps_irr and dt_irr_* are those of the leapfrog. With a tree there are
 *  errors of forces. */
#ifndef NB6_COLLISIONLESS_ROW_H
#define NB6_COLLISIONLESS_ROW_H

#include "common/nbc.h"

struct nb6_adjust_row;
struct nb6_collisionless;
struct nb6_frame;
struct nb6_run_record;

/** The forces of a run: its log has columns of them (columns.h, `by_tree`). */
int nb6_collisionless_row_kind(const struct nb6_collisionless *system);
/** @param[in,out] run  counters and books follow; the first row opens its ledger of energies
 *  @param[in] frame    of the system, with potentials
 *  @param[out] row     overwritten
 *  @return NBC_OK; NBC_NON_FINITE (the energy is not finite); NBC_NO_MEMORY */
int nb6_collisionless_row(struct nb6_run_record *run, const struct nb6_collisionless *system,
                          const struct nb6_frame *frame, struct nb6_adjust_row *row, struct nbc_error *err);

#endif
