/* AVX-512 F, DQ, BW, VL and FMA for kernel.h. */
#ifndef GPUIRR_CPU_SIMD_AVX512_H
#define GPUIRR_CPU_SIMD_AVX512_H

#include "gpuirr/cpu/compact.h"

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

static inline vf vf_load(const float *p)
{
    return _mm512_load_ps(p);
}

static inline void vf_store(float *p, vf a)
{
    _mm512_store_ps(p, a);
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

static inline vm vm_from(uint32_t n)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_cmple_epu32_mask(_mm512_set1_epi32((int)n), lanes); /* no branch: lists end anywhere */
}

static inline vm vm_at_most(vf a, vf high)
{
    return _mm512_cmp_ps_mask(a, high, _CMP_LE_OQ);
}

static inline vm vm_below(vf a, vf high)
{
    return _mm512_cmp_ps_mask(a, high, _CMP_LT_OQ);
}

static inline vm vm_and(vm a, vm b)
{
    return _kand_mask16(a, b);
}

static inline vm vm_and_not(vm a, vm b)
{
    return _kandn_mask16(b, a);
}

static inline vf vf_in(vm lanes, vf a)
{
    return _mm512_maskz_mov_ps(lanes, a);
}

static inline vf vf_nan_below(vf a, vf low)
{
    const vf nan = _mm512_castsi512_ps(_mm512_set1_epi32(-1));
    return _mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(a, low, _CMP_NGE_UQ), nan);
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

static inline void vf_part(const float *const *row, int part, vf out[4])
{
    vf in[4];
#define ROW(l) _mm_load_ps(row[l] + 4 * part)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        __m512 low = _mm512_insertf32x4(_mm512_castps128_ps512(ROW(k)), ROW(k + 4), 1);
        in[k] = _mm512_insertf32x4(_mm512_insertf32x4(low, ROW(k + 8), 2), ROW(k + 12), 3);
    }
#undef ROW
    transpose4(in, out);
}

static inline void vf_put_part(float *rows, int part, const vf in[4])
{
    vf out[4];
    transpose4(in, out);
    rows += 4 * part;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        _mm_store_ps(rows + (k + 0) * GPUIRR_ROW, _mm512_extractf32x4_ps(out[k], 0));
        _mm_store_ps(rows + (k + 4) * GPUIRR_ROW, _mm512_extractf32x4_ps(out[k], 1));
        _mm_store_ps(rows + (k + 8) * GPUIRR_ROW, _mm512_extractf32x4_ps(out[k], 2));
        _mm_store_ps(rows + (k + 12) * GPUIRR_ROW, _mm512_extractf32x4_ps(out[k], 3));
    }
}

/* Half of rows k, k + 4 in the halves of low[k], of k + 8, k + 12 in those of high[k]. */
static inline void load_halves(const float *const *row, int half, vf low[4], vf high[4])
{
#define HALF(l) _mm256_load_ps(row[l] + 8 * half)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        low[k] = _mm512_insertf32x8(_mm512_castps256_ps512(HALF(k)), HALF(k + 4), 1);
        high[k] = _mm512_insertf32x8(_mm512_castps256_ps512(HALF(k + 8)), HALF(k + 12), 1);
    }
#undef HALF
}

/* The even or the odd 128-bit parts of two vectors. */
static inline vf even_parts(vf a, vf b)
{
    return _mm512_shuffle_f32x4(a, b, 0x88);
}

static inline vf odd_parts(vf a, vf b)
{
    return _mm512_shuffle_f32x4(a, b, 0xdd);
}

static inline void vf_half(const float *const *row, vf out[8])
{
    vf in[2][4], column[2][4];
    load_halves(row, 0, in[0], in[1]);
    transpose4(in[0], column[0]);
    transpose4(in[1], column[1]);
    for (int c = 0; c < 4; c++) {
        out[c] = even_parts(column[0][c], column[1][c]);
        out[c + 4] = odd_parts(column[0][c], column[1][c]);
    }
}

/* From four vectors as above: columns 0 to 3 (of the even parts, 4 to 7 of the odd ones), and pairs of neighbouring
 * columns 2, 3 (6, 7) of rows 0 and 1, 2 and 3. */
static inline void transpose_pairs(const vf in[4], vf out[4], __m512d pairs[2])
{
    const __m512d a = _mm512_castps_pd(in[0]), b = _mm512_castps_pd(in[1]), c = _mm512_castps_pd(in[2]),
                  d = _mm512_castps_pd(in[3]);
    const vf p = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), q = _mm512_castpd_ps(_mm512_unpacklo_pd(c, d));
    pairs[0] = _mm512_unpackhi_pd(a, b);
    pairs[1] = _mm512_unpackhi_pd(c, d);
    const vf r = _mm512_castpd_ps(pairs[0]), s = _mm512_castpd_ps(pairs[1]);
    out[0] = _mm512_shuffle_ps(p, q, 0x88);
    out[1] = _mm512_shuffle_ps(p, q, 0xdd);
    out[2] = _mm512_shuffle_ps(r, s, 0x88);
    out[3] = _mm512_shuffle_ps(r, s, 0xdd);
}

