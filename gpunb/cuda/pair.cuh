/** Arithmetic of one pair on the GPU, NA12 eq. 10 and 11, for all variants of the force kernel. */
#ifndef GPUNB_CUDA_PAIR_CUH
#define GPUNB_CUDA_PAIR_CUH

/** Sums of one target within a tile. */
struct pair_sums {
    float acc[3], jerk[3], pot;
};

struct vec3 {
    float x, y, z;
};

static __device__ __forceinline__ vec3 operator+(vec3 a, vec3 b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}

static __device__ __forceinline__ vec3 operator-(vec3 a, vec3 b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}

/** a b + c */
static __device__ __forceinline__ vec3 times_plus(float a, vec3 b, vec3 c)
{
    return {fmaf(a, b.x, c.x), fmaf(a, b.y, c.y), fmaf(a, b.z, c.z)};
}

/** sum += a b */
static __device__ __forceinline__ void add_times(float a, vec3 b, float (&sum)[3])
{
    sum[0] = fmaf(a, b.x, sum[0]);
    sum[1] = fmaf(a, b.y, sum[1]);
    sum[2] = fmaf(a, b.z, sum[2]);
}

static __device__ __forceinline__ float dot(vec3 a, vec3 b)
{
    return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x));
}

static __device__ __forceinline__ vec3 first3(float4 a)
{
    return {a.x, a.y, a.z};
}

static __device__ __forceinline__ vec3 vector_of(const float (&x)[3])
{
    return {x[0], x[1], x[2]};
}

/** 1/sqrt(r2) by the hardware's approximation: relative error up to 2^-22.9. */
static __device__ __forceinline__ float rsqrt_hardware(float r2)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(r2));
    return y;
}

/** Correction of the errors of the hardware's y = 1/r. */
enum refinement {
    AS_IT_IS,       /* nothing: it enters three times in 1/r^3 */
    REFINED_SQUARE, /* one step for 1/r^2: it enters once */
    REFINED_CUBE    /* one step for 1/r^3, which also undoes the rounding of y and half that of y^2 */
};

/** Adds a source of mass m at r, moving with v relative to the target. y: the hardware's 1/r, or 0 to add nothing. */
template <refinement R, bool POT>
static __device__ __forceinline__ void add_pair(vec3 r, vec3 v, float r2, float m, float y, pair_sums &sum)
{
    float y2 = y * y;
    const float residual = R == AS_IT_IS ? 0.0f : fmaf(-r2, y2, 1.0f);
    if (R == REFINED_SQUARE) y2 = fmaf(y2, residual, y2);
    const float mr = m * y;
    float mr3 = mr * y2;
    if (R == REFINED_CUBE) mr3 = fmaf(mr3, 1.5f * residual, mr3);
    add_times(mr3, r, sum.acc);
    const float alpha = (-3.0f * y2) * dot(r, v);
    sum.jerk[0] = fmaf(mr3, fmaf(alpha, r.x, v.x), sum.jerk[0]);
    sum.jerk[1] = fmaf(mr3, fmaf(alpha, r.y, v.y), sum.jerk[1]);
    sum.jerk[2] = fmaf(mr3, fmaf(alpha, r.z, v.z), sum.jerk[2]);
    if (POT) sum.pot += mr;
}

/** A float sum with its rounding error. */
struct long_float {
    float high, low;
    /** Knuth's TwoSum: no condition on the sizes. */
    __device__ __forceinline__ void add(float b)
    {
        const float s = __fadd_rn(high, b), bb = __fsub_rn(s, high);
        low += __fadd_rn(__fsub_rn(high, __fsub_rn(s, bb)), __fsub_rn(b, bb));
        high = s;
    }
    __device__ __forceinline__ double value() const
    {
        return (double)high + (double)low;
    }
};

#endif
