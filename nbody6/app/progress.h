/** Output of a run on stdout: a table row at each adjust, on a terminal also a live line below the table; notes; the
 *  summary at the end. With --quiet only warnings, on stderr. */
#ifndef NB6_PROGRESS_H
#define NB6_PROGRESS_H

#include "nbody6/analysis/adjust_row.h"

struct nb6_sim;
struct nb6_textfile;
struct nb6_units;

enum { NB6_LINE_TEXT = 400 };

struct nb6_progress {
    const char *program;        /**< its name is before warnings on stderr */
    int live;                   /**< 1: stdout is a terminal, and has a line that is written over */
    int quiet;                  /**< 1: nothing on stdout */
    int rows, columns;          /**< table rows since the last header, and columns of that */
    char line[NB6_LINE_TEXT];   /**< the live line */
    int shown;                  /**< it is on the screen */
    double t_start, wall_start; /**< of this session */
    double t_end, time_myr;
    double drawn_s, sampled_s, sampled_t,
        speed;                  /**< clock of the last drawing; last sample; smoothed units per second */
    struct nb6_adjust_row last; /**< the last row; n = 0: none yet */
};

void nb6_progress_begin(struct nb6_progress *progress, const char *program, int quiet, double t, double t_end,
                        const struct nb6_units *units);

/** A line for the reader. */
void nb6_progress_note(struct nb6_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** A line that must not be missed: on stderr if the run is quiet. */
void nb6_progress_warn(struct nb6_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** A line that requires an action of the user, on stderr. */
void nb6_progress_alarm(struct nb6_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Warn once if a file that the run writes to was removed or renamed. */
void nb6_progress_watch(struct nb6_progress *progress, struct nb6_textfile *file);

/** A row of the table, as wide as the terminal. */
void nb6_progress_row(struct nb6_progress *progress, const struct nb6_adjust_row *row);

/** After each block step: draws the live line twice a second, as wide as the terminal is then. */
void nb6_progress_step(struct nb6_progress *progress, double t, int64_t n);

/** Where the run ended, its energy error, steps, and where the wall time went. */
void nb6_progress_summary(struct nb6_progress *progress, const struct nb6_sim *sim);

#endif
