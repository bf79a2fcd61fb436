/** The field that acts on bodies of a device engine: a switch by family in place of the table of a potential
 *  (potential.h), whose functions the device cannot call. Arguments are those of external.h. */
#ifndef NB6_DEVICE_FIELD_H
#define NB6_DEVICE_FIELD_H

#include "common/hd.h"
#include "nbody6/galaxy/field_family.h"
#include "nbody6/galaxy/field_state.h"
#include "nbody6/galaxy/linear_field.h"
#include "nbody6/galaxy/moving_field.h"
#include "nbody6/galaxy/orbit_at.h"

#include <math.h>

/** The family of a field. A unit that defines NB6_LINEAR_FIELDS_ALONE before it includes this file has no code for
 *  others: a kernel keeps its registers (docs/trials.md). */
NBC_HD enum nb6_field_family nb6_device_field_family(const struct nb6_external *field)
{
#ifdef NB6_LINEAR_FIELDS_ALONE
    (void)field;
    return NB6_FIELD_LINEAR;
#else
    return nb6_field_family(field->kind);
#endif
}

/** The state of a field at a time that all bodies need; of a linear one it is not set. */
NBC_HD void nb6_device_field_at(const struct nb6_external *field, double t, struct nb6_orbit_point *now)
{
    if (nb6_device_field_family(field) == NB6_FIELD_MOVING) nb6_moving_at(field, t, now);
}

/** nb6_external_force.   @param[in] now  nb6_device_field_at(t) */
NBC_HD void nb6_device_field_force(const struct nb6_external *field, double t, const struct nb6_orbit_point *now,
                                   const double x[3], const double v[3], const double acc[3], double ext_acc[3],
                                   double ext_jerk[3])
{
    if (nb6_device_field_family(field) == NB6_FIELD_MOVING)
        nb6_moving_field_force(field, t, now, x, v, ext_acc, ext_jerk);
    else
        nb6_linear_field_force(field, x, v, acc, ext_acc, ext_jerk);
}

/** nb6_external_noise at the time t. */
NBC_HD double nb6_device_field_noise(const struct nb6_external *field, double t, const double x[3], const double v[3])
{
    struct nb6_orbit_point now;
    if (nb6_device_field_family(field) != NB6_FIELD_MOVING) return nb6_linear_field_noise(field, x, v);
    nb6_moving_at(field, t, &now);
    return nb6_moving_field_noise(field, &now, x);
}

/** nb6_external_longest_step. */
NBC_HD double nb6_device_field_longest_step(const struct nb6_external *field, double t)
{
    return nb6_device_field_family(field) == NB6_FIELD_MOVING ? nb6_moving_field_longest_step(field, t) : INFINITY;
}

/** nb6_external_strongest, of fields that act on systems otherwise than on their centres of mass at some times and not
 *  at others; 0 of linear fields, which act in the same way everywhere and at all times. */
NBC_HD double nb6_device_field_strongest(const struct nb6_external *field, double t, const double x[3])
{
    struct nb6_orbit_point now;
    if (nb6_device_field_family(field) != NB6_FIELD_MOVING) return 0;
    nb6_moving_at(field, t, &now);
    return nb6_moving_field_strongest(field, t, &now, x);
}

/** Whether it does work on bodies that are at rest: nb6_external_work is not 0. */
NBC_HD int nb6_device_field_does_work(const struct nb6_external *field)
{
    return field->active && nb6_device_field_family(field) == NB6_FIELD_MOVING;
}

/** Whether the frame follows an orbit: the state of the field at a time is a point of it. */
NBC_HD int nb6_device_field_has_orbit(const struct nb6_external *field)
{
    return nb6_device_field_does_work(field) && nb6_moving_has_galaxy(field);
}

#endif
