#include "nbody6/fewbody/hierarchies/search.h"
#include "nbody6/state/subsystems.h"

#include "common/nbc.h"
#include "nbody6/fewbody/contacts.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/decisions.h"
#include "nbody6/fewbody/hierarchies/hierarchies.h"
#include "nbody6/fewbody/intruder.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/perturbers.h"
#include "nbody6/fewbody/pairs/search.h"
#include "nbody6/fewbody/pairs/tides.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/fewbody/ready.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/view.h"

#include <math.h>

/* The outer orbit is to be as compact as that of any pair that stays together, and others disturb it less than this. */
static const double GAMMA_OUTER = 0.01;

/* Whether the body is a system that can be an inner orbit. */
static int is_pair(const struct nb6_sim *sim, nb6_index i)
{
    return nb6_is_centre(sim, i) && nb6_kind_of(&sim->subsystems, nb6_slot_of(sim, i))->can_freeze;
}

/* A frozen orbit ignores the galaxy: it must be one that would be left alone without perturbers. */
static int feels_galaxy(const struct nb6_sim *sim, nb6_index i)
{
    return nb6_is_centre(sim, i) && nb6_pair_galactic_tide(sim, nb6_slot_of(sim, i)) > sim->run.config.pair.gamma_min;
}

/* Is the tide of a body at this squared distance below that of a perturber of the pair? */
static int is_hardly_disturbed(const struct nb6_sim *sim, nb6_index i, double mass, double r2)
{
    if (!nb6_is_centre(sim, i)) return 1;
    const double r = nb6_slot_reference_radius(sim, nb6_slot_of(sim, i)), part = r * r / r2;
    return 2 * mass * part * sqrt(part) < sim->run.config.pair.gamma_min * nb6_get_body(sim, i)->mass;
}

/* The possible third body of a hierarchy: the strongest perturber of the pair, or, without perturbers, the body with
 * the largest tide among those found by nb6_pair_look_rule. -1: none. */
static int32_t find_third(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    struct nb6_intruder third = {.j = NB6_NOBODY};
    size_t nnb = 0;
    if (sim->subsystems.pert[slot].n > 0) return nb6_find_intruder(sim, slot, t).j;
    if (sim->subsystems.system[slot].t_check > nb6_time_to_double(t)) return -1;
    const struct nb6_perturber_rule look = nb6_pair_look_rule(sim, slot);
    const nb6_index *list = nb6_get_list(sim, nb6_centre(sim, slot), &nnb);
    for (size_t k = 0; k < nnb; k++) {
        const struct nb6_intruder next = nb6_seen_from(sim, slot, list[k], t);
        if (next.r2 <= nb6_perturber_limit2(&look, nb6_get_body(sim, list[k])->mass) && next.tide > third.tide)
            third = next;
    }
    return third.j;
}

/* Is an outer orbit of this semi-major axis small beside close encounters and the distance of stars around? */
static int is_compact(const struct nb6_sim *sim, nb6_index i, nb6_index j, double a)
{
    const double m = nb6_get_body(sim, i)->mass + nb6_get_body(sim, j)->mass;
    return 2 * a < fmin(NB6_COMPACT * nb6_close_radius(sim, 2, m, i), NB6_COMPACT_SPACING * nb6_local_spacing(sim, i));
}

/* Pair i and its possible companion j. Beyond the semi-major axis the tide, which the outer orbit has to take up, is
 * smallest. On an orbit much wider than the pair it is small everywhere, and out there j is no perturber. The distance
 * of stars around, which takes longest, comes late: few companions are on a stable orbit. */
static int can_freeze(const struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_time t)
{
    double x[3], v[3], y[3], w[3], r2 = 0, a;
    if (j < 0 || (nb6_is_centre(sim, j) && (!is_pair(sim, j) || nb6_is_ending(&sim->subsystems, nb6_slot_of(sim, j)))))
        return 0;
    if (feels_galaxy(sim, i) || feels_galaxy(sim, j)) return 0;
    nb6_get_predicted(sim, i, t, x, v);
    nb6_get_predicted(sim, j, t, y, w);
    for (int k = 0; k < 3; k++) {
        y[k] -= x[k];
        w[k] -= v[k];
        r2 += y[k] * y[k];
    }
    if (!(nb6_orbit_stability(sim, i, j, y, w, &a) > NB6_HIERARCHY_ROOM)) return 0;
    if (!(r2 > a * a) && !(is_hardly_disturbed(sim, i, nb6_get_body(sim, j)->mass, r2) &&
                           is_hardly_disturbed(sim, j, nb6_get_body(sim, i)->mass, r2)))
        return 0;
    if (!is_compact(sim, i, j, a)) return 0;
    if (nb6_stars_have_radii(sim) && nb6_contacts_are_near(sim, nb6_slot_of(sim, i), j, 2 * a, t)) return 0;
    return nb6_pair_perturbation(sim, t, i, j) < GAMMA_OUTER;
}

int nb6_hierarchy_can_form(const struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_time t)
{
    if (!nb6_hierarchies_enabled(sim) || !is_pair(sim, i)) return 0;
    const nb6_slot slot = nb6_slot_of(sim, i);
    return !nb6_is_ending(&sim->subsystems, slot) && nb6_pair_is_hard(sim, slot) && can_freeze(sim, i, j, t);
}

int nb6_hierarchies_search(struct nb6_sim *sim, struct nb6_decisions *d, struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    int status = NBC_OK;
    if (!nb6_hierarchies_enabled(sim)) return NBC_OK;
    for (int64_t at = active->n_irr - 1; at >= 0 && nb6_is_centre(sim, active->irr[at]); at--) {
        nb6_index i = active->irr[at];
        if (!is_pair(sim, i) || nb6_is_ending(&sim->subsystems, nb6_slot_of(sim, i))) continue;
        if (!nb6_pair_is_hard(sim, nb6_slot_of(sim, i))) continue;
        nb6_index j = find_third(sim, nb6_slot_of(sim, i), active->t);
        if (!can_freeze(sim, i, j, active->t) || nb6_is_decided(d, i) || nb6_is_decided(d, j)) continue;
        int ready;
        status = nb6_subsystems_are_ready(sim, i, j, active->t, &ready, err);
        if (status) break;
        if (!ready) continue;
        d->form[d->n_form][0] = i < j ? i : j;
        d->form[d->n_form++][1] = i < j ? j : i;
    }
    return status;
}
