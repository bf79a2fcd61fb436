/** The legacy symbols as a Fortran compiler calls them (lower case, trailing underscore, all by reference): the
 * dialects NA12 and nbody6 (11 arguments). The dialect nbody6pp is in nbody6pp.c, the host helpers in
 * fortran/host.c. */
#ifndef GPUNB_FORTRAN_LEGACY_H
#define GPUNB_FORTRAN_LEGACY_H

/** Nothing to do; some builds call it before gpupot_. */
void gpunb_devinit_(void);
/** Open with room for *nbmax sources (this is not a limit of neighbours). The first time, a line on stderr says what is
 *  in use. */
void gpunb_open_(const int *nbmax);
/** Close; may be opened again. Does nothing if not open. */
void gpunb_close_(void);
/** Predicted state of all sources, which are numbered from 0 in this order; held until the next call. */
void gpunb_send_(const int *nj, const double *mj, const double (*xj)[3], const double (*vj)[3]);
/** Regular acceleration, jerk, +potential and neighbour lists of *ni targets, ni of any size. Rows past *ni are
 *  neither read nor written. Columns of `list` are *lmax apart: count, then 0-based sources, ascending, the target
 *  included; the count is -1 where more than *nbmax were found, and such a target has to be repeated with a smaller
 *  h2. */
void gpunb_regf_(const int *ni, const double *h2, const double *dtr, const double (*xi)[3], const double (*vi)[3],
                 double (*acc)[3], double (*jrk)[3], double *pot, const int *lmax, const int *nbmax, int *list);
/** pot_i = +sum m_j/r_ij, j != i. The library need not be open. */
void gpupot_(const int *n, const double *m, const double (*x)[3], double *pot);

#endif
