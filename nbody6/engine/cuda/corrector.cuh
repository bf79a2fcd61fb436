/** Correctors of a member, of which each lane of a warp has a component. */
#ifndef NB6_CUDA_CORRECTOR_CUH
#define NB6_CUDA_CORRECTOR_CUH

#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/commit.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/stages/work.h"
#include "nbody6/galaxy/device_field.h"
#include "nbody6/galaxy/orbit_table.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/rules.h"

#include <stddef.h>

namespace
{

__device__ __forceinline__ double on_axis(const double (&vector)[3])
{
    const int axis = axis_of();
    return axis == 0 ? vector[0] : axis == 1 ? vector[1] : vector[2];
}

/* Square of the magnitude of a vector. */
template <typename number> __device__ __forceinline__ number norm2_of(number own)
{
    const number square = own * own;
    return __shfl_sync(ALL, square, 0) + __shfl_sync(ALL, square, 1) + __shfl_sync(ALL, square, 2);
}

/* Derivatives at the end of a step; position and velocity, or their increments; level of the next step. */
struct corrected_axis {
    double snap, crackle, x, v;
    int8_t level;
};

__device__ __forceinline__ corrected_axis correct_axis(double h, component begin, component end)
{
    const struct nb6_corrector_factors f = nb6_corrector_factors_of(h);
    corrected_axis c;
    double snap0;
    nb6_hermite_interpolate_one(h, nb6_inverse_powers_of(h), begin.acc, begin.jerk, end.acc, end.jerk, &snap0, &c.snap,
                                &c.crackle);
    c.x = snap0 * f.x_snap + c.crackle * f.x_crackle;
    c.v = snap0 * f.v_snap + c.crackle * f.v_crackle;
    c.level = 0;
    return c;
}

/* The hardware's square root, accurate to a few roundings. */
__device__ __forceinline__ float root_of(float square)
{
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(square));
    return root;
}

/* The step of nb6_timestep_of_norms in float, which takes half of the time: only the next power of two below it
 * matters. Derivatives are in units of h, so that all have similar magnitudes.
 * @param[in] error  rounding error of the force   @param[out] may_be_noise  as in nb6_may_be_noise
 * @return NaN: squares of the derivatives do not fit a float */
__device__ __forceinline__ float step_in_float(double eta, double h, float error, double whole, double jerk,
                                               const corrected_axis &c, bool *may_be_noise)
{
    constexpr float LEAST = 1e-30f, MOST = 1e30f;
    const double h2 = h * h;
    const float f2 = norm2_of((float)whole), j2 = norm2_of((float)(h * jerk)), s2 = norm2_of((float)(h2 * c.snap)),
                c2 = norm2_of((float)(h * h2 * c.crackle));
    const float above = root_of(f2) * root_of(s2) + j2, below = root_of(j2) * root_of(c2) + s2;
    const bool is_fit = above > LEAST && above < MOST && below > LEAST && below < MOST;
    constexpr float OF_SNAP = NB6_NOISE_OF_SNAP, OF_CRACKLE = NB6_NOISE_OF_CRACKLE, COUNTS = 0.1f; /* hermite.h */
    *may_be_noise = c2 < (OF_CRACKLE * error) * (OF_CRACKLE * error) &&
                    (s2 < (OF_SNAP * error) * (OF_SNAP * error) || root_of(j2) * root_of(c2) > COUNTS * s2);
    return is_fit ? (float)h * root_of(__fdividef((float)eta * above, below)) : nanf("");
}

/* A vector for all lanes, from its component on each axis. */
__device__ __forceinline__ void gather_axes(double own, double (&vector)[3])
{
    for (int k = 0; k < 3; k++) vector[k] = __shfl_sync(ALL, own, k);
}

/* Code that few steps need is not inlined, so that the instructions of all other steps follow each other. */
__device__ __noinline__ double limited_step(double dt, double eps, double h, float noise, double acc2, double dv2)
{
    return fmin(dt, nb6_timestep_velocity(eps, h, acc2, nb6_square_above_noise(dv2, h * (double)noise)));
}

/* A step, and the rounding error of the force whose derivatives limit it. */
struct careful_step {
    double dt;
    float noise;
};

/* nb6_timestep_above_noise, in double, as in nb6_next_irregular_level and nb6_next_regular_level.
 * @param[in] margin  of the rounding errors */
