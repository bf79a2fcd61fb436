/** Correctors and commit of a member by a warp. Lanes 0 to 2 have a component of a vector each, and the others that of
 *  lane 2; what is not a vector all lanes compute alike. So a third of the instructions do, and one warp waits for all
 * of them in a small block. The arithmetic is that of hermite.h and corrector.h. */
#ifndef NB6_DEVICE_CORRECTOR_CUH
#define NB6_DEVICE_CORRECTOR_CUH

#include "nbody6/step/dev_commit.h"
#include "nbody6/step/dev_regular.h"
#include "nbody6/step/dev_state.h"
#include "nbody6/step/device_warp.cuh"
#include "nbody6/step/hermite.h"
#include "nbody6/step/pair_derivatives.h"
#include "nbody6/step/rules.h"

#include <stddef.h>

namespace
{

/* A component of acceleration and jerk. */
struct component {
    double acc, jerk;
};

__device__ __forceinline__ int axis_of()
{
    return min(lane_of(), 2);
}

__device__ __forceinline__ double on_axis(const double (&vector)[3])
{
    const int axis = axis_of();
    return axis == 0 ? vector[0] : axis == 1 ? vector[1] : vector[2];
}

/* Square of the magnitude of a vector. */
__device__ __forceinline__ double norm2_of(double own)
{
    const double square = own * own;
    return __shfl_sync(ALL, square, 0) + __shfl_sync(ALL, square, 1) + __shfl_sync(ALL, square, 2);
}

/* Sums of all lanes in a fixed order: half of the lanes add accelerations, the other half jerks. */
__device__ __forceinline__ component add_lanes(const struct nb6_dev_sum &sum)
{
    constexpr int HALF = WARP / 2;
    const bool has_jerk = lane_of() & HALF;
    double v[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const double keep = has_jerk ? sum.jerk[k] : sum.acc[k], away = has_jerk ? sum.acc[k] : sum.jerk[k];
        v[k] = keep + __shfl_xor_sync(ALL, away, HALF);
    }
#pragma unroll
    for (int half = HALF / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < 3; k++) v[k] += __shfl_xor_sync(ALL, v[k], half);
    const int axis = axis_of(), at = min(lane_of() % HALF, 2);
    const double own = at == 0 ? v[0] : at == 1 ? v[1] : v[2];
    return {__shfl_sync(ALL, own, axis), __shfl_sync(ALL, own, HALF + axis)};
}

/* Derivatives at the end of a step; position and velocity, or what is added to them; level of the next step. */
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

/* The step of a part of the force.   @param[in] whole  force of the criterion   @param[in] end  of the part
 *  @param[in] c  with the corrections */
__device__ __forceinline__ double step_of(double eta, const struct nb6_velocity_limit &limit, double h, double whole,
                                          component end, const corrected_axis &c)
{
    const double dt =
        nb6_timestep_of_norms(eta, norm2_of(whole), norm2_of(end.jerk), norm2_of(c.snap), norm2_of(c.crackle));
    if (!(dt > limit.longer_than)) return dt;
    const double acc2 = norm2_of(end.acc), dv2 = norm2_of(c.v);
    return fmin(dt, nb6_timestep_velocity(limit.eps, h, acc2, dv2));
}

/* A vector of which each axis has a component, for all lanes. */
__device__ __forceinline__ void gather_axes(double own, double (&vector)[3])
{
    for (int k = 0; k < 3; k++) vector[k] = __shfl_sync(ALL, own, k);
}

/* The force with that of the field at x, v.   @param[in] inner  acceleration without it */
__device__ __forceinline__ component with_field(const struct nb6_dev &dev, double x, double v, double inner,
                                                component force)
{
    double place[3], velocity[3], acc[3], ext_acc[3], ext_jerk[3];
    gather_axes(x, place);
    gather_axes(v, velocity);
    gather_axes(inner, acc);
    nb6_linear_field_force(&dev.rules.field, place, velocity, acc, ext_acc, ext_jerk);
    return {force.acc + on_axis(ext_acc), force.jerk + on_axis(ext_jerk)};
}

/* The irregular force on a member with the field, which is taken again where the corrector would bring it
 * (irregular.c).
 */
__device__ __noinline__ component add_field(const struct nb6_dev &dev, int32_t i, nb6_time t, double x, double v,
                                            component begin, component force)
{
    const struct nb6_star &star = dev.star[i];
    const int axis = axis_of();
    const double h = nb6_time_to_double(t - dev.body[i].t0), s = nb6_time_to_double(t - star.t0_reg);
    const double inner = force.acc + (star.acc_reg[axis] + s * star.jerk_reg[axis]);
    const corrected_axis c = correct_axis(h, begin, with_field(dev, x, v, inner, force));
    return with_field(dev, x + c.x, v + c.v, inner, force);
}

/* Of a member, from the force at t in its predicted place x with velocity v. */
__device__ __forceinline__ corrected_axis correct_irregular(const struct nb6_dev &dev, int32_t i, nb6_time t, double x,
                                                            double v, component begin, double acc_reg, component end,
                                                            double longest)
{
    const struct nb6_step_rules &rules = dev.rules.step;
    const double h = nb6_time_to_double(t - dev.body[i].t0);
    corrected_axis c = correct_axis(h, begin, end);
    const double dt = step_of(rules.eta_irr, rules.limit_irr, h, end.acc + acc_reg, end, c);
    c.x = x + c.x;
    c.v = v + c.v;
    c.level = nb6_irregular_level_of(&rules, &dev.star[i], dt, longest, t);
    return c;
}

__device__ __forceinline__ int8_t regular_level_beside(const struct nb6_dev &dev, int32_t i, int level)
{
    return nb6_regular_level_beside(dev.star[i].level_reg, level, dev.rules.step.all_are_neighbours);
}

__device__ __forceinline__ void store_irregular(const struct nb6_dev &dev, int32_t i, component end,
                                                const corrected_axis &c, struct nb6_corrected *out)
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
    out->level_reg = regular_level_beside(dev, i, c.level);
}

