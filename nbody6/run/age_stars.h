/** Stars age during a run: masses, kicks, events. Private to libnbody6. */
#ifndef NB6_AGE_STARS_H
#define NB6_AGE_STARS_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_aged;
struct nb6_sim;

/** All stars that are due by ti_reached become what they are then, in one transaction: winds slowly, supernovae and
 *  kicks suddenly. Where an engine has the state and nothing but winds
 *  of single stars acts on bodies, it stays there, and the observer hears later (nb6_engines_tell).
 *  @return NBC_OK; NBC_NO_MEMORY, the status of the library of stars, of a force library or of the observer */
int nb6_age_stars(struct nb6_sim *sim, struct nbc_error *err);
/** When a star changes next, seen from a time at which it is what its body shows.
 *  @return NBC_OK; the status of the library of stars */
int nb6_age_schedule(const struct nb6_sim *sim, struct nb6_aged *aged, nb6_time now, struct nbc_error *err);

#endif
