#include "nbody6/fewbody/pairs/kind.h"
#include "nbody6/fewbody/kind.h"

#include "common/nbc.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/decisions.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/pairs/end.h"
#include "nbody6/fewbody/pairs/field.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/fewbody/ready.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- motion */

/* A step that ends where the field jumps, and a new beginning. */
static int cross_jump(struct nb6_field *f, struct ks_pair *ks, double jump, struct nbc_error *err)
{
    nb6_field_stay_before_jump(f, 1);
    const int status = ks_finish(ks, jump, nb6_field_perturb, f, err);
    nb6_field_stay_before_jump(f, 0);
    return status ? status : ks_start(ks, nb6_field_perturb, f, err);
}

/* To the jump and over it, if it is on the way to t.   @param[out] done  0: not there yet */
static int advance_over_jump(struct nb6_field *f, struct ks_pair *ks, double t, int *done, struct nbc_error *err)
{
    const double jump = nb6_field_jump(f, ks->t, t);
    *done = 1;
    if (!isfinite(jump)) return NBC_OK;
    const int64_t steps = ks->n_step;
    const int status = ks_advance_some(ks, jump, f->left, nb6_field_perturb, f, done, err);
    f->left -= ks->n_step - steps;
    return status || !*done ? status : cross_jump(f, ks, jump, err);
}

int nb6_pair_kind_advance(struct nb6_field *f, const struct nb6_motion *motion, nb6_slot slot, double t,
                          struct nbc_error *err)
{
    int done = 0, status = advance_over_jump(f, &motion->ks[slot], t, &done, err);
    f->paused = !done;
    if (status || !done) return status;
    status = ks_advance_some(&motion->ks[slot], t, f->left, nb6_field_perturb, f, &done, err);
    f->paused = !done;
    return status;
}

int nb6_pair_kind_step(struct nb6_field *f, const struct nb6_motion *motion, nb6_slot slot, struct nbc_error *err)
{
    struct ks_pair *ks = &motion->ks[slot];
    const double jump = nb6_field_jump(f, ks->t, ks->t + 1.5 * ks->dt); /* dt is predicted */
    const int crosses = isfinite(jump) && jump < ks->t + 1.001 * ks->dt;
    int status = crosses ? cross_jump(f, ks, jump, err) : ks_step(ks, nb6_field_perturb, f, err);
    f->paused = --f->left <= 0;
    return status;
}

int nb6_pair_kind_finish(struct nb6_field *f, const struct nb6_motion *motion, nb6_slot slot, double t,
                         struct nbc_error *err)
{
    int done, status;
    if (!nb6_subsystems_is_perturbed(&f->sim->subsystems, slot)) return ks_unperturbed(&motion->ks[slot], t, err);
    status = advance_over_jump(f, &motion->ks[slot], t, &done, err);
    return status ? status : ks_finish(&motion->ks[slot], t, nb6_field_perturb, f, err);
}

int nb6_pair_kind_start(struct nb6_field *f, const struct nb6_motion *motion, nb6_slot slot, struct nbc_error *err)
{
    ks_set_slowdown(&motion->ks[slot], 1); /* a new list must not change the orbit kappa times */
    return nb6_subsystems_is_perturbed(&f->sim->subsystems, slot)
               ? ks_start(&motion->ks[slot], nb6_field_perturb, f, err)
               : ks_start(&motion->ks[slot], NULL, NULL, err);
}

/* ---- present state */

int nb6_pair_kind_points(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot,
                         double t, const double x[3], const double v[3], struct nb6_points *to)
{
    (void)subsystems;
    const struct ks_pair *ks = &motion->ks[slot];
    double xr[3], vr[3];
    int status = ks_predict(ks, t, xr, vr);
    if (status) return status;
    for (int k = 0; k < 3; k++) vr[k] /= ks->kappa;
    ks_components(ks, x, v, xr, vr, &to->x[to->n], &to->v[to->n]);
    to->mass[to->n++] = ks->mass[0];
    to->mass[to->n++] = ks->mass[1];
    return NBC_OK;
}

/* A body of small mass feels the mean over an orbit if it is farther away than this many apocentres, and than it moves
 * in so many periods. The system turns by 30 rad or more then while the body moves by its distance. An oscillation of
 * its potential by (a/r)^2 changes its energy by a 30th of that, mostly reversibly. This may be the given part of the
 * energy of the cluster, so that with few stars the mean applies only from farther away. */
