/* Solid harmonics, as complex numbers of 0 <= m <= n; that of -m is (-1)^m times the conjugate one of m:
 *     Y_n^m = r^n/(n + m)! P_n^m e^(im phi),   Z_n^m = (n - m)!/r^(n + 1) P_n^m e^(im phi),
 * without the phase of Condon and Shortley. Derivatives are neighbours, with d+- = d/dx +- i d/dy:
 *     d/dz Y_n^m = Y_(n-1)^m,   d+ Y_n^m = -Y_(n-1)^(m+1),   d- Y_n^m = Y_(n-1)^(m-1),
 *     d/dz Z_n^m = -Z_(n+1)^m,  d+ Z_n^m = -Z_(n+1)^(m+1),   d- Z_n^m = Z_(n+1)^(m-1),
 * from which all else follows by exp(h grad). With moments M = sum m Y(s) and expansions about targets F,
 *     psi(x) = sum M*_k^l Z_k^l(x),   psi(y) = sum Y*_n^m(y) F_n^m,
 *     M_n^m(new) = sum Y_k^l(d) M_(n-k)^(m-l),   F_n^m(new) = sum Y*_k^l(d) F_(n+k)^(m+l),
 *     F_n^m = (-1)^n sum M*_k^l Z_(n+k)^(m+l)(x),
 * and on the axis, where Y_k^l(d z) and Z_k^l(d z) have l = 0 alone, each m has its own sum. */
#include "bench/orders/basis.h"

#include <math.h>
#include <string.h>

enum { RANKS = ORDERS_MOST + 2, PLACES = RANKS * (RANKS + 1) / 2 };

/* [n (n + 1)/2 + m]; the imaginary parts of an expansion follow the real ones. */
struct parts {
    double re[PLACES], im[PLACES];
};

static int place(int n, int m)
{
    return n * (n + 1) / 2 + m;
}

static int places(int order)
{
    return place(order + 1, 0);
}

static int length(int order)
{
    return 2 * places(order);
}

static int squares_below(int n)
{
    return n * (n + 1) * (2 * n + 1) / 6;
}

static void take(const double *from, int order, struct parts *to)
{
    memcpy(to->re, from, (size_t)places(order) * sizeof(double));
    memcpy(to->im, from + places(order), (size_t)places(order) * sizeof(double));
}

static void give(const struct parts *from, int order, double factor, double *to)
{
    const int n = places(order);
    for (int k = 0; k < n; k++) {
        to[k] += factor * from->re[k];
        to[n + k] += factor * from->im[k];
    }
}

/* ---- harmonics at a point */

static void regular(const double x[3], int order, struct parts *y)
{
    const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    y->re[0] = 1;
    y->im[0] = 0;
    for (int n = 1; n <= order; n++) {
        const int one = place(n - 1, 0), two = n > 1 ? place(n - 2, 0) : 0, now = place(n, 0);
        for (int m = 0; m < n - 1; m++) {
            const double f = 1.0 / ((n + m) * (n - m)), z = (2 * n - 1) * f * x[2], w = f * r2;
            y->re[now + m] = z * y->re[one + m] - w * y->re[two + m];
            y->im[now + m] = z * y->im[one + m] - w * y->im[two + m];
        }
        const double re = y->re[one + n - 1], im = y->im[one + n - 1], f = 0.5 / n;
        y->re[now + n - 1] = x[2] * re;
        y->im[now + n - 1] = x[2] * im;
        y->re[now + n] = f * (x[0] * re - x[1] * im);
        y->im[now + n] = f * (x[0] * im + x[1] * re);
    }
}

