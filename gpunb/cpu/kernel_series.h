/* Cells on the series of other cells (gpunb/tree/harmonic.h), in double, a cell in each lane. Needs of simd_*.h what
 * kernel_pot.h does. */
#ifndef GPUNB_CPU_KERNEL_SERIES_H
#define GPUNB_CPU_KERNEL_SERIES_H

#include "gpunb/cpu/kernel_pot.h"
#include "gpunb/tree/harmonic.h"

/* n r^2 D_k = -(2n - 1) sum_i k_i x_i D_(k - e_i) - (n - 1) sum_i k_i (k_i - 1) D_(k - 2 e_i), n = |k|: the derivatives
 * of r^2 grad G = -x G, multiplied by x. */
static inline __attribute__((always_inline)) void series_rank(const vd x[3], vd per_r2, const int n, vd *d)
{
    const vd first = vd_set1(-(2.0 * n - 1) / n) * per_r2, second = vd_set1(-(n - 1.0) / n) * per_r2;
    for (int z = 0; z < 2; z++) {
        const vd *one = d + harmonic_derivative_row(n - 1, z), *two = d + harmonic_derivative_row(n > 1 ? n - 2 : 0, z),
                 *flat = d + harmonic_derivative_row(n - 1, 0);
        vd *to = d + harmonic_derivative_row(n, z);
        for (int j = 0; j <= n - z; j++) {
            const int i = n - z - j;
            vd once = vd_set1(0.0), twice = vd_set1(0.0);
            if (i > 0) once = vd_set1(i) * (x[0] * one[j]);
            if (j > 0) once = vd_fma(vd_set1(j) * x[1], one[j - 1], once);
            if (z > 0) once = vd_fma(x[2], flat[j], once);
            if (i > 1) twice = vd_set1(i * (i - 1)) * two[j];
            if (j > 1) twice = vd_fma(vd_set1(j * (j - 1)), two[j - 2], twice);
            to[j] = vd_fma(first, once, second * twice);
        }
    }
    vd *to = d + harmonic_derivative_row(n, 2);
    const vd *from = d + harmonic_derivative_row(n, 0);
    for (int j = 0; j < n - 1; j++) to[j] = vd_set1(0.0) - from[j] - from[j + 2];
}

static inline __attribute__((always_inline)) void series_derivatives(const vd x[3], vd *d)
{
    const vd inverse = vd_rsqrt_above(vd_fma(x[2], x[2], vd_fma(x[1], x[1], x[0] * x[0])), vd_set1(GPUNB_ZERO_R2));
    d[0] = inverse;
#pragma GCC unroll 16
    for (int n = 1; n <= HARMONIC_ORDER; n++) series_rank(x, inverse * inverse, n, d);
}

/* All L_a of a row, whose sums stay in registers. */
static inline __attribute__((always_inline)) void series_row(const vd *moment, const vd *d, const int m, const int z,
                                                             vd *local)
{
    const int length = m + 1 - z;
    vd sum[HARMONIC_ORDER + 1];
    vd *to = local + harmonic_row(m, z);
#pragma GCC unroll 16
    for (int j = 0; j < length; j++) sum[j] = to[j];
    for (int n = 0; n <= HARMONIC_ORDER - m; n++)
        for (int u = 0; u < 2; u++) {
            const vd *q = moment + harmonic_row(n, u), *from = d + harmonic_derivative_row(m + n, z + u);
            for (int i = 0; i <= n - u; i++) {
#pragma GCC unroll 16
                for (int j = 0; j < length; j++) sum[j] = vd_fma(q[i], from[i + j], sum[j]);
            }
        }
#pragma GCC unroll 16
    for (int j = 0; j < length; j++) to[j] = sum[j];
}

/* Lanes without a cell have no moments, and any distance. */
static void add_series(const struct gpunb_multipole *cell, size_t n, double *series)
{
    vd local[HARMONICS];
    for (int b = 0; b < HARMONICS; b++) local[b] = vd_set1(0.0);
    for (size_t first = 0; first < n; first += SIMD_D) {
        _Alignas(64) double lanes[HARMONICS][SIMD_D], at[3][SIMD_D];
        vd moment[HARMONICS], d[HARMONIC_DERIVATIVES], x[3];
        for (size_t l = 0; l < SIMD_D; l++) {
            const struct gpunb_multipole *c = &cell[first + l < n ? first + l : n - 1];
            for (int k = 0; k < 3; k++) at[k][l] = c->at[k];
            for (int b = 0; b < HARMONICS; b++) lanes[b][l] = first + l < n ? c->moment[b] : 0.0;
        }
        for (int b = 0; b < HARMONICS; b++) moment[b] = vd_load(lanes[b]);
        for (int k = 0; k < 3; k++) x[k] = vd_load(at[k]);
        series_derivatives(x, d);
#pragma GCC unroll 16
        for (int m = 0; m <= HARMONIC_ORDER; m++) {
            series_row(moment, d, m, 0, local);
            if (m > 0) series_row(moment, d, m, 1, local);
        }
    }
    for (int b = 0; b < HARMONICS; b++) {
        double lanes[SIMD_D];
        memcpy(lanes, &local[b], sizeof lanes);
        for (int half = SIMD_D / 2; half > 0; half /= 2)
            for (int l = 0; l < half; l++) lanes[l] += lanes[l + half];
        series[b] += lanes[0];
    }
}

#endif
