/* A pair of which a member is a frozen pair as a kind of few-body system. */
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/hierarchies/hierarchies.h"
#include "nbody6/fewbody/hierarchies/search.h"
#include "nbody6/fewbody/pairs/kind.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/ks.h"

/* A hierarchy is broken up, so that its inner pair feels the intruder. */
static const double GAMMA_BREAK = 0.05;

static int takes(const struct nb6_sim *sim, nb6_slot slot)
{
    return nb6_is_hierarchy(sim, slot);
}

/* It has to be broken up before it can be part of a chain. */
static double extent(const struct nb6_sim *sim, nb6_slot slot)
{
    (void)sim;
    (void)slot;
    return 0;
}

static int look_at_hierarchy(struct nb6_sim *sim, nb6_slot slot)
{
    const double gamma = sim->subsystems.ks[slot].gamma;
    const int perturbed = gamma > GAMMA_BREAK;
    if (!perturbed && !(nb6_hierarchy_stability(sim, slot) < 1)) return nb6_pair_kind_look(sim, slot);
    if (gamma > sim->subsystems.system[slot].gamma_max) sim->subsystems.system[slot].gamma_max = gamma;
    nb6_let_end(&sim->subsystems, slot, perturbed ? NB6_PAIR_PERTURBED : NB6_PAIR_UNSTABLE);
    return 1;
}

const struct nb6_kind nb6_hierarchy_kind = {
    .name = "hierarchy",
    .ends = NB6_EVENT_PAIR_ENDED,
    .channel = NB6_CHANNEL_HIERARCHIES,
    .is_pair = 1,
    .device_supports = 1,
    .takes = takes,
    .advance = nb6_pair_kind_advance,
    .step = nb6_pair_kind_step,
    .finish = nb6_pair_kind_finish,
    .start = nb6_pair_kind_start,
    .points = nb6_pair_kind_points,
    .mean_rule = nb6_pair_kind_mean_rule,
    .mean_parts = nb6_pair_kind_mean_parts,
    .energy = nb6_pair_kind_energy,
    .reference_radius = nb6_pair_kind_reference_radius,
    .extent = extent,
    .room = nb6_pair_kind_room,
    .step_limit = nb6_pair_kind_step_limit,
    .count_work = nb6_pair_kind_count_work,
    .look = look_at_hierarchy,
    .decide = nb6_pair_kind_decide,
    .search = nb6_hierarchies_search,
    .describe = nb6_pair_kind_describe,
};
