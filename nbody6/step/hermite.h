/** The fourth-order Hermite scheme of one body: predictor, corrector, step criteria. Pure functions of plain numbers.
 *  Papers: Makino & Aarseth 1992, PASJ 44, 141; Nitadori & Aarseth 2012 ("NA12"). */
#ifndef NB6_HERMITE_H
#define NB6_HERMITE_H

#include "common/hd.h"

#include <math.h>
#include <stdint.h>

/** Second and third derivative of a force over an interval h from its value and derivative at both ends; both at the
 * end. */
struct nb6_higher {
    double snap0[3], snap[3], crackle[3]; /**< F'' at the start, F'' and F''' at the end (F''' is constant) */
};

/** Divisors of the interpolation over a step. */
struct nb6_inverse_powers {
    double h2, h3;
};

NBC_HD struct nb6_inverse_powers nb6_inverse_powers_of(double h)
{
    const double inv = 1 / h;
    struct nb6_inverse_powers powers;
    powers.h2 = inv * inv;
    powers.h3 = powers.h2 * inv;
    return powers;
}

/** F''0 = [-6 (F0 - F1) - h (4 F'0 + 2 F'1)]/h^2, F''' = [12 (F0 - F1) + 6 h (F'0 + F'1)]/h^3, of one component. */
NBC_HD void nb6_hermite_interpolate_one(double h, struct nb6_inverse_powers inverse, double acc0, double jerk0,
                                        double acc1, double jerk1, double *snap0, double *snap, double *crackle)
{
    const double df = acc0 - acc1;
    *snap0 = (-6 * df - h * (4 * jerk0 + 2 * jerk1)) * inverse.h2;
    *crackle = (12 * df + 6 * h * (jerk0 + jerk1)) * inverse.h3;
    *snap = *snap0 + h * *crackle;
}

NBC_HD void nb6_hermite_interpolate(double h, const double acc0[3], const double jerk0[3], const double acc1[3],
                                    const double jerk1[3], struct nb6_higher *higher)
{
    const struct nb6_inverse_powers inverse = nb6_inverse_powers_of(h);
    for (int k = 0; k < 3; k++)
        nb6_hermite_interpolate_one(h, inverse, acc0[k], jerk0[k], acc1[k], jerk1[k], &higher->snap0[k],
                                    &higher->snap[k], &higher->crackle[k]);
}

/** Factors of the corrector over a step. */
struct nb6_corrector_factors {
    double x_snap, x_crackle, v_snap, v_crackle;
};

NBC_HD struct nb6_corrector_factors nb6_corrector_factors_of(double h)
{
    const double h3 = h * h * h, h4 = h3 * h, h5 = h4 * h;
    struct nb6_corrector_factors factors;
    factors.x_snap = h4 * (1.0 / 24);
    factors.x_crackle = h5 * (1.0 / 120);
    factors.v_snap = h3 * (1.0 / 6);
    factors.v_crackle = factors.x_snap;
    return factors;
}

/** Add the corrector of one force part to a predicted state: dx = F'' h^4/24 + F''' h^5/120, dv = F'' h^3/6 + F'''
 * h^4/24. */
NBC_HD void nb6_hermite_correct(double h, const struct nb6_higher *higher, double x[3], double v[3])
{
    const struct nb6_corrector_factors f = nb6_corrector_factors_of(h);
    for (int k = 0; k < 3; k++) {
        x[k] += higher->snap0[k] * f.x_snap + higher->crackle[k] * f.x_crackle;
        v[k] += higher->snap0[k] * f.v_snap + higher->crackle[k] * f.v_crackle;
    }
}

