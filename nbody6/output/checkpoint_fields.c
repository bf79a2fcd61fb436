#include "nbody6/output/checkpoint_fields.h"

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/output/checkpoint_table.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

_Static_assert(sizeof(int) == 4, "flags and enums are stored in 4 bytes");

#define FORGOTTEN "a member is in no list: add it, and raise NB6_CHECKPOINT_SCHEMA"
#define UNUSED(T) sizeof NB6_MEMBER(T, unused)

/* ---- the configuration ---- */

/* clang-format off */
#define RUN_FIELDS(F, T) \
    F(T, name) F(T, input_path) F(T, t_crit) F(T, t_crit_myr) F(T, wall_limit_s) F(T, dt_adjust) F(T, dt_output) \
    F(T, n_fix) F(T, n_crit) F(T, energy_tol) F(T, snapshots) F(T, checkpoint_at_output) \
    F(T, checkpoint_interval_s) F(T, write_data_table) F(T, lagrangian_mass) F(T, force_check) F(T, device) \
    F(T, irr_backend) F(T, precision) F(T, engine) F(T, on_device_loss) F(T, energy_retries) \
    F(T, t_crit_open)
/* clang-format on */

static const struct nb6_state_field run_fields[] = {RUN_FIELDS(NB6_FIELD, struct nb6_run_config)};

