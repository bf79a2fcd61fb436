#include <float.h>
#include <math.h>

#include "regularization/kepler.h"

#define PI 3.14159265358979323846

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- The universal Kepler equation */

struct conic {
    double mass, r, sigma;
    double beta; /* -2h */
};

/* t(s) and its first two derivatives; c: Stumpff functions of beta s^2. */
static void time_of(const struct conic *k, double s, double c[KEPLER_STUMPFF_MAX + 1], double *t, double *r, double *rp)
{
    kepler_stumpff(k->beta * s * s, c);
    *t = s * (k->r * c[1] + s * (k->sigma * c[2] + s * k->mass * c[3]));
    *r = k->r * c[0] + s * (k->sigma * c[1] + s * k->mass * c[2]);
    *rp = k->sigma * c[0] + (k->mass - k->beta * k->r) * s * c[1];
}

/* Root of r s + sigma s^2/2 + mass s^3/6 = dt, for dt > 0: the parabola, and a guess for short arcs of all conics.
 * With w = s + sigma/mass the cubic is w^3 + 3 p w = 2 q. */
static double cubic_guess(const struct conic *k, double dt)
{
    double shift = k->sigma / k->mass;
    double p = 2.0 * k->r / k->mass - shift * shift;
    double q = 3.0 * dt / k->mass + shift * (3.0 * k->r / k->mass - shift * shift);
    double disc = q * q + p * p * p;
    if (disc < 0) return dt / k->r;
    double root = cbrt(fabs(q) + sqrt(disc));
    double w = root > 0 ? copysign(root - p / root, q) : 0.0;
    double s = w - shift;
    return s > 0 ? s : dt / k->r;
}

/* Guess from the eccentric anomaly (Danby 1988), for dt > 0. */
static double long_arc_guess(const struct conic *k, double dt)
{
    double b = sqrt(fabs(k->beta)), n = b * fabs(k->beta) / k->mass;
    double e_cos = 1.0 - k->r * k->beta / k->mass, e_sin = k->sigma * b / k->mass;
    if (k->beta > 0) {
        double e = hypot(e_cos, e_sin), ecc = atan2(e_sin, e_cos);
        double mean = ecc - e_sin + n * dt;
        return (mean + copysign(0.85 * e, sin(mean)) - ecc) / b;
    }
    double e = sqrt(fmax(1.0, (e_cos - e_sin) * (e_cos + e_sin)));
    double hyp = asinh(e_sin / e);
    double mean = e_sin - hyp + n * dt;
    return (copysign(log(2.0 * fabs(mean) / e + 1.8), mean) - hyp) / b;
}

/* Laguerre's iteration for t(s) = dt > 0 between lo = 0 and hi; a step that leaves the bracket is replaced by a
 * bisection. */
static int find_root(const struct conic *k, double dt, double *root)
{
    double c[KEPLER_STUMPFF_MAX + 1], t, r, rp;
    double s = cubic_guess(k, dt);
    if (fabs(k->beta) * s * s > 1.0) s = long_arc_guess(k, dt);
    if (!(s > 0) || !isfinite(s)) s = dt / k->r;
    double lo = 0, hi = s;
    for (int i = 0;; i++) {
        time_of(k, hi, c, &t, &r, &rp);
        if (!(t < dt)) break; /* NaN: beyond the range of numbers, which is too far */
        if (i == 2000) return NBC_INTERNAL;
        lo = hi;
        hi *= 2.0;
    }
    for (int i = 0; i < 200; i++) {
        time_of(k, s, c, &t, &r, &rp);
        double f = t - dt;
        if (f < 0)
            lo = s;
        else
            hi = s;
        double step = -5.0 * f / (r + sqrt(fabs(16.0 * r * r - 20.0 * f * rp)));
        double next = s + step;
        if (!(next > lo && next < hi)) next = f == 0 || fabs(step) <= DBL_EPSILON * s ? s : 0.5 * (lo + hi);
        double moved = fabs(next - s);
        s = next;
        if (moved <= 0.5 * DBL_EPSILON * s || hi - lo <= DBL_EPSILON * s) {
            *root = s;
            return NBC_OK;
        }
    }
    return NBC_INTERNAL;
}

