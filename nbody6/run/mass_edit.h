/** A change of masses and velocities within the transaction of its caller: all that acts and is acted on, the books,
 * the event. Private to libnbody6. */
#ifndef NB6_MASS_EDIT_H
#define NB6_MASS_EDIT_H

#include "common/nbc.h"

struct nb6_new_masses;
struct nb6_sim;

/** Whether all motions can come to the present time, ti_reached.   @return NBC_OK; NBC_BAD_STATE */
int nb6_mass_edit_check(const struct nb6_sim *sim, struct nbc_error *err);
/** The change, at ti_reached. The caller rolls back after a failure, and sets ti_now as it was.
 *  @return NBC_OK; NBC_BAD_INPUT; NBC_NO_MEMORY; the status of a library */
int nb6_mass_edit(struct nb6_sim *sim, const struct nb6_new_masses *masses, struct nbc_error *err);

#endif
