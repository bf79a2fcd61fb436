#include "tests/support/all_stars.h"

#include <math.h>
#include <string.h>

typedef long double real;

enum { SIZE = 6 * (ALL_STARS_MOST + 1), COLUMNS = 8 };

/* A galaxy in N-body units. Linear fields (KZ(14) = 1, 2) have t_x, t_z and c alone. */
struct galaxy {
    int has_orbit;
    real t_x, t_z, c;
    real point, bulge, bulge_length, bulge_slope, disk, disk_length, disk_height, halo_v2, halo_r2;
    real cut_bulge, cut_length, nfw, nfw_length; /* of the Milky Way */
    real gas, gas_r2, gas_rate, gas_delay;
    int leaving;
};

/* M(r)/M of a density r^-1.8 exp(-(r/l)^2): the incomplete gamma function of 0.6, by its series of positive terms. */
static real cut_bulge_share(real u)
{
    real term = 1 / 0.6L, sum = term;
    for (int k = 1; k < 2000 && term > sum * 1e-22L; k++) {
        term *= u / (0.6L + k);
        sum += term;
    }
    return powl(u, 0.6L) * expl(-u) * sum / tgammal(0.6L);
}

static real enclosed(const struct galaxy *g, real r)
{
    real m = g->point;
    if (g->bulge > 0) m += g->bulge * powl(r / (r + g->bulge_length), 3 - g->bulge_slope);
    if (g->cut_bulge > 0) m += g->cut_bulge * cut_bulge_share(r * r / (g->cut_length * g->cut_length));
    if (g->nfw > 0) m += g->nfw * (logl(1 + r / g->nfw_length) - r / (r + g->nfw_length));
    return m;
}

static void add_galaxy(const struct galaxy *g, const real x[3], real acc[3])
{
    const real r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], r = sqrtl(r2);
    const real f = enclosed(g, r) / (r * r2) + (g->halo_v2 > 0 ? g->halo_v2 / (r2 + g->halo_r2) : 0);
    for (int k = 0; k < 3; k++) acc[k] -= f * x[k];
    if (!(g->disk > 0)) return;
    const real s = sqrtl(x[2] * x[2] + g->disk_height * g->disk_height), u = g->disk_length + s;
    const real d2 = x[0] * x[0] + x[1] * x[1] + u * u, d = g->disk / (d2 * sqrtl(d2));
    acc[0] -= d * x[0];
    acc[1] -= d * x[1];
    acc[2] -= d * x[2] * u / s;
}

static real circular_v2(const struct galaxy *g, real r)
{
    const real x[3] = {r, 0, 0};
    real acc[3] = {0, 0, 0};
    add_galaxy(g, x, acc);
    return -acc[0] * r;
}

static void set_parts(const struct nb6_tide_config *t, real kpc, real mass, real speed, struct galaxy *g)
{
    g->has_orbit = 1;
    g->point = t->galaxy_mass_msun / mass;
    g->disk = t->disk_mass_msun / mass;
    g->disk_length = t->disk_length_kpc * kpc;
    g->disk_height = t->disk_height_kpc * kpc;
    g->bulge = t->bulge_mass_msun / mass;
    g->bulge_length = t->bulge_length_kpc * kpc;
    g->bulge_slope = t->bulge_slope;
    if (!(t->halo_velocity_kms > 0)) return;
    const real r = t->halo_radius_kpc * kpc, v2 = t->halo_velocity_kms * t->halo_velocity_kms / (speed * speed);
    const real others = circular_v2(g, r);
    g->halo_v2 = v2;
    g->halo_r2 = r * r * others / (v2 - others);
}

/* Bovy 2015: shares of v^2 at 8 kpc. */
static void set_milky_way(real kpc, real speed, struct galaxy *g)
{
    const real v2 = 220.0L * 220 / (speed * speed), r = 8 * kpc;
    struct galaxy alone[3];
    g->has_orbit = 1;
    g->cut_length = 1.9L * kpc;
    g->disk_length = 3 * kpc;
    g->disk_height = 0.28L * kpc;
    g->nfw_length = 16 * kpc;
    for (int k = 0; k < 3; k++) alone[k] = *g;
    alone[0].cut_bulge = alone[1].disk = alone[2].nfw = 1;
    g->cut_bulge = 0.05L * v2 / circular_v2(&alone[0], r);
    g->disk = 0.6L * v2 / circular_v2(&alone[1], r);
    g->nfw = 0.35L * v2 / circular_v2(&alone[2], r);
}

