/** New numbers of bodies after some have left. */
#ifndef NB6_RENAME_H
#define NB6_RENAME_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_sim;

/** After stars left: members, lists and sources by the new numbers of bodies, -1 for who is gone; sim->n is the new
 * one. Pairs whose centre of mass is gone vanish. */
int nb6_pairs_rename(struct nb6_sim *sim, const int32_t *moved, struct nbc_error *err);

#endif
