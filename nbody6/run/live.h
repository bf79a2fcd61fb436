/** Existing simulations: a pointer from a program is looked up here before it is read, so that NULL and freed
 *  simulations are refused. */
#ifndef NB6_LIVE_H
#define NB6_LIVE_H

#include "common/nbc.h"

struct nb6_sim;

/** A new simulation, zeroed, that the calls of nbody6.h take.   @return NULL: no memory */
struct nb6_sim *nb6_live_make(void);
/** Whether this is one.   Threads: any */
int nb6_live_is(const struct nb6_sim *sim);
/** @return NBC_OK; NBC_BAD_ARGUMENT: NULL or freed */
int nb6_live_check(const struct nb6_sim *sim, const char *call, struct nbc_error *err);
/** A call that observers may hear of begins, and ends with a status.
 *  @return begin: as nb6_live_check; NBC_BAD_STATE: it comes from an observer within such a call;
 *          end: the status; NBC_BAD_STATE: an observer has freed the simulation, which is gone now */
int nb6_live_begin(struct nb6_sim *sim, const char *call, struct nbc_error *err);
int nb6_live_end(struct nb6_sim *sim, int status, struct nbc_error *err);

/** Frees a simulation that nb6_live_make has not made, or that is not listed any more. */
void nb6_release(struct nb6_sim *sim);

#endif
