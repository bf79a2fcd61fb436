/** Models for the Fortran module `nbody6` (run/nbody6.f90). Private to libnbody6: C programs use model.h. */
#ifndef NB6_MODEL_FORTRAN_H
#define NB6_MODEL_FORTRAN_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_config;
struct nb6_model;

/** The model of a configuration, which is settled by it; its arrays as they are in struct nb6_model.
 *  @return as nb6_model_make */
int nb6_fortran_model_make(struct nb6_config *config, struct nb6_model **model, int64_t *n, int64_t **name,
                           double **mass, double (**x)[3], double (**v)[3], struct nbc_error *err);
void nb6_fortran_model_free(struct nb6_model *model);

#endif
