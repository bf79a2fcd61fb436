/** Contents of log and events of a run that may still be writing them. Private to status*.c. */
#ifndef NB6_STATUS_READ_H
#define NB6_STATUS_READ_H

#include "nbody6/state/energy_ledger.h"

#include <stdint.h>

/** The last whole row of a log. */
struct nb6_last_row {
    int known; /**< 0: there is none */
    double t, t_myr, de_cluster, de_cluster_interval, wall_s;
    double part[NB6_ERROR_PARTS]; /**< of the error of the interval that ends with it */
    int64_t n;                    /**< before stars are removed at that time */
};

struct nb6_last_row nb6_status_last_row(const char *log);

/** How many stars were removed at a time: the row of that time counts them still, as their events come after it. */
int64_t nb6_status_escapes_at(const char *events, double t);

/** Events of the kind energy_jump: adjust intervals with an error above QE. */
int64_t nb6_status_energy_jumps(const char *events);

#endif
