/** What a run says on stdout: a table row at each adjust, or on a terminal a live line; notes; the summary at the end.
 */
#ifndef NB6_PROGRESS_H
#define NB6_PROGRESS_H

#include "nbody6/analysis/adjust_row.h"

struct nb6_sim;
struct nb6_units;

struct nb6_progress {
    int live; /**< 1: a line that is written over; 0: table rows, unless quiet */
    int quiet;
    int rows;                   /**< table rows so far */
    int shown;                  /**< the live line is on the screen */
    double t_start, wall_start; /**< of this session */
    double t_end, time_myr;
    double drawn_s, sampled_s, sampled_t,
        speed;                  /**< clock of the last drawing; last sample; smoothed units per second */
    struct nb6_adjust_row last; /**< the last row; n = 0: none yet */
};

/** @param[in] quiet neither live line nor table rows */
void nb6_progress_begin(struct nb6_progress *progress, int quiet, double t, double t_end,
                        const struct nb6_units *units);

/** A line for the reader. */
void nb6_progress_note(struct nb6_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Adjust row. */
void nb6_progress_row(struct nb6_progress *progress, const struct nb6_adjust_row *row);

/** After each block step: draws the live line twice a second. */
void nb6_progress_step(struct nb6_progress *progress, double t, int64_t n);

/** Where the run ended, its energy error, steps, and where the wall time went. */
void nb6_progress_summary(struct nb6_progress *progress, const struct nb6_sim *sim);

#endif
