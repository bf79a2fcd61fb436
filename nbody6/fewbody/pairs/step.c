/* The two stages of the block step that belong to pairs. */
#include "nbody6/fewbody/pairs/step.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/events.h"
#include "nbody6/fewbody/pairs/galaxy.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/ks.h"

#include <math.h>

/* Pairs that are perturbed by more than this may have to end (pairs/end.c). */
static const double GAMMA_TO_LOOK = 0.05;

/* A centre of mass joins the block if the system must end by its kind. */
static void look_at_pair(struct nb6_sim *sim, nb6_slot slot)
{
    struct nb6_active *active = &sim->active;
    if (!nb6_kind_of(&sim->subsystems, slot)->look(sim, slot)) return;
    active->n_irr = nb6_list_insert(active->irr, active->n_irr, nb6_centre(sim, slot));
}

int nb6_pair_is_wide(const struct nb6_sim *sim, nb6_slot slot)
{
    if (nb6_goes_on_demand(&sim->subsystems, slot) || nb6_subsystems_is_perturbed(&sim->subsystems, slot)) return 0;
    return !nb6_slot_stays(sim, slot) || nb6_stars_have_radii(sim);
}

/* At the end of a step of their centre of mass some pairs are checked, whether or not a step of their motion ends as
 * well: unperturbed ones may come apart, colliding stars merge then, and a star from outside may be about to touch one
 * of them. */
static int look_at_centres(struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    for (int64_t at = active->n_irr - 1; at >= 0 && nb6_is_centre(sim, active->irr[at]); at--) {
        const nb6_slot slot = nb6_slot_of(sim, active->irr[at]);
        const int is_wide = nb6_pair_is_wide(sim, slot);
        const int may_touch = nb6_stars_have_radii(sim) && !nb6_goes_on_demand(&sim->subsystems, slot);
        if (!is_wide && !may_touch) continue;
        int status = is_wide ? nb6_pair_finish(sim, slot, active->t, err) : nb6_save_slot(sim, slot, err);
        if (status) return status;
        look_at_pair(sim, slot);
    }
    return NBC_OK;
}

/* Bookkeeping of a group that was advanced, which may have to end. */
static int after_group(struct nb6_sim *sim, nb6_slot leader, int looks, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_motion motion = nb6_subsystems_motion(p);
    int status = NBC_OK;
    p->next[leader] = INFINITY;
    p->system[leader].begun = 0;
    for (nb6_slot slot = leader; slot >= 0 && !status; slot = p->follower[slot]) {
        const struct nb6_kind *kind = nb6_kind_of(p, slot);
        if (kind->publish) status = kind->publish(sim, slot, err);
        p->next[leader] = fmin(p->next[leader], nb6_slot_step_end(p, &motion, slot));
        if (looks) look_at_pair(sim, slot);
    }
    return status;
}

/* Work of the groups that are due, and of the galaxy on them. */
static int count_work(struct nb6_sim *sim, int64_t n_due, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    int status = NBC_OK;
    for (int64_t k = 0; k < n_due; k++)
        for (nb6_slot slot = p->due[k]; slot >= 0 && !status; slot = p->follower[slot]) {
            nb6_kind_of(p, slot)->count_work(sim, slot);
            status = nb6_slot_book_galaxy_work(sim, slot, err);
        }
    return status;
}

/* The same, with events for those that take more than their share. */
static int count_due(struct nb6_sim *sim, int64_t n_due, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    int status = count_work(sim, n_due, err);
    for (int64_t k = 0; k < n_due && !status; k++)
        for (nb6_slot slot = p->due[k]; slot >= 0 && !status; slot = p->follower[slot])
            status = nb6_slot_tell(sim, slot, err);
    return status;
}

static int step(struct nb6_sim *sim, enum nb6_due which, int *paused, struct nbc_error *err)
{
    *paused = 0;
    if (sim->subsystems.count == 0) return NBC_OK;
    double start = nbc_wtime();
    struct nb6_advance did;
    int status = nb6_subsystems_advance(sim, sim->active.t, which, -1, INT64_MAX, &did, err);
    *paused = did.paused;
    if (!status) status = count_due(sim, did.n_due, err);
    if (!status && !did.paused) status = look_at_centres(sim, err);
    for (int64_t k = 0; k < did.n_due && !status && !did.paused; k++)
        status = after_group(sim, sim->subsystems.due[k], 1, err);
    sim->chain_s += did.chain_s;
    nb6_profile_stage(sim, NB6_STAGE_PAIRS, nbc_wtime() - start);
    return status;
}

int nb6_step_pairs(struct nb6_sim *sim, int *paused, struct nbc_error *err)
{
    return step(sim, NB6_DUE_ALL, paused, err);
}

int nb6_step_pairs_now(struct nb6_sim *sim, int *paused, struct nbc_error *err)
{
    return step(sim, NB6_DUE_NOW, paused, err);
}

/* Do decisions about a pair (nb6_pair_must_end) depend on the pair alone? If not, it stays `begun`, and the next block
 * decides. */
static int is_calm(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    if (sim->subsystems.system[slot].remote) return 1; /* it cannot come apart */
    return ks->gamma <= GAMMA_TO_LOOK && ks->now.r <= sim->subsystems.system[slot].r_end;
}

int nb6_step_pairs_rest(struct nb6_sim *sim, int64_t *last, int64_t most, int64_t *n, struct nbc_error *err)
{
    const double start = nbc_wtime();
    struct nb6_advance did;
    int status = nb6_subsystems_advance(sim, sim->active.t, NB6_DUE_REST, *last, most, &did, err);
    *n = did.n_due;
    if (*n > 0) *last = sim->subsystems.due[*n - 1];
    if (!status) status = count_due(sim, did.n_due, err);
    for (int64_t k = 0; k < did.n_due && !status; k++)
        if (is_calm(sim, sim->subsystems.due[k])) status = after_group(sim, sim->subsystems.due[k], 1, err);
    nb6_profile_stage(sim, NB6_STAGE_PAIRS, nbc_wtime() - start);
    return status;
}

/* Count the work of the advanced groups, and check them, if the advance succeeded. */
static int after_following(struct nb6_sim *sim, const struct nb6_advance *did, int status, double start,
                           struct nbc_error *err)
{
    if (!status) status = count_work(sim, did->n_due, err);
    for (int64_t k = 0; k < did->n_due && !status; k++) status = after_group(sim, sim->subsystems.due[k], 0, err);
    nb6_profile_stage(sim, NB6_STAGE_PAIRS, nbc_wtime() - start);
    return status;
}

int nb6_step_pairs_follow(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, struct nbc_error *err)
{
    const double start = nbc_wtime();
    struct nb6_advance did;
    const int status = nb6_subsystems_follow(sim, t, n, body, &did, err);
    return after_following(sim, &did, status, start, err);
}

int nb6_step_pairs_follow_next(struct nb6_sim *sim, nb6_time t, int64_t *last, struct nbc_error *err)
{
    const double start = nbc_wtime();
    struct nb6_advance did;
    const int status = nb6_subsystems_follow_next(sim, t, *last, &did, err);
    *last = did.n_due > 0 ? sim->subsystems.due[0] : -1;
    return after_following(sim, &did, status, start, err);
}
