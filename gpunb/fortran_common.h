/** What the three legacy Fortran dialects share: the one handle, checks, and the end of the program when a call cannot
 * be answered. The calls return nothing, so this is the one place that prints (one line on stderr) and exits.
 *
 *  Legacy lists: column i begins at list + lmax*i; element 0 is the count, elements 1.. are 0-based source numbers,
 *  ascending, the target itself among them. */
#ifndef GPUNB_FORTRAN_COMMON_H
#define GPUNB_FORTRAN_COMMON_H

#include "gpunb/gpunb.h"

/** The arguments of a legacy gpunb_regf_ call, in its order. */
struct gpunb_fortran_regf {
    int n_i;
    const double *h2, *dtr;
    const double (*xi)[3], (*vi)[3];
    double (*acc)[3], (*jerk)[3];
    double *pot; /**< +sum m_j/r_ij over the j that are no neighbours */
    int lmax;    /**< leading dimension of list */
    int nbmax;   /**< most neighbours a list may have, the target included; more than lmax - 1 do not fit anyway */
    int *list;
    int mass_weighted;
    int overflow_count; /**< element 0 of a list that is too long: 1: minus the number found; 0: -1 */
};

/** A second open is answered by keeping the library open, with more room if the new capacity is larger. */
void gpunb_fortran_open(int n_max);
void gpunb_fortran_close(void);
void gpunb_fortran_send(int n_j, const double *mass, const double (*x)[3], const double (*v)[3]);
void gpunb_fortran_regf(const struct gpunb_fortran_regf *call);
/** Potential of bodies [i_first, i_first + n_i) with the legacy sign, +sum m_j/r_ij. The library need not be open. */
void gpunb_fortran_potential(int i_first, int n_i, int n, const double *mass, const double (*x)[3], double *pot);
/** Work done since the library was opened; zero if it is not. */
void gpunb_fortran_stats(struct gpunb_stats *stats);
const char *gpunb_fortran_backend(void);

/** Print "call: message" and end the program with the exit code of the status. */
void gpunb_fortran_stop(const char *call, int status, const char *message) __attribute__((noreturn));

#endif
