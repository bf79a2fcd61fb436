/* The force kernel. A block holds 32*WIDTH targets; its warps go through different tiles of sources, each on its own,
 * with the next tile on its way while one is summed. */
#include "gpunb/cuda/box.cuh"
#include "gpunb/cuda/kernels.h"
#include "gpunb/cuda/pair.cuh"
#include "gpunb/cuda/warp.cuh"

namespace
{

enum mode { FLOAT, TWOFLOAT };

/* Pairs closer than this are left out for any radius: 1/r^3 would not fit a float. */
constexpr float LEAST_REACH = 4e-19f;
/* Larger steps and radii have the same effect, and their squares and products would not fit a float. */
constexpr double DT_MAX = 1e20, H2_MAX = 1e37;

/* Sources in one turn of the loops over a tile: with more the code does not fit the instruction cache; and blocks
 * that a multiprocessor is to hold, which is a matter of registers (docs/trials.md). */
constexpr int far_unroll = 16, near_unroll = 4, MIN_BLOCKS = 4;

struct target {
    vec3 xh, xl, v;
    float dt, h2;
    int self; /* place of its own source, -1: none here */
    int32_t *in_doubt;
};

/* The totals of one target. */
struct totals {
    long_float sum[DEVICE_SUMS];
};

__device__ __forceinline__ const float4 *tiles_of(const struct device_force &a)
{
    return static_cast<const float4 *>(a.layout.tiles);
}

/* A component of the box that holds the sources where they would be after the step of the target, seen from it. */
__device__ __forceinline__ void moved(float d, float extent, float dt, float v, float extent_v, float *centre,
                                      float *half)
{
    *centre = fmaf(dt, v, d);
    *half = fmaf(dt, extent_v, extent) + BOX_CANCEL * (fabsf(d) + fabsf(dt * v));
}

/* Whether the pairs of this tile and this target need the test, or the low parts: see kernels.h. NaN counts as
 * near. `d`: from the target to the centre. */
template <bool TWO>
__device__ __forceinline__ bool is_near(const tile_view &tile, const target &t, vec3 d, bool weighted)
{
    const float h2 = (weighted ? fmaxf(tile.size, 0.0f) * t.h2 : t.h2) * BOX_MARGIN;
    const float close = 0.5f * tile.diagonal, close2 = TWO ? fmaxf(close * close, h2) : h2;
    const vec3 v = tile.v - t.v;
    vec3 centre, half;
    moved(d.x, tile.extent.x, t.dt, v.x, tile.extent_v.x, &centre.x, &half.x);
    moved(d.y, tile.extent.y, t.dt, v.y, tile.extent_v.y, &centre.y, &half.y);
    moved(d.z, tile.extent.z, t.dt, v.z, tile.extent_v.z, &centre.z, &half.z);
    return !(to_box(d, tile.extent) > close2 && to_box(centre, half) > h2);
}

/* All targets of a warp: a box in space, one in velocity, the largest step and radius. */
struct group : moving_box {
    float dt, h2;
};

template <int WIDTH> __device__ __forceinline__ group make_group(const target (&t)[WIDTH])
{
    vec3 low = t[0].xh, high = low, low_v = t[0].v, high_v = low_v;
    float dt = t[0].dt, h2 = t[0].h2;
#pragma unroll
    for (int i = 1; i < WIDTH; i++) {
        low = {fminf(low.x, t[i].xh.x), fminf(low.y, t[i].xh.y), fminf(low.z, t[i].xh.z)};
        high = {fmaxf(high.x, t[i].xh.x), fmaxf(high.y, t[i].xh.y), fmaxf(high.z, t[i].xh.z)};
        low_v = {fminf(low_v.x, t[i].v.x), fminf(low_v.y, t[i].v.y), fminf(low_v.z, t[i].v.z)};
        high_v = {fmaxf(high_v.x, t[i].v.x), fmaxf(high_v.y, t[i].v.y), fmaxf(high_v.z, t[i].v.z)};
        dt = fmaxf(dt, t[i].dt);
        h2 = fmaxf(h2, t[i].h2);
    }
    group g;
    range(low, high, &g.centre, &g.extent);
    range(low_v, high_v, &g.v, &g.extent_v);
    g.dt = warp_max(dt);
    g.h2 = warp_max(h2);
    return g;
}

/* Whether a tile is far from all targets of the group: the test of is_near for all of them at once. */
template <bool TWO> __device__ __forceinline__ bool is_apart(const tile_view &tile, const group &g, bool weighted)
{
    const float h2 = (weighted ? fmaxf(tile.size, 0.0f) * g.h2 : g.h2) * BOX_MARGIN;
    const float close = 0.5f * tile.diagonal, close2 = TWO ? fmaxf(close * close, h2) : h2;
    const vec3 d = tile.centre - g.centre, e = tile.extent + g.extent;
    const vec3 most_v = most_of(tile.v - g.v, tile.extent_v + g.extent_v);
    return to_box(d, widened(times_plus(g.dt, most_v, e), d)) > close2;
}

/* Bit k: the k-th of the next 32 tiles of this warp is far from all of its targets. One tile a lane. */
template <bool TWO>
__device__ uint32_t next_apart(const struct device_force &a, int tile, int step, int lane, const group &g)
{
    const long long mine = tile + (long long)lane * step;
    bool apart = false;
    if (mine < a.n_tiles) apart = is_apart<TWO>(view_tile(tiles_of(a) + mine * DEVICE_TILE_UNITS), g, a.weighted);
    return __ballot_sync(~0u, apart);
}

/* Start of a difference of positions: for far tiles of two-float targets c - x_i, else -x_i. */
template <mode MODE> __device__ __forceinline__ vec3 origin(const tile_view &tile, const target &t)
{
    if (MODE != TWOFLOAT) return {-t.xh.x, -t.xh.y, -t.xh.z};
    return (tile.centre - t.xh) - t.xl;
}

/* All sources of a tile on WIDTH targets, untested. */
template <int WIDTH, mode MODE, bool POT>
__device__ __forceinline__ void far_tile(const tile_view &tile, const target (&t)[WIDTH], pair_sums (&sum)[WIDTH])
{
    const float4 *xm = tile.units + (MODE == TWOFLOAT ? DEVICE_FROM_CENTRE : DEVICE_HIGH), *v = tile.units + DEVICE_V;
    vec3 from[WIDTH];
#pragma unroll
    for (int i = 0; i < WIDTH; i++) from[i] = origin<MODE>(tile, t[i]);
#pragma unroll far_unroll
    for (int k = 0; k < DEVICE_TILE; k++) {
        const float4 x_j = xm[k];
        const vec3 v_j = first3(v[k]);
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            const vec3 r = from[i] + first3(x_j);
            const float r2 = dot(r, r);
            add_pair<MODE == TWOFLOAT ? REFINED_SQUARE : AS_IT_IS, POT>(r, v_j - t[i].v, r2, x_j.w, rsqrt_hardware(r2),
                                                                        sum[i]);
        }
    }
}

