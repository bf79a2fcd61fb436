/** Functions for the Fortran module `nbody6` (nbody6.f90): nbody6.h behind a number, since Fortran cannot share
 *  struct nb6_config. Private to libnbody6: Fortran programs use the module, C programs nbody6.h. Every int returned is
 *  a status of nbc.h; nb6_fortran_message has the words. */
#ifndef NB6_FORTRAN_H
#define NB6_FORTRAN_H

#include "common/nbc.h"

/** A cluster is a configuration, and the simulation made from it as soon as there are stars. Fortran has its number:
 *  positive, and never that of another one. Calls with another number do nothing and return NBC_BAD_STATE.
 *  @return 0: no memory */
int64_t nb6_fortran_create(void);
void nb6_fortran_free(int64_t cluster);
/** Message of the last failing call. */
const char *nb6_fortran_message(int64_t cluster);

/** Records that the arrays of a call do not belong together.   @return NBC_BAD_ARGUMENT */
int nb6_fortran_bad_shape(int64_t cluster, int64_t n);

/** nb6_input_set; NBC_BAD_STATE once there are stars. */
int nb6_fortran_set(int64_t cluster, const char *name, const char *value);
/** The configuration, for model_fortran.h, and where errors go; NULL, and an error, unless there are no stars yet. */
struct nb6_config *nb6_fortran_config(int64_t cluster);
struct nbc_error *nb6_fortran_error(int64_t cluster);

/** nb6_add_bodies, nb6_remove_bodies.   @param[in] name [n]; add: or NULL */
int nb6_fortran_add_bodies(int64_t cluster, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                           const double (*v)[3]);
int nb6_fortran_remove_bodies(int64_t cluster, int64_t n, const int64_t *name);

/** nb6_set_masses.   @param[in] v [n] or NULL   @param[in] sudden  0: slowly */
int nb6_fortran_set_masses(int64_t cluster, int64_t n, const int64_t *name, const double *mass, const double (*v)[3],
                           int sudden);
/** nb6_get_field; any array but x may be NULL. */
int nb6_fortran_get_field(int64_t cluster, int64_t n, const double (*x)[3], double *potential, double (*acc)[3],
                          double *galaxy_potential, double (*galaxy_acc)[3]);

/** nb6_create and nb6_set_bodies; after a failure, the call may be made again.   @param[in] name [n] or NULL */
int nb6_fortran_set_bodies(int64_t cluster, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                           const double (*v)[3]);
int nb6_fortran_evolve(int64_t cluster, double t);
/** Any array may be NULL. */
int nb6_fortran_get_bodies(int64_t cluster, int64_t n, int64_t *name, double *mass, double (*x)[3], double (*v)[3]);

/** Numbers of struct nb6_energy, in its order. */
enum { NB6_FORTRAN_ENERGY = 15 };
int nb6_fortran_get_energy(int64_t cluster, double energy[NB6_FORTRAN_ENERGY]);

int nb6_fortran_checkpoint(int64_t cluster, const char *path);
/** nb6_restore; NBC_BAD_STATE if there are stars already. */
int nb6_fortran_restore(int64_t cluster, const char *path);

double nb6_fortran_time(int64_t cluster);   /**< 0 without stars */
int64_t nb6_fortran_count(int64_t cluster); /**< 0 without stars */
int nb6_fortran_stopped(int64_t cluster);

#endif
