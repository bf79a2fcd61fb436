/** The external field that a run is in: one of the potentials in nbody6/input/potentials.def.
 *
 *  The frame is centred on the cluster and rotates with it on its circular orbit, or rests: x outward, y along the
 * orbit, z to the pole. The field does not depend on time, so that the energy with its potential is conserved (in a
 * rotating frame: Jacobi's integral). A new potential is a file in nbody6/galaxy/ and a line in that list: see
 * potential.h. */
#ifndef NB6_EXTERNAL_H
#define NB6_EXTERNAL_H

#include "common/nbc.h"
#include "nbody6/galaxy/linear_field.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

enum { NB6_EXTERNAL_PARAMETERS = 16, NB6_EXTERNAL_TEXT = 128 };

/** What a run knows of its field; checkpoints hold all of it. N-body units. */
struct nb6_external {
    int32_t active;                            /**< 1: there is a field */
    int32_t kind;                              /**< number of the potential */
    double t_x;                                /**< d a_x/dx at the centre of the cluster, without what velocities do */
    double t_z;                                /**< d a_z/dz there */
    double coriolis;                           /**< twice the angular velocity of the frame */
    double parameter[NB6_EXTERNAL_PARAMETERS]; /**< what else the potential needs, in an order of its own */
};

/** The field that a configuration asks for.
 *  @return NBC_OK; NBC_BAD_INPUT (there is no such potential, or what it says of its variables) */
int nb6_external_make(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                      struct nbc_error *err);
/** Is there a potential of this number? A field from a checkpoint is asked before it is used. */
int nb6_external_is_known(int kind);
/** Whether the field is a linear one, or there is none.   @param[out] field  its numbers, if it is */
int nb6_external_linear(const struct nb6_external *external, struct nb6_linear_field *field);
/** The field of a configuration in words: "circular orbit around a point mass of 1e+11 Msun at 8.5 kpc". */
void nb6_external_describe(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT]);

/** Acceleration and jerk of the field at x, v, for a body whose acceleration without the field is acc (needed for the
 *  jerk of the Coriolis force). */
void nb6_external_force(const struct nb6_external *external, const double x[3], const double v[3], const double acc[3],
                        double ext_acc[3], double ext_jerk[3]);
/** The same of a motion relative to a centre of mass: the field at the member less that at the centre.
 *  @param[in] centre   its place and velocity
 *  @param[in] x, v     of the member, relative to the centre
 *  @param[in] xdot     rate at which x changes in time, which slow-down makes less than v
 *  @param[in] acc      relative acceleration without the field */
void nb6_external_relative(const struct nb6_external *external, const double centre[2][3], const double x[3],
                           const double v[3], const double xdot[3], const double acc[3], double ext_acc[3],
                           double ext_jerk[3]);
/** Second and third derivative of the field's acceleration of a body at x, v.
 *  @param[in]  acc, jerk  of the body, with the field   @param[in] inner  second derivative without the field
 *  @param[out] snap, crackle  of the field's acceleration alone */
void nb6_external_higher(const struct nb6_external *external, const double x[3], const double v[3], const double acc[3],
                         const double jerk[3], const double inner[3], double snap[3], double crackle[3]);

/** Potential per unit mass of the field. */
double nb6_external_potential(const struct nb6_external *external, const double x[3]);
/** The same of a member at x relative to a centre of mass: less the potential there and its gradient times x. */
double nb6_external_relative_potential(const struct nb6_external *external, const double centre[3], const double x[3]);

/** Largest rate of change of the field with place, near x: that times a distance is the largest difference of
 * accelerations. */
double nb6_external_strongest(const struct nb6_external *external, const double x[3]);
/** Tidal radius (M/t_x)^(1/3) of a cluster of this mass; 0 without a field, and in one that pulls nothing outward. */
double nb6_external_tidal_radius(const struct nb6_external *external, double mass);

#endif
