/** A simulation made anew from its stars at the present time, with others among them. Private to libnbody6. */
#ifndef NB6_REMAKE_H
#define NB6_REMAKE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** The stars after the change. */
struct nb6_census {
    int64_t n, kept;                /**< stars; those that were there before come first */
    int64_t *name;                  /**< [n] */
    double *mass, (*x)[3], (*v)[3]; /**< [n] */
    double *radius;                 /**< [n] of the stars themselves */
    double *mass_start;             /**< [n] when they came */
    int64_t n_pair;
    int32_t (*pair)[2]; /**< [n_pair] stars of the pairs that go on */
    nb6_slot *slot;     /**< [n_pair] where they were */
};

/** Room for n stars.   @return NBC_OK; NBC_NO_MEMORY */
int nb6_census_alloc(struct nb6_census *census, int64_t n, struct nbc_error *err);
void nb6_census_free(struct nb6_census *census);

/** Forces, lists, steps and schedule of all, pairs that go on and those that are hard; books and counters go on.
 *  @param[in] sim  at the time that it has reached; not changed
 *  @param[out] made  set on success only, with nb6_release to be given back
 *  @return NBC_OK; NBC_BAD_INPUT (two stars at one place); NBC_NON_FINITE; NBC_NO_MEMORY; NBC_DEVICE */
int nb6_remake(const struct nb6_sim *sim, const struct nb6_census *census, struct nb6_sim **made,
               struct nbc_error *err);

#endif
