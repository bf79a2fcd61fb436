#include "nbody6/fewbody/intruder.h"

#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"

#include <math.h>

struct nb6_intruder nb6_seen_from(const struct nb6_sim *sim, int64_t slot, int32_t j, nb6_time t)
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

struct nb6_intruder nb6_find_intruder(const struct nb6_sim *sim, int64_t slot, nb6_time t)
{
    const struct nb6_perturbers *pert = &sim->pairs.pert[slot];
    struct nb6_intruder found = {.j = -1};
    for (int32_t k = 0; k < pert->n; k++) {
        const struct nb6_intruder next = nb6_seen_from(sim, slot, pert->body[k], t);
        if (next.tide > found.tide) found = next;
    }
    return found;
}
