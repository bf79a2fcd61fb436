/* Legacy dialect of NBODY6++GPU: the MPI rank is passed along, and the neighbour test is chosen by each call. */
#include "gpunb/fortran/common.h"

#include <stdio.h>

void gpunb_devinit_(const int *rank);
void gpunb_open_(const int *nbmax, const int *rank);
void gpunb_close_(void);
void gpunb_send_(const int *nj, const double *mj, const double (*xj)[3], const double (*vj)[3]);
void gpunb_regf_(const int *ni, const double *h2, const double *dtr, const double (*xi)[3], const double (*vi)[3],
                 double (*acc)[3], double (*jrk)[3], double *pot, const int *lmax, const int *nbmax, int *list,
                 const int *m_flag);
void gpunb_profile_(const int *rank);
void gpupot_(const int *rank, const int *istart, const int *ni, const int *n, const double *m, const double (*x)[3],
             double *pot);

const char gpunb_legacy_calls[] = "libgpunb_nbody6pp";
static struct gpunb_stats reported; /* by the last gpunb_profile_ */

void gpunb_devinit_(const int *rank)
{
    (void)rank; /* devices are found when the library is opened */
}

void gpunb_open_(const int *nbmax, const int *rank)
{
    gpunb_fortran_open(gpunb_legacy_calls, *rank, *nbmax);
}

void gpunb_close_(void)
{
    gpunb_fortran_close();
    reported = (struct gpunb_stats){0};
}

void gpunb_send_(const int *nj, const double *mj, const double (*xj)[3], const double (*vj)[3])
{
    gpunb_fortran_send(*nj, mj, xj, vj);
}

void gpunb_regf_(const int *ni, const double *h2, const double *dtr, const double (*xi)[3], const double (*vi)[3],
                 double (*acc)[3], double (*jrk)[3], double *pot, const int *lmax, const int *nbmax, int *list,
                 const int *m_flag)
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
                                                    .mass_weighted = *m_flag != 0,
                                                    .overflow_count = 1});
}

/* The program also calls it before it opens the library. */
void gpunb_profile_(const int *rank)
{
    struct gpunb_stats now;
    const char *backend = gpunb_fortran_backend();
    if (!backend) return;
    gpunb_fortran_stats(&now);
    double regf = now.seconds_regf - reported.seconds_regf;
    double pairs = (double)(now.interactions - reported.interactions);
    fprintf(stderr,
            "gpunb (%s) rank %d: %llu calls, %llu targets, %.4g interactions; seconds: send %.3f, regf %.3f, potential "
            "%.3f; %.3f G interactions/s\n",
            backend, *rank, (unsigned long long)(now.calls - reported.calls),
            (unsigned long long)(now.targets - reported.targets), pairs, now.seconds_send - reported.seconds_send, regf,
            now.seconds_potential - reported.seconds_potential, regf > 0.0 ? 1e-9 * pairs / regf : 0.0);
    reported = now;
}

void gpupot_(const int *rank, const int *istart, const int *ni, const int *n, const double *m, const double (*x)[3],
             double *pot)
{
    (void)rank;
    gpunb_fortran_potential(*istart - 1, *ni, *n, m, x, pot);
}
