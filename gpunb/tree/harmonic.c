#include "gpunb/tree/harmonic.h"

/* From n h_n = s grad h_n. The derivatives of h by x and y have an index less; that of h_(i,j,1) by z is h_(i,j,0), and
 * that of h_(i,j,0) is -h_(i-2,j,1) - h_(i,j-2,1), since D_(i,j,2) = -D_(i+2,j,0) - D_(i,j+2,0). */
void harmonic_functions(const double s[3], double *h)
{
    h[0] = 1;
    for (int n = 1; n <= HARMONIC_ORDER; n++) {
        const double *flat = h + harmonic_row(n - 1, 0), *up = h + harmonic_row(n - 1, 1), part = 1.0 / n;
        const double x = s[0] * part, y = s[1] * part, z = s[2] * part;
        double *to = h + harmonic_row(n, 0);
        for (int j = 0; j <= n; j++) {
            double sum = 0;
            if (j < n) sum += x * flat[j];
            if (j > 0) sum += y * flat[j - 1];
            if (j < n - 1) sum -= z * up[j];
            if (j > 1) sum -= z * up[j - 2];
            to[j] = sum;
        }
        to = h + harmonic_row(n, 1);
        for (int j = 0; j < n; j++) {
            double sum = z * flat[j];
            if (j < n - 1) sum += x * up[j];
            if (j > 0) sum += y * up[j - 1];
            to[j] = sum;
        }
    }
}

/* Products h_b(p) h_c(q) = sum over ranks belong to D_(b+c): components with two indices z go to the others. */
static void fold(const double *all, double *to)
{
    for (int n = 0; n <= HARMONIC_ORDER; n++) {
        double *flat = to + harmonic_row(n, 0), *up = to + harmonic_row(n, 1);
        const double *from[3];
        for (int z = 0; z < 3; z++) from[z] = all + harmonic_derivative_row(n, z);
        for (int j = 0; j <= n; j++) flat[j] += from[0][j];
        for (int j = 0; j < n; j++) up[j] += from[1][j];
        for (int j = 0; j < n - 1; j++) {
            flat[j] -= from[2][j];
            flat[j + 2] -= from[2][j];
        }
    }
}

void harmonic_add_moments(const double *moment, const double t[3], double *to)
{
    const double back[3] = {-t[0], -t[1], -t[2]};
    double h[HARMONICS], all[HARMONIC_DERIVATIVES] = {0};
    harmonic_functions(back, h);
    for (int m = 0; m <= HARMONIC_ORDER; m++)
        for (int z = 0; z < 2; z++)
            for (int j = 0; j <= m - z; j++) {
                const double q = moment[harmonic_row(m, z) + j];
                for (int n = 0; m + n <= HARMONIC_ORDER; n++)
                    for (int u = 0; u < 2; u++) {
                        const double *from = h + harmonic_row(n, u);
                        double *sum = all + harmonic_derivative_row(m + n, z + u) + j;
                        for (int i = 0; i <= n - u; i++) sum[i] += q * from[i];
                    }
            }
    fold(all, to);
}

/* As L are sums of derivatives, those with two indices z follow from the others. */
static void unfold(const double *series, double *all)
{
    for (int n = 0; n <= HARMONIC_ORDER; n++) {
        const double *flat = series + harmonic_row(n, 0), *up = series + harmonic_row(n, 1);
        double *to[3];
        for (int z = 0; z < 3; z++) to[z] = all + harmonic_derivative_row(n, z);
        for (int j = 0; j <= n; j++) to[0][j] = flat[j];
        for (int j = 0; j < n; j++) to[1][j] = up[j];
        for (int j = 0; j < n - 1; j++) to[2][j] = -flat[j] - flat[j + 2];
    }
}

void harmonic_move_series(const double *series, const double t[3], double *to)
{
    double h[HARMONICS], all[HARMONIC_DERIVATIVES];
    harmonic_functions(t, h);
    unfold(series, all);
    for (int m = 0; m <= HARMONIC_ORDER; m++)
        for (int z = 0; z < 2; z++)
            for (int j = 0; j <= m - z; j++) {
                double sum = 0;
                for (int n = 0; m + n <= HARMONIC_ORDER; n++)
                    for (int u = 0; u < 2; u++) {
                        const double *q = h + harmonic_row(n, u),
                                     *from = all + harmonic_derivative_row(m + n, z + u) + j;
                        for (int i = 0; i <= n - u; i++) sum += q[i] * from[i];
                    }
                to[harmonic_row(m, z) + j] = sum;
            }
}

double harmonic_value(const double *series, const double y[3])
{
    double h[HARMONICS], sum = 0;
    harmonic_functions(y, h);
    for (int b = 0; b < HARMONICS; b++) sum += series[b] * h[b];
    return sum;
}