static inline void vf_half_since(const float *const *row, double t, vf out[7])
{
    vf in[2][4], column[2][4];
    __m512d pairs[2][2], t0[2];
    load_halves(row, 1, in[0], in[1]);
    for (int h = 0; h < 2; h++) transpose_pairs(in[h], column[h], pairs[h]);
    for (int c = 0; c < 4; c++) out[c] = even_parts(column[0][c], column[1][c]);
    for (int c = 0; c < 2; c++) {
        out[c + 4] = odd_parts(column[0][c], column[1][c]);
        t0[c] = _mm512_shuffle_f64x2(pairs[0][c], pairs[1][c], 0xdd); /* of two, and the next two, of four rows */
    }
    const __m512i two_of_four = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m256 first = _mm512_cvtpd_ps(_mm512_set1_pd(t) - t0[0]),
                 second = _mm512_cvtpd_ps(_mm512_set1_pd(t) - t0[1]);
    out[6] = _mm512_castpd_ps(_mm512_permutex2var_pd(_mm512_castps_pd(_mm512_castps256_ps512(first)), two_of_four,
                                                     _mm512_castps_pd(_mm512_castps256_ps512(second))));
}

static inline vf vf_low(vf tails, int k, vf high, vf d)
{
    enum { A_XOR_B_AND_C = 0x78 };
    const __m512i bits = _mm512_castps_si512(tails), h = _mm512_castps_si512(high),
                  m = k == 0   ? _mm512_ternarylogic_epi32(h, bits, _mm512_set1_epi32(0x7ff000), A_XOR_B_AND_C)
                      : k == 1 ? _mm512_ternarylogic_epi32(h, _mm512_slli_epi32(bits, 11), _mm512_set1_epi32(0x7ff800),
                                                           A_XOR_B_AND_C)
                               : _mm512_xor_si512(h, _mm512_srli_epi32(bits, 9));
    return _mm512_fmadd_ps(_mm512_castsi512_ps(m), _mm512_set1_ps(0x1p-23f), d);
}

/* The instruction gives y with a relative error of 2^-14. With q = y^2 and e = 1 - r2 q <= 2^-13 the powers follow by
 * series in e: 1/r^2 = q (1 + e + ...), 1/r^3 = y q (1 + 3/2 e + ...), next terms 1.5e-8 and 2.8e-8. */
static inline struct vf_powers vf_powers_of(vf m, vf r2)
{
    const vf y = _mm512_rsqrt14_ps(r2), q = y * y;
    const vf e = _mm512_fnmadd_ps(r2, q, _mm512_set1_ps(1.0f));
    return (struct vf_powers){
        .rinv2 = _mm512_fmadd_ps(q, e, q),
        .mr3 = m * y * q * _mm512_fmadd_ps(e, _mm512_set1_ps(1.5f), _mm512_set1_ps(1.0f)),
    };
}

static inline void vf_sum_two(vf a, vf b, float *a_sum, float *b_sum)
{
    const vf four = _mm512_shuffle_f32x4(a, b, 0x44) + _mm512_shuffle_f32x4(a, b, 0xee),
             two = even_parts(four, four) + odd_parts(four, four); /* of a, of b */
    const __m128 p = _mm512_castps512_ps128(two), q = _mm512_extractf32x4_ps(two, 1),
                 r = _mm_unpacklo_ps(p, q) + _mm_unpackhi_ps(p, q), sums = r + _mm_movehl_ps(r, r);
    *a_sum = _mm_cvtss_f32(sums);
    *b_sum = _mm_cvtss_f32(_mm_movehdup_ps(sums));
}

/* In float until four lanes are left of each, in the 128-bit parts of two vectors. */
static inline void vf_totals(const vf a[6], double out[6])
{
    static const int number[3][2] = {{0, 2}, {1, 3}, {4, 5}};
    vf two[3];
    for (int k = 0; k < 3; k++) {
        const vf x = a[number[k][0]], y = a[number[k][1]];
        two[k] = _mm512_shuffle_f32x4(x, y, 0x44) + _mm512_shuffle_f32x4(x, y, 0xee);
    }
    const vf u = even_parts(two[0], two[2]) + odd_parts(two[0], two[2]), /* 0, 2, 4, 5 */
        v = even_parts(two[1], two[1]) + odd_parts(two[1], two[1]);      /* 1, 3 */
    const vf p = _mm512_unpacklo_ps(u, v), q = _mm512_unpackhi_ps(u, v);
    const __m512d r = _mm512_cvtps_pd(_mm512_castps512_ps256(p)) + _mm512_cvtps_pd(_mm512_castps512_ps256(q)),
                  s = _mm512_cvtps_pd(_mm512_extractf32x8_ps(p, 1)) + _mm512_cvtps_pd(_mm512_extractf32x8_ps(q, 1)),
                  sums = _mm512_shuffle_f64x2(r, s, 0x88) + _mm512_shuffle_f64x2(r, s, 0xdd);
    const __m256d last = _mm512_extractf64x4_pd(sums, 1); /* 4, -, 5, - */
    _mm256_storeu_pd(out, _mm512_castpd512_pd256(sums));
    _mm_storeu_pd(out + 4, _mm_unpacklo_pd(_mm256_castpd256_pd128(last), _mm256_extractf128_pd(last, 1)));
}

#endif
