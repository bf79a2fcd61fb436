#include "nbody6/fewbody/mergers.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

/* Phase of a pair at its last check (nb6_subsystem.approaching). */
enum { RECEDING, APPROACHING, MET };

double nb6_largest_radius(const struct nb6_sim *sim, nb6_index body)
{
    nb6_index star[CHAIN_MAX];
    const int n = nb6_stars_of(sim, body, star);
    double radius = 0;
    for (int k = 0; k < n; k++) radius = fmax(radius, nb6_get_star(sim, star[k])->radius);
    return radius;
}

/* Sum of the radii of the two stars of a pair. */
static double touch_of(const struct nb6_sim *sim, nb6_slot slot)
{
    const nb6_index *member = sim->subsystems.system[slot].member;
    return nb6_get_star(sim, member[0])->radius + nb6_get_star(sim, member[1])->radius;
}

/* A collision stays recorded until a block of the centre of mass, which may be at any phase of an orbit. */
int nb6_pair_collides(struct nb6_sim *sim, nb6_slot slot)
{
    struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const double touch = touch_of(sim, slot);
    struct ks_elements e;
    if (!(touch > 0)) return 0;
    ks_elements(&sim->subsystems.ks[slot], &e);
    const int meet = e.a * (1 - e.e) <= touch,
              passed = pair->approaching && e.rdot >= 0 && !(e.a > 0 && e.r > e.a), /* others may turn stars round */
        met = meet && (e.r <= touch || pair->approaching == MET || passed ||
                       (!nb6_subsystems_is_perturbed(&sim->subsystems, slot) && e.a > 0));
    pair->approaching = met ? MET : e.rdot < 0 ? APPROACHING : RECEDING;
    return met;
}

void nb6_pair_note_approach(struct nb6_sim *sim, nb6_slot slot)
{
    struct ks_elements e;
    if (!(touch_of(sim, slot) > 0)) return;
    ks_elements(&sim->subsystems.ks[slot], &e);
    sim->subsystems.system[slot].approaching = e.rdot < 0 ? APPROACHING : RECEDING;
}

int nb6_chain_has_met(const struct nb6_chain *chain)
{
    const double touch = chain->state.radius[0] + chain->state.radius[1];
    double r, t;
    chain_closest(&chain->state, 0, 1, &r, &t);
    return chain->state.n == 2 && touch > 0 && r <= touch;
}

void nb6_pair_set_met(struct nb6_sim *sim, nb6_slot slot)
{
    sim->subsystems.system[slot].approaching = MET;
}

int nb6_pair_has_met(const struct nb6_sim *sim, nb6_slot slot)
{
    return nb6_kind_of(&sim->subsystems, slot)->is_pair && sim->subsystems.system[slot].approaching == MET;
}

/* Two existing stars, no centres of mass: these have no radius, and no position of a star. */
static int check_stars(const struct nb6_sim *sim, const struct nb6_merger *merger, struct nbc_error *err)
{
    for (int k = 0; k < 2; k++) {
        const nb6_index i = merger->star[k];
        if (i < 0 || i >= sim->n)
            return nbc_fail(err, NBC_BAD_ARGUMENT, "a merger of bodies %d and %d: %d is no star; stars are 0 to %lld",
                            merger->star[0], merger->star[1], i, (long long)sim->n - 1);
        if (nb6_has_merged(nb6_get_star(sim, i)))
            return nbc_fail(err, NBC_BAD_ARGUMENT, "a merger of bodies %d and %d: star %lld has merged into another",
                            merger->star[0], merger->star[1], (long long)nb6_get_star(sim, i)->name);
    }
    if (merger->star[0] == merger->star[1])
        return nbc_fail(err, NBC_BAD_ARGUMENT, "a merger of star %lld with itself",
                        (long long)nb6_get_star(sim, merger->star[0])->name);
    return NBC_OK;
}

int nb6_merge_stars(struct nb6_sim *sim, const struct nb6_merger *merger, const double x[3], const double v[3],
                    struct nbc_error *err)
{
    const nb6_index i = merger->star[0], gone = merger->star[1];
    int status = check_stars(sim, merger, err);
    if (status) return status;
    struct nb6_event event = {
        .kind = NB6_EVENT_MERGER,
        .t = nb6_time_to_double(sim->ti_origin) + merger->t,
        .name = nb6_get_star(sim, i)->name,
        .gone = nb6_get_star(sim, gone)->name,
        .mass = merger->mass,
        .energy = merger->energy,
        .value = {(double)nb6_get_star(sim, gone)->name, nb6_get_body(sim, gone)->mass, merger->r, merger->radius}};
    memcpy(event.x, x, sizeof event.x);
    memcpy(event.v, v, sizeof event.v);
    status = nb6_star_absorb(sim, i, gone, merger->mass, merger->radius, err);
    if (!status) status = nb6_ageing_note_merger(sim, i, gone, err);
    if (status) return status;
    status = nb6_ledger_book(&sim->run.book.ledger, NB6_CHANNEL_MERGED, -merger->energy, err);
    if (status) return status;
    sim->run.counters.mergers++;
    return nb6_event_raise(sim, &event, err);
}

double nb6_mergers_ahead(const struct nb6_sim *sim, const struct nb6_motion *motion)
{
    double energy = 0;
    for (int64_t c = 0; motion->chain && c < sim->subsystems.n_chain; c++) {
        const struct nb6_chain *chain = &motion->chain[c];
        for (int64_t k = 0; chain->slot >= 0 && k < chain->n_merged; k++) energy += chain->merged[k].energy;
    }
    return energy;
}

int nb6_slot_has_mergers_ahead(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot)
{
    return nb6_goes_on_demand(subsystems, slot) && motion->chain[subsystems->system[slot].chain - 1].n_merged > 0;
}

int nb6_chain_tell_mergers(struct nb6_sim *sim, struct nb6_chain *chain, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t k = 0; k < chain->n_merged && !status; k++) {
        const struct nb6_merger *merger = &chain->merged[k];
        const struct nb6_body *centre = nb6_get_body(sim, nb6_centre(sim, chain->slot));
        double x[3], v[3];
        int m = 0;
        while (m < chain->state.n - 1 && chain->star[m] != merger->star[0]) m++;
        nb6_predict(centre, chain->state.t - nb6_relative_time(sim, centre->t0), x, v);
        for (int d = 0; d < 3; d++) {
            x[d] += chain->x[m][d];
            v[d] += chain->v[m][d];
        }
        status = nb6_merge_stars(sim, merger, x, v, err);
    }
    chain->n_merged = 0;
    memcpy(sim->subsystems.system[chain->slot].member, chain->star, sizeof sim->subsystems.system[chain->slot].member);
    return status;
}
