/* The calls that the dialects NA12 and nbody6 have in common; they differ in GPUNB_WEIGHTED, the neighbour test.
 * GPUNB_LIBRARY is the name of the library. */
#ifndef GPUNB_FORTRAN_11_H
#define GPUNB_FORTRAN_11_H

#include "gpunb/fortran/common.h"
#include "gpunb/fortran/legacy.h"

const char gpunb_legacy_calls[] = GPUNB_LIBRARY;

void gpunb_devinit_(void)
{
    /* Devices are found when the library is opened. */
}

void gpunb_open_(const int *nbmax)
{
    gpunb_fortran_open(gpunb_legacy_calls, -1, *nbmax);
}

void gpunb_close_(void)
{
    gpunb_fortran_close();
}

void gpunb_send_(const int *nj, const double *mj, const double (*xj)[3], const double (*vj)[3])
{
    gpunb_fortran_send(*nj, mj, xj, vj);
}

void gpunb_regf_(const int *ni, const double *h2, const double *dtr, const double (*xi)[3], const double (*vi)[3],
                 double (*acc)[3], double (*jrk)[3], double *pot, const int *lmax, const int *nbmax, int *list)
{
    gpunb_fortran_regf(&(struct gpunb_fortran_regf){.n_i = *ni,
                                                    .h2 = h2,
                                                    .dtr = dtr,
                                                    .xi = xi,
                                                    .vi = vi,
                                                    .acc = acc,
                                                    .jerk = jrk,
                                                    .pot = pot,
                                                    .lmax = *lmax,
                                                    .nbmax = *nbmax,
                                                    .list = list,
                                                    .mass_weighted = GPUNB_WEIGHTED});
}

void gpupot_(const int *n, const double *m, const double (*x)[3], double *pot)
{
    gpunb_fortran_potential(0, *n, *n, m, x, pot);
}

#endif
