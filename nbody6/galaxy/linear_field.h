/** A field that is linear in place and velocity, of a frame that goes round a galaxy on a circle (Fukushige & Heggie
 *  2000, eq. 1; x outward, y along the orbit), as hosts and devices compute it. */
#ifndef NB6_LINEAR_FIELD_H
#define NB6_LINEAR_FIELD_H

#include "common/hd.h"
#include "nbody6/galaxy/field_state.h"

#include <math.h>

/** Acceleration and jerk at x, v of a body whose acceleration without the field is acc. Since the field is linear, its
 *  second and third derivatives follow so from the acceleration, the jerk, and the second derivative without it. */
NBC_HD void nb6_linear_field_force(const struct nb6_external *field, const double x[3], const double v[3],
                                   const double acc[3], double ext_acc[3], double ext_jerk[3])
{
    const double c = field->coriolis;
    ext_acc[0] = field->t_x * x[0] + c * v[1];
    ext_acc[1] = -c * v[0];
    ext_acc[2] = field->t_z * x[2];
    ext_jerk[0] = field->t_x * v[0] + c * (acc[1] + ext_acc[1]);
    ext_jerk[1] = -c * (acc[0] + ext_acc[0]);
    ext_jerk[2] = field->t_z * v[2];
}

/** Rounding error of that acceleration: its terms may balance each other. */
NBC_HD double nb6_linear_field_noise(const struct nb6_external *field, const double x[3], const double v[3])
{
    const double speed = fabs(v[0]) + fabs(v[1]);
    return 0x1p-52 * (fabs(field->t_x * x[0]) + fabs(field->t_z * x[2]) + fabs(field->coriolis) * speed);
}

#endif
