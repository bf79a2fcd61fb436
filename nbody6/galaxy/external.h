/** The external field that a run is in: one of the potentials in nbody6/input/potentials.def.
 *
 *  The frame is centred on the cluster and rotates with it on its circular orbit: x outward, y along the orbit, z to
 *  the pole. Then the field does not depend on time, and the energy with its potential is conserved (Jacobi's
 * integral). Or it keeps its directions, and follows an orbit in the galaxy (KZ(14) = 3) or rests (4): then the field
 * may depend on time, and the energy changes by its work, which nb6_external_work has. A new potential is a file in
 *  nbody6/galaxy/ and a line in that list: see potential.h. */
#ifndef NB6_EXTERNAL_H
#define NB6_EXTERNAL_H

#include "common/nbc.h"
#include "nbody6/galaxy/field_state.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

enum { NB6_EXTERNAL_TEXT = 128 };

/** The field of a configuration.
 *  @return NBC_OK; NBC_BAD_INPUT (there is no such potential, or the potential refuses its variables) */
int nb6_external_make(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                      struct nbc_error *err);
/** Is there a potential of this number? To be checked for a field from a checkpoint. */
int nb6_external_is_known(int kind);
/** Whether device engines take the potential of this number along (galaxy/device_field.h). */
int nb6_external_is_for_devices(int kind);
/** Whether the field acts otherwise on a system than on its centre of mass with all the mass: it is not linear. */
int nb6_external_acts_on_members(const struct nb6_external *external);
/** Whether the potential depends on time, in the frame. */
int nb6_external_does_work(const struct nb6_external *external);
/** The field of a configuration in words: "circular orbit around a point mass of 1e+11 Msun at 8.5 kpc". */
void nb6_external_describe(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT]);

/** Extend the orbit of the galaxy to this time, the time of most evaluations that follow. Called before each block.
 *  @return NBC_OK; NBC_NON_FINITE: the orbit cannot be continued */
int nb6_external_extend_to(struct nb6_external *external, double t, struct nbc_error *err);

/** Up to when the field is known as it is, without another call of nb6_external_extend_to; infinite: at all times. */
double nb6_external_known_until(const struct nb6_external *external);

/** Longest step from time t on that the field allows whatever the body does: steps shorten towards a time at which the
 * field begins to change; infinite if there is none ahead. */
double nb6_external_longest_step(const struct nb6_external *external, double t);

/** When the derivatives of the field in time jump; infinite if they never do. At that time itself they are those that
 * it has later. */
double nb6_external_jump(const struct nb6_external *external);

/** Acceleration and jerk of the field at time t at x, v, for a body whose acceleration without the field is acc (needed
 * for the jerk of the Coriolis force). */
void nb6_external_force(const struct nb6_external *external, double t, const double x[3], const double v[3],
                        const double acc[3], double ext_acc[3], double ext_jerk[3]);
/** The same of a motion relative to another place, a centre of mass: the field at the member less that at the centre,
 * without a loss of figures however near they are.
 *  @param[in] centre   its place and velocity
 *  @param[in] x, v     of the member, relative to the centre
 *  @param[in] xdot     rate at which x changes in time, which slow-down makes less than v
 *  @param[in] acc      relative acceleration without the field */
void nb6_external_relative(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                           const double v[3], const double xdot[3], const double acc[3], double ext_acc[3],
                           double ext_jerk[3]);
/** Rounding error of the field's acceleration at x, v: more than that of its own digits where it is a difference, as of
 *  the forces on a body and on the frame in a galaxy. */
double nb6_external_noise(const struct nb6_external *external, double t, const double x[3], const double v[3]);
/** Second and third derivative of the field's acceleration of a body at x, v.
 *  @param[in]  acc, jerk  of the body, with the field   @param[in] inner  second derivative without the field
 *  @param[out] snap, crackle  of the field's acceleration alone */
void nb6_external_higher(const struct nb6_external *external, double t, const double x[3], const double v[3],
                         const double acc[3], const double jerk[3], const double inner[3], double snap[3],
                         double crackle[3]);

/** Potential per unit mass of the field. */
double nb6_external_potential(const struct nb6_external *external, double t, const double x[3]);
/** The same of a member at x relative to a centre of mass: less the potential there and its gradient times x. */
double nb6_external_relative_potential(const struct nb6_external *external, double t, const double centre[3],
                                       const double x[3]);

/** How fast that changes in time where the member is, and the derivative of this along its way, for one of the members
 * of a system. Terms linear in x are left out: their sum over all members is zero. 0 in fields that do not depend on
 * time. Times their masses it is the power of the field on the relative motion.
 *  @param[in] acc, jerk  of the member, from nb6_external_relative */
void nb6_external_rate(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                       const double xdot[3], const double acc[3], const double jerk[3], double rate[2]);

/** How the field changes about a place. */
struct nb6_external_scale {
    double length, length_dot; /**< within which it changes by itself, and its derivative in time */
    double speed;              /**< of the place relative to the source of the field */
};
/** For a body at a place with a velocity.   @return 0: of this field no such length is known */
int nb6_external_scale(const struct nb6_external *external, double t, const double centre[2][3],
                       struct nb6_external_scale *scale);

enum { NB6_SERIES_PATH = 5 };

/** The field of a galaxy about a place, which is much cheaper than the field for bodies that stay near. */
struct nb6_external_series {
    int is_set;
    double t, x[3];                            /**< the place in the frame, and when */
    double path[NB6_SERIES_PATH][3];           /**< place of the frame in the galaxy, with its derivatives in time */
    double inverse_square;                     /**< of the length within which the field changes */
    double strongest;                          /**< nb6_external_strongest there, of all that acts */
    double gradient[6], second[10], third[15]; /**< of the acceleration, by place (moving_near.c has their order) */
};

/** The field about x at time t.   @return 0: this field is not asked for in that way */
int nb6_external_expand(const struct nb6_external *external, double t, const double x[3],
                        struct nb6_external_series *series);
/** For how long a body at a place with a velocity is near enough to where it is now, before and after; 0: there are no
 *  series. */
double nb6_external_near_time(const struct nb6_external *external, double t, const double centre[2][3]);
/** nb6_external_relative and nb6_external_rate of n members, if they and their centre of mass are near the place
 *  of the series: accelerations to 1e-10, power and jerk to 1e-6, the derivative of power to 3e-3.
 *  @param[in]  mass       [n]
 *  @param[in]  x, xdot    [n][3] relative to the centre of mass; xdot NULL: jerk and power[1] are not computed
 *  @param[out] acc, jerk  [n][3]   @param[out] power  sum of mass times rate
 *  @return 1; 0: they are too far, and nothing is done */
int nb6_external_near(const struct nb6_external *external, const struct nb6_external_series *series, double t,
                      const double centre[2][3], int n, const double mass[], const double (*x)[3],
                      const double (*xdot)[3], double acc[][3], double jerk[][3], double power[2]);

/** Work of the field per unit mass, on a body that went from one moment to another: the change of its energy by the
 *  explicit time dependence of the potential, without that by its motion. Hermite's rule of fourth order; 0 in fields
 *  that do not depend on time. */
double nb6_external_work(const struct nb6_external *external, const struct nb6_moment *from,
                         const struct nb6_moment *to);

/** Largest rate of change of the field with place, near x: that times a distance is the largest difference of
 * accelerations. */
double nb6_external_strongest(const struct nb6_external *external, double t, const double x[3]);
/** Tidal radius (M/t_x)^(1/3) of a cluster of this mass; 0 without a field, and in one that pulls nothing outward. */
double nb6_external_tidal_radius(const struct nb6_external *external, double mass);

#endif
