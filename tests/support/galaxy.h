/** Galaxies for tests, and how their fields are compared. */
#ifndef GALAXY_H
#define GALAXY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

/** A length unit of 1 kpc and a mass of 1e10 Msun, so that numbers are of order 1. */
static inline struct nb6_units units_of_order_one(void)
{
    return nb6_units_from(1000, 1e7, 1000);
}

/** A galaxy with a point mass, a bulge, a disk and a halo, and an orbit in it. */
static inline struct nb6_tide_config milky_way(void)
{
    return (struct nb6_tide_config){.kind = NB6_TIDE_GALAXY,
                                    .galaxy_mass_msun = 2e9,
                                    .disk_mass_msun = 5e10,
                                    .disk_length_kpc = 4,
                                    .disk_height_kpc = 0.5,
                                    .halo_velocity_kms = 220,
                                    .halo_radius_kpc = 8.5,
                                    .bulge_mass_msun = 1e10,
                                    .bulge_length_kpc = 0.6,
                                    .bulge_slope = 1,
                                    .position_kpc = {6, -1, 0.7},
                                    .velocity_kms = {40, 150, 60}};
}

/** The field of this configuration; fails the test if there is none. */
static inline struct nb6_external make_external(const struct nb6_tide_config *tide, const struct nb6_units *units)
{
    struct nb6_config config = {.tide = *tide};
    struct nb6_external external;
    struct nbc_error err = {0};
    if (nb6_external_make(&config, units, &external, &err)) fail_msg("%s", err.text);
    return external;
}

/** Largest difference of a component. */
static inline double worst(const double a[3], const double b[3])
{
    return fmax(fabs(a[0] - b[0]), fmax(fabs(a[1] - b[1]), fabs(a[2] - b[2])));
}

static inline void assert_near(const char *what, double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%s: %.15g instead of %.15g", what, value, expected);
}

/** Derivative in the middle of nine values, by differences of eighth order over h. With h = 1/64 their errors are
 *  h^8 x the ninth derivative, up to 1e6, over 630, and rounding 1e-16/h. */
static inline double slope(const double f[9], double h)
{
    return (4.0 / 5 * (f[5] - f[3]) - 1.0 / 5 * (f[6] - f[2]) + 4.0 / 105 * (f[7] - f[1]) - 1.0 / 280 * (f[8] - f[0])) /
           h;
}

#endif
