/** Sums over sources in the order of a curve (gpunb/cuda/sort.cuh): two targets for each lane, which are near each
 * other as well. A tile is a chunk of that order. One that is far from all targets of a warp, as nearly all are, is
 * summed without a test of its pairs, and from differences in float: c - x_i, formed once for a tile and a target, and
 * x_j - c. In a near one both are of two floats, and neighbours are noted. */
#ifndef GPUNB_CUDA_TILES_CUH
#define GPUNB_CUDA_TILES_CUH

#include "gpunb/cuda/box.cuh"
#include "gpunb/cuda/pair.cuh"
#include "gpunb/cuda/warp.cuh"
#include "gpunb/device/sums.h"

namespace
{

/* A tile in units of 16 bytes: centre, largest size; extent, its length; middle of the velocities; extent of these;
 * then for each source v, size; x - c, mass; the rounding error of x - c. */
constexpr int TILE_HEAD = 4, TILE_V = TILE_HEAD, TILE_X = TILE_V + WARP, TILE_LOW = TILE_X + WARP;
static_assert(TILE_LOW + WARP == GPUNB_DEV_TILE_UNITS, "a tile has its room");
constexpr int PAIR_OF_TARGETS = 2, FAR_UNROLL = 4, NEAR_UNROLL = 4;

/* Middle of the range of a number over the lanes that have one, and the largest distance from it, rounded up. */
__device__ __forceinline__ float middle_of_range(float low, float high, bool has_one, float *extent)
{
    high = highest_of_lanes(has_one ? high : -INFINITY);
    low = -highest_of_lanes(has_one ? -low : -INFINITY);
    const float middle = high >= low ? low + 0.5f * (high - low) : 0.0f;
    *extent = high >= low ? fmaxf(high - middle, middle - low) * BOX_MARGIN + fabsf(middle) * BOX_ROUNDING : 0.0f;
    return middle;
}

/* The tile of a chunk, by a warp. Its boxes leave out bodies that take no part. */
__device__ __forceinline__ void make_tile(const struct gpunb_dev_sums &sums, int64_t chunk)
{
    const int64_t place = chunk * WARP + lane_of();
    struct gpunb_dev_source source = {{GPUNB_DEV_FAR, GPUNB_DEV_FAR, GPUNB_DEV_FAR}, 0, {}, 0, {}, 0};
    float centre[3], extent[3], middle_v[3], extent_v[3], high[3], low[3];
    if (place < sums.n) source = sums.source[sums.order[place]];
    const bool takes_part = gpunb_dev_takes_part(&source);
    for (int k = 0; k < 3; k++) {
        centre[k] = middle_of_range(source.high[k], source.high[k], takes_part, &extent[k]);
        middle_v[k] = middle_of_range(source.v[k], source.v[k], takes_part, &extent_v[k]);
        const double from_centre = (double)source.high[k] + (double)source.low[k] - (double)centre[k];
        high[k] = (float)from_centre;
        low[k] = (float)(from_centre - (double)high[k]);
    }
    const float size = highest_of_lanes(source.size);
    float4 *units = reinterpret_cast<float4 *>(sums.tile[chunk].unit);
    units[TILE_V + lane_of()] = make_float4(source.v[0], source.v[1], source.v[2], source.size);
    units[TILE_X + lane_of()] = make_float4(high[0], high[1], high[2], source.mass);
    units[TILE_LOW + lane_of()] = make_float4(low[0], low[1], low[2], 0);
    if (lane_of() != 0) return;
    units[0] = make_float4(centre[0], centre[1], centre[2], size);
    units[1] = make_float4(extent[0], extent[1], extent[2], norm3df(extent[0], extent[1], extent[2]));
    units[2] = make_float4(middle_v[0], middle_v[1], middle_v[2], 0);
    units[3] = make_float4(extent_v[0], extent_v[1], extent_v[2], 0);
}

/* ---- far or near ---- */

/* Bounds of all targets of a warp: boxes of positions and velocities, the longest step, the largest sphere. */
struct target_group : moving_box {
    float h, dt;
};

__device__ __forceinline__ void group_range(float one, float other, float *middle, float *extent)
{
    *middle = middle_of_range(fminf(one, other), fmaxf(one, other), true, extent);
}

__device__ target_group group_of(const struct gpunb_dev_viewer (&a)[PAIR_OF_TARGETS])
{
    target_group g;
    group_range(a[0].at.high[0], a[1].at.high[0], &g.centre.x, &g.extent.x);
    group_range(a[0].at.high[1], a[1].at.high[1], &g.centre.y, &g.extent.y);
    group_range(a[0].at.high[2], a[1].at.high[2], &g.centre.z, &g.extent.z);
    group_range(a[0].at.v[0], a[1].at.v[0], &g.v.x, &g.extent_v.x);
    group_range(a[0].at.v[1], a[1].at.v[1], &g.v.y, &g.extent_v.y);
    group_range(a[0].at.v[2], a[1].at.v[2], &g.v.z, &g.extent_v.z);
    g.h = highest_of_lanes(fmaxf(a[0].h, a[1].h));
    g.dt = highest_of_lanes(fmaxf(a[0].dt, a[1].dt));
    return g;
}

/* Square of the distance from the origin to a box, not rounded up. */
__device__ __forceinline__ float distance2_to_box(vec3 d, vec3 e)
{
    const vec3 a = {fmaxf(fabsf(d.x) * (1 - BOX_CANCEL) - e.x, 0.0f), fmaxf(fabsf(d.y) * (1 - BOX_CANCEL) - e.y, 0.0f),
                    fmaxf(fabsf(d.z) * (1 - BOX_CANCEL) - e.z, 0.0f)};
    return dot(a, a);
}

/* A coordinate of the box in which sources of a box are after a step. */
__device__ __forceinline__ void move_box(float dt, float v, float extent_v, float &d, float &extent)
{
    const float way = dt * v;
    extent = fmaf(dt, extent_v, extent) * BOX_MARGIN + BOX_CANCEL * (fabsf(d) + fabsf(way));
    d += way;
}

/* Whether no source of a box can be in a sphere now or after the step, or so near that differences need two floats.
 *  NaN: it is not far.   @param[in] d, v  of its middle   @param[in] limit  radius of the sphere for the largest source
 */
__device__ __forceinline__ bool is_far_box(vec3 d, vec3 extent, vec3 v, vec3 extent_v, float dt, float limit,
                                           float diagonal)
{
    const float reach = limit * BOX_MARGIN, least = fmaxf(reach, 0.5f * diagonal);
    if (!(distance2_to_box(d, extent) > fmaxf(least * least, GPUNB_DEV_TINY_R2))) return false;
    move_box(dt, v.x, extent_v.x, d.x, extent.x);
    move_box(dt, v.y, extent_v.y, d.y, extent.y);
    move_box(dt, v.z, extent_v.z, d.z, extent.z);
    return distance2_to_box(d, extent) > reach * reach;
}

/* is_far for all targets of a warp, whose steps differ: the box contains the motion within the longest step. */
__device__ __forceinline__ bool is_far_from_group(const float4 *units, const target_group &g)
{
    const tile_view tile = view_tile(units);
    const vec3 v = tile.v - g.v, extent_v = tile.extent_v + g.extent_v, extent = tile.extent + g.extent;
    const vec3 swept = times_plus(g.dt, most_of(v, extent_v), extent);
    return is_far_box(tile.centre - g.centre, swept, {}, {}, 0, g.h * tile.size, tile.diagonal);
}

/* Bit k: the k-th of the next 32 tiles of the slice is far from all targets of the warp. */
__device__ __forceinline__ uint32_t far_tiles(const struct gpunb_dev_sums &sums, int64_t chunk, int64_t step,
                                              const target_group &g)
{
    const int64_t own = chunk + lane_of() * step;
    const bool is_far =
        own < gpunb_dev_chunks(&sums) && is_far_from_group(reinterpret_cast<const float4 *>(sums.tile[own].unit), g);
    return __ballot_sync(ALL, is_far);
}

/* ---- sums ---- */

/* A source on its way to the sums: differences of positions, and 1/r, for both targets of a lane. */
struct staged_source {
    vec3 r[PAIR_OF_TARGETS];
    float y[PAIR_OF_TARGETS];
};

__device__ __forceinline__ staged_source stage_source(const vec3 (&from)[PAIR_OF_TARGETS], float4 x)
{
    staged_source s;
#pragma unroll
    for (int w = 0; w < PAIR_OF_TARGETS; w++) {
        s.r[w] = from[w] + first3(x);
        s.y[w] = rsqrt_hardware(dot(s.r[w], s.r[w]));
    }
    return s;
}

/* While a source is added, 1/r of the next one is under way, and the one after it is read: or each warp would wait for
 * both, with too few others to issue instead. */
__device__ __forceinline__ void sum_far_tile(const tile_view &tile,
                                             const struct gpunb_dev_viewer (&viewer)[PAIR_OF_TARGETS],
                                             pair_sums (&part)[PAIR_OF_TARGETS])
{
    vec3 from[PAIR_OF_TARGETS];
#pragma unroll
    for (int w = 0; w < PAIR_OF_TARGETS; w++)
        from[w] = (tile.centre - vector_of(viewer[w].at.high)) - vector_of(viewer[w].at.low);
    const float4 *x = tile.units + TILE_X, *v = tile.units + TILE_V;
    float4 x_next = x[1], v_now = v[0];
    float mass = x[0].w;
    staged_source now = stage_source(from, x[0]);
#pragma unroll FAR_UNROLL
    for (int j = 0; j < WARP; j++) {
        const float mass_next = x_next.w;
        const staged_source next = stage_source(from, x_next);
        const float4 v_next = v[min(j + 1, WARP - 1)];
        x_next = x[min(j + 2, WARP - 1)];
#pragma unroll
        for (int w = 0; w < PAIR_OF_TARGETS; w++)
            add_pair<AS_IT_IS, false>(now.r[w], first3(v_now) - vector_of(viewer[w].at.v), 0.0f, mass, now.y[w],
                                      part[w]);
        now = next;
        mass = mass_next;
        v_now = v_next;
    }
}

__device__ __forceinline__ void flush_pairs(pair_sums &part, struct gpunb_dev_sum &sum)
{
#pragma unroll
    for (int k = 0; k < 3; k++) {
        sum.acc[k] += (double)part.acc[k];
        sum.jerk[k] += (double)part.jerk[k];
    }
    part = {};
}

/* a - b as a float, and its rounding error (Knuth's TwoSum). */
__device__ __forceinline__ float difference_of(float a, float b, float *lost)
{
    const float d = __fsub_rn(a, b), bb = __fsub_rn(a, d);
    *lost = __fadd_rn(__fsub_rn(a, __fadd_rn(d, bb)), __fsub_rn(bb, b));
    return d;
}

/* Bound on the error of the square of a distance between a target and a source of a tile, now or after its step,
 * over which floats do not tell who is a neighbour (GPUNB_DEV_EDGE). */
__device__ __forceinline__ float edge_of(const tile_view &tile, const struct gpunb_dev_viewer &viewer)
{
    const vec3 d = (tile.centre - vector_of(viewer.at.high)) - vector_of(viewer.at.low);
    const float most = norm3df(d.x, d.y, d.z) + tile.diagonal;
    return GPUNB_DEV_EDGE * (most * most + 4 * gpunb_dev_limit2(&viewer, tile.size));
}

/* Neighbours of the targets of a lane in a near tile: a bit for each source that is one or may be one, which was not
 * added to the sums; whether any of these is at the edge. */
struct near_bits {
    uint32_t close[PAIR_OF_TARGETS];
    bool has_edge[PAIR_OF_TARGETS];
};

template <bool WEIGHTED>
__device__ __forceinline__ void sum_near_tile(const tile_view &tile,
                                              const struct gpunb_dev_viewer (&viewer)[PAIR_OF_TARGETS],
                                              pair_sums (&part)[PAIR_OF_TARGETS], near_bits &bits)
{
    vec3 from[PAIR_OF_TARGETS], low[PAIR_OF_TARGETS];
    float edge[PAIR_OF_TARGETS], upper[PAIR_OF_TARGETS], lower[PAIR_OF_TARGETS];
#pragma unroll
    for (int w = 0; w < PAIR_OF_TARGETS; w++) {
        const struct gpunb_dev_source &at = viewer[w].at;
        from[w].x = difference_of(tile.centre.x, at.high[0], &low[w].x);
        from[w].y = difference_of(tile.centre.y, at.high[1], &low[w].y);
        from[w].z = difference_of(tile.centre.z, at.high[2], &low[w].z);
        low[w] = low[w] - vector_of(at.low);
        edge[w] = edge_of(tile, viewer[w]);
        upper[w] = gpunb_dev_limit2(&viewer[w], 1.0f) + edge[w];
        lower[w] = gpunb_dev_limit2(&viewer[w], 1.0f) - edge[w];
    }
#pragma unroll NEAR_UNROLL
    for (int j = 0; j < WARP; j++) {
        const float4 x = tile.units[TILE_X + j], v_j = tile.units[TILE_V + j], rest = tile.units[TILE_LOW + j];
#pragma unroll
        for (int w = 0; w < PAIR_OF_TARGETS; w++) {
            const vec3 r = (from[w] + first3(x)) + (low[w] + first3(rest)), v = first3(v_j) - vector_of(viewer[w].at.v);
            const vec3 later = times_plus(viewer[w].dt, v, r);
            const float r2 = dot(r, r), least = fminf(r2, dot(later, later));
            if (WEIGHTED) {
                upper[w] = gpunb_dev_limit2(&viewer[w], v_j.w) + edge[w];
                lower[w] = gpunb_dev_limit2(&viewer[w], v_j.w) - edge[w];
            }
            const bool is_close = least < upper[w];
            if (is_close) bits.close[w] |= 1u << j;
            bits.has_edge[w] |= is_close && !(least < lower[w]);
            add_pair<AS_IT_IS, false>(r, v, r2, x.w, is_close ? 0.0f : rsqrt_hardware(r2), part[w]);
        }
    }
}

__device__ __forceinline__ bool is_near_target(const tile_view &tile, const struct gpunb_dev_viewer &viewer)
{
    const vec3 d = (tile.centre - vector_of(viewer.at.high)) - vector_of(viewer.at.low);
    return !is_far_box(d, tile.extent, tile.v - vector_of(viewer.at.v), tile.extent_v, viewer.dt, viewer.h * tile.size,
                       tile.diagonal);
}

} // namespace

#endif
