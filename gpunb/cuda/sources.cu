/* From sources as they were sent to tiles, with centre and extent of each. */
#include "gpunb/cuda/box.cuh"
#include "gpunb/cuda/kernels.h"
#include "gpunb/device/predicted.h"

namespace
{

constexpr int BLOCK = 128, WARP = 32, EACH = DEVICE_TILE / WARP; /* sources of a thread */
/* Extents are rounded up by this: they are compared with distances that have roundings of their own. */
constexpr float ROUND_UP = 1.00001f, POSITION_ROUNDING = 2.4e-7f;

/* Middle of the extremes over the warp, as a float, and the largest distance from it, rounded up. */
__device__ __forceinline__ float warp_middle(const float (&a)[EACH], float *extent)
{
    float high = a[0], low = a[0];
    for (int e = 1; e < EACH; e++) {
        high = fmaxf(high, a[e]);
        low = fminf(low, a[e]);
    }
    high = warp_max(high);
    low = -warp_max(-low);
    const float middle = low + 0.5f * (high - low);
    *extent = fmaxf(high - middle, middle - low) * ROUND_UP + fabsf(middle) * POSITION_ROUNDING;
    return middle;
}

__device__ __forceinline__ void split(double value, float *high, float *low)
{
    *high = (float)value;
    *low = (float)(value - (double)*high);
}

/* Bytes copied on the way, by blocks of their own. */
__device__ void copy_words(const struct device_copy &copy, size_t first, size_t step)
{
    const uint32_t *from = static_cast<const uint32_t *>(copy.from);
    uint32_t *to = static_cast<uint32_t *>(copy.to);
    for (size_t k = first; k < copy.bytes / sizeof *to; k += step) to[k] = from[k];
}

/* One warp makes one tile; the blocks from `copiers` on copy. Places past the end repeat the last source without its
 * mass. */
template <bool PREDICT>
__global__ void __launch_bounds__(BLOCK)
    make_tiles(const struct device_source *sources, const struct device_prediction prediction, int n, bool identity,
               int32_t *index, int32_t *inverse, float4 *tiles, const struct device_copy copy, unsigned copiers)
{
    if (blockIdx.x >= copiers) {
        const size_t number = blockIdx.x - copiers, blocks = gridDim.x - copiers;
        copy_words(copy, number * BLOCK + threadIdx.x, blocks * BLOCK);
        return;
    }
    const int lane = threadIdx.x % WARP, tile = (blockIdx.x * BLOCK + threadIdx.x) / WARP;
    if (tile * DEVICE_TILE >= n) return;
    struct device_source s[EACH];
    for (int e = 0; e < EACH; e++) {
        const int place = tile * DEVICE_TILE + e * WARP + lane, inside = min(place, n - 1);
        const int j = identity ? inside : index[inside];
        s[e] = PREDICT ? gpunb_predicted_source(&prediction, j) : sources[j];
        if (PREDICT && place < n) prediction.sources[j] = s[e];
        if (place >= n) s[e].m = 0.0f;
        if (identity || place >= n) index[place] = j;
        if (place < n) inverse[j] = place;
    }
    float centre[3], extent[3], middle_v[3], extent_v[3];
    for (int k = 0; k < 3; k++) {
        float x[EACH], v[EACH];
        for (int e = 0; e < EACH; e++) {
            x[e] = (float)s[e].x[k];
            v[e] = s[e].v[k];
        }
        centre[k] = warp_middle(x, &extent[k]);
        middle_v[k] = warp_middle(v, &extent_v[k]);
    }
    float m_max = s[0].m;
    float4 *out = tiles + (size_t)tile * DEVICE_TILE_UNITS;
    for (int e = 0; e < EACH; e++) {
        const int at = e * WARP + lane;
        float r[3], high[3], low[3];
        for (int k = 0; k < 3; k++) {
            r[k] = (float)(s[e].x[k] - (double)centre[k]);
            split(s[e].x[k], &high[k], &low[k]);
        }
        out[DEVICE_V + at] = make_float4(s[e].v[0], s[e].v[1], s[e].v[2], sqrtf(fmaxf(s[e].m, 0.0f)));
        out[DEVICE_FROM_CENTRE + at] = make_float4(r[0], r[1], r[2], s[e].m);
        out[DEVICE_HIGH + at] = make_float4(high[0], high[1], high[2], s[e].m);
        out[DEVICE_LOW + at] = make_float4(low[0], low[1], low[2], 0.0f);
        m_max = fmaxf(m_max, s[e].m);
    }
    m_max = warp_max(m_max);
    if (lane != 0) return;
    out[0] = make_float4(centre[0], centre[1], centre[2], m_max);
    out[1] = make_float4(extent[0], extent[1], extent[2], norm3df(extent[0], extent[1], extent[2]));
    out[2] = make_float4(middle_v[0], middle_v[1], middle_v[2], 0.0f);
    out[3] = make_float4(extent_v[0], extent_v[1], extent_v[2], 0.0f);
}

} // namespace

/* Blocks that make n sources into tiles. */
static unsigned tile_blocks(int n)
{
    const int tiles = (n + DEVICE_TILE - 1) / DEVICE_TILE, per_block = BLOCK / WARP;
    return (unsigned)((tiles + per_block - 1) / per_block);
}

/* Blocks that copy: one for each 4 KiB. */
static unsigned copy_blocks(const struct device_copy *copy)
{
    return (unsigned)((copy->bytes + 4095) / 4096);
}

cudaError_t gpunb_cuda_tiles(const struct device_source *sources, int n, int identity,
                             const struct device_layout *layout, const struct device_copy *copy, cudaStream_t stream)
{
    const unsigned blocks = tile_blocks(n);
    make_tiles<false>
        <<<blocks + copy_blocks(copy), BLOCK, 0, stream>>>(sources, {}, n, identity != 0, layout->index, layout->place,
                                                           static_cast<float4 *>(layout->tiles), *copy, blocks);
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_predicted_tiles(const struct device_prediction *prediction, const struct device_layout *layout,
                                       const struct device_copy *copy, cudaStream_t stream)
{
    const unsigned blocks = tile_blocks(prediction->n);
    make_tiles<true><<<blocks + copy_blocks(copy), BLOCK, 0, stream>>>(
        nullptr, *prediction, prediction->n, true, layout->index, layout->place, static_cast<float4 *>(layout->tiles),
        *copy, blocks);
    return cudaGetLastError();
}
