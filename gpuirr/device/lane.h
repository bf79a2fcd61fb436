/** Sums of a lane of a warp over one neighbour list, for the backends `cuda` and `emulated`. Neighbours are dealt out
 *  to the lanes one by one and predicted one by one, in double, and differences are taken in double; forces are
 *  summed in float as far as that is accurate enough (pair.h). Private to GPUIRR. */
#ifndef GPUIRR_DEVICE_LANE_H
#define GPUIRR_DEVICE_LANE_H

#include "common/hd.h"
#include "common/predictor.h"
#include "gpuirr/cuda_irregular.h"
#include "gpuirr/pair.h"

#include <math.h>
#include <stdint.h>

enum { GPUIRR_LANES = 32, GPUIRR_NO_NEIGHBOUR = INT32_MAX };

/** A neighbour is strong (pair.h) if its force is so many times that of one of mean mass at the edge of the list. A
 *  neighbour that is strong in one list and not in another one leaves its rounding error in their difference: the
 *  limit is an eighth of that on processors, whose sums of floats are themselves in float. */
#define GPUIRR_LANE_STRONG (GPUIRR_STRONG / 8)

/** A list, and the body whose force is summed, at the time of the call. */
struct gpuirr_lane_job {
    const struct gpuirr_device_body *body; /**< all */
    const int32_t *list;
    int32_t nnb;
    double t, x[3], v[3];
};

/** Pairs computed in double, beside those that do not fit floats. */
struct gpuirr_lane_rule {
    float strong;    /**< neighbours with strong m > r^2 */
    int only_double; /**< all of them */
};

/** Sums of a lane, or of all lanes. */
struct gpuirr_lane_sum {
    double acc[3], jerk[3];
    double noise; /**< rounding error of acc */
    double r2_min;
    int32_t nearest; /**< place in the list of the first neighbour at r2_min; GPUIRR_NO_NEIGHBOUR: none */
    uint32_t coincident;
    float m, r2, strongest; /**< of pairs in float: mass and r^2; the largest m/r^2 */
};

/** All predictions on a device. */
NBC_HD void gpuirr_body_at(const struct gpuirr_device_body *body, double t, double x[3], double v[3])
{
    nbc_predict(t - body->t0, body->x, body->v, body->acc, body->jerk, NBC_ROUND_FUSED, x, v);
}

NBC_HD int gpuirr_mass_fits_float(double mass)
{
    const double size = fabs(mass);
    return size == 0 || (size >= GPUIRR_MIN_MASS && size <= GPUIRR_MAX_MASS);
}

/** A neighbour, in float or double.   @param[in] place  in the list */
NBC_HD void gpuirr_lane_add(const struct gpuirr_lane_job *job, const struct gpuirr_lane_rule *rule,
                            const struct gpuirr_device_body *other, int32_t place, struct gpuirr_lane_sum *sum)
{
    double x[3], v[3];
    float part[6] = {0, 0, 0, 0, 0, 0};
    gpuirr_body_at(other, job->t, x, v);
    for (int k = 0; k < 3; k++) {
        x[k] -= job->x[k];
        v[k] -= job->v[k];
    }
    const double r2 = gpuirr_square(x);
    if (r2 < sum->r2_min) {
        sum->r2_min = r2;
        sum->nearest = place;
    }
    if (r2 == 0) {
        sum->coincident++;
        return;
    }
    const struct gpuirr_float_pair pair = gpuirr_round_pair(x, v, other->mass);
    if (rule->only_double || !gpuirr_is_for_floats(&pair, rule->strong) || !gpuirr_mass_fits_float(other->mass)) {
        gpuirr_add_in_double(x, v, other->mass, r2, sum->acc, sum->jerk);
        sum->noise += gpuirr_noise_in_double(other->mass, r2, job->x);
        return;
    }
    const float strength = pair.m * gpuirr_add_in_float(&pair, part);
    gpuirr_flush(part, sum->acc, sum->jerk);
    sum->noise += (double)(GPUIRR_NOISE_FLOAT * fabsf(strength));
    sum->m += pair.m;
    sum->r2 += pair.r2;
    if (strength > sum->strongest) sum->strongest = strength;
}

