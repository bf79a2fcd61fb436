#include "nbody6/output/checkpoint_fields.h"

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

/* The type of a field follows from the member; enums are unsigned ints to the compiler. */
#define TYPE_OF(member)                                                                                                \
    _Generic((member), double: NB6_FIELD_F64, double *: NB6_FIELD_F64, const double *: NB6_FIELD_F64,                  \
        int64_t: NB6_FIELD_I64, int64_t *: NB6_FIELD_I64, uint64_t: NB6_FIELD_U64, int: NB6_FIELD_I32,                 \
        int *: NB6_FIELD_I32, unsigned: NB6_FIELD_I32, int8_t: NB6_FIELD_I8, char *: NB6_FIELD_TEXT)
#define BYTES_OF(member)                                                                                               \
    _Generic((member), double : 8, double * : 8, int64_t : 8, int64_t * : 8, uint64_t : 8, int : 4, int * : 4,         \
             unsigned : 4, int8_t : 1, char * : 1)
#define MEMBER(type, name) (((type *)NULL)->name)
#define FIELD(type, name)                                                                                              \
    {                                                                                                                  \
#name, TYPE_OF(MEMBER(type, name)), offsetof(type, name),                                                      \
            sizeof MEMBER(type, name) / BYTES_OF(MEMBER(type, name))                                                   \
    }

_Static_assert(sizeof(int) == 4, "flags and enums are stored in 4 bytes");

#define RUN(name) FIELD(struct nb6_run_config, name)

static const struct nb6_state_field run_fields[] = {
    RUN(name),
    RUN(input_path),
    RUN(t_crit),
    RUN(t_crit_myr),
    RUN(wall_limit_s),
    RUN(dt_adjust),
    RUN(dt_output),
    RUN(n_fix),
    RUN(n_crit),
    RUN(energy_tol),
    RUN(snapshots),
    RUN(checkpoint_at_output),
    RUN(checkpoint_interval_s),
    RUN(write_data_table),
    RUN(lagrangian_mass),
    RUN(force_check),
    RUN(device),
    RUN(irr_backend),
    RUN(precision),
};

#define MODEL(name) FIELD(struct nb6_model_config, name)

static const struct nb6_state_field model_fields[] = {
    MODEL(kind),         MODEL(imf),         MODEL(file_units), MODEL(data_path),     MODEL(n),
    MODEL(seed),         MODEL(king_w0),     MODEL(imf_alpha),  MODEL(mass_max_msun), MODEL(mass_min_msun),
    MODEL(virial_ratio), MODEL(rotation_xy), MODEL(rotation_z),
};

#define TIDE(name) FIELD(struct nb6_tide_config, name)

static const struct nb6_state_field tide_fields[] = {
    TIDE(kind),
    TIDE(galaxy_mass_msun),
    TIDE(galaxy_distance_kpc),
    TIDE(rtide_unscaled),
};

#define INTEGRATION(name) FIELD(struct nb6_integration_config, name)

static const struct nb6_state_field integration_fields[] = {
    INTEGRATION(eta_irr),      INTEGRATION(eta_reg),          INTEGRATION(dt_max),         INTEGRATION(dt_fixed_irr),
    INTEGRATION(dt_fixed_reg), INTEGRATION(r_nb_init),        INTEGRATION(nnb_opt),        INTEGRATION(nnb_max),
    INTEGRATION(fixed_nnb),    INTEGRATION(mass_weighted_nb), INTEGRATION(initial_fpoly2),
};

#define CONFIG(name) FIELD(struct nb6_config, name)

static const struct nb6_state_field config_fields[] = {
    CONFIG(escape),
    CONFIG(write_escapers),
    CONFIG(rbar_pc),
    CONFIG(zmbar_msun),
};

#define PAIR_CONFIG(name) FIELD(struct nb6_pair_config, name)

