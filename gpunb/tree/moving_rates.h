/* The rates of moving expansions alone (moving.h), moment by moment: for who has registers for one expansion at a time;
 * included after moving.h. */

/* q_b of moving_moments; rank 1 has none. */
TERM_FUNCTION TERM_REAL moving_moment(const TERM_REAL *moment, const TERM_REAL *power, const int n, const int i,
                                      const int c)
{
    if (n == 0) return power[0];
    if (n == 1) return TERM_SET(0);
    return moment[tree_components_below(n) - tree_components_below(2) + tree_place(i - c, c)] *
           (power[n] * TERM_SET((TERM_NUMBER)((n % 2 ? -1 : 1) /
                                              (tree_factorial(n - i) * tree_factorial(i - c) * tree_factorial(c)))));
}

/* The rates of moving_add_cell alone, moment by moment: for walks that have registers for one expansion.
 *  d                  derivatives, scaled
 *  power, rate_power  mass/R (radius/unit)^n; mass/R speed (radius/unit)^(n - 1), from n = 1 on */
TERM_FUNCTION void moving_add_rates(const TERM_REAL *moment, const TERM_REAL *rate, const TERM_REAL u[3],
                                    const TERM_REAL *power, const TERM_REAL *rate_power, const TERM_REAL *d,
                                    const int rank, TERM_REAL *local_rate)
{
    NBC_UNROLL
    for (int n = 1; n <= rank; n++) {
        NBC_UNROLL
        for (int i = 0; i <= n; i++) {
            NBC_UNROLL
            for (int c = 0; c <= i; c++) {
                const int b = i - c, a = n - i,
                          from = tree_components_below(n) - tree_components_below(2) + tree_place(b, c);
                TERM_REAL q = TERM_SET(0);
                if (n > 1)
                    q = rate[from] * (rate_power[n] *
                                      TERM_SET((TERM_NUMBER)((n % 2 ? -1 : 1) / (tree_factorial(a) * tree_factorial(b) *
                                                                                 tree_factorial(c)))));
                if (n != 2 && a > 0) q = q - u[0] * moving_moment(moment, power, n - 1, i, c);
                if (n != 2 && b > 0) q = q - u[1] * moving_moment(moment, power, n - 1, i - 1, c);
                if (n != 2 && c > 0) q = q - u[2] * moving_moment(moment, power, n - 1, i - 1, c - 1);
                local_add_moment(q, d, rank, n, i, c, local_rate);
            }
        }
    }
}