static const double MEAN_APOCENTRES = 15, MEAN_PERIODS = 5, MEAN_ENERGY = 1e-8;

/* For a remote pair it is the orbit that others feel. */
static struct nb6_seen_orbit orbit_of(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    if (sim->subsystems.system[slot].remote) return sim->subsystems.system[slot].orbit;
    struct ks_elements e;
    ks_elements(ks, &e);
    return (struct nb6_seen_orbit){.apocentre = e.a > 0 ? e.a * (1 + e.e) : INFINITY, .h = ks->h};
}

struct nb6_mean_rule nb6_pair_kind_mean_rule(const struct nb6_sim *sim, nb6_slot slot)
{
    const double m = sim->subsystems.ks[slot].m;
    const struct nb6_seen_orbit orbit = orbit_of(sim, slot);
    struct nb6_mean_rule rule = {.apocentres = INFINITY, .mass = m};
    if (!(orbit.h < 0) || !nb6_pair_stays_together(sim, slot, orbit.h, orbit.apocentre)) return rule;
    const double r = orbit.apocentre, b = sqrt(-2 * orbit.h);
    rule.apocentres = MEAN_APOCENTRES * r;
    rule.periods = MEAN_PERIODS * (2 * PI * m / (b * b * b));
    rule.waves = m * r * r / 30 / (MEAN_ENERGY * nb6_energy_scale(sim));
    return rule;
}

_Static_assert((int)NB6_MEAN_PARTS <= (int)CHAIN_MAX, "room in struct nb6_parts");

int nb6_pair_kind_mean_parts(const struct nb6_subsystems *subsystems, nb6_slot slot, struct nb6_parts *to)
{
    const struct ks_pair *ks = &subsystems->ks[slot];
    struct nb6_remote mean = {.share = {ks->mass[0] / ks->m, ks->mass[1] / ks->m}};
    int status = NBC_OK;
    if (subsystems->system[slot].remote)
        mean.ellipse = subsystems->system[slot].orbit.ellipse;
    else
        status = ks_get_ellipse(ks, &mean.ellipse);
    to->n = NB6_MEAN_PARTS;
    for (int m = 0; m < to->n; m++) {
        to->mass[m] = nb6_remote_part(&mean, m, to->x[m]);
        for (int k = 0; k < 3; k++) to->v[m][k] = 0;
        if (status) to->mass[m] = to->x[m][0] = NAN;
    }
    return status;
}

double nb6_pair_kind_energy(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot)
{
    (void)subsystems;
    const struct ks_pair *ks = &motion->ks[slot];
    return ks->mass[0] * ks->mass[1] / ks->m * ks_energy(ks);
}

double nb6_pair_kind_reference_radius(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const double apocentre = orbit_of(sim, slot).apocentre;
    const double r = pair->remote ? 0 : sim->subsystems.ks[slot].now.r;
    return fmin(apocentre, 1.5 * fmax(r, pair->r_end));
}

/* Only a hard pair becomes a chain. */
static double extent(const struct nb6_sim *sim, nb6_slot slot)
{
    struct ks_elements e;
    ks_elements(&sim->subsystems.ks[slot], &e);
    return nb6_pair_is_hard(sim, slot) ? e.a * (1 + e.e) : 0;
}

double nb6_pair_kind_room(const struct nb6_sim *sim, nb6_slot slot)
{
    (void)sim;
    (void)slot;
    return 0;
}

double nb6_pair_kind_step_limit(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    const struct nb6_seen_orbit orbit = orbit_of(sim, slot);
    if (nb6_pair_stays_together(sim, slot, orbit.h, orbit.apocentre)) return INFINITY;
    double r = pair->r_end, v2 = 2 * (ks->h + ks->m / r);
    return 0.25 * r / sqrt(fmax(v2, ks->m / r));
}

/* ---- at the end of a block */

void nb6_pair_kind_count_work(struct nb6_sim *sim, nb6_slot slot)
{
    struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    const int64_t forces = (ks->n_eval - pair->forces) * sim->subsystems.pert[slot].n;
    sim->run.counters.ks_steps += (uint64_t)(ks->n_step - pair->steps);
    sim->run.counters.ks_forces += (uint64_t)forces;
    pair->work += forces;
    pair->steps = ks->n_step;
    pair->forces = ks->n_eval;
}

