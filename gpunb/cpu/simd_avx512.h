/* AVX-512 F, DQ, BW, VL and FMA for kernel_pair.h, kernel_pot.h and kernel_predict.h. */
#ifndef GPUNB_CPU_SIMD_AVX512_H
#define GPUNB_CPU_SIMD_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#define SIMD_W 16
#define SIMD_D 8
#define SIMD_BLOCK 4

typedef __m512 vf;
typedef __mmask16 vm;
typedef __m512d vd;
typedef __mmask8 vdm;

struct vf_powers {
    vf mr3, rinv2_3, mr; /* m/r^3, 3/r^2, m/r */
};

struct vf_softened {
    vf mr3, mr, times; /* m/r^3 and m/r = mr * times, of which softened_unit are the units */
};

static inline vf vf_load(const float *p)
{
    return _mm512_load_ps(p);
}

static inline void vf_store(float *p, vf a)
{
    _mm512_storeu_ps(p, a);
}

static inline vf vf_set1(float a)
{
    return _mm512_set1_ps(a);
}

static inline vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

static inline vf vf_fnma(vf a, vf b, vf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

static inline vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}

static inline vf vf_sqrt(vf a)
{
    return _mm512_sqrt_ps(a);
}

/* One step of Newton: 3/8 e^2 <= 6e-9. */
static inline vf vf_inverse_root(vf a)
{
    const vf y = _mm512_rsqrt14_ps(a);
    return y * _mm512_fnmadd_ps(a * y, y * _mm512_set1_ps(0.5f), _mm512_set1_ps(1.5f));
}

static inline vf vf_abs(vf a)
{
    return _mm512_abs_ps(a);
}

static inline void vf_add_to(double *sums, vf a)
{
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(a)),
                  high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
    _mm512_storeu_pd(sums, _mm512_loadu_pd(sums) + (low + high));
}

static inline void vf_add_each(double *sums, vf a)
{
    _mm512_store_pd(sums, _mm512_load_pd(sums) + _mm512_cvtps_pd(_mm512_castps512_ps256(a)));
    _mm512_store_pd(sums + 8, _mm512_load_pd(sums + 8) + _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)));
}

static inline void vf_add_totals(double *sums, const float *p)
{
    __m256 half[8], four[2];
    for (int k = 0; k < 8; k++) half[k] = _mm256_load_ps(p + 16 * k) + _mm256_load_ps(p + 16 * k + 8);
    for (int k = 0; k < 2; k++)
        four[k] = _mm256_hadd_ps(_mm256_hadd_ps(half[4 * k], half[4 * k + 1]),
                                 _mm256_hadd_ps(half[4 * k + 2], half[4 * k + 3]));
    for (int k = 0; k < 2; k++) {
        const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(four[k])),
                      high = _mm256_cvtps_pd(_mm256_extractf128_ps(four[k], 1));
        _mm256_store_pd(sums + 4 * k, _mm256_load_pd(sums + 4 * k) + (low + high));
    }
}

static inline vf vf_unless(vm m, vf a)
{
    return _mm512_maskz_mov_ps((__mmask16)~m, a);
}

static inline vm vm_both(vm a, vm b)
{
    return a & b;
}

static inline vm vm_not_above(vf a, vf t)
{
    return _mm512_cmp_ps_mask(a, t, _CMP_NGT_UQ);
}

static inline vm vm_either_lt(vf a, vf b, vf t)
{
    return _mm512_cmp_ps_mask(_mm512_min_ps(a, b), t, _CMP_LT_OQ);
}

static inline vm vm_with_lane(vm m, int lane)
{
    return (vm)(m | 1u << lane);
}

static inline unsigned vm_bits(vm m)
{
    return m;
}

/* The instruction gives y with a relative error of 2^-14, so that e = 1 - r2 y^2 <= 2^-13. 1/r^3 = y^3 (1 + 3/2 e) is
 * 3/2 y^3 f with f = e + 2/3, the factor being left to the sums, in double. Next terms of 1/r^3 and 3/r^2: 2.8e-8,
 * 1.5e-8. */
#define F_OF_1 1.6666667f /* f is this - r2 y^2 */

static inline double mr3_unit(int two)
{
    (void)two;
    return 1.0 / ((double)F_OF_1 - 1.0);
}

