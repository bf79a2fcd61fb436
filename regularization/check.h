/** Whether systems from a file are consistent, as this library leaves them. Private to libnbody6. */
#ifndef REGULARIZATION_CHECK_H
#define REGULARIZATION_CHECK_H

#include "common/misfit.h"

struct chain;
struct ks_pair;

/** Check of a pair: members that follow from others agree with these, and no number is so large or so small that
 *  steps would not end.
 *  @param[in]  pair    filled somehow; any numbers
 *  @param[out] misfit  the first inconsistent member */
void ks_check(const struct ks_pair *pair, struct nbc_misfit *misfit);

/** Check of a few-body system: numbers are in their ranges, members at different positions, and energy and step are
 *  possible for them.
 *  @param[in]  c       filled somehow; any numbers
 *  @param[out] misfit  the first inconsistent member */
void chain_check(const struct chain *c, struct nbc_misfit *misfit);

#endif
