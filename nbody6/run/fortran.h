/** What the Fortran module `nbody6` (nbody6.f90) calls: nbody6.h behind one opaque pointer, since Fortran cannot share
 *  struct nb6_config. Private to libnbody6: Fortran programs use the module, C programs nbody6.h. Every int returned is
 *  a status of nbc.h; nb6_fortran_message has the words. */
#ifndef NB6_FORTRAN_H
#define NB6_FORTRAN_H

#include "common/nbc.h"

/** A configuration, and the simulation made from it as soon as there are stars. */
struct nb6_fortran;

/** NULL without memory. */
struct nb6_fortran *nb6_fortran_create(void);
void nb6_fortran_free(struct nb6_fortran *cluster);
/** What the last failing call had to say. */
const char *nb6_fortran_message(const struct nb6_fortran *cluster);

/** Records that the arrays of a call do not belong together. @return NBC_BAD_ARGUMENT */
int nb6_fortran_bad_shape(struct nb6_fortran *cluster, int64_t n);

/** nb6_input_set; NBC_BAD_STATE once there are stars. */
int nb6_fortran_set(struct nb6_fortran *cluster, const char *name, const char *value);
/** The configuration, for model_fortran.h, and where errors go; NULL, and an error, unless there are no stars yet. */
struct nb6_config *nb6_fortran_config(struct nb6_fortran *cluster);
struct nbc_error *nb6_fortran_error(struct nb6_fortran *cluster);

/** nb6_add_bodies, nb6_remove_bodies.   @param[in] name [n]; add: or NULL */
int nb6_fortran_add_bodies(struct nb6_fortran *cluster, int64_t n, const int64_t *name, const double *mass,
                           const double (*x)[3], const double (*v)[3]);
int nb6_fortran_remove_bodies(struct nb6_fortran *cluster, int64_t n, const int64_t *name);

/** nb6_create and nb6_set_bodies; after a failure, the call may be made again. @param[in] name [n] or NULL */
int nb6_fortran_set_bodies(struct nb6_fortran *cluster, int64_t n, const int64_t *name, const double *mass,
                           const double (*x)[3], const double (*v)[3]);
int nb6_fortran_evolve(struct nb6_fortran *cluster, double t);
/** Any array may be NULL. */
int nb6_fortran_get_bodies(struct nb6_fortran *cluster, int64_t n, int64_t *name, double *mass, double (*x)[3],
                           double (*v)[3]);

/** Numbers of struct nb6_energy, in its order. */
enum { NB6_FORTRAN_ENERGY = 15 };
int nb6_fortran_get_energy(struct nb6_fortran *cluster, double energy[NB6_FORTRAN_ENERGY]);

int nb6_fortran_checkpoint(struct nb6_fortran *cluster, const char *path);
/** nb6_restore; NBC_BAD_STATE if there are stars already. */
int nb6_fortran_restore(struct nb6_fortran *cluster, const char *path);

double nb6_fortran_time(const struct nb6_fortran *cluster);   /**< 0 without stars */
int64_t nb6_fortran_count(const struct nb6_fortran *cluster); /**< 0 without stars */
int nb6_fortran_stopped(const struct nb6_fortran *cluster);

#endif
