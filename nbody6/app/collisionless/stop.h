/** Whether a run of nbody6-collisionless has to end before its end. */
#ifndef NB6_STOP_H
#define NB6_STOP_H

#include "nbody6/app/run_names.h"

struct nb6_collisionless;
struct nb6_progress;

enum { NB6_STOP_TEXT = NB6_NAME_BYTES + 40 };

struct nb6_stop_rules {
    double limit_s;        /**< of the wall clock; 0: none */
    double wall_start;     /**< when this session began */
    const char *stop_file; /**< name of the run's own file; STOP counts as well */
};

/** Of a signal, here or on another rank, the time limit, a STOP file: that is removed, so that it does not stop the
 * next run as well.
 *  @param[out] reason  in words; untouched if there is none   @return 1: it has to end */
int nb6_stop_is_wanted(const struct nb6_stop_rules *rules, const struct nb6_collisionless *system,
                       struct nb6_progress *progress, char reason[NB6_STOP_TEXT]);

#endif
