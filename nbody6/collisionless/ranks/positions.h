/** Whether the bodies of a rank are where a tree can have them. */
#ifndef NB6_RANK_POSITIONS_H
#define NB6_RANK_POSITIONS_H

#include "common/nbc.h"

#include <stdint.h>

/** @param[in] name  [n] for messages   @param[in] x  [n]
 *  @return NBC_OK; NBC_BAD_ARGUMENT, NBC_NON_FINITE: names the first body that is too far */
int nb6_rank_positions_check(int64_t n, const int64_t *name, const double (*x)[3], struct nbc_error *err);

#endif
