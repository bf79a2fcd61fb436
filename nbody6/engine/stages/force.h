/** Irregular force (stage of the block step), on a device: the force on a body over a row of neighbours, which are
 *  predicted one by one. */
#ifndef NB6_STAGES_FORCE_H
#define NB6_STAGES_FORCE_H

#include "common/hd.h"
#include "gpuirr/pair.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/galaxy/device_field.h"
#include "nbody6/state/body.h"

#include <math.h>
#include <stdint.h>

/** A neighbour is strong if its force is so many times that of one of mean mass at the edge of the sphere. Rounding one
 * such force would drown the small differences between the sums over two lists that correctors are made of: strong
 * neighbours, which are one in some thousand, are summed in double (as GPUIRR does). */
#define NB6_DEV_STRONG 256.0

/** A neighbour is near if it may take part in an encounter after the corrector: the factor on the reach of encounters
 *  allows for the largest change of position by the corrector. */
#define NB6_DEV_NEAR_MARGIN 1.02

/** Terms of a body whose force is summed, at the block time. */
struct nb6_dev_point {
    double x[3], v[3];
    float strong;               /**< neighbours with strong m > r^2 are */
    float mass, two_mean, near; /**< neighbours with r < near max(two_mean, mass + m) are near */
};

NBC_HD struct nb6_dev_point nb6_dev_predict(const struct nb6_dev *dev, int32_t i, nb6_time t)
{
    struct nb6_dev_point point;
    const double r_nb = dev->star[i].r_nb;
    nb6_predict(&dev->body[i], nb6_time_to_double(t - dev->body[i].t0), point.x, point.v);
    point.strong =
        dev->rules.step.in_double ? INFINITY : (float)(r_nb * r_nb / (NB6_DEV_STRONG * dev->rules.mean_mass));
    point.mass = (float)dev->body[i].mass;
    point.two_mean = (float)(2 * dev->rules.mean_mass);
    point.near = dev->rules.near;
    return point;
}

NBC_HD void nb6_dev_add_in_double(const double x[3], const double v[3], double mass, struct gpunb_dev_sum *sum)
{
    const double r2 = gpuirr_square(x);
    if (!(r2 > 0)) return;
    gpuirr_add_in_double(x, v, mass, r2, sum->acc, sum->jerk);
}

NBC_HD void nb6_dev_flush(float part[6], struct gpunb_dev_sum *sum)
{
    gpuirr_flush(part, sum->acc, sum->jerk);
}

/** A neighbour relative to the body, at time t. */
NBC_HD void nb6_dev_neighbour_at(const struct nb6_body *other, nb6_time t, const struct nb6_dev_point *point,
                                 double x[3], double v[3])
{
    nb6_predict(other, nb6_time_to_double(t - other->t0), x, v);
    for (int d = 0; d < 3; d++) {
        x[d] -= point->x[d];
        v[d] -= point->v[d];
    }
}

/** Distance within which a neighbour of some mass is near, at the predicted positions. */
NBC_HD float nb6_dev_reach(const struct nb6_dev_point *point, float mass)
{
    const float both = point->mass + mass;
    return point->near * (both > point->two_mean ? both : point->two_mean);
}

/** A body that has come into the list (sign 1) or gone (-1) changes the sum over it, in double: this is a small part
 *  of the force, to which the regular corrector is the most sensitive.   @param[in] other  at the block time
 *  @return whether it is near */
NBC_HD int nb6_dev_add_change(const struct nb6_body *other, double sign, const struct nb6_dev_point *point,
                              struct gpunb_dev_sum *sum)
{
    double x[3], v[3];
    for (int k = 0; k < 3; k++) {
        x[k] = other->x0[k] - point->x[k];
        v[k] = other->v0[k] - point->v[k];
    }
    nb6_dev_add_in_double(x, v, sign * other->mass, sum);
    const float reach = nb6_dev_reach(point, (float)other->mass);
    return !(gpuirr_square(x) >= (double)(reach * reach));
}

/** The nearest near neighbour at the predicted positions; body < 0: there is none. */
struct nb6_dev_near {
    float r2, next_r2; /**< squared distance; that of the next near one */
    int32_t body;
};

/** Add one more; a NaN counts as near. */
NBC_HD void nb6_dev_note_near(struct nb6_dev_near *near, int32_t j, float r2)
{
    if (!(r2 >= 0.0f)) {
        near->r2 = near->next_r2 = 0.0f;
        near->body = j;
    } else if (r2 < near->r2) {
        near->next_r2 = near->r2;
        near->r2 = r2;
        near->body = j;
    } else if (r2 < near->next_r2) {
        near->next_r2 = r2;
    }
}

/** Add neighbour j in float, NA12 eq. 8 and 9, unless it is strong.   @param[in] v  of the point, rounded
 *  @return 0: it is strong, and was not added */
NBC_HD int nb6_dev_add_neighbour(const struct nb6_dev_predictor *other, int32_t j, nb6_time t,
                                 const struct nb6_dev_point *point, const float v[3], float part[6],
                                 struct nb6_dev_near *near)
{
    struct gpuirr_float_pair pair;
    nb6_predictor_pair(other, t, point->x, v, &pair);
    const float reach = nb6_dev_reach(point, pair.m);
    if (!(pair.r2 >= reach * reach)) nb6_dev_note_near(near, j, pair.r2);
    if (!gpuirr_is_for_floats(&pair, point->strong)) return 0;
    gpuirr_add_in_float(&pair, part);
    return 1;
}

