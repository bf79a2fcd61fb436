/* GPUIRR as called by NBODY6: gfortran names, arguments by reference, body numbers from 1. Calls that no present
 * version of its Fortran makes are kept for earlier versions. */
#include "gpuirr/fortran/common.h"

void gpuirr_open_(const int *n_max, const int *l_max);
void gpuirr_close_(void);
void gpuirr_set_jp_(const int *addr, const double pos[3], const double vel[3], const double acc2[3],
                    const double jrk6[3], const double *mass, const double *time);
void gpuirr_set_list_(const int *addr, const int *nblist);
void gpuirr_get_list_(const int *addr, int *nblist);
void gpuirr_pred_all_(const int *first, const int *last, const double *time);
void gpuirr_pred_act_(const int *n_act, const int *addr, const double *time);
void gpuirr_firr_vec_(const int *n_act, const int *addr, double (*acc)[3], double (*jerk)[3]);
void gpuirr_firr_(const int *addr, double acc[3], double jerk[3]);

const char gpuirr_legacy_calls[] = "libgpuirr";

void gpuirr_open_(const int *n_max, const int *l_max)
{
    gpuirr_fortran_open("gpuirr_open", gpuirr_legacy_calls, -1, *n_max, *l_max);
}

void gpuirr_close_(void)
{
    gpuirr_fortran_close();
}

void gpuirr_set_jp_(const int *addr, const double pos[3], const double vel[3], const double acc2[3],
                    const double jrk6[3], const double *mass, const double *time)
{
    gpuirr_fortran_set_jp("gpuirr_set_jp", *addr, pos, vel, acc2, jrk6, *mass, *time);
}

void gpuirr_set_list_(const int *addr, const int *nblist)
{
    gpuirr_fortran_set_list("gpuirr_set_list", *addr, nblist);
}

void gpuirr_get_list_(const int *addr, int *nblist)
{
    gpuirr_fortran_get_list("gpuirr_get_list", *addr, nblist);
}

/* Bodies first to last, both included. */
void gpuirr_pred_all_(const int *first, const int *last, const double *time)
{
    static const char call[] = "gpuirr_pred_all";
    gpuirr_t *handle = gpuirr_fortran_handle(call);
    if (*first < 1 || *last > gpuirr_fortran_n_max())
        gpuirr_fortran_stop(call, "bodies %d to %d, there are 1 to %d", *first, *last, gpuirr_fortran_n_max());
    int none = *last < *first;
    gpuirr_fortran_check(call,
                         gpuirr_pred_all(handle, none ? 0 : (size_t)(*first - 1), none ? 0 : (size_t)*last, *time));
}

void gpuirr_pred_act_(const int *n_act, const int *addr, const double *time)
{
    static const char call[] = "gpuirr_pred_act";
    const int32_t *act = gpuirr_fortran_active(call, *n_act, addr);
    gpuirr_fortran_check(call, gpuirr_pred_act(gpuirr_fortran_handle(call), (size_t)*n_act, act, *time));
}

void gpuirr_firr_vec_(const int *n_act, const int *addr, double (*acc)[3], double (*jerk)[3])
{
    static const char call[] = "gpuirr_firr_vec";
    const int32_t *act = gpuirr_fortran_active(call, *n_act, addr);
    gpuirr_fortran_check(call, gpuirr_firr_vec(gpuirr_fortran_handle(call), (size_t)*n_act, act, acc, jerk, NULL));
}

void gpuirr_firr_(const int *addr, double acc[3], double jerk[3])
{
    const int one = 1;
    gpuirr_firr_vec_(&one, addr, (double(*)[3])acc, (double(*)[3])jerk);
}
