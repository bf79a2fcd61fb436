/* The field of moving cells as one expansion about the centre of a region of moving targets, and its rate; included
 * after local.h. The kernel is 1/r.
 *
 * Everything is seen from a frame that moves with the region. There the derivatives D_n(x) of local.h do not change
 * with time, if the moments of a cell are those about the point where its centre is now, and change by the velocity U
 * of the cell as well: dM_b/dt = rate of M_b + sum over the factors of U times M_(b - 1). So both expansions, L_a =
 * sum_b (-1)^|b| M_b/b! D_(a+b)   and   dL_a/dt = sum_b (-1)^|b| dM_b/dt/b! D_(a+b), share the derivatives. A target at
 * y with a velocity w in the frame has acc = grad sum_a L_a y^a/a!,   jerk = grad sum_a dL_a/dt y^a/a! + (w grad) acc.
 * Units: L_a unit^|a|, and dL_a/dt unit^(|a| + 1). */

/* q_b = (-1)^|b| M_b/b! mass/R (radius/unit)^|b|, and its rate times the unit: with q_(b - 1) the part of U is a
 * derivative of the same series.
 *  moment, rate  of ranks 2 to `rank`, in units of mass radius^n, and of mass radius^(n - 1) speed
 *  u             the velocity of the cell in the frame */
TERM_FUNCTION void moving_moments(const TERM_REAL *moment, const TERM_REAL *rate, const TERM_REAL u[3],
                                  const TERM_REAL mr, const TERM_REAL ratio, const TERM_REAL speed, const int rank,
                                  TERM_REAL *q, TERM_REAL *q_rate)
{
    TERM_REAL power = mr, rate_power = mr * speed;
    q[0] = mr;
    q_rate[0] = TERM_SET(0);
    for (int k = 0; k < 3; k++) {
        q[1 + k] = TERM_SET(0);
        q_rate[1 + k] = TERM_SET(0) - u[k] * mr;
    }
    power = power * ratio;
    NBC_UNROLL
    for (int n = 2; n <= rank; n++) {
        const TERM_REAL *before = q + tree_components_below(n - 1);
        power = power * ratio;
        rate_power = rate_power * ratio;
        NBC_UNROLL
        for (int i = 0; i <= n; i++) {
            NBC_UNROLL
            for (int c = 0; c <= i; c++) {
                const int b = i - c, a = n - i, at = tree_components_below(n) + tree_place(b, c),
                          from = at - tree_components_below(2);
                const TERM_REAL weight = TERM_SET(
                    (TERM_NUMBER)((n % 2 ? -1 : 1) / (tree_factorial(a) * tree_factorial(b) * tree_factorial(c))));
                TERM_REAL change = TERM_SET(0);
                if (a > 0) change = TERM_FMA(u[0], before[tree_place(b, c)], change);
                if (b > 0) change = TERM_FMA(u[1], before[tree_place(b - 1, c)], change);
                if (c > 0) change = TERM_FMA(u[2], before[tree_place(b, c - 1)], change);
                q[at] = moment[from] * (weight * power);
                q_rate[at] = rate[from] * (weight * rate_power) - change;
            }
        }
    }
}

/* sum_b q_b d_(a+b) onto each L_a, for two series at once. */
TERM_FUNCTION void moving_contract(const TERM_REAL *q, const TERM_REAL *d, const TERM_REAL *q_rate,
                                   const TERM_REAL *d_rate, const int rank, TERM_REAL *local, TERM_REAL *local_rate)
{
    NBC_UNROLL
    for (int m = 0; m <= rank; m++) {
        NBC_UNROLL
        for (int j = 0; j <= m; j++) {
            NBC_UNROLL
            for (int e = 0; e <= j; e++) {
                const int to = tree_components_below(m) + tree_place(j - e, e);
                TERM_REAL sum = local[to], sum_rate = local_rate[to];
                NBC_UNROLL
                for (int n = 0; n <= rank - m; n++) {
                    NBC_UNROLL
                    for (int i = 0; i <= n; i++) {
                        NBC_UNROLL
                        for (int c = 0; c <= i; c++) {
                            const int b = tree_components_below(n) + tree_place(i - c, c),
                                      at = tree_components_below(n + m) + tree_place(i + j - c - e, c + e);
                            sum = TERM_FMA(q[b], d[at], sum);
                            sum_rate = TERM_FMA(q_rate[b], d_rate[at], sum_rate);
                        }
                    }
                }
                local[to] = sum;
                local_rate[to] = sum_rate;
            }
        }
    }
}

/* A cell's terms onto L_a unit^|a|, and onto their rates times the unit.
 *  x        from the centre of the cell to that of the region, over R
 *  mr       mass/R
 *  t, ratio unit/R, radius/unit */
