/* The chain of Mikkola & Aarseth 1993: chain vectors and their momenta in KS variables, time transformed by
 * dt = ds/(T + U), marched by the modified midpoint rule (Gragg 1965).
 *
 * With p_k = W_(k-1) - W_k, R = L(Q) Q and P = 2 L^T(Q) W the new Hamiltonian is Gamma = (T - U - E)/(T + U), zero on
 * the path. T contains D_k W_k^2 = D_k P_k^2/(4 R_k), and U contains M_k/R_k: their sums are written with
 * s_k = D_k P_k^2/4 - M_k, which vanishes with R_k, so that the equations stay regular when a link shrinks to nothing.
 *
 * Variables: Q_k and P_k for each link, then time since the start of the step, energy E (of the slowed system), and
 * the position and velocity of the centre of mass. */
#include "regularization/chain_impl.h"

#include <string.h>

enum { STRIDE = 8, REST = 8 };

static int variables(int n)
{
    return STRIDE * (n - 1) + REST;
}

static int time_place(int n)
{
    return STRIDE * (n - 1);
}

static void groups(const struct chain_system *s, struct chain_groups *g)
{
    chain_groups_make(s, 4, g);
}

/* L(q) p, first three components; symmetric in q and p. */
static inline void ks_product(const double q[4], const double p[4], double out[3])
{
    out[0] = q[0] * p[0] - q[1] * p[1] - q[2] * p[2] + q[3] * p[3];
    out[1] = q[1] * p[0] + q[0] * p[1] - q[3] * p[2] - q[2] * p[3];
    out[2] = q[2] * p[0] + q[3] * p[1] + q[0] * p[2] + q[1] * p[3];
}

/* out += f L^T(q) c */
static inline void ks_add_transpose(const double q[4], const double c[3], double f, double out[4])
{
    out[0] += f * (q[0] * c[0] + q[1] * c[1] + q[2] * c[2]);
    out[1] += f * (-q[1] * c[0] + q[0] * c[1] + q[3] * c[2]);
    out[2] += f * (-q[2] * c[0] - q[3] * c[1] + q[0] * c[2]);
    out[3] += f * (q[3] * c[0] - q[2] * c[1] + q[1] * c[2]);
}

static inline double square(const double q[4])
{
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
}

/* Q with L(Q) Q = x, one of its components zero and none from a difference. */
static void ks_coordinates(const double x[3], double q[4])
{
    double r = chain_norm(x);
    memset(q, 0, 4 * sizeof *q);
    if (r == 0) return;
    if (x[0] >= 0) {
        q[0] = sqrt(0.5 * (r + x[0]));
        q[1] = 0.5 * x[1] / q[0];
        q[2] = 0.5 * x[2] / q[0];
    } else {
        q[1] = sqrt(0.5 * (r - x[0]));
        q[0] = 0.5 * x[1] / q[1];
        q[3] = 0.5 * x[2] / q[1];
    }
}

static void from_links(const struct chain_system *s, const struct chain_links *links, double *y)
{
    double v[CHAIN_MAX][3], w[3] = {0};
    chain_places(s, links->v, v);
    for (int k = 0; k < s->links; k++) {
        double *q = y + STRIDE * k;
        for (int c = 0; c < 3; c++) w[c] -= s->mass[k] * v[k][c];
        ks_coordinates(links->x[k], q);
        memset(q + 4, 0, 4 * sizeof *q);
        ks_add_transpose(q, w, 2, q + 4);
    }
}

static void to_links(const struct chain_system *s, const double *y, struct chain_links *links)
{
    double w[CHAIN_MAX + 1][3] = {{0}}; /* w[k + 1] is W_k; zero at both ends */
    for (int k = 0; k < s->links; k++) {
        const double *q = y + STRIDE * k;
        ks_product(q, q, links->x[k]);
        ks_product(q, q + 4, w[k + 1]);
        for (int c = 0; c < 3; c++) w[k + 1][c] *= 0.5 / square(q);
    }
    for (int k = 0; k < s->links; k++)
        for (int c = 0; c < 3; c++)
            links->v[k][c] = (w[k + 1][c] - w[k + 2][c]) / s->mass[k + 1] - (w[k][c] - w[k + 1][c]) / s->mass[k];
}

