/** The leapfrog (collisionless.h has the method): its operations on a body, for processors and GPUs, and one block of a
 *  system in memory. */
#ifndef NB6_LEAPFROG_H
#define NB6_LEAPFROG_H

#include "common/hd.h"
#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/state/level.h"

#include <math.h>
#include <stdint.h>

struct nb6_collisionless;

struct nb6_leapfrog_rules {
    double softening, eta;
    int max_level, block; /**< as in struct nb6_collisionless */
};

/** When the step that ti_now is in, or begins, began. */
NBC_HD nb6_time nb6_leapfrog_began(int level, nb6_time ti_now)
{
    return ti_now & ~(nb6_step_ticks(level) - 1);
}

/** First kick, if the step begins at ti_now. */
NBC_HD void nb6_leapfrog_first_kick(int level, nb6_time ti_now, const double v[3], const double acc[3],
                                    double v_half[3])
{
    const double half = nb6_leapfrog_began(level, ti_now) == ti_now ? 0.5 * nb6_step_length(level) : 0;
    for (int k = 0; k < 3; k++) v_half[k] = v[k] + half * acc[k];
}

/** First kick, and drift to ti_next. Each drift starts where the step began: rounding does not add up over the blocks
 *  within a step. */
NBC_HD void nb6_leapfrog_drift(int level, nb6_time ti_now, nb6_time ti_next, const double x0[3], const double v[3],
                               const double acc[3], double v_half[3], double x[3])
{
    const double drift = nb6_time_to_double(ti_next - nb6_leapfrog_began(level, ti_now));
    nb6_leapfrog_first_kick(level, ti_now, v, acc, v_half);
    for (int k = 0; k < 3; k++) x[k] = x0[k] + drift * v_half[k];
}

/** The step of a body by its acceleration: the longest not longer than eta sqrt(epsilon/|a|). */
NBC_HD int nb6_leapfrog_wanted(const struct nb6_leapfrog_rules *rules, const double acc[3])
{
    const double a = sqrt(acc[0] * acc[0] + acc[1] * acc[1] + acc[2] * acc[2]);
    if (!rules->block) return rules->max_level;
    return nb6_level_of(rules->eta * sqrt(rules->softening / a), rules->max_level);
}

/** Of a body that ends its step at ti_next, by its acceleration there. */
NBC_HD int nb6_leapfrog_next_level(const struct nb6_leapfrog_rules *rules, int level, nb6_time ti_next,
                                   const double acc[3])
{
    return nb6_level_next(level, nb6_leapfrog_wanted(rules, acc), ti_next);
}

/** Second kick of a body that ends its step at ti_next, and its next step.
 *  @param[in] v_half  after the first kick   @param[out] v  after the second; may be v_half */
NBC_HD void nb6_leapfrog_end_kick(const struct nb6_leapfrog_rules *rules, nb6_time ti_next, const double acc[3],
                                  const double v_half[3], double v[3], int8_t *level)
{
    const double half = 0.5 * nb6_step_length(*level);
    for (int k = 0; k < 3; k++) v[k] = v_half[k] + half * acc[k];
    *level = (int8_t)nb6_leapfrog_next_level(rules, *level, ti_next, acc);
}

/** The same of one that is at x, whose position and acceleration become the last ones.
 *  @param[in,out] v  after the first kick; after the second */
NBC_HD void nb6_leapfrog_kick(const struct nb6_leapfrog_rules *rules, nb6_time ti_next, const double acc[3],
                              const double x[3], double x0[3], double v[3], double old[3], int8_t *level)
{
    for (int k = 0; k < 3; k++) {
        old[k] = acc[k];
        x0[k] = x[k];
    }
    nb6_leapfrog_end_kick(rules, ti_next, acc, v, v, level);
}

#ifdef __cplusplus
extern "C" {
#endif

struct nb6_leapfrog_rules nb6_leapfrog_rules(const struct nb6_collisionless *system);

/** Accelerations and steps of all bodies at the start.
 *  @return as nb6_leapfrog_block */
int nb6_leapfrog_start(struct nb6_collisionless *system, struct nbc_error *err);
/** Potentials of all bodies where they are, by forces that are made in memory.   @param[out] pot  [n]
 *  @return as nb6_leapfrog_block */
int nb6_leapfrog_potentials(struct nb6_collisionless *system, double *pot, struct nbc_error *err);
/** The steps that bodies begin at t = 0, by their accelerations. */
void nb6_leapfrog_choose_steps(struct nb6_collisionless *system);
/** Whether the levels of a system that goes on are such as there are.   @return NBC_OK; NBC_BAD_ARGUMENT: names a body
 */
int nb6_leapfrog_check_levels(const struct nb6_collisionless *system, struct nbc_error *err);
/** To the next block time. Nothing has changed after a failure.
 *  @return NBC_OK; NBC_NON_FINITE (names the body); statuses of GPUNB */
int nb6_leapfrog_block(struct nb6_collisionless *system, struct nbc_error *err);

#ifdef __cplusplus
}
#endif
#endif
