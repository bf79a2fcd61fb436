/* AVX-512 F, DQ, BW, VL and FMA for kernel.h. */
#ifndef GPUIRR_SIMD_AVX512_H
#define GPUIRR_SIMD_AVX512_H

#include "compact.h"

#include <immintrin.h>

#define SIMD_W 16

typedef __m512 vf;
typedef __m512i vi;
typedef __mmask16 vm;

struct vf_powers {
    vf rinv2, mr3;
};

static inline vf vf_set1(float a)
{
    return _mm512_set1_ps(a);
}

static inline vi vi_set1(int32_t a)
{
    return _mm512_set1_epi32(a);
}

static inline void vf_store(float *p, vf a)
{
    _mm512_storeu_ps(p, a);
}

static inline void vi_store(int32_t *p, vi a)
{
    _mm512_storeu_si512(p, a);
}

static inline vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

static inline vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}

static inline vm vm_first(uint32_t n)
{
    return (vm)(n < SIMD_W ? (1u << n) - 1 : 0xffffu);
}

static inline vm vm_and(vm a, vm b)
{
    return _kand_mask16(a, b);
}

static inline vm vm_lt(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

static inline vm vm_between(vf a, vf low, vf high)
{
    return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a, low, _CMP_GE_OQ), a, high, _CMP_LE_OQ);
}

static inline unsigned vm_bits(vm a)
{
    return a;
}

static inline vf vf_where(vm lanes, vf a, vf b)
{
    return _mm512_mask_mov_ps(b, lanes, a);
}

static inline vi vi_where(vm lanes, vi a, vi b)
{
    return _mm512_mask_mov_epi32(b, lanes, a);
}

/* Four columns from four vectors whose 128-bit parts g hold the rows 4g, 4g + 1, 4g + 2, 4g + 3; and back. */
static inline void transpose4(const vf in[4], vf out[4])
{
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(in[0], in[1])),
                  b = _mm512_castps_pd(_mm512_unpackhi_ps(in[0], in[1])),
                  c = _mm512_castps_pd(_mm512_unpacklo_ps(in[2], in[3])),
                  d = _mm512_castps_pd(_mm512_unpackhi_ps(in[2], in[3]));
    out[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    out[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    out[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    out[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
}

static inline void vf_parts(const float *rows, const int32_t *index, int part, vf out[4])
{
    vf in[4];
    rows += 4 * part;
#define ROW(l) _mm_load_ps(rows + (size_t)(uint32_t)index[l] * GPUIRR_ROW)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        __m512 low = _mm512_insertf32x4(_mm512_castps128_ps512(ROW(k)), ROW(k + 4), 1);
        in[k] = _mm512_insertf32x4(_mm512_insertf32x4(low, ROW(k + 8), 2), ROW(k + 12), 3);
    }
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
        _mm_storeu_ps(rows + (k + 0) * GPUIRR_ROW, _mm512_extractf32x4_ps(out[k], 0));
        _mm_storeu_ps(rows + (k + 4) * GPUIRR_ROW, _mm512_extractf32x4_ps(out[k], 1));
        _mm_storeu_ps(rows + (k + 8) * GPUIRR_ROW, _mm512_extractf32x4_ps(out[k], 2));
        _mm_storeu_ps(rows + (k + 12) * GPUIRR_ROW, _mm512_extractf32x4_ps(out[k], 3));
    }
}

static inline vf vf_since(double t, vf low, vf high)
{
    const __m512i a = _mm512_castps_si512(low), b = _mm512_castps_si512(high);
    const __m512d now = _mm512_set1_pd(t);
    /* In each 128-bit part, the first and the second two of four lanes. */
    const __m512d first = now - _mm512_castsi512_pd(_mm512_unpacklo_epi32(a, b)),
                  second = now - _mm512_castsi512_pd(_mm512_unpackhi_epi32(a, b));
    const __m512i pairs = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    return _mm512_castpd_ps(_mm512_permutex2var_pd(_mm512_castps_pd(_mm512_castps256_ps512(_mm512_cvtpd_ps(first))),
                                                   pairs,
                                                   _mm512_castps_pd(_mm512_castps256_ps512(_mm512_cvtpd_ps(second)))));
}

static inline vf vf_tail(vf tails, int k, vf high)
{
    const __m512i tail = _mm512_srai_epi32(_mm512_slli_epi32(_mm512_castps_si512(tails), (unsigned)(22 - 10 * k)), 22);
    const vf power = _mm512_and_ps(high, _mm512_castsi512_ps(_mm512_set1_epi32(0x7f800000)));
    return _mm512_cvtepi32_ps(tail) * (power * _mm512_set1_ps(0x1p-33f));
}

/* The instruction gives y with a relative error of 2^-14. With q = y^2 and e = 1 - r2 q <= 2^-13 the powers follow by
 * series in e: 1/r^2 = q (1 + e + ...), 1/r^3 = y q (1 + 3/2 e + ...), next terms 1.5e-8 and 2.8e-8. */
static inline struct vf_powers vf_powers_of(vf m, vf r2, vm lanes)
{
    const vf y = _mm512_maskz_rsqrt14_ps(lanes, r2), q = y * y;
    const vf e = _mm512_fnmadd_ps(r2, q, _mm512_set1_ps(1.0f));
    return (struct vf_powers){
        .rinv2 = _mm512_fmadd_ps(q, e, q),
        .mr3 = m * y * q * _mm512_fmadd_ps(e, _mm512_set1_ps(1.5f), _mm512_set1_ps(1.0f)),
    };
}

static inline float vf_largest(vf a)
{
    return _mm512_reduce_max_ps(a);
}

static inline double vf_total(vf a)
{
    const __m512d halves = _mm512_cvtps_pd(_mm512_castps512_ps256(a)) + _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
    const __m256d quarters = _mm512_castpd512_pd256(halves) + _mm512_extractf64x4_pd(halves, 1);
    const __m128d two = _mm256_castpd256_pd128(quarters) + _mm256_extractf128_pd(quarters, 1);
    return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
}

#endif