/* Difference of positions in a near tile. */
template <bool TWO> __device__ __forceinline__ vec3 difference(float4 high, float4 low, const target &t)
{
    const vec3 r = first3(high) - t.xh;
    return TWO ? r + (first3(low) - t.xl) : r;
}

template <bool POT> __device__ __forceinline__ void flush(const pair_sums &sum, totals &total)
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        total.sum[c].add(sum.acc[c]);
        total.sum[3 + c].add(sum.jerk[c]);
    }
    if (POT) total.sum[6].add(sum.pot);
}

/* Largest increase of the radius of a sphere by a relative velocity in this tile within the step, rounded up. */
__device__ __forceinline__ float approach(const tile_view &tile, const target &t)
{
    const vec3 most = most_of(tile.v - t.v, tile.extent_v);
    return t.dt * sqrtf(dot(most, most)) * BOX_MARGIN;
}

/* All sources of a tile on WIDTH targets, but for those with r < h sqrt(w) + dt |v|max, which go to the masks. */
template <int WIDTH, mode MODE, bool POT>
__device__ __forceinline__ void near_tile(const struct device_force &a, const tile_view &tile, int number,
                                          const target (&t)[WIDTH], int lane, totals (&total)[WIDTH])
{
    constexpr bool TWO = MODE == TWOFLOAT;
    const float plain = a.weighted ? 0.0f : 1.0f, by_mass = a.weighted ? 1.0f : 0.0f;
    float h[WIDTH], more[WIDTH];
    uint32_t close[WIDTH][2];
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        h[i] = sqrtf(t[i].h2) * BOX_MARGIN;
        more[i] = approach(tile, t[i]) + LEAST_REACH;
        close[i][0] = 0;
    }
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
        pair_sums sum[WIDTH] = {};
        const float4 *units = tile.units + half * 32;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            close[i][1] = close[i][0];
            close[i][0] = 0;
        }
