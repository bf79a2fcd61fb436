/** Tables of a fitted model of forces by tree (tree_model.h), on standard output. */
#ifndef BENCH_TREE_REPORT_H
#define BENCH_TREE_REPORT_H

#include "bench/support/tree_model.h"
#include "gpunb/tree/costs.h"

double tree_record_seconds(const struct tree_record *record);

/** Rates, starts and slowdown factors. */
void tree_report_constants(const struct tree_model *model);
/** Each record with its list beside eq. 30, and its stages: measured, and predicted over measured. */
void tree_report_records(const struct tree_model *model, const char *what, const struct tree_record *record, int count);
/** The exponent of N, from 2^20 on where there are two such sizes. */
void tree_report_exponent(const struct tree_record *record, int sizes);
/** Figures 8 and 9 of the paper: seconds a step against the size of groups, on hypothetical machines. */
void tree_report_steps(const struct tree_model *model);
/** Its figure 10: seconds a step by the rates of host memory and of the link. */
void tree_report_plane(void);
/** Operations a byte of each kernel, and what the machine makes of them at most (Yokota & Barba 2012, figure 1).
 *  @param[in] costs    nominal costs of the backend (gpunb/tree/costs.h)   @param[in] threads  as many make terms */
void tree_report_roofline(const struct tree_model *model, const struct tree_record *largest,
                          const struct gpunb_tree_costs *costs, int threads);
/** The least time of a force of n bodies on themselves, and how much of the measured time that is.
 *  @param[in] handle  with its sources, of which a tree is built to count cells
 *  @param[in] work    of so many forces   @param[in] seconds  of a force
 *  @param[in] rates   0: machine_rates_of the backend   @return as gpunb_tree_build */
int tree_report_floor(gpunb_t *handle, size_t n, const struct gpunb_tree_counts *work, int forces, double seconds,
                      struct machine_rates rates);
/** Operations by order, as numbers alone. */
void tree_report_work(void);

#endif
