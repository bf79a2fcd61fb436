/** Levels of block steps: 2^level ticks. */
#ifndef NB6_LEVEL_H
#define NB6_LEVEL_H

#include "common/hd.h"
#include "nbody6/state/body.h"

#include <math.h>

/** ilogb(dt) of a positive number, which is a call of a function on processors; for 0 and numbers below 2^-1022, for
 *  which no step is short enough, any number below -1022. */
NBC_HD int nb6_exponent_of(double dt)
{
#ifdef __CUDA_ARCH__
    return ilogb(dt);
#else
    uint64_t bits;
    memcpy(&bits, &dt, sizeof bits);
    return (int)(bits >> 52) - 1023;
#endif
}

/** Level of the longest block step not longer than dt, within [0, max_level]. */
NBC_HD int nb6_level_of(double dt, int max_level)
{
    if (!(dt < nb6_step_length(max_level))) return max_level;
    int level = nb6_exponent_of(dt) + NB6_TIME_BITS;
    return level < 0 ? 0 : level;
}

/** Whether t is a multiple of the step of a level. */
NBC_HD int nb6_step_ends(int level, nb6_time t)
{
    return (t & (nb6_step_ticks(level) - 1)) == 0;
}

/** Next level of a body at time t: shorter at once, longer by one if the doubled step divides t. */
NBC_HD int nb6_level_next(int level, int wanted, nb6_time t)
{
    if (wanted <= level) return wanted;
    return nb6_step_ends(level + 1, t) ? level + 1 : level;
}

#endif
