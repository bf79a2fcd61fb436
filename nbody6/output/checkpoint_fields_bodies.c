#include "nbody6/output/checkpoint_fields.h"

#include "common/nbc.h"
#include "nbody6/output/checkpoint_table.h"
#include "nbody6/state/body.h"
#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#define FORGOTTEN "a member is in no list: add it, and raise NB6_CHECKPOINT_SCHEMA"

/* ---- bodies and stars ---- */

#define BODY_FIELDS(F, T) F(T, x0) F(T, v0) F(T, acc) F(T, jerk) F(T, mass) F(T, t0)

static const struct nb6_state_field body_fields[] = {BODY_FIELDS(NB6_FIELD, struct nb6_body)};

_Static_assert(NB6_COVERS(struct nb6_body, BODY_FIELDS, sizeof NB6_MEMBER(struct nb6_body, spare)), FORGOTTEN);

#define STAR_SPARE(F, T) F(T, spare) F(T, spare_owner)

/* clang-format off */
#define STAR_FIELDS(F, T) \
    F(T, acc_irr) F(T, jerk_irr) F(T, snap_irr) F(T, crackle_irr) F(T, acc_reg) F(T, jerk_reg) F(T, snap_reg) \
    F(T, crackle_reg) F(T, t0_reg) F(T, r_nb) F(T, radius) F(T, name) F(T, nnb) F(T, level_irr) F(T, level_reg) \
    F(T, owner)
/* clang-format on */

static const struct nb6_state_field star_fields[] = {STAR_FIELDS(NB6_FIELD, struct nb6_star)};

_Static_assert(NB6_COVERS(struct nb6_star, STAR_FIELDS, 0 STAR_SPARE(NB6_PLUS_BYTES, struct nb6_star)), FORGOTTEN);

/* ---- pairs: what the driver knows, the relative motion, the length of the list ---- */

/* clang-format off */
#define PAIR_FIELDS(F, T) \
    F(T, member) F(T, kind) F(T, primordial) F(T, ending) F(T, chain) F(T, approaching) F(T, galactic) F(T, begun) \
    F(T, r_end) F(T, t_formed) F(T, gamma_max) F(T, t_check) F(T, steps) F(T, forces) F(T, work) F(T, told) \
    F(T, tide.t) F(T, tide.field) F(T, tide.field_dot) F(T, far.t) F(T, far.field) F(T, far.field_dot) F(T, remote) \
    F(T, orbit.ellipse.centre) F(T, orbit.ellipse.by_cosine) F(T, orbit.ellipse.by_sine) \
    F(T, orbit.ellipse.share_cosine) F(T, orbit.ellipse.share_sine) F(T, orbit.apocentre) F(T, orbit.h)
/* clang-format on */

static const struct nb6_state_field pair_fields[] = {PAIR_FIELDS(NB6_FIELD, struct nb6_pair)};

_Static_assert(NB6_COVERS(struct nb6_pair, PAIR_FIELDS, 0), FORGOTTEN);

/* clang-format off */
#define KS_FIELDS(F, T) \
    F(T, mass) F(T, m) F(T, options.eta) F(T, options.gamma_slow) F(T, options.kappa_max) F(T, t) F(T, t_lo) \
    F(T, dt) F(T, dtau) F(T, h) F(T, kappa) F(T, now.u) F(T, now.up) F(T, now.q) F(T, now.qp) F(T, now.h) \
    F(T, now.hp) F(T, now.hpp) F(T, now.r) F(T, now.rp) F(T, now.r2) F(T, now.r3) F(T, u_lo) F(T, up_lo) F(T, p) \
    F(T, pdot) F(T, gamma) F(T, gamma_apo) F(T, gamma_run) F(T, t_scale) F(T, t_near) F(T, r_max) F(T, mean.h) \
    F(T, mean.e) F(T, mean.l) F(T, drift.h) F(T, drift.e) F(T, drift.l) F(T, begin.h) F(T, begin.e) F(T, begin.l) F(T, sum.h) \
    F(T, sum.e) F(T, sum.l) F(T, last.h) F(T, last.e) F(T, last.l) F(T, swing) F(T, time) F(T, d) F(T, before.u) \
    F(T, before.up) F(T, before.q) F(T, before.qp) F(T, before.h) F(T, before.hp) F(T, before.hpp) \
    F(T, before.r) F(T, before.rp) F(T, before.r2) F(T, before.r3) F(T, dtau_before) F(T, phase) F(T, n_step) \
    F(T, n_eval) F(T, n_orbit) F(T, perturbed) F(T, level) F(T, power) F(T, work)
/* clang-format on */

static const struct nb6_state_field ks_fields[] = {KS_FIELDS(NB6_FIELD, struct ks_pair)};

_Static_assert(NB6_COVERS(struct ks_pair, KS_FIELDS, 0), FORGOTTEN);

#define PERTURBER_FIELDS(F, T) F(T, n)
#define PERTURBERS_NOT_STORED(F, T) F(T, capacity) F(T, body) /* body: the dataset "perturbers" */

static const struct nb6_state_field perturber_fields[] = {PERTURBER_FIELDS(NB6_FIELD, struct nb6_perturbers)};

_Static_assert(NB6_COVERS(struct nb6_perturbers, PERTURBER_FIELDS,
                          0 PERTURBERS_NOT_STORED(NB6_PLUS_BYTES, struct nb6_perturbers)),
               FORGOTTEN);

/* ---- chains ---- */

/* clang-format off */
#define CHAIN_FIELDS(F, T) \
    F(T, slot) F(T, star) F(T, most) F(T, x) F(T, v) F(T, t_formed) F(T, n_merged) F(T, steps) F(T, forces) \
    F(T, told) F(T, state.options.method) F(T, state.options.pn) F(T, state.options.c_light) \
    F(T, state.options.tolerance) F(T, state.options.slow) F(T, state.options.slow_time) \
    F(T, state.options.max_steps) F(T, state.n) F(T, state.method) F(T, state.order) F(T, state.column) \
    F(T, state.unused) F(T, state.id) F(T, state.mass) F(T, state.radius) F(T, state.kappa) F(T, state.t) \
    F(T, state.t_low) F(T, state.y) F(T, state.y_low) F(T, state.energy) F(T, state.step) F(T, state.closest_r) \
    F(T, state.closest_t) F(T, state.steps) F(T, state.rejected) F(T, state.evaluations) F(T, state.switches) \
    F(T, state.unreached) F(T, state.worst_error) F(T, galaxy_work)
/* clang-format on */

/* clang-format off */
#define MERGED_FIELDS(F, T) \
    F(T, merged, t) F(T, merged, star) F(T, merged, mass) F(T, merged, radius) F(T, merged, energy) \
    F(T, merged, r)
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
