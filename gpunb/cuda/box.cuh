/** Boxes around the sources of a tile and the targets of a warp, in float, rounded such that everything outside is
 *  certainly far. */
#ifndef GPUNB_CUDA_BOX_CUH
#define GPUNB_CUDA_BOX_CUH

#include "gpunb/cuda/pair.cuh"

/** Generous bounds on the rounding of a distance between two boxes, of a difference, and of a middle, relative to the
 *  numbers involved. */
static constexpr float BOX_MARGIN = 1.0001f, BOX_CANCEL = 2e-6f, BOX_ROUNDING = 2.4e-7f;

static __device__ __forceinline__ float warp_max(float a)
{
#pragma unroll
    for (int k = 16; k > 0; k /= 2) a = fmaxf(a, __shfl_xor_sync(~0u, a, k));
    return a;
}

/** Middle and half the size of the range of a quantity over the warp, rounded up. */
static __device__ __forceinline__ void range(float low, float high, float *middle, float *half)
{
    high = warp_max(high);
    low = -warp_max(-low);
    *middle = low + 0.5f * (high - low);
    *half = 0.5f * (high - low) * BOX_MARGIN + BOX_CANCEL * fabsf(*middle);
}

static __device__ __forceinline__ void range(vec3 low, vec3 high, vec3 *middle, vec3 *half)
{
    range(low.x, high.x, &middle->x, &half->x);
    range(low.y, high.y, &middle->y, &half->y);
    range(low.z, high.z, &middle->z, &half->z);
}

/** Half the size of a box at a distance d, with the roundings of that. */
static __device__ __forceinline__ float widened(float half, float d)
{
    return half * BOX_MARGIN + BOX_CANCEL * fabsf(d);
}

static __device__ __forceinline__ vec3 widened(vec3 half, vec3 d)
{
    return {widened(half.x, d.x), widened(half.y, d.y), widened(half.z, d.z)};
}

/** Square of the distance from the origin to a box. */
static __device__ __forceinline__ float to_box(vec3 centre, vec3 extent)
{
    const vec3 a = {fmaxf(fabsf(centre.x) - extent.x, 0.0f), fmaxf(fabsf(centre.y) - extent.y, 0.0f),
                    fmaxf(fabsf(centre.z) - extent.z, 0.0f)};
    return dot(a, a);
}

/** A box of positions and one of velocities: their middles, and half their sizes. */
struct moving_box {
    vec3 centre, extent, v, extent_v;
};

/** The largest velocity on each axis of something in a box of velocities. */
static __device__ __forceinline__ vec3 most_of(vec3 v, vec3 extent_v)
{
    return {fabsf(v.x) + extent_v.x, fabsf(v.y) + extent_v.y, fabsf(v.z) + extent_v.z};
}

/** A tile: its first four units of 16 bytes are centre and size, extent and its length, v, extent_v. */
struct tile_view : moving_box {
    float size, diagonal;
    const float4 *units; /**< in shared memory */
};

static __device__ __forceinline__ tile_view view_tile(const float4 *units)
{
    const float4 a = units[0], b = units[1], c = units[2], d = units[3];
    return {{first3(a), first3(b), first3(c), first3(d)}, a.w, b.w, units};
}

#endif
