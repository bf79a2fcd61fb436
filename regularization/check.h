/** Whether systems that come from a file are such as this library leaves behind. Private to libnbody6. */
#ifndef REGULARIZATION_CHECK_H
#define REGULARIZATION_CHECK_H

#include "common/misfit.h"

struct chain;
struct ks_pair;

/** Of a pair: what follows from other members is compared with them, and nothing is so large or so small that steps
 *  would not end.
 *  @param[in]  pair    filled somehow; any numbers
 *  @param[out] misfit  the first member that does not fit */
void ks_check(const struct ks_pair *pair, struct nbc_misfit *misfit);

/** Of a few-body system: numbers in their ranges, members at different places, an energy and a step that they can have.
 *  @param[in]  c       filled somehow; any numbers
 *  @param[out] misfit  the first member that does not fit */
void chain_check(const struct chain *c, struct nbc_misfit *misfit);

#endif
