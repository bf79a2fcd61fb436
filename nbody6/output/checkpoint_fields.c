#include "nbody6/output/checkpoint_fields.h"

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/output/checkpoint_state.h"
#include "nbody6/output/checkpoint_table.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/run_record.h"
#include "nbody6/state/stuck.h"
#include "regularization/chain.h"

#include <stdint.h>

_Static_assert(sizeof(int) == 4, "flags and enums are stored in 4 bytes");

#define FORGOTTEN "a member is in no list: add it, and raise NB6_CHECKPOINT_SCHEMA"
#define UNUSED(T) sizeof NB6_MEMBER(T, unused)

/* Rules of several fields here. Stars are numbered in 32 bits, and so are they with the slots of pairs. */
#define STARS BETWEEN(0, 0x1p30)
/* Values that KZ(26) may have. */
#define KZ_VALUE BETWEEN(-1e6, 1e6)
#define ENERGY BETWEEN(-1e60, 1e60)
/* Errors are relative to it. */
#define ENERGY_SCALE BETWEEN(0, 1e60)
/* INT64_MAX: never, beyond all times (nb6_time_multiple). */
#define DUE BETWEEN(0, 0x1p63)
#define NAME_ZERO BETWEEN(0, 0x1p63)

/* ---- the configuration ---- */

/* clang-format off */
#define RUN_FIELDS(F, T) \
    F(T, name, "name", PRINTABLE) F(T, input_path, "input_path", PRINTABLE) F(T, t_crit, "t_crit", INPUT) \
    F(T, t_crit_myr, "t_crit_myr", INPUT) F(T, wall_limit_s, "wall_limit_s", INPUT) \
    F(T, dt_adjust, "dt_adjust", INPUT) F(T, dt_output, "dt_output", INPUT) \
    F(T, dt_adjust_myr, "dt_adjust_myr", INPUT) F(T, dt_output_myr, "dt_output_myr", INPUT) \
    F(T, n_fix, "n_fix", BETWEEN(1, 0x1p60)) \
    F(T, n_crit, "n_crit", COUNT) F(T, energy_tol, "energy_tol", INPUT) F(T, snapshots, "snapshots", FLAG) \
    F(T, checkpoint_at_output, "checkpoint_at_output", FLAG) \
    F(T, checkpoint_interval_s, "checkpoint_interval_s", INPUT) F(T, write_data_table, "write_data_table", FLAG) \
    F(T, lagrangian_mass, "lagrangian_mass", BETWEEN(0, NB6_LAGR_INITIAL_MASS)) F(T, force_check, "force_check", FLAG) \
    F(T, device, "device", PRINTABLE) F(T, irr_backend, "irr_backend", PRINTABLE) \
    F(T, precision, "precision", BETWEEN(0, GPUNB_DOUBLE)) F(T, engine, "engine", BETWEEN(0, NB6_ENGINE_AUTO)) \
    F(T, on_device_loss, "on_device_loss", BETWEEN(0, NB6_LOSS_HOST)) \
    F(T, energy_retries, "energy_retries", BETWEEN(0, 1000)) F(T, t_crit_open, "t_crit_open", FLAG)
/* clang-format on */

static const struct nb6_state_field run_fields[] = {RUN_FIELDS(NB6_FIELD, struct nb6_run_config)};

