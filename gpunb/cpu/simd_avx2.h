/* AVX2 and FMA for kernel_pair.h, kernel_pot.h and kernel_predict.h. */
#ifndef GPUNB_CPU_SIMD_AVX2_H
#define GPUNB_CPU_SIMD_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#define SIMD_W 8
#define SIMD_D 4
#define SIMD_BLOCK 4

typedef __m256 vf;
typedef __m256 vm;
typedef __m256d vd;
typedef __m256d vdm;

struct vf_powers {
    vf mr3, rinv2_3, mr; /* m/r^3, 3/r^2, m/r */
};

struct vf_softened {
    vf mr3, mr, times; /* m/r^3 and m/r = mr * times, of which softened_unit are the units */
};

static inline vf vf_load(const float *p)
{
    return _mm256_load_ps(p);
}

static inline void vf_store(float *p, vf a)
{
    _mm256_storeu_ps(p, a);
}

static inline vf vf_set1(float a)
{
    return _mm256_set1_ps(a);
}

static inline vf vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

static inline vf vf_fnma(vf a, vf b, vf c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

static inline vf vf_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}

static inline vf vf_sqrt(vf a)
{
    return _mm256_sqrt_ps(a);
}

static inline vf vf_inverse_root(vf a)
{
    return 1.0f / vf_sqrt(a);
}

static inline vf vf_abs(vf a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

static inline void vf_add_to(double *sums, vf a)
{
    const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(a)), high = _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
    _mm256_storeu_pd(sums, _mm256_loadu_pd(sums) + (low + high));
}

static inline void vf_add_each(double *sums, vf a)
{
    _mm256_store_pd(sums, _mm256_load_pd(sums) + _mm256_cvtps_pd(_mm256_castps256_ps128(a)));
    _mm256_store_pd(sums + 4, _mm256_load_pd(sums + 4) + _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)));
}

static inline void vf_add_totals(double *sums, const float *p)
{
    vf four[2];
    for (int k = 0; k < 2; k++) {
        const vf ab = _mm256_hadd_ps(vf_load(p + 32 * k), vf_load(p + 32 * k + 8)),
                 cd = _mm256_hadd_ps(vf_load(p + 32 * k + 16), vf_load(p + 32 * k + 24));
        four[k] = _mm256_hadd_ps(ab, cd);
    }
    for (int k = 0; k < 2; k++) {
        const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(four[k])),
                      high = _mm256_cvtps_pd(_mm256_extractf128_ps(four[k], 1));
        _mm256_store_pd(sums + 4 * k, _mm256_load_pd(sums + 4 * k) + (low + high));
    }
}

static inline vf vf_unless(vm m, vf a)
{
    return _mm256_andnot_ps(m, a);
}

static inline vm vm_both(vm a, vm b)
{
    return _mm256_and_ps(a, b);
}

static inline vm vm_not_above(vf a, vf t)
{
    return _mm256_cmp_ps(a, t, _CMP_NGT_UQ);
}

static inline vm vm_either_lt(vf a, vf b, vf t)
{
    return _mm256_cmp_ps(_mm256_min_ps(a, b), t, _CMP_LT_OQ);
}

static inline vm vm_with_lane(vm m, int lane)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_or_ps(m, _mm256_castsi256_ps(_mm256_cmpeq_epi32(lanes, _mm256_set1_epi32(lane))));
}

static inline unsigned vm_bits(vm m)
{
    return (unsigned)_mm256_movemask_ps(m);
}

/* The instruction gives y with a relative error of 1.5 * 2^-12, so that e = 1 - r2 y^2 <= 7.4e-4. The number of
 * operations matters; factors are left to the sums, in double.
 *   two    1/r^3 = y^3 (1 + 3/2 e + 15/8 e^2) as a multiple of y^3 (f^2 + C_OF_F), f = e + 0.4: one operation less
 *          than the series, whose next term is 9e-10. 3/r^2, which is for the jerk alone, ends after e, 5.4e-7 at
 *          most.
 *   float  One step of Newton for both, y (3 - r2 y^2) = 2/r (1 - 3/8 e^2): 1/r^3 lacks 9/8 e^2, 6e-7 at most. The
 *          mean of this, a systematic error in a sum, is corrected. */
#define F_OF_1 1.400390625f /* f is this - r2 y^2; few digits, so that 3 + 3 e from f is exact at e = 0 */
#define C_OF_F 0.373541514f
#define MEAN_E2 5.3e-8

static inline double mr3_unit(int two)
{
    const double f = (double)F_OF_1 - 1.0;
    return two ? 1.0 / (f * f + (double)C_OF_F) : 0.125 * (1.0 + 1.125 * MEAN_E2);
}