NBC_HD double nb6_norm2(const double a[3])
{
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

/** Step criterion of NA12 eq. 1, dt = sqrt(eta (|F||F''| + |F'|^2)/(|F'||F'''| + |F''|^2)) with the derivatives at the
 * end of the step (the printed equation repeats F'' where the third derivative belongs). Infinite when all derivatives
 * vanish.   @param[in] f2, j2, s2, c2  squares of the magnitudes */
NBC_HD double nb6_timestep_of_norms(double eta, double f2, double j2, double s2, double c2)
{
    double above = sqrt(f2 * s2) + j2, below = sqrt(j2 * c2) + s2;
    if (above > 0) return below > 0 ? sqrt(eta * above / below) : INFINITY;
    /* No force and no change of it, as on a body in the middle of a symmetric system: the next terms set the scale. */
    return c2 > 0 ? sqrt(eta * s2 / c2) : INFINITY;
}

NBC_HD double nb6_timestep(double eta, const double acc[3], const double jerk[3], const double snap[3],
                           const double crackle[3])
{
    return nb6_timestep_of_norms(eta, nb6_norm2(acc), nb6_norm2(jerk), nb6_norm2(snap), nb6_norm2(crackle));
}

/** Rounding errors of the forces at both ends of a step h leave these in the derivatives that interpolate them: the
 *  error of a force, divided by h, h^2/6 and h^3/12 (nb6_hermite_interpolate_one), and times h in the velocity
 *  correction. Forces of both ends are taken to have the error of one: it is a bound, not a standard deviation. */
#define NB6_NOISE_OF_SNAP 6.0
#define NB6_NOISE_OF_CRACKLE 12.0

/** Square of a magnitude of which rounding errors may make up `noise`: without their part, 0 if they may be all of it.
 */
NBC_HD double nb6_square_above_noise(double square, double noise)
{
    return fmax(square - noise * noise, 0.0);
}

/** Rounding errors of the forces in a step criterion, in units of acceleration. */
struct nb6_noise {
    double total; /**< of the force whose magnitude is the scale */
    double part;  /**< of the part of it whose derivatives are used */
};

/** nb6_timestep_of_norms of derivatives that come from forces with rounding errors, over a step h. A derivative that
 *  these may have made counts as nothing. So if all that is left are a force or its first derivative, or nothing at
 * all, the criterion is infinite and the step doubles, until a difference of forces stands out: the error of such a
 * step is below that of the forces. Squares are diminished, not cut off, so that the step does not jump where a
 * derivative nears its noise. */
NBC_HD double nb6_timestep_above_noise(double eta, double h, struct nb6_noise noise, double f2, double j2, double s2,
                                       double c2)
{
    const double of_jerk = noise.part / h, of_snap = NB6_NOISE_OF_SNAP * of_jerk / h,
                 of_crackle = NB6_NOISE_OF_CRACKLE / NB6_NOISE_OF_SNAP * of_snap / h;
    return nb6_timestep_of_norms(eta, nb6_square_above_noise(f2, noise.total), nb6_square_above_noise(j2, of_jerk),
                                 nb6_square_above_noise(s2, of_snap), nb6_square_above_noise(c2, of_crackle));
}

/** May rounding errors determine the step? They do if they may have made the third derivative, which is lost first, and
 *  either the second one as well, or the third one is not small beside it. Squares are those of derivatives times
 *  powers of the step, all in units of acceleration.
 *  @param[in] error  in a force; with NB6_NOISE_MARGIN times the error the neglected part changes a square by 2
 *  percent */
NBC_HD int nb6_may_be_noise(double error, double j2, double s2, double c2)
{
    const double COUNTS = 0.1; /* beside the square of the second derivative: 5 percent of the step */
    const double of_snap = NB6_NOISE_OF_SNAP * error, of_crackle = NB6_NOISE_OF_CRACKLE * error;
    return c2 < of_crackle * of_crackle && (s2 < of_snap * of_snap || j2 * c2 > COUNTS * COUNTS * s2 * s2);
}

#define NB6_NOISE_MARGIN 8.0
/** The margin for regular forces, whose rounding errors are bounds and not sums. */
#define NB6_NOISE_MARGIN_REGULAR 2.0

/** The same for unscaled derivatives over a step h. */
NBC_HD int nb6_derivatives_may_be_noise(double h, double error, double j2, double s2, double c2)
{
    const double h2 = h * h;
    return nb6_may_be_noise(error, h2 * j2, h2 * h2 * s2, h2 * h2 * h2 * c2);
}

/** Makino's criterion on the velocity correction dv of the last step h (Makino 1991, ApJ 369, 200; Aarseth 2003,
 * Gravitational N-Body Simulations, eq. 2.16): dt = h (eps |F| h/|dv|)^(1/5), which holds |dv| near eps |F| h. Infinite
 *  without a force, to which nothing can be compared, and without a correction.
 *  @param[in] acc2, dv2  squares of |F| and |dv| */
NBC_HD double nb6_timestep_velocity(double eps, double h, double acc2, double dv2)
{
    double change = sqrt(dv2);
    return change > 0 && acc2 > 0 ? h * pow(eps * sqrt(acc2) * h / change, 0.2) : INFINITY;
}

/** Limits of the velocity criterion: it keeps long steps from over-shooting, as in NBODY6. */
struct nb6_velocity_limit {
    double longer_than; /**< it applies to steps above this; INFINITY: never */
    double eps;         /**< largest velocity correction, relative to |F| h */
};

/** In small clusters the criterion of NA12 alone decides, and close encounters are a large part of all steps. */
enum { NB6_N_FOR_VELOCITY_CRITERION = 1000 };

/** Irregular steps above 0.01 (60000/n)^(1/3) in clusters of more than 1000 stars, eps = 0.001 at eta = 0.02 and in
 * proportion. */
NBC_HD struct nb6_velocity_limit nb6_velocity_limit_irregular(int64_t n, double eta)
{
    double longer_than = n > NB6_N_FOR_VELOCITY_CRITERION ? 0.01 * cbrt(60000 / (double)n) : INFINITY;
    struct nb6_velocity_limit limit = {longer_than, 0.001 * eta / 0.02};
    return limit;
}

/** Regular steps above 0.1, eps = 0.01 at eta = 0.01 and in proportion. */
NBC_HD struct nb6_velocity_limit nb6_velocity_limit_regular(int64_t n, double eta)
{
    double longer_than = n > NB6_N_FOR_VELOCITY_CRITERION ? 0.1 : INFINITY;
    struct nb6_velocity_limit limit = {longer_than, 0.01 * eta / 0.01};
    return limit;
}

/** A step dt, held back by the velocity criterion if the limit applies to it.
 *  @param[in] h, higher the step just made; acc the force at its end, and noise the rounding error of that */
NBC_HD double nb6_timestep_limited(double dt, struct nb6_velocity_limit limit, double h, double noise,
                                   const double acc[3], const struct nb6_higher *higher)
{
    if (!(dt > limit.longer_than)) return dt;
    double x[3] = {0, 0, 0}, dv[3] = {0, 0, 0};
    nb6_hermite_correct(h, higher, x, dv);
    const double dv2 = nb6_square_above_noise(nb6_norm2(dv), h * noise);
    return fmin(dt, nb6_timestep_velocity(limit.eps, h, nb6_norm2(acc), dv2));
}

/** Factor of ETAI and ETAR for a cluster of n stars with mass: (n/300)^(1/2), at most 1. Among few stars one encounter
 * is a large part of all energy, and shorter steps cost little. */
NBC_HD double nb6_eta_share(int64_t n)
{
    const double MANY = 300;
    return fmin(sqrt((double)n / MANY), 1.0);
}

#endif
