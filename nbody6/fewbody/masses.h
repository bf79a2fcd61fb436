/** New masses and velocities of stars, single ones and members of systems: of the bodies and motions alone, not of the
 *  forces on others (run/set_masses.c). Private to libnbody6. */
#ifndef NB6_MASSES_H
#define NB6_MASSES_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_new_masses;
struct nb6_sim;

/** The stars of a body get them: of a single star; of a pair, also with a frozen pair inside; of a chain. All motions
 * in it are at time ti_now, and so is the body, if stars get velocities or mass is lost suddenly; all is saved. The
 * body moves to the centre of mass; its forces, those on others, and the steps of its motion are to begin anew.
 *  @return NBC_OK; NBC_BAD_INPUT (a system would have no mass, or a member of a chain none: names the star); what
 *          chain_init and ks_init return */
int nb6_body_set_masses(struct nb6_sim *sim, nb6_index body, const struct nb6_new_masses *masses,
                        struct nbc_error *err);

#endif