NBC_ASSERT_CONSTANT(NB6_DEV_FLUSH <= 32, "a bit of a word for each term that is added in float at a time");

/** Strong neighbours of a lane.   @param[in] list  the first neighbour of the lane   @param[in] strong  bits, one for
 *  every 32nd neighbour */
NBC_HD void nb6_dev_add_strong(const struct nb6_dev *dev, nb6_time t, const struct nb6_dev_point *point,
                               const int32_t *list, uint32_t strong, struct gpunb_dev_sum *sum)
{
    for (; strong; strong &= strong - 1) {
        const struct nb6_body *other = &dev->body[list[nbc_lowest_bit(strong) * NB6_DEV_LANES]];
        double x[3], v[3];
        nb6_dev_neighbour_at(other, t, point, x, v);
        nb6_dev_add_in_double(x, v, other->mass, sum);
    }
}

/** The sum of one lane for the irregular force: every 32nd neighbour, with two loads in flight. Strong ones are added
 *  after the others, so that lanes without any wait once.
 *  @param[in] list [nnb] */
NBC_HD void nb6_dev_force_lane(const struct nb6_dev *dev, const struct nb6_dev_point *point, const int32_t *list,
                               int32_t nnb, nb6_time t, int lane, struct gpunb_dev_sum *sum, struct nb6_dev_near *near)
{
    float part[6] = {0, 0, 0, 0, 0, 0};
    const float v[3] = {(float)point->v[0], (float)point->v[1], (float)point->v[2]};
    near->r2 = near->next_r2 = INFINITY;
    near->body = -1;
    gpunb_dev_clear(sum);
    for (int32_t first = lane; first < nnb; first += NB6_DEV_FLUSH * NB6_DEV_LANES) {
        const int32_t end = nnb - first < NB6_DEV_FLUSH * NB6_DEV_LANES ? nnb - first : NB6_DEV_FLUSH * NB6_DEV_LANES;
        const int32_t *own = list + first;
        uint32_t strong = 0, bits = 1;
        for (int32_t k = 0; k < end; k += 2 * NB6_DEV_LANES, bits <<= 2) {
            const int has_next = k + NB6_DEV_LANES < end;
            const int32_t j = own[k], j_next = own[has_next ? k + NB6_DEV_LANES : k];
            const struct nb6_dev_predictor one = dev->predictor[j], next = dev->predictor[j_next];
            if (!nb6_dev_add_neighbour(&one, j, t, point, v, part, near)) strong |= bits;
            if (has_next && !nb6_dev_add_neighbour(&next, j_next, t, point, v, part, near)) strong |= bits << 1;
        }
        nb6_dev_flush(part, sum);
        nb6_dev_add_strong(dev, t, point, own, strong, sum);
    }
}

/* ---- rounding errors */

/** Rounding errors of the forces that nb6_dev_force_lane sums in one lane. Few steps need them. */
NBC_HD float nb6_dev_noise_lane(const struct nb6_dev *dev, const struct nb6_dev_point *point, const int32_t *list,
                                int32_t nnb, nb6_time t, int lane)
{
    const float v[3] = {(float)point->v[0], (float)point->v[1], (float)point->v[2]};
    const float far = (float)sqrt(gpuirr_square(point->x));
    float noise = 0;
    for (int32_t k = lane; k < nnb; k += NB6_DEV_LANES) {
        struct gpuirr_float_pair pair;
        nb6_predictor_pair(&dev->predictor[list[k]], t, point->x, v, &pair);
        if (!(pair.r2 > 0)) continue;
        const float rinv = nbc_inverse_root(pair.r2), magnitude = fabsf(pair.m) * rinv * rinv;
        const int in_float = gpuirr_is_for_floats(&pair, point->strong);
        noise += magnitude * (in_float ? GPUIRR_NOISE_FLOAT : (float)GPUIRR_NOISE_DOUBLE * (1 + far * rinv));
    }
    return noise;
}

/** Bodies expected to leave a sphere at its edge in a step. */
#define NB6_DEV_LEAVING 8

/** Rounding errors of n neighbours. When they fill their sphere evenly the magnitudes sum up to 3 n/256 of that of a
 *  strong one, and here to eight times as much, since some are near. */
NBC_HD float nb6_dev_noise_of(const struct nb6_dev_point *point, int32_t n)
{
    return (float)(8 * 3 / NB6_DEV_STRONG) * GPUIRR_NOISE_FLOAT * nbc_quick_ratio((float)n, point->strong);
}

/** Rounding errors other than those of the list: of the field, and of bodies that left the list at the begin of the
 *  step, whose force was subtracted in double (nb6_dev_add_change) from a sum in float. */
NBC_HD float nb6_dev_noise_beside(const struct nb6_dev *dev, int32_t i, const struct nb6_dev_point *point)
{
    const double t = nb6_time_to_double(dev->control->t);
    const float of_field = (float)nb6_device_field_noise(&dev->rules.field, t, point->x, point->v);
    return dev->star[i].t0_reg == dev->body[i].t0 ? of_field + nb6_dev_noise_of(point, NB6_DEV_LEAVING) : of_field;
}

/** Whether all neighbours of a body are summed in double: so with few stars, all of which are neighbours and strong. */
NBC_HD int nb6_dev_is_in_double(const struct nb6_dev *dev)
{
    return dev->rules.step.in_double || dev->rules.step.all_are_neighbours;
}

#endif
