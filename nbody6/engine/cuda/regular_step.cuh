/** The regular corrector of a target, by a warp, after its sums and its list. The change of the irregular force
 *  between the old and the new list is summed over bodies that have come or gone, instead of two sums over whole
 *  lists, which have nearly all bodies in common. */
#ifndef NB6_CUDA_REGULAR_STEP_CUH
#define NB6_CUDA_REGULAR_STEP_CUH

#include "nbody6/engine/cuda/corrector.cuh"
#include "nbody6/engine/cuda/cut.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/step/pair_derivatives.h"

namespace
{

/* ---- changes of lists ---- */

constexpr int32_t LISTS_ROOM = sizeof(warp_memory) / sizeof(int32_t); /* numbers in the shared memory of a warp */

/* Bodies that have come into the list of a target, and bodies that have gone. */
struct list_change {
    const int32_t *list, *old; /* [n], [n_old] ascending */
    int32_t n, n_old;
    const int32_t *number; /* [n_come + n_gone] in shared memory; NULL: they do not fit, and lists are searched */
    int32_t n_come, n_gone;
};

/* The k-th body of the lists.   @param[out] sign  as in nb6_dev_add_change   @return whether it has come or gone */
__device__ __forceinline__ bool changes_at(const list_change &c, int32_t k, int32_t *j, double *sign)
{
    if (c.number) {
        *j = c.number[k];
        *sign = k < c.n_come ? 1 : -1;
        return true;
    }
    const bool is_new = k < c.n;
    *j = is_new ? c.list[k] : c.old[k - c.n];
    *sign = is_new ? 1 : -1;
    return !nb6_dev_is_in_list(is_new ? c.old : c.list, is_new ? c.n_old : c.n, *j);
}

/* Sum over all that have come or gone, as they are at the block time.   @param[in] add  functor of (body, sign, sum) */
template <typename adder>
__device__ __forceinline__ component sum_over_change(const list_change &c, nb6_time t, const adder &add)
{
    const int32_t most = c.number ? c.n_come + c.n_gone : c.n + c.n_old;
    struct gpunb_dev_sum sum;
    if (most == 0) return {};
    gpunb_dev_clear(&sum);
    for (int32_t k = lane_of(); k < most; k += WARP) {
        int32_t j;
        double sign;
        if (!changes_at(c, k, &j, &sign)) continue;
        const struct nb6_body other = nb6_body_at(&dev.body[j], t);
        add(other, sign, sum);
    }
    return add_lanes(sum);
}

/* Their contribution to the irregular force at the predicted place; *is_near: whether any of them is near. */
__device__ __forceinline__ component force_of_change(const list_change &c, const struct nb6_dev_point &point,
                                                     nb6_time t, bool *is_near)
{
    int any = 0;
    const component force =
        sum_over_change(c, t, [&](const struct nb6_body &other, double sign, struct gpunb_dev_sum &sum) {
            any |= nb6_dev_add_change(&other, sign, &point, &sum);
        });
    *is_near = __any_sync(ALL, any);
    return force;
}

/* Their contribution to snap and crackle of a body, as nb6_derivatives_of_change.   @param[in] x, v, acc, jerk  of
 * the body at the irregular corrector, on the axis */
__device__ __forceinline__ component derivatives_of_change(const list_change &c, nb6_time t, double x, double v,
                                                           double acc, double jerk)
{
    struct nb6_body own = {};
    gather_axes(x, own.x0);
    gather_axes(v, own.v0);
    gather_axes(acc, own.acc);
    gather_axes(jerk, own.jerk);
    return sum_over_change(c, t, [&](struct nb6_body other, double sign, struct gpunb_dev_sum &sum) {
        other.mass *= sign;
        nb6_add_pair_derivatives(&own, &other, sum.acc, sum.jerk);
    });
}

/* Bits of the bodies of a piece of a list that are not in the other one, which begins at `first`, by a warp. */
__device__ __forceinline__ uint32_t bits_of_change(const int32_t *list, int32_t n, const int32_t *other,
                                                   int32_t n_other, int32_t first)
{
    const int32_t k = first + lane_of();
    return __ballot_sync(ALL, k < n && !nb6_dev_is_in_list(other, n_other, list[k]));
}

/* The bodies of some bits, to their place, as far as there is room. */
__device__ __forceinline__ void write_change(uint32_t bits, const int32_t *list, int32_t first, int32_t at,
                                             int32_t *number, int32_t room)
{
    at += __popc(bits & ((1u << lane_of()) - 1));
    if (bits >> lane_of() & 1 && at < room) number[at] = list[first + lane_of()];
}

/* Append the numbers of one list that are not in the other one, by a warp, at `at` and after.   @return the position
 * after the last of them */
__device__ __forceinline__ int32_t write_changes(const int32_t *list, int32_t n, const int32_t *other, int32_t n_other,
                                                 int32_t at, int32_t *number, int32_t room)
{
    for (int32_t first = 0; first < n; first += WARP) {
        const uint32_t bits = bits_of_change(list, n, other, n_other, first);
        write_change(bits, list, first, at, number, room);
        at += __popc(bits);
    }
    return at;
}

/* The change of the list of a target, by a warp in its shared memory.   @param[in] list [n]  there, or in other
 * memory */
__device__ __forceinline__ list_change find_change(int32_t i, const int32_t *list, int32_t n)
{
    const int32_t *old = nb6_dev_list(&dev, i);
    const int32_t n_old = dev.star[i].nnb, room = LISTS_ROOM - n - n_old;
    int32_t *here = reinterpret_cast<int32_t *>(&own_memory()), *number = here + n + n_old;
    if (room < 0) return {list, old, n, n_old, nullptr, 0, 0};
    for (int32_t k = lane_of(); k < n && list != here; k += WARP) here[k] = list[k];
    for (int32_t k = lane_of(); k < n_old; k += WARP) here[n + k] = old[k];
    __syncwarp();
    const int32_t n_come = write_changes(here, n, here + n, n_old, 0, number, room);
    const int32_t n_all = write_changes(here + n, n_old, here, n, n_come, number, room);
    __syncwarp();
    return {here, here + n, n, n_old, n_all <= room ? number : nullptr, n_come, n_all - n_come};
}

/* ---- corrector ---- */

/* Length of the list of a target, and its next neighbour sphere, by a warp. */
__device__ __forceinline__ void set_next_radius(const struct nb6_dev_target &target, int32_t nnb,
                                                struct nb6_corrected *out)
{
    const double next = nb6_next_radius(&dev.rules.radius, target.r_nb, nnb);
    const double r_nb = nb6_dev_radius_for_system(&dev, target.body, next, nnb);
    if (lane_of() != 0) return;
    out->nnb = nnb;
    out->r_nb = r_nb;
}

/* Input of the regular corrector of a target, on each axis. */
struct regular_start {
    component begin; /* regular force at the begin of the step */
    nb6_time t0;     /* its time */
    int8_t level;    /* length of the step */
    double x, v;     /* results of the irregular corrector, and its force */
    component irr;
};

/* The last three members of regular_begin, which are results of the irregular stages. */
__device__ __forceinline__ void fetch_irregular(int32_t member, regular_start &r)
{
    const struct nb6_corrected *c = &dev.corrected[member];
    const int axis = axis_of();
    r.x = c->x[axis];
    r.v = c->v[axis];
    r.irr = {c->acc_irr[axis], c->jerk_irr[axis]};
}

__device__ __forceinline__ void fetch_regular(int32_t i, regular_start &r)
{
    const struct nb6_star &star = dev.star[i];
    const int axis = axis_of();
    r.begin = {star.acc_reg[axis], star.jerk_reg[axis]};
    r.t0 = star.t0_reg;
    r.level = star.level_reg;
}

/* Output of the regular corrector for a target, on each axis. */
struct regular_end {
    corrected_axis c; /* of the regular step */
    component reg, irr;
    double x, v;
};

/* NA12 eq. 13, see nb6_correct_regular.   @param[in] end  regular force   @param[in] come  change of the irregular
 * force by the change of the list */
__device__ __forceinline__ regular_end end_regular(nb6_time t, const regular_start &r, component end, component come)
{
    const component of_old_list = {end.acc + come.acc, end.jerk + come.jerk};
    regular_end e;
    e.c = correct_axis(nb6_time_to_double(t - r.t0), r.begin, of_old_list);
    e.reg = end;
    e.irr = {r.irr.acc + come.acc, r.irr.jerk + come.jerk};
    e.x = r.x + e.c.x;
    e.v = r.v + e.c.v;
    return e;
}

/* Everything except higher derivatives, and the next step of body i.   @param[in] n  neighbours   @return whether
 * all is finite */
__device__ __forceinline__ bool store_end(int32_t i, nb6_time t, const regular_start &r, const regular_end &e,
                                          int32_t n, struct nb6_corrected *out)
{
    const struct nb6_step_rules &rules = dev.rules.step;
    const double h = nb6_time_to_double(t - r.t0);
    const int lane = lane_of();
    if (lane < 3) {
        out->x[lane] = e.x;
        out->v[lane] = e.v;
        out->acc_irr[lane] = e.irr.acc;
        out->jerk_irr[lane] = e.irr.jerk;
        out->acc_reg[lane] = e.reg.acc;
        out->jerk_reg[lane] = e.reg.jerk;
    }
    double dt = INFINITY, place[3];
    gather_axes(e.x, place);
    float error = nb6_noise_of_regular(&rules, place, dev.star[i].nnb, dev.star[i].r_nb);
    if (dev.pairs_by_tree > 0) error += (float)(rules.noise_by_tree * nb6_dev_last_size(&dev, i));
    if (n < rules.n_source - 1)
        dt = step_of(rules.eta_reg, rules.limit_reg, h, (float)NB6_NOISE_MARGIN_REGULAR * error, e.reg.acc, e.reg, e.c,
                     [&]() { return careful_regular_step(h, error, e.reg.acc, e.reg.jerk, e.c.snap, e.c.crackle); });
    if (lane == 0) nb6_take_regular_step(&rules, r.level, dt, t, out);
    if (lane == 0) dev.level[i] = out->level_irr;
    return __all_sync(ALL, isfinite(e.x + e.v + e.reg.acc + e.reg.jerk + e.irr.acc));
}

/* Higher derivatives, which include the change of the list. */
__device__ __forceinline__ void store_derivatives(nb6_time t, const regular_end &e, const list_change &lists,
                                                  struct nb6_corrected *out)
{
    const int lane = lane_of();
    component change = {};
    if (dev.rules.step.seen_between_steps)
        change = derivatives_of_change(lists, t, e.x, e.v, e.irr.acc + e.reg.acc, e.irr.jerk + e.reg.jerk);
    if (lane >= 3) return;
    out->snap_reg[lane] = e.c.snap - change.acc;
    out->crackle_reg[lane] = e.c.crackle - change.jerk;
    out->snap_irr[lane] += change.acc;
    out->crackle_irr[lane] += change.jerk;
}

} // namespace

#endif
