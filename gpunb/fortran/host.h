/** Host helpers that NBODY6 expects beside the force libraries. Body numbers are 1-based, as in Fortran. */
#ifndef GPUNB_FORTRAN_HOST_H
#define GPUNB_FORTRAN_HOST_H

/** Predict bodies js..je whose tpred is not `time` yet, and set their tpred. f and fdot are F/2 and Fdot/6. */
void cxvpred_(const int *js, const int *je, const double *time, const double *t0, const double (*x0)[3],
              const double (*x0dot)[3], const double (*f)[3], const double (*fdot)[3], double (*x)[3],
              double (*xdot)[3], double *tpred);

/** Force and its derivative on body *i due to the first *nnb - 1 entries of nblist; f and fdot are overwritten.
 *  Double throughout. A body at zero distance contributes nothing. *i itself and the second of two equal entries are
 *  left out, and reported when GPUNB is closed. An entry below 1, or a result that is not finite, stops the program. */
void cnbint_(const int *i, const double (*pos)[3], const double (*vel)[3], const double *mass, const int *nnb,
             const int *nblist, double *f, double *fdot);

/** Wall clock since the start of the program, in whole hours, minutes and seconds. */
void wtime_(int *ihour, int *imin, int *isec);
/** The same in seconds. */
double dbltim_(void);

#endif