static const struct nb6_state_field pair_config_fields[] = {
    PAIR_CONFIG(r_min),     PAIR_CONFIG(dt_min),    PAIR_CONFIG(eta_u),       PAIR_CONFIG(e_close),
    PAIR_CONFIG(gamma_min), PAIR_CONFIG(gamma_max), PAIR_CONFIG(adjust),      PAIR_CONFIG(slow_down),
    PAIR_CONFIG(systems),   PAIR_CONFIG(chains),    PAIR_CONFIG(hierarchies), PAIR_CONFIG(chain_method),
    PAIR_CONFIG(r_star),
};

#define BINARIES(name) FIELD(struct nb6_binary_config, name)

static const struct nb6_state_field binaries_fields[] = {
    BINARIES(n),   BINARIES(wanted), BINARIES(period), BINARIES(semi_max),
    BINARIES(ecc), BINARIES(ratio),  BINARIES(range),
};

#define UNITS(name) FIELD(struct nb6_units, name)

static const struct nb6_state_field units_fields[] = {
    UNITS(length_pc),
    UNITS(mass_msun),
    UNITS(velocity_kms),
    UNITS(time_myr),
};

#define EXTERNAL(name) FIELD(struct nb6_external, name)

static const struct nb6_state_field external_fields[] = {
    EXTERNAL(active), EXTERNAL(kind), EXTERNAL(t_x), EXTERNAL(t_z), EXTERNAL(coriolis), EXTERNAL(parameter),
};

#define SIM(name) FIELD(struct nb6_sim, name)

static const struct nb6_state_field sim_fields[] = {
    SIM(n),          SIM(pairs.n_slot), SIM(pairs.count), SIM(pairs.n_chain), SIM(ti_now),
    SIM(ti_reached), SIM(ti_origin),    SIM(nb_cap),      SIM(mean_mass),     SIM(stage_s),
};

#define COUNTER(name) FIELD(struct nb6_counters, name)

static const struct nb6_state_field counter_fields[] = {
    COUNTER(steps_irr),     COUNTER(steps_reg),          COUNTER(blocks),
    COUNTER(blocks_reg),    COUNTER(pairs_irr),          COUNTER(pairs_reg),
    COUNTER(overflows),     COUNTER(escapers),           COUNTER(mergers),
    COUNTER(pairs_formed),  COUNTER(pairs_ended),        COUNTER(ks_steps),
    COUNTER(ks_forces),     COUNTER(chains_formed),      COUNTER(chains_ended),
    COUNTER(chain_changes), COUNTER(hierarchies_formed), COUNTER(hierarchies_ended),
    COUNTER(chain_steps),   COUNTER(chain_forces),       COUNTER(chain_pairs),
};

#define BOOK(name) FIELD(struct nb6_bookkeeping, name)

static const struct nb6_state_field book_fields[] = {
    BOOK(ti_next_adjust),    BOOK(ti_next_output),  BOOK(adjust_count),   BOOK(output_count),
    BOOK(snapshot_count),    BOOK(energy_known),    BOOK(e_start),        BOOK(e_scale),
    BOOK(e_cluster),         BOOK(e_expected),      BOOK(e_last),         BOOK(e_escaped),
    BOOK(e_escaped_binding), BOOK(e_merged),        BOOK(mass_start),     BOOK(r_density),
    BOOK(v_density),         BOOK(r_half),          BOOK(nb_alpha),       BOOK(eta_share),
    BOOK(nnb_opt),           BOOK(r_min),           BOOK(dt_min),         BOOK(e_close),
    BOOK(e_pair_changes),    BOOK(pairs_announced), BOOK(undecided),      BOOK(ti_ended),
    BOOK(name_zero),         BOOK(pairs_irr_last),  BOOK(pairs_reg_last), BOOK(wall_used_s),
};

#define BODY(name) FIELD(struct nb6_body, name)

static const struct nb6_state_field body_fields[] = {
    BODY(x0), BODY(v0), BODY(acc), BODY(jerk), BODY(mass), BODY(t0),
};

#define STAR(name) FIELD(struct nb6_star, name)

static const struct nb6_state_field star_fields[] = {
    STAR(acc_irr),  STAR(jerk_irr),    STAR(snap_irr),  STAR(crackle_irr), STAR(acc_reg), STAR(jerk_reg),
    STAR(snap_reg), STAR(crackle_reg), STAR(t0_reg),    STAR(r_nb),        STAR(radius),  STAR(name),
    STAR(nnb),      STAR(level_irr),   STAR(level_reg), STAR(owner),
};

