/* Checks of stars, times and masses that callers give. */
#ifndef STELLAR_CHECK_H
#define STELLAR_CHECK_H

#include "stellar/model.h"

/** NBC_OK, NBC_BAD_ARGUMENT or NBC_NON_FINITE, with a sentence that names the limit. */
int stellar_check_star(const struct stellar_model *model, const struct stellar_star *star, struct nbc_error *err);
int stellar_check_time(const struct stellar_star *star, double time_myr, struct nbc_error *err);
int stellar_check_mass(double mass, double least, struct nbc_error *err);
int stellar_check_view(const struct stellar_view *view, struct nbc_error *err);

#endif
