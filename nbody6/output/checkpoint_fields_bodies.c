#include "nbody6/output/checkpoint_fields.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint_table.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/body.h"
#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <math.h>
#include <stdint.h>

#define FORGOTTEN "a member is in no list: add it, and raise NB6_CHECKPOINT_SCHEMA"

/* Rules of several fields here. Times of motions are relative to an origin, or absolute, and begin at 0. */
#define WHEN BETWEEN(-NB6_T_MAX, NB6_T_MAX)
#define EVER BETWEEN(-INFINITY, INFINITY)
#define LEVEL BETWEEN(0, NB6_TIME_BITS)
/* Of a slot that was never used: 0. */
#define NAME BETWEEN(0, 0x1p63)
/* INT64_MAX: never. */
#define DUE_OR_NEVER BETWEEN(0, 0x1p63)
#define NOT_NEGATIVE_OR_INFINITE BETWEEN(0, INFINITY)

/* ---- bodies and stars ---- */

/* clang-format off */
#define BODY_FIELDS(F, T) \
    F(T, x0, "x0", PLACE) F(T, v0, "v0", PLACE) F(T, acc, "acc", NUMBER) F(T, jerk, "jerk", NUMBER) \
    F(T, mass, "mass", NOT_NEGATIVE) F(T, t0, "t0", TIME)
/* clang-format on */

static const struct nb6_state_field body_fields[] = {BODY_FIELDS(NB6_FIELD, struct nb6_body)};

_Static_assert(NB6_COVERS(struct nb6_body, BODY_FIELDS, sizeof NB6_MEMBER(struct nb6_body, spare)), FORGOTTEN);

#define STAR_SPARE(F, T) F(T, spare) F(T, spare_owner)

/* clang-format off */
#define STAR_FIELDS(F, T) \
    F(T, acc_irr, "acc_irr", NUMBER) F(T, jerk_irr, "jerk_irr", NUMBER) F(T, snap_irr, "snap_irr", NUMBER) \
    F(T, crackle_irr, "crackle_irr", NUMBER) F(T, acc_reg, "acc_reg", NUMBER) F(T, jerk_reg, "jerk_reg", NUMBER) \
    F(T, snap_reg, "snap_reg", NUMBER) F(T, crackle_reg, "crackle_reg", NUMBER) F(T, t0_reg, "t0_reg", TIME) \
    F(T, r_nb, "r_nb", BETWEEN(0, 1e18)) F(T, radius, "radius", NOT_NEGATIVE) \
    F(T, mass_start, "mass_start", NOT_NEGATIVE) F(T, name, "name", NAME) \
    F(T, nnb, "nnb", BETWEEN(0, INT32_MAX)) F(T, level_irr, "level_irr", LEVEL) F(T, level_reg, "level_reg", LEVEL) \
    F(T, owner, "owner", OWNER)
/* clang-format on */

static const struct nb6_state_field star_fields[] = {STAR_FIELDS(NB6_FIELD, struct nb6_star)};

_Static_assert(NB6_COVERS(struct nb6_star, STAR_FIELDS, 0 STAR_SPARE(NB6_PLUS_BYTES, struct nb6_star)), FORGOTTEN);

/* Myr, Msun. */
#define AGE BETWEEN(0, 1e12)
#define STELLAR_MASS BETWEEN(0, 1e12)
#define STARS_WAITING BETWEEN(0, 0x1p30)

/* clang-format off */
#define AGED_FIELDS(F, T) \
    F(T, star.type, "type", BETWEEN(0, STELLAR_TYPES - 1)) F(T, star.n_event, "n_event", BETWEEN(0, INT32_MAX)) \
    F(T, star.name, "name", NAME) F(T, star.z, "z", BETWEEN(0, 1)) F(T, star.time_myr, "time_myr", NUMBER) \
    F(T, star.age_myr, "age_myr", AGE) F(T, star.mass_track, "mass_track", STELLAR_MASS) \
    F(T, star.mass, "star_mass", STELLAR_MASS) F(T, star.core_mass, "core_mass", STELLAR_MASS) \
    F(T, star.co_core_mass, "co_core_mass", STELLAR_MASS) F(T, star.spin, "spin", BETWEEN(0, 1)) \
    F(T, star.step_myr, "step_myr", NOT_NEGATIVE) F(T, mass, "mass", STELLAR_MASS) F(T, due, "due", DUE_OR_NEVER) \
    F(T, overflows, "overflows", NAME) F(T, touches, "touches", NAME) F(T, ages, "ages", FLAG) \
    F(T, waits, "waits", STARS_WAITING) F(T, is_one, "is_one", FLAG)