/* A component for each of the first three lanes, at the new t0. */
__device__ __forceinline__ void commit_brief(const struct nb6_dev &dev, int32_t i, nb6_time t, double x, double v,
                                             double acc, double jerk)
{
    struct nb6_dev_brief &brief = dev.brief[i];
    const int lane = lane_of();
    brief.x[lane] = x;
    brief.v[lane] = (float)v;
    brief.acc[lane] = (float)acc;
    brief.jerk[lane] = lane == 2 ? nb6_brief_with_zeros((float)jerk, t) : (float)jerk;
}

/* nb6_commit_corrected of a member that does not end its regular step. */
__device__ __forceinline__ void commit_irregular(const struct nb6_dev &dev, int32_t i, nb6_time t, component end,
                                                 const corrected_axis &c)
{
    struct nb6_body *body = &dev.body[i];
    struct nb6_star *star = &dev.star[i];
    const int lane = lane_of();
    if (lane < 3) {
        const double s = nb6_time_to_double(t - star->t0_reg);
        body->x0[lane] = c.x;
        body->v0[lane] = c.v;
        const double acc = end.acc + (star->acc_reg[lane] + s * star->jerk_reg[lane]);
        const double jerk = end.jerk + star->jerk_reg[lane];
        body->acc[lane] = acc;
        body->jerk[lane] = jerk;
        commit_brief(dev, i, t, c.x, c.v, acc, jerk);
        star->acc_irr[lane] = end.acc;
        star->jerk_irr[lane] = end.jerk;
        star->snap_irr[lane] = c.snap;
        star->crackle_irr[lane] = c.crackle;
    }
    if (lane != 0) return;
    body->t0 = t;
    star->level_reg = regular_level_beside(dev, i, c.level);
    star->level_irr = dev.level[i] = c.level;
}

/* What the neighbours of one list that are not in the other one add to snap and crackle, those of this lane. */
__device__ __forceinline__ void add_difference(const struct nb6_dev &dev, const struct nb6_body &own, nb6_time t,
                                               const int32_t *list, int32_t n, const int32_t *other, int32_t n_other,
                                               double (&snap)[3], double (&crackle)[3])
{
    for (int32_t k = lane_of(); k < n; k += WARP) {
        if (nb6_dev_is_in_list(other, n_other, list[k])) continue;
        const struct nb6_body neighbour = nb6_body_at(&dev.body[list[k]], t);
        nb6_add_pair_derivatives(&own, &neighbour, snap, crackle);
    }
}

/* nb6_derivatives_of_change of a target that was corrected, whose neighbours are dealt out to the lanes.
 *  @param[in] list, old  in any memory */
