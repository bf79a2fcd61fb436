#include "nbody6/fewbody/intruder.h"

#include "nbody6/fewbody/chains/chains.h"
#include "nbody6/fewbody/nodes.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <math.h>

struct nb6_intruder nb6_seen_from(const struct nb6_sim *sim, nb6_slot slot, nb6_index j, nb6_time t)
{
    const struct nb6_body *other = nb6_get_body(sim, j);
    struct nb6_intruder seen = {.j = j};
    double x[3], v[3];
    nb6_get_predicted(sim, nb6_centre(sim, slot), t, x, v);
    nb6_get_predicted(sim, j, t, seen.x, seen.v);
    for (int d = 0; d < 3; d++) {
        seen.x[d] -= x[d];
        seen.v[d] -= v[d];
        seen.r2 += seen.x[d] * seen.x[d];
        seen.rv += seen.x[d] * seen.v[d];
    }
    seen.tide = other->mass / (seen.r2 * sqrt(seen.r2));
    return seen;
}

struct nb6_intruder nb6_find_intruder(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    struct nb6_intruder found = {.j = NB6_NOBODY};
    for (int32_t k = 0; k < pert->n; k++) {
        const struct nb6_intruder next = nb6_seen_from(sim, slot, pert->body[k], t);
        if (next.tide > found.tide) found = next;
    }
    return found;
}

/* A pair is seen as a whole from this many of its separations: a nearer body would not leave a chain of the three at
 * once. */
static const double WHOLE = 2;

/* Distance, approach and tide from the nearest member. A body that recedes from a close pair inside still approaches
 * and leaves one of its stars in each of its orbits. */
static void see_from_member(const struct nb6_sim *sim, const struct nb6_nodes *nodes, struct nb6_intruder *seen)
{
    const struct nb6_node *star = &nodes->node[nb6_nodes_nearest(nodes, seen->x)];
    seen->r2 = seen->rv = 0;
    for (int d = 0; d < 3; d++) seen->r2 += (seen->x[d] - star->x[d]) * (seen->x[d] - star->x[d]);
    const double r = sqrt(seen->r2);
    const struct nb6_node *node = &nodes->node[nb6_nodes_seen(nodes, (int)(star - nodes->node), r)];
    for (int d = 0; d < 3; d++) seen->rv += (seen->x[d] - node->x[d]) * (seen->v[d] - node->v[d]);
    seen->tide = nb6_get_body(sim, seen->j)->mass / (seen->r2 * r);
}

/* Is a perturber so near that members are seen one by one? For most pairs none is. */
static int is_anybody_near(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, double r)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    double x[3], v[3];
    nb6_get_predicted(sim, nb6_centre(sim, slot), t, x, v);
    for (int32_t k = 0; k < pert->n; k++)
        if (nb6_get_distance2(sim, pert->body[k], t, x) < r * r) return 1;
    return 0;
}

struct nb6_intruder nb6_find_intruder_of_members(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    const nb6_index centre = nb6_centre(sim, slot);
    struct nb6_intruder found = nb6_find_intruder(sim, slot, t);
    struct nb6_nodes nodes;
    double x[3], v[3];
    if (found.j < 0) return found;
    const struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    const double whole = chain ? nb6_chain_size(chain) : WHOLE * sim->subsystems.ks[slot].now.r;
    if (!is_anybody_near(sim, slot, t, whole)) return found;
    nb6_get_predicted(sim, centre, t, x, v);
    if (nb6_nodes_find(sim, 1, &centre, t, x, v, &nodes)) return found;
    found = (struct nb6_intruder){.j = NB6_NOBODY};
    for (int32_t k = 0; k < pert->n; k++) {
        struct nb6_intruder next = nb6_seen_from(sim, slot, pert->body[k], t);
        if (next.r2 < whole * whole) see_from_member(sim, &nodes, &next);
        if (next.tide > found.tide) found = next;
    }
    return found;
}
