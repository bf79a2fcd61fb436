/** The fourth-order Hermite scheme of one body: predictor, corrector, step criteria. Pure functions of plain numbers.
 *  Papers: Makino & Aarseth 1992, PASJ 44, 141; Nitadori & Aarseth 2012 ("NA12"). */
#ifndef NB6_HERMITE_H
#define NB6_HERMITE_H

#include <stdint.h>

/** Second and third derivative of a force over an interval h from its value and derivative at both ends; both at the
 * end. */
struct nb6_higher {
    double snap0[3], snap[3], crackle[3]; /**< F'' at the start, F'' and F''' at the end (F''' is constant) */
};

/** F''0 = [-6 (F0 - F1) - h (4 F'0 + 2 F'1)]/h^2, F''' = [12 (F0 - F1) + 6 h (F'0 + F'1)]/h^3. */
void nb6_hermite_interpolate(double h, const double acc0[3], const double jerk0[3], const double acc1[3],
                             const double jerk1[3], struct nb6_higher *higher);
/** Add the corrector of one force part to a predicted state: dx = F'' h^4/24 + F''' h^5/120, dv = F'' h^3/6 + F'''
 * h^4/24. */
void nb6_hermite_correct(double h, const struct nb6_higher *higher, double x[3], double v[3]);
/** Step criterion of NA12 eq. 1, dt = sqrt(eta (|F||F''| + |F'|^2)/(|F'||F'''| + |F''|^2)) with the derivatives at the
 * end of the step (the printed equation repeats F'' where the third derivative belongs). Infinite when all derivatives
 * vanish. */
double nb6_timestep(double eta, const double acc[3], const double jerk[3], const double snap[3],
                    const double crackle[3]);
/** Makino's criterion on the velocity correction dv of the last step h (Makino 1991, ApJ 369, 200; Aarseth 2003,
 * Gravitational N-Body Simulations, eq. 2.16): dt = h (eps |F| h/|dv|)^(1/5), which holds |dv| near eps |F| h. */
double nb6_timestep_velocity(double eps, double h, const double acc[3], const double dv[3]);

/** Limits of the velocity criterion: it keeps long steps from over-shooting, as in NBODY6. */
struct nb6_velocity_limit {
    double longer_than; /**< it applies to steps above this; INFINITY: never */
    double eps;         /**< largest velocity correction, relative to |F| h */
};

/** Irregular steps above 0.01 (60000/n)^(1/3) in clusters of more than 1000 stars, eps = 0.001 at eta = 0.02 and in
 * proportion. */
struct nb6_velocity_limit nb6_velocity_limit_irregular(int64_t n, double eta);
/** Regular steps above 0.1, eps = 0.01 at eta = 0.01 and in proportion. */
struct nb6_velocity_limit nb6_velocity_limit_regular(int64_t n, double eta);
/** A step dt, held back by the velocity criterion if the limit applies to it.
 *  @param[in] h, higher the step just made; acc the force at its end */
double nb6_timestep_limited(double dt, struct nb6_velocity_limit limit, double h, const double acc[3],
                            const struct nb6_higher *higher);
/** Part of ETAI and ETAR that a cluster of n stars with mass takes: (n/300)^(1/2), at most 1. Among few stars one
 * encounter is a large part of all energy, and what shorter steps cost is nothing. */
double nb6_eta_share(int64_t n);

#endif
