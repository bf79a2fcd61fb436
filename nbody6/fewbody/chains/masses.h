/** New masses and velocities of stars in a chain. Private to libnbody6. */
#ifndef NB6_CHAINS_MASSES_H
#define NB6_CHAINS_MASSES_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_new_masses;
struct nb6_sim;

/** The motion of the chain in a slot begins anew with them, at its present time; its body gets the sum of the masses.
 *  @param[out] shift  of the centre of mass, position and velocity   @return as nb6_body_set_masses */
int nb6_chain_set_masses(struct nb6_sim *sim, nb6_slot slot, const struct nb6_new_masses *masses, double shift[2][3],
                         struct nbc_error *err);

#endif
