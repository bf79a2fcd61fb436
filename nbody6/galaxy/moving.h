/** The field in a frame that keeps its directions and follows an orbit in a galaxy, or rests, with gas in its centre:
 *  a = F(R + x) - F(R) + gas, R(t) the orbit. Its potential is Phi(R + x) - Phi(R) + x F(R) + gas, which depends on
 *  time. Potentials of this kind have NB6_MOVING_OPERATIONS in their table, set parameters (components.h) and, in a
 *  galaxy, begin the orbit (orbit.h). A relative motion feels the difference of two fields (moving_relative.c), for
 *  tight systems from a polynomial (moving_near.c). Source: Aarseth 2003, Gravitational N-Body Simulations, sections
 *  8.4 and 8.5. */
#ifndef NB6_MOVING_H
#define NB6_MOVING_H

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/moving_field.h"

/** Gas as the configuration has it. */
void nb6_moving_set_gas(const struct nb6_tide_config *tide, struct nb6_external *external);

void nb6_moving_force(const struct nb6_external *external, double t, const double x[3], const double v[3],
                      const double acc[3], double ext_acc[3], double ext_jerk[3]);
double nb6_moving_noise(const struct nb6_external *external, double t, const double x[3], const double v[3]);
void nb6_moving_relative(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                         const double v[3], const double xdot[3], const double acc[3], double ext_acc[3],
                         double ext_jerk[3]);
void nb6_moving_higher(const struct nb6_external *external, double t, const double x[3], const double v[3],
                       const double acc[3], const double jerk[3], const double inner[3], double snap[3],
                       double crackle[3]);
double nb6_moving_potential(const struct nb6_external *external, double t, const double x[3]);
double nb6_moving_relative_potential(const struct nb6_external *external, double t, const double centre[3],
                                     const double x[3]);
int nb6_moving_does_work(const struct nb6_external *external);
void nb6_moving_rate(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                     const double xdot[3], const double acc[3], const double jerk[3], double rate[2]);
void nb6_moving_scale(const struct nb6_external *external, double t, const double centre[2][3],
                      struct nb6_external_scale *scale);
int nb6_moving_expand(const struct nb6_external *external, double t, const double x[3],
                      struct nb6_external_series *series);
double nb6_moving_near_time(const struct nb6_external *external, double t, const double centre[2][3]);
int nb6_moving_near(const struct nb6_external *external, const struct nb6_external_series *series, double t,
                    const double centre[2][3], int n, const double mass[], const double (*x)[3],
                    const double (*xdot)[3], double acc[][3], double jerk[][3], double power[2]);
double nb6_moving_strongest(const struct nb6_external *external, double t, const double x[3]);
int nb6_moving_extend_to(struct nb6_external *external, double t, struct nbc_error *err);
double nb6_moving_known_until(const struct nb6_external *external);
double nb6_moving_jump(const struct nb6_external *external);
double nb6_moving_longest_step(const struct nb6_external *external, double t);
double nb6_moving_work(const struct nb6_external *external, const struct nb6_moment *from, const struct nb6_moment *to);

#define NB6_MOVING_OPERATIONS                                                                                          \
    .force = nb6_moving_force, .noise = nb6_moving_noise, .relative = nb6_moving_relative,                             \
    .higher = nb6_moving_higher, .potential = nb6_moving_potential,                                                    \
    .relative_potential = nb6_moving_relative_potential, .strongest = nb6_moving_strongest,                            \
    .extend_to = nb6_moving_extend_to, .known_until = nb6_moving_known_until, .longest_step = nb6_moving_longest_step, \
    .work = nb6_moving_work, .jump = nb6_moving_jump, .does_work = nb6_moving_does_work, .rate = nb6_moving_rate,      \
    .scale = nb6_moving_scale, .expand = nb6_moving_expand, .near_time = nb6_moving_near_time, .near = nb6_moving_near

#endif
