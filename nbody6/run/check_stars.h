/** Whether stars can be those of a simulation. */
#ifndef NB6_CHECK_STARS_H
#define NB6_CHECK_STARS_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_nearest;

/** @param[in] name [n] NULL: 1 to n   @param[out] nearest nearest neighbours of all stars, to be freed, also after a
 * failure; NULL: not found
 *  @return NBC_OK; NBC_BAD_INPUT or NBC_NON_FINITE (names the star, counted from 1); NBC_NO_MEMORY */
int nb6_check_stars(int64_t n, const int64_t *name, const double *mass, const double (*x)[3], const double (*v)[3],
                    struct nb6_nearest **nearest, struct nbc_error *err);

#endif
