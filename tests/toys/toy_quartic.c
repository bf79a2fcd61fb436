/* A toy of an external potential: a cluster at rest in Phi = k r^4/4. It is no linear field: its force on a relative
 * motion depends on the place. k is the input variable TOYK, a toy as well. Its lines in the lists: potential.line,
 * variable.line. */
#include "common/nbc.h"
#include "nbody6/galaxy/potential.h"
#include "nbody6/input/config.h"

#include <math.h>
#include <stdio.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* t_x, t_z and the frame's rotation are 0 in the centre, as they are. */
static int make(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                struct nbc_error *err)
{
    (void)units;
    const int status = nb6_config_number(config, "INRUN", "TOYK", &external->parameter[0], err);
    if (status) return status;
    if (external->parameter[0] > 0) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "TOYK: the toy's potential (KZ(14) = 10) needs its strength; give TOYK > 0");
}

static void describe(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT])
{
    double k;
    struct nbc_error err = {0};
    if (nb6_config_number(config, "INRUN", "TOYK", &k, &err))
        snprintf(text, NB6_EXTERNAL_TEXT, "%.*s", NB6_EXTERNAL_TEXT - 1, err.text);
    else
        snprintf(text, NB6_EXTERNAL_TEXT, "a toy of strength %g", k);
}

/* a = -k q x with q = r^2. */
static void force(const struct nb6_external *external, double t, const double x[3], const double v[3],
                  const double acc[3], double ext_acc[3], double ext_jerk[3])
{
    (void)t;
    (void)acc; /* without a Coriolis force */
    const double k = external->parameter[0], q = dot(x, x), q1 = 2 * dot(x, v);
    for (int d = 0; d < 3; d++) {
        ext_acc[d] = -k * q * x[d];
        ext_jerk[d] = -k * (q1 * x[d] + q * v[d]);
    }
}

static double noise(const struct nb6_external *external, double t, const double x[3], const double v[3])
{
    (void)t;
    (void)v;
    return 0x1p-52 * external->parameter[0] * dot(x, x) * sqrt(dot(x, x));
}

/* With c the centre and (c + x)^2 = c^2 + s, the force at c + x less that at c is -k (s (c + x) + c^2 x). */
static void relative(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                     const double v[3], const double xdot[3], const double acc[3], double ext_acc[3],
                     double ext_jerk[3])
{
    (void)t;
    (void)v;
    (void)acc;
    const double *c = centre[0], *w = centre[1], k = external->parameter[0];
    const double q = dot(c, c), q1 = 2 * dot(c, w), s = 2 * dot(c, x) + dot(x, x);
    const double s1 = 2 * (dot(w, x) + dot(c, xdot) + dot(x, xdot));
    for (int d = 0; d < 3; d++) {
        ext_acc[d] = -k * (s * (c[d] + x[d]) + q * x[d]);
        ext_jerk[d] = -k * (s1 * (c[d] + x[d]) + s * (w[d] + xdot[d]) + q1 * x[d] + q * xdot[d]);
    }
}

static void higher(const struct nb6_external *external, double t, const double x[3], const double v[3],
                   const double acc[3], const double jerk[3], const double inner[3], double snap[3], double crackle[3])
{
    (void)t;
    (void)inner; /* the fourth derivative of the path is not in these */
    const double k = external->parameter[0], q = dot(x, x), q1 = 2 * dot(x, v);
    const double q2 = 2 * (dot(v, v) + dot(x, acc)), q3 = 2 * (3 * dot(v, acc) + dot(x, jerk));
    for (int d = 0; d < 3; d++) {
        snap[d] = -k * (q2 * x[d] + 2 * q1 * v[d] + q * acc[d]);
        crackle[d] = -k * (q3 * x[d] + 3 * q2 * v[d] + 3 * q1 * acc[d] + q * jerk[d]);
    }
}

static double potential(const struct nb6_external *external, double t, const double x[3])
{
    (void)t;
    const double q = dot(x, x);
    return external->parameter[0] * q * q / 4;
}

static double relative_potential(const struct nb6_external *external, double t, const double centre[3],
                                 const double x[3])
{
    (void)t;
    const double s = 2 * dot(centre, x) + dot(x, x);
    return external->parameter[0] * (s * s / 4 + dot(centre, centre) * dot(x, x) / 2);
}

static double strongest(const struct nb6_external *external, double t, const double x[3])
{
    (void)t;
    return 3 * external->parameter[0] * dot(x, x);
}

const struct nb6_potential nb6_potential_toy_quartic = {.make = make,
                                                        .describe = describe,
                                                        .force = force,
                                                        .noise = noise,
                                                        .relative = relative,
                                                        .higher = higher,
                                                        .potential = potential,
                                                        .relative_potential = relative_potential,
                                                        .strongest = strongest};
