/** Remote pairs on a device (stages/remote.h): their contribution to forces, by the first block of threads; notes of
 *  steps for the host with the search for perturbers of a pair, by the first block of threads or the notifier block.
 *  A squad of up to four warps works on a body, to shorten the wait of others. */
#ifndef NB6_CUDA_REMOTE_CUH
#define NB6_CUDA_REMOTE_CUH

#include "nbody6/engine/cuda/cut.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/remote.h"

#include <stddef.h>

namespace
{

/* The part of a warp in the sums of its squad: sum_of_each of N numbers. */
template <int N> __device__ __forceinline__ void keep_service(double own)
{
    constexpr int EACH = WARP / N;
    if (lane_of() % EACH == 0) own_memory().share.sum[lane_of() / EACH] = own;
}

/* Sum number k of a squad, in the order of its warps, after a barrier.   @return 0 unless k is one of n */
__device__ __forceinline__ double sum_of_squad(const squad &together, int k, int n)
{
    double sum = 0;
    if (k >= 0 && k < n)
        for (int w = 0; w < together.warps; w++) sum += memory_of_warp(warp_of() + w).share.sum[k];
    return sum;
}

/* ---- corrections ---- */

/* Force of remote pairs on body i, by a squad. Warps take perturbers, and chunks of 32 of the systems that may
 * resolve the body, in turn.   @param[in] centres  where centres of mass begin in dev.ask, of n_ask */
__device__ __noinline__ void sum_from_afar(int32_t i, int32_t centres, int64_t n_ask, squad together)
{
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i, dev.control->t);
    const struct nb6_remote *own = nb6_dev_remote_of(&dev, i);
    double sum[8] = {}; /* of six; the others stay zero */
    for (int k = together.rank; own && k < own->n; k += together.warps) {
        const int32_t j = own->body[k];
        nb6_dev_add_remote(&dev, &point, own, j, own->mutual >> k & 1 ? nb6_dev_remote_of(&dev, j) : nullptr, lane_of(),
                           sum);
    }
    for (int64_t first = centres + together.rank * WARP; first < n_ask; first += together.warps * WARP) {
        const int32_t mine = first + lane_of() < n_ask ? dev.ask[first + lane_of()] : -1;
        unsigned left = __ballot_sync(ALL, mine >= 0 && nb6_dev_is_resolver(&dev, mine, i));
        for (; left; left &= left - 1) {
            const int32_t q = __shfl_sync(ALL, mine, __ffs((int)left) - 1);
            nb6_dev_add_remote(&dev, &point, nullptr, q, nb6_dev_remote_of(&dev, q), lane_of(), sum);
        }
    }
    keep_service<8>(sum_of_each(sum));
}

/* Set the correction, by the first warp of a squad, after a barrier: as nb6_dev_set_correction. */
__device__ __forceinline__ void set_correction(int32_t i, const squad &together)
{
    static_assert(offsetof(struct nb6_dev_correction, jerk) == 3 * sizeof(double), "the sums follow each other");
    static_assert(offsetof(struct nb6_dev_correction, longest) == 6 * sizeof(double), "and so do two limits");
    static_assert(sizeof(struct nb6_dev_correction) == 8 * sizeof(double), "which are all");
    const int lane = lane_of();
    const double sum = sum_of_squad(together, lane, 6);
    if (lane < 8)
        reinterpret_cast<double *>(&dev.correction[i])[lane] = lane < 6 ? sum : lane == 6 ? (double)INFINITY : 0.0;
}

/* ---- notes ---- */

/* Part of a warp in the search of a squad, as nb6_dev_remote_lane: it takes chunks of 32 neighbours in turn; the
 * last warp examines the perturbers. */
__device__ __forceinline__ void look_around(int32_t i, const squad &together, struct nb6_remote_look *look)
{
    const struct nb6_body *body = dev.body;
    const int32_t *list = nb6_dev_list(&dev, i), nnb = dev.star[i].nnb;
    const struct nb6_remote_site site = nb6_dev_site_of(&dev, i);
    const struct nb6_remote *own = nb6_dev_remote_of(&dev, i);
    const int32_t n = own->n;
    const int32_t perturber = lane_of() < NB6_REMOTE_PERTURBERS ? own->body[lane_of()] : -1;
    nb6_remote_look_clear(look);
    for (int32_t first = together.rank * WARP; first < nnb; first += together.warps * WARP) {
        const int32_t j = first + lane_of() < nnb ? list[first + lane_of()] : -1;
        const struct nb6_body other = body[max(j, 0)];
        bool is_perturber = false;
        for (int k = 0; k < n; k++) is_perturber |= j == __shfl_sync(ALL, perturber, k) && j >= 0;
        look->hits += is_perturber;
        if (j >= 0 && !is_perturber) nb6_remote_look_at(&site, &other, look);
    }
    if (together.rank < together.warps - 1 || lane_of() >= n) return;
    look->is_found |=
        perturber < 0 || nb6_remote_has_changed(&site, own, &body[perturber], nb6_dev_remote_of(&dev, perturber));
}