__device__ __forceinline__ void change_derivatives_by(const struct nb6_dev &dev, const struct nb6_dev_target &target,
                                                      const int32_t *list, const int32_t *old, nb6_time t,
                                                      struct nb6_corrected *c)
{
    const int32_t n_old = dev.star[target.body].nnb, lane = lane_of();
    struct nb6_dev_sum come = {}, gone = {};
    struct nb6_body own = {};
    own.mass = dev.body[target.body].mass;
    __syncwarp();
    for (int k = 0; k < 3; k++) {
        own.x0[k] = c->x[k];
        own.v0[k] = c->v[k];
        own.acc[k] = c->acc_irr[k] + c->acc_reg[k];
        own.jerk[k] = c->jerk_irr[k] + c->jerk_reg[k];
    }
    add_difference(dev, own, t, list, target.nnb, old, n_old, come.acc, come.jerk);
    add_difference(dev, own, t, old, n_old, list, target.nnb, gone.acc, gone.jerk);
    for (int k = 0; k < 3; k++) {
        come.acc[k] -= gone.acc[k];
        come.jerk[k] -= gone.jerk[k];
    }
    const component change = add_lanes(come); /* of snap and crackle */
    if (lane < 3) {
        c->snap_irr[lane] += change.acc;
        c->snap_reg[lane] -= change.acc;
        c->crackle_irr[lane] += change.jerk;
        c->crackle_reg[lane] -= change.jerk;
    }
    __syncwarp();
}

__device__ __noinline__ void change_derivatives(const struct nb6_dev &dev, const struct nb6_dev_target &target,
                                                nb6_time t, struct nb6_corrected *c)
{
    change_derivatives_by(dev, target, nb6_dev_staged_list(&dev, target.body), nb6_dev_list(&dev, target.body), t, c);
}

/* Length of the list of a target, and its next sphere, by a warp. */
__device__ __forceinline__ void set_next_radius(const struct nb6_dev &dev, const struct nb6_dev_target &target,
                                                int32_t nnb, struct nb6_corrected *out)
{
    const double next = nb6_next_radius(&dev.rules.radius, target.r_nb, nnb);
    const double r_nb = nb6_dev_radius_for_system(&dev, target.body, next, nnb);
    if (lane_of() != 0) return;
    out->nnb = nnb;
    out->r_nb = r_nb;
}

/* Neighbours that have come or gone, at the block time, as other warps have noted them. */
struct list_change {
    double x[3], v[3], acc[3], jerk[3], mass;
};
struct noted_changes {
    const list_change *come, *gone;
    int32_t n_come, n_gone;
};

/* The numbers of one list that are not in the other one, by a warp, as far as there is room.   @return how many */
__device__ __noinline__ int32_t note_changes(const struct nb6_dev &dev, nb6_time t, const int32_t *list, int32_t n,
                                             const int32_t *other, int32_t n_other, list_change *change, int32_t room)
{
    int32_t *number = reinterpret_cast<int32_t *>(change + room);
    int32_t total = 0;
    for (int32_t first = 0; first < n; first += WARP) {
        const int32_t k = first + lane_of();
        const bool is_one = k < n && !nb6_dev_is_in_list(other, n_other, list[k]);
        const unsigned all = __ballot_sync(ALL, is_one);
        const int32_t at = total + __popc(all & ((1u << lane_of()) - 1));
        if (is_one && at < room) number[at] = list[k];
        total += __popc(all);
    }
    __syncwarp();
    for (int32_t k = lane_of(); k < min(total, room); k += WARP) {
        const struct nb6_body body = nb6_body_at(&dev.body[number[k]], t);
        for (int d = 0; d < 3; d++) {
            change[k].x[d] = body.x0[d];
            change[k].v[d] = body.v0[d];
            change[k].acc[d] = body.acc[d];
            change[k].jerk[d] = body.jerk[d];
        }
        change[k].mass = body.mass;
    }
    return total;
}

/* What they add to snap and crackle of a body.   @param[in] x, v, acc, jerk  of the body, on the axis */
__device__ __noinline__ component derivatives_of_changes(const noted_changes &noted, double x, double v, double acc,
                                                         double jerk)
{
    struct nb6_body own = {}, other = {};
    struct nb6_dev_sum sum = {};
    gather_axes(x, own.x0);
    gather_axes(v, own.v0);
    gather_axes(acc, own.acc);
    gather_axes(jerk, own.jerk);
    for (int32_t k = lane_of(); k < noted.n_come + noted.n_gone; k += WARP) {
        const bool has_come = k < noted.n_come;
        const list_change &c = has_come ? noted.come[k] : noted.gone[k - noted.n_come];
        for (int d = 0; d < 3; d++) {
            other.x0[d] = c.x[d];
            other.v0[d] = c.v[d];
            other.acc[d] = c.acc[d];
            other.jerk[d] = c.jerk[d];
        }
        other.mass = has_come ? c.mass : -c.mass;
        nb6_add_pair_derivatives(&own, &other, sum.acc, sum.jerk);
    }
    return add_lanes(sum);
}

