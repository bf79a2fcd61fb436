#include "nbody6/model/king.h"

#include "nbody6/input/config.h"

#include "common/nbc.h"
#include "nbody6/model/random.h"

#include <math.h>

enum { STEPS = 8192 };

/* Nodes at y_i = W0 i/STEPS, y = W0 - W. All columns are smooth in y; the interpolation uses their derivatives. */
struct node {
    double z, dz;     /* x^2 */
    double q, dq;     /* M(x)^(2/3), M = x^2 dy/dx, the mass in units of sigma^2 r_c/G */
    double speed_max; /* maximum of t (exp(W (1 - t)) - 1) over 0 < t < 1 */
};

struct nb6_king {
    double w0, step;
    double mass;      /* M at the edge */
    double potential; /* potential energy for G = M = r_c = 1 */
    struct node node[STEPS + 1];
};

/* x^2, its derivative, and the integral of M dM/x. */
struct state {
    double z, p, u;
};

/* (2/sqrt(pi)) sum_{k >= 2} 2^k W^(k + 1/2) / (2k + 1)!!, the series of exp(W) erf(sqrt W) without the two terms that
 * the difference takes away. All terms are positive. */
double nb6_king_density(double w)
{
    if (!(w > 0.0)) return 0.0;
    double term = 4.0 / 15.0 * w * w * sqrt(w), sum = 0.0;
    for (int k = 2; term > 1e-18 * sum; k++) {
        sum += term;
        term *= 2.0 * w / (double)(2 * k + 3);
    }
    return 1.12837916709551257390 * sum;
}

/* With y = W0 - W, z = x^2, p = dz/dy Poisson's equation reads p' = 3 p^2/(4 z) (2 - 3 rho p), rho in units of rho(W0);
 * dM/dy = 4.5 rho p x and M = 2 z^(3/2)/p. */
static struct state derivative(double w0, double y, const struct state *s)
{
    const double rho = nb6_king_density(w0 - y) / nb6_king_density(w0);
    struct state d;
    d.z = s->p;
    d.p = 0.75 * s->p * s->p / s->z * (2.0 - 3.0 * rho * s->p);
    d.u = 9.0 * rho * s->z * sqrt(s->z);
    return d;
}

static struct state advanced(const struct state *s, const struct state *d, double h)
{
    const struct state a = {s->z + h * d->z, s->p + h * d->p, s->u + h * d->u};
    return a;
}

static struct state runge_kutta(double w0, double y, const struct state *s, double h)
{
    const struct state k1 = derivative(w0, y, s), s2 = advanced(s, &k1, 0.5 * h);
    const struct state k2 = derivative(w0, y + 0.5 * h, &s2), s3 = advanced(s, &k2, 0.5 * h);
    const struct state k3 = derivative(w0, y + 0.5 * h, &s3), s4 = advanced(s, &k3, h);
    const struct state k4 = derivative(w0, y + h, &s4);
    const struct state sum = {k1.z + 2.0 * (k2.z + k3.z) + k4.z, k1.p + 2.0 * (k2.p + k3.p) + k4.p,
                              k1.u + 2.0 * (k2.u + k3.u) + k4.u};
    return advanced(s, &sum, h / 6.0);
}

/* Near the centre rho = 1 - a y, and p = 2/3 + 2 a y/5 to first order. */
static struct state series_at_centre(double w0, double y)
{
    const double rho0 = nb6_king_density(w0);
    const double slope = (rho0 + 2.0 / 3.0 * 1.12837916709551257390 * w0 * sqrt(w0)) / rho0; /* rho'(W0)/rho(W0) */
    const struct state s = {y * (2.0 / 3.0 + 0.2 * slope * y), 2.0 / 3.0 + 0.4 * slope * y, 0.0};
    return s;
}

/* The maximum is where (1 - W t) exp(W (1 - t)) = 1; the left side falls with t. */
static double maximum_of_speeds(double w)
{
    double lo = 0.0, hi = 1.0;
    for (int i = 0; i < 60; i++) {
        const double t = 0.5 * (lo + hi);
        if ((1.0 - w * t) * nb6_exp(w * (1.0 - t)) > 1.0) {
            lo = t;
        } else {
            hi = t;
        }
    }
    return lo * (nb6_exp(w * (1.0 - lo)) - 1.0);
}

static struct node node_of(double w0, double y, const struct state *s)
{
    const double root = nb6_cbrt(2.0 / s->p), rho = nb6_king_density(w0 - y) / nb6_king_density(w0);
    struct node node;
    node.z = s->z;
    node.dz = s->p;
    node.q = root * root * s->z;
    node.dq = 3.0 * rho * s->p / root; /* 2/3 M^(-1/3) dM/dy; M^(1/3) = root x */
    /* the margin covers the rounding of the speeds' density, so that no value is above its bound */
    node.speed_max = maximum_of_speeds(w0 - y) * (1.0 + 1e-12);
    return node;
}