int kepler_anomaly(double mass, double r, double sigma, double h, double dt, double *s, double *periods)
{
    if (!isfinite(mass) || !isfinite(r) || !isfinite(sigma) || !isfinite(h) || !isfinite(dt)) return NBC_NON_FINITE;
    if (mass <= 0 || r <= 0) return NBC_BAD_ARGUMENT;
    struct conic k = {mass, r, sigma, -2.0 * h};
    double whole = 0;
    if (k.beta > 0) {
        double period = 2.0 * PI * mass / (k.beta * sqrt(k.beta));
        double rest = remainder(dt, period);
        if (isfinite(period)) {
            whole = rint((dt - rest) / period);
            dt = rest;
        }
    }
    double found = 0;
    int backwards = dt < 0;
    if (backwards) k.sigma = -k.sigma; /* the same orbit run through the other way */
    int status = dt == 0 ? NBC_OK : find_root(&k, fabs(dt), &found);
    if (status) return status;
    *s = backwards ? -found : found;
    if (periods) *periods = whole;
    return NBC_OK;
}

/* The coefficient g of v0 in x = f x0 + g v0, of two expressions the one whose terms are smaller and cancel less. dt is
 * infinite if periods were taken off it: the rest is not known to its last digits. */
static double drift(double mass, double r0, double sigma, double s, double dt, const double *c)
{
    double path = s * r0 * c[1], bend = s * s * sigma * c[2], lag = s * s * s * mass * c[3];
    return fmax(fabs(dt), fabs(lag)) < fmax(fabs(path), fabs(bend)) ? dt - lag : path + bend;
}

int kepler_advance(double mass, double dt, double x[3], double v[3])
{
    double r0 = sqrt(dot(x, x)), sigma = dot(x, v), s, periods;
    double h = 0.5 * dot(v, v) - mass / r0;
    int status = r0 > 0 ? kepler_anomaly(mass, r0, sigma, h, dt, &s, &periods) : NBC_BAD_ARGUMENT;
    if (status) return status;

    double c[KEPLER_STUMPFF_MAX + 1];
    kepler_stumpff(-2.0 * h * s * s, c);
    double fall = mass * s * s * c[2];
    double f = 1.0 - fall / r0, g = drift(mass, r0, sigma, s, periods > 0 || periods < 0 ? INFINITY : dt, c);
    double xn[3], vn[3];
    for (int i = 0; i < 3; i++) xn[i] = f * x[i] + g * v[i];
    double r = sqrt(dot(xn, xn));
    double f_dot = -mass * s * c[1] / (r * r0), g_dot = 1.0 - fall / r;
    for (int i = 0; i < 3; i++) {
        vn[i] = f_dot * x[i] + g_dot * v[i];
        if (!isfinite(xn[i]) || !isfinite(vn[i])) return NBC_INTERNAL;
    }
    for (int i = 0; i < 3; i++) {
        x[i] = xn[i];
        v[i] = vn[i];
    }
    return NBC_OK;
}

/* ---- Elements */

/* Universal anomaly since the pericentre: sigma = mass e s c_1(beta s^2). */
static double anomaly_since_pericentre(double mass, double r, double sigma, double beta, double e)
{
    double b = sqrt(fabs(beta)), y = sigma / mass;
    if (b * fabs(y) < 1e-150) return beta > 0 && r * beta > mass ? PI / b : (e > 0 ? y / e : y);
    if (beta > 0) return atan2(y * b, 1.0 - r * beta / mass) / b;
    return asinh(y * b / e) / b;
}

int kepler_elements(double mass, const double x[3], const double v[3], struct kepler_elements *el)
{
    double r = sqrt(dot(x, x)), sigma = dot(x, v), v2 = dot(v, v);
    if (!isfinite(mass) || !isfinite(r) || !isfinite(sigma) || !isfinite(v2)) return NBC_NON_FINITE;
    if (mass <= 0 || r <= 0) return NBC_BAD_ARGUMENT;
    double beta = 2.0 * mass / r - v2, b = sqrt(fabs(beta));
    double l[3] = {x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2], x[0] * v[1] - x[1] * v[0]};
    el->h = -0.5 * beta;
    el->a = mass / beta;
    el->l = sqrt(dot(l, l));
    double shape = el->l / mass;
    el->e = beta > 0 ? hypot(1.0 - r * beta / mass, sigma * b / mass) : sqrt(1.0 - beta * shape * shape);
    el->q = el->l * shape / (1.0 + el->e);
    el->period = beta > 0 ? 2.0 * PI * mass / (beta * b) : (double)INFINITY;
    double s = anomaly_since_pericentre(mass, r, sigma, beta, el->e), c[KEPLER_STUMPFF_MAX + 1];
    kepler_stumpff(beta * s * s, c);
    el->t_pericentre = s * (el->q * c[1] + mass * s * s * c[3]);
    return NBC_OK;
}
