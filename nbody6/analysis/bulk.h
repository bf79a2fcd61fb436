/** Numbers that describe a cluster as a whole, from its stars alone: how a set of stars was understood, before a run
 *  begins. Functions of arrays, without a state. */
#ifndef NB6_BULK_H
#define NB6_BULK_H

#include "common/nbc.h"
#include "nbody6/analysis/multiples.h"
#include "nbody6/analysis/structure.h"

#include <stdint.h>

/** Potential energies of more systems than NB6_BULK_ALL come from a sample of NB6_BULK_SAMPLE. A virial ratio of fewer
 *  than NB6_BULK_FEW stars says little, and binaries among them count as stars. */
enum { NB6_BULK_ALL = 20000, NB6_BULK_SAMPLE = 10000, NB6_BULK_FEW = 16 };

/** Units with G = 1. */
struct nb6_bulk {
    int64_t n;           /**< stars */
    int64_t n_summed;    /**< systems among which the potential energy was summed */
    int64_t n_system;    /**< systems there are: stars, binaries, triples and larger ones each count as one */
    double mass, r_half; /**< total mass; half-mass radius about the density centre */
    double mass_most;    /**< of the heaviest star */
    double speed;        /**< root mean square of the systems, about their centre of mass */
    double speed_centre; /**< of the centre of mass */
    double virial_ratio; /**< Q = T/|U| of the systems, T about the centre of mass; -1: not defined, U = 0 */
    double virial_error; /**< its standard error by the sample; 0: all are summed */
    double t_cross;      /**< crossing time M^(5/2)/|U|^(3/2), which is M^(5/2)/(2 |E|)^(3/2) in equilibrium; 0: not
                              defined */
    double t_relax;      /**< half-mass relaxation time 0.138 N r_h^(3/2)/((G M)^(1/2) ln(0.11 N)) (Spitzer 1987, eq.
                              2-63; Giersz & Heggie 1994, MNRAS 268, 257); 0: of fewer than 25 stars */
    struct nb6_structure structure;
    struct nb6_multiples multiples;
};

/** The virial ratio that a model is known to have, with the times that follow from mass, r_half and U.
 *  @param[in,out] bulk  n, mass and r_half are given   @param[in] potential  U < 0 */
void nb6_bulk_set(double potential, double virial_ratio, struct nb6_bulk *bulk);

/** Binaries and larger systems (multiples.h) count as their centres of mass, so that hard binaries hide nothing. The
 *  sample is the same in each call: one system of each of NB6_BULK_SAMPLE equal parts of the list.
 *  @param[in]  n     >= 1   @param[in] mass [n] >= 0, not all 0; x, v [n][3]
 *  @param[out] bulk  filled on success
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_NON_FINITE; as nb6_structure_find */
int nb6_bulk_find(int64_t n, const double *mass, const double (*x)[3], const double (*v)[3], struct nb6_bulk *bulk,
                  struct nbc_error *err);

#endif
