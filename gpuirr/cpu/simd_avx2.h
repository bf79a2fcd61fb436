/* AVX2 and FMA for kernel.h. */
#ifndef GPUIRR_CPU_SIMD_AVX2_H
#define GPUIRR_CPU_SIMD_AVX2_H

#include "gpuirr/cpu/compact.h"

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

static inline vf vf_load(const float *p)
{
    return _mm256_load_ps(p);
}

static inline void vf_store(float *p, vf a)
{
    _mm256_store_ps(p, a);
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

static inline vm vm_from(uint32_t n)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i first = _mm256_set1_epi32(n < SIMD_W ? (int)n : SIMD_W);
    return _mm256_castsi256_ps(_mm256_xor_si256(_mm256_cmpgt_epi32(first, lanes), _mm256_set1_epi32(-1)));
}

static inline vm vm_at_most(vf a, vf high)
{
    return _mm256_cmp_ps(a, high, _CMP_LE_OQ);
}

static inline vm vm_below(vf a, vf high)
{
    return _mm256_cmp_ps(a, high, _CMP_LT_OQ);
}

static inline vm vm_and(vm a, vm b)
{
    return _mm256_and_ps(a, b);
}

static inline vm vm_and_not(vm a, vm b)
{
    return _mm256_andnot_ps(b, a);
}

static inline vf vf_in(vm lanes, vf a)
{
    return _mm256_and_ps(lanes, a);
}

/* All bits set are a NaN. */
static inline vf vf_nan_below(vf a, vf low)
{
    return _mm256_or_ps(a, _mm256_cmp_ps(a, low, _CMP_NGE_UQ));
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

/* Numbers 4 part to 4 part + 3 of rows k, k + 4 in the halves of in[k]. */
static inline void load_quarters(const float *const *row, int part, vf in[4])
{
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        in[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(row[k] + 4 * part)),
                                     _mm_load_ps(row[k + 4] + 4 * part), 1);
}

static inline void vf_part(const float *const *row, int part, vf out[4])
{
    vf in[4];
    load_quarters(row, part, in);
    transpose4(in, out);
}

static inline void vf_half(const float *const *row, vf out[8])
{
    vf_part(row, 0, out);
    vf_part(row, 1, out + 4);
}

static inline void vf_put_part(float *rows, int part, const vf in[4])
{
    vf out[4];
    transpose4(in, out);
    rows += 4 * part;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        _mm_store_ps(rows + (k + 0) * GPUIRR_ROW, _mm256_castps256_ps128(out[k]));
        _mm_store_ps(rows + (k + 4) * GPUIRR_ROW, _mm256_extractf128_ps(out[k], 1));
    }
}

static inline void vf_half_since(const float *const *row, double t, vf out[7])
{
    vf in[4];
    load_quarters(row, 3, in);
    const __m256d a = _mm256_castps_pd(in[0]), b = _mm256_castps_pd(in[1]), c = _mm256_castps_pd(in[2]),
                  d = _mm256_castps_pd(in[3]), now = _mm256_set1_pd(t);
    const vf p = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), q = _mm256_castpd_ps(_mm256_unpacklo_pd(c, d));
    out[4] = _mm256_shuffle_ps(p, q, 0x88);
    out[5] = _mm256_shuffle_ps(p, q, 0xdd);
    /* Of rows 0, 1, 4, 5, and of rows 2, 3, 6, 7. */
    const __m128 first = _mm256_cvtpd_ps(now - _mm256_unpackhi_pd(a, b)),
                 second = _mm256_cvtpd_ps(now - _mm256_unpackhi_pd(c, d));
    const __m256d both = _mm256_castps_pd(_mm256_insertf128_ps(_mm256_castps128_ps256(first), second, 1));
    out[6] = _mm256_castpd_ps(_mm256_permute4x64_pd(both, 0xd8));
    vf_part(row, 2, out);
}

