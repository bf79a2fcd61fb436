/** Changes of subsystems: pairs that form and end, chains that grow and shrink. All happen at the end of a block, at
 *  its time, one after the other; then all new bodies get forces and steps together. */
#ifndef NB6_CHANGE_H
#define NB6_CHANGE_H

#include "common/nbc.h"

struct nb6_change;
struct nb6_decisions;
struct nb6_sim;

/** Apply all decisions at the time of the last block: slots, lists, places; the bodies that are new have no forces yet.
 *  @param[out] c  c->fresh: those bodies, ascending; to be freed, also after a failure */
int nb6_change_apply(struct nb6_sim *sim, const struct nb6_decisions *decisions, struct nb6_change *c,
                     struct nbc_error *err);
/** After the new bodies have started: begin relative motions, book the energy, raise the events. */
int nb6_change_finish(struct nb6_sim *sim, struct nb6_change *c, struct nbc_error *err);
void nb6_change_free(struct nb6_change *c);

#endif
