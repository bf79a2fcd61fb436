/* The part of a simulation that a checkpoint takes, and gives back to it. */
#include "common/nbc.h"
#include "nbody6/output/checkpoint_state.h"
#include "nbody6/output/checkpoint_table.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <string.h>

#define FORGOTTEN "a member is in no list: add it, and raise NB6_CHECKPOINT_SCHEMA"

/* Which members of a simulation are stored: as fields of the group "state", as groups or columns, and not at all,
 * because they follow from others or belong to the session. A new member has to be put into one of these lists. */
/* clang-format off */
#define SIM_FIELDS(F, T) \
    F(T, n) F(T, ti_now) F(T, ti_reached) F(T, ti_origin) F(T, nb_cap) F(T, mean_mass) F(T, stage_s)
#define SIM_GROUPS(F, T) \
    F(T, run) F(T, book) F(T, body) F(T, star) F(T, ageing) F(T, subsystems)
#define SIM_NOT_STORED(F, T) \
    F(T, schedule) F(T, reg) F(T, irr) F(T, active) F(T, transaction) F(T, engine_image) F(T, edits) \
    F(T, chain_s) F(T, potential) F(T, nearest) F(T, motions_now) F(T, profile) F(T, observer) F(T, stopped) \
    F(T, is_called) F(T, is_freed) F(T, engine) F(T, engine_why)
/* clang-format on */

_Static_assert(NB6_COVERS(struct nb6_sim, SIM_FIELDS,
                          0 SIM_GROUPS(NB6_PLUS_BYTES, struct nb6_sim) SIM_NOT_STORED(NB6_PLUS_BYTES, struct nb6_sim)),
               FORGOTTEN);

#define PAIRS_FIELDS(F, T) F(T, n_slot) F(T, count) F(T, n_chain)
#define PAIRS_COLUMNS(F, T) F(T, system) F(T, ks) F(T, chain) F(T, pert)
/* clang-format off */
#define PAIRS_NOT_STORED(F, T) \
    F(T, capacity) F(T, kinds) F(T, n_kind) F(T, chain_capacity) F(T, longest) F(T, resolved_by) F(T, leader) F(T, follower) F(T, next) F(T, due) \
    F(T, n_listed) F(T, listed) F(T, is_listed) F(T, n_noted) F(T, noted) F(T, is_noted) F(T, free_from) F(T, changed) F(T, form) F(T, chain_change) F(T, form_capacity) F(T, change_capacity) \
    F(T, source) F(T, n_source) F(T, holder_capacity) F(T, holder) F(T, n_far) F(T, far) F(T, scratch) \
    F(T, sums) F(T, tide_sources) F(T, views)
/* clang-format on */

_Static_assert(NB6_COVERS(struct nb6_subsystems, PAIRS_FIELDS,
                          0 PAIRS_COLUMNS(NB6_PLUS_BYTES, struct nb6_subsystems)
                              PAIRS_NOT_STORED(NB6_PLUS_BYTES, struct nb6_subsystems)),
               FORGOTTEN);

void nb6_checkpoint_state_of(const struct nb6_sim *sim, struct nb6_checkpoint_state *state)
{
    *state = (struct nb6_checkpoint_state){.run = sim->run,
                                           .book = sim->book,
                                           .n = sim->n,
                                           .n_slot = sim->subsystems.n_slot,
                                           .n_system = sim->subsystems.count,
                                           .n_chain = sim->subsystems.n_chain,
                                           .ti_now = sim->ti_now,
                                           .ti_reached = sim->ti_reached,
                                           .ti_origin = sim->ti_origin,
                                           .nb_cap = sim->nb_cap,
                                           .mean_mass = sim->mean_mass};
    memcpy(state->stage_s, sim->stage_s, sizeof state->stage_s);
}

void nb6_checkpoint_state_to(const struct nb6_checkpoint_state *state, struct nb6_sim *sim)
{
    sim->run.config = state->run.config;
    sim->run.units = state->run.units;
    sim->run.external = state->run.external;
    sim->run.counters = state->run.counters;
    sim->run.book = state->run.book;
    sim->book = state->book;
    sim->n = state->n;
    sim->subsystems.n_slot = state->n_slot;
    sim->subsystems.count = state->n_system;
    sim->subsystems.n_chain = state->n_chain;
    sim->ti_now = state->ti_now;
    sim->ti_reached = state->ti_reached;
    sim->ti_origin = state->ti_origin;
    sim->nb_cap = state->nb_cap;
    sim->mean_mass = state->mean_mass;
    memcpy(sim->stage_s, state->stage_s, sizeof sim->stage_s);
}
