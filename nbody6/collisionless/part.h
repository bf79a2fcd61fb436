/** The part of the bodies of a collisionless system that lives in one place: the arrays, and what the stages of a block
 *  do with one of them. One source for the processor and for GPUs, whose compiler joins no multiplication with an
 *  addition here: the same forces give the same bits.
 *
 *  Each part is the owner of consecutive bodies and has masses and positions of all, its own first, then those of the
 *  next part and so on, around (Miki, Takahashi & Mori 2013, Sec. 3: all sources, a part of the targets). */
#ifndef NB6_PART_H
#define NB6_PART_H

#include "common/hd.h"
#include "nbody6/state/body.h"
#include "nbody6/state/level.h"

#include <math.h>
#include <stdint.h>

/* Nobody: a number above all others of which all bytes are the same. */
enum { NB6_PART_LEVELS = 64, NB6_NOBODY_BYTE = 0x7f, NB6_NOBODY_BAD = 0x7f7f7f7f };

struct nb6_leapfrog_rules {
    double softening, eta;
    int max_level, block; /**< as in struct nb6_collisionless */
};

/** What is asked of a part after each block. */
struct nb6_part_word {
    int32_t bad;                    /**< the first own body that cannot go on, else NB6_NOBODY_BAD */
    int32_t count[NB6_PART_LEVELS]; /**< own bodies of each level */
};

/** All arrays are where the part lives. */
struct nb6_part {
    struct nb6_leapfrog_rules rules;
    int32_t n, n_own;                    /**< bodies in all; those that it owns */
    double *mass;                        /**< [n] */
    double (*x)[3];                      /**< [n] at the next block time */
    double (*x0)[3], (*v)[3], (*acc)[3]; /**< [n_own] as in struct nb6_collisionless */
    double (*v_half)[3];                 /**< [n_own] after the first kick */
    int8_t *level;                       /**< [n_own] */
    int32_t *due;                        /**< [n_own] whose step ends, ascending; not used if all are */
    double (*x_due)[3];                  /**< [n_own] where they are; not used if all are */
    double (*acc_own)[3];                /**< [n_own] on them, from the part's own bodies, then from all */
    double (*acc_others)[3];             /**< [n_own] from all others */
    struct nb6_part_word *word;
};

/** First kick, if the step begins at ti_now, and drift to ti_next. Each drift starts where the step began: rounding
 * does not add up over the blocks within a step. */
NBC_HD void nb6_leapfrog_drift(int level, nb6_time ti_now, nb6_time ti_next, const double x0[3], const double v[3],
                               const double acc[3], double v_half[3], double x[3])
{
    const nb6_time step = nb6_step_ticks(level), began = ti_now & ~(step - 1);
    const double half = began == ti_now ? 0.5 * nb6_time_to_double(step) : 0;
    const double drift = nb6_time_to_double(ti_next - began);
    for (int k = 0; k < 3; k++) {
        v_half[k] = v[k] + half * acc[k];
        x[k] = x0[k] + drift * v_half[k];
    }
}

/** The step of a body by its acceleration: the longest not longer than eta sqrt(epsilon/|a|). */
NBC_HD int nb6_leapfrog_wanted(const struct nb6_leapfrog_rules *rules, const double acc[3])
{
    const double a = sqrt(acc[0] * acc[0] + acc[1] * acc[1] + acc[2] * acc[2]);
    if (!rules->block) return rules->max_level;
    return nb6_level_of(rules->eta * sqrt(rules->softening / a), rules->max_level);
}

/** Second kick of a body whose step ends at ti_next, and its next step.
 *  @param[in,out] v  after the first kick; after the second */
NBC_HD void nb6_leapfrog_kick(const struct nb6_leapfrog_rules *rules, nb6_time ti_next, const double acc[3],
                              const double x[3], double x0[3], double v[3], double old[3], int8_t *level)
{
    const double half = 0.5 * nb6_step_length(*level);
    for (int k = 0; k < 3; k++) {
        old[k] = acc[k];
        x0[k] = x[k];
        v[k] += half * acc[k];
    }
    *level = (int8_t)nb6_level_next(*level, nb6_leapfrog_wanted(rules, acc), ti_next);
}

/* ---- the stages, of own body i or due body m */

/** @return whether its position is one that forces are made for, up to `limit` */
NBC_HD int nb6_part_drift(const struct nb6_part *s, int32_t i, nb6_time ti_now, nb6_time ti_next, double limit)
{
    nb6_leapfrog_drift(s->level[i], ti_now, ti_next, s->x0[i], s->v[i], s->acc[i], s->v_half[i], s->x[i]);
    return fabs(s->x[i][0]) <= limit && fabs(s->x[i][1]) <= limit && fabs(s->x[i][2]) <= limit;
}

/** Body of the m-th place among n_due. */
NBC_HD int32_t nb6_part_due(const struct nb6_part *s, int32_t n_due, int32_t m)
{
    return n_due == s->n_own ? m : s->due[m];
}

/** Adds the two parts of an acceleration.   @return whether it is finite */
NBC_HD int nb6_part_check(const struct nb6_part *s, int32_t m)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        if (s->n_own < s->n) s->acc_own[m][k] += s->acc_others[m][k];
        sum += 0 * s->acc_own[m][k];
    }
    return sum == 0;
}

/** All keep the velocity of their first kick. */
NBC_HD void nb6_part_keep(const struct nb6_part *s, int32_t i)
{
    for (int k = 0; k < 3; k++) s->v[i][k] = s->v_half[i][k];
}

NBC_HD void nb6_part_commit(const struct nb6_part *s, int32_t n_due, int32_t m, nb6_time ti_next)
{
    const int32_t i = nb6_part_due(s, n_due, m);
    nb6_leapfrog_kick(&s->rules, ti_next, s->acc_own[m], s->x[i], s->x0[i], s->v[i], s->acc[i], &s->level[i]);
}

#endif
