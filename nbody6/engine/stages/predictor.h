/** Compact predictors of bodies as neighbours in irregular forces on a device: half of the memory of struct nb6_body,
 *  since a warp is limited by the loads of 32 such records. Positions are in double, since small differences of them
 *  matter; all else is in float. */
#ifndef NB6_STAGES_PREDICTOR_H
#define NB6_STAGES_PREDICTOR_H

#include "common/hd.h"
#include "gpuirr/pair.h"
#include "nbody6/state/body.h"

#include <math.h>
#include <stdint.h>

/** Predictor of a body from its t0. The lowest bits of jerk[2] hold the number k of trailing zeros of t0: see
 *  nb6_predictor_age. */
struct nb6_dev_predictor {
    NBC_ALIGNED(64) double x[3];
    float v[3], acc[3], jerk[3], mass;
};

NBC_ASSERT_CONSTANT(sizeof(struct nb6_dev_predictor) == 64, "one body, half of a cache line");

enum { NB6_PREDICTOR_ZEROS = 63 }; /**< mask of these bits. The jerk has 18 left: errors of some 10^-3 of a distance */

NBC_HD float nb6_predictor_with_zeros(float jerk, nb6_time t0)
{
    const uint32_t zeros = t0 ? (uint32_t)nbc_trailing_zeros((uint64_t)t0) : NB6_PREDICTOR_ZEROS - 1;
    return nbc_float_of_bits((nbc_bits_of_float(jerk) & ~(uint32_t)NB6_PREDICTOR_ZEROS) | zeros);
}

NBC_HD struct nb6_dev_predictor nb6_predictor_of(const struct nb6_body *body)
{
    struct nb6_dev_predictor predictor;
    for (int k = 0; k < 3; k++) {
        predictor.x[k] = body->x0[k];
        predictor.v[k] = (float)body->v0[k];
        predictor.acc[k] = (float)body->acc[k];
        predictor.jerk[k] = (float)body->jerk[k];
    }
    predictor.jerk[2] = nb6_predictor_with_zeros(predictor.jerk[2], body->t0);
    predictor.mass = (float)body->mass;
    return predictor;
}

/** Whether a body with this step is due again within 2^k ticks of t0. It is, since block times at which steps begin
 *  are multiples of the steps, unless these have become longer without a step in between. */
NBC_HD int nb6_predictor_is_valid(const struct nb6_body *body, int level, nb6_time ti_now)
{
    const nb6_time due = (ti_now | (nb6_step_ticks(level) - 1)) + 1;
    return body->t0 == 0 || due - body->t0 <= (nb6_time)1 << nbc_trailing_zeros((uint64_t)body->t0);
}

/** The same for a body from the host at time ti_now. If it does not hold, x[0] is NaN, so that wherever it is a
 *  neighbour the whole record is read. */
NBC_HD struct nb6_dev_predictor nb6_predictor_at(const struct nb6_body *body, int level, nb6_time ti_now)
{
    struct nb6_dev_predictor predictor = nb6_predictor_of(body);
    if (level >= 0 && !nb6_predictor_is_valid(body, level, ti_now)) predictor.x[0] = NAN;
    return predictor;
}

/** Time since t0, which is the last multiple of 2^k before the block time t. */
NBC_HD float nb6_predictor_age(const struct nb6_dev_predictor *predictor, nb6_time t)
{
    const uint32_t zeros = nbc_bits_of_float(predictor->jerk[2]) & NB6_PREDICTOR_ZEROS;
    return (float)(((t - 1) & (((nb6_time)1 << zeros) - 1)) + 1) * 0x1p-40f;
}

/** A neighbour at the block time t relative to x, with v rounded.   @param[out] pair  rounded */
NBC_HD void nb6_predictor_pair(const struct nb6_dev_predictor *predictor, nb6_time t, const double x[3],
                               const float v[3], struct gpuirr_float_pair *pair)
{
    const float s = nb6_predictor_age(predictor, t), half = 0.5f * s, third = (1.0f / 3.0f) * s;
    for (int k = 0; k < 3; k++) {
        pair->dx[k] = (float)(predictor->x[k] - x[k]) +
                      s * (predictor->v[k] + half * (predictor->acc[k] + third * predictor->jerk[k]));
        pair->dv[k] = (predictor->v[k] - v[k]) + s * (predictor->acc[k] + half * predictor->jerk[k]);
    }
    pair->m = predictor->mass;
    pair->r2 = pair->dx[0] * pair->dx[0] + pair->dx[1] * pair->dx[1] + pair->dx[2] * pair->dx[2];
}

#endif
