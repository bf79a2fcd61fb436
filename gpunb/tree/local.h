/* The field of cells as one expansion about the centre of a group, for TERM_REALs of cells; included after term.h.
 *
 * With G(x) = (x^2 + e^2)^(-1/2), x from the centre of a cell to that of the group, a body at s from the former and a
 * target at y from the latter, the potential is sum m G(x + y - s), whose Taylor series is (Dehnen 2002, J. Comput.
 * Phys. 179, 27)
 *     psi = sum_a L_a y^a/a!,   L_a = sum_b (-1)^|b| M_b/b! D_(a+b),   D_n = the derivatives of G of rank n at x,
 * cut where |a| + |b| is above the rank of the expansion: then psi and its gradient belong to each other. Units: the
 * derivatives are those at u = x/R, of which R^-(n+1) is left out, moments are in mass radius^n, and the group's `unit`
 * is its radius: with t = unit/R, L_a unit^|a| has the terms mass/R (t^|a+b| D_(a+b)(u)) (M_b/b! (-radius/unit)^|b|).
 */
#include "gpunb/tree/tensor.h"

/* All derivatives of G up to `rank`, D_n R^(n+1). Of R^-(2j+1), times (-1)^j (2j-1)!!, for each j from those for j + 1:
 * a derivative more is a factor x, and its own derivative. */
TERM_FUNCTION void local_derivatives(const TERM_REAL u[3], const int rank, TERM_REAL *d)
{
    NBC_UNROLL
    for (int j = rank; j >= 0; j--) {
        NBC_UNROLL
        for (int n = rank - j; n >= 1; n--) {
            TERM_REAL *now = d + tree_components_below(n);
            const TERM_REAL *one = d + tree_components_below(n - 1),
                            *two = d + tree_components_below(n > 1 ? n - 2 : 0);
            NBC_UNROLL
            for (int i = n; i >= 0; i--) {
                NBC_UNROLL
                for (int c = i; c >= 0; c--) {
                    const int b = i - c, a = n - i;
                    if (c > 0) {
                        now[tree_place(b, c)] = u[2] * one[tree_place(b, c - 1)];
                        if (c > 1)
                            now[tree_place(b, c)] = TERM_FMA(TERM_SET((TERM_NUMBER)(c - 1)), two[tree_place(b, c - 2)],
                                                             now[tree_place(b, c)]);
                    } else if (b > 0) {
                        now[tree_place(b, 0)] = u[1] * one[tree_place(b - 1, 0)];
                        if (b > 1)
                            now[tree_place(b, 0)] = TERM_FMA(TERM_SET((TERM_NUMBER)(b - 1)), two[tree_place(b - 2, 0)],
                                                             now[tree_place(b, 0)]);
                    } else {
                        now[0] = u[0] * one[0];
                        if (a > 1) now[0] = TERM_FMA(TERM_SET((TERM_NUMBER)(a - 1)), two[0], now[0]);
                    }
                }
            }
        }
        d[0] = TERM_SET((TERM_NUMBER)((j % 2 ? -1 : 1) * tree_odd_factorial(j)));
    }
}

/* One moment b, times what it acts with, onto all L_a. */
TERM_FUNCTION void local_add_moment(const TERM_REAL q, const TERM_REAL *d, const int rank, const int n, const int i,
                                    const int c, TERM_REAL *local)
{
    NBC_UNROLL
    for (int m = 0; m <= rank - n; m++) {
        const TERM_REAL *from = d + tree_components_below(n + m);
        TERM_REAL *to = local + tree_components_below(m);
        NBC_UNROLL
        for (int j = 0; j <= m; j++) {
            NBC_UNROLL
            for (int e = 0; e <= j; e++) {
                const int at = j * (j + 1) / 2 + e;
                to[at] = TERM_FMA(q, from[(i + j) * (i + j + 1) / 2 + c + e], to[at]);
            }
        }
    }
}

/* t^n D_n in place of D_n. */
TERM_FUNCTION void local_scale(const TERM_REAL t, const int rank, TERM_REAL *d)
{
    TERM_REAL power = t;
    NBC_UNROLL
    for (int n = 1; n <= rank; n++) {
        NBC_UNROLL
        for (int i = 0; i <= n; i++) {
            NBC_UNROLL
            for (int c = 0; c <= i; c++) {
                const int at = tree_components_below(n) + i * (i + 1) / 2 + c;
                d[at] = d[at] * power;
            }
        }
        power = power * t;
    }
}

/* Moments [first, end) of those from rank 2 on, which are at `moment`; power: mass/R (radius/unit)^n. */
TERM_FUNCTION void local_add_some(const TERM_REAL *moment, const int first, const int end, const TERM_REAL *d,
                                  const TERM_REAL *power, const int rank, TERM_REAL *local)
{
    NBC_UNROLL
    for (int n = 2; n <= rank; n++) {
        NBC_UNROLL
        for (int i = 0; i <= n; i++) {
            NBC_UNROLL
            for (int c = 0; c <= i; c++) {
                const int at = tree_components_below(n) - tree_components_below(2) + i * (i + 1) / 2 + c;
                const double weight =
                    (n % 2 ? -1 : 1) / (tree_factorial(n - i) * tree_factorial(i - c) * tree_factorial(c));
                if (at >= first && at < end)
                    local_add_moment(moment[at - first] * power[n] * TERM_SET((TERM_NUMBER)weight), d, rank, n, i, c,
                                     local);
            }
        }
    }
}

/* A cell's terms onto L_a unit^|a|.
 *  moment   of ranks 2 to `top`, at most `rank`, in units of mass radius^n
 *  mr       mass/R
 *  t, ratio unit/R, radius/unit */
TERM_FUNCTION void local_add_cell(const TERM_REAL *moment, const TERM_REAL u[3], const TERM_REAL mr, const TERM_REAL t,
                                  const TERM_REAL ratio, const int top, const int rank, TERM_REAL *local)
{
    TERM_REAL d[TREE_MOST_LOCALS], power[TREE_MOST_LOCAL + 1];
    power[0] = mr;
    NBC_UNROLL
    for (int n = 1; n <= rank; n++) power[n] = power[n - 1] * ratio;
    local_derivatives(u, rank, d);
    local_scale(t, rank, d);
    local_add_moment(mr, d, rank, 0, 0, 0, local);
    local_add_some(moment, 0, tree_components_below(top + 1) - tree_components_below(2), d, power, rank, local);
}

/* The sums of an expansion at y = u unit: acc unit, and psi. */
TERM_FUNCTION void local_sums(const TERM_NUMBER *local, const TERM_REAL u[3], const int rank, TERM_REAL acc[3],
                              TERM_REAL *psi)
{
    TERM_REAL v[TREE_MOST_LOCALS];
    term_products(u, rank, v);
    acc[0] = acc[1] = acc[2] = TERM_SET(0);
    *psi = TERM_SET(local[0]);
    NBC_UNROLL
    for (int n = 1; n <= rank; n++) {
        TERM_REAL h[3];
        term_gradient(local + tree_components_below(n), v, n, h);
        for (int k = 0; k < 3; k++) acc[k] = acc[k] + h[k];
        const TERM_REAL along = TERM_FMA(u[2], h[2], TERM_FMA(u[1], h[1], u[0] * h[0]));
        *psi = TERM_FMA(TERM_SET((TERM_NUMBER)1 / (TERM_NUMBER)n), along, *psi);
    }
}