static void set_linear(const struct nb6_tide_config *t, real length, real mass, real speed, struct galaxy *g)
{
    const real pi = 3.14159265358979323846264338327950288L;
    if (t->kind == NB6_TIDE_SOLAR) {
        const real a = 14.4L * length / 1000 / speed, b = -12.0L * length / 1000 / speed;
        g->t_x = 4 * a * (a - b);
        g->t_z = -(4 * pi * 0.11L * length * length * length / mass + 2 * (a * a - b * b));
        g->c = 2 * (a - b);
    } else {
        const real r = 1000 * t->galaxy_distance_kpc / length, w2 = t->galaxy_mass_msun / mass / (r * r * r);
        g->t_x = 3 * w2;
        g->t_z = -w2;
        g->c = 2 * sqrtl(w2);
    }
}

static struct galaxy galaxy_of(const struct nb6_tide_config *t, const struct nb6_units *u)
{
    const real kpc = 1000 / (real)u->length_pc, mass = u->mass_msun, speed = u->velocity_kms;
    struct galaxy g = {0};
    if (t->kind == NB6_TIDE_SOLAR || t->kind == NB6_TIDE_POINT_MASS) set_linear(t, u->length_pc, mass, speed, &g);
    if (t->kind == NB6_TIDE_GALAXY) set_parts(t, kpc, mass, speed, &g);
    if (t->kind == NB6_TIDE_MILKY_WAY) set_milky_way(kpc, speed, &g);
    if (t->kind == NB6_TIDE_GALAXY || t->kind == NB6_TIDE_GAS) {
        g.gas = t->gas_mass;
        g.gas_r2 = (real)t->gas_length * t->gas_length;
        g.gas_rate = t->gas_rate;
        g.gas_delay = t->gas_delay;
    }
    return g;
}

/* ---- equations of motion: places and then velocities of the stars, seen from the frame, and last of the frame */

struct system {
    struct galaxy galaxy;
    int n;
    const double *mass;
};

static void add_stars(const struct system *s, const real *x, real *acc)
{
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < i; j++) {
            real d[3], r2 = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = x[3 * j + k] - x[3 * i + k];
                r2 += d[k] * d[k];
            }
            const real w = 1 / (r2 * sqrtl(r2));
            for (int k = 0; k < 3; k++) {
                acc[3 * i + k] += s->mass[j] * w * d[k];
                acc[3 * j + k] -= s->mass[i] * w * d[k];
            }
        }
}

static void add_gas(const struct galaxy *g, real t, const real x[3], real acc[3])
{
    const real r2 = g->gas_r2 + x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    const real m = g->gas / (g->leaving ? 1 + g->gas_rate * (t - g->gas_delay) : 1);
    for (int k = 0; k < 3; k++) acc[k] -= m * x[k] / (r2 * sqrtl(r2));
}

static void slope(const struct system *s, real t, const real *y, real *dy)
{
    const struct galaxy *g = &s->galaxy;
    const int half = 3 * (s->n + 1);
    const real *frame = y + 3 * s->n;
    memcpy(dy, y + half, (size_t)half * sizeof *dy);
    memset(dy + half, 0, (size_t)half * sizeof *dy);
    add_stars(s, y, dy + half);
    real pull[3] = {0, 0, 0};
    if (g->has_orbit) add_galaxy(g, frame, pull);
    for (int k = 0; k < 3; k++) dy[half + 3 * s->n + k] = pull[k];
    for (int i = 0; i < s->n; i++) {
        const real *x = y + 3 * i, *v = x + half, there[3] = {x[0] + frame[0], x[1] + frame[1], x[2] + frame[2]};
        real *acc = dy + half + 3 * i;
        if (g->has_orbit) add_galaxy(g, there, acc);
        if (g->gas > 0) add_gas(g, t, x, acc);
        for (int k = 0; k < 3; k++) acc[k] -= pull[k];
        acc[0] += g->t_x * x[0] + g->c * v[1];
        acc[1] -= g->c * v[0];
        acc[2] += g->t_z * x[2];
    }
}

/* ---- steps */

/* A step adds these to y: sums of small numbers, which rounding of y itself does not touch before extrapolation makes
 * it ten thousand times as large. */
