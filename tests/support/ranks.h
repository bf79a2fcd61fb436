/** Collisionless systems on ranks that are threads, for tests. */
#ifndef NB6_TEST_RANKS_H
#define NB6_TEST_RANKS_H

#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/world/spread.h"
#include "nbody6/world/threads.h"
#include "tests/support/cluster.h"

/** The task of rank 0, and its result. Zero-initialise. */
struct ranks_run {
    int ranks; /**< 1: without a world */
    struct nb6_threads_options threads;
    struct nb6_collisionless_options options;
    const struct cluster *start;    /**< the bodies; or */
    const struct ranks_run *resume; /**< one that has ended, and goes on */
    double t[4];                    /**< times to evolve to, one after another, up to the first 0 */
    int with_frames;                /**< 1: a frame with potentials between them */
    int (*wants_stop)(void);        /**< of all ranks but the first */

    struct nb6_collisionless state; /**< arrays at the end, to be freed with ranks_run_free; */
    struct nb6_rank_places places;  /**< with these goes on what ranks with trees have left */
    double *pot;                    /**< [n] at the end, if with_frames */
    int stops, status;              /**< ranks that want to stop; the first failure of a call */
    int repeated;                   /**< the status of a failed call that is made again */
    struct nbc_error err;
    double seconds; /**< of the last rank, on the clock of the world, from the start to the end of all calls */
    struct nb6_spread_counts counts;
    struct nb6_rank_trees_counts tree_counts; /**< of rank 0, by trees */
    const char *engine, *backend;
    struct nb6_rank_survey survey; /**< of several ranks at the end, if with_frames */
    int served[64];                /**< what nb6_ranks_serve returned on the first 64 ranks */
};

/** The status with which rank 0 dismisses the others. */
enum { RANKS_DISMISSED = NBC_ENERGY };

/** Fails the test if messages are wrong; failures of rank 0, and threads for which there is no memory, are in the run.
 */
void ranks_run(struct ranks_run *run);
void ranks_run_free(struct ranks_run *run);
/** ranks_run, which must not fail, of a copy that is returned. */
struct ranks_run ranks_finished(struct ranks_run run);
/** Beside sums in double over all bodies: the largest errors of 99 of 100 accelerations and potentials, and the sum of
 * all m a over that of m |a|. */
struct ranks_errors {
    double acc, pot, momentum;
};
/** Of a run with frames. */
struct ranks_errors ranks_errors_of(const struct ranks_run *run);
/** Positions, velocities and potentials differ by no more. */
void ranks_assert_near(const struct ranks_run *a, const struct ranks_run *b, double tolerance);
/** Of a run with frames: the last survey is that of all bodies on one rank. */
void ranks_assert_surveyed(const struct ranks_run *run);
/** The same bits. */
void ranks_assert_same(const struct ranks_run *a, const struct ranks_run *b);

/** Scenes that all kinds of forces have, of the run of rank 0. */

/** The same bits however messages travel, in so many orders. */
void ranks_assert_no_order_matters(const struct ranks_run *run, int orders);
/** The state at t[0] goes on to t[1] with the same bits on as many ranks, and within a tolerance on one and on five. */
void ranks_assert_goes_on(const struct ranks_run *run, double tolerance);
/** A body that flies beyond what forces are made for, on each rank in turn: all learn its number, the state is that
 *  before, and the ranks are there for another try.   @param[in] run  without bodies */
void ranks_assert_bad_bodies_end(const struct ranks_run *run);
/** Every so many allocations of any rank one fails: no rank is left waiting, and what is made again afterwards has the
 *  same bits.   @param[in] fail_at, left  of failing_alloc.h, which a program includes once   @return failures */
long ranks_fail_allocations(const struct ranks_run *run, long every, void (*fail_at)(long k), const _Atomic long *left);
/** One body that is alone, or a few of a Plummer sphere. */
struct cluster ranks_few_bodies(int64_t n);

#endif
