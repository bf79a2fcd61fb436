#include "nbody6/fewbody/pair_end.h"

#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/intruder.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <math.h>

/* A pair ends when all others together disturb its mutual attraction by more than this: twice as much as one that forms
 * may have (pair_search.c). */
static const double GAMMA_LOST_HARD = 0.5, GAMMA_LOST_SOFT = 0.05;
/* Two pairs that disturb each other so strongly collide: the softer one ends. */
static const double GAMMA_COLLISION = 0.1;

/* Part of an inner period that a first step may take: less than this the scheme follows from its own differences, and
 * steps that turn out too short double with every step. */
static const double FIRST_PART = 0.2;
/* Where the quadrupole is less than this part of a force, the energy lost in a first step is, too. Short first steps
 * would stay short then: differences over them show more of the motion within the pair than those over long ones. */
static const double FIRST_SHOWS = 1e-7;

static double binding_energy(const struct ks_pair *ks)
{
    return -ks->mass[0] * ks->mass[1] / ks->m * ks->h;
}

int nb6_pair_must_end(const struct nb6_sim *sim, int64_t slot, nb6_time t)
{
    const struct nb6_pair *pair = &sim->pairs.pair[slot];
    const struct ks_pair *ks = &sim->pairs.ks[slot];
    struct ks_elements e;
    ks_elements(ks, &e);
    int hard = nb6_orbit_is_hard(sim, ks->m, ks->h, pair->r_end);
    if (ks->gamma > (hard ? GAMMA_LOST_HARD : GAMMA_LOST_SOFT)) return NB6_PAIR_DISSOLVED;
    if (e.r > pair->r_end) {
        if (!nb6_orbit_stays_together(sim, ks->m, ks->h, pair->r_end) && e.rdot > 0) return NB6_PAIR_SEPARATED;
        if (!hard && ks->gamma > sim->config.pair.gamma_max) return NB6_PAIR_PERTURBED;
    }
    if (ks->gamma > GAMMA_COLLISION) {
        const int32_t strongest = nb6_find_intruder(sim, slot, t).j;
        const int64_t other = nb6_slot_of(sim, strongest); /* negative: nobody, or a star */
        if (other >= 0 && !nb6_is_chain(&sim->pairs, other) &&
            binding_energy(ks) <= binding_energy(&sim->pairs.ks[other]))
            return NB6_PAIR_COLLISION;
    }
    return -1;
}

/* Whether the quadrupole of a pair makes more than a small part of a force, seen from as far as another body is. */
static int shows(const struct nb6_sim *sim, int64_t slot, int32_t other, double mass, double force)
{
    const double *x = nb6_get_body(sim, nb6_centre(sim, slot))->x0, *y = nb6_get_body(sim, other)->x0;
    double r2 = 0;
    struct ks_elements e;
    ks_elements(&sim->pairs.ks[slot], &e);
    for (int k = 0; k < 3; k++) r2 += (y[k] - x[k]) * (y[k] - x[k]);
    return mass * e.a * e.a > FIRST_SHOWS * force * r2 * r2;
}

/* Whether the motion in a slot shows in the force on body i: its own, or that of a pair which it resolves. */
static int shows_in(const struct nb6_sim *sim, int64_t slot, int32_t i)
{
    const struct nb6_perturbers *pert = &sim->pairs.pert[slot];
    const struct nb6_body *body = nb6_get_body(sim, i);
    const double *a = body->acc, force = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (i != nb6_centre(sim, slot))
        return nb6_pairs_resolves(&sim->pairs, slot, i) && shows(sim, slot, i, sim->pairs.ks[slot].m, force);
    for (int32_t k = 0; k < pert->n; k++)
        if (shows(sim, slot, pert->body[k], nb6_get_body(sim, pert->body[k])->mass, force)) return 1;
    return 0;
}

double nb6_pairs_first_step(const struct nb6_sim *sim, int64_t i)
{
    const struct nb6_pairs *p = &sim->pairs;
    double shortest = INFINITY;
    if (nb6_slot_of(sim, i) < 0 && p->resolved_by[i] == 0) return shortest;
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        if (!nb6_slot_is_used(p, slot) || nb6_is_chain(p, slot) || p->pert[slot].n == 0) continue;
        if (!shows_in(sim, slot, (int32_t)i)) continue;
        struct ks_elements e;
        ks_elements(&p->ks[slot], &e);
        shortest = fmin(shortest, FIRST_PART * e.period);
    }
    return shortest;
}