/* Potential of the pairs that are not links; force[k]: minus its derivative by chain vector k. */
static double distant_potential(const struct chain_system *s, const double x[][3], double force[][3])
{
    double u = 0;
    memset(force, 0, (size_t)s->links * sizeof *force);
    for (int i = 0; i + 2 < s->n; i++) {
        double r[3] = {x[i][0], x[i][1], x[i][2]};
        for (int j = i + 2; j < s->n; j++) {
            for (int c = 0; c < 3; c++) r[c] += x[j - 1][c];
            double inverse2 = 1 / chain_dot(r, r), part = s->pair[i][j] * sqrt(inverse2), f = part * inverse2;
            u += part;
            for (int k = i; k < j; k++)
                for (int c = 0; c < 3; c++) force[k][c] += f * r[c];
        }
    }
    return u;
}

/* d(kinetic energy)/dW_k without the part of W_k itself. */
static void cross_terms(const struct chain_system *s, const double w[][3], double cross[][3])
{
    for (int k = 0; k < s->links; k++) {
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            if (k > 0) sum += s->off1[k - 1] * w[k - 1][c];
            if (k > 1) sum += s->off2[k - 2] * w[k - 2][c];
            if (k + 1 < s->links) sum += s->off1[k] * w[k + 1][c];
            if (k + 2 < s->links) sum += s->off2[k] * w[k + 2][c];
            cross[k][c] = sum;
        }
    }
}

/* Velocities relative to the centre of mass from the momenta of the links. */
static void velocities(const struct chain_system *s, const double w[][3], double v[][3])
{
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < 3; c++) v[i][c] = ((i > 0 ? w[i - 1][c] : 0) - (i < s->links ? w[i][c] : 0)) / s->mass[i];
}

/* Velocities at which the slowed system moves: the relative motion of a slowed pair is 1/kappa of the real one. */
static void slow_velocities(const struct chain_system *s, double v[][3])
{
    for (int k = 0; k < s->links; k++) {
        if (s->kappa[k] == 1) continue;
        double away = (1 - 1 / s->kappa[k]) / (s->mass[k] + s->mass[k + 1]);
        for (int c = 0; c < 3; c++) {
            double relative = v[k + 1][c] - v[k][c];
            v[k][c] += away * s->mass[k + 1] * relative;
            v[k + 1][c] -= away * s->mass[k] * relative;
        }
    }
}

/* Forces from outside: P' and E' gain, the centre of mass is accelerated. */
static void add_external(struct chain_system *s, const double *y, const double x[][3], const double w[][3], double g,
                         double *f)
{
    const int rest = time_place(s->n);
    double place[CHAIN_MAX][3], v[CHAIN_MAX][3], acc[CHAIN_MAX][3], mean[3], dw[3] = {0}, power = 0;
    chain_places(s, x, place);
    velocities(s, w, v);
    chain_external(s, y[rest], y + rest + 2, (const double(*)[3])place, (const double(*)[3])v, acc, mean);
    slow_velocities(s, v);
    for (int i = 0; i < s->n; i++) power += s->mass[i] * chain_dot(v[i], acc[i]);
    for (int k = 0; k < s->links; k++) {
        for (int c = 0; c < 3; c++) dw[c] -= s->mass[k] * acc[k][c];
        ks_add_transpose(y + STRIDE * k, dw, 2 * g, f + STRIDE * k + 4);
    }
    f[rest + 1] = g * power;
    for (int c = 0; c < 3; c++) f[rest + 5 + c] = g * mean[c];
}

/* Everything that T, U and their derivatives share. */
struct parts {
    double x[CHAIN_LINKS][3], w[CHAIN_LINKS][3], force[CHAIN_LINKS][3], cross[CHAIN_LINKS][3];
    double inverse[CHAIN_LINKS], s[CHAIN_LINKS];
    double lagrangian, hamiltonian; /* T + U, T - U */
};

