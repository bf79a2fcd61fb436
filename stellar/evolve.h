/* Stars on their grids, for those who change them otherwise. */
#ifndef STELLAR_EVOLVE_H
#define STELLAR_EVOLVE_H

#include "stellar/grid.h"

/** The star itself at a time, which becomes a point of its grid.
 *  @param[in,out] work  of this star; `has_point` is cleared where the star moved
 *  @return NBC_OK; NBC_BAD_ARGUMENT: its phase does not end */
int stellar_stand_at(const struct stellar_model *model, double time_myr, struct stellar_star *star,
                     struct stellar_work *work, struct stellar_events *events, struct nbc_error *err);
/** Adds an event if there is room. @param[in,out] events  may be NULL */
void stellar_add_event(const struct stellar_event *event, struct stellar_events *events);

#endif
