/** The part of the bodies of a collisionless system on one device, or on the host: its arrays, and the operations of
 *  the stages of a block on one body. One source for the processor and for GPUs, whose compiler joins no multiplication
 *  with an addition here: the same forces give the same bits.
 *
 *  Each part is the owner of consecutive bodies and has masses and positions of all, its own first, then those of the
 *  next part and so on, around (Miki, Takahashi & Mori 2013, Sec. 3: all sources, a part of the targets). */
#ifndef NB6_PART_H
#define NB6_PART_H

#include "common/hd.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/state/body.h"
#include "nbody6/state/level.h"

#include <math.h>
#include <stdint.h>

/* "No body": a number above all indices, with four equal bytes, so that memset can set it. */
enum { NB6_PART_LEVELS = 64, NB6_NOBODY_BYTE = 0x7f, NB6_NOBODY_BAD = 0x7f7f7f7f };

/** The results of a block that the host reads from each part. */
struct nb6_part_word {
    int32_t bad;                    /**< the first own body that cannot go on, else NB6_NOBODY_BAD */
    int32_t count[NB6_PART_LEVELS]; /**< own bodies of each level */
};

/** All arrays are in memory of the part's device. */
struct nb6_part {
    struct nb6_leapfrog_rules rules;
    int32_t n, n_own;                    /**< bodies in all; those that it owns */
    int32_t origin;                      /**< number here of the first body of the system */
    int keeps_tree;                      /**< 1: between blocks */
    double *mass;                        /**< [n] */
    double (*x)[3];                      /**< [n] at the next block time */
    double (*x0)[3], (*v)[3], (*acc)[3]; /**< [n_own] as in struct nb6_collisionless */
    double (*v_half)[3];                 /**< [n_own] after the first kick */
    int8_t *level;                       /**< [n_own] */
    int32_t *due;                        /**< [n_own] bodies that end a step, ascending; if all are, of a tree alone */
    double (*x_due)[3];                  /**< [n_own] where they are; likewise */
    double (*acc_due)[3];                /**< [n_own] their last accelerations, for a tree; NULL: direct sums */
    double (*acc_own)[3];                /**< [n_own] on them, from the part's own bodies, then from all */
    double (*acc_others)[3];             /**< [n_own] from all others; NULL: acc_own has them */
    struct nb6_part_word *word;
};

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

/** Position and last acceleration of a due body, for the forces, at its place among them. */
NBC_HD void nb6_part_gather(const struct nb6_part *s, int32_t m)
{
    const int32_t i = s->due[m];
    for (int k = 0; k < 3; k++) s->x_due[m][k] = s->x[i][k];
    for (int k = 0; k < 3 && s->acc_due; k++) s->acc_due[m][k] = s->acc[i][k];
}

/** Adds the two parts of an acceleration.   @return whether it is finite */
NBC_HD int nb6_part_check(const struct nb6_part *s, int32_t m)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        if (s->acc_others) s->acc_own[m][k] += s->acc_others[m][k];
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
