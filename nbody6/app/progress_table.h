/** The table of a run on stdout: a row at each adjust, with as many columns as fit. */
#ifndef NB6_PROGRESS_TABLE_H
#define NB6_PROGRESS_TABLE_H

struct nb6_adjust_row;

enum { NB6_TABLE_TEXT = 256 };

/** Number of columns, at least one, with a row of at most `width` characters.   @param[in] width  0: all of them */
int nb6_table_columns(int width);
/** Their names, or a row of them, without the end of the line.   @param[in] time_myr  N-body unit of time */
void nb6_table_header(int columns, char text[NB6_TABLE_TEXT]);
void nb6_table_row(const struct nb6_adjust_row *row, double time_myr, int columns, char text[NB6_TABLE_TEXT]);

#endif
