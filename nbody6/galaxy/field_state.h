/** The state of an external field, as plain numbers that engines take along, wherever they compute. */
#ifndef NB6_FIELD_STATE_H
#define NB6_FIELD_STATE_H

#include <stdint.h>

enum { NB6_EXTERNAL_PARAMETERS = 16, NB6_ORBIT_ENDS = 4 };

/** The way of the frame through the galaxy, from its centre: ends of pieces, the last of which is ahead of the run, and
 *  the point that was asked for last (nbody6/galaxy/orbit.h). N-body units; zeros in frames without such an orbit. */
struct nb6_orbit {
    double t[NB6_ORBIT_ENDS];
    double x[NB6_ORBIT_ENDS][3], v[NB6_ORBIT_ENDS][3], acc[NB6_ORBIT_ENDS][3], jerk[NB6_ORBIT_ENDS][3];
    double now_t, now_x[3], now_v[3], now_acc[3], now_jerk[3], now_snap[3];
};

/** State of the field of a run; checkpoints hold all of it. N-body units. */
struct nb6_external {
    int32_t active;                            /**< 1: there is a field */
    int32_t kind;                              /**< number of the potential */
    double t_x;                                /**< d a_x/dx at the centre of the cluster, without velocity terms; on an
                                                    orbit with its angular velocity squared, where it is least */
    double t_z;                                /**< d a_z/dz there */
    double coriolis;                           /**< twice the angular velocity of the frame */
    double parameter[NB6_EXTERNAL_PARAMETERS]; /**< further parameters, in an order that the potential defines */
    struct nb6_orbit orbit;
};

/** Places of the parameters in struct nb6_external. */
enum nb6_galaxy_parameter {
    NB6_GALAXY_POINT_MASS,
    NB6_GALAXY_DISK_MASS,
    NB6_GALAXY_DISK_LENGTH,
    NB6_GALAXY_DISK_HEIGHT,
    NB6_GALAXY_HALO_V2, /**< v0^2 */
    NB6_GALAXY_HALO_R2, /**< r0^2 */
    NB6_GALAXY_BULGE_MASS,
    NB6_GALAXY_BULGE_LENGTH,
    NB6_GALAXY_BULGE_SLOPE,
    NB6_GALAXY_GAS_MASS,
    NB6_GALAXY_GAS_R2,         /**< AP^2 */
    NB6_GALAXY_GAS_RATE,       /**< MPDOT */
    NB6_GALAXY_GAS_DELAY,      /**< TDELAY */
    NB6_GALAXY_CUT_BULGE_MASS, /**< with the length and slope of the bulge */
    NB6_GALAXY_NFW_MASS,       /**< M_s */
    NB6_GALAXY_NFW_LENGTH      /**< r_s */
};

/** A body at a time. */
struct nb6_moment {
    double t;
    const double *x, *v; /**< [3] */
};

#endif
