/** The row of a run at an adjust time. */
#ifndef NB6_ADJUST_ROW_H
#define NB6_ADJUST_ROW_H

#include "nbody6/analysis/structure.h"
#include "nbody6/state/ledger.h"

#include <stdint.h>

/** Room for columns that a function computes (columns.h). */
enum { NB6_COMPUTED_MAX = 64 };

/** One row of NAME.log.csv and of the table on stdout. N-body units. */
struct nb6_adjust_row {
    double t;
    int64_t n;
    struct nb6_energy energy;
    double e_expected;
    double e_galaxy;                                        /**< work of a field that depends on time */
    double e_escaped, e_escaped_binding, e_merged;          /**< energies that were taken: less than 0 in the ledger */
    double e_changed;                                       /**< energy that stars brought which a program added, less
                                                                 that of those it removed; no column of the log */
    double e_stars;                                         /**< energy by masses that changed, and by kicks */
    struct nb6_transfers transfers;                         /**< mass, momentum and angular momentum by channel; the log
                                                                 has those of `stars` */
    double e_pairs, e_chains, e_hierarchies, e_integration; /**< parts of the error, total less expected */
    double de_cluster;          /**< accumulated energy error over that of the cluster, (E - e_expected)/e_cluster */
    double de_cluster_interval; /**< that of the last interval, relative to the work of a galaxy in it if that is more;
                                     QE limits it */
    double de_rel;              /**< accumulated energy error over the total, (E - e_expected)/e_scale */
    double de_rel_interval;     /**< that of the last interval */
    double r_lagr[NB6_LAGR_COUNT], r_core, rho_core, r_half, r_tide; /**< 0: not defined */
    double r_density[3], v_density[3];                               /**< density centre */
    int64_t n_core;
    double e_pot_error; /**< of the potential energy by a tree, over the energy of the cluster */
    double nnb_mean, r_nb_mean, nnb_opt;
    double dt_irr_min, dt_irr_max;
    int64_t n_pair, n_pair_perturbed; /**< regularized pairs, those with perturbers */
    int64_t n_chain, n_hierarchy;
    double e_pair_changes;         /**< sum of e_pairs, e_chains and e_hierarchies, relative to e_scale */
    double r_min, dt_min, e_close; /**< criteria of close encounters */
    struct nb6_counters counters;
    int64_t by_tree;                                  /**< enum nb6_column_runs; no column of the log */
    double force_err_50, force_err_99, force_err_max; /**< of a tree, at 1024 bodies (collisionless/force_error.h) */
    uint64_t tree_builds, tree_early, tree_renewals;  /**< of a tree that serves many steps (collisionless/rebuild.h) */
    double tree_failed;
    double stage_s[NB6_STAGE_COUNT], wall_s; /**< wall_s includes earlier sessions */
    double ns_per_pair_irr,
        ns_per_pair_reg;      /**< wall-clock time in the library per interaction since start of this session */
    double chain_s;           /**< wall-clock time of all threads in chains, this session */
    double gpuirr_s, gpunb_s; /**< wall-clock time in the force calls of the libraries, this session */
    double computed[NB6_COMPUTED_MAX]; /**< the columns of columns.def that are computed, in their order there */
};

#endif
