/* The force of a cell on targets, one for each lane of TERM_REAL. Included by those who define
 *   TERM_REAL            a float, a double, or a vector of them, with its operators
 *   TERM_FMA(a, b, c)    a b + c
 *   TERM_SET(number)     a TERM_REAL
 *   TERM_NUMBER          float or double: of the coefficients
 *   TERM_FUNCTION        static, inline
 * With u = x/R, s = radius/R and moments in units of mass radius^n, a term of rank n is (tensor.h)
 *     psi = mass/R s^n sum_k A_nk Q_nk(u),   Q_nk(u) = T_nk u^(n-2k),
 *     acc = mass/R^2 s^n sum_k A_nk (grad Q_nk(u) - (2(n-k) + 1) Q_nk(u) u),
 * and Q_nk = u grad Q_nk/(n-2k). Nothing overflows: u and s are below 1. Coefficients are A_nk (n-2k)! T_nk, products
 * of coordinates are divided by the factorials of their powers: then the gradient takes a product for each component.
 */
#include "gpunb/tree/tensor.h"

#define TERM_PIECES (GPUNB_MOST_ORDER * (GPUNB_MOST_ORDER + 1) * (GPUNB_MOST_ORDER + 2) / 6)

/* u^a/a! of all ranks below `order`. */
TERM_FUNCTION void term_products(const TERM_REAL u[3], const int order, TERM_REAL *v)
{
    TERM_REAL part[3][GPUNB_MOST_ORDER]; /* u/n */
    v[0] = TERM_SET(1);
    for (int k = 0; k < 3 && order > 1; k++) v[1 + k] = part[k][1] = u[k];
    NBC_UNROLL
    for (int n = 2; n < order; n++) {
        const TERM_REAL *before = v + tree_components_below(n - 1);
        TERM_REAL *now = v + tree_components_below(n);
        NBC_UNROLL
        for (int k = 0; k < 3; k++) part[k][n] = u[k] * TERM_SET((TERM_NUMBER)1 / (TERM_NUMBER)n);
        now[0] = before[0] * part[0][n];
        NBC_UNROLL
        for (int i = 1; i <= n; i++) {
            NBC_UNROLL
            for (int c = 0; c < i; c++) now[tree_place(i - c, c)] = before[tree_place(i - c - 1, c)] * part[1][i - c];
            now[tree_place(0, i)] = before[tree_place(0, i - 1)] * part[2][i];
        }
    }
}

/* The gradient of a tensor of rank j at u. */
TERM_FUNCTION void term_gradient(const TERM_NUMBER *t, const TERM_REAL *v, const int j, TERM_REAL h[3])
{
    const TERM_REAL *w = v + tree_components_below(j - 1);
    h[0] = TERM_SET(t[0]) * w[0];
    h[1] = TERM_SET(t[1]) * w[0];
    h[2] = TERM_SET(t[2]) * w[0];
    NBC_UNROLL
    for (int i = 1; i < j; i++) {
        NBC_UNROLL
        for (int c = 0; c <= i; c++) {
            const int at = i * (i + 1) / 2 + c, next = (i + 1) * (i + 2) / 2 + c;
            h[0] = TERM_FMA(TERM_SET(t[at]), w[at], h[0]);
            h[1] = TERM_FMA(TERM_SET(t[next]), w[at], h[1]);
            h[2] = TERM_FMA(TERM_SET(t[next + 1]), w[at], h[2]);
        }
    }
}

/* One rank: its gradient, and its terms of radial and pot. Nothing is added to a zero that the compiler would keep.
 * @return the coefficients behind */
TERM_FUNCTION const TERM_NUMBER *term_rank(const TERM_NUMBER *t, const TERM_REAL u[3], const TERM_REAL *v, const int n,
                                           const int want_pot, TERM_REAL sum[3], TERM_REAL *along, TERM_REAL *psi)
{
    NBC_UNROLL
    for (int k = 0; 2 * k < n; k++) {
        const int j = n - 2 * k;
        const TERM_REAL radial = TERM_SET((TERM_NUMBER)(2 * (n - k) + 1) / (TERM_NUMBER)j);
        TERM_REAL h[3];
        term_gradient(t, v, j, h);
        t += tree_components(j);
        const TERM_REAL uh = TERM_FMA(u[2], h[2], TERM_FMA(u[1], h[1], u[0] * h[0]));
        if (k == 0) {
            *along = radial * uh;
            if (want_pot) *psi = TERM_SET((TERM_NUMBER)1 / (TERM_NUMBER)j) * uh;
            for (int x = 0; x < 3; x++) sum[x] = h[x];
        } else {
            *along = TERM_FMA(radial, uh, *along);
            if (want_pot) *psi = TERM_FMA(TERM_SET((TERM_NUMBER)1 / (TERM_NUMBER)j), uh, *psi);
            for (int x = 0; x < 3; x++) sum[x] = sum[x] + h[x];
        }
    }
    if (n % 2 == 0) {
        *along = *along + TERM_SET(t[0] * (TERM_NUMBER)(n + 1));
        if (want_pot) *psi = *psi + TERM_SET(t[0]);
        t++;
    }
    return t;
}

/* Sums over all ranks from 2 to `order`: psi = mass/R pot, acc = mass/R^2 (g - radial u); pot is there if asked for. */
TERM_FUNCTION void term_sums(const TERM_NUMBER *t, const TERM_REAL u[3], const TERM_REAL s, const int order,
                             const int want_pot, TERM_REAL g[3], TERM_REAL *radial, TERM_REAL *pot)
{
    TERM_REAL v[TERM_PIECES], power = s;
    g[0] = g[1] = g[2] = TERM_SET(0);
    *radial = *pot = TERM_SET(1);
    if (order < 2) return;
    term_products(u, order, v);
    NBC_UNROLL
    for (int n = 2; n <= order; n++) {
        TERM_REAL sum[3], along, psi;
        t = term_rank(t, u, v, n, want_pot, sum, &along, &psi);
        power = power * s;
        for (int x = 0; x < 3; x++) g[x] = TERM_FMA(power, sum[x], g[x]);
        *radial = TERM_FMA(power, along, *radial);
        if (want_pot) *pot = TERM_FMA(power, psi, *pot);
    }
}
