/** Performance model of a force by tree (Iwasawa et al. 2020, PASJ 72, 13, Sec. 6.2, whose equations are named), for
 *  what exists here: one tree, with no copies of bodies in other formats.
 *
 *  Each stage takes a start and its constants times bytes over the rate of memory, or operations over their rate. The
 *  constants are fitted: least squares of relative deviations, over all measured sizes and groups, none below zero.
 *  Two equations are misprinted there: eq. 12 lacks the 24 of eq. 6, and eq. 14 the b_key/B_host of eq. 8. */
#ifndef BENCH_TREE_MODEL_H
#define BENCH_TREE_MODEL_H

#include "bench/support/tree_work.h"

enum tree_model_stage {
    TREE_MODEL_KEY,      /**< n b/B, eq. 5 */
    TREE_MODEL_SORT,     /**< n 24 b_key/B, eq. 6 and 12 */
    TREE_MODEL_LINK,     /**< n/4 log2(n/4) b_key/B, eq. 8 and 14; on a device keys and their sort too */
    TREE_MODEL_MOMENTS,  /**< n b/B, eq. 9 */
    TREE_MODEL_LISTS,    /**< n n_list/n_i b_ID/B, eq. 25; on a device with the kernel */
    TREE_MODEL_KERNEL,   /**< n n_list (n_op/F + b/(n_i B)), eq. 21 */
    TREE_MODEL_TRANSFER, /**< n b/B_transfer, eq. 20, 22 and 24, of a device */
    TREE_MODEL_STAGES
};
const char *tree_model_stage_name(int stage);

/** A force of n bodies on themselves, by groups of n_i with lists of n_list terms: in the mean over targets. */
struct tree_record {
    double n, n_i, n_list, work; /**< work: operations on a target, with those of series of regions */
    double seconds[TREE_MODEL_STAGES];
};

enum { TREE_MODEL_CONSTANTS = 3 };
struct tree_model {
    struct machine_rates rates;
    double transfer;          /**< bytes a second between host and device */
    double theta;             /**< angle; 0: lists are those of an aim for errors */
    double n_op;              /**< operations of a term, in the mean */
    double factor;            /**< on the angle of eq. 30, with which it has the lists best */
    double edge_factor, edge; /**< the same, of tree_model_list */
    double linear[2];         /**< without an angle: a list is linear[0] + linear[1] log2 n */
    double constant[TREE_MODEL_STAGES][TREE_MODEL_CONSTANTS]; /**< seconds of the start, and slowdown factors */
};

/** Find all constants, those of the lengths of lists by least squares of logarithms.
 *  @param[in,out] model  with rates, transfer and theta   @param[in] count  1 and more */
void tree_model_fit(struct tree_model *model, const struct tree_record *record, int count);
/** Length of a list by eq. 30, for bodies without end; without an angle as the next one. */
double tree_model_eq30(const struct tree_model *model, double n, double n_i);
/** The same of a sphere, near whose edge groups have fewer neighbours: over 1 + edge/angle (n_i/n)^(1/3), the size of
 * what is opened over that of the sphere. Seconds of a stage with it. */
double tree_model_list(const struct tree_model *model, double n, double n_i);
double tree_model_seconds(const struct tree_model *model, int stage, double n, double n_i);
/** Seconds of a force: with a new tree, or one that is kept, whose keys, order and cells stay. */
double tree_model_force(const struct tree_model *model, double n, double n_i, int is_new);

/** The factor on the angle for which the lists of some records are those of eq. 30: least squares of logarithms. */
double tree_model_factor(const struct tree_record *record, const double *theta, int count);

/** The machines of table 4, and the seconds a step of the program of that paper on them: eq. 31 to 33 with its table 3,
 *  of one process, and of one among others, from which it has so many cells and bodies, n_LET.   @param[in] n_list  of
 *  the bodies of all */
struct paper_machine {
    const char *name;
    double operations, host, memory, transfer; /**< F_GPU, B_host, B_GPU, B_transfer */
};
enum { PAPER_MACHINES = 5 };
extern const struct paper_machine paper_machines[PAPER_MACHINES];
double paper_step(const struct paper_machine *m, double n, double n_i, double theta, int reuse);
double paper_step_among(const struct paper_machine *m, double n, double n_let, double n_list, double n_i, double reuse);

#endif
