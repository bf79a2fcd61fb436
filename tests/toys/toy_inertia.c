/* A toy of a column of the log: the sum of m r^2 over all bodies. Its line in the list: column.line. */
#include "nbody6/analysis/columns.h"
#include "nbody6/analysis/frame.h"

double nb6_column_toy_inertia(const struct nb6_run_record *run, const struct nb6_frame *frame,
                              const struct nb6_adjust_row *row)
{
    (void)run;
    (void)row;
    double sum = 0;
    for (int64_t i = 0; i < frame->n; i++) {
        const double *x = frame->x[i];
        sum += frame->mass[i] * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    }
    return sum;
}
