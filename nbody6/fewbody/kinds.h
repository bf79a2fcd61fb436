/** The list of all kinds of few-body systems. */
#ifndef NB6_KINDS_H
#define NB6_KINDS_H

#include "common/nbc.h"

struct nb6_sim;

/** Install the kinds of a run, first of all in a start or a resume.
 *  @return NBC_OK; NBC_FILE: there is a system of a kind that is not in the list */
int nb6_kinds_install(struct nb6_sim *sim, struct nbc_error *err);

#endif