_Static_assert(NB6_COVERS(struct nb6_run_config, RUN_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define MODEL_FIELDS(F, T) \
    F(T, kind, "kind", BETWEEN(0, NB6_MODEL_TWO_PLUMMER)) F(T, imf, "imf", BETWEEN(0, NB6_IMF_EGGLETON_NBODY6)) \
    F(T, file_units, "file_units", BETWEEN(0, NB6_FILE_UNSTATED)) F(T, data_path, "data_path", PRINTABLE) \
    F(T, n, "n", STARS) F(T, seed, "seed", ANY) F(T, king_w0, "king_w0", INPUT) F(T, imf_alpha, "imf_alpha", INPUT) \
    F(T, mass_max_msun, "mass_max_msun", INPUT) F(T, mass_min_msun, "mass_min_msun", INPUT) \
    F(T, virial_ratio, "virial_ratio", INPUT) F(T, rotation_xy, "rotation_xy", INPUT) \
    F(T, rotation_z, "rotation_z", INPUT)
/* clang-format on */

static const struct nb6_state_field model_fields[] = {MODEL_FIELDS(NB6_FIELD, struct nb6_model_config)};

_Static_assert(NB6_COVERS(struct nb6_model_config, MODEL_FIELDS, UNUSED(struct nb6_model_config)), FORGOTTEN);

/* clang-format off */
#define TIDE_FIELDS(F, T) \
    F(T, kind, "kind", BETWEEN(0, 1000)) F(T, galaxy_mass_msun, "galaxy_mass_msun", INPUT) \
    F(T, galaxy_distance_kpc, "galaxy_distance_kpc", INPUT) F(T, rtide_unscaled, "rtide_unscaled", INPUT) \
    F(T, disk_mass_msun, "disk_mass_msun", INPUT) F(T, disk_length_kpc, "disk_length_kpc", INPUT) \
    F(T, disk_height_kpc, "disk_height_kpc", INPUT) F(T, halo_velocity_kms, "halo_velocity_kms", INPUT) \
    F(T, halo_radius_kpc, "halo_radius_kpc", INPUT) F(T, bulge_mass_msun, "bulge_mass_msun", INPUT) \
    F(T, bulge_length_kpc, "bulge_length_kpc", INPUT) F(T, bulge_slope, "bulge_slope", INPUT) \
    F(T, position_kpc, "position_kpc", INPUT) F(T, velocity_kms, "velocity_kms", INPUT) \
    F(T, gas_mass, "gas_mass", INPUT) F(T, gas_length, "gas_length", INPUT) F(T, gas_rate, "gas_rate", INPUT) \
    F(T, gas_delay, "gas_delay", INPUT)
/* clang-format on */

static const struct nb6_state_field tide_fields[] = {TIDE_FIELDS(NB6_FIELD, struct nb6_tide_config)};

_Static_assert(NB6_COVERS(struct nb6_tide_config, TIDE_FIELDS, UNUSED(struct nb6_tide_config)), FORGOTTEN);

/* clang-format off */
#define INTEGRATION_FIELDS(F, T) \
    F(T, eta_irr, "eta_irr", INPUT) F(T, eta_reg, "eta_reg", INPUT) F(T, dt_max, "dt_max", INPUT) \
    F(T, dt_fixed_irr, "dt_fixed_irr", INPUT) F(T, dt_fixed_reg, "dt_fixed_reg", INPUT) \
    F(T, force_error, "force_error", INPUT) F(T, r_nb_init, "r_nb_init", INPUT) F(T, nnb_opt, "nnb_opt", STARS) F(T, nnb_max, "nnb_max", STARS) \
    F(T, fixed_nnb, "fixed_nnb", FLAG) F(T, mass_weighted_nb, "mass_weighted_nb", FLAG) \
    F(T, initial_fpoly2, "initial_fpoly2", FLAG)
/* clang-format on */

static const struct nb6_state_field integration_fields[] = {
    INTEGRATION_FIELDS(NB6_FIELD, struct nb6_integration_config)};

_Static_assert(NB6_COVERS(struct nb6_integration_config, INTEGRATION_FIELDS, UNUSED(struct nb6_integration_config)),
               FORGOTTEN);

/* clang-format off */
#define PAIR_CONFIG_FIELDS(F, T) \
    F(T, r_min, "r_min", INPUT) F(T, dt_min, "dt_min", INPUT) F(T, eta_u, "eta_u", INPUT) \
    F(T, e_close, "e_close", INPUT) F(T, gamma_min, "gamma_min", INPUT) F(T, gamma_max, "gamma_max", INPUT) \
    F(T, adjust, "adjust", FLAG) F(T, slow_down, "slow_down", KZ_VALUE) F(T, systems, "systems", FLAG) \
    F(T, chains, "chains", FLAG) F(T, hierarchies, "hierarchies", FLAG) \
    F(T, chain_method, "chain_method", BETWEEN(0, CHAIN_METHODS - 1)) F(T, r_star, "r_star", INPUT)
/* clang-format on */

static const struct nb6_state_field pair_config_fields[] = {PAIR_CONFIG_FIELDS(NB6_FIELD, struct nb6_pair_config)};

_Static_assert(NB6_COVERS(struct nb6_pair_config, PAIR_CONFIG_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define BINARIES_FIELDS(F, T) \
    F(T, n, "n", STARS) F(T, wanted, "wanted", FLAG) \
    F(T, period, "period", BETWEEN(0, NB6_BINARY_DUQUENNOY_MAYOR1991)) \
    F(T, pairing, "pairing", BETWEEN(0, NB6_PAIRING_MASS_RATIO)) F(T, semi_max, "semi_max", INPUT) \
    F(T, ecc, "ecc", INPUT) F(T, ratio, "ratio", INPUT) F(T, range, "range", INPUT)
/* clang-format on */

static const struct nb6_state_field binaries_fields[] = {BINARIES_FIELDS(NB6_FIELD, struct nb6_binary_config)};

_Static_assert(NB6_COVERS(struct nb6_binary_config, BINARIES_FIELDS, UNUSED(struct nb6_binary_config)), FORGOTTEN);

/* clang-format off */
#define TRIPLES_FIELDS(F, T) \
    F(T, n, "n", STARS) F(T, semi_max, "semi_max", INPUT) F(T, range, "range", INPUT) F(T, ecc, "ecc", INPUT) \
    F(T, ratio, "ratio", INPUT)
/* clang-format on */

static const struct nb6_state_field triples_fields[] = {TRIPLES_FIELDS(NB6_FIELD, struct nb6_triple_config)};

_Static_assert(NB6_COVERS(struct nb6_triple_config, TRIPLES_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define STELLAR_FIELDS(F, T) \
    F(T, evolve, "evolve", FLAG) F(T, level, "level", BETWEEN(0, 3)) \
    F(T, white_dwarf_kicks, "white_dwarf_kicks", BETWEEN(0, 2)) F(T, collide, "collide", FLAG) \
    F(T, z, "z", INPUT) F(T, epoch_0_myr, "epoch_0_myr", INPUT)
/* clang-format on */

static const struct nb6_state_field stellar_fields[] = {STELLAR_FIELDS(NB6_FIELD, struct nb6_stellar_config)};

_Static_assert(NB6_COVERS(struct nb6_stellar_config, STELLAR_FIELDS, 0), FORGOTTEN);

/* Beside the structs above. */
/* clang-format off */
#define CONFIG_FIELDS(F, T) \
    F(T, escape, "escape", BETWEEN(0, NB6_ESCAPE_CUT_OFF)) F(T, write_escapers, "write_escapers", FLAG) \
    F(T, rbar_pc, "rbar_pc", INPUT) F(T, zmbar_msun, "zmbar_msun", INPUT)
/* clang-format on */

static const struct nb6_state_field config_fields[] = {CONFIG_FIELDS(NB6_FIELD, struct nb6_config)};

#define CONFIG_STRUCTS(F, T)                                                                                           \
    F(T, run)                                                                                                          \
    F(T, model) F(T, pair) F(T, binaries) F(T, triples) F(T, tide) F(T, integration) F(T, stellar) F(T, number)

/* The way a data file was read does not matter once the stars exist. */
_Static_assert(NB6_COVERS(struct nb6_config, CONFIG_FIELDS,
                          sizeof(struct nb6_data_config) CONFIG_STRUCTS(NB6_PLUS_BYTES, struct nb6_config)),
               FORGOTTEN);

/* ---- the record of a run, and the state ---- */

/* clang-format off */
#define UNITS_FIELDS(F, T) \
    F(T, length_pc, "length_pc", POSITIVE) F(T, mass_msun, "mass_msun", POSITIVE) \
    F(T, velocity_kms, "velocity_kms", POSITIVE) F(T, time_myr, "time_myr", POSITIVE)
/* clang-format on */

static const struct nb6_state_field units_fields[] = {UNITS_FIELDS(NB6_FIELD, struct nb6_units)};

_Static_assert(NB6_COVERS(struct nb6_units, UNITS_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define EXTERNAL_FIELDS(F, T) \
    F(T, active, "active", FLAG) F(T, kind, "kind", BETWEEN(0, 1000)) F(T, t_x, "t_x", NUMBER) \
    F(T, t_z, "t_z", NUMBER) F(T, coriolis, "coriolis", NUMBER) F(T, parameter, "parameter", NUMBER) \
    F(T, orbit.t, "orbit.t", BETWEEN(-NB6_T_MAX, NB6_T_MAX)) F(T, orbit.x, "orbit.x", PLACE) \
    F(T, orbit.v, "orbit.v", PLACE) F(T, orbit.acc, "orbit.acc", NUMBER) F(T, orbit.jerk, "orbit.jerk", NUMBER) \
    F(T, orbit.now_t, "orbit.now_t", BETWEEN(-NB6_T_MAX, NB6_T_MAX)) F(T, orbit.now_x, "orbit.now_x", PLACE) \
    F(T, orbit.now_v, "orbit.now_v", PLACE) F(T, orbit.now_acc, "orbit.now_acc", NUMBER) \
    F(T, orbit.now_jerk, "orbit.now_jerk", NUMBER) F(T, orbit.now_snap, "orbit.now_snap", NUMBER)
/* clang-format on */

static const struct nb6_state_field external_fields[] = {EXTERNAL_FIELDS(NB6_FIELD, struct nb6_external)};

_Static_assert(NB6_COVERS(struct nb6_external, EXTERNAL_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define COUNTER_FIELDS(F, T) \
    F(T, steps_irr, "steps_irr", COUNT) F(T, steps_reg, "steps_reg", COUNT) F(T, blocks, "blocks", COUNT) \
    F(T, blocks_reg, "blocks_reg", COUNT) F(T, pairs_irr, "pairs_irr", COUNT) F(T, pairs_reg, "pairs_reg", COUNT) \
    F(T, overflows, "overflows", COUNT) F(T, calls_by_tree, "calls_by_tree", COUNT) \
    F(T, escapers, "escapers", COUNT) F(T, mergers, "mergers", COUNT) \
    F(T, pairs_formed, "pairs_formed", COUNT) F(T, pairs_ended, "pairs_ended", COUNT) \
    F(T, ks_steps, "ks_steps", COUNT) F(T, ks_forces, "ks_forces", COUNT) F(T, chains_formed, "chains_formed", COUNT) \
    F(T, chains_ended, "chains_ended", COUNT) F(T, chain_changes, "chain_changes", COUNT) \
    F(T, hierarchies_formed, "hierarchies_formed", COUNT) F(T, hierarchies_ended, "hierarchies_ended", COUNT) \
    F(T, chain_steps, "chain_steps", COUNT) F(T, chain_forces, "chain_forces", COUNT) \
    F(T, chain_pairs, "chain_pairs", COUNT) F(T, type_changes, "type_changes", COUNT) \
    F(T, supernovae, "supernovae", COUNT) F(T, remnants, "remnants", COUNT) F(T, contacts, "contacts", COUNT)
/* clang-format on */

static const struct nb6_state_field counter_fields[] = {COUNTER_FIELDS(NB6_FIELD, struct nb6_counters)};

_Static_assert(NB6_COVERS(struct nb6_counters, COUNTER_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define TRANSFER_FIELDS(F, T, channel) \
    F(T, transfers.channel.mass, "transfers." #channel ".mass", NUMBER) \
    F(T, transfers.channel.momentum, "transfers." #channel ".momentum", NUMBER) \
    F(T, transfers.channel.angular_momentum, "transfers." #channel ".angular_momentum", NUMBER)
#define RUN_BOOK_FIELDS(F, T) \
    F(T, ti_next_adjust, "ti_next_adjust", DUE) F(T, ti_next_output, "ti_next_output", DUE) \
    F(T, adjust_count, "adjust_count", COUNT) F(T, output_count, "output_count", COUNT) \
    F(T, snapshot_count, "snapshot_count", COUNT) F(T, ti_ended, "ti_ended", TIME) \
    F(T, energy_known, "energy_known", FLAG) F(T, e_scale, "e_scale", ENERGY_SCALE) \
    F(T, e_cluster, "e_cluster", ENERGY_SCALE) F(T, mass_start, "mass_start", NOT_NEGATIVE) \
    F(T, wall_used_s, "wall_used_s", SECONDS) TRANSFER_FIELDS(F, T, stars) \
    TRANSFER_FIELDS(F, T, escaped) TRANSFER_FIELDS(F, T, changed)
#define BOOK_FIELDS(F, T) \
    F(T, r_density, "r_density", PLACE) F(T, v_density, "v_density", PLACE) F(T, r_half, "r_half", NOT_NEGATIVE) \
    F(T, nb_alpha, "nb_alpha", BETWEEN(0, 1e6)) F(T, eta_share, "eta_share", BETWEEN(0, 1)) \
    F(T, nnb_opt, "nnb_opt", BETWEEN(0, INT32_MAX)) F(T, r_min, "r_min", BETWEEN(0, 1e6)) \
    F(T, dt_min, "dt_min", BETWEEN(0, 1e6)) F(T, e_close, "e_close", NOT_NEGATIVE) \
    F(T, pairs_announced, "pairs_announced", FLAG) F(T, undecided, "undecided", FLAG) \
    F(T, host_until, "host_until", COUNT) F(T, name_zero, "name_zero", NAME_ZERO) \
    F(T, pairs_irr_last, "pairs_irr_last", COUNT) F(T, pairs_reg_last, "pairs_reg_last", COUNT) \
    F(T, energy_tries, "energy_tries", BETWEEN(0, 1000)) \
    F(T, stuck.blocks, "stuck.blocks", BETWEEN(0, NB6_STUCK_BLOCKS + 1)) F(T, stuck.who, "stuck.who", NAME_ZERO) \
    F(T, stuck_told, "stuck_told", NAME_ZERO)
/* clang-format on */

/* One group in files: the books of every run, and those of the integrator of stars. */
#define OF_RUN_BOOK(T, member, name, rule) NB6_FIELD_AT(struct nb6_checkpoint_state, run.book.member, name, rule)
#define OF_BOOK(T, member, name, rule) NB6_FIELD_AT(struct nb6_checkpoint_state, book.member, name, rule)

static const struct nb6_state_field book_fields[] = {RUN_BOOK_FIELDS(OF_RUN_BOOK, ) BOOK_FIELDS(OF_BOOK, )};

_Static_assert(NB6_COVERS(struct nb6_run_book, RUN_BOOK_FIELDS, sizeof(struct nb6_energy_ledger)), FORGOTTEN);
_Static_assert(NB6_COVERS(struct nb6_bookkeeping, BOOK_FIELDS, 0), FORGOTTEN);

/* Channels by their names. */
#define CHANNEL_FIELD(constant, name, transfer)                                                                        \
    {name, NB6_FIELD_F64, offsetof(struct nb6_energy_ledger, booked[NB6_CHANNEL_##constant]), 1, 1, 0, ENERGY},
#define LAST_FIELD(constant, name, transfer)                                                                           \
    {name "_last", NB6_FIELD_F64, offsetof(struct nb6_energy_ledger, booked_last[NB6_CHANNEL_##constant]), 1, 1, 0,    \
     ENERGY},
#define LEDGER_FIELDS(F, T)                                                                                            \
    F(T, start, "start", ENERGY) F(T, error_last, "error_last", ENERGY) F(T, work, "work", NOT_NEGATIVE)

static const struct nb6_state_field ledger_fields[] = {LEDGER_FIELDS(NB6_FIELD, struct nb6_energy_ledger)
                                                           NB6_CHANNELS(CHANNEL_FIELD) NB6_CHANNELS(LAST_FIELD)};

_Static_assert(NB6_COVERS(struct nb6_energy_ledger, LEDGER_FIELDS, sizeof(double[2][NB6_CHANNEL_COUNT])), FORGOTTEN);

/* clang-format off */
#define STATE_FIELDS(F, T) \
    F(T, n, "n", STARS) F(T, n_slot, "pairs.n_slot", STARS) F(T, n_system, "pairs.count", STARS) \
    F(T, n_chain, "pairs.n_chain", STARS) F(T, ti_now, "ti_now", TIME) F(T, ti_reached, "ti_reached", TIME) \
    F(T, ti_origin, "ti_origin", TIME) F(T, nb_cap, "nb_cap", BETWEEN(0, 0x1p32)) \
    F(T, mean_mass, "mean_mass", NOT_NEGATIVE) F(T, stage_s, "stage_s", SECONDS)
#define STATE_STRUCTS(F, T) F(T, run) F(T, book)
/* clang-format on */

static const struct nb6_state_field state_fields[] = {STATE_FIELDS(NB6_FIELD, struct nb6_checkpoint_state)};

_Static_assert(NB6_COVERS(struct nb6_checkpoint_state, STATE_FIELDS,
                          0 STATE_STRUCTS(NB6_PLUS_BYTES, struct nb6_checkpoint_state)),
               FORGOTTEN);

/* Of the record of a run: groups; and what has a group of its own or stands in the heading, or belongs to a session. */
#define RECORD_GROUPS(F, T) F(T, config) F(T, units) F(T, external) F(T, counters) F(T, book)
#define RECORD_OTHERS(F, T) F(T, properties) F(T, id) F(T, unused) F(T, wall_start_s)

_Static_assert(NB6_COVERS(struct nb6_run_record, RECORD_GROUPS, 0 RECORD_OTHERS(NB6_PLUS_BYTES, struct nb6_run_record)),
               FORGOTTEN);

/* ---- the groups ---- */

#define GROUP(name, member, fields)                                                                                    \
    {                                                                                                                  \
        name, offsetof(struct nb6_checkpoint_state, member), sizeof NB6_MEMBER(struct nb6_checkpoint_state, member),   \
            NB6_ROWS(fields), fields                                                                                   \
    }

#define STATE_GROUP(name, fields)                                                                                      \
    {                                                                                                                  \
        name, 0, sizeof(struct nb6_checkpoint_state), NB6_ROWS(fields), fields                                         \
    }

static const struct nb6_field_group state_groups[] = {
    GROUP("config_run", run.config.run, run_fields),
    GROUP("config_model", run.config.model, model_fields),
    GROUP("config_tide", run.config.tide, tide_fields),
    GROUP("config_integration", run.config.integration, integration_fields),
    GROUP("config_pair", run.config.pair, pair_config_fields),
    GROUP("config_binaries", run.config.binaries, binaries_fields),
    GROUP("config_triples", run.config.triples, triples_fields),
    GROUP("config_stellar", run.config.stellar, stellar_fields),
    GROUP("config", run.config, config_fields),
    GROUP("units", run.units, units_fields),
    GROUP("external", run.external, external_fields),
    STATE_GROUP("state", state_fields),
    GROUP("counters", run.counters, counter_fields),
    STATE_GROUP("bookkeeping", book_fields),
    GROUP("ledger", run.book.ledger, ledger_fields),
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
