/* GPUIRR as called by NBODY6++GPU. There are no prediction calls: each force call has its time. */
#include "gpuirr/fortran/common.h"

#include <stdio.h>

void irr_simd_open_(const int *n_max, const int *l_max, const int *rank);
void irr_simd_close_(const int *rank);
void irr_simd_profile_(const int *rank);
void irr_simd_set_jp_(const int *addr, const double pos[3], const double vel[3], const double acc2[3],
                      const double jrk6[3], const double *mass, const double *time);
void irr_simd_set_list_(const int *addr, const int *nblist);
void irr_simd_firr_vec_(const double *time, const int *n_act, const int *addr, double (*acc)[3], double (*jerk)[3],
                        int *nearest);

const char gpuirr_legacy_calls[] = "libgpuirr_nbody6pp";
static struct gpuirr_stats profiled; /* at the last irr_simd_profile_ */

void irr_simd_open_(const int *n_max, const int *l_max, const int *rank)
{
    gpuirr_fortran_open("irr_simd_open", gpuirr_legacy_calls, *rank, *n_max, *l_max);
}

void irr_simd_close_(const int *rank)
{
    (void)rank;
    gpuirr_fortran_close();
    profiled = (struct gpuirr_stats){.calls = 0};
}

/* Work and time since the last call, a line on stderr. The program also calls it before it opens the library. */
void irr_simd_profile_(const int *rank)
{
    struct gpuirr_stats now;
    if (!gpuirr_fortran_is_open()) return;
    gpuirr_get_stats(gpuirr_fortran_handle("irr_simd_profile"), &now);
    double seconds = now.seconds_pred + now.seconds_firr - profiled.seconds_pred - profiled.seconds_firr;
    double pairs = (double)(now.interactions - profiled.interactions);
    fprintf(stderr, "irr_simd: rank %d: %.4g s for %.4g interactions on %.4g bodies in %.4g calls, %.3g ns each\n",
            *rank, seconds, pairs, (double)(now.bodies - profiled.bodies), (double)(now.calls - profiled.calls),
            pairs > 0 ? 1e9 * seconds / pairs : 0);
    profiled = now;
}

void irr_simd_set_jp_(const int *addr, const double pos[3], const double vel[3], const double acc2[3],
                      const double jrk6[3], const double *mass, const double *time)
{
    gpuirr_fortran_set_jp("irr_simd_set_jp", *addr, pos, vel, acc2, jrk6, *mass, *time);
}

void irr_simd_set_list_(const int *addr, const int *nblist)
{
    gpuirr_fortran_set_list("irr_simd_set_list", *addr, nblist);
}

/* nearest: number of the nearest neighbour, 0 if the list is empty. */
void irr_simd_firr_vec_(const double *time, const int *n_act, const int *addr, double (*acc)[3], double (*jerk)[3],
                        int *nearest)
{
    static const char call[] = "irr_simd_firr_vec";
    gpuirr_t *handle = gpuirr_fortran_handle(call);
    const int32_t *act = gpuirr_fortran_active(call, *n_act, addr);
    size_t n = (size_t)*n_act;
    gpuirr_fortran_check(call, gpuirr_pred_all(handle, 0, (size_t)gpuirr_fortran_highest(), *time));
    gpuirr_fortran_check(call, gpuirr_firr_vec(handle, n, act, acc, jerk, nearest));
    for (size_t k = 0; k < n; k++) nearest[k]++;
}
