#include "gpunb/fortran/host.h"

#include "gpunb/fortran/common.h"
#include "gpunb/pair.h"

#include <stdio.h>
#include <string.h>

static double start_time;

__attribute__((constructor)) static void note_start(void)
{
    start_time = nbc_wtime();
}

void cxvpred_(const int *js, const int *je, const double *time, const double *t0, const double (*x0)[3],
              const double (*x0dot)[3], const double (*f)[3], const double (*fdot)[3], double (*x)[3],
              double (*xdot)[3], double *tpred)
{
    double now = *time;
#pragma omp parallel for schedule(static) if (*je - *js > 5000)
    for (int j = *js - 1; j < *je; j++) {
        if (tpred[j] == now) continue;
        double s = now - t0[j];
        for (int k = 0; k < 3; k++) {
            x[j][k] = x0[j][k] + s * (x0dot[j][k] + s * (f[j][k] + s * fdot[j][k]));
            xdot[j][k] = x0dot[j][k] + 2.0 * s * (f[j][k] + 1.5 * s * fdot[j][k]);
        }
        tpred[j] = now;
    }
}

void cnbint_(const int *i, const double (*pos)[3], const double (*vel)[3], const double *mass, const int *nnb,
             const int *nblist, double *f, double *fdot)
{
    char text[160];
    struct gpunb_sum sum = {0};
    const double *xi = pos[*i - 1], *vi = vel[*i - 1];
    for (int k = 0; k < *nnb - 1; k++) {
        int j = nblist[k];
        if (j == *i || (k > 0 && j == nblist[k - 1])) {
            gpunb_fortran_count_mended();
            continue;
        }
        if (j < 1) {
            snprintf(text, sizeof text, "entry %d of the list of body %d is %d", k + 1, *i, j);
            gpunb_fortran_stop("cnbint", NBC_BAD_ARGUMENT, text);
        }
        const double *xj = pos[j - 1], *vj = vel[j - 1];
        const double dx[3] = {xj[0] - xi[0], xj[1] - xi[1], xj[2] - xi[2]};
        const double dv[3] = {vj[0] - vi[0], vj[1] - vi[1], vj[2] - vi[2]};
        gpunb_pair_add(dx, dv, mass[j - 1], &sum);
    }
    double all = 0.0;
    for (int k = 0; k < 3; k++) all += sum.acc[k] + sum.jerk[k];
    if (!isfinite(all)) {
        snprintf(text, sizeof text, "the force of %d neighbours on body %d is not finite", *nnb - 1, *i);
        gpunb_fortran_stop("cnbint", NBC_NON_FINITE, text);
    }
    memcpy(f, sum.acc, sizeof sum.acc);
    memcpy(fdot, sum.jerk, sizeof sum.jerk);
}

void wtime_(int *ihour, int *imin, int *isec)
{
    int seconds = (int)dbltim_();
    *ihour = seconds / 3600;
    *imin = seconds / 60 % 60;
    *isec = seconds % 60;
}

double dbltim_(void)
{
    return nbc_wtime() - start_time;
}