__device__ __forceinline__ careful_step step_in_double(double eta, double h, struct nb6_noise noise, double margin,
                                                       double whole, double jerk, double snap, double crackle)
{
    const double f2 = norm2_of(whole), j2 = norm2_of(jerk), s2 = norm2_of(snap), c2 = norm2_of(crackle);
    if (!nb6_derivatives_may_be_noise(h, margin * noise.part, j2, s2, c2)) noise = {0, 0};
    return {nb6_timestep_above_noise(eta, h, noise, f2, j2, s2, c2), (float)noise.part};
}

/* Rounding errors of the irregular step of a member.   @param[in] whole  total force   @param[in] jerk, snap,
 * crackle  of the irregular force */
__device__ __noinline__ careful_step careful_irregular_step(int32_t i, nb6_time t, double whole, double jerk,
                                                            double snap, double crackle)
{
    const double h = nb6_time_to_double(t - dev.body[i].t0);
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i, t);
    const float own = nb6_dev_noise_lane(&dev, &point, nb6_dev_list(&dev, i), dev.star[i].nnb, t, lane_of());
    const double part = (double)(sum_of_lanes(own) + nb6_dev_noise_beside(&dev, i, &point));
    const struct nb6_noise noise = {part + dev.rules.step.noise_reg_most, part};
    return step_in_double(dev.rules.step.eta_irr, h, noise, NB6_NOISE_MARGIN, whole, jerk, snap, crackle);
}

/* Rounding errors of a regular step h.   @param[in] error  of the force */
__device__ __noinline__ careful_step careful_regular_step(double h, float error, double acc, double jerk, double snap,
                                                          double crackle)
{
    const struct nb6_noise noise = {(double)error, (double)error};
    return step_in_double(dev.rules.step.eta_reg, h, noise, NB6_NOISE_MARGIN_REGULAR, acc, jerk, snap, crackle);
}

/* Whether derivatives without noise could change the step: they cannot if it doubles anyway, or if a significant
 * correction of the velocity limits it. Errors of sums in double are not known in advance.
 * @param[in] dt  step from derivatives with noise
 * @param[in] dv2  of the correction, if dt exceeds the lower end of its limit */
__device__ __forceinline__ bool is_noise_of_use(double dt, double h, float error, double longer_than, double dv2)
{
    const double of_velocity = h * (double)error;
    if (isinf(error)) return true;
    return dt > longer_than ? dv2 < of_velocity * of_velocity : dt < 2 * h;
}

/* The step of a part of the force.   @param[in] error  as in step_in_float
 * @param[in] whole  force of the criterion   @param[in] end  of the part   @param[in] c  with the corrections
 * @param[in] careful  functor with the same step in double */
template <typename careful_stepper>
__device__ __forceinline__ double step_of(double eta, const struct nb6_velocity_limit &limit, double h, float error,
                                          double whole, component end, const corrected_axis &c,
                                          const careful_stepper &careful)
{
    bool may_be_noise;
    careful_step step = {step_in_float(eta, h, error, whole, end.jerk, c, &may_be_noise), 0};
    const double dv2 = step.dt > limit.longer_than ? norm2_of(c.v) : 0;
    if (!isfinite(step.dt) || (may_be_noise && is_noise_of_use(step.dt, h, error, limit.longer_than, dv2)))
        step = careful();
    if (!(step.dt > limit.longer_than)) return step.dt;
    return limited_step(step.dt, limit.eps, h, step.noise, norm2_of(end.acc), norm2_of(c.v));
}

/* The force with that of the field at x, v.   @param[in] now  nb6_device_field_at(t)   @param[in] inner  acceleration
 * without it */
__device__ __noinline__ component with_field(double t, const struct nb6_orbit_point &now, double x, double v,
                                             double inner, component force)
{
    double place[3], velocity[3], acc[3], ext_acc[3], ext_jerk[3];
    gather_axes(x, place);
    gather_axes(v, velocity);
    gather_axes(inner, acc);
    nb6_device_field_force(&dev.rules.field, t, &now, place, velocity, acc, ext_acc, ext_jerk);
    return {force.acc + on_axis(ext_acc), force.jerk + on_axis(ext_jerk)};
}

/* The irregular force on a member with the field, which is evaluated again at the corrected state
 * (step/irregular.c).   @param[in] keeps  the first member keeps the point of the orbit, for the works of all */
__device__ __noinline__ component add_field(int32_t i, nb6_time t, bool keeps, double x, double v, component begin,
                                            component force)
{
    const struct nb6_star &star = dev.star[i];
    const int axis = axis_of();
    const double h = nb6_time_to_double(t - dev.body[i].t0), s = nb6_time_to_double(t - star.t0_reg);
    const double inner = force.acc + (star.acc_reg[axis] + s * star.jerk_reg[axis]), time = nb6_time_to_double(t);
    struct nb6_orbit_point now;
    nb6_device_field_at(&dev.rules.field, time, &now);
    if (keeps && lane_of() == 0 && nb6_device_field_has_orbit(&dev.rules.field)) nb6_orbit_keep(dev.orbit, t, &now);
    const corrected_axis c = correct_axis(h, begin, with_field(time, now, x, v, inner, force));
    return with_field(time, now, x + c.x, v + c.v, inner, force);
}