#define PAIR(name) FIELD(struct nb6_pair, name)

static const struct nb6_state_field pair_fields[] = {
    PAIR(member), PAIR(primordial), PAIR(ending),        PAIR(chain),     PAIR(approaching), PAIR(galactic),
    PAIR(begun),  PAIR(r_end),      PAIR(t_formed),      PAIR(gamma_max), PAIR(t_check),     PAIR(steps),
    PAIR(forces), PAIR(work),       PAIR(told),          PAIR(tide.t),    PAIR(tide.field),  PAIR(tide.field_dot),
    PAIR(far.t),  PAIR(far.field),  PAIR(far.field_dot),
};

/* A plain struct of doubles and integers, made to be copied byte by byte. */
static const struct nb6_state_field ks_fields[] = {{"state", NB6_FIELD_U64, 0, sizeof(struct ks_pair) / 8}};

_Static_assert(sizeof(struct ks_pair) % 8 == 0, "a pair is stored in words of 8 bytes");

static const struct nb6_state_field chain_fields[] = {{"state", NB6_FIELD_U64, 0, sizeof(struct nb6_chain) / 8}};

_Static_assert(sizeof(struct nb6_chain) % 8 == 0, "a chain is stored in words of 8 bytes");

static const struct nb6_state_field perturber_fields[] = {FIELD(struct nb6_perturbers, n)};
#define COUNT(fields) (sizeof(fields) / sizeof(fields)[0])
#define GROUP(name, member, fields)                                                                                    \
    {                                                                                                                  \
        name, offsetof(struct nb6_sim, member), sizeof MEMBER(struct nb6_sim, member), COUNT(fields), fields           \
    }

static const struct nb6_field_group state_groups[] = {
    GROUP("config_run", config.run, run_fields),
    GROUP("config_model", config.model, model_fields),
    GROUP("config_tide", config.tide, tide_fields),
    GROUP("config_integration", config.integration, integration_fields),
    GROUP("config_pair", config.pair, pair_config_fields),
    GROUP("config_binaries", config.binaries, binaries_fields),
    GROUP("config", config, config_fields),
    GROUP("units", units, units_fields),
    GROUP("external", external, external_fields),
    {"state", 0, sizeof(struct nb6_sim), COUNT(sim_fields), sim_fields},
    GROUP("counters", counters, counter_fields),
    GROUP("bookkeeping", book, book_fields),
};

const struct nb6_field_group nb6_body_fields = {"bodies", 0, sizeof(struct nb6_body), COUNT(body_fields), body_fields};

const struct nb6_field_group nb6_star_fields = {"stars", 0, sizeof(struct nb6_star), COUNT(star_fields), star_fields};

const struct nb6_field_group nb6_pair_fields = {"pairs", 0, sizeof(struct nb6_pair), COUNT(pair_fields), pair_fields};

const struct nb6_field_group nb6_ks_fields = {"ks", 0, sizeof(struct ks_pair), COUNT(ks_fields), ks_fields};

const struct nb6_field_group nb6_chain_fields = {"chains", 0, sizeof(struct nb6_chain), COUNT(chain_fields),
                                                 chain_fields};

const struct nb6_field_group nb6_perturber_fields = {"perturber_numbers", 0, sizeof(struct nb6_perturbers),
                                                     COUNT(perturber_fields), perturber_fields};

const struct nb6_field_group *nb6_state_group(int k)
{
    return k >= 0 && k < (int)COUNT(state_groups) ? &state_groups[k] : NULL;
}

size_t nb6_state_field_bytes(enum nb6_field_type type)
{
    static const size_t bytes[] = {[NB6_FIELD_F64] = 8, [NB6_FIELD_I64] = 8, [NB6_FIELD_U64] = 8,
                                   [NB6_FIELD_I32] = 4, [NB6_FIELD_I8] = 1,  [NB6_FIELD_TEXT] = 1};
    return bytes[type];
}
