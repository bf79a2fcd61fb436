#include "nbody6/fewbody/ready.h"

#include "common/nbc.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/lists.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"

static int is_at(const struct nb6_sim *sim, int64_t i, nb6_time t)
{
    return nb6_get_body(sim, i)->t0 == t && nb6_get_star(sim, i)->t0_reg == t;
}

static int all_are_at(const struct nb6_sim *sim, int64_t n, const nb6_index *list, nb6_time t)
{
    for (int64_t k = 0; k < n; k++)
        if (!is_at(sim, list[k], t)) return 0;
    return 1;
}

static int synchronise_all(struct nb6_sim *sim, int64_t n, const nb6_index *list, int8_t level, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t k = 0; k < n && !status; k++) status = nb6_body_synchronise(sim, list[k], level, err);
    return status;
}

/* The lists are in the engine image: leave the request to the engine. */
static void leave_pending(struct nb6_pending_sync *pending, nb6_index i, nb6_index j)
{
    const int32_t first = i < j ? i : j, second = i < j ? j : i;
    if (pending->n > 0 && pending->body[0] == first && pending->body[1] == second) return;
    pending->n++;
    pending->body[0] = first;
    pending->body[1] = second;
}

/* All bodies with only one of the two in their list take part. */
int nb6_subsystems_are_ready(struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_time t, int *ready,
                             struct nbc_error *err)
{
    const int8_t a = nb6_get_star(sim, i)->level_irr, b = nb6_get_star(sim, j)->level_irr, level = a < b ? a : b;
    const int32_t both[2] = {i, j};
    const nb6_index *body;
    int64_t n;
    *ready = 0;
    if (sim->engine_image.pending.is_looking) {
        leave_pending(&sim->engine_image.pending, i, j);
        return NBC_OK;
    }
    int status = nb6_lists_one_sided(sim, i, j, &n, &body, err);
    if (status) return status;
    *ready = all_are_at(sim, 2, both, t) && all_are_at(sim, n, body, t);
    if (*ready) return NBC_OK;
    status = synchronise_all(sim, 2, both, level, err);
    return status ? status : synchronise_all(sim, n, body, level, err);
}

int nb6_merger_is_ready(struct nb6_sim *sim, nb6_slot slot, nb6_time t, int *ready, struct nbc_error *err)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    const nb6_index centre = nb6_centre(sim, slot);
    const int8_t level = nb6_get_star(sim, centre)->level_irr;
    *ready = all_are_at(sim, 1, &centre, t) && all_are_at(sim, pert->n, pert->body, t);
    if (*ready) return NBC_OK;
    int status = synchronise_all(sim, 1, &centre, level, err);
    return status ? status : synchronise_all(sim, pert->n, pert->body, level, err);
}