/* The first intervals are divided finely: the equation is singular at the centre, where the series starts it. */
static void integrate(nb6_king_t *king)
{
    enum { FINE = 64, FINE_INTERVALS = 32 };
    const double w0 = king->w0;
    const struct state centre = {0.0, 2.0 / 3.0, 0.0};
    king->node[0] = node_of(w0, 0.0, &centre);
    struct state s = series_at_centre(w0, king->step / FINE);
    for (int i = 0; i < STEPS; i++) {
        const int parts = i < FINE_INTERVALS ? FINE : 1;
        const double h = king->step / (double)parts;
        for (int k = i == 0 ? 1 : 0; k < parts; k++) s = runge_kutta(w0, king->step * (double)i + h * (double)k, &s, h);
        king->node[i + 1] = node_of(w0, king->step * (double)(i + 1), &s);
    }
    king->mass = 2.0 * s.z * sqrt(s.z) / s.p;
    king->potential = -s.u / (king->mass * king->mass);
}

int nb6_king_solve(double w0, nb6_king_t **king, struct nbc_error *err)
{
    if (!(w0 >= NB6_KING_W0_MIN && w0 <= NB6_KING_W0_MAX)) {
        return nbc_fail(err, NBC_BAD_INPUT, "King model with W0 = %g: must be %g to %g", w0, NB6_KING_W0_MIN,
                        NB6_KING_W0_MAX);
    }
    nb6_king_t *made = nbc_alloc(1, sizeof *made);
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the table of a King model");
    made->w0 = w0;
    made->step = w0 / STEPS;
    integrate(made);
    *king = made;
    return NBC_OK;
}

void nb6_king_free(nb6_king_t *king)
{
    nbc_free(king);
}

double nb6_king_tidal_radius(const nb6_king_t *king)
{
    return sqrt(king->node[STEPS].z);
}

double nb6_king_potential_energy(const nb6_king_t *king)
{
    return king->potential;
}

/* Cubic Hermite interpolation between f0 at t = 0 and f1 at t = 1 with slopes d0, d1 per unit of t. */
static double hermite(double t, double f0, double d0, double f1, double d1)
{
    const double s = 1.0 - t;
    return s * s * ((1.0 + 2.0 * t) * f0 + t * d0) + t * t * ((1.0 + 2.0 * s) * f1 - s * d1);
}

/* Interval [i, i + 1] and place in it where the enclosed mass is a given fraction. */
static int locate_mass(const nb6_king_t *king, double fraction, double *t)
{
    const double root = nb6_cbrt(fraction * king->mass), q = root * root, h = king->step;
    int lo = 0, hi = STEPS;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        if (king->node[mid].q <= q) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    const struct node *a = &king->node[lo], *b = a + 1;
    double left = 0.0, right = 1.0;
    for (int k = 0; k < 50; k++) {
        *t = 0.5 * (left + right);
        if (hermite(*t, a->q, h * a->dq, b->q, h * b->dq) <= q) {
            left = *t;
        } else {
            right = *t;
        }
    }
    return lo;
}

static double radius_at(const nb6_king_t *king, int i, double t)
{
    const struct node *a = &king->node[i], *b = a + 1;
    const double z = hermite(t, a->z, king->step * a->dz, b->z, king->step * b->dz);
    return sqrt(fmax(z, 0.0));
}

double nb6_king_radius(const nb6_king_t *king, double fraction)
{
    double t;
    const int i = locate_mass(king, fraction, &t);
    return radius_at(king, i, t);
}

void nb6_king_draw(const nb6_king_t *king, nb6_random_t *position, nb6_random_t *velocity, double x[3], double v[3])
{
    double t;
    const int i = locate_mass(king, nb6_random_uniform(position), &t);
    nb6_random_direction(position, radius_at(king, i, t), x);
    const double w = king->w0 - king->step * ((double)i + t);
    double speed = 0.0;
    /* nearer to the edge than this no star has a speed that matters, and the loop would have nothing to accept */
    if (w > 1e-10 * king->w0) {
        double s2, density;
        do {
            const double s = nb6_random_uniform(velocity); /* of the escape speed, sigma sqrt(2 W) */
            s2 = s * s;
            density = s2 * (nb6_exp(w * (1.0 - s2)) - 1.0);
        } while (density < nb6_random_uniform(velocity) * king->node[i].speed_max);
        speed = sqrt(2.0 * w * s2 / king->mass);
    }
    nb6_random_direction(velocity, speed, v);
}
