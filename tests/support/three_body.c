#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/three_body.h"

enum { COLUMNS = 10, NUMBERS = 18 };

/* Accelerations, and jerks if j is given. */
static void forces(const struct three_body *s, long double a[3][3], long double j[3][3])
{
    memset(a, 0, 9 * sizeof(long double));
    if (j) memset(j, 0, 9 * sizeof(long double));
    for (int p = 0; p < 3; p++) {
        for (int q = p + 1; q < 3; q++) {
            long double d[3], w[3], r2 = 0, rv = 0;
            for (int i = 0; i < 3; i++) {
                d[i] = s->x[q][i] - s->x[p][i];
                w[i] = s->v[q][i] - s->v[p][i];
                r2 += d[i] * d[i];
                rv += d[i] * w[i];
            }
            long double f = 1 / (r2 * sqrtl(r2));
            for (int i = 0; i < 3; i++) {
                a[p][i] += s->mass[q] * f * d[i];
                a[q][i] -= s->mass[p] * f * d[i];
                if (!j) continue;
                long double jerk = f * (w[i] - 3 * rv / r2 * d[i]);
                j[p][i] += s->mass[q] * jerk;
                j[q][i] -= s->mass[p] * jerk;
            }
        }
    }
}

static void pack(const struct three_body *s, long double y[NUMBERS])
{
    memcpy(y, s->x, sizeof s->x);
    memcpy(y + 9, s->v, sizeof s->v);
}

static void unpack(const long double y[NUMBERS], struct three_body *s)
{
    memcpy(s->x, y, sizeof s->x);
    memcpy(s->v, y + 9, sizeof s->v);
}

static void slope(const struct three_body *masses, const long double y[NUMBERS], long double yp[NUMBERS])
{
    struct three_body s = *masses;
    long double a[3][3];
    unpack(y, &s);
    forces(&s, a, NULL);
    memcpy(yp, s.v, sizeof s.v);
    memcpy(yp + 9, a, sizeof a);
}

/* Modified midpoint rule with n substeps. */
static void midpoint(const struct three_body *s, long double dt, int n, long double out[NUMBERS])
{
    long double h = dt / n, y0[NUMBERS], y1[NUMBERS], f[NUMBERS];
    pack(s, y0);
    slope(s, y0, f);
    for (int i = 0; i < NUMBERS; i++) y1[i] = y0[i] + h * f[i];
    for (int k = 1; k < n; k++) {
        slope(s, y1, f);
        for (int i = 0; i < NUMBERS; i++) {
            long double next = y0[i] + 2 * h * f[i];
            y0[i] = y1[i];
            y1[i] = next;
        }
    }
    slope(s, y1, f);
    for (int i = 0; i < NUMBERS; i++) out[i] = (y1[i] + y0[i] + h * f[i]) / 2;
}

/* One step with as many columns as it needs; 0 if it converged. */
static int extrapolated_step(struct three_body *s, long double dt)
{
    long double table[COLUMNS][NUMBERS];
    for (int k = 0; k < COLUMNS; k++) {
        long double previous[NUMBERS], error = 0;
        if (k) memcpy(previous, table[k - 1], sizeof previous);
        midpoint(s, dt, 2 * (k + 1), table[k]);
        for (int c = k - 1; c >= 0; c--) {
            long double ratio = (long double)(k + 1) / (c + 1);
            for (int i = 0; i < NUMBERS; i++)
                table[c][i] = table[c + 1][i] + (table[c + 1][i] - table[c][i]) / (ratio * ratio - 1);
        }
        if (k < 3) continue;
        for (int i = 0; i < NUMBERS; i++) error = fmaxl(error, fabsl(table[0][i] - table[1][i]));
        if (error < 1e-17L) {
            unpack(table[0], s);
            return 0;
        }
    }
    return 1;
}

int three_body_advance(struct three_body *s, long double dt)
{
    long double done = 0, step = dt;
    while (done < dt) {
        if (step > dt - done) step = dt - done;
        if (extrapolated_step(s, step)) {
            step /= 2;
            if (step < 1e-12L * dt) return 1;
        } else {
            done += step;
            step *= 1.5L;
        }
    }
    return 0;
}

static void conic(long double m, double a, double e, double anomaly, long double x[3], long double v[3])
{
    long double size = fabsl((long double)a), n = sqrtl(m / (size * size * size)),
                b = sqrtl(fabsl(1 - (long double)e * e));
    long double c = a > 0 ? cosl(anomaly) : coshl(anomaly), s = a > 0 ? sinl(anomaly) : sinhl(anomaly);
    long double rate = n / (a > 0 ? 1 - e * c : e * c - 1);
    x[0] = a > 0 ? size * (c - e) : size * (e - c);
    x[1] = size * b * s;
    x[2] = v[2] = 0;
    v[0] = -size * s * rate;
    v[1] = size * b * c * rate;
}

