/* Moments are (-1)^n sum m s^a/a!, expansions about targets are derivatives L_a of the potential: with the derivatives
 * D_a of (x^2 + e^2)^(-1/2), psi(x) = sum M_a D_a(x), L_b = sum M_a D_(a+b)(x) and psi(y) = sum L_a y^a/a!. */
#include "bench/orders/basis.h"
#include "gpunb/tree/tensor.h"

#include <math.h>

enum { MOST_DERIVATIVES = (ORDERS_MOST + 2) * (ORDERS_MOST + 3) * (ORDERS_MOST + 4) / 6 };

static int length(int order)
{
    return tree_components_below(order + 1);
}

static int at(int a, int b, int c)
{
    return tree_components_below(a + b + c) + tree_place(b, c);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- derivatives */

/* One of rank n, from those of the last two ranks. psi(x + h)^-2 = R^2 + 2 x h + h^2 has the differential equation
 * (R^2 + 2 x h + h^2) h grad psi = -(x h + h^2) psi in h, whose coefficients are
 *     n R^2 D_a + (2n - 1) sum_i a_i x_i D_(a - i) + (n - 1) sum_i a_i (a_i - 1) D_(a - 2i) = 0. */
static double derivative(const double x[3], const double *one, const double *two, int a, int b, int c, double f1,
                         double f2)
{
    const int i = b + c;
    double s = 0, t = 0;
    if (a > 0) s += a * x[0] * one[i * (i + 1) / 2 + c];
    if (b > 0) s += b * x[1] * one[tree_place(b - 1, c)];
    if (c > 0) s += c * x[2] * one[tree_place(b, c - 1)];
    if (a > 1) t += a * (a - 1) * two[i * (i + 1) / 2 + c];
    if (b > 1) t += b * (b - 1) * two[tree_place(b - 2, c)];
    if (c > 1) t += c * (c - 1) * two[tree_place(b, c - 2)];
    return f1 * s + f2 * t;
}

static void derivatives(const double x[3], double softening2, int rank, double *d)
{
    const double per = 1 / (dot(x, x) + softening2);
    d[0] = sqrt(per);
    for (int n = 1; n <= rank; n++) {
        const double *one = d + tree_components_below(n - 1), *two = n > 1 ? d + tree_components_below(n - 2) : NULL;
        const double f1 = (1 - 2 * n) * per / n, f2 = (1 - n) * per / n;
        double *now = d + tree_components_below(n);
        for (int i = 0; i <= n; i++)
            for (int c = 0; c <= i; c++) *now++ = derivative(x, one, two, n - i, i - c, c, f1, f2);
    }
}

/* x^a/a! of all ranks. */
static void products(const double x[3], int rank, double *v)
{
    double part[3][ORDERS_MOST + 1];
    for (int k = 0; k < 3; k++) {
        part[k][0] = 1;
        for (int n = 1; n <= rank; n++) part[k][n] = part[k][n - 1] * x[k] / n;
    }
    for (int n = 0; n <= rank; n++)
        for (int i = 0; i <= n; i++)
            for (int c = 0; c <= i; c++) *v++ = part[0][n - i] * part[1][i - c] * part[2][c];
}

/* The sum over all ranks of t_a u_a, and those of t_a u_(a + i). */
static void contract(const double *t, int rank, const double *u, double sum[3])
{
    for (int n = 0; n <= rank; n++) {
        const double *next = u + tree_components_below(n + 1);
        for (int i = 0; i <= n; i++)
            for (int c = 0; c <= i; c++, t++) {
                const int here = i * (i + 1) / 2 + c, more = (i + 1) * (i + 2) / 2 + c;
                sum[0] += *t * next[here];
                sum[1] += *t * next[more];
                sum[2] += *t * next[more + 1];
            }
    }
}

static double contract_all(const double *t, int rank, const double *u)
{
    double sum = 0;
    for (int k = 0; k < length(rank); k++) sum += t[k] * u[k];
    return sum;
}

/* ---- moments */

static void add_body(const struct orders_kernel *k, double mass, const double s[3], double *moment)
{
    double v[ORDERS_MOST_LENGTH];
    const double minus[3] = {-s[0], -s[1], -s[2]};
    products(minus, k->order, v);
    for (int a = 0; a < length(k->order); a++) moment[a] += mass * v[a];
}

/* Along each axis in turn, components of which are those with k fewer indices times d^k/k!: towards higher ranks for
 * moments, towards lower ones for expansions about targets. */
static void move_along(double *t, int order, int axis, double d, int is_up)
{
    double power[ORDERS_MOST + 1] = {1};
    int e[3];
    for (int n = 1; n <= order; n++) power[n] = power[n - 1] * d / n;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (e[u] = 0; e[u] <= order; e[u]++)
        for (e[v] = 0; e[u] + e[v] <= order; e[v]++) {
            const int most = order - e[u] - e[v];
            int place[ORDERS_MOST + 1];
            for (e[axis] = 0; e[axis] <= most; e[axis]++) place[e[axis]] = at(e[0], e[1], e[2]);
            for (int turn = 0; turn <= most; turn++) {
                const int a = is_up ? most - turn : turn, terms = is_up ? a : most - a;
                double sum = t[place[a]];
                for (int n = 1; n <= terms; n++) sum += power[n] * t[place[is_up ? a - n : a + n]];
                t[place[a]] = sum;
            }
        }
}

static void move(const double *from, int order, const double d[3], int is_up, double *to)
{
    double t[ORDERS_MOST_LENGTH];
    for (int a = 0; a < length(order); a++) t[a] = from[a];
    for (int axis = 0; axis < 3; axis++) move_along(t, order, axis, d[axis], is_up);
    for (int a = 0; a < length(order); a++) to[a] += t[a];
}

static void move_moments(const struct orders_kernel *k, const double *moment, const double d[3], double *to)
{
    const double minus[3] = {-d[0], -d[1], -d[2]};
    move(moment, k->order, minus, 1, to);
}

/* ---- on bodies and cells */

static void cell_on_body(const struct orders_kernel *k, const double *moment, const double x[3], double field[4])
{
    double d[MOST_DERIVATIVES];
    derivatives(x, k->softening2, k->order + 1, d);
    contract(moment, k->order, d, field);
    field[3] += contract_all(moment, k->order, d);
}

/* The components b of rank n2 of a product with one moment, whose indices have i1 = b1 + c1: those of D follow each
 * other as those of L do. */
static void add_product(double moment, const double *d, int n2, int i1, int c1, double *local)
{
    for (int i2 = 0; i2 <= n2; i2++) {
        const int i = i1 + i2;
        const double *from = d + i * (i + 1) / 2 + c1;
        double *to = local + i2 * (i2 + 1) / 2;
        for (int c2 = 0; c2 <= i2; c2++) to[c2] += moment * from[c2];
    }
}

static void cell_on_cell(const struct orders_kernel *k, const double *moment, const double x[3], double *local)
{
    double d[MOST_DERIVATIVES];
    derivatives(x, k->softening2, k->order, d);
    for (int n1 = 0; n1 <= k->order; n1++)
        for (int i1 = 0; i1 <= n1; i1++)
            for (int c1 = 0; c1 <= i1; c1++, moment++)
                for (int n2 = 0; n1 + n2 <= k->order; n2++)
                    add_product(*moment, d + tree_components_below(n1 + n2), n2, i1, c1,
                                local + tree_components_below(n2));
}

static void body_on_cell(const struct orders_kernel *k, double mass, const double x[3], double *local)
{
    double d[MOST_DERIVATIVES];
    derivatives(x, k->softening2, k->order, d);
    for (int a = 0; a < length(k->order); a++) local[a] += mass * d[a];
}

static void move_local(const struct orders_kernel *k, const double *local, const double d[3], double *to)
{
    move(local, k->order, d, 0, to);
}

static void local_on_body(const struct orders_kernel *k, const double *local, const double y[3], double field[4])
{
    double v[ORDERS_MOST_LENGTH];
    products(y, k->order, v);
    contract(v, k->order - 1, local, field);
    field[3] += contract_all(local, k->order, v);
}

const struct orders_basis orders_tensors = {.name = "tensors",
                                            .has_softening = 1,
                                            .length = length,
                                            .add_body = add_body,
                                            .move_moments = move_moments,
                                            .cell_on_body = cell_on_body,
                                            .cell_on_cell = cell_on_cell,
                                            .body_on_cell = body_on_cell,
                                            .move_local = move_local,
                                            .local_on_body = local_on_body};
