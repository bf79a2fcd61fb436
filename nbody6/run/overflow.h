/** Pairs whose stars would exchange mass. Private to libnbody6. */
#ifndef NB6_OVERFLOW_H
#define NB6_OVERFLOW_H

#include "common/nbc.h"

struct nb6_frame;
struct nb6_sim;

/** Radius of a Roche lobe over the separation.   @param[in] q  mass of the star over that of its companion */
double nb6_roche_lobe(double q);
/** Look at all regularized pairs of two stars that age, and tell of those that are found for the first time to
 *  overflow or to touch at pericentre. Within a transaction.
 *  @return NBC_OK; NBC_NO_MEMORY; the status of the library of stars */
int nb6_overflow_look(struct nb6_sim *sim, const struct nb6_frame *frame, struct nbc_error *err);

#endif
