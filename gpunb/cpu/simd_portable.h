/* Vectors of 16 bytes in the language of gcc and clang, for kernel_pair.h, kernel_pot.h and kernel_predict.h: any
 * processor. */
#ifndef GPUNB_CPU_SIMD_PORTABLE_H
#define GPUNB_CPU_SIMD_PORTABLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define SIMD_W 4
#define SIMD_D 2
#define SIMD_BLOCK 1

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vm __attribute__((vector_size(16)));
typedef double vd __attribute__((vector_size(16)));
typedef int64_t vdm __attribute__((vector_size(16)));

struct vf_powers {
    vf mr3, rinv2_3, mr; /* m/r^3, 3/r^2, m/r */
};

struct vf_softened {
    vf mr3, mr, times; /* m/r^3 and m/r = mr * times, of which softened_unit are the units */
};

static inline vf vf_load(const float *p)
{
    return *(const vf *)p;
}

static inline void vf_store(float *p, vf a)
{
    memcpy(p, &a, sizeof a);
}

static inline vf vf_set1(float a)
{
    return (vf){a, a, a, a};
}

static inline vf vf_fma(vf a, vf b, vf c)
{
    return a * b + c;
}

static inline vf vf_fnma(vf a, vf b, vf c)
{
    return c - a * b;
}

static inline vf vf_max(vf a, vf b)
{
    const vm first = a > b;
    return (vf)(((vm)a & first) | ((vm)b & ~first));
}

static inline vf vf_sqrt(vf a)
{
    return (vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
}

static inline vf vf_inverse_root(vf a)
{
    return 1.0f / vf_sqrt(a);
}

static inline vf vf_abs(vf a)
{
    return (vf)((vm)a & INT32_MAX);
}

static inline void vf_add_to(double *sums, vf a)
{
    sums[0] += (double)a[0] + (double)a[2];
    sums[1] += (double)a[1] + (double)a[3];
}

static inline void vf_add_each(double *sums, vf a)
{
    for (int l = 0; l < SIMD_W; l++) sums[l] += (double)a[l];
}

static inline void vf_add_totals(double *sums, const float *p)
{
    for (int k = 0; k < 8; k++, p += SIMD_W) sums[k] += ((double)p[0] + (double)p[2]) + ((double)p[1] + (double)p[3]);
}

static inline vf vf_unless(vm m, vf a)
{
    return (vf)((vm)a & ~m);
}

static inline vm vm_both(vm a, vm b)
{
    return a & b;
}

static inline vm vm_not_above(vf a, vf t)
{
    return ~(a > t);
}

static inline vm vm_either_lt(vf a, vf b, vf t)
{
    return (a < t) | (b < t);
}

static inline vm vm_with_lane(vm m, int lane)
{
    return m | ((vm){0, 1, 2, 3} == (vm){lane, lane, lane, lane});
}

static inline unsigned vm_bits(vm m)
{
    m &= (vm){1, 2, 4, 8};
    return (unsigned)(m[0] | m[1] | m[2] | m[3]);
}

static inline struct vf_powers vf_powers_of(vf m, vf rinv2)
{
    const vf mr = m * (vf){sqrtf(rinv2[0]), sqrtf(rinv2[1]), sqrtf(rinv2[2]), sqrtf(rinv2[3])};
    return (struct vf_powers){.mr3 = mr * rinv2, .rinv2_3 = 3.0f * rinv2, .mr = mr};
}

static inline double mr3_unit(int two)
{
    (void)two;
    return 1.0;
}

static inline struct vf_powers vf_powers(vf m, vf r2, int two)
{
    (void)two;
    return vf_powers_of(m, 1.0f / r2);
}

static inline struct vf_powers vf_powers_but(vf m, vf r2, vm skip, int two)
{
    (void)two;
    return vf_powers_of(m, (vf)((vm)(1.0f / r2) & ~skip));
}

/* x86-64 has an estimate y of 1/r from the beginning, with e = 1 - r2 y^2 up to 7.4e-4: a step of Newton gives
 * y (3 - r2 y^2) = 2/r (1 - 3/8 e^2). The mean of what is lacking is given back by the units. */
static inline struct vf_softened vf_softened(vf m, vf r2)
{
#if defined(__SSE__)
    const vf y = (vf)_mm_rsqrt_ps((__m128)r2), rinv = y * (3.0f - r2 * (y * y)), mr = m * rinv;
#else
    const vf rinv = 1.0f / vf_sqrt(r2), mr = m * rinv;
#endif
    return (struct vf_softened){mr * (rinv * rinv), mr, vf_set1(1.0f)};
}

static inline double softened_unit(int potential)
{
#if defined(__SSE__)
    const double mean_e2 = 5.3e-8;
    return potential ? 0.5 * (1.0 + 0.375 * mean_e2) : 0.125 * (1.0 + 1.125 * mean_e2);
#else
    (void)potential;
    return 1.0;
#endif
}

static inline vd vd_load(const double *p)
{
    return *(const vd *)p;
}

static inline void vd_components(const double *p, vd c[3])
{
    for (int k = 0; k < 3; k++) c[k] = (vd){p[k], p[k + 3]};
}

static inline vd vd_set1(double a)
{
    return (vd){a, a};
}

static inline vd vd_fma(vd a, vd b, vd c)
{
    return a * b + c;
}

static inline vd vd_rsqrt_above(vd r2, vd limit)
{
    vd y = 1.0 / (vd){sqrt(r2[0]), sqrt(r2[1])};
    return (vd)((vdm)y & (r2 > limit));
}

static inline vd vd_round(vd a, int64_t half, int64_t kept)
{
    return (vd)(((vdm)a + half) & kept);
}

static inline void vd_to_floats(float *p, vd a)
{
    p[0] = (float)a[0];
    p[1] = (float)a[1];
}

static inline vdm vdm_or_above(vdm m, vd a, vd limit)
{
    const vd size = (vd)((vdm)a & INT64_MAX);
    return m | ~(size <= limit);
}

static inline int vdm_any(vdm m)
{
    return (m[0] | m[1]) != 0;
}

#endif
