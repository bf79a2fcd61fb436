#include "nbody6/output/checkpoint_fields.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint_table.h"
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
#define NOT_NEGATIVE_OR_INFINITE BETWEEN(0, INFINITY)

/* ---- bodies and stars ---- */

#define BODY_FIELDS(F, T)                                                                                              \
    F(T, x0, PLACE) F(T, v0, PLACE) F(T, acc, NUMBER) F(T, jerk, NUMBER) F(T, mass, NOT_NEGATIVE) F(T, t0, TIME)

static const struct nb6_state_field body_fields[] = {BODY_FIELDS(NB6_FIELD, struct nb6_body)};

_Static_assert(NB6_COVERS(struct nb6_body, BODY_FIELDS, sizeof NB6_MEMBER(struct nb6_body, spare)), FORGOTTEN);

#define STAR_SPARE(F, T) F(T, spare) F(T, spare_owner)

/* clang-format off */
#define STAR_FIELDS(F, T) \
    F(T, acc_irr, NUMBER) F(T, jerk_irr, NUMBER) F(T, snap_irr, NUMBER) F(T, crackle_irr, NUMBER) \
    F(T, acc_reg, NUMBER) F(T, jerk_reg, NUMBER) F(T, snap_reg, NUMBER) F(T, crackle_reg, NUMBER) F(T, t0_reg, TIME) \
    F(T, r_nb, BETWEEN(0, 1e18)) F(T, radius, NOT_NEGATIVE) F(T, name, NAME) F(T, nnb, BETWEEN(0, INT32_MAX)) \
    F(T, level_irr, LEVEL) F(T, level_reg, LEVEL) F(T, owner, OWNER)
/* clang-format on */

static const struct nb6_state_field star_fields[] = {STAR_FIELDS(NB6_FIELD, struct nb6_star)};

_Static_assert(NB6_COVERS(struct nb6_star, STAR_FIELDS, 0 STAR_SPARE(NB6_PLUS_BYTES, struct nb6_star)), FORGOTTEN);

/* Which of them there are in this program is told when a run gets them (nb6_kinds_install). */
#define KIND BETWEEN(0, 100)

/* ---- pairs: what the driver knows, the relative motion, the length of the list ---- */

/* clang-format off */
#define PAIR_FIELDS(F, T) \
    F(T, member, BODY_FROM(-1)) F(T, kind, KIND) F(T, primordial, FLAG) \
    F(T, ending, BETWEEN(0, NB6_PAIR_REMADE + 1)) F(T, chain, CHAIN_NUMBER) F(T, approaching, BETWEEN(0, 2)) \
    F(T, galactic, FLAG) F(T, begun, FLAG) F(T, remote, FLAG) F(T, r_end, NOT_NEGATIVE) F(T, t_formed, WHEN) \
    F(T, gamma_max, NOT_NEGATIVE) F(T, t_check, EVER) F(T, steps, COUNT) F(T, forces, COUNT) F(T, work, COUNT) \
    F(T, told, COUNT) F(T, tide.t, TIME_OR_NEVER) F(T, tide.field, NUMBER) F(T, tide.field_dot, NUMBER) \
    F(T, far.t, TIME_OR_NEVER) F(T, far.field, NUMBER) F(T, far.field_dot, NUMBER) \
    F(T, orbit.ellipse.centre, NUMBER) F(T, orbit.ellipse.by_cosine, NUMBER) F(T, orbit.ellipse.by_sine, NUMBER) \
    F(T, orbit.ellipse.share_cosine, NUMBER) F(T, orbit.ellipse.share_sine, NUMBER) \
    F(T, orbit.apocentre, NOT_NEGATIVE_OR_INFINITE) F(T, orbit.h, NUMBER)
/* clang-format on */

static const struct nb6_state_field pair_fields[] = {PAIR_FIELDS(NB6_FIELD, struct nb6_pair)};

