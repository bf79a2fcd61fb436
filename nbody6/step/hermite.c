#include "nbody6/step/hermite.h"

#include <math.h>

void nb6_hermite_interpolate(double h, const double acc0[3], const double jerk0[3], const double acc1[3],
                             const double jerk1[3], struct nb6_higher *higher)
{
    double inv = 1 / h, inv2 = inv * inv, inv3 = inv2 * inv;
    for (int k = 0; k < 3; k++) {
        double df = acc0[k] - acc1[k];
        higher->snap0[k] = (-6 * df - h * (4 * jerk0[k] + 2 * jerk1[k])) * inv2;
        higher->crackle[k] = (12 * df + 6 * h * (jerk0[k] + jerk1[k])) * inv3;
        higher->snap[k] = higher->snap0[k] + h * higher->crackle[k];
    }
}

void nb6_hermite_correct(double h, const struct nb6_higher *higher, double x[3], double v[3])
{
    double h3 = h * h * h, h4 = h3 * h, h5 = h4 * h;
    for (int k = 0; k < 3; k++) {
        x[k] += higher->snap0[k] * (h4 / 24) + higher->crackle[k] * (h5 / 120);
        v[k] += higher->snap0[k] * (h3 / 6) + higher->crackle[k] * (h4 / 24);
    }
}

static double norm2(const double a[3])
{
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

double nb6_timestep(double eta, const double acc[3], const double jerk[3], const double snap[3],
                    const double crackle[3])
{
    double f2 = norm2(acc), j2 = norm2(jerk), s2 = norm2(snap), c2 = norm2(crackle);
    double above = sqrt(f2 * s2) + j2, below = sqrt(j2 * c2) + s2;
    if (above > 0) return below > 0 ? sqrt(eta * above / below) : INFINITY;
    /* No force and no change of it, as on a body in the middle of a symmetric system: the next terms set the scale. */
    return c2 > 0 ? sqrt(eta * s2 / c2) : INFINITY;
}

double nb6_timestep_velocity(double eps, double h, const double acc[3], const double dv[3])
{
    double change = sqrt(norm2(dv));
    return change > 0 ? h * pow(eps * sqrt(norm2(acc)) * h / change, 0.2) : INFINITY;
}

double nb6_eta_share(int64_t n)
{
    static const double MANY = 300;
    return fmin(sqrt((double)n / MANY), 1);
}

/* In small clusters the criterion of NA12 alone decides, and close encounters are a large part of all steps. */
enum { N_FOR_VELOCITY_CRITERION = 1000 };

struct nb6_velocity_limit nb6_velocity_limit_irregular(int64_t n, double eta)
{
    double longer_than = n > N_FOR_VELOCITY_CRITERION ? 0.01 * cbrt(60000 / (double)n) : INFINITY;
    return (struct nb6_velocity_limit){longer_than, 0.001 * eta / 0.02};
}

struct nb6_velocity_limit nb6_velocity_limit_regular(int64_t n, double eta)
{
    double longer_than = n > N_FOR_VELOCITY_CRITERION ? 0.1 : INFINITY;
    return (struct nb6_velocity_limit){longer_than, 0.01 * eta / 0.01};
}

double nb6_timestep_limited(double dt, struct nb6_velocity_limit limit, double h, const double acc[3],
                            const struct nb6_higher *higher)
{
    if (!(dt > limit.longer_than)) return dt;
    double x[3] = {0, 0, 0}, dv[3] = {0, 0, 0};
    nb6_hermite_correct(h, higher, x, dv);
    return fmin(dt, nb6_timestep_velocity(limit.eps, h, acc, dv));
}
