/** Single stars that come and go within a run that goes on: who sees them begins anew, all others lose or gain their
 *  pull. Private to libnbody6. */
#ifndef NB6_STAR_EDIT_H
#define NB6_STAR_EDIT_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Stars that come, or those that go. */
struct nb6_star_edit {
    int64_t n_come, n_gone;
    const int64_t *name;           /**< of stars that come: [n_come], NULL: new ones; of stars that go: [n_gone] */
    const double *mass;            /**< [n_come] */
    const double (*x)[3], (*v)[3]; /**< [n_come] */
};

/** @param[out] serves  whether a change is made so: few single stars of many go, or stars come that make no pair at
 * once; no star ages. All else makes the simulation anew (remake.h), and so does what has to be refused. The state is
 * in host memory. It follows from contents of a checkpoint.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_star_edit_serves(const struct nb6_sim *sim, const struct nb6_star_edit *edit, int *serves,
                         struct nbc_error *err);
/** The change, at ti_reached, as one transaction, of which the observer is told.
 *  @return NBC_OK; NBC_NO_MEMORY; the status of a library: the state is as it was; the status of the observer */
int nb6_star_edit(struct nb6_sim *sim, const struct nb6_star_edit *edit, struct nbc_error *err);

#endif
