#include "nbody6/fewbody/pairs/end.h"

#include "nbody6/fewbody/chains/room.h"
#include "nbody6/fewbody/contacts.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/intruder.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <math.h>

/* A pair ends when all others together disturb its mutual attraction by more than this: twice as much as one that forms
 * may have (pairs/search.c). */
static const double GAMMA_LOST_HARD = 0.5, GAMMA_LOST_SOFT = 0.05;
/* Two pairs that disturb each other so strongly collide: the softer one ends. */
static const double GAMMA_COLLISION = 0.1;

static double binding_energy(const struct ks_pair *ks)
{
    return -ks->mass[0] * ks->mass[1] / ks->m * ks->h;
}

/* Whether a star of the system is about to touch one outside, sooner than its own two stars touch each other, and no
 * chain takes them all. Two bodies outside of chains are checked each by itself. */
static int is_about_to_touch(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    if (!nb6_stars_have_radii(sim)) return 0;
    const struct nb6_contact contact = nb6_contact_of_slot(sim, slot, t, 1);
    if (contact.j < 0 || nb6_contact_inside(sim, slot) < contact.time) return 0;
    if (!nb6_chains_enabled(sim) || !nb6_chain_can_grow_from(sim, slot)) return 1;
    const nb6_slot other = nb6_slot_of(sim, contact.j);
    if (other >= 0 && !nb6_chain_can_grow_from(sim, other)) return 0;
    return !nb6_chain_can_take(sim, slot, contact.j, t);
}

/* Two that are about to touch stay together until they have. */
static double lost_at(const struct nb6_sim *sim, nb6_slot slot, int hard)
{
    if (hard) return GAMMA_LOST_HARD;
    return nb6_stars_have_radii(sim) && isfinite(nb6_contact_inside(sim, slot)) ? GAMMA_LOST_HARD : GAMMA_LOST_SOFT;
}

int nb6_pair_must_end(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    struct ks_elements e;
    ks_elements(ks, &e);
    int hard = nb6_orbit_is_hard(sim, ks->m, ks->h, pair->r_end);
    if (ks->gamma > GAMMA_LOST_SOFT && ks->gamma > lost_at(sim, slot, hard)) return NB6_PAIR_DISSOLVED;
    if (e.r > pair->r_end) {
        if (e.rdot > 0 && !nb6_pair_stays_together(sim, slot, ks->h, e.a * (1 + e.e))) return NB6_PAIR_SEPARATED;
        if (!hard && ks->gamma > sim->run.config.pair.gamma_max) return NB6_PAIR_PERTURBED;
    }
    if (ks->gamma > GAMMA_COLLISION) {
        const nb6_index strongest = nb6_find_intruder(sim, slot, t).j;
        const nb6_slot other = nb6_slot_of(sim, strongest); /* negative: none, or a star */
        if (other >= 0 && nb6_kind_of(&sim->subsystems, other)->is_pair &&
            binding_energy(ks) <= binding_energy(&sim->subsystems.ks[other]))
            return NB6_PAIR_COLLISION;
    }
    return is_about_to_touch(sim, slot, t) ? NB6_PAIR_COLLISION : -1;
}
