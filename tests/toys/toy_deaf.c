/* A toy of a kind of few-body systems: pairs of which one star has three times the mass of the other do not hear what
 * others do, and stay on their Kepler orbit. Its line in the list: kind.line. */
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/field.h"
#include "nbody6/fewbody/pairs/kind.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/ks.h"

#include <math.h>

static int takes(const struct nb6_sim *sim, int64_t slot)
{
    const double *mass = sim->subsystems.ks[slot].mass;
    return fabs(mass[0] - 3 * mass[1]) < 1e-12 * mass[0];
}

static int advance(struct nb6_field *f, const struct nb6_motion *motion, int64_t slot, double t, struct nbc_error *err)
{
    (void)f;
    return ks_unperturbed(&motion->ks[slot], t, err);
}

static int step(struct nb6_field *f, const struct nb6_motion *motion, int64_t slot, struct nbc_error *err)
{
    return advance(f, motion, slot, motion->ks[slot].t + motion->ks[slot].dt, err);
}

static int start(struct nb6_field *f, const struct nb6_motion *motion, int64_t slot, struct nbc_error *err)
{
    (void)f;
    return ks_start(&motion->ks[slot], NULL, NULL, err);
}

static int look(struct nb6_sim *sim, int64_t slot)
{
    (void)sim;
    (void)slot;
    return 0;
}

const struct nb6_kind nb6_toy_deaf_kind = {
    .name = "deaf pair",
    .ends = NB6_EVENT_PAIR_ENDED,
    .channel = NB6_CHANNEL_PAIRS,
    .is_pair = 1,
    .can_freeze = 0,      /* one with a star that hears nothing would be no hierarchy */
    .device_supports = 0, /* the host is asked in each step of its centre of mass */
    .takes = takes,
    .advance = advance,
    .step = step,
    .finish = advance,
    .start = start,
    .points = nb6_pair_kind_points,
    .energy = nb6_pair_kind_energy,
    .reference_radius = nb6_pair_kind_reference_radius,
    .extent = nb6_pair_kind_room, /* 0: no part of a chain */
    .room = nb6_pair_kind_room,
    .step_limit = nb6_pair_kind_step_limit,
    .count_work = nb6_pair_kind_count_work,
    .look = look,
    .decide = nb6_pair_kind_decide,
    .describe = nb6_pair_kind_describe,
};