static inline vf vf_low(vf tails, int k, vf high, vf d)
{
    const vf x_bits = _mm256_castsi256_ps(_mm256_set1_epi32(0x7ff000)),
             y_bits = _mm256_castsi256_ps(_mm256_set1_epi32(0x7ff800));
    const __m256i bits = _mm256_castps_si256(tails);
    const vf tail = k == 0   ? _mm256_and_ps(tails, x_bits)
                    : k == 1 ? _mm256_and_ps(_mm256_castsi256_ps(_mm256_slli_epi32(bits, 11)), y_bits)
                             : _mm256_castsi256_ps(_mm256_srli_epi32(bits, 9));
    return _mm256_fmadd_ps(_mm256_xor_ps(high, tail), _mm256_set1_ps(0x1p-23f), d);
}

/* The instruction gives y with a relative error of 1.5 * 2^-12. With q = y^2 and e = 1 - r2 q <= 7.4e-4 the powers
 * follow by series in e: 1/r^2 = q (1 + e + e^2 + ...), 1/r^3 = y q (1 + 3/2 e + 15/8 e^2 + ...), next terms below
 * 1e-9. */
static inline struct vf_powers vf_powers_of(vf m, vf r2)
{
    const vf y = _mm256_rsqrt_ps(r2), q = y * y, t = m * y * q;
    const vf e = _mm256_fnmadd_ps(r2, q, _mm256_set1_ps(1.0f));
    const vf cube = _mm256_fmadd_ps(e, _mm256_set1_ps(1.875f), _mm256_set1_ps(1.5f));
    return (struct vf_powers){.rinv2 = _mm256_fmadd_ps(q, _mm256_fmadd_ps(e, e, e), q),
                              .mr3 = _mm256_fmadd_ps(t, e * cube, t)};
}

static inline void vf_sum_two(vf a, vf b, float *a_sum, float *b_sum)
{
    const vf two = _mm256_unpacklo_ps(a, b) + _mm256_unpackhi_ps(a, b);
    const __m128 four = _mm256_castps256_ps128(two) + _mm256_extractf128_ps(two, 1);
    const __m128 sums = four + _mm_movehl_ps(four, four);
    *a_sum = _mm_cvtss_f32(sums);
    *b_sum = _mm_cvtss_f32(_mm_movehdup_ps(sums));
}

/* In float until four lanes are left of each, in the halves of vectors. */
static inline void vf_totals(const vf a[6], double out[6])
{
    vf four[3];
    for (int k = 0; k < 3; k++) { /* numbers 0 and 2, 1 and 3, 4 and 5 */
        const vf x = a[k < 2 ? k : 4], y = a[k < 2 ? k + 2 : 5];
        four[k] = _mm256_permute2f128_ps(x, y, 0x20) + _mm256_permute2f128_ps(x, y, 0x31);
    }
    const vf p = _mm256_unpacklo_ps(four[0], four[1]), q = _mm256_unpackhi_ps(four[0], four[1]);
    const __m256d r = _mm256_cvtps_pd(_mm256_castps256_ps128(p)) + _mm256_cvtps_pd(_mm256_castps256_ps128(q)),
                  s = _mm256_cvtps_pd(_mm256_extractf128_ps(p, 1)) + _mm256_cvtps_pd(_mm256_extractf128_ps(q, 1));
    _mm256_storeu_pd(out, _mm256_permute2f128_pd(r, s, 0x20) + _mm256_permute2f128_pd(r, s, 0x31));
    const __m256d u = _mm256_cvtps_pd(_mm256_castps256_ps128(four[2])),
                  v = _mm256_cvtps_pd(_mm256_extractf128_ps(four[2], 1)),
                  w = _mm256_unpacklo_pd(u, v) + _mm256_unpackhi_pd(u, v);
    _mm_storeu_pd(out + 4, _mm256_castpd256_pd128(w) + _mm256_extractf128_pd(w, 1));
}

#endif
