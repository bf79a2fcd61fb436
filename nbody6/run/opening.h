/** Memory and libraries of a run, which a thread can open while the stars are looked at: a GPU takes a fifth of a
 * second to wake, and a tenth for the tables of a million stars. */
#ifndef NB6_OPENING_H
#define NB6_OPENING_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_sim;
struct nb6_opening;

/** Begin, with the configuration that `sim` has now. Where there is nothing to gain, or no thread, all is done by
 *  nb6_opening_end.   @return NULL: there is no memory for it */
struct nb6_opening *nb6_opening_begin(const struct nb6_sim *sim, int64_t n);
/** What was opened becomes the simulation's.
 *  @param[in] sim  NULL: it is not wanted after all   @return as nb6_sim_open; NBC_NO_MEMORY if there is no opening */
int nb6_opening_end(struct nb6_opening *opening, struct nb6_sim *sim, struct nbc_error *err);

#endif
