/** Events of pairs and chains that form and end, and their energies. */
#ifndef NB6_PAIRS_EVENTS_H
#define NB6_PAIRS_EVENTS_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"

#include <stdint.h>

struct nb6_event;
struct nb6_sim;

/** Raise the event that a system ends, without ending it.   @param[in] reason  of a pair */
int nb6_slot_report_end(struct nb6_sim *sim, nb6_slot slot, enum nb6_pair_reason reason, struct nbc_error *err);
/** Raise the events of the pairs that exist from the start. */
int nb6_subsystems_announce_first(struct nb6_sim *sim, struct nbc_error *err);
/** Add the potential energy, without the factor of the slot's own attraction, that bodies which a slot does not resolve
 * have with its stars in one place, less that with the stars where they are. The change of the total energy is the sum
 * over the slots that vanish minus the sum over the new ones.   @param[in] except  [n_except] bodies left out
 *  @return NBC_OK; of an engine that is asked for the sum (state/survey.h): NBC_NO_MEMORY; NBC_DEVICE */
int nb6_add_apart(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, int n_except, const nb6_index *except,
                  double *energy, struct nbc_error *err);
/** Potential energy of the stars in a slot with its perturbers and, if it acts, with the galaxy, beyond that of a point
 *  of mass: lost when they become one star. All are at time t, or predicted to it. */
double nb6_potential_inside(const struct nb6_sim *sim, nb6_slot slot, nb6_time t);
/** Book the energy of a change, in the channel of the event, and raise the event. */
int nb6_change_tell(struct nb6_sim *sim, struct nb6_event *event, double energy_change, struct nbc_error *err);
/** Raise events for a pair or chain that has done more than half of the work of the run, and for a chain that does not
 *  reach its tolerance; again at twice the number. */
int nb6_slot_tell(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err);

#endif
