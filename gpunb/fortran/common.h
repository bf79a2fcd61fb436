/** Common part of the three legacy Fortran dialects: the one handle, checks, and the end of the program when a call
 *  cannot be answered. The calls return nothing, so this is the one place that prints (one line on stderr) and exits.
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

/** The name of the library, in the object that defines the legacy calls: its symbol shows in a program that is linked
 * with an archive whether the calls come from there (docs/abi.md). */
extern const char gpunb_legacy_calls[];

/** A second open keeps the library open, with more room if the new capacity is larger.
 *  @param[in] library its name, with which the line about the backend on stderr begins
 *  @param[in] rank    of the process among those of MPI, -1: none is known */
void gpunb_fortran_open(const char *library, int rank, int n_max);
/** Report on stderr the input errors corrected since the library was opened. Does nothing if it is not open. */
void gpunb_fortran_close(void);
/** Enlarge the library to more sources than it was opened for. */
void gpunb_fortran_send(int n_j, const double *mass, const double (*x)[3], const double (*v)[3]);
void gpunb_fortran_regf(const struct gpunb_fortran_regf *call);
/** Potential of bodies [i_first, i_first + n_i) with the legacy sign, +sum m_j/r_ij. The library need not be open. */
void gpunb_fortran_potential(int i_first, int n_i, int n, const double *mass, const double (*x)[3], double *pot);
/** Work done since the library was opened; zero if it is not. */
void gpunb_fortran_stats(struct gpunb_stats *stats);
/** Name of the backend in use, NULL if the library is not open. */
const char *gpunb_fortran_backend(void);
/** Count an entry of a list of perturbers that was left out. */
void gpunb_fortran_count_mended(void);

/** A new handle with the options of the environment; ends the program if it cannot be created. */
gpunb_t *gpunb_fortran_create(const char *call, int n_max);
/** One line on stderr with the backend in use and the reasons against better ones, unless NBC_QUIET is set; the
 *  second time only if something has changed. */
void gpunb_fortran_announce(const char *library, int rank, const gpunb_t *handle);

/** Print "call: message" and end the program with the exit code of the status. */
void gpunb_fortran_stop(const char *call, int status, const char *message) __attribute__((noreturn));

#endif
