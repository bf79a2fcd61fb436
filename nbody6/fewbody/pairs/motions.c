/* Relative motions at a time between the steps of the run: copies, which pictures of the run are made from. */
#include "nbody6/fewbody/pairs/motions.h"

#include "common/nbc.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <string.h>

static int is_of(const struct nb6_motions_now *now, const struct nb6_sim *sim, nb6_time t)
{
    return now->motion.ks && now->t == t && now->blocks == sim->run.counters.blocks;
}

static int begin(struct nb6_sim *sim, nb6_time t, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const size_t n = (size_t)p->n_slot, n_chain = (size_t)p->n_chain;
    nb6_motions_forget(sim);
    struct nb6_motions_now now = {.t = t, .blocks = sim->run.counters.blocks};
    now.motion.ks = nbc_alloc(n, sizeof *now.motion.ks);
    now.motion.chain = nbc_alloc(n_chain, sizeof *now.motion.chain);
    if (!now.motion.ks || !now.motion.chain) {
        nbc_free(now.motion.ks);
        nbc_free(now.motion.chain);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for %zu pairs", n);
    }
    if (n > 0) memcpy(now.motion.ks, p->ks, n * sizeof *now.motion.ks);
    if (n_chain > 0) memcpy(now.motion.chain, p->chain, n_chain * sizeof *now.motion.chain);
    sim->motions_now = now;
    return NBC_OK;
}

int nb6_motions_at(struct nb6_sim *sim, nb6_time t, int pausing, int *paused, struct nbc_error *err)
{
    struct nb6_motions_now *now = &sim->motions_now;
    int status = NBC_OK;
    *paused = 0;
    if (!is_of(now, sim, t)) status = begin(sim, t, err);
    if (status || now->complete) return status;
    status = nb6_subsystems_advance_copy(sim, &now->motion, t, pausing, paused, err);
    now->complete = !status && !*paused;
    if (status) nb6_motions_forget(sim);
    return status;
}
