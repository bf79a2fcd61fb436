/** The systems that resolve a body: those with the body in their list of perturbers (subsystems.h).
 *
 *  Each list has, beside every body, the next system that resolves that body. So the systems of a body are found
 * without a search among all systems, and a change of a list needs no memory beyond that of the list itself. */
#ifndef NB6_RESOLVERS_H
#define NB6_RESOLVERS_H

#include "nbody6/state/body.h"
#include "nbody6/state/subsystems.h"

#include <stdint.h>

/** Memory for so many perturbers and their resolvers; those that are there are kept.   @return 0 if there is none */
int nb6_perturbers_reserve(struct nb6_perturbers *pert, int64_t n);
/** The system with the lowest slot that resolves a body; NB6_NO_SLOT: there is none. */
static inline nb6_slot nb6_resolver_first(const struct nb6_subsystems *subsystems, int64_t body)
{
    return subsystems->resolved_by[body];
}

static inline int nb6_is_resolved(const struct nb6_subsystems *subsystems, int64_t body)
{
    return nb6_resolver_first(subsystems, body) >= 0;
}

/** The one after a system that resolves the body, in ascending order of slots; NB6_NO_SLOT: it is the last one. */
nb6_slot nb6_resolver_next(const struct nb6_subsystems *subsystems, nb6_slot slot, int64_t body);
/** Remove a slot from the resolvers of all bodies in its list, before the list changes. */
void nb6_resolver_remove(struct nb6_subsystems *subsystems, nb6_slot slot);
/** Add a slot to the resolvers of all bodies in its list, after the list has changed. */
void nb6_resolver_add(struct nb6_subsystems *subsystems, nb6_slot slot);
/** Find the resolvers of all bodies anew, from the lists of all slots. */
void nb6_resolvers_find(struct nb6_subsystems *subsystems, int64_t bodies);

/** Note a slot, and all in its group, for groups.h: its perturbers change, or whether its motion goes on demand. */
void nb6_note_slot(struct nb6_subsystems *subsystems, nb6_slot slot);
/** The same if its motion comes to another time, or begins anew. */
void nb6_note_motion(struct nb6_subsystems *subsystems, nb6_slot slot);
/** Note all slots in use, whatever was noted or linked before. */
void nb6_note_all_slots(struct nb6_subsystems *subsystems);

#endif
