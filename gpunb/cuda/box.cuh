/** Boxes around the sources of a tile and the targets of a warp, in float, rounded such that everything outside is
 *  certainly far. */
#ifndef GPUNB_CUDA_BOX_CUH
#define GPUNB_CUDA_BOX_CUH

#include "gpunb/cuda/pair.cuh"

/** Generous bound on the rounding of a distance between two boxes. */
static constexpr float BOX_MARGIN = 1.0001f, BOX_CANCEL = 2e-6f;

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

/** Half the size of a box at a distance d, with the roundings of that. */
static __device__ __forceinline__ float widened(float half, float d)
{
    return half * BOX_MARGIN + BOX_CANCEL * fabsf(d);
}

/** Square of the distance from the origin to a box. */
static __device__ __forceinline__ float to_box(vec3 centre, vec3 extent)
{
    const vec3 a = {fmaxf(fabsf(centre.x) - extent.x, 0.0f), fmaxf(fabsf(centre.y) - extent.y, 0.0f),
                    fmaxf(fabsf(centre.z) - extent.z, 0.0f)};
    return dot(a, a);
}

#endif