_Static_assert(NB6_COVERS(struct nb6_pair, PAIR_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define KS_FIELDS(F, T) \
    F(T, mass, NOT_NEGATIVE) F(T, m, NOT_NEGATIVE) F(T, options.eta, BETWEEN(0, 0.5)) \
    F(T, options.gamma_slow, BETWEEN(0, 1)) F(T, options.kappa_max, NOT_NEGATIVE) F(T, t, WHEN) \
    F(T, t_lo, BETWEEN(-1e-6, 1e-6)) F(T, dt, NOT_NEGATIVE) F(T, dtau, NOT_NEGATIVE) F(T, h, NUMBER) \
    F(T, kappa, NOT_NEGATIVE) F(T, now.u, NUMBER) F(T, now.up, NUMBER) F(T, now.q, NUMBER) F(T, now.qp, NUMBER) \
    F(T, now.h, NUMBER) F(T, now.hp, NUMBER) F(T, now.hpp, NUMBER) F(T, now.r, NOT_NEGATIVE) F(T, now.rp, NUMBER) \
    F(T, now.r2, NUMBER) F(T, now.r3, NUMBER) F(T, u_lo, NUMBER) F(T, up_lo, NUMBER) F(T, p, NUMBER) \
    F(T, pdot, NUMBER) F(T, gamma, NOT_NEGATIVE) F(T, gamma_apo, NOT_NEGATIVE) F(T, gamma_run, NOT_NEGATIVE) \
    F(T, t_scale, NOT_NEGATIVE) F(T, t_near, NOT_NEGATIVE) F(T, r_max, NOT_NEGATIVE) F(T, mean.h, NUMBER) F(T, mean.e, NUMBER) \
    F(T, mean.l, NUMBER) F(T, drift.h, NUMBER) F(T, drift.e, NUMBER) F(T, drift.l, NUMBER) F(T, begin.h, NUMBER) \
    F(T, begin.e, NUMBER) F(T, begin.l, NUMBER) F(T, sum.h, NUMBER) F(T, sum.e, NUMBER) F(T, sum.l, NUMBER) \
    F(T, last.h, NUMBER) F(T, last.e, NUMBER) F(T, last.l, NUMBER) F(T, swing, NOT_NEGATIVE) \
    F(T, time, NOT_NEGATIVE) F(T, d, NUMBER) F(T, before.u, NUMBER) F(T, before.up, NUMBER) F(T, before.q, NUMBER) \
    F(T, before.qp, NUMBER) F(T, before.h, NUMBER) F(T, before.hp, NUMBER) F(T, before.hpp, NUMBER) \
    F(T, before.r, NOT_NEGATIVE) F(T, before.rp, NUMBER) F(T, before.r2, NUMBER) F(T, before.r3, NUMBER) \
    F(T, dtau_before, NOT_NEGATIVE) F(T, phase, NOT_NEGATIVE) F(T, n_step, COUNT) F(T, n_eval, COUNT) \
    F(T, n_orbit, COUNT) F(T, perturbed, FLAG) F(T, level, BETWEEN(-1, 2)) F(T, power, NUMBER) F(T, work, NUMBER)
/* clang-format on */

static const struct nb6_state_field ks_fields[] = {KS_FIELDS(NB6_FIELD, struct ks_pair)};

_Static_assert(NB6_COVERS(struct ks_pair, KS_FIELDS, 0), FORGOTTEN);

#define PERTURBER_FIELDS(F, T) F(T, n, BETWEEN(0, INT32_MAX))
#define PERTURBERS_NOT_STORED(F, T) F(T, capacity) F(T, body) /* body: the dataset "perturbers" */

static const struct nb6_state_field perturber_fields[] = {PERTURBER_FIELDS(NB6_FIELD, struct nb6_perturbers)};

_Static_assert(NB6_COVERS(struct nb6_perturbers, PERTURBER_FIELDS,
                          0 PERTURBERS_NOT_STORED(NB6_PLUS_BYTES, struct nb6_perturbers)),
               FORGOTTEN);

/* ---- chains ---- */

/* clang-format off */
#define CHAIN_FIELDS(F, T) \
    F(T, slot, SLOT_FROM(-1)) F(T, star, STAR_FROM(0)) F(T, most, BETWEEN(0, CHAIN_MAX)) F(T, x, PLACE) \
    F(T, v, PLACE) F(T, t_formed, WHEN) F(T, n_merged, BETWEEN(0, CHAIN_MAX)) F(T, steps, COUNT) F(T, forces, COUNT) \
    F(T, told, COUNT) F(T, state.options.method, BETWEEN(0, CHAIN_METHODS - 1)) \
    F(T, state.options.pn, BETWEEN(0, 7)) F(T, state.options.c_light, NOT_NEGATIVE) \
    F(T, state.options.tolerance, BETWEEN(1e-15, 1e-3)) F(T, state.options.slow, BETWEEN(0, 0.1)) \
    F(T, state.options.slow_time, NOT_NEGATIVE) F(T, state.options.max_steps, COUNT) \
    F(T, state.n, BETWEEN(0, CHAIN_MAX)) F(T, state.method, BETWEEN(0, CHAIN_METHOD_AR)) \
    F(T, state.order, BETWEEN(0, CHAIN_MAX - 1)) F(T, state.column, BETWEEN(0, 100)) F(T, state.unused, ANY) \
    F(T, state.id, ANY) F(T, state.mass, NOT_NEGATIVE) F(T, state.radius, NOT_NEGATIVE) \
    F(T, state.kappa, NOT_NEGATIVE) F(T, state.t, WHEN) F(T, state.t_low, BETWEEN(-1e-6, 1e-6)) \
    F(T, state.y, NUMBER) F(T, state.y_low, NUMBER) F(T, state.energy, NUMBER) F(T, state.step, NUMBER) \
    F(T, state.closest_r, NOT_NEGATIVE) F(T, state.closest_t, WHEN) F(T, state.steps, COUNT) \
    F(T, state.rejected, COUNT) F(T, state.evaluations, COUNT) F(T, state.switches, COUNT) \
    F(T, state.unreached, COUNT) F(T, state.worst_error, NOT_NEGATIVE) F(T, galaxy_work, NUMBER)
/* clang-format on */

/* clang-format off */
#define MERGED_FIELDS(F, T) \
    F(T, merged, t, WHEN) F(T, merged, star, STAR_FROM(0)) F(T, merged, mass, NOT_NEGATIVE) \
    F(T, merged, radius, NOT_NEGATIVE) F(T, merged, energy, NUMBER) F(T, merged, r, NOT_NEGATIVE)
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

const struct nb6_field_group nb6_pair_fields = {"pairs", 0, sizeof(struct nb6_pair), NB6_ROWS(pair_fields),
                                                pair_fields};

const struct nb6_field_group nb6_ks_fields = {"ks", 0, sizeof(struct ks_pair), NB6_ROWS(ks_fields), ks_fields};

const struct nb6_field_group nb6_chain_fields = {"chains", 0, sizeof(struct nb6_chain), NB6_ROWS(chain_fields),
                                                 chain_fields};

const struct nb6_field_group nb6_perturber_fields = {"perturber_numbers", 0, sizeof(struct nb6_perturbers),
                                                     NB6_ROWS(perturber_fields), perturber_fields};
