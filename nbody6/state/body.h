/** The two records of a star, and the integer time they are kept in. */
#ifndef NB6_BODY_H
#define NB6_BODY_H

#include "common/hd.h"
#include "common/predictor.h"

#include <stdint.h>

/** Number of a body in the tables of a run: stars from 0 on, then the centre of mass of each slot (nb6_centre in
 *  members.h). NB6_NOBODY where there is none; of stars that are gone after a renumbering as well. Functions that only
 *  look a body up take any integer as int64_t. */
typedef int32_t nb6_index;
/** Number of a system in the table of subsystems, from 0 on. Negative where there is none: NB6_NO_SLOT where it is
 * said, any negative number from nb6_slot_of, which is asked about stars as well. */
typedef int64_t nb6_slot;
/** The same as it is stored, in tables and checkpoints. */
typedef int32_t nb6_stored_slot;

enum { NB6_NOBODY = -1, NB6_NO_SLOT = -1 };

/** Ticks of 2^-40 N-body units. */
typedef int64_t nb6_time;

enum { NB6_TIME_BITS = 40 };

NBC_HD double nb6_time_to_double(nb6_time t)
{
    return (double)t * 0x1p-40;
}

/** Length of a step of level k: 2^k ticks. */
NBC_HD nb6_time nb6_step_ticks(int level)
{
    return (nb6_time)1 << level;
}

NBC_HD double nb6_step_length(int level)
{
    return nb6_time_to_double(nb6_step_ticks(level));
}

/** The predictor data of a body, read by other bodies: one aligned record of 128 bytes. Acceleration and jerk are
 *  totals at t0. */
struct nb6_body {
    NBC_ALIGNED(64) double x0[3];
    double v0[3];
    double acc[3], jerk[3];
    double mass;
    nb6_time t0; /**< last irregular step */
    double spare[2];
};

NBC_ASSERT_CONSTANT(sizeof(struct nb6_body) == 128, "one body, two cache lines");

/** Data of a body's own corrector. Derivatives are those at the end of the last step of their kind. */
struct nb6_star {
    double acc_irr[3], jerk_irr[3], snap_irr[3], crackle_irr[3]; /**< at body.t0; the external field is part of it */
    double acc_reg[3], jerk_reg[3], snap_reg[3], crackle_reg[3]; /**< at t0_reg */
    nb6_time t0_reg;
    double r_nb;       /**< neighbour radius */
    double radius;     /**< of the star itself */
    double mass_start; /**< of a star when it came; of one that others merged into, of all; body.mass is now */
    int64_t name;      /**< permanent identity, 1-based as the input's line or order of creation */
    int32_t nnb;       /**< length of the neighbour list (the list itself is in GPUIRR) */
    int8_t level_irr, level_reg; /**< steps are 2^level ticks */
    int8_t spare[2];
    int32_t owner; /**< 0, or 1 + slot of the pair or chain that the body belongs to; of a star that merged into star i
                      and goes at the next adjust: -1 - i */
    int32_t spare_owner;
};

/** Position and velocity of a body s after t0 (common/predictor.h). */
NBC_HD void nb6_predict(const struct nb6_body *body, double s, double x[3], double v[3])
{
    nbc_predict(s, body->x0, body->v0, body->acc, body->jerk, NBC_ROUND_AS_COMPILED, x, v);
}

/** Whether a star or a frozen pair is a member of the system in a slot, and of which. */
NBC_HD int nb6_is_member(const struct nb6_star *star)
{
    return star->owner > 0;
}

NBC_HD nb6_slot nb6_owner_slot(const struct nb6_star *star)
{
    return star->owner - 1;
}

NBC_HD void nb6_set_owner(struct nb6_star *star, nb6_slot slot)
{
    star->owner = (int32_t)slot + 1;
}

/** Whether a star has merged into another one, and into which. */
NBC_HD int nb6_has_merged(const struct nb6_star *star)
{
    return star->owner < 0;
}

NBC_HD int32_t nb6_merged_into(const struct nb6_star *star)
{
    return -1 - star->owner;
}

NBC_HD void nb6_set_merged(struct nb6_star *star, int32_t into)
{
    star->owner = -1 - into;
}

#endif
