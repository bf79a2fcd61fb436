/* Post-Newtonian two-body accelerations of orders 1, 2 and 2.5 in harmonic coordinates (Damour & Deruelle 1981;
 * Kidder 1995; Blanchet 2014), for each pair of a system on its own: terms of three bodies are left out, as is usual
 * where one body outweighs the others (Mikkola & Merritt 2008).
 *
 * Relative acceleration a = -(G m/r^2) (A n + B v), m = m1 + m2, eta = m1 m2/m^2, n = x/r from 2 to 1. */
#include "regularization/chain_impl.h"

/* A and B at relative speed^2 v2, radial velocity rv and potential p = m/r. */
static void coefficients(int pn, double c_light, double eta, double p, double v2, double rv, double *a, double *b)
{
    const double c2 = 1 / (c_light * c_light), rv2 = rv * rv;
    *a = *b = 0;
    if (pn & CHAIN_PN1) {
        *a += c2 * (-2 * (2 + eta) * p + (1 + 3 * eta) * v2 - 1.5 * eta * rv2);
        *b += c2 * (-2 * (2 - eta) * rv);
    }
    if (pn & CHAIN_PN2) {
        *a += c2 * c2 *
              (0.75 * (12 + 29 * eta) * p * p + eta * (3 - 4 * eta) * v2 * v2 +
               1.875 * eta * (1 - 3 * eta) * rv2 * rv2 - 1.5 * eta * (3 - 4 * eta) * v2 * rv2 -
               0.5 * eta * (13 - 4 * eta) * p * v2 - (2 + 25 * eta + 2 * eta * eta) * p * rv2);
        *b += c2 * c2 * (-0.5 * rv) *
              (eta * (15 + 4 * eta) * v2 - (4 + 41 * eta + 8 * eta * eta) * p - 3 * eta * (3 + 2 * eta) * rv2);
    }
    if (pn & CHAIN_PN25) {
        const double f = 1.6 * eta * p * c2 * c2 / c_light;
        *a -= f * rv * (3 * v2 + 17.0 / 3 * p);
        *b += f * (v2 + 3 * p);
    }
}

void chain_pn_add(const struct chain_system *s, const double x[][3], const double v[][3], double acc[][3])
{
    for (int i = 0; i < s->n; i++) {
        for (int j = i + 1; j < s->n; j++) {
            double dx[3], dv[3], a, b, m = s->mass[i] + s->mass[j];
            for (int c = 0; c < 3; c++) {
                dx[c] = x[i][c] - x[j][c];
                dv[c] = v[i][c] - v[j][c];
            }
            double r = chain_norm(dx), p = m / r, rv = chain_dot(dx, dv) / r;
            coefficients(s->pn, s->c_light, s->mass[i] * s->mass[j] / (m * m), p, chain_dot(dv, dv), rv, &a, &b);
            for (int c = 0; c < 3; c++) {
                double f = -p / r * (a * dx[c] / r + b * dv[c]) / m;
                acc[i][c] += s->mass[j] * f;
                acc[j][c] -= s->mass[i] * f;
            }
        }
    }
}

double chain_pn_energy(int pn, double c_light, double m1, double m2, const double x[3], const double v[3])
{
    const double m = m1 + m2, eta = m1 * m2 / (m * m), r = chain_norm(x), p = m / r, v2 = chain_dot(v, v);
    const double rv = chain_dot(x, v) / r, rv2 = rv * rv, c2 = 1 / (c_light * c_light);
    double e = 0;
    if (pn & CHAIN_PN1)
        e += c2 * (0.375 * (1 - 3 * eta) * v2 * v2 + 0.5 * (3 + eta) * v2 * p + 0.5 * eta * p * rv2 + 0.5 * p * p);
    if (pn & CHAIN_PN2)
        e += c2 * c2 *
             (0.3125 * (1 - 7 * eta + 13 * eta * eta) * v2 * v2 * v2 +
              0.125 * (21 - 23 * eta - 27 * eta * eta) * p * v2 * v2 + 0.25 * eta * (1 - 15 * eta) * p * v2 * rv2 -
              0.375 * eta * (1 - 3 * eta) * p * rv2 * rv2 - 0.25 * (2 + 15 * eta) * p * p * p +
              0.125 * (14 - 55 * eta + 4 * eta * eta) * p * p * v2 +
              0.125 * (4 + 69 * eta + 12 * eta * eta) * p * p * rv2);
    return e * m1 * m2 / m;
}