/* The point of the orbit at a time of a block before the present one, or, after its correctors, of that. */
__device__ __forceinline__ void find_orbit(nb6_time t, struct nb6_orbit_point *point)
{
    const struct nb6_external &field = dev.rules.field;
    const double time = nb6_time_to_double(t);
    const struct nb6_orbit_point *kept = time >= field.orbit.t[0] ? nb6_orbit_kept(dev.orbit, t) : nullptr;
    if (kept && nb6_device_field_has_orbit(&field))
        *point = *kept;
    else
        nb6_moving_at(&field, time, point);
}

/* Count the work of the field on a member before its motion up to x, v is committed. The ends of the step are two
 * lanes: each has the rate there, unless the gas begins to leave in between. */
__device__ __noinline__ void count_work(int32_t i, nb6_time t, double x, double v)
{
    const struct nb6_external &field = dev.rules.field;
    const struct nb6_body &body = dev.body[i];
    double place[3], velocity[3], rate[2], other[2];
    gather_axes(x, place);
    gather_axes(v, velocity);
    const double from = nb6_time_to_double(body.t0), to = nb6_time_to_double(t), h = to - from;
    if (nb6_moving_begins_between(&field, from, to)) {
        if (lane_of() == 0) nb6_dev_count_work(&dev, nb6_dev_work(&dev, i, place, velocity));
        __syncwarp();
        return;
    }
    const bool is_begin = lane_of() == 0;
    const struct nb6_moment own = {is_begin ? from : to, is_begin ? body.x0 : place, is_begin ? body.v0 : velocity};
    struct nb6_orbit_point point;
    find_orbit(is_begin ? body.t0 : t, &point);
    nb6_moving_field_rate(&field, &own, &point, nb6_gas_is_leaving(field.parameter, from + 0.5 * h), rate);
    for (int k = 0; k < 2; k++) other[k] = __shfl_sync(ALL, rate[k], 1);
    if (is_begin) nb6_dev_count_work(&dev, body.mass * nb6_moving_work_between(h, rate, other));
}

/* Irregular corrector of a member, from the force at t at its predicted state x, v. */
__device__ __forceinline__ corrected_axis correct_irregular(int32_t i, nb6_time t, double x, double v, component begin,
                                                            double acc_reg, component end, float error, double longest)
{
    const struct nb6_step_rules &rules = dev.rules.step;
    const double h = nb6_time_to_double(t - dev.body[i].t0);
    corrected_axis c = correct_axis(h, begin, end);
    const double whole = end.acc + acc_reg;
    const double dt = step_of(rules.eta_irr, rules.limit_irr, h, error, whole, end, c,
                              [&]() { return careful_irregular_step(i, t, whole, end.jerk, c.snap, c.crackle); });
    c.x = x + c.x;
    c.v = v + c.v;
    c.level = nb6_irregular_level_of(&rules, &dev.star[i], dt, longest, t);
    return c;
}

__device__ __forceinline__ int8_t regular_level_beside(int32_t i, int level)
{
    return nb6_regular_level_beside(dev.star[i].level_reg, level, dev.rules.step.all_are_neighbours);
}

__device__ __forceinline__ void store_irregular(int32_t i, component end, const corrected_axis &c,
                                                struct nb6_corrected *out)
{
    const int lane = lane_of();
    if (lane < 3) {
        out->x[lane] = c.x;
        out->v[lane] = c.v;
        out->acc_irr[lane] = end.acc;
        out->jerk_irr[lane] = end.jerk;
        out->snap_irr[lane] = c.snap;
        out->crackle_irr[lane] = c.crackle;
    }
    if (lane != 0) return;
    out->level_irr = c.level;
    out->level_reg = regular_level_beside(i, c.level);
}

/* Write a vector at the new t0, one component from each of the first three lanes. */
__device__ __forceinline__ void commit_predictor(int32_t i, nb6_time t, double x, double v, double acc, double jerk)
{
    struct nb6_dev_predictor &predictor = dev.predictor[i];
    const int lane = lane_of();
    predictor.x[lane] = x;
    predictor.v[lane] = (float)v;
    predictor.acc[lane] = (float)acc;
    predictor.jerk[lane] = lane == 2 ? nb6_predictor_with_zeros((float)jerk, t) : (float)jerk;
}

