/** Operations and bytes of a force by tree, counted from its sources, and what they take at least.
 *
 *  A multiply-add is two operations, another product, sum or difference one, and an inverse root eight, so that a pair
 *  of bodies has 26. A term is counted as it is written (gpunb/tree/term.h, local.h), whatever a compiler makes of it.
 *  tests/cli/test_model_tree.py counts the same sources with a type that counts. */
#ifndef BENCH_TREE_WORK_H
#define BENCH_TREE_WORK_H

#include "gpunb/tree.h"

#include <stddef.h>

enum { TREE_WORK_PAIR = 26 };

/** Operations of term_sums, and of a whole term of a cell on a target. */
double tree_work_sums(int order, int want_pot);
double tree_work_term(int order, int want_pot);
/** Operations of local_add_cell, of a whole cell on a region, and of a region's series on a target. */
double tree_work_add_cell(int order);
double tree_work_region_cell(int order);
double tree_work_region_target(void);
/** Bytes of a cell that a walk reads and that its term needs. */
double tree_work_node_bytes(void);
double tree_work_coefficient_bytes(int order);
/** Bytes of a body: position, mass and last acceleration that are read, acceleration that is written. */
double tree_work_body_bytes(void);

/** Operations and bytes a second that a machine has at most. */
struct machine_rates {
    double operations, bytes;
};
/** Those of an H200 (66.9 TFlop/s in float, 4.8 TB/s) for `cuda`; else of this processor with all threads, measured: a
 *  loop of multiply-adds in the vectors of the backend, and a copy of a large array, read and written.
 *  @return not a number without memory */
struct machine_rates machine_rates_of(const char *backend);

/** The least seconds of the parts of a force: sums at the rate of operations, bytes once at the rate of bytes. */
struct tree_floor {
    double pairs, cells, regions, bytes; /**< regions: cells on regions, and these on targets */
    double sums;                         /**< the larger of all operations and bytes */
    double sort, walk, build;            /**< apart, by bytes: sorted keys; cells that are read; moments written */
};
/** @param[in] work    counts of so many forces of n bodies on themselves   @param[in] n_cells  of the tree
 *  @param[in] order, want_pot  of the terms */
struct tree_floor tree_floor_of(const struct gpunb_tree_counts *work, double forces, size_t n, double n_cells,
                                int order, int want_pot, const struct machine_rates *rates);

/** Counts of what was done since earlier ones. */
struct gpunb_tree_counts tree_work_since(const struct gpunb_tree_counts *all, const struct gpunb_tree_counts *before);

/** Length of an interaction list: Iwasawa et al. 2020, PASJ 72, 13, eq. 30, for n bodies, groups of n_i and an angle.
 */
double tree_work_list_length(double n, double n_i, double theta);

#endif
