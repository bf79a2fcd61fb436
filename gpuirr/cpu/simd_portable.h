/* Vectors of 16 bytes in the language of gcc and clang, for kernel.h: any processor. */
#ifndef GPUIRR_CPU_SIMD_PORTABLE_H
#define GPUIRR_CPU_SIMD_PORTABLE_H

#include "gpuirr/cpu/compact.h"

#include <math.h>
#include <string.h>

#define SIMD_W 4

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef uint32_t vu __attribute__((vector_size(16)));
typedef int32_t vm __attribute__((vector_size(16)));

struct vf_powers {
    vf rinv2, mr3;
};

static inline vf vf_set1(float a)
{
    return (vf){a, a, a, a};
}

static inline vi vi_set1(int32_t a)
{
    return (vi){a, a, a, a};
}

static inline vf vf_load(const float *p)
{
    vf a;
    memcpy(&a, p, sizeof a);
    return a;
}

static inline void vf_store(float *p, vf a)
{
    memcpy(p, &a, sizeof a);
}

static inline void vi_store(int32_t *p, vi a)
{
    memcpy(p, &a, sizeof a);
}

static inline vf vf_fma(vf a, vf b, vf c)
{
    return a * b + c;
}

static inline vf vf_where(vm lanes, vf a, vf b)
{
    return (vf)((lanes & (vi)a) | (~lanes & (vi)b));
}

static inline vi vi_where(vm lanes, vi a, vi b)
{
    return (lanes & a) | (~lanes & b);
}

static inline vf vf_max(vf a, vf b)
{
    return vf_where(a > b, a, b);
}

static inline vm vm_from(uint32_t n)
{
    int32_t count = n < SIMD_W ? (int32_t)n : SIMD_W;
    return (vi){0, 1, 2, 3} >= vi_set1(count);
}

static inline vm vm_at_most(vf a, vf high)
{
    return a <= high;
}

static inline vm vm_below(vf a, vf high)
{
    return a < high;
}

static inline vm vm_and(vm a, vm b)
{
    return a & b;
}

static inline vm vm_and_not(vm a, vm b)
{
    return a & ~b;
}

static inline vf vf_in(vm lanes, vf a)
{
    return (vf)(lanes & (vi)a);
}

/* All bits set are a NaN. */
static inline vf vf_nan_below(vf a, vf low)
{
    return (vf)((vi)a | ~(a >= low));
}

static inline unsigned vm_bits(vm a)
{
    a &= (vi){1, 2, 4, 8};
    return (unsigned)(a[0] | a[1] | a[2] | a[3]);
}

static inline void transpose4(const vf in[4], vf out[4])
{
    for (int c = 0; c < 4; c++) out[c] = (vf){in[0][c], in[1][c], in[2][c], in[3][c]};
}

static inline void vf_part(const float *const *row, int part, vf out[4])
{
    vf in[4];
    for (int l = 0; l < 4; l++)
        in[l] = *(const vf *)(const void *)(row[l] + 4 * part); /* memcpy: gcc 12 makes integers */
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
    for (int l = 0; l < 4; l++) vf_store(rows + l * GPUIRR_ROW + 4 * part, out[l]);
}

static inline float since(const float *row, double t)
{
    double t0;
    memcpy(&t0, row + 14, sizeof t0);
    return (float)(t - t0);
}

static inline void vf_half_since(const float *const *row, double t, vf out[7])
{
    vf last[4];
    out[6] = (vf){since(row[0], t), since(row[1], t), since(row[2], t), since(row[3], t)};
    vf_part(row, 2, out);
    vf_part(row, 3, last);
    out[4] = last[0];
    out[5] = last[1];
}

static inline vf vf_low(vf tails, int k, vf high, vf d)
{
    const vu bits = (vu)tails;
    const vu tail = k == 0 ? bits & 0x7ff000 : k == 1 ? bits << 11 & 0x7ff800 : bits >> 9;
    return (vf)((vu)high ^ tail) * 0x1p-23f + d;
}

static inline struct vf_powers vf_powers_of(vf m, vf r2)
{
    const vf rinv2 = 1.0f / r2;
    const vf rinv = {sqrtf(rinv2[0]), sqrtf(rinv2[1]), sqrtf(rinv2[2]), sqrtf(rinv2[3])};
    return (struct vf_powers){.rinv2 = rinv2, .mr3 = m * rinv * rinv2};
}

static inline void vf_sum_two(vf a, vf b, float *a_sum, float *b_sum)
{
    *a_sum = (a[0] + a[2]) + (a[1] + a[3]);
    *b_sum = (b[0] + b[2]) + (b[1] + b[3]);
}

static inline void vf_totals(const vf a[6], double out[6])
{
    for (int k = 0; k < 6; k++) out[k] = ((double)a[k][0] + (double)a[k][2]) + ((double)a[k][1] + (double)a[k][3]);
}

#endif
