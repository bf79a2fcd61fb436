/** Bodies that change, with what they do to all others. Private to libnbody6. */
#ifndef NB6_EXCHANGE_H
#define NB6_EXCHANGE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** A body as it was and as it is, each with a path; on one path, `before` has the mass that it loses. */
struct nb6_exchanged {
    nb6_index body;
    int32_t has_new_path; /**< such a body begins anew */
    struct nb6_body before, after;
};
/** Complete it: body and `before`, as it was, are set. */
void nb6_exchanged_set(struct nb6_exchanged *exchanged, const struct nb6_body *after);

/** The forces of bodies as they were give way to those of the bodies as they are, in the polynomials of all others, as
 *  if they had always been so: in the irregular one of those that have the body in their list, in the regular one of
 *  others. Positions and velocities at time t do not change. All others are saved (nb6_save_all_as_they_are).
 *  @param[in] exchanged [n] ascending   @param[in] anew [bodies] 1: begins anew with its forces at t
 *  @return NBC_OK; NBC_NO_MEMORY: nothing has changed then */
int nb6_exchange_pulls(struct nb6_sim *sim, int64_t n, const struct nb6_exchanged exchanged[], const int8_t *anew,
                       nb6_time t, struct nbc_error *err);

#endif