#pragma unroll near_unroll
        for (int k = 0; k < 32; k++) {
            const float4 high = units[DEVICE_HIGH + k], low = TWO ? units[DEVICE_LOW + k] : high,
                         v_j = units[DEVICE_V + k];
            const float weight = fmaf(by_mass, v_j.w, plain);
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                const vec3 r = difference<TWO>(high, low, t[i]);
                const float r2 = dot(r, r), reach = fmaf(weight, h[i], more[i]);
                const bool hit = r2 < reach * reach;
                if (hit) close[i][0] |= 1u << k;
                add_pair<TWO ? REFINED_CUBE : AS_IT_IS, POT>(r, first3(v_j) - t[i].v, r2, high.w,
                                                             hit ? 0.0f : rsqrt_hardware(r2), sum[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < WIDTH; i++) flush<POT>(sum[i], total[i]);
    }
    const size_t tiles = (size_t)blockIdx.x * a.close.stride + number;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        const unsigned long long mask = (unsigned long long)close[i][0] << 32 | close[i][1];
        const unsigned own = (unsigned)(t[i].self - number * DEVICE_TILE);
        a.close.mask[tiles * (32 * WIDTH) + 32 * i + lane] = mask;
        /* A target that is not at the position of its source: the pair was added. */
        if (own < DEVICE_TILE && !(mask >> own & 1u)) *t[i].in_doubt = 1;
    }
}

/* `apart`: the tile is known to be far from all targets of the warp, except for a target that is not at the position
 * of its source. */
template <int WIDTH, mode MODE, bool POT>
__device__ __forceinline__ void sum_tile(const struct device_force &a, const tile_view &tile, int number, bool apart,
                                         const target (&t)[WIDTH], int lane, totals (&total)[WIDTH])
{
    bool near = false;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) near |= (unsigned)(t[i].self - number * DEVICE_TILE) < DEVICE_TILE;
    if (!apart)
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            near |= is_near<MODE == TWOFLOAT>(tile, t[i], (tile.centre - t[i].xh) - t[i].xl, a.weighted);
    near = __any_sync(~0u, near);
    if (lane == 0) a.close.near[(size_t)blockIdx.x * a.close.stride + number] = near;
    if (near) {
        near_tile<WIDTH, MODE, POT>(a, tile, number, t, lane, total);
        return;
    }
    pair_sums sum[WIDTH] = {};
    far_tile<WIDTH, MODE, POT>(tile, t, sum);
#pragma unroll
    for (int i = 0; i < WIDTH; i++) flush<POT>(sum[i], total[i]);
}

/* The target at a place of the piece, rounded; places past the end repeat the last one. */
template <bool TWO> __device__ __forceinline__ target load_target(const struct device_force &a, int place)
{
    const int at = a.first + min(place, a.n - 1), i = a.order ? a.order[at] : at;
    const struct device_targets &from = a.targets;
    const double x = from.x[i][0], y = from.x[i][1], z = from.x[i][2];
    target t = {{(float)x, (float)y, (float)z}, {}, {(float)from.v[i][0], (float)from.v[i][1], (float)from.v[i][2]}};
    if (TWO) t.xl = {(float)(x - (double)t.xh.x), (float)(y - (double)t.xh.y), (float)(z - (double)t.xh.z)};
    t.dt = (float)fmin(from.dt[i], DT_MAX);
    t.h2 = (float)fmin(from.r_nb2[i], H2_MAX);
    const int self = from.self[i] < 0 ? -1 : from.self[i] - a.j_first;
    t.self = self >= 0 && self < a.n_j ? a.layout.place[self] : -1;
    t.in_doubt = &a.targets.in_doubt[at];
    return t;
}

