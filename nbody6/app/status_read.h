/** What log and events say of a run that may still be writing them. Private to status*.c. */
#ifndef NB6_STATUS_READ_H
#define NB6_STATUS_READ_H

#include <stdint.h>

/** The last whole row of a log. */
struct nb6_last_row {
    int known; /**< 0: there is none */
    double t, t_myr, de_cluster, de_cluster_interval, wall_s;
    int64_t n;
};

struct nb6_last_row nb6_status_last_row(const char *log);

/** Events of the kind energy_jump: adjust intervals whose error is above QE. */
int64_t nb6_status_energy_jumps(const char *events);

#endif
