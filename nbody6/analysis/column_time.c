/* The time in physical units. */
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/columns.h"
#include "nbody6/state/run_record.h"

double nb6_column_t_myr(const struct nb6_run_record *run, const struct nb6_frame *frame,
                        const struct nb6_adjust_row *row)
{
    (void)frame;
    return row->t * run->units.time_myr;
}