struct workspace {
    union {
        float4 tiles[DEVICE_WARPS][2][DEVICE_TILE_UNITS];
        double sums[DEVICE_WARPS][DEVICE_SUMS][32];
    };
    group groups[DEVICE_WARPS];
};

template <int WIDTH, mode MODE, bool POT>
__global__ void __launch_bounds__(32 * DEVICE_WARPS, MIN_BLOCKS) force_kernel(const struct device_force a)
{
    __shared__ workspace shared;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int place = blockIdx.x * 32 * WIDTH + lane; /* of the first target of this thread; the others are 32 apart */
    target t[WIDTH];
    totals total[WIDTH] = {};
#pragma unroll
    for (int i = 0; i < WIDTH; i++) t[i] = load_target<MODE == TWOFLOAT>(a, place + 32 * i);

    const int step = gridDim.y * DEVICE_WARPS;
    int tile = blockIdx.y * DEVICE_WARPS + warp, buffer = 0;
    uint32_t apart = 0;
    const group g = make_group(t);
    if (lane == 0) shared.groups[warp] = g;
    __syncwarp();
    if (tile < a.n_tiles)
        begin_copy<DEVICE_TILE_UNITS>(shared.tiles[warp][0], tiles_of(a) + (size_t)tile * DEVICE_TILE_UNITS);
    for (int count = 0; tile < a.n_tiles; tile += step, buffer ^= 1, count++, apart >>= 1) {
        if (count % 32 == 0) apart = next_apart<MODE == TWOFLOAT>(a, tile, step, lane, shared.groups[warp]);
        await_copy(tile + step < a.n_tiles, [&]() {
            begin_copy<DEVICE_TILE_UNITS>(shared.tiles[warp][buffer ^ 1],
                                          tiles_of(a) + (size_t)(tile + step) * DEVICE_TILE_UNITS);
        });
        sum_tile<WIDTH, MODE, POT>(a, view_tile(shared.tiles[warp][buffer]), tile, apart & 1u, t, lane, total);
        __syncwarp();
    }

    for (int i = 0; i < WIDTH; i++) {
        __syncthreads();
        for (int q = 0; q < DEVICE_SUMS; q++) shared.sums[warp][q][lane] = total[i].sum[q].value();
        __syncthreads();
        if (place + 32 * i >= a.n) continue;
        double *out = a.partial + ((size_t)(place + 32 * i) * a.splits + blockIdx.y) * DEVICE_SUMS;
        for (int q = warp; q < DEVICE_SUMS; q += DEVICE_WARPS)
            out[q] = ((shared.sums[0][q][lane] + shared.sums[1][q][lane]) + shared.sums[2][q][lane]) +
                     shared.sums[3][q][lane];
    }
}

typedef void (*kernel)(const struct device_force);

kernel select(const struct device_variant *v)
{
    if (v->width == 1 && v->twofloat)
        return v->pot ? force_kernel<1, TWOFLOAT, true> : force_kernel<1, TWOFLOAT, false>;
    if (v->width == 1) return v->pot ? force_kernel<1, FLOAT, true> : force_kernel<1, FLOAT, false>;
    if (v->twofloat) return v->pot ? force_kernel<2, TWOFLOAT, true> : force_kernel<2, TWOFLOAT, false>;
    return v->pot ? force_kernel<2, FLOAT, true> : force_kernel<2, FLOAT, false>;
}

} // namespace

cudaError_t gpunb_cuda_blocks_per_sm(const struct device_variant *variant, int *blocks)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, select(variant), 32 * DEVICE_WARPS, 0);
}

cudaError_t gpunb_cuda_force(const struct device_variant *variant, const struct device_force *force,
                             cudaStream_t stream)
{
    const dim3 grid((force->n + force->in_block - 1) / force->in_block, force->splits);
    select(variant)<<<grid, 32 * DEVICE_WARPS, 0, stream>>>(*force);
    return cudaGetLastError();
}