static inline __attribute__((always_inline)) struct vf_powers vf_powers_of(vf m, vf r2, vf y, const int two)
{
    const vf one = _mm256_set1_ps(1.0f), q = y * y;
    if (!two) {
        const vf y2 = y * _mm256_fnmadd_ps(r2, q, _mm256_set1_ps(3.0f)), q4 = y2 * y2, my2 = m * y2;
        return (struct vf_powers){
            .mr3 = my2 * q4, .rinv2_3 = q4 * _mm256_set1_ps(0.75f), .mr = my2 * _mm256_set1_ps(0.5f)};
    }
    const vf my = m * y, e = _mm256_fnmadd_ps(r2, q, one), f = _mm256_fnmadd_ps(r2, q, _mm256_set1_ps(F_OF_1));
    const vf root = _mm256_fmadd_ps(e, _mm256_fmadd_ps(e, _mm256_set1_ps(0.375f), _mm256_set1_ps(0.5f)), one);
    return (struct vf_powers){
        .mr3 = my * q * _mm256_fmadd_ps(f, f, _mm256_set1_ps(C_OF_F)),
        .rinv2_3 = q * _mm256_fmadd_ps(f, _mm256_set1_ps(3.0f), _mm256_set1_ps(6.0f - 3.0f * F_OF_1)),
        .mr = my * root,
    };
}

static inline __attribute__((always_inline)) struct vf_powers vf_powers(vf m, vf r2, const int two)
{
    return vf_powers_of(m, r2, _mm256_rsqrt_ps(r2), two);
}

static inline __attribute__((always_inline)) struct vf_powers vf_powers_but(vf m, vf r2, vm skip, const int two)
{
    return vf_powers_of(m, r2, _mm256_andnot_ps(skip, _mm256_rsqrt_ps(r2)), two);
}

/* For softened forces, in which no single pair dominates: one step of Newton, as above. m/r lacks 3/8 e^2. */
static inline struct vf_softened vf_softened(vf m, vf r2)
{
    const vf y = _mm256_rsqrt_ps(r2), y2 = y * _mm256_fnmadd_ps(r2, y * y, _mm256_set1_ps(3.0f)), my2 = m * y2;
    return (struct vf_softened){my2 * (y2 * y2), my2, _mm256_set1_ps(1.0f)};
}

static inline double softened_unit(int potential)
{
    return potential ? 0.5 * (1.0 + 0.375 * MEAN_E2) : mr3_unit(0);
}

static inline vd vd_load(const double *p)
{
    return _mm256_load_pd(p);
}

/* From x0 y0 z0 x1, y1 z1 x2 y2, z2 x3 y3 z3 */
static inline void vd_components(const double *p, vd c[3])
{
    const vd first = _mm256_loadu_pd(p), second = _mm256_loadu_pd(p + 4), third = _mm256_loadu_pd(p + 8);
    const vd xy = _mm256_permute2f128_pd(first, second, 0x30), zx = _mm256_permute2f128_pd(first, third, 0x21),
             yz = _mm256_permute2f128_pd(second, third, 0x30);
    c[0] = _mm256_shuffle_pd(xy, zx, 0xa);
    c[1] = _mm256_shuffle_pd(xy, yz, 0x5);
    c[2] = _mm256_shuffle_pd(zx, yz, 0xa);
}

static inline vd vd_set1(double a)
{
    return _mm256_set1_pd(a);
}

static inline vd vd_fma(vd a, vd b, vd c)
{
    return _mm256_fmadd_pd(a, b, c);
}

/* A float estimate (e <= 7.4e-4), then the series of (1 - e)^(-1/2) to e^3, next term 8e-14. Distances whose squares do
 * not fit a float take the slow instructions. */
static inline vd vd_rsqrt_above(vd r2, vd limit)
{
    const vd low = _mm256_set1_pd(1e-37), high = _mm256_set1_pd(1e37);
    vd above = _mm256_cmp_pd(r2, limit, _CMP_GT_OQ);
    vd odd =
        _mm256_and_pd(above, _mm256_or_pd(_mm256_cmp_pd(r2, low, _CMP_LT_OQ), _mm256_cmp_pd(r2, high, _CMP_GT_OQ)));
    if (__builtin_expect(_mm256_movemask_pd(odd), 0))
        return _mm256_and_pd(above, _mm256_set1_pd(1.0) / _mm256_sqrt_pd(r2));
    vd y = _mm256_and_pd(above, _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(r2))));
    vd e = _mm256_fnmadd_pd(r2 * y, y, _mm256_set1_pd(1.0));
    vd p = _mm256_fmadd_pd(e, _mm256_set1_pd(0.3125), _mm256_set1_pd(0.375));
    p = _mm256_fmadd_pd(e, p, _mm256_set1_pd(0.5));
    return _mm256_fmadd_pd(y * e, p, y);
}

static inline vd vd_round(vd a, int64_t half, int64_t kept)
{
    const __m256i bits = _mm256_add_epi64(_mm256_castpd_si256(a), _mm256_set1_epi64x(half));
    return _mm256_castsi256_pd(_mm256_and_si256(bits, _mm256_set1_epi64x(kept)));
}

static inline void vd_to_floats(float *p, vd a)
{
    _mm_store_ps(p, _mm256_cvtpd_ps(a));
}

static inline vdm vdm_or_above(vdm m, vd a, vd limit)
{
    return _mm256_or_pd(m, _mm256_cmp_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), a), limit, _CMP_NLE_UQ));
}

static inline int vdm_any(vdm m)
{
    return _mm256_movemask_pd(m) != 0;
}

#endif