static void midpoint(const struct system *s, real t, real h, int parts, const real *y, real *added)
{
    const int size = 6 * (s->n + 1);
    const real step = h / parts;
    real before[SIZE], now[SIZE], at[SIZE], dy[SIZE];
    slope(s, t, y, dy);
    for (int c = 0; c < size; c++) {
        before[c] = 0;
        now[c] = step * dy[c];
    }
    for (int m = 1; m <= parts; m++) {
        for (int c = 0; c < size; c++) at[c] = y[c] + now[c];
        slope(s, t + m * step, at, dy);
        for (int c = 0; c < size; c++) {
            const real next = m < parts ? before[c] + 2 * step * dy[c] : (before[c] + now[c] + step * dy[c]) / 2;
            before[c] = now[c];
            now[c] = next;
        }
    }
    memcpy(added, now, (size_t)size * sizeof *added);
}

/* Largest error of a star, by the distance and the velocity of the nearest other one. */
static real error_of(const struct system *s, const real *y, const real *a, const real *b)
{
    const int half = 3 * (s->n + 1);
    real worst = 0;
    for (int i = 0; i < s->n; i++) {
        real least = 1, speed = 1, dx = 0, dv = 0;
        for (int j = 0; j < s->n; j++) {
            real r = 0, v = 0;
            for (int k = 0; k < 3 && j != i; k++) {
                r += powl(y[3 * j + k] - y[3 * i + k], 2);
                v += powl(y[half + 3 * j + k] - y[half + 3 * i + k], 2);
            }
            if (j == i || sqrtl(r) > least) continue;
            least = sqrtl(r);
            speed = fmaxl(sqrtl(v), 1e-3L);
        }
        for (int k = 0; k < 3; k++) {
            dx = fmaxl(dx, fabsl(a[3 * i + k] - b[3 * i + k]));
            dv = fmaxl(dv, fabsl(a[half + 3 * i + k] - b[half + 3 * i + k]));
        }
        worst = fmaxl(worst, fmaxl(dx / least, dv / speed));
    }
    return worst;
}

static real try_step(const struct system *s, real t, real h, const real *y, real *out)
{
    static _Thread_local real row[COLUMNS][SIZE];
    const int size = 6 * (s->n + 1);
    real last[SIZE];
    for (int m = 0; m < COLUMNS; m++) {
        midpoint(s, t, h, 2 * (m + 1), y, row[m]);
        memcpy(last, row[0], sizeof last);
        for (int k = m - 1; k >= 0; k--) {
            const real ratio = (real)(m + 1) / (k + 1), w = 1 / (ratio * ratio - 1);
            for (int c = 0; c < size; c++) row[k][c] = row[k + 1][c] + w * (row[k + 1][c] - row[k][c]);
        }
    }
    for (int c = 0; c < size; c++) out[c] = y[c] + row[0][c];
    return error_of(s, y, row[0], last);
}

static void advance(const struct system *s, real t, real t_end, real tolerance, real *y)
{
    real h = 1e-3L, out[SIZE];
    while (t < t_end) {
        const int ends = t + h >= t_end;
        const real step = ends ? t_end - t : h, error = try_step(s, t, step, y, out);
        const real factor = fminl(fmaxl(0.8L * powl(tolerance / (error + 1e-30L), 1.0L / 15), 0.2L), 2);
        if (error <= tolerance) {
            memcpy(y, out, sizeof out);
            t = ends ? t_end : t + step;
            if (!ends || factor < 1) h = factor * step;
        } else {
            h = fminl(factor, 0.8L) * step;
        }
    }
}

void all_stars_integrate(const struct nb6_tide_config *tide, const struct nb6_units *units, double t, double tolerance,
                         int n, const double *mass, double (*x)[3], double (*v)[3])
{
    struct system s = {galaxy_of(tide, units), n, mass};
    const int half = 3 * (n + 1);
    real y[SIZE] = {0};
    for (int k = 0; k < 3 && s.galaxy.has_orbit; k++) {
        y[3 * n + k] = 1000 * (real)tide->position_kpc[k] / units->length_pc;
        y[half + 3 * n + k] = tide->velocity_kms[k] / (real)units->velocity_kms;
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            y[3 * i + k] = x[i][k];
            y[half + 3 * i + k] = v[i][k];
        }
    const int leaves = s.galaxy.gas > 0 && s.galaxy.gas_rate > 0 && s.galaxy.gas_delay < t;
    const real begin = leaves ? s.galaxy.gas_delay : t;
    advance(&s, 0, begin, tolerance, y);
    s.galaxy.leaving = 1;
    advance(&s, begin, t, tolerance, y);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            x[i][k] = (double)y[3 * i + k];
            v[i][k] = (double)y[half + 3 * i + k];
        }
}
