/** NAME.log.csv: one row at each adjust time.
 *
 *  First line: names of the columns; second line: "# units: " and the unit of each; third line: "# run: " and
 *  the id of the run; fourth line: "# engine: " and the engine of the blocks of single stars; then the rows, and a line
 *  where another engine goes on, or parameters change. Readers that skip lines which begin with # (pandas, numpy) need
 *  nothing else. Timings are the last columns: all others are the same for the same input. One table,
 *  analysis/columns.def, makes the header and the rows. */
#ifndef NB6_LOG_H
#define NB6_LOG_H

#include "common/nbc.h"

#include "nbody6/output/textfile.h"

struct nb6_adjust_row;

/** Header lines, for an empty file.   @param[in] run  id of the run (run_id.h)   @param[in] engine  its name
 *  @param[in] by_tree  enum nb6_column_runs, as all rows say */
int nb6_log_begin(struct nb6_textfile *file, const char *run, const char *engine, int by_tree, struct nbc_error *err);
/** The engine that advances the blocks of single stars from time t on: a comment line, "# engine: host from t =
 *  1.5". */
int nb6_log_engine(struct nb6_textfile *file, const char *engine, double t, struct nbc_error *err);
/** A parameter that has another value from time t on: a comment line, "# changed: ETAI 0.02 -> 0.01 from t = 1.5". */
int nb6_log_change(struct nb6_textfile *file, const char *name, const char *before, const char *after, double t,
                   struct nbc_error *err);
/** An interval with too large an energy error is repeated: a comment line, "# again: from t = 1.5, energy error up to t
 * = 2". */
int nb6_log_again(struct nb6_textfile *file, double t, double t_failed, struct nbc_error *err);
/** The text of a row, without the end of the line.   @param[out] line  overwritten */
void nb6_log_row_text(const struct nb6_adjust_row *row, struct nb6_line *line);
/** One row. */
int nb6_log_row(struct nb6_textfile *file, const struct nb6_adjust_row *row, struct nbc_error *err);

/** Column k of a run without a tree: name, unit and meaning.   @return 0 past the end */
int nb6_log_column(int k, char name[64], const char **unit, const char **description);

#endif
