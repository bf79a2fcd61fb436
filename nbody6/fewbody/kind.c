#include "nbody6/fewbody/kind.h"
#include "nbody6/state/event.h"

#include "nbody6/fewbody/parts.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <math.h>

const struct nb6_kind *nb6_kind_of(const struct nb6_subsystems *subsystems, nb6_slot slot)
{
    return subsystems->kinds[subsystems->system[slot].kind];
}

int32_t nb6_kind_that_takes(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t kind = p->n_kind - 1; kind > NB6_PAIR; kind--)
        if (p->kinds[kind]->takes && p->kinds[kind]->takes(sim, slot)) return (int32_t)kind;
    return NB6_PAIR;
}

int nb6_parts_of_slot(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot, double t,
                      struct nb6_parts *parts)
{
    static const double nowhere[3];
    struct nb6_points to = {.mass = parts->mass, .x = parts->x, .v = parts->v};
    double total = 0;
    int status = nb6_kind_of(subsystems, slot)->points(subsystems, motion, slot, t, nowhere, nowhere, &to);
    if (status) {
        to.n = 1;
        for (int k = 0; k < 3; k++) parts->x[0][k] = parts->v[0][k] = NAN;
        parts->mass[0] = 1;
    }
    parts->n = (int)to.n;
    for (int m = 0; m < parts->n; m++) total += parts->mass[m];
    for (int m = 0; m < parts->n; m++) parts->mass[m] /= total;
    return status;
}

int nb6_mean_parts_of_slot(const struct nb6_subsystems *subsystems, nb6_slot slot, struct nb6_parts *parts)
{
    return nb6_kind_of(subsystems, slot)->mean_parts(subsystems, slot, parts);
}

struct nb6_mean_rule nb6_slot_mean_rule(const struct nb6_sim *sim, nb6_slot slot)
{
    static const struct nb6_mean_rule nowhere = {.apocentres = INFINITY, .mass = 1};
    const struct nb6_kind *kind = nb6_kind_of(&sim->subsystems, slot);
    return kind->mean_rule ? kind->mean_rule(sim, slot) : nowhere;
}

double nb6_slot_energy(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot)
{
    return nb6_kind_of(subsystems, slot)->energy(subsystems, motion, slot);
}

double nb6_slot_reference_radius(const struct nb6_sim *sim, nb6_slot slot)
{
    return nb6_kind_of(&sim->subsystems, slot)->reference_radius(sim, slot);
}

double nb6_slot_step_limit(const struct nb6_sim *sim, nb6_slot slot)
{
    return nb6_kind_of(&sim->subsystems, slot)->step_limit(sim, slot);
}

int nb6_slot_stays(const struct nb6_sim *sim, nb6_slot slot)
{
    return !isfinite(nb6_slot_step_limit(sim, slot));
}

void nb6_slot_describe(const struct nb6_sim *sim, nb6_slot slot, enum nb6_pair_reason reason, struct nb6_event *event)
{
    const struct nb6_kind *kind = nb6_kind_of(&sim->subsystems, slot);
    event->channel = kind->channel;
    kind->describe(sim, slot, reason, event);
}