static inline struct vf_powers vf_powers_of(vf m, vf r2, vf y)
{
    const vf q = y * y, my = m * y, f = _mm512_fnmadd_ps(r2, q, _mm512_set1_ps(F_OF_1));
    return (struct vf_powers){
        .mr3 = my * q * f,
        .rinv2_3 = q * _mm512_fmadd_ps(f, _mm512_set1_ps(3.0f), _mm512_set1_ps((float)(6.0 - 3.0 * (double)F_OF_1))),
        .mr = my * _mm512_fmadd_ps(f, _mm512_set1_ps(0.5f), _mm512_set1_ps((float)(1.5 - 0.5 * (double)F_OF_1))),
    };
}

static inline struct vf_powers vf_powers(vf m, vf r2, int two)
{
    (void)two;
    return vf_powers_of(m, r2, _mm512_rsqrt14_ps(r2));
}

static inline struct vf_powers vf_powers_but(vf m, vf r2, vm skip, int two)
{
    (void)two;
    return vf_powers_of(m, r2, _mm512_maskz_rsqrt14_ps((__mmask16)~skip, r2));
}

/* The same for softened forces; m/r is 1/2 my (f + 3 - F_OF_1). */
static inline struct vf_softened vf_softened(vf m, vf r2)
{
    const vf y = _mm512_rsqrt14_ps(r2), q = y * y, my = m * y, f = _mm512_fnmadd_ps(r2, q, _mm512_set1_ps(F_OF_1));
    return (struct vf_softened){my * q * f, my, f + _mm512_set1_ps(3.0f - F_OF_1)};
}

static inline double softened_unit(int potential)
{
    return potential ? 0.5 : mr3_unit(1);
}

static inline vd vd_load(const double *p)
{
    return _mm512_load_pd(p);
}

/* Every third of 24 numbers: those of the first two vectors, then of the third. */
static inline void vd_components(const double *p, vd c[3])
{
    const vd first = _mm512_loadu_pd(p), second = _mm512_loadu_pd(p + 8), third = _mm512_loadu_pd(p + 16);
    const vd x = _mm512_permutex2var_pd(first, _mm512_setr_epi64(0, 3, 6, 9, 12, 15, 0, 0), second),
             y = _mm512_permutex2var_pd(first, _mm512_setr_epi64(1, 4, 7, 10, 13, 0, 0, 0), second),
             z = _mm512_permutex2var_pd(first, _mm512_setr_epi64(2, 5, 8, 11, 14, 0, 0, 0), second);
    c[0] = _mm512_permutex2var_pd(x, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 10, 13), third);
    c[1] = _mm512_permutex2var_pd(y, _mm512_setr_epi64(0, 1, 2, 3, 4, 8, 11, 14), third);
    c[2] = _mm512_permutex2var_pd(z, _mm512_setr_epi64(0, 1, 2, 3, 4, 9, 12, 15), third);
}

static inline vd vd_set1(double a)
{
    return _mm512_set1_pd(a);
}

static inline vd vd_fma(vd a, vd b, vd c)
{
    return _mm512_fmadd_pd(a, b, c);
}

/* With e = 1 - r2 y^2 the series (1 - e)^(-1/2) = 1 + e/2 + 3/8 e^2 + 5/16 e^3 + ...; e <= 2^-13, next term 6e-17. */
static inline vd vd_rsqrt_above(vd r2, vd limit)
{
    vd y = _mm512_maskz_rsqrt14_pd(_mm512_cmp_pd_mask(r2, limit, _CMP_GT_OQ), r2);
    vd e = _mm512_fnmadd_pd(r2 * y, y, _mm512_set1_pd(1.0));
    vd p = _mm512_fmadd_pd(e, _mm512_set1_pd(0.3125), _mm512_set1_pd(0.375));
    p = _mm512_fmadd_pd(e, p, _mm512_set1_pd(0.5));
    return _mm512_fmadd_pd(y * e, p, y);
}

static inline vd vd_round(vd a, int64_t half, int64_t kept)
{
    const __m512i bits = _mm512_add_epi64(_mm512_castpd_si512(a), _mm512_set1_epi64(half));
    return _mm512_castsi512_pd(_mm512_and_si512(bits, _mm512_set1_epi64(kept)));
}

static inline void vd_to_floats(float *p, vd a)
{
    _mm256_store_ps(p, _mm512_cvtpd_ps(a));
}

static inline vdm vdm_or_above(vdm m, vd a, vd limit)
{
    return (vdm)(m | _mm512_cmp_pd_mask(_mm512_abs_pd(a), limit, _CMP_NLE_UQ));
}

static inline int vdm_any(vdm m)
{
    return m != 0;
}

#endif
