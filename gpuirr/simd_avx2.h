/* AVX2 and FMA for kernel.h. */
#ifndef GPUIRR_SIMD_AVX2_H
#define GPUIRR_SIMD_AVX2_H

#include "compact.h"

#include <immintrin.h>

#define SIMD_W 8

typedef __m256 vf;
typedef __m256i vi;
typedef __m256 vm;

struct vf_powers {
    vf rinv2, mr3;
};

static inline vf vf_set1(float a)
{
    return _mm256_set1_ps(a);
}

static inline vi vi_set1(int32_t a)
{
    return _mm256_set1_epi32(a);
}

static inline void vf_store(float *p, vf a)
{
    _mm256_storeu_ps(p, a);
}

static inline void vi_store(int32_t *p, vi a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, a);
}

static inline vf vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

static inline vf vf_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}

static inline vm vm_first(uint32_t n)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(n < SIMD_W ? (int)n : SIMD_W), lanes));
}

static inline vm vm_and(vm a, vm b)
{
    return _mm256_and_ps(a, b);
}

static inline vm vm_lt(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

static inline vm vm_between(vf a, vf low, vf high)
{
    return _mm256_and_ps(_mm256_cmp_ps(a, low, _CMP_GE_OQ), _mm256_cmp_ps(a, high, _CMP_LE_OQ));
}

static inline unsigned vm_bits(vm a)
{
    return (unsigned)_mm256_movemask_ps(a);
}

static inline vf vf_where(vm lanes, vf a, vf b)
{
    return _mm256_blendv_ps(b, a, lanes);
}

static inline vi vi_where(vm lanes, vi a, vi b)
{
    return _mm256_blendv_epi8(b, a, _mm256_castps_si256(lanes));
}

/* Four columns from four vectors whose halves g hold the rows 4g, 4g + 1, 4g + 2, 4g + 3; and back. */
static inline void transpose4(const vf in[4], vf out[4])
{
    const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(in[0], in[1])),
                  b = _mm256_castps_pd(_mm256_unpackhi_ps(in[0], in[1])),
                  c = _mm256_castps_pd(_mm256_unpacklo_ps(in[2], in[3])),
                  d = _mm256_castps_pd(_mm256_unpackhi_ps(in[2], in[3]));
    out[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
    out[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
    out[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
    out[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
}

static inline void vf_parts(const float *rows, const int32_t *index, int part, vf out[4])
{
    vf in[4];
    rows += 4 * part;
#define ROW(l) _mm_load_ps(rows + (size_t)(uint32_t)index[l] * GPUIRR_ROW)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) in[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(ROW(k)), ROW(k + 4), 1);
#undef ROW
    transpose4(in, out);
}

static inline void vf_put_parts(float *rows, int part, const vf in[4])
{
    vf out[4];
    transpose4(in, out);
    rows += 4 * part;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        _mm_storeu_ps(rows + (k + 0) * GPUIRR_ROW, _mm256_castps256_ps128(out[k]));
        _mm_storeu_ps(rows + (k + 4) * GPUIRR_ROW, _mm256_extractf128_ps(out[k], 1));
    }
}

static inline vf vf_since(double t, vf low, vf high)
{
    const __m256d now = _mm256_set1_pd(t);
    /* In each half, the first and the second two of four lanes. */
    const __m128d first = _mm_castps_pd(_mm256_cvtpd_ps(now - _mm256_castps_pd(_mm256_unpacklo_ps(low, high)))),
                  second = _mm_castps_pd(_mm256_cvtpd_ps(now - _mm256_castps_pd(_mm256_unpackhi_ps(low, high))));
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_castpd_ps(_mm_unpacklo_pd(first, second))),
                                _mm_castpd_ps(_mm_unpackhi_pd(first, second)), 1);
}

static inline vf vf_tail(vf tails, int k, vf high)
{
    const __m256i tail = _mm256_srai_epi32(_mm256_slli_epi32(_mm256_castps_si256(tails), 22 - 10 * k), 22);
    const vf power = _mm256_and_ps(high, _mm256_castsi256_ps(_mm256_set1_epi32(0x7f800000)));
    return _mm256_cvtepi32_ps(tail) * (power * _mm256_set1_ps(0x1p-33f));
}

/* The instruction gives y with a relative error of 1.5 * 2^-12. With q = y^2 and e = 1 - r2 q <= 7.4e-4 the powers
 * follow by series in e: 1/r^2 = q (1 + e + e^2 + ...), 1/r^3 = y q (1 + 3/2 e + 15/8 e^2 + ...), next terms below
 * 1e-9. */
static inline struct vf_powers vf_powers_of(vf m, vf r2, vm lanes)
{
    const vf y = _mm256_and_ps(lanes, _mm256_rsqrt_ps(r2)), q = y * y;
    const vf e = _mm256_fnmadd_ps(r2, q, _mm256_set1_ps(1.0f)), qe = q * e;
    const vf cube = _mm256_fmadd_ps(e, _mm256_set1_ps(1.875f), _mm256_set1_ps(1.5f)), t = m * y * q;
    return (struct vf_powers){.rinv2 = _mm256_fmadd_ps(qe, e, q + qe), .mr3 = _mm256_fmadd_ps(t * e, cube, t)};
}

static inline float vf_largest(vf a)
{
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}

static inline double vf_total(vf a)
{
    const __m256d halves = _mm256_cvtps_pd(_mm256_castps256_ps128(a)) + _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
    const __m128d two = _mm256_castpd256_pd128(halves) + _mm256_extractf128_pd(halves, 1);
    return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
}

#endif