_Static_assert(NB6_COVERS(struct nb6_run_config, RUN_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define MODEL_FIELDS(F, T) \
    F(T, kind) F(T, imf) F(T, file_units) F(T, data_path) F(T, n) F(T, seed) F(T, king_w0) F(T, imf_alpha) \
    F(T, mass_max_msun) F(T, mass_min_msun) F(T, virial_ratio) F(T, rotation_xy) F(T, rotation_z)
/* clang-format on */

static const struct nb6_state_field model_fields[] = {MODEL_FIELDS(NB6_FIELD, struct nb6_model_config)};

_Static_assert(NB6_COVERS(struct nb6_model_config, MODEL_FIELDS, UNUSED(struct nb6_model_config)), FORGOTTEN);

/* clang-format off */
#define TIDE_FIELDS(F, T) \
    F(T, kind) F(T, galaxy_mass_msun) F(T, galaxy_distance_kpc) F(T, rtide_unscaled) F(T, disk_mass_msun) \
    F(T, disk_length_kpc) F(T, disk_height_kpc) F(T, halo_velocity_kms) F(T, halo_radius_kpc) \
    F(T, bulge_mass_msun) F(T, bulge_length_kpc) F(T, bulge_slope) F(T, position_kpc) F(T, velocity_kms) \
    F(T, gas_mass) F(T, gas_length) F(T, gas_rate) F(T, gas_delay)
/* clang-format on */

static const struct nb6_state_field tide_fields[] = {TIDE_FIELDS(NB6_FIELD, struct nb6_tide_config)};

_Static_assert(NB6_COVERS(struct nb6_tide_config, TIDE_FIELDS, UNUSED(struct nb6_tide_config)), FORGOTTEN);

/* clang-format off */
#define INTEGRATION_FIELDS(F, T) \
    F(T, eta_irr) F(T, eta_reg) F(T, dt_max) F(T, dt_fixed_irr) F(T, dt_fixed_reg) F(T, r_nb_init) F(T, nnb_opt) \
    F(T, nnb_max) F(T, fixed_nnb) F(T, mass_weighted_nb) F(T, initial_fpoly2)
/* clang-format on */

static const struct nb6_state_field integration_fields[] = {
    INTEGRATION_FIELDS(NB6_FIELD, struct nb6_integration_config)};

_Static_assert(NB6_COVERS(struct nb6_integration_config, INTEGRATION_FIELDS, UNUSED(struct nb6_integration_config)),
               FORGOTTEN);

/* clang-format off */
#define PAIR_CONFIG_FIELDS(F, T) \
    F(T, r_min) F(T, dt_min) F(T, eta_u) F(T, e_close) F(T, gamma_min) F(T, gamma_max) F(T, adjust) \
    F(T, slow_down) F(T, systems) F(T, chains) F(T, hierarchies) F(T, chain_method) F(T, r_star)
/* clang-format on */

static const struct nb6_state_field pair_config_fields[] = {PAIR_CONFIG_FIELDS(NB6_FIELD, struct nb6_pair_config)};

_Static_assert(NB6_COVERS(struct nb6_pair_config, PAIR_CONFIG_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define BINARIES_FIELDS(F, T) \
    F(T, n) F(T, wanted) F(T, period) F(T, pairing) F(T, semi_max) F(T, ecc) F(T, ratio) F(T, range)
/* clang-format on */

static const struct nb6_state_field binaries_fields[] = {BINARIES_FIELDS(NB6_FIELD, struct nb6_binary_config)};

_Static_assert(NB6_COVERS(struct nb6_binary_config, BINARIES_FIELDS, UNUSED(struct nb6_binary_config)), FORGOTTEN);

#define TRIPLES_FIELDS(F, T) F(T, n) F(T, semi_max) F(T, range) F(T, ecc) F(T, ratio)

static const struct nb6_state_field triples_fields[] = {TRIPLES_FIELDS(NB6_FIELD, struct nb6_triple_config)};

_Static_assert(NB6_COVERS(struct nb6_triple_config, TRIPLES_FIELDS, 0), FORGOTTEN);

/* Beside the structs above. */
#define CONFIG_FIELDS(F, T) F(T, escape) F(T, write_escapers) F(T, rbar_pc) F(T, zmbar_msun)

static const struct nb6_state_field config_fields[] = {CONFIG_FIELDS(NB6_FIELD, struct nb6_config)};

#define CONFIG_STRUCTS(F, T)                                                                                           \
    F(T, run) F(T, model) F(T, pair) F(T, binaries) F(T, triples) F(T, tide) F(T, integration) F(T, number)

/* How a data file was read does not matter once the stars are there. */
_Static_assert(NB6_COVERS(struct nb6_config, CONFIG_FIELDS,
                          sizeof(struct nb6_data_config) CONFIG_STRUCTS(NB6_PLUS_BYTES, struct nb6_config)),
               FORGOTTEN);

/* ---- the simulation ---- */

#define UNITS_FIELDS(F, T) F(T, length_pc) F(T, mass_msun) F(T, velocity_kms) F(T, time_myr)

static const struct nb6_state_field units_fields[] = {UNITS_FIELDS(NB6_FIELD, struct nb6_units)};

_Static_assert(NB6_COVERS(struct nb6_units, UNITS_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define EXTERNAL_FIELDS(F, T) \
    F(T, active) F(T, kind) F(T, t_x) F(T, t_z) F(T, coriolis) F(T, parameter) F(T, orbit.t) F(T, orbit.x) \
    F(T, orbit.v) F(T, orbit.acc) F(T, orbit.jerk) F(T, orbit.now_t) F(T, orbit.now_x) F(T, orbit.now_v) \
    F(T, orbit.now_acc) F(T, orbit.now_jerk) F(T, orbit.now_snap)
/* clang-format on */

static const struct nb6_state_field external_fields[] = {EXTERNAL_FIELDS(NB6_FIELD, struct nb6_external)};

_Static_assert(NB6_COVERS(struct nb6_external, EXTERNAL_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define COUNTER_FIELDS(F, T) \
    F(T, steps_irr) F(T, steps_reg) F(T, blocks) F(T, blocks_reg) F(T, pairs_irr) F(T, pairs_reg) \
    F(T, overflows) F(T, escapers) F(T, mergers) F(T, pairs_formed) F(T, pairs_ended) F(T, ks_steps) \
    F(T, ks_forces) F(T, chains_formed) F(T, chains_ended) F(T, chain_changes) F(T, hierarchies_formed) \
    F(T, hierarchies_ended) F(T, chain_steps) F(T, chain_forces) F(T, chain_pairs)
/* clang-format on */

static const struct nb6_state_field counter_fields[] = {COUNTER_FIELDS(NB6_FIELD, struct nb6_counters)};

_Static_assert(NB6_COVERS(struct nb6_counters, COUNTER_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define BOOK_FIELDS(F, T) \
    F(T, ti_next_adjust) F(T, ti_next_output) F(T, adjust_count) F(T, output_count) F(T, snapshot_count) \
    F(T, energy_known) F(T, e_scale) F(T, e_cluster) F(T, mass_start) F(T, r_density) F(T, v_density) F(T, r_half) \
    F(T, nb_alpha) F(T, eta_share) F(T, nnb_opt) F(T, r_min) F(T, dt_min) F(T, e_close) F(T, pairs_announced) \
    F(T, undecided) F(T, host_until) F(T, ti_ended) F(T, name_zero) F(T, pairs_irr_last) F(T, pairs_reg_last) \
    F(T, energy_tries) F(T, wall_used_s) F(T, stuck.blocks) F(T, stuck.who) F(T, stuck_told)
/* clang-format on */

static const struct nb6_state_field book_fields[] = {BOOK_FIELDS(NB6_FIELD, struct nb6_bookkeeping)};

_Static_assert(NB6_COVERS(struct nb6_bookkeeping, BOOK_FIELDS, sizeof(struct nb6_energy_ledger)), FORGOTTEN);

/* Channels by their names. */
#define CHANNEL_FIELD(constant, name, transfer)                                                                        \
    {name, NB6_FIELD_F64, offsetof(struct nb6_energy_ledger, booked[NB6_CHANNEL_##constant]), 1, 1, 0},
#define LAST_FIELD(constant, name, transfer)                                                                           \
    {name "_last", NB6_FIELD_F64, offsetof(struct nb6_energy_ledger, booked_last[NB6_CHANNEL_##constant]), 1, 1, 0},
#define LEDGER_FIELDS(F, T) F(T, start) F(T, error_last) F(T, work)

static const struct nb6_state_field ledger_fields[] = {LEDGER_FIELDS(NB6_FIELD, struct nb6_energy_ledger)
                                                           NB6_CHANNELS(CHANNEL_FIELD) NB6_CHANNELS(LAST_FIELD)};

_Static_assert(NB6_COVERS(struct nb6_energy_ledger, LEDGER_FIELDS, sizeof(double[2][NB6_CHANNEL_COUNT])), FORGOTTEN);

/* clang-format off */
#define STATE_FIELDS(F, T) \
    F(T, n) F(T, pairs.n_slot) F(T, pairs.count) F(T, pairs.n_chain) F(T, ti_now) F(T, ti_reached) \
    F(T, ti_origin) F(T, nb_cap) F(T, mean_mass) F(T, stage_s)
/* clang-format on */

static const struct nb6_state_field state_fields[] = {STATE_FIELDS(NB6_FIELD, struct nb6_sim)};

/* Which members of a simulation are stored: as fields of the group "state", as groups or columns, and not at all,
 * because they follow from others or belong to the session. A new member has to be put into one of these lists. */
/* clang-format off */
#define SIM_FIELDS(F, T) \
    F(T, n) F(T, ti_now) F(T, ti_reached) F(T, ti_origin) F(T, nb_cap) F(T, mean_mass) F(T, stage_s)
#define SIM_GROUPS(F, T) \
    F(T, config) F(T, units) F(T, external) F(T, counters) F(T, book) F(T, body) F(T, star) F(T, pairs)
#define SIM_NOT_STORED(F, T) \
    F(T, schedule) F(T, reg) F(T, irr) F(T, active) F(T, transaction) F(T, elsewhere) F(T, edits) F(T, prediction) \
    F(T, chain_s) F(T, potential) F(T, nearest) F(T, motions_now) F(T, properties) F(T, profile) F(T, observer) F(T, stopped) \
    F(T, is_called) F(T, is_freed) F(T, engine) F(T, engine_why) F(T, wall_start_s)
/* clang-format on */

_Static_assert(NB6_COVERS(struct nb6_sim, SIM_FIELDS,
                          0 SIM_GROUPS(NB6_PLUS_BYTES, struct nb6_sim) SIM_NOT_STORED(NB6_PLUS_BYTES, struct nb6_sim)),
               FORGOTTEN);

#define PAIRS_FIELDS(F, T) F(T, n_slot) F(T, count) F(T, n_chain)
#define PAIRS_COLUMNS(F, T) F(T, pair) F(T, ks) F(T, chain) F(T, pert)
/* clang-format off */
#define PAIRS_NOT_STORED(F, T) \
    F(T, capacity) F(T, kinds) F(T, n_kind) F(T, chain_capacity) F(T, resolved_by) F(T, leader) F(T, follower) F(T, next) F(T, due) \
    F(T, n_listed) F(T, listed) F(T, is_listed) F(T, free_from) F(T, changed) F(T, form) F(T, chain_change) F(T, form_capacity) F(T, change_capacity) \
    F(T, source) F(T, n_source) F(T, holder_capacity) F(T, holder) F(T, n_far) F(T, far) F(T, scratch)
/* clang-format on */

_Static_assert(NB6_COVERS(struct nb6_pairs, PAIRS_FIELDS,
                          0 PAIRS_COLUMNS(NB6_PLUS_BYTES, struct nb6_pairs)
                              PAIRS_NOT_STORED(NB6_PLUS_BYTES, struct nb6_pairs)),
               FORGOTTEN);

/* ---- the groups ---- */

#define GROUP(name, member, fields)                                                                                    \
    {                                                                                                                  \
        name, offsetof(struct nb6_sim, member), sizeof NB6_MEMBER(struct nb6_sim, member), NB6_ROWS(fields), fields    \
    }

static const struct nb6_field_group state_groups[] = {
    GROUP("config_run", config.run, run_fields),
    GROUP("config_model", config.model, model_fields),
    GROUP("config_tide", config.tide, tide_fields),
    GROUP("config_integration", config.integration, integration_fields),
    GROUP("config_pair", config.pair, pair_config_fields),
    GROUP("config_binaries", config.binaries, binaries_fields),
    GROUP("config_triples", config.triples, triples_fields),
    GROUP("config", config, config_fields),
    GROUP("units", units, units_fields),
    GROUP("external", external, external_fields),
    {"state", 0, sizeof(struct nb6_sim), NB6_ROWS(state_fields), state_fields},
    GROUP("counters", counters, counter_fields),
    GROUP("bookkeeping", book, book_fields),
    GROUP("ledger", book.ledger, ledger_fields),
};

const struct nb6_field_group *nb6_state_group(int k)
{
    return k >= 0 && k < (int)NB6_ROWS(state_groups) ? &state_groups[k] : NULL;
}

size_t nb6_state_field_bytes(enum nb6_field_type type)
{
    static const size_t bytes[] = {[NB6_FIELD_F64] = 8, [NB6_FIELD_I64] = 8, [NB6_FIELD_U64] = 8,
                                   [NB6_FIELD_I32] = 4, [NB6_FIELD_I8] = 1,  [NB6_FIELD_TEXT] = 1};
    return bytes[type];
}

size_t nb6_state_field_values(const struct nb6_state_field *field)
{
    return field->count * field->repeat;
}
