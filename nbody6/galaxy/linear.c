#include "nbody6/galaxy/linear.h"

#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/linear_field.h"

#include <math.h>

void nb6_linear_force(const struct nb6_external *external, double t, const double x[3], const double v[3],
                      const double acc[3], double ext_acc[3], double ext_jerk[3])
{
    (void)t;
    nb6_linear_field_force(external, x, v, acc, ext_acc, ext_jerk);
}

double nb6_linear_noise(const struct nb6_external *external, double t, const double x[3], const double v[3])
{
    (void)t;
    return nb6_linear_field_noise(external, x, v);
}

/* A linear field acts on a difference as it acts on a place, wherever the centre is. */
void nb6_linear_relative(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                         const double v[3], const double xdot[3], const double acc[3], double ext_acc[3],
                         double ext_jerk[3])
{
    (void)centre;
    nb6_linear_force(external, t, x, v, acc, ext_acc, ext_jerk);
    ext_jerk[0] -= external->t_x * (v[0] - xdot[0]);
    ext_jerk[2] -= external->t_z * (v[2] - xdot[2]);
}

void nb6_linear_higher(const struct nb6_external *external, double t, const double x[3], const double v[3],
                       const double acc[3], const double jerk[3], const double inner[3], double snap[3],
                       double crackle[3])
{
    (void)t;
    (void)x;
    (void)v;
    nb6_linear_field_force(external, acc, jerk, inner, snap, crackle);
}

double nb6_linear_potential(const struct nb6_external *external, double t, const double x[3])
{
    (void)t;
    return -0.5 * (external->t_x * x[0] * x[0] + external->t_z * x[2] * x[2]);
}

double nb6_linear_relative_potential(const struct nb6_external *external, double t, const double centre[3],
                                     const double x[3])
{
    (void)centre;
    return nb6_linear_potential(external, t, x);
}

double nb6_linear_strongest(const struct nb6_external *external, double t, const double x[3])
{
    (void)t;
    (void)x;
    return fmax(fabs(external->t_x), fabs(external->t_z));
}
