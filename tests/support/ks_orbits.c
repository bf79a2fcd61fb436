#include "tests/support/ks_orbits.h"
#include "common/nbc.h"

#include <math.h>
#include <stdio.h>

#include "regularization/ks.h"

static const long double PI = 3.141592653589793238462643383279503L;

static long double dot(const double a[3], const double b[3])
{
    return (long double)a[0] * b[0] + (long double)a[1] * b[1] + (long double)a[2] * b[2];
}

struct shape {
    long double h, e, phase; /* phase: mean anomaly; from the direction `from` if the orbit is a circle */
};

static struct shape measure(const double x[3], const double v[3], const double from[3], const double from_v[3],
                            int circle)
{
    long double r = sqrtl(dot(x, x)), sigma = dot(x, v), beta = 2 / r - dot(v, v), b = sqrtl(beta);
    long double e_cos = 1 - r * beta, e_sin = sigma * b, anomaly = atan2l(e_sin, e_cos);
    struct shape s = {-beta / 2, hypotl(e_cos, e_sin), anomaly - e_sin};
    if (circle) s.phase = PI + atan2l(dot(x, from_v), dot(x, from));
    return s;
}

int ks_orbits_measure(double e, double eta, double orbits, struct ks_orbits *result)
{
    struct ks_pair pair;
    struct nbc_error err = {0};
    double r = 1 + e, s = sqrt((1 - e) / (1 + e)), mass[2] = {0.7, 0.3}, x0[3], v0[3], x[3], v[3];
    double xb[2][3] = {{0.6 * r, 0.48 * r, 0.64 * r}, {0}}, vb[2][3] = {{-0.8 * s, 0.36 * s, 0.48 * s}, {0}};
    int status =
        ks_init(&pair, &(struct ks_options){eta, 0, 1}, mass, (const double(*)[3])xb, (const double(*)[3])vb, 0, &err);
    ks_relative(&pair, x0, v0);
    struct shape begin = measure(x0, v0, x0, v0, e == 0);
    long double n = powl(-2 * begin.h, 1.5L), period = 2 * PI / n;
    if (!status) status = ks_start(&pair, NULL, NULL, &err);
    if (!status) status = ks_advance(&pair, (double)(orbits * period), NULL, NULL, &err);
    if (status) return status;
    ks_relative(&pair, x, v);
    struct shape end = measure(x, v, x0, v0, e == 0);
    long double passed = remainderl(((long double)pair.t + pair.t_lo), period) * n;
    result->energy = (double)(end.h / begin.h - 1);
    result->eccentricity = (double)(end.e - begin.e);
    result->time_per_orbit = (double)(remainderl(end.phase - begin.phase - passed, 2 * PI) / (2 * PI) / orbits);
    result->steps_per_orbit = (double)pair.n_step / orbits;
    return NBC_OK;
}

int ks_orbits_table(double orbits)
{
    const double e[] = {0, 0.5, 0.9, 0.99, 0.9999, 0.999999}, eta = 0.2;
    int exceeded = 0;
    printf("# free KS pair, eta = %g, %g orbits\n# e  steps/orbit  energy  eccentricity  time/orbit\n", eta, orbits);
    for (int k = 0; k < 6; k++) {
        struct ks_orbits r;
        int status = ks_orbits_measure(e[k], eta, orbits, &r);
        if (status) {
            printf("# %g: status %d\n", e[k], status);
            exceeded++;
            continue;
        }
        printf("# %g %.3f %.1e %.1e %.1e\n", e[k], r.steps_per_orbit, r.energy, r.eccentricity, r.time_per_orbit);
        /* Limits over 10^6 orbits; the steps are 2 pi/eta, and a part of the last orbit. */
        exceeded += !(fabs(r.energy) < 1e-12) + !(fabs(r.eccentricity) < 1e-11) + !(fabs(r.time_per_orbit) < 1e-12);
        exceeded += !(fabs(r.steps_per_orbit - (double)(2 * PI) / eta) < 0.02);
    }
    return exceeded;
}