#define AGED_NOT_STORED(F, T) F(T, model)
/* clang-format on */

static const struct nb6_state_field aged_fields[] = {AGED_FIELDS(NB6_FIELD, struct nb6_aged)};

_Static_assert(NB6_COVERS(struct nb6_aged, AGED_FIELDS, 0 AGED_NOT_STORED(NB6_PLUS_BYTES, struct nb6_aged)), FORGOTTEN);

/* Whether this program has a kind is checked when a run gets it (nb6_kinds_install). */
#define KIND BETWEEN(0, 100)

/* ---- pairs: data of the driver, relative motion, length of the list ---- */

/* clang-format off */
#define PAIR_FIELDS(F, T) \
    F(T, member, "member", BODY_FROM(-1)) F(T, kind, "kind", KIND) F(T, primordial, "primordial", FLAG) \
    F(T, ending, "ending", BETWEEN(0, NB6_PAIR_REMADE + 1)) F(T, chain, "chain", CHAIN_NUMBER) \
    F(T, approaching, "approaching", BETWEEN(0, 2)) F(T, galactic, "galactic", FLAG) F(T, begun, "begun", FLAG) \
    F(T, remote, "remote", FLAG) F(T, r_end, "r_end", NOT_NEGATIVE) F(T, t_formed, "t_formed", WHEN) \
    F(T, gamma_max, "gamma_max", NOT_NEGATIVE) F(T, t_check, "t_check", EVER) F(T, steps, "steps", COUNT) \
    F(T, forces, "forces", COUNT) F(T, work, "work", COUNT) F(T, told, "told", COUNT) \
    F(T, tide.t, "tide.t", TIME_OR_NEVER) F(T, tide.field, "tide.field", NUMBER) \
    F(T, tide.field_dot, "tide.field_dot", NUMBER) F(T, far.t, "far.t", TIME_OR_NEVER) \
    F(T, far.field, "far.field", NUMBER) F(T, far.field_dot, "far.field_dot", NUMBER) \
    F(T, orbit.ellipse.centre, "orbit.ellipse.centre", NUMBER) \
    F(T, orbit.ellipse.by_cosine, "orbit.ellipse.by_cosine", NUMBER) \
    F(T, orbit.ellipse.by_sine, "orbit.ellipse.by_sine", NUMBER) \
    F(T, orbit.ellipse.share_cosine, "orbit.ellipse.share_cosine", NUMBER) \
    F(T, orbit.ellipse.share_sine, "orbit.ellipse.share_sine", NUMBER) \
    F(T, orbit.apocentre, "orbit.apocentre", NOT_NEGATIVE_OR_INFINITE) F(T, orbit.h, "orbit.h", NUMBER)
/* clang-format on */

static const struct nb6_state_field pair_fields[] = {PAIR_FIELDS(NB6_FIELD, struct nb6_subsystem)};

