/** Headers whose functions are compiled for the processor, as C11, and for GPUs, as CUDA C++: no compound literals,
 *  no designated initialisers, no pointer from void without a cast, and of the C library only sqrt, cbrt, pow, cbrtf,
 *  ilogb and functions that are single instructions. */
#ifndef NBC_HD_H
#define NBC_HD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define NBC_HD static __host__ __device__ inline
#else
#define NBC_HD static inline
#endif

#ifdef __cplusplus
#define NBC_ALIGNED(bytes) alignas(bytes)
#define NBC_ASSERT_CONSTANT(is_true, text) static_assert(is_true, text)
#else
#define NBC_ALIGNED(bytes) _Alignas(bytes)
#define NBC_ASSERT_CONSTANT(is_true, text) _Static_assert(is_true, text)
#endif

/** Before a loop with a constant number of turns, all of which are to be straight code. The compiler of the host that
 *  nvcc calls does not know this pragma. */
#if defined(__CUDA_ARCH__)
#define NBC_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define NBC_UNROLL
#else
#define NBC_UNROLL _Pragma("GCC unroll 16")
#endif

/** Index of the lowest set bit of a number that has one. */
NBC_HD int nbc_lowest_bit(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __ffs((int)bits) - 1;
#else
    return __builtin_ctz(bits);
#endif
}

/** Trailing zeros of a number that is not zero. */
NBC_HD int nbc_trailing_zeros(uint64_t a)
{
#ifdef __CUDA_ARCH__
    return __ffsll((long long)a) - 1;
#else
    return __builtin_ctzll(a);
#endif
}

/** Leading zeros of a number that is not zero. */
NBC_HD int nbc_leading_zeros(uint64_t a)
{
#ifdef __CUDA_ARCH__
    return __clzll((long long)a);
#else
    return __builtin_clzll(a);
#endif
}

NBC_HD uint32_t nbc_bits_of_float(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

NBC_HD float nbc_float_of_bits(uint32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

/** Bits of a double as a number whose order is that of the doubles, and back. */
NBC_HD uint64_t nbc_ordered_bits(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

NBC_HD double nbc_of_ordered_bits(uint64_t bits)
{
    double a;
    bits = bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits;
    memcpy(&a, &bits, sizeof a);
    return a;
}

/** A number rounded to float. On the host it goes through memory: gcc 12 drops (double)(float)a where it vectorises. */
NBC_HD float nbc_rounded(double a)
{
#ifdef __CUDA_ARCH__
    return (float)a;
#else
    volatile float rounded = (float)a;
    return rounded;
#endif
}

/** 2 to a power from -1022 to 1023. */
NBC_HD double nbc_power_of_two(int32_t power)
{
#ifdef __CUDA_ARCH__
    return __hiloint2double((1023 + power) << 20, 0);
#else
    const uint64_t bits = (uint64_t)(1023 + power) << 52;
    double a;
    memcpy(&a, &bits, sizeof a);
    return a;
#endif
}

/** a/b by the hardware's approximation, accurate to a few roundings. */
NBC_HD float nbc_quick_ratio(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fdividef(a, b);
#else
    return a / b;
#endif
}

/** sqrt(a) by the hardware's approximation, likewise. */
NBC_HD float nbc_quick_root(float a)
{
#ifdef __CUDA_ARCH__
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(a));
    return root;
#else
    return sqrtf(a);
#endif
}

/** 1/sqrt(a) to float precision, for a that is not denormal. */
NBC_HD float nbc_inverse_root(float a)
{
#ifdef __CUDA_ARCH__
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(a));
    return root;
#else
    return 1.0f / sqrtf(a);
#endif
}

/** 1/sqrt(a) to double precision. */
NBC_HD double nbc_inverse_root_in_double(double a)
{
#ifdef __CUDA_ARCH__
    return rsqrt(a);
#else
    return 1 / sqrt(a);
#endif
}

#endif