TERM_FUNCTION void moving_add_cell(const TERM_REAL *moment, const TERM_REAL *rate, const TERM_REAL x[3],
                                   const TERM_REAL u[3], const TERM_REAL mr, const TERM_REAL t, const TERM_REAL ratio,
                                   const TERM_REAL speed, const int rank, TERM_REAL *local, TERM_REAL *local_rate)
{
    TERM_REAL d[TREE_MOST_LOCALS], q[TREE_MOST_LOCALS], q_rate[TREE_MOST_LOCALS];
    local_derivatives(x, rank, d);
    local_scale(t, rank, d);
    moving_moments(moment, rate, u, mr, ratio, speed, rank, q, q_rate);
    moving_contract(q, d, q_rate, d, rank, local, local_rate);
}

/* h_a + sum_k w_k L_(a + 1) in place of h_a: of fields that are seen from a frame with the velocity w in the old one.
 */
TERM_FUNCTION void moving_turn(const TERM_REAL *local, const TERM_REAL w[3], const int rank, TERM_REAL *h)
{
    NBC_UNROLL
    for (int n = 0; n < rank; n++) {
        const TERM_REAL *next = local + tree_components_below(n + 1);
        NBC_UNROLL
        for (int i = 0; i <= n; i++) {
            NBC_UNROLL
            for (int c = 0; c <= i; c++) {
                const int at = tree_components_below(n) + tree_place(i - c, c);
                const TERM_REAL along = TERM_FMA(w[0], next[tree_place(i - c, c)], h[at]);
                h[at] = TERM_FMA(w[2], next[tree_place(i - c, c + 1)],
                                 TERM_FMA(w[1], next[tree_place(i - c + 1, c)], along));
            }
        }
    }
}

/* An expansion about another point, y = u unit from its own, onto that of a region there whose frame has the velocity w
 * in the old one.   ratio: the new unit over the old one, which both expansions at `to` have */
TERM_FUNCTION void moving_shift(const TERM_REAL *local, const TERM_REAL *local_rate, const TERM_REAL u[3],
                                const TERM_REAL w[3], const TERM_REAL ratio, const int rank, TERM_REAL *to,
                                TERM_REAL *to_rate)
{
    TERM_REAL v[TREE_MOST_LOCALS], power = TERM_SET(1);
    term_products(u, rank + 1, v);
    for (int a = 0; a < tree_components_below(rank + 1); a++) to[a] = to_rate[a] = TERM_SET(0);
    moving_contract(v, local, v, local_rate, rank, to, to_rate);
    moving_turn(to, w, rank, to_rate);
    for (int n = 0; n <= rank; n++) {
        for (int a = tree_components_below(n); a < tree_components_below(n + 1); a++) {
            to[a] = to[a] * power;
            to_rate[a] = to_rate[a] * power * ratio;
        }
        power = power * ratio;
    }
}

/* Derivatives of a series at a target: sum_a L_(a + 1) u^a/a! in each direction. */
TERM_FUNCTION void moving_gradient(const TERM_REAL *local, const TERM_REAL *v, const int rank, TERM_REAL g[3])
{
    g[0] = g[1] = g[2] = TERM_SET(0);
    NBC_UNROLL
    for (int n = 0; n < rank; n++) {
        const TERM_REAL *next = local + tree_components_below(n + 1);
        NBC_UNROLL
        for (int i = 0; i <= n; i++) {
            NBC_UNROLL
            for (int c = 0; c <= i; c++) {
                const TERM_REAL here = v[tree_components_below(n) + tree_place(i - c, c)];
                g[0] = TERM_FMA(next[tree_place(i - c, c)], here, g[0]);
                g[1] = TERM_FMA(next[tree_place(i - c + 1, c)], here, g[1]);
                g[2] = TERM_FMA(next[tree_place(i - c, c + 1)], here, g[2]);
            }
        }
    }
}

/* The sums of an expansion at y = u unit, for a velocity w in the frame: psi, acc unit, jerk unit^2.
 * @param[in,out] h  the rates, which are lost */
TERM_FUNCTION void moving_sums(const TERM_REAL *local, TERM_REAL *h, const TERM_REAL u[3], const TERM_REAL w[3],
                               const int rank, TERM_REAL acc[3], TERM_REAL jerk[3], TERM_REAL *psi)
{
    TERM_REAL v[TREE_MOST_LOCALS];
    term_products(u, rank + 1, v);
    moving_turn(local, w, rank, h);
    moving_gradient(local, v, rank, acc);
    moving_gradient(h, v, rank, jerk);
    *psi = local[0];
    for (int a = 1; a < tree_components_below(rank + 1); a++) *psi = TERM_FMA(local[a], v[a], *psi);
}