static void irregular(const double x[3], int order, struct parts *z)
{
    const double per = 1 / (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    z->re[0] = sqrt(per);
    z->im[0] = 0;
    for (int n = 1; n <= order; n++) {
        const int one = place(n - 1, 0), two = n > 1 ? place(n - 2, 0) : 0, now = place(n, 0);
        const double along = (2 * n - 1) * x[2] * per;
        for (int m = 0; m < n - 1; m++) {
            const double w = ((n - 1) * (n - 1) - m * m) * per;
            z->re[now + m] = along * z->re[one + m] - w * z->re[two + m];
            z->im[now + m] = along * z->im[one + m] - w * z->im[two + m];
        }
        const double re = z->re[one + n - 1], im = z->im[one + n - 1], f = (2 * n - 1) * per;
        z->re[now + n - 1] = along * re;
        z->im[now + n - 1] = along * im;
        z->re[now + n] = f * (x[0] * re - x[1] * im);
        z->im[now + n] = f * (x[0] * im + x[1] * re);
    }
}

/* sum a*_k^l b_k^l over all l of one rank, and those with b_(k+1)^l and b_(k+1)^(l+1): the values of an expansion and
 * of its derivatives. */
static double contract(const struct parts *a, const struct parts *b, int k)
{
    const double *ar = a->re + place(k, 0), *ai = a->im + place(k, 0), *br = b->re + place(k, 0),
                 *bi = b->im + place(k, 0);
    double sum = 0;
    for (int l = 1; l <= k; l++) sum += ar[l] * br[l] + ai[l] * bi[l];
    return ar[0] * br[0] + 2 * sum;
}

static void contract_next(const struct parts *a, const struct parts *b, int k, double sum[3])
{
    const double *ar = a->re + place(k, 0), *ai = a->im + place(k, 0), *br = b->re + place(k + 1, 0),
                 *bi = b->im + place(k + 1, 0);
    double z = 0, re = ar[0] * br[1], im = ar[0] * bi[1];
    for (int l = 1; l <= k; l++) {
        z += ar[l] * br[l] + ai[l] * bi[l];
        /* l and -l, whose factors are -a_l and the conjugate b of l - 1 */
        re += ar[l] * (br[l + 1] - br[l - 1]) + ai[l] * (bi[l + 1] - bi[l - 1]);
        im += ar[l] * (bi[l + 1] + bi[l - 1]) - ai[l] * (br[l + 1] + br[l - 1]);
    }
    sum[0] += re;
    sum[1] += im;
    sum[2] += ar[0] * br[0] + 2 * z;
}

/* ---- turns */

/* With x and z exchanged Y_n^m is W_n^m = sum_l B_n^(ml) Y_n^l. From d/dz W_n^m = (W_(n-1)^(m-1) - W_(n-1)^(m+1))/2 and
 * d- W_n^m = W_(n-1)^m + (W_(n-1)^(m+1) + W_(n-1)^(m-1))/2, both exact:
 *     B_n^(ml) = (B_(n-1)^(m-1, l) - B_(n-1)^(m+1, l))/2,                                 |l| < n,
 *     B_n^(mn) = B_(n-1)^(m, n-1) + (B_(n-1)^(m+1, n-1) + B_(n-1)^(m-1, n-1))/2,
 * and that of -m, -l is (-1)^(m+l) times that of m, l. */
struct swap_matrix {
    double b[2 * ORDERS_MOST + 1][2 * ORDERS_MOST + 1]; /* [n + m][n + l] of one rank */
};

static double entry(const struct swap_matrix *b, int n, int m, int l)
{
    return m < -n || m > n || l < -n || l > n ? 0 : b->b[n + m][n + l];
}

static void next_matrix(const struct swap_matrix *b, int n, struct swap_matrix *next)
{
    for (int m = -n; m <= n; m++)
        for (int l = 1 - n; l <= n; l++)
            next->b[n + m][n + l] =
                l < n ? (entry(b, n - 1, m - 1, l) - entry(b, n - 1, m + 1, l)) / 2
                      : entry(b, n - 1, m, l - 1) + (entry(b, n - 1, m + 1, l - 1) + entry(b, n - 1, m - 1, l - 1)) / 2;
    for (int m = -n; m <= n; m++) next->b[n + m][0] = ((m + n) % 2 ? -1 : 1) * next->b[n - m][2 * n];
}

/* Number l of 0 to n gives this to number m: real parts to real ones where n + m + l is even, imaginary ones to
 * imaginary ones where it is odd; all else vanishes. Moments take B, expansions about targets its transpose, since
 * psi = sum Y* F is to stay. */
static double of_both_signs(const struct swap_matrix *b, int n, int m, int l, int is_local)
{
    const double one = is_local ? entry(b, n, l, m) : entry(b, n, m, l), other = l == 0     ? 0
                                                                                 : is_local ? entry(b, n, -l, m)
                                                                                            : entry(b, n, m, -l);
    const int sign = (l % 2 ? -1 : 1) * ((n + m + l) % 2 ? -1 : 1);
    return one + sign * other;
}

void orders_fill_swap(struct orders_swap *swap, int order)
{
    struct swap_matrix b[2] = {{{{1}}}};
    for (int n = 0; n <= order; n++) {
        const struct swap_matrix *now = &b[n % 2];
        if (n > 0) next_matrix(&b[(n + 1) % 2], n, &b[n % 2]);
        for (int l = 0; l <= n; l++)
            for (int m = 0; m <= n; m++) {
                const int to = squares_below(n) + l * (n + 1) + m;
                swap->of_moments[to] = of_both_signs(now, n, m, l, 0);
                swap->of_locals[to] = of_both_signs(now, n, m, l, 1);
            }
    }
}

/* Sums of even n + l have real parts at even m and imaginary ones at odd m, the others the other way round. */
static void exchange_rank(const double *matrix, int n, double *re, double *im)
{
    double sum[2][ORDERS_MOST + 2] = {{0}};
    for (int l = 0; l <= n; l++, matrix += n + 1) {
        double *to = sum[(n + l) % 2];
        const double even = (n + l) % 2 ? im[l] : re[l], odd = (n + l) % 2 ? re[l] : im[l];
        int m = 0;
        for (; m < n; m += 2) {
            to[m] += even * matrix[m];
            to[m + 1] += odd * matrix[m + 1];
        }
        if (m == n) to[m] += even * matrix[m];
    }
    for (int m = 0; m <= n; m++) {
        re[m] = sum[m % 2][m];
        im[m] = sum[1 - m % 2][m];
    }
}

static void exchange(const double *matrix, int order, struct parts *t)
{
    for (int n = 0; n <= order; n++)
        exchange_rank(matrix + squares_below(n), n, t->re + place(n, 0), t->im + place(n, 0));
}

/* A vector that is to be the z axis: cos and sin of m times the angles of the two turns about z. */
struct turn {
    double azimuth[2][ORDERS_MOST + 1], polar[2][ORDERS_MOST + 1], r;
};

static void multiples(double c, double s, int order, double power[2][ORDERS_MOST + 1])
{
    power[0][0] = 1;
    power[1][0] = 0;
    for (int m = 1; m <= order; m++) {
        power[0][m] = c * power[0][m - 1] - s * power[1][m - 1];
        power[1][m] = c * power[1][m - 1] + s * power[0][m - 1];
    }
}

static void find_turn(const double x[3], int order, struct turn *t)
{
    const double rho = hypot(x[0], x[1]);
    t->r = hypot(rho, x[2]);
    multiples(rho > 0 ? x[1] / rho : 0, rho > 0 ? x[0] / rho : 1, order, t->azimuth); /* to the plane x = 0 */
    multiples(t->r > 0 ? x[2] / t->r : 1, t->r > 0 ? -rho / t->r : 0, order, t->polar);
}

static void turn_about_z(const double power[2][ORDERS_MOST + 1], double sign, int order, struct parts *t)
{
    for (int n = 1; n <= order; n++)
        for (int m = 1; m <= n; m++) {
            const double c = power[0][m], s = sign * power[1][m];
            double *re = &t->re[place(n, m)], *im = &t->im[place(n, m)];
            const double old = *re;
            *re = c * old - s * *im;
            *im = s * old + c * *im;
        }
}

/* About z until the vector is in the plane x = 0; x and z exchanged, it is in the plane z = 0; about z until it is the
 * x axis; exchanged again, it is the z axis. */
static void turn_to_axis(const double *matrix, const struct turn *turn, int order, struct parts *t)
{
    turn_about_z(turn->azimuth, 1, order, t);
    exchange(matrix, order, t);
    turn_about_z(turn->polar, 1, order, t);
    exchange(matrix, order, t);
}

static void turn_back(const double *matrix, const struct turn *turn, int order, struct parts *t)
{
    exchange(matrix, order, t);
    turn_about_z(turn->polar, -1, order, t);
    exchange(matrix, order, t);
    turn_about_z(turn->azimuth, -1, order, t);
}

/* ---- calls */

static void add_body(const struct orders_kernel *k, double mass, const double s[3], double *moment)
{
    struct parts y;
    regular(s, k->order, &y);
    give(&y, k->order, mass, moment);
}

/* Along the axis by d: of rank n from those of ranks n - k, or n + k. */
static void move_on_axis(struct parts *t, int order, double d, int is_up)
{
    double power[ORDERS_MOST + 1] = {1};
    for (int n = 1; n <= order; n++) power[n] = power[n - 1] * d / n;
    for (int m = 0; m <= order; m++)
        for (int step = m; step <= order; step++) {
            const int n = is_up ? order + m - step : step, terms = is_up ? n - m : order - n;
            double re = t->re[place(n, m)], im = t->im[place(n, m)];
            for (int k = 1; k <= terms; k++) {
                const int from = place(is_up ? n - k : n + k, m);
                re += power[k] * t->re[from];
                im += power[k] * t->im[from];
            }
            t->re[place(n, m)] = re;
            t->im[place(n, m)] = im;
        }
}

static void move_moments(const struct orders_kernel *k, const double *moment, const double d[3], double *to)
{
    struct parts t;
    struct turn turn;
    take(moment, k->order, &t);
    find_turn(d, k->order, &turn);
    turn_to_axis(k->swap.of_moments, &turn, k->order, &t);
    move_on_axis(&t, k->order, turn.r, 1);
    turn_back(k->swap.of_moments, &turn, k->order, &t);
    give(&t, k->order, 1, to);
}

static void move_local(const struct orders_kernel *k, const double *local, const double d[3], double *to)
{
    struct parts t;
    struct turn turn;
    take(local, k->order, &t);
    find_turn(d, k->order, &turn);
    turn_to_axis(k->swap.of_locals, &turn, k->order, &t);
    move_on_axis(&t, k->order, turn.r, 0);
    turn_back(k->swap.of_locals, &turn, k->order, &t);
    give(&t, k->order, 1, to);
}

/* Z_n^0 = n!/r^(n+1) alone, and M*^-m = (-1)^m M^m. */
static void cross_on_axis(const struct parts *t, int order, double r, struct parts *f)
{
    double z[ORDERS_MOST + 1] = {1 / r};
    for (int n = 1; n <= order; n++) z[n] = z[n - 1] * n / r;
    for (int n = 0; n <= order; n++)
        for (int m = 0; m <= n; m++) {
            const double sign = (n + m) % 2 ? -1 : 1;
            double re = 0, im = 0;
            for (int k = m; n + k <= order; k++) {
                re += z[n + k] * t->re[place(k, m)];
                im += z[n + k] * t->im[place(k, m)];
            }
            f->re[place(n, m)] = sign * re;
            f->im[place(n, m)] = sign * im;
        }
}

static void cell_on_cell(const struct orders_kernel *k, const double *moment, const double x[3], double *local)
{
    struct parts t, f;
    struct turn turn;
    take(moment, k->order, &t);
    find_turn(x, k->order, &turn);
    turn_to_axis(k->swap.of_moments, &turn, k->order, &t);
    cross_on_axis(&t, k->order, turn.r, &f);
    turn_back(k->swap.of_locals, &turn, k->order, &f);
    give(&f, k->order, 1, local);
}

static void body_on_cell(const struct orders_kernel *k, double mass, const double x[3], double *local)
{
    struct parts z;
    irregular(x, k->order, &z);
    for (int n = 1; n <= k->order; n += 2)
        for (int m = 0; m <= n; m++) {
            z.re[place(n, m)] = -z.re[place(n, m)];
            z.im[place(n, m)] = -z.im[place(n, m)];
        }
    give(&z, k->order, mass, local);
}

/* psi(x + h) = sum M* (Z_k^l - sum Y*_1^m(h) Z_(k+1)^(l+m)), and Y*_1(h) are h_z and (h_x - i h_y)/2. */
static void cell_on_body(const struct orders_kernel *k, const double *moment, const double x[3], double field[4])
{
    struct parts m, z;
    double sum[3] = {0};
    take(moment, k->order, &m);
    irregular(x, k->order + 1, &z);
    for (int n = 0; n <= k->order; n++) {
        contract_next(&m, &z, n, sum);
        field[3] += contract(&m, &z, n);
    }
    for (int c = 0; c < 3; c++) field[c] -= sum[c];
}

static void local_on_body(const struct orders_kernel *k, const double *local, const double y[3], double field[4])
{
    struct parts f, at;
    take(local, k->order, &f);
    regular(y, k->order, &at);
    for (int n = 0; n <= k->order; n++) {
        if (n < k->order) contract_next(&at, &f, n, field);
        field[3] += contract(&at, &f, n);
    }
}

const struct orders_basis orders_harmonics = {.name = "harmonics",
                                              .length = length,
                                              .add_body = add_body,
                                              .move_moments = move_moments,
                                              .cell_on_body = cell_on_body,
                                              .cell_on_cell = cell_on_cell,
                                              .body_on_cell = body_on_cell,
                                              .move_local = move_local,
                                              .local_on_body = local_on_body};
