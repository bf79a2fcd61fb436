/** Times of a step by tree on many processes (Iwasawa et al. 2020, PASJ 72, 13, eq. 34 to 43, and Sec. 7.2), with the
 *  constants of their table 3: numbers in, numbers out. */
#ifndef BENCH_DOMAIN_MODEL_H
#define BENCH_DOMAIN_MODEL_H

#include "bench/support/tree_model.h"

/** How the multipoles of domains that are far reach a process. */
enum domain_tops {
    DOMAIN_TOPS_OF_ALL,  /**< those of all processes to all (eq. 40) */
    DOMAIN_TOPS_IN_TREES /**< a tree of domains: those of cells of domains, from level to level (Sec. 7.2) */
};

/** A network, and how often domains and lists are made. */
struct domain_model {
    const struct paper_machine *machine;
    double bytes_per_s, all_s, one_s; /**< B_inj; starts of an MPI_Allgather and of a message, tau */
    double theta, n_i;                /**< angle, and targets of a group */
    double reuse, divisions, samples; /**< n_reuse, n_dc, n_smp */
    enum domain_tops tops;
};
/** The K computer's network and their reference machine, as in their figures 11 and 12. */
struct domain_model domain_model_of_paper(void);

/** Seconds of the parts of a step. */
struct domain_times {
    double single, divide, construct, tops, trees; /**< T_step,single, T_dc/n_dc, T_LET,const/n_reuse; T_LET,exch: to
                                                        all, and to those that are close */
    double all;                                    /**< eq. 34 */
};
/** @param[in] n  bodies of a process   @param[in] processes  1: there are no messages */
struct domain_times domain_model_times(const struct domain_model *model, double n, double processes);

/** Processes that are close (eq. 43), at most all others. */
double domain_model_close(double theta, double processes);
/** Cells and bodies that a process gets (eq. 42): without and with the tops of those that are far. */
double domain_model_near_items(double theta, double n, double processes);
double domain_model_items(const struct domain_model *model, double n, double processes);

#endif
