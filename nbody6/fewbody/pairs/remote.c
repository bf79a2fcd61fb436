#include "nbody6/fewbody/pairs/remote.h"

#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/kind.h"
#include "nbody6/fewbody/pairs/tides.h"
#include "nbody6/fewbody/pairs/view.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <math.h>

/* A pair becomes a remote one when all are so many times farther away than they have to be while it is one: or it would
 * become one and another in turns. */
static const double ROOM = 1.1;

/* Stars that may touch must be checked at each step. */
int nb6_pair_may_be_remote(const struct nb6_sim *sim, nb6_slot slot, int64_t n)
{
    if (n == 0 || n > NB6_REMOTE_PERTURBERS || sim->subsystems.system[slot].kind != NB6_PAIR) return 0;
    if (nb6_stars_have_radii(sim)) return 0;
    return nb6_slot_stays(sim, slot) && !(nb6_view_field_felt(sim, slot) > 0);
}

static double reach_of(const struct nb6_sim *sim)
{
    return nb6_hierarchies_enabled(sim) ? NB6_COMPACT * sim->book.r_min : 0;
}

/* The orbit of a pair that moves, and is no remote one, changes unseen. */
static struct nb6_mean_rule rule_of(const struct nb6_sim *sim, nb6_slot slot)
{
    static const struct nb6_mean_rule nowhere = {.apocentres = INFINITY, .mass = 1};
    if (nb6_subsystems_is_perturbed(&sim->subsystems, slot) && !sim->subsystems.system[slot].remote) return nowhere;
    return nb6_slot_mean_rule(sim, slot);
}

static double far_distance(const struct nb6_sim *sim, nb6_slot slot, nb6_index body, double v)
{
    const double own = nb6_get_body(sim, nb6_centre(sim, slot))->mass, mass = nb6_get_body(sim, body)->mass;
    const struct nb6_mean_rule rule = nb6_slot_mean_rule(sim, slot);
    double r = nb6_mean_radius(&rule, mass, v);
    if (nb6_is_centre(sim, body)) {
        const struct nb6_mean_rule other = rule_of(sim, nb6_slot_of(sim, body));
        r = fmax(r, nb6_mean_radius(&other, own, v));
    }
    return nb6_all_mean() * (sim->subsystems.system[slot].remote ? 1 : ROOM) * r;
}

int nb6_is_far_from(const struct nb6_sim *sim, nb6_slot slot, nb6_index body, int perturbs, double nearest2, double r2,
                    double v2)
{
    const double reach = reach_of(sim);
    const double mass = nb6_get_body(sim, nb6_centre(sim, slot))->mass + nb6_get_body(sim, body)->mass;
    if (nb6_may_be_hierarchy(reach, reach / (2 * sim->mean_mass), mass, nearest2, r2, v2)) return 0;
    if (!perturbs) return 1;
    const double r = far_distance(sim, slot, body, sqrt(v2));
    return nearest2 > r * r;
}

static int see_orbit(const struct ks_pair *ks, struct nb6_seen_orbit *orbit)
{
    struct ks_elements e;
    ks_elements(ks, &e);
    orbit->apocentre = e.a * (1 + e.e);
    orbit->h = ks->h;
    return ks_get_ellipse(ks, &orbit->ellipse) == NBC_OK;
}

void nb6_pair_set_remote(struct nb6_sim *sim, nb6_slot slot, int is_remote)
{
    struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    if (is_remote && !pair->remote) is_remote = see_orbit(&sim->subsystems.ks[slot], &pair->orbit);
    pair->remote = is_remote;
    if (is_remote) nb6_pair_note_gamma(sim, slot);
}

int nb6_group_is_remote(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t k = p->leader[slot]; k >= 0; k = p->follower[k])
        if (!p->system[k].remote || p->pert[k].n == 0) return 0;
    return 1;
}

void nb6_pair_get_remote(const struct nb6_sim *sim, nb6_slot slot, struct nb6_remote *remote)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct ks_pair *ks = &p->ks[slot];
    *remote = (struct nb6_remote){
        .mean = rule_of(sim, slot), .reach = reach_of(sim), .reach_of_mass = reach_of(sim) / (2 * sim->mean_mass)};
    if (!p->system[slot].remote) return;
    remote->ellipse = p->system[slot].orbit.ellipse;
    for (int k = 0; k < 2; k++) remote->share[k] = ks->mass[k] / ks->m;
    remote->n = p->pert[slot].n;
    remote->far_limit = nb6_pair_far_tide_limit(sim, slot);
    for (int32_t k = 0; k < remote->n; k++) {
        const nb6_index j = p->pert[slot].body[k];
        remote->body[k] = j;
        if (nb6_is_centre(sim, j) && nb6_slots_are_mutual(sim, slot, nb6_slot_of(sim, j))) remote->mutual |= 1 << k;
    }
}
