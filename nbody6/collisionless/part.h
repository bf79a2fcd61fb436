/** The part of the bodies of a collisionless system on one device, or on the host: its arrays, and the operations of
 *  the stages of a block on one body. One source for the processor and for GPUs, whose compiler joins no multiplication
 *  with an addition here: the same forces give the same bits.
 *
 *  Each part is the owner of consecutive bodies and has masses and positions of all, its own first, then those of the
 *  next part and so on, around (Miki, Takahashi & Mori 2013, Sec. 3: all sources, a part of the targets). With a tree
 *  bodies change their owners (owners.h); `place` is where a body is in the order of all parts. */
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

/** A body as it acts on others, on its way to another rank. */
struct nb6_source {
    double x[3], mass;
};

/** All arrays are in memory of the part's device. */
struct nb6_part {
    struct nb6_leapfrog_rules rules;
    int32_t n, n_own;                    /**< bodies in all; those that it owns */
    int keeps_tree;                      /**< 1: between blocks */
    int32_t room, first;                 /**< those that it may own; place of its first one */
    double *mass;                        /**< [n] */
    double (*x)[3];                      /**< [n] at the next block time */
    double (*x0)[3], (*v)[3], (*acc)[3]; /**< [room] as in struct nb6_collisionless */
    int8_t *level;                       /**< [room] */
    int32_t *due;                        /**< [room] bodies that end a step, ascending; if all are, of a tree alone */
    double (*x_due)[3];                  /**< [room] where they are; likewise */
    double (*acc_own)[3];                /**< [room] their last accelerations, for a tree; then those on them, from
                                              the part's own bodies, then from all */
    double (*acc_others)[3];             /**< [room] from all others; NULL: acc_own has them */
    /* NULL but where bodies change their owners: */
    int32_t *body;  /**< [room] number of each body in the system */
    uint64_t *work; /**< [room] since all bodies ended a step together, in pairs */
    uint32_t *cost; /**< [room] of due bodies in this force by tree */
    int32_t *order; /**< [n] sources along the curve */
    struct nb6_part_word *word;
};

/** Bodies on the way to other owners, in the order that they had: all of them, in scratch of each part. */
struct nb6_part_move {
    int32_t first; /**< place of the first own body before */
    double *mass;  /**< [n] from the own bodies on, around, as the part had them */
    double (*x0)[3], (*v)[3], (*acc)[3];
    int32_t *body;
    int8_t *level;
    uint64_t *work; /**< for the sums */
    uint64_t *sum;  /**< [NB6_OWNERS_SUMS] of work along the curve */
};

/** Number here of the body in the first place: by numbers from this one on all parts have the same order. */
NBC_HD int32_t nb6_part_origin(const struct nb6_part *s)
{
    return s->first > 0 ? s->n - s->first : 0;
}

/* ---- the stages, of own body i or due body m */

/** @return whether its position is one that forces are made for, up to `limit` */
NBC_HD int nb6_part_drift(const struct nb6_part *s, int32_t i, nb6_time ti_now, nb6_time ti_next, double limit)
{
    double v_half[3];
    nb6_leapfrog_drift(s->level[i], ti_now, ti_next, s->x0[i], s->v[i], s->acc[i], v_half, s->x[i]);
    if (s->work && nb6_step_ends(s->rules.max_level, ti_now)) s->work[i] = 0;
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
    for (int k = 0; k < 3; k++) s->acc_own[m][k] = s->acc[i][k];
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

/** The work of a due body's force.   @param[in] by_tree  0: a direct sum */
NBC_HD void nb6_part_add_work(const struct nb6_part *s, int32_t n_due, int32_t m, int by_tree)
{
    if (s->work) s->work[nb6_part_due(s, n_due, m)] += by_tree ? s->cost[m] : (uint64_t)s->n;
}

/** All keep the velocity of their first kick, which the drift has made and dropped. */
NBC_HD void nb6_part_keep(const struct nb6_part *s, int32_t i, nb6_time ti_now)
{
    nb6_leapfrog_first_kick(s->level[i], ti_now, s->v[i], s->acc[i], s->v[i]);
}

NBC_HD void nb6_part_commit(const struct nb6_part *s, int32_t n_due, int32_t m, nb6_time ti_next)
{
    const int32_t i = nb6_part_due(s, n_due, m);
    nb6_leapfrog_kick(&s->rules, ti_next, s->acc_own[m], s->x[i], s->x0[i], s->v[i], s->acc[i], &s->level[i]);
}

/* ---- a part alone on its rank: it has its own sources, and those of others come in sets */

NBC_HD struct nb6_source nb6_part_source(const struct nb6_part *s, int32_t i)
{
    const struct nb6_source source = {{s->x[i][0], s->x[i][1], s->x[i][2]}, s->mass[i]};
    return source;
}

/** Adds a sum by one set of sources to the sum by others before it. */
NBC_HD void nb6_part_add(double sum[3], const double more[3])
{
    for (int k = 0; k < 3; k++) sum[k] += more[k];
}

/** The acceleration of the m-th due body from sums [slots][room] by sets of sources, in their order. */
NBC_HD void nb6_part_total(const struct nb6_part *s, int32_t m, int slots, const double (*sum)[3])
{
    double total[3] = {0, 0, 0};
    for (int slot = 0; slot < slots; slot++) nb6_part_add(total, sum[(int64_t)slot * s->room + m]);
    for (int k = 0; k < 3; k++) s->acc_own[m][k] = total[k];
}

/* ---- the word, on the host */

static inline int nb6_part_shortest(const struct nb6_part_word *word)
{
    int level = 0;
    while (level < NB6_PART_LEVELS - 1 && word->count[level] == 0) level++;
    return level;
}

/** Bodies whose steps end at a time. */
static inline int32_t nb6_part_due_at(const struct nb6_part_word *word, nb6_time t)
{
    int32_t n = 0;
    for (int level = 0; level < NB6_PART_LEVELS - 1; level++)
        if (word->count[level] > 0 && nb6_step_ends(level, t)) n += word->count[level];
    return n;
}

/* ---- between owners */

/** The k-th source of a part that has its new owners, and the body that it owns there. */
NBC_HD void nb6_part_take(const struct nb6_part *s, const struct nb6_part_move *from, int32_t k)
{
    const int64_t n = s->n, place = ((int64_t)s->first + k) % n, old = s->order[place];
    s->mass[k] = from->mass[(old - from->first + n) % n];
    if (k >= s->n_own) return;
    for (int c = 0; c < 3; c++) {
        s->x0[k][c] = from->x0[old][c];
        s->v[k][c] = from->v[old][c];
        s->acc[k][c] = from->acc[old][c];
    }
    s->body[k] = from->body[old];
    s->level[k] = from->level[old];
}

#endif
