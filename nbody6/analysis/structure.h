/** Where the centre of a cluster is and how its mass is distributed about it. Functions of arrays, without a state. */
#ifndef NB6_STRUCTURE_H
#define NB6_STRUCTURE_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_nearest; /* nbody6/state/nearest.h */

enum { NB6_LAGR_COUNT = 18 };

struct nb6_structure {
    double r_density[3], v_density[3]; /**< density centre and its velocity */
    double r_core, rho_core;           /**< core radius and density; 0: not defined */
    double r_half;                     /**< half-mass radius */
    double r_lagr[NB6_LAGR_COUNT];     /**< Lagrangian radii about the density centre */
    int64_t n_core;                    /**< stars within r_core */
};

/** Mass fractions of the Lagrangian radii, those of NBODY6++'s lagr.7: 0.001 ... 0.5 ... 1. */
extern const double nb6_lagr_fractions[NB6_LAGR_COUNT];

/** Density centre, core and Lagrangian radii of a cluster.
 *  The density at star i is rho_i = sum_{k=1..5} m_k / (4 pi/3 r_6^3) over its five nearest neighbours, r_6 the
 * distance of the sixth: the unbiased estimate of Casertano & Hut 1985, ApJ 298, 80, with masses for numbers.
 * Density centre: sum rho_i x_i / sum rho_i (their density centre); its velocity likewise. Core radius: sqrt(sum
 * rho_i^2 r_i^2 / sum rho_i^2) about the density centre, the weight rho^2 of McMillan, Hut & Makino 1990, ApJ 362, 522,
 * which NBODY6 uses too (C&H's own radius has the weight rho and depends on the halo). Core density: sum rho_i^2 / sum
 * rho_i. With fewer than 7 stars, or where no density is defined (massless stars), the centre is that of mass and the
 * core members are 0. Distances r_6 count as at least 1e-9 of the size of the cluster, so that coincident stars give
 *  finite densities.
 *  @param[in]  n     >= 1   @param[in] mass [n] >= 0; x, v [n][3]
 *  @param[out] out   written on success only; all members finite
 *  @param[in]  nearest  nearest neighbours of these stars, the costliest part, if they are known; NULL: not known
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_NON_FINITE (names star and quantity); NBC_NO_MEMORY */
int nb6_structure_of(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                     const struct nb6_nearest *nearest, struct nb6_structure *out, struct nbc_error *err);
/** The same without: they are found, and none are kept. */
int nb6_structure_find(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3],
                       struct nb6_structure *out, struct nbc_error *err);
/** Lagrangian radii about a centre: the distance of the star at which the mass inside reaches each of
 *  nb6_lagr_fractions times reference_mass (that of now, or of the start of the run).
 *  @param[out] r_lagr 0 where all stars together have less than that mass   @param[out] r_half may be NULL */
int nb6_structure_lagrangian(int64_t n, const double *mass, const double (*x)[3], const double centre[3],
                             double reference_mass, double r_lagr[NB6_LAGR_COUNT], double *r_half,
                             struct nbc_error *err);

#endif