/* What the regular corrector of a target begins with, on each axis. */
struct regular_start {
    component begin; /* regular force at the begin of the step */
    nb6_time t0;     /* which was then */
    int8_t level;    /* of the step */
    component old;   /* sum over the old list */
    double x, v;     /* as the irregular corrector has left them, with its force */
    component irr;
};

/* Of the last three, which come from the irregular stage. */
__device__ __forceinline__ void fetch_irregular(const struct nb6_dev &dev, int32_t slot, regular_start &r)
{
    const struct nb6_corrected *c = &dev.corrected[slot];
    const int axis = axis_of();
    r.old = {dev.old_sum[slot].acc[axis], dev.old_sum[slot].jerk[axis]};
    r.x = c->x[axis];
    r.v = c->v[axis];
    r.irr = {c->acc_irr[axis], c->jerk_irr[axis]};
}

__device__ __forceinline__ void fetch_regular(const struct nb6_dev &dev, int32_t i, regular_start &r)
{
    const struct nb6_star &star = dev.star[i];
    const int axis = axis_of();
    r.begin = {star.acc_reg[axis], star.jerk_reg[axis]};
    r.t0 = star.t0_reg;
    r.level = star.level_reg;
}

/* Of a target: NA12 eq. 13, see nb6_correct_regular.   @param[in] end  regular force   @param[in] irr  sum over its new
 * list, of nnb   @return whether all is finite */
__device__ __forceinline__ bool correct_regular(const struct nb6_dev &dev, nb6_time t, const regular_start &r,
                                                component end, component irr, int32_t nnb, const noted_changes &noted,
                                                struct nb6_corrected *out)
{
    const struct nb6_step_rules &rules = dev.rules.step;
    const int lane = lane_of();
    const double h = nb6_time_to_double(t - r.t0);
    const component come = {irr.acc - r.old.acc, irr.jerk - r.old.jerk},
                    of_old_list = {end.acc + come.acc, end.jerk + come.jerk};
    const corrected_axis c = correct_axis(h, r.begin, of_old_list);
    const double x = r.x + c.x, v = r.v + c.v;
    const double acc_irr = r.irr.acc + come.acc, jerk_irr = r.irr.jerk + come.jerk;
    const double dt = nnb < rules.n_source - 1 ? step_of(rules.eta_reg, rules.limit_reg, h, end.acc, end, c) : INFINITY;
    component change = {};
    if (noted.n_come + noted.n_gone > 0)
        change = derivatives_of_changes(noted, x, v, acc_irr + end.acc, jerk_irr + end.jerk);
    __syncwarp();
    if (lane < 3) {
        out->x[lane] = x;
        out->v[lane] = v;
        out->acc_irr[lane] = acc_irr;
        out->jerk_irr[lane] = jerk_irr;
        out->acc_reg[lane] = end.acc;
        out->jerk_reg[lane] = end.jerk;
        out->snap_reg[lane] = c.snap - change.acc;
        out->crackle_reg[lane] = c.crackle - change.jerk;
        if (noted.n_come + noted.n_gone > 0) {
            out->snap_irr[lane] += change.acc;
            out->crackle_irr[lane] += change.jerk;
        }
    }
    if (lane == 0) nb6_take_regular_step(&rules, r.level, dt, t, out);
    return __all_sync(ALL, isfinite(x + v + end.acc + end.jerk + acc_irr));
}

/* Numbers of a corrected member: position and velocity, the irregular part, the regular part; as they follow each other
 * in the records they go to. */
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

/* nb6_dev_commit_motion, a number for each lane. */
__device__ __forceinline__ void commit_corrected(const struct nb6_dev &dev, int64_t slot, int32_t i)
{
    const struct nb6_corrected *c = &dev.corrected[slot];
    const nb6_time t = dev.control->t;
    const bool is_regular = dev.is_reg[slot];
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
    if (has_changed) (is_state ? body->x0 : star->acc_irr)[is_state ? lane : of_star] = own;
    const double v = __shfl_sync(ALL, own, 3 + axis);
    if (lane < 3) {
        const double acc = acc_irr + (acc_reg + s * jerk_reg), jerk = jerk_irr + jerk_reg;
        body->acc[lane] = acc;
        body->jerk[lane] = jerk;
        commit_brief(dev, i, t, own, v, acc, jerk);
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
