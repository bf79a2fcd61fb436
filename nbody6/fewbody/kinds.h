/** The list of all kinds of few-body systems. */
#ifndef NB6_KINDS_H
#define NB6_KINDS_H

#include "common/nbc.h"

struct nb6_sim;

/** A run knows its kinds from then on: the first thing that a start or a resume does.
 *  @return NBC_OK; NBC_FILE: there is a system of a kind that is not in the list */
int nb6_kinds_install(struct nb6_sim *sim, struct nbc_error *err);

#endif
