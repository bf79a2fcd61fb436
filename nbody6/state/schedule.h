/** The block times of bodies: a list of bodies for each step length. Cost is proportional to the active set. */
#ifndef NB6_SCHEDULE_H
#define NB6_SCHEDULE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

/** @param[in] n_max bodies at most. NULL if there is no memory. */
struct nb6_schedule *nb6_schedule_create(int64_t n_max);
/** Room for at least n_max bodies; scheduled ones stay. Copies everything: grow geometrically.
 *  @return 1; 0 without memory: the schedule is as it was */
int nb6_schedule_reserve(struct nb6_schedule *schedule, int64_t n_max);
void nb6_schedule_free(struct nb6_schedule *schedule);
/** Put body i (or move it) to `level`, 0 to NB6_TIME_BITS. */
void nb6_schedule_set(struct nb6_schedule *schedule, int32_t i, int level);
/** Level of body i, -1: it is not in. */
int nb6_schedule_level(const struct nb6_schedule *schedule, int32_t i);
/** Take body i out. */
void nb6_schedule_remove(struct nb6_schedule *schedule, int32_t i);
/** The smallest multiple of a step in use that is later than `now`; INT64_MAX when no body is scheduled. */
nb6_time nb6_schedule_next(const struct nb6_schedule *schedule, nb6_time now);
/** Bodies with a step that divides t, ascending.   @param[out] act [n_max]   @return their number */
int64_t nb6_schedule_due(struct nb6_schedule *schedule, nb6_time t, int32_t *act);
/** Bodies of this level. */
int64_t nb6_schedule_count(const struct nb6_schedule *schedule, int level);

#endif
