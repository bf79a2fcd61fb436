#include "nbody6/fewbody/first_step.h"

#include "nbody6/fewbody/pairs/view.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <math.h>

/* Part of an inner period that a first step may take: less than this the scheme follows from its own differences, and
 * steps that turn out too short double with every step. */
static const double FIRST_PART = 0.2;
/* Where the quadrupole is less than this part of a force, the energy lost in a first step is, too. Short first steps
 * would stay short then: differences over them show more of the motion within the pair than those over long ones. */
static const double FIRST_SHOWS = 1e-7;

/* Whether the quadrupole of a pair makes more than a small part of a force, seen from as far as another body is. */
static int shows(const struct nb6_sim *sim, nb6_slot slot, int32_t other, double mass, double force)
{
    const double *x = nb6_get_body(sim, nb6_centre(sim, slot))->x0, *y = nb6_get_body(sim, other)->x0;
    double r2 = 0;
    struct ks_elements e;
    ks_elements(&sim->subsystems.ks[slot], &e);
    for (int k = 0; k < 3; k++) r2 += (y[k] - x[k]) * (y[k] - x[k]);
    return mass * e.a * e.a > FIRST_SHOWS * force * r2 * r2;
}

/* Whether the motion in a slot shows in the force on body i, the centre of mass or a body that the slot resolves. */
static int shows_in(const struct nb6_sim *sim, nb6_slot slot, nb6_index i)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    const struct nb6_body *body = nb6_get_body(sim, i);
    const double *a = body->acc, force = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (i != nb6_centre(sim, slot)) return shows(sim, slot, i, sim->subsystems.ks[slot].m, force);
    struct ks_elements e;
    ks_elements(&sim->subsystems.ks[slot], &e);
    if (nb6_view_field_felt(sim, slot) * e.a * e.a > FIRST_SHOWS * force) return 1;
    for (int32_t k = 0; k < pert->n; k++)
        if (shows(sim, slot, pert->body[k], nb6_get_body(sim, pert->body[k])->mass, force)) return 1;
    return 0;
}

/* The longest first step of body i that the motion in a slot allows. */
static double longest_step(const struct nb6_sim *sim, nb6_slot slot, nb6_index i)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    struct ks_elements e;
    if (nb6_goes_on_demand(p, slot) || !nb6_subsystems_is_perturbed(p, slot) || !shows_in(sim, slot, i))
        return INFINITY;
    ks_elements(&p->ks[slot], &e);
    return FIRST_PART * e.period;
}

double nb6_subsystems_first_step(const struct nb6_sim *sim, int64_t i)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    double shortest = nb6_is_centre(sim, i) ? longest_step(sim, nb6_slot_of(sim, i), (nb6_index)i) : INFINITY;
    for (nb6_slot slot = nb6_resolver_first(p, i); slot >= 0; slot = nb6_resolver_next(p, slot, i))
        shortest = fmin(shortest, longest_step(sim, slot, (nb6_index)i));
    return shortest;
}