_Static_assert(NB6_COVERS(struct nb6_subsystem, PAIR_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define KS_FIELDS(F, T) \
    F(T, mass, "mass", NOT_NEGATIVE) F(T, m, "m", NOT_NEGATIVE) F(T, options.eta, "options.eta", BETWEEN(0, 0.5)) \
    F(T, options.gamma_slow, "options.gamma_slow", BETWEEN(0, 1)) \
    F(T, options.kappa_max, "options.kappa_max", NOT_NEGATIVE) F(T, t, "t", WHEN) \
    F(T, t_lo, "t_lo", BETWEEN(-1e-6, 1e-6)) F(T, dt, "dt", NOT_NEGATIVE) F(T, dtau, "dtau", NOT_NEGATIVE) \
    F(T, h, "h", NUMBER) F(T, kappa, "kappa", NOT_NEGATIVE) F(T, now.u, "now.u", NUMBER) \
    F(T, now.up, "now.up", NUMBER) F(T, now.q, "now.q", NUMBER) F(T, now.qp, "now.qp", NUMBER) \
    F(T, now.h, "now.h", NUMBER) F(T, now.hp, "now.hp", NUMBER) F(T, now.hpp, "now.hpp", NUMBER) \
    F(T, now.r, "now.r", NOT_NEGATIVE) F(T, now.rp, "now.rp", NUMBER) F(T, now.r2, "now.r2", NUMBER) \
    F(T, now.r3, "now.r3", NUMBER) F(T, u_lo, "u_lo", NUMBER) F(T, up_lo, "up_lo", NUMBER) F(T, p, "p", NUMBER) \
    F(T, pdot, "pdot", NUMBER) F(T, gamma, "gamma", NOT_NEGATIVE) F(T, gamma_apo, "gamma_apo", NOT_NEGATIVE) \
    F(T, gamma_run, "gamma_run", NOT_NEGATIVE) F(T, t_scale, "t_scale", NOT_NEGATIVE) \
    F(T, t_near, "t_near", NOT_NEGATIVE) F(T, r_max, "r_max", NOT_NEGATIVE) F(T, mean.h, "mean.h", NUMBER) \
    F(T, mean.e, "mean.e", NUMBER) F(T, mean.l, "mean.l", NUMBER) F(T, drift.h, "drift.h", NUMBER) \
    F(T, drift.e, "drift.e", NUMBER) F(T, drift.l, "drift.l", NUMBER) F(T, begin.h, "begin.h", NUMBER) \
    F(T, begin.e, "begin.e", NUMBER) F(T, begin.l, "begin.l", NUMBER) F(T, sum.h, "sum.h", NUMBER) \
    F(T, sum.e, "sum.e", NUMBER) F(T, sum.l, "sum.l", NUMBER) F(T, last.h, "last.h", NUMBER) \
    F(T, last.e, "last.e", NUMBER) F(T, last.l, "last.l", NUMBER) F(T, swing, "swing", NOT_NEGATIVE) \
    F(T, time, "time", NOT_NEGATIVE) F(T, d, "d", NUMBER) F(T, before.u, "before.u", NUMBER) \
    F(T, before.up, "before.up", NUMBER) F(T, before.q, "before.q", NUMBER) F(T, before.qp, "before.qp", NUMBER) \
    F(T, before.h, "before.h", NUMBER) F(T, before.hp, "before.hp", NUMBER) F(T, before.hpp, "before.hpp", NUMBER) \
    F(T, before.r, "before.r", NOT_NEGATIVE) F(T, before.rp, "before.rp", NUMBER) F(T, before.r2, "before.r2", NUMBER) \
    F(T, before.r3, "before.r3", NUMBER) F(T, dtau_before, "dtau_before", NOT_NEGATIVE) \
    F(T, phase, "phase", NOT_NEGATIVE) F(T, n_step, "n_step", COUNT) F(T, n_eval, "n_eval", COUNT) \
    F(T, n_orbit, "n_orbit", COUNT) F(T, perturbed, "perturbed", FLAG) F(T, level, "level", BETWEEN(-1, 2)) \
    F(T, power, "power", NUMBER) F(T, work, "work", NUMBER)
/* clang-format on */

static const struct nb6_state_field ks_fields[] = {KS_FIELDS(NB6_FIELD, struct ks_pair)};

_Static_assert(NB6_COVERS(struct ks_pair, KS_FIELDS, 0), FORGOTTEN);

#define PERTURBER_FIELDS(F, T) F(T, n, "n", BETWEEN(0, INT32_MAX))
#define PERTURBERS_NOT_STORED(F, T) F(T, capacity) F(T, body) F(T, next_resolver) /* body: the dataset "perturbers" */

static const struct nb6_state_field perturber_fields[] = {PERTURBER_FIELDS(NB6_FIELD, struct nb6_perturbers)};

_Static_assert(NB6_COVERS(struct nb6_perturbers, PERTURBER_FIELDS,
                          0 PERTURBERS_NOT_STORED(NB6_PLUS_BYTES, struct nb6_perturbers)),
               FORGOTTEN);

/* ---- chains ---- */

/* clang-format off */
#define CHAIN_FIELDS(F, T) \
    F(T, slot, "slot", SLOT_FROM(-1)) F(T, star, "star", STAR_FROM(0)) F(T, most, "most", BETWEEN(0, CHAIN_MAX)) \
    F(T, x, "x", PLACE) F(T, v, "v", PLACE) F(T, t_formed, "t_formed", WHEN) \
    F(T, n_merged, "n_merged", BETWEEN(0, CHAIN_MAX)) F(T, steps, "steps", COUNT) F(T, forces, "forces", COUNT) \
    F(T, told, "told", COUNT) F(T, state.options.method, "state.options.method", BETWEEN(0, CHAIN_METHODS - 1)) \
    F(T, state.options.pn, "state.options.pn", BETWEEN(0, 7)) \
    F(T, state.options.c_light, "state.options.c_light", NOT_NEGATIVE) \
    F(T, state.options.tolerance, "state.options.tolerance", BETWEEN(1e-15, 1e-3)) \
    F(T, state.options.slow, "state.options.slow", BETWEEN(0, 0.1)) \
    F(T, state.options.slow_time, "state.options.slow_time", NOT_NEGATIVE) \
    F(T, state.options.max_steps, "state.options.max_steps", COUNT) F(T, state.n, "state.n", BETWEEN(0, CHAIN_MAX)) \
    F(T, state.method, "state.method", BETWEEN(0, CHAIN_METHOD_AR)) \
    F(T, state.order, "state.order", BETWEEN(0, CHAIN_MAX - 1)) F(T, state.column, "state.column", BETWEEN(0, 100)) \
    F(T, state.unused, "state.unused", ANY) F(T, state.id, "state.id", ANY) \
    F(T, state.mass, "state.mass", NOT_NEGATIVE) F(T, state.radius, "state.radius", NOT_NEGATIVE) \
    F(T, state.kappa, "state.kappa", NOT_NEGATIVE) F(T, state.t, "state.t", WHEN) \
    F(T, state.t_low, "state.t_low", BETWEEN(-1e-6, 1e-6)) F(T, state.y, "state.y", NUMBER) \
    F(T, state.y_low, "state.y_low", NUMBER) F(T, state.energy, "state.energy", NUMBER) \
    F(T, state.step, "state.step", NUMBER) F(T, state.closest_r, "state.closest_r", NOT_NEGATIVE) \
    F(T, state.closest_t, "state.closest_t", WHEN) F(T, state.steps, "state.steps", COUNT) \
    F(T, state.rejected, "state.rejected", COUNT) F(T, state.evaluations, "state.evaluations", COUNT) \
    F(T, state.switches, "state.switches", COUNT) F(T, state.unreached, "state.unreached", COUNT) \
    F(T, state.worst_error, "state.worst_error", NOT_NEGATIVE) F(T, galaxy_work, "galaxy_work", NUMBER)
/* clang-format on */

/* clang-format off */
#define MERGED_FIELDS(F, T) \
    F(T, merged, t, "merged.t", WHEN) F(T, merged, star, "merged.star", STAR_FROM(0)) \
    F(T, merged, mass, "merged.mass", NOT_NEGATIVE) F(T, merged, radius, "merged.radius", NOT_NEGATIVE) \
    F(T, merged, energy, "merged.energy", NUMBER) F(T, merged, r, "merged.r", NOT_NEGATIVE)
/* clang-format on */

static const struct nb6_state_field chain_fields[] = {CHAIN_FIELDS(NB6_FIELD, struct nb6_chain)
                                                          MERGED_FIELDS(NB6_FIELD_OF_EACH, struct nb6_chain)};

_Static_assert(NB6_COVERS(struct nb6_chain, CHAIN_FIELDS, 0 MERGED_FIELDS(NB6_PLUS_BYTES_OF_EACH, struct nb6_chain)),
               FORGOTTEN);

/* ---- the groups ---- */

const struct nb6_field_group nb6_body_fields = {"bodies", 0, sizeof(struct nb6_body), NB6_ROWS(body_fields),
                                                body_fields};

const struct nb6_field_group nb6_star_fields = {"stars", 0, sizeof(struct nb6_star), NB6_ROWS(star_fields),
                                                star_fields};

const struct nb6_field_group nb6_aged_fields = {"ageing", 0, sizeof(struct nb6_aged), NB6_ROWS(aged_fields),
                                                aged_fields};

const struct nb6_field_group nb6_pair_fields = {"pairs", 0, sizeof(struct nb6_subsystem), NB6_ROWS(pair_fields),
                                                pair_fields};

const struct nb6_field_group nb6_ks_fields = {"ks", 0, sizeof(struct ks_pair), NB6_ROWS(ks_fields), ks_fields};

const struct nb6_field_group nb6_chain_fields = {"chains", 0, sizeof(struct nb6_chain), NB6_ROWS(chain_fields),
                                                 chain_fields};

const struct nb6_field_group nb6_perturber_fields = {"perturber_numbers", 0, sizeof(struct nb6_perturbers),
                                                     NB6_ROWS(perturber_fields), perturber_fields};