static void find_parts(const struct chain_system *s, const double *y, struct parts *p)
{
    double lagrangian = 0, hamiltonian = 0;
    for (int k = 0; k < s->links; k++) {
        const double *q = y + STRIDE * k, *momentum = q + 4;
        p->inverse[k] = 1 / square(q);
        ks_product(q, q, p->x[k]);
        ks_product(q, momentum, p->w[k]);
        for (int c = 0; c < 3; c++) p->w[k][c] *= 0.5 * p->inverse[k];
        p->s[k] = 0.25 * s->diag[k] * square(momentum) - s->pair[k][k + 1];
        hamiltonian += p->s[k] * p->inverse[k];
        lagrangian += (p->s[k] + 2 * s->pair[k][k + 1]) * p->inverse[k];
    }
    cross_terms(s, (const double(*)[3])p->w, p->cross);
    double distant = distant_potential(s, (const double(*)[3])p->x, p->force), cross = 0;
    for (int k = 0; k < s->links; k++) cross += 0.5 * chain_dot(p->w[k], p->cross[k]);
    p->lagrangian = lagrangian + cross + distant;
    p->hamiltonian = hamiltonian + cross - distant;
}

/* Canonical equations of Gamma, and t' = 1/(T + U). */
static void derivative(struct chain_system *s, const double *y, double *f)
{
    const int rest = time_place(s->n);
    struct parts p;
    find_parts(s, y, &p);
    double g = 1 / p.lagrangian, gamma = (p.hamiltonian - y[rest + 1]) * g;
    double by_t = g * (1 - gamma), by_u = g * (1 + gamma);
    for (int k = 0; k < s->links; k++) {
        const double *q = y + STRIDE * k, *momentum = q + 4;
        double *dq = f + STRIDE * k, *dp = dq + 4, half = 0.5 * p.inverse[k];
        double singular = p.s[k] - gamma * (p.s[k] + 2 * s->pair[k][k + 1]);
        double along = 2 * p.inverse[k] * (g * singular * p.inverse[k] + by_t * chain_dot(p.w[k], p.cross[k]));
        for (int i = 0; i < 4; i++) {
            dq[i] = by_t * s->diag[k] * half * momentum[i];
            dp[i] = along * q[i];
        }
        ks_add_transpose(q, p.cross[k], by_t * half, dq);
        ks_add_transpose(momentum, p.cross[k], -by_t * half, dp);
        ks_add_transpose(q, p.force[k], -2 * by_u, dp);
    }
    f[rest] = g;
    f[rest + 1] = 0;
    for (int c = 0; c < 3; c++) {
        f[rest + 2 + c] = g * y[rest + 5 + c];
        f[rest + 5 + c] = 0;
    }
    if (s->field || s->pn) add_external(s, y, (const double(*)[3])p.x, (const double(*)[3])p.w, g, f);
    s->evaluations++;
}

static double rate(struct chain_system *s, const double *y)
{
    struct parts p;
    find_parts(s, y, &p);
    return 1 / p.lagrangian;
}

static void begin(struct chain_system *s, const double *y, double *f)
{
    derivative(s, y, f);
}

/* Differences from the start are summed, not the variables themselves: they are smaller, and so are their rounding
 * errors. */
static void march(struct chain_system *s, const double *y, const double *f0, double h, int n, double *d)
{
    const int count = variables(s->n);
    const double part = h / n;
    double before[CHAIN_VARS], at[CHAIN_VARS], f[CHAIN_VARS];
    for (int i = 0; i < count; i++) {
        before[i] = 0;
        d[i] = part * f0[i];
    }
    for (int step = 1; step < n && !s->field_status; step++) {
        for (int i = 0; i < count; i++) at[i] = y[i] + d[i];
        derivative(s, at, f);
        for (int i = 0; i < count; i++) {
            double next = before[i] + 2 * part * f[i];
            before[i] = d[i];
            d[i] = next;
        }
    }
}

const struct chain_formulation chain_ks_formulation = {
    .variables = variables,
    .from_links = from_links,
    .to_links = to_links,
    .begin = begin,
    .march = march,
    .rate = rate,
    .groups = groups,
    .time = time_place,
    .period = 1.5,
};