NBC_HD void gpuirr_lane_clear(struct gpuirr_lane_sum *sum)
{
    for (int k = 0; k < 3; k++) sum->acc[k] = sum->jerk[k] = 0;
    sum->noise = 0;
    sum->r2_min = INFINITY;
    sum->nearest = GPUIRR_NO_NEIGHBOUR;
    sum->coincident = 0;
    sum->m = sum->r2 = sum->strongest = 0;
}

/** Every 32nd neighbour, two of which are fetched at a time. */
NBC_HD void gpuirr_lane_make(const struct gpuirr_lane_job *job, const struct gpuirr_lane_rule *rule, int lane,
                             struct gpuirr_lane_sum *sum)
{
    gpuirr_lane_clear(sum);
    for (int32_t k = lane; k < job->nnb; k += 2 * GPUIRR_LANES) {
        const int32_t after = k + GPUIRR_LANES;
        const int has_next = after < job->nnb;
        const struct gpuirr_device_body one = job->body[job->list[k]],
                                        next = job->body[job->list[has_next ? after : k]];
        gpuirr_lane_add(job, rule, &one, k, sum);
        if (has_next) gpuirr_lane_add(job, rule, &next, after, sum);
    }
}

/** Add the sums of two halves of the lanes: the same bits in either order. */
NBC_HD void gpuirr_lane_join(struct gpuirr_lane_sum *sum, const struct gpuirr_lane_sum *other)
{
    for (int k = 0; k < 3; k++) {
        sum->acc[k] += other->acc[k];
        sum->jerk[k] += other->jerk[k];
    }
    sum->noise += other->noise;
    if (other->r2_min < sum->r2_min || (other->r2_min == sum->r2_min && other->nearest < sum->nearest)) {
        sum->r2_min = other->r2_min;
        sum->nearest = other->nearest;
    }
    sum->coincident += other->coincident;
    sum->m += other->m;
    sum->r2 += other->r2;
    if (other->strongest > sum->strongest) sum->strongest = other->strongest;
}

/* ---- consequences of the sums over all lanes */

/** A list is summed again, by another rule, if the sums show that this one was not accurate enough. All lanes come to
 *  the same result. First all possible pairs are in float; then strong ones are in double, by the means of the first
 *  sum; then all are, if floats have overflowed.
 *  @return 1: again */
NBC_HD int gpuirr_lane_again(const struct gpuirr_lane_sum *total, struct gpuirr_lane_rule *rule)
{
    const float edge = GPUIRR_LANE_STRONG / GPUIRR_EDGE * total->m;
    double zero = 0;
    if (rule->only_double) return 0;
    if (rule->strong == 0 && edge > 0 && total->strongest * total->r2 > edge) {
        rule->strong = total->r2 / edge;
        return 1;
    }
    for (int k = 0; k < 3; k++) zero += 0 * total->acc[k] + 0 * total->jerk[k]; /* otherwise the result is a NaN */
    if (zero == 0) return 0;
    rule->only_double = 1;
    return 1;
}

/** The first rule.   @param[in] in_double  1: all pairs in double */
NBC_HD struct gpuirr_lane_rule gpuirr_lane_first(int32_t nnb, int in_double)
{
    struct gpuirr_lane_rule rule;
    rule.strong = 0;
    rule.only_double = in_double || nnb < GPUIRR_SHORT_LIST;
    return rule;
}

/** The job of a task whose list is `list`. */
NBC_HD struct gpuirr_lane_job gpuirr_lane_job_of(const struct gpuirr_device_body *body, int32_t i, const int32_t *list,
                                                 int32_t nnb, double t)
{
    struct gpuirr_lane_job job;
    const struct gpuirr_device_body own = body[i];
    job.body = body;
    job.list = list;
    job.nnb = nnb;
    job.t = t;
    gpuirr_body_at(&own, t, job.x, job.v);
    return job;
}

NBC_HD struct gpuirr_force gpuirr_lane_force(const struct gpuirr_lane_job *job, const struct gpuirr_lane_sum *total)
{
    struct gpuirr_force force;
    for (int k = 0; k < 3; k++) {
        force.acc[k] = total->acc[k];
        force.jerk[k] = total->jerk[k];
    }
    force.nearest = total->nearest == GPUIRR_NO_NEIGHBOUR ? -1 : job->list[total->nearest];
    force.coincident = total->coincident;
    return force;
}

#endif
