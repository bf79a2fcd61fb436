/** Columns of the log: the table in columns.def, from which the log is written. */
#ifndef NB6_COLUMNS_H
#define NB6_COLUMNS_H

#include <stddef.h>

struct nb6_adjust_row;
struct nb6_frame;
struct nb6_run_record;

/** The quantity of one column, in the unit of the column.
 *  @param[in] sim    at the time of an adjust, before escapers are removed
 *  @param[in] frame  its bodies: single stars, and the centres of mass of pairs and chains, with potentials
 *  @param[in] row    values computed so far: all that are no quantity of this kind */
typedef double nb6_quantity(const struct nb6_run_record *run, const struct nb6_frame *frame,
                            const struct nb6_adjust_row *row);

/** How the value is stored and printed. A time has 12 digits: it is a multiple of 2^-40, and 1.1 shall read 1.1. */
enum nb6_column_kind { NB6_COLUMN_TIME, NB6_COLUMN_REAL, NB6_COLUMN_INTEGER, NB6_COLUMN_COUNT };

/** Runs whose logs have a column: those of this kind of forces, and of later ones. */
enum nb6_column_runs { NB6_COLUMNS_ALL, NB6_COLUMNS_TREE, NB6_COLUMNS_KEPT_TREE /**< a tree serves many steps */ };

struct nb6_column {
    const char *name, *unit, *meaning;
    enum nb6_column_kind kind;
    size_t offset, count; /**< values in struct nb6_adjust_row; more than one: so many columns */
    nb6_quantity *of;     /**< NULL: a member of the row */
    int by_tree;          /**< enum nb6_column_runs */
};

/** Line k of the table; NULL past the end. */
const struct nb6_column *nb6_column(int k);
/** Fill in the columns that are computed. All else of the row is known. */
void nb6_columns_compute(const struct nb6_run_record *run, const struct nb6_frame *frame, struct nb6_adjust_row *row);

#endif