/* nb6_commit_corrected for a member that does not end its regular step. */
__device__ __forceinline__ void commit_irregular(int32_t i, nb6_time t, component end, const corrected_axis &c)
{
    struct nb6_body *body = &dev.body[i];
    struct nb6_star *star = &dev.star[i];
    const int lane = lane_of();
    if (nb6_device_field_does_work(&dev.rules.field)) count_work(i, t, c.x, c.v);
    if (lane < 3) {
        const double s = nb6_time_to_double(t - star->t0_reg);
        body->x0[lane] = c.x;
        body->v0[lane] = c.v;
        const double acc = end.acc + (star->acc_reg[lane] + s * star->jerk_reg[lane]);
        const double jerk = end.jerk + star->jerk_reg[lane];
        body->acc[lane] = acc;
        body->jerk[lane] = jerk;
        commit_predictor(i, t, c.x, c.v, acc, jerk);
        star->acc_irr[lane] = end.acc;
        star->jerk_irr[lane] = end.jerk;
        star->snap_irr[lane] = c.snap;
        star->crackle_irr[lane] = c.crackle;
    }
    if (lane != 0) return;
    body->t0 = t;
    star->level_reg = regular_level_beside(i, c.level);
    star->level_irr = dev.level[i] = c.level;
}

/* Numbers of a corrected member in the order of its records: position and velocity, irregular part, regular part. */
constexpr int OF_STATE = 6, OF_PART = 12;
static_assert(offsetof(struct nb6_corrected, acc_irr) == OF_STATE * sizeof(double), "after position and velocity");
static_assert(offsetof(struct nb6_corrected, acc_reg) == (OF_STATE + OF_PART) * sizeof(double),
              "after the irregular part");
static_assert(offsetof(struct nb6_corrected, corr_acc) == (OF_STATE + 2 * OF_PART) * sizeof(double), "these are all");
static_assert(offsetof(struct nb6_body, x0) == 0 && offsetof(struct nb6_body, acc) == OF_STATE * sizeof(double),
              "state");
static_assert(offsetof(struct nb6_star, acc_irr) == 0 &&
                  offsetof(struct nb6_star, acc_reg) == OF_PART * sizeof(double) &&
                  offsetof(struct nb6_star, t0_reg) == 2 * OF_PART * sizeof(double),
              "both parts");

/* nb6_dev_commit_motion, with one number for each lane. */
__device__ __forceinline__ void commit_corrected(int64_t member, int32_t i)
{
    const struct nb6_corrected *c = &dev.corrected[member];
    const nb6_time t = dev.control->t;
    const bool is_regular = dev.is_reg[member];
    struct nb6_body *body = &dev.body[i];
    struct nb6_star *star = &dev.star[i];
    const int lane = lane_of(), axis = axis_of(), of_star = lane - OF_STATE;
    const bool is_state = lane < OF_STATE, is_any = lane < OF_STATE + 2 * OF_PART;
    const bool has_changed = is_any && (is_regular || of_star < OF_PART);
    const double own = !is_any ? 0 : has_changed ? c->x[lane] : star->acc_irr[of_star];
    const double s = is_regular ? 0 : nb6_time_to_double(t - star->t0_reg);
    const double acc_irr = __shfl_sync(ALL, own, OF_STATE + axis),
                 jerk_irr = __shfl_sync(ALL, own, OF_STATE + 3 + axis);
    const double acc_reg = __shfl_sync(ALL, own, OF_STATE + OF_PART + axis);
    const double jerk_reg = __shfl_sync(ALL, own, OF_STATE + OF_PART + 3 + axis);
    const double v = __shfl_sync(ALL, own, 3 + axis);
    if (nb6_device_field_does_work(&dev.rules.field)) count_work(i, t, __shfl_sync(ALL, own, axis), v);
    if (has_changed) (is_state ? body->x0 : star->acc_irr)[is_state ? lane : of_star] = own;
    if (lane < 3) {
        const double acc = acc_irr + (acc_reg + s * jerk_reg), jerk = jerk_irr + jerk_reg;
        body->acc[lane] = acc;
        body->jerk[lane] = jerk;
        commit_predictor(i, t, own, v, acc, jerk);
    }
    if (lane != 0) return;
    body->t0 = t;
    star->level_irr = c->level_irr;
    star->level_reg = c->level_reg;
    if (!is_regular) return;
    star->t0_reg = t;
    star->r_nb = c->r_nb;
    star->nnb = c->nnb;
}

} // namespace

#endif
