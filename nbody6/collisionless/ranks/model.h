/** How long direct sums on many ranks take (MTM13 Sec. 6): clocks of a GPU, sums on two streams, and the messages of
 *  world/spread.h; and what messages add to forces by trees. Numbers in, numbers out: nothing is measured here. */
#ifndef NB6_RANK_MODEL_H
#define NB6_RANK_MODEL_H

#include <stddef.h>
#include <stdint.h>

/** A GPU, as MTM13 describe it. */
struct nb6_gpu_model {
    double cores, processors; /**< of a multiprocessor, N_core; multiprocessors, N_SM */
    double threads;           /**< of a block, T_tot */
    double blocks;            /**< at once on a multiprocessor, B_SM */
    double pair, latency;     /**< clocks of an interaction, C_calc, and of an access to memory, L */
    double start;             /**< clocks of the launch of a kernel, C_kernel */
    double hertz;
};

/** Tesla M2090 by MTM13 Sec. 6.1: 17.2 clocks a pair, 3500 of a launch; of the 400 to 800 of L the middle. */
struct nb6_gpu_model nb6_gpu_m2090(void);
/** Seconds of a kernel with n_i targets and n_j sources.   Paper: MTM13 eq. 2 to 5.  Deviates: none. */
double nb6_gpu_seconds(const struct nb6_gpu_model *gpu, double n_i, double n_j);
/** Part of the ideal speed of so many GPUs, a power of two from 4 on, that wait for each other for `sync_s` in each
 *  second stage and otherwise make the sums of two streams at once: above 1 where one stream leaves multiprocessors
 *  idle.
 *  Paper: MTM13 eq. 6 to 9, with whole numbers for the logarithms, as their figures have them.
 *  @param[in] sum_s  of one GPU, sources and targets of its own   @param[in] sync_s  MTM13 Table 2 */
double nb6_two_streams_efficiency(int gpus, double sum_s, double sync_s);

/** A rank and its network, for nb6_rank_seconds. */
struct nb6_rank_model {
    double call_s, pair_s;           /**< of a sum: for each set of sources, for each pair */
    const struct nb6_gpu_model *gpu; /**< in place of these two; NULL: none */
    double latency_s, bytes_per_s;   /**< of a message */
    double source_bytes;             /**< of one body */
};

/** Seconds of the forces of n bodies on themselves, and of the agreement about them: while the sum over one set of
 *  sources is made the next one comes, and the longer of the two counts.
 *  @param[in] room  as nb6_spread_open */
double nb6_rank_seconds(const struct nb6_rank_model *model, double n, int ranks, double room);

/** A step of ranks that have trees (trees.h), all of whose bodies end it. */
struct nb6_rank_tree_model {
    double latency_s, bytes_per_s; /**< of a message */
    double work_s;                 /**< of the slowest rank: its tree and its lists */
    double all_bytes;              /**< that each rank tells all: top cell, and the box of its boxes if trees are new */
    double box_bytes, tree_bytes;  /**< that a rank sends to those that are close, in all */
    int is_kept;                   /**< 1: by lists of a plan; 0: trees are new, and bodies have come and gone before */
};
/** Paper: Iwasawa et al. 2020, PASJ 72, 13, eq. 34, 40 and 41.  Deviates: starts of messages to all are those of
 *  doubling; agreements have theirs. */
double nb6_rank_tree_seconds(const struct nb6_rank_tree_model *model, int ranks);

#endif
