/** Who keeps the bodies and makes the stages of a block that concern all of them.
 *
 *  The step (step.c) is the same for every engine: it selects a block, lets few-body systems come to its time, seals
 * it, has it computed and committed, and decides who becomes or leaves a system. Few-body systems read bodies and lists
 *  through state/view.h; between the calls below those are what the last commit or start left. An engine reports a
 *  failure by a status and leaves the state as it was before the call, with the help of the transaction that is open
 *  (state/transaction.h); `commit` alone comes after all that can fail but a library's own error. The host engine keeps
 *  all in memory and calls GPUNB and GPUIRR (host_engine.c). */
#ifndef NB6_ENGINE_H
#define NB6_ENGINE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

struct nb6_engine {
    const char *name;
    /** Time of the next block. */
    nb6_time (*next)(const struct nb6_sim *sim);
    /** 1. The next block: active.t, and who is due, ascending, in active.irr[n_irr]. Centres of mass may join until
     *  `seal`. */
    void (*select)(struct nb6_sim *sim);
    /** The members are complete: active.reg[n_reg] are those whose regular step ends as well. */
    void (*seal)(struct nb6_sim *sim);
    /** 3 to 7. Prediction, irregular and regular forces with the corrections for resolved systems (nb6_pairs_correct),
     *  both correctors, new lists, steps and radii, into active.corrected. Bodies stay as they are.
     *  @return NBC_OK; NBC_NON_FINITE (body and quantity are named); NBC_NO_MEMORY; what a library returned */
    int (*compute)(struct nb6_sim *sim, struct nbc_error *err);
    /** 8. What was computed becomes the state; ti_now is active.t. */
    int (*commit)(struct nb6_sim *sim, struct nbc_error *err);
    /** Lists, forces and first steps of bodies that are new at ti_now (nb6_start_bodies).   @param[in] list [n] */
    int (*start)(struct nb6_sim *sim, int64_t n, const int32_t *list, struct nbc_error *err);
};

/** The engine of a run. */
const struct nb6_engine *nb6_engine_of(const struct nb6_sim *sim);

#endif
