/** Common part of the Fortran shims of GPUIRR: one static handle, 1-based body numbers, and errors that end the
 *  program, since the legacy calls return nothing: one line on stderr that begins with the name of the call. Private.
 */
#ifndef GPUIRR_FORTRAN_COMMON_H
#define GPUIRR_FORTRAN_COMMON_H

#include "gpuirr/gpuirr.h"

/** The name of the library, in the object that defines the legacy calls (as gpunb_legacy_calls in
 *  gpunb/fortran/common.h). */
extern const char gpuirr_legacy_calls[];

/** A second open without a close keeps all stored bodies and lists, as legacy callers expect, and makes room for more
 *  bodies. The capacity exceeds n_max by a quarter and a thousand: programs do not open the library anew when they
 *  have formed more pairs than they foresaw.
 *  @param[in] library its name, with which the line about the backend on stderr begins
 *  @param[in] rank    of the process among those of MPI, -1: none is known
 *  @param[in] l_max   leading dimension of the caller's LIST: a longer list is an error of the caller */
void gpuirr_fortran_open(const char *call, const char *library, int rank, int n_max, int l_max);
/** Does nothing if the library is not open. Reports corrected or omitted list entries since then, if there are any. */
void gpuirr_fortran_close(void);

/** One line on stderr with the backend in use and the reasons against better ones, unless NBC_QUIET is set; the
 *  second time only if something has changed. */
void gpuirr_fortran_announce(const char *library, int rank, const gpuirr_t *handle);

int gpuirr_fortran_is_open(void);
/** The open library; ends the program if there is none. */
gpuirr_t *gpuirr_fortran_handle(const char *call);
/** Ends the program if status is not NBC_OK, with the library's message. */
void gpuirr_fortran_check(const char *call, int status);
/** Ends the program. */
_Noreturn void gpuirr_fortran_stop(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** @param[in] acc_over_2, jerk_over_6 the Taylor-scaled derivatives of the legacy COMMON */
void gpuirr_fortran_set_jp(const char *call, int addr, const double x[3], const double v[3], const double acc_over_2[3],
                           const double jerk_over_6[3], double mass, double t0);
/** Entries may come in any order. The body itself, and the second of two equal entries, are left out and counted.
 *  @param[in] nblist count, then that many body numbers; nothing behind them is read */
void gpuirr_fortran_set_list(const char *call, int addr, const int *nblist);
/** @param[out] nblist as in gpuirr_fortran_set_list */
void gpuirr_fortran_get_list(const char *call, int addr, int *nblist);
/** 0-based copy of body numbers, valid until the next call. */
const int32_t *gpuirr_fortran_active(const char *call, int n_act, const int *addr);
/** Largest body number that there is room for. */
int gpuirr_fortran_n_max(void);
/** Largest number of a body that was stored; 0: none was. */
int gpuirr_fortran_highest(void);

#endif