__device__ __forceinline__ bool is_remote_pair(int32_t i)
{
    const struct nb6_remote *own = nb6_dev_remote_of(&dev, i);
    return own && own->n > 0;
}

/* Result of a warp of a squad for the neighbours of body i, if that is a remote pair. */
__device__ __noinline__ void look_from_afar(int32_t i, squad together)
{
    struct nb6_remote_look look;
    float sum[16] = {};
    if (!is_remote_pair(i)) return;
    look_around(i, together, &look);
    for (int k = 0; k < 6; k++) {
        sum[k] = look.field[k];
        sum[6 + k] = look.field_dot[k];
    }
    auto &share = own_memory().share;
    const bool is_found = __any_sync(ALL, look.is_found);
    int32_t hits = look.hits;
    for (int half = WARP / 2; half > 0; half /= 2) hits += __shfl_xor_sync(ALL, hits, half);
    if (lane_of() == 0) {
        share.is_found = is_found;
        share.hits = hits;
    }
    keep_service<16>((double)sum_of_each(sum));
}

/* Result of the squad.   @return whether the host has to select perturbers */
__device__ __forceinline__ bool has_squad_found(int32_t i, const squad &together)
{
    int32_t is_found = 0, hits = 0;
    for (int w = 0; w < together.warps; w++) {
        is_found |= memory_of_warp(warp_of() + w).share.is_found;
        hits += memory_of_warp(warp_of() + w).share.hits;
    }
    return nb6_dev_remote_has_found(&dev, i, is_found, hits);
}

/* Words of 8 bytes of a note, one for each lane. */
constexpr int OF_BODY = sizeof(struct nb6_body) / sizeof(double), OF_TIDE = 12;
constexpr int TIME = OF_BODY + OF_TIDE, PLACE = TIME + 1, HAS_TIDE = PLACE + 1; /* the last two are two numbers each */
static_assert(offsetof(struct nb6_dev_note, field) == OF_BODY * sizeof(double), "lanes 0 to 15 have the body");
static_assert(offsetof(struct nb6_dev_note, t) == TIME * sizeof(double), "twelve have the tide");
static_assert(offsetof(struct nb6_dev_note, place) == PLACE * sizeof(double), "and the level after it");
static_assert(offsetof(struct nb6_dev_note, has_tide) == HAS_TIDE * sizeof(double), "and has_new_list");
static_assert(sizeof(struct nb6_dev_note) == WARP * sizeof(double), "a word for each lane");

__device__ __forceinline__ double two_numbers(int32_t low, int32_t high)
{
    return __hiloint2double(high, low);
}

/* Write the note of a step, by the first warp of a squad, after a barrier.   @return whether the host has to select
 * perturbers */
__device__ __noinline__ bool write_note(int32_t i, squad together, struct nb6_dev_note *note)
{
    const int lane = lane_of();
    const bool has_tide = is_remote_pair(i);
    const nb6_time t = dev.body[i].t0;
    const int level = dev.star[i].level_irr, is_new = nb6_dev_has_new_list(&dev, i);
    double control_block = reinterpret_cast<const double *>(dev.body + i)[lane % OF_BODY];
    if (lane >= OF_BODY) control_block = has_tide ? sum_of_squad(together, lane - OF_BODY, OF_TIDE) : 0;
    if (lane == TIME) control_block = __longlong_as_double(t);
    if (lane == PLACE) control_block = two_numbers(i, level);
    if (lane == HAS_TIDE) control_block = two_numbers(has_tide, is_new);
    reinterpret_cast<double *>(note)[lane] = control_block;
    return has_tide ? has_squad_found(i, together) : is_new && dev.watch[i] & NB6_DEV_SHOW;
}

} // namespace

#endif