void three_body_hierarchy(struct three_body *s, const double mass[3], double a, double e, double a_out, double e_out,
                          double inclination, double anomaly)
{
    long double m = (long double)mass[0] + mass[1], total = m + mass[2], x[3], v[3], y[3], w[3];
    conic(m, a, e, 3.14159265358979323846, x, v);
    conic(total, a_out, e_out, anomaly, y, w);
    long double c = cosl(inclination), sn = sinl(inclination);
    y[2] = -sn * y[0];
    y[0] *= c;
    w[2] = -sn * w[0];
    w[0] *= c;
    for (int i = 0; i < 3; i++) {
        long double xc = -mass[2] / total * y[i], vc = -mass[2] / total * w[i];
        s->x[0][i] = xc + mass[1] / m * x[i];
        s->x[1][i] = xc - mass[0] / m * x[i];
        s->x[2][i] = xc + y[i];
        s->v[0][i] = vc + mass[1] / m * v[i];
        s->v[1][i] = vc - mass[0] / m * v[i];
        s->v[2][i] = vc + w[i];
    }
    for (int k = 0; k < 3; k++) s->mass[k] = mass[k];
}

void three_body_inner(const struct three_body *s, double x[3], double v[3])
{
    for (int i = 0; i < 3; i++) {
        x[i] = (double)(s->x[0][i] - s->x[1][i]);
        v[i] = (double)(s->v[0][i] - s->v[1][i]);
    }
}

long double three_body_binding(const struct three_body *s)
{
    long double r2 = 0, v2 = 0;
    for (int i = 0; i < 3; i++) {
        r2 += (s->x[0][i] - s->x[1][i]) * (s->x[0][i] - s->x[1][i]);
        v2 += (s->v[0][i] - s->v[1][i]) * (s->v[0][i] - s->v[1][i]);
    }
    return v2 / 2 - (s->mass[0] + s->mass[1]) / sqrtl(r2);
}

static void outer(const struct three_body *s, double d[4][3])
{
    long double a[3][3], j[3][3], w0 = s->mass[0] / (s->mass[0] + s->mass[1]), w1 = 1 - w0;
    forces(s, a, j);
    for (int i = 0; i < 3; i++) {
        d[0][i] = (double)(s->x[2][i] - w0 * s->x[0][i] - w1 * s->x[1][i]);
        d[1][i] = (double)(s->v[2][i] - w0 * s->v[0][i] - w1 * s->v[1][i]);
        d[2][i] = (double)(a[2][i] - w0 * a[0][i] - w1 * a[1][i]);
        d[3][i] = (double)(j[2][i] - w0 * j[0][i] - w1 * j[1][i]);
    }
}

int three_path_make(struct three_path *path, const struct three_body *begin, double dt, size_t n)
{
    *path = (struct three_path){.n = n, .dt = dt};
    path->states = malloc((n + 1) * sizeof *path->states);
    path->d = malloc((n + 1) * sizeof *path->d);
    if (!path->states || !path->d) return 1;
    struct three_body s = *begin;
    for (size_t k = 0; k <= n; k++) {
        if (k && three_body_advance(&s, dt)) return 1;
        path->states[k] = s;
        outer(&s, path->d[k]);
    }
    return 0;
}

void three_path_free(struct three_path *path)
{
    free(path->states);
    free(path->d);
    *path = (struct three_path){0};
}

int three_path_perturb(void *context, double t, double t_lo, const double x[3], const double xdot[3],
                       struct ks_perturbation *out)
{
    const struct three_path *path = context;
    double where = floor(t / path->dt);
    if (!(where >= 0 && t < ((double)path->n + 1) * path->dt)) return NBC_BAD_ARGUMENT;
    size_t k = where < (double)path->n ? (size_t)where : path->n - 1;
    double s = (t - (double)k * path->dt) + t_lo, h = path->dt, dx[1][3], dv[1][3];
    for (int i = 0; i < 3; i++) {
        const double *a = &path->d[k][0][i], *b = &path->d[k + 1][0][i];
        /* c4 .. c7 from what the Taylor series at the begin misses at the end */
        double r[4] = {b[0] - (a[0] + h * (a[3] + h * (a[6] / 2 + h * a[9] / 6))),
                       b[3] - (a[3] + h * (a[6] + h * a[9] / 2)), b[6] - (a[6] + h * a[9]), b[9] - a[9]};
        double e0 = r[0], e1 = r[1] * h, e2 = r[2] * h * h / 2, e3 = r[3] * h * h * h / 6, z = s / h;
        double c4 = 35 * e0 - 15 * e1 + 5 * e2 - e3, c5 = -84 * e0 + 39 * e1 - 14 * e2 + 3 * e3;
        double c6 = 70 * e0 - 34 * e1 + 13 * e2 - 3 * e3, c7 = -20 * e0 + 10 * e1 - 4 * e2 + e3;
        double z3 = z * z * z;
        dx[0][i] = a[0] + s * (a[3] + s * (a[6] / 2 + s * a[9] / 6)) + z3 * z * (c4 + z * (c5 + z * (c6 + z * c7)));
        dv[0][i] = a[3] + s * (a[6] + s * a[9] / 2) + z3 * (4 * c4 + z * (5 * c5 + z * (6 * c6 + z * 7 * c7))) / h;
    }
    double mass = (double)path->states[0].mass[2];
    ks_tide(path->pair, 1, &mass, dx, dv, x, xdot, out);
    return NBC_OK;
}