void nb6_pair_note_gamma(struct nb6_sim *sim, nb6_slot slot)
{
    struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    pair->gamma_max = fmax(pair->gamma_max, sim->subsystems.ks[slot].gamma);
}

int nb6_pair_kind_look(struct nb6_sim *sim, nb6_slot slot)
{
    if (!sim->subsystems.system[slot].remote) nb6_pair_note_gamma(sim, slot);
    int reason = nb6_pair_must_end(sim, slot, sim->active.t);
    if (reason >= 0) nb6_let_end(&sim->subsystems, slot, (enum nb6_pair_reason)reason);
    return reason >= 0;
}

/* Stars that have met become one in a block of their centre of mass, which may come later than their meeting. */
static int look_at_pair(struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_active *active = &sim->active;
    if (!nb6_pair_collides(sim, slot)) return nb6_pair_kind_look(sim, slot);
    nb6_pair_note_gamma(sim, slot);
    if (nb6_list_find(active->irr, (size_t)active->n_irr, nb6_centre(sim, slot)) >= 0)
        nb6_let_end(&sim->subsystems, slot, NB6_PAIR_MERGED);
    return 0;
}

int nb6_pair_kind_decide(struct nb6_sim *sim, nb6_slot slot, struct nb6_decisions *decisions, struct nbc_error *err)
{
    int ready = 1, status = NBC_OK;
    if (nb6_end_reason(&sim->subsystems, slot) == NB6_PAIR_MERGED)
        status = nb6_merger_is_ready(sim, slot, sim->active.t, &ready, err);
    if (status) return status;
    if (ready)
        decisions->end[decisions->n_end++] = (nb6_stored_slot)slot;
    else
        sim->subsystems.system[slot].ending = 0;
    return NBC_OK;
}

void nb6_pair_kind_describe(const struct nb6_sim *sim, nb6_slot slot, enum nb6_pair_reason reason,
                            struct nb6_event *event)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    struct ks_elements e;
    ks_elements(ks, &e);
    event->t = nb6_time_to_double(sim->ti_now);
    event->name = nb6_get_star(sim, nb6_centre(sim, slot))->name;
    event->mass = ks->m;
    memcpy(event->x, nb6_get_body(sim, nb6_centre(sim, slot))->x0, sizeof event->x);
    memcpy(event->v, nb6_get_body(sim, nb6_centre(sim, slot))->v0, sizeof event->v);
    event->pair =
        (struct nb6_event_pair){.reason = reason,
                                .name = {nb6_subsystems_name(sim, slot, 0), nb6_subsystems_name(sim, slot, 1)},
                                .mass = {ks->mass[0], ks->mass[1]},
                                .a = e.a,
                                .e = e.e,
                                .period = e.period,
                                .r = e.r,
                                .binding = ks->mass[0] * ks->mass[1] / ks->m * ks_energy(ks),
                                .gamma = ks->gamma,
                                .gamma_max = fmax(ks->gamma, pair->gamma_max),
                                .t_formed = pair->t_formed,
                                .ks_steps = (uint64_t)ks->n_step};
}

const struct nb6_kind nb6_pair_kind = {
    .name = "pair",
    .ends = NB6_EVENT_PAIR_ENDED,
    .channel = NB6_CHANNEL_PAIRS,
    .is_pair = 1,
    .can_freeze = 1,
    .device_supports = 1,
    .advance = nb6_pair_kind_advance,
    .step = nb6_pair_kind_step,
    .finish = nb6_pair_kind_finish,
    .start = nb6_pair_kind_start,
    .points = nb6_pair_kind_points,
    .mean_rule = nb6_pair_kind_mean_rule,
    .mean_parts = nb6_pair_kind_mean_parts,
    .energy = nb6_pair_kind_energy,
    .reference_radius = nb6_pair_kind_reference_radius,
    .extent = extent,
    .room = nb6_pair_kind_room,
    .step_limit = nb6_pair_kind_step_limit,
    .count_work = nb6_pair_kind_count_work,
    .look = look_at_pair,
    .decide = nb6_pair_kind_decide,
    .describe = nb6_pair_kind_describe,
};
