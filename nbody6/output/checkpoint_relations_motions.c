/* Relative motions of a checkpoint against their members, the time of the run, and the results of the
 * regularization. */
#include "common/nbc.h"
#include "nbody6/output/checkpoint_relations.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"
#include "regularization/check.h"
#include "regularization/ks.h"

#include <math.h>
#include <stdio.h>

/* A motion is brought to the end of the block that is in work, which a run that stops does not wait for: a step of
 * the centre of mass ahead. */
static const double AHEAD = 1;

/* Tides that are not summed over single bodies: beyond any that a pair has until it ends, in units of its own force. */
static const double STRONGEST_TIDE = 1e12;

/* Lengths in units of the one that they follow from. */
static const double ABOUT = 1e3;

/* A chain is at a time in the step of its centre of mass, but for rounding. */
static const double OF_TIME = 1e-6;

/* A pair that lags behind has so many steps to make at most. */
static const double STEPS = 1e6;

static void take(struct nb6_hdf5 *file, const struct nbc_misfit *misfit, const char *group, int64_t row)
{
    char field[96];
    if (!misfit->member || file->status) return;
    snprintf(field, sizeof field, "%s%s", group, misfit->member);
    nb6_rules_refuse(file, field, row, misfit->value, misfit->must_be);
}

static double relative(const struct nb6_sim *sim, nb6_time t)
{
    return nb6_time_to_double(t - sim->ti_origin);
}

/* ---- the driver's data of a system ---- */

static double largest(const double *x, int n)
{
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
    return most;
}

static void judge_tide(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot, const char *group,
                       const struct nb6_tide *tide)
{
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    const double rate2 = ks->m / (ks->r_max * ks->r_max * ks->r_max), most = STRONGEST_TIDE * rate2;
    char field[64];
    snprintf(field, sizeof field, "pairs/%s.t", group);
    nb6_rules_unless(tide->t <= sim->ti_reached, file, field, slot, (double)tide->t, "no later than state/ti_reached");
    snprintf(field, sizeof field, "pairs/%s.field", group);
    nb6_rules_unless(largest(tide->field, 6) <= most, file, field, slot, largest(tide->field, 6),
                     "a tide in which the pair stays together");
    snprintf(field, sizeof field, "pairs/%s.field_dot", group);
    nb6_rules_unless(largest(tide->field_dot, 6) <= STRONGEST_TIDE * most * sqrt(rate2), file, field, slot,
                     largest(tide->field_dot, 6), "the change of a tide in which the pair stays together");
}

/* Of a pair that others see as the mean over its orbit. */
static void judge_seen_orbit(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_seen_orbit *orbit = &sim->subsystems.system[slot].orbit;
    const struct ks_ellipse *e = &orbit->ellipse;
    const double size = fmax(largest(e->centre, 3), fmax(largest(e->by_cosine, 3), largest(e->by_sine, 3)));
    if (!sim->subsystems.system[slot].remote) return;
    nb6_rules_unless(orbit->apocentre > 0, file, "pairs/orbit.apocentre", slot, orbit->apocentre, "a number > 0");
    nb6_rules_unless(size <= ABOUT * orbit->apocentre, file, "pairs/orbit.ellipse.centre", slot, size,
                     "an orbit of about the size of pairs/orbit.apocentre");
    nb6_rules_unless(fabs(e->share_cosine) + fabs(e->share_sine) <= ABOUT, file, "pairs/orbit.ellipse.share_cosine",
                     slot, fabs(e->share_cosine) + fabs(e->share_sine), "at most 1000 in all");
}

/* The work that the counters of the run have already is a part of the work that was done. */
static void judge_done(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    nb6_rules_unless(pair->told <= pair->work, file, "pairs/told", slot, (double)pair->told, "no more than pairs/work");
    if (chain) {
        const int64_t k = pair->chain - 1;
        nb6_rules_unless(chain->steps <= chain->state.steps, file, "chains/steps", k, (double)chain->steps,
                         "no more than chains/state.steps");
        nb6_rules_unless(chain->forces <= chain->state.evaluations, file, "chains/forces", k, (double)chain->forces,
                         "no more than chains/state.evaluations");
    } else {
        const struct ks_pair *ks = &sim->subsystems.ks[slot];
        nb6_rules_unless(pair->steps <= ks->n_step, file, "pairs/steps", slot, (double)pair->steps,
                         "no more than ks/n_step");
        nb6_rules_unless(pair->forces <= ks->n_eval, file, "pairs/forces", slot, (double)pair->forces,
                         "no more than ks/n_eval");
    }
}

/* ---- pairs ---- */

/* The next step of a perturbed pair ends after the last one of its centre of mass began: an engine lets hard pairs wait
 * until their positions are needed. An unperturbed pair advances on demand, from any time. */
static void judge_ks_time(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    const double now = relative(sim, sim->ti_now);
    nb6_rules_unless(ks->t <= now + AHEAD, file, "ks/t", slot, ks->t, "no later than a step after the present");
    if (!nb6_subsystems_is_perturbed(&sim->subsystems, slot)) return;
    nb6_rules_unless(ks->level >= 0, file, "ks/level", slot, ks->level, "0 or more: something acts on the pair");
    nb6_rules_unless(ks->perturbed == 1, file, "ks/perturbed", slot, ks->perturbed, "1: something acts on the pair");
    nb6_rules_unless(ks->t + STEPS * ks->dt >= relative(sim, sim->body[nb6_centre(sim, slot)].t0), file, "ks/t", slot,
                     ks->t, "not more than 10^6 steps ks/dt before the centre of mass began its step");
}

static void judge_ks(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    struct nbc_misfit misfit;
    ks_check(ks, &misfit);
    take(file, &misfit, "ks/", slot);
    for (int m = 0; m < 2; m++)
        nb6_rules_unless(nb6_rules_are_near(ks->mass[m], sim->body[pair->member[m]].mass), file, "ks/mass", slot,
                         ks->mass[m], "bodies/mass of this member");
    nb6_rules_unless(nb6_rules_are_near(sim->body[nb6_centre(sim, slot)].mass, ks->m), file, "bodies/mass",
                     nb6_centre(sim, slot), sim->body[nb6_centre(sim, slot)].mass, "ks/m, the sum of its members");
    nb6_rules_unless(ks->options.eta == sim->run.config.pair.eta_u, file, "ks/options.eta", slot, ks->options.eta,
                     "config_pair/eta_u");
    if (file->status) return;
    judge_ks_time(file, sim, slot);
    judge_tide(file, sim, slot, "tide", &pair->tide);
    judge_tide(file, sim, slot, "far", &pair->far);
    judge_seen_orbit(file, sim, slot);
}

/* ---- chains ---- */

static void judge_merged(struct nb6_hdf5 *file, const struct nb6_chain *chain, int64_t k)
{
    for (int64_t m = 0; m < chain->n_merged; m++) {
        const struct nb6_merger *merger = &chain->merged[m];
        nb6_rules_unless(merger->star[0] != merger->star[1], file, "chains/merged.star", k, merger->star[1],
                         "another star than the first");
        nb6_rules_unless(merger->mass > 0, file, "chains/merged.mass", k, merger->mass, "a number > 0");
    }
}

/* Members, if all mergers are committed to the run, and their sum at any time. */
static void judge_chain_masses(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot, int64_t k)
{
    const struct nb6_chain *chain = &sim->subsystems.chain[k];
    double sum = 0;
    for (int m = 0; m < chain->state.n; m++) {
        sum += chain->state.mass[m];
        nb6_rules_unless(chain->n_merged > 0 ||
                             nb6_rules_are_near(chain->state.mass[m], sim->body[chain->star[m]].mass),
                         file, "chains/state.mass", k, chain->state.mass[m], "bodies/mass of this member");
        nb6_rules_unless(chain->n_merged > 0 ||
                             nb6_rules_are_near(chain->state.radius[m], sim->star[chain->star[m]].radius),
                         file, "chains/state.radius", k, chain->state.radius[m], "stars/radius of this member");
    }
    nb6_rules_unless(nb6_rules_are_near(sum, sim->body[nb6_centre(sim, slot)].mass), file, "bodies/mass",
                     nb6_centre(sim, slot), sim->body[nb6_centre(sim, slot)].mass, "the sum of chains/state.mass");
}

/* Places of the members follow from the variables. */
static void judge_places(struct nb6_hdf5 *file, const struct nb6_chain *chain, int64_t k)
{
    struct chain_body body[CHAIN_MAX];
    double size = 0, speed = 0;
    chain_bodies(&chain->state, body);
    for (int m = 0; m < chain->state.n; m++) {
        size = fmax(size, largest(body[m].x, 3));
        speed = fmax(speed, largest(body[m].v, 3));
    }
    for (int m = 0; m < chain->state.n; m++)
        for (int c = 0; c < 3; c++) {
            nb6_rules_unless(fabs(chain->x[m][c] - body[m].x[c]) <= ABOUT * size, file, "chains/x", k, chain->x[m][c],
                             "a place within the chain of chains/state.y");
            nb6_rules_unless(fabs(chain->v[m][c] - body[m].v[c]) <= ABOUT * speed, file, "chains/v", k, chain->v[m][c],
                             "a velocity as in the chain of chains/state.y");
        }
}

static void judge_chain(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    const int64_t k = sim->subsystems.system[slot].chain - 1;
    const struct nb6_chain *chain = &sim->subsystems.chain[k];
    const double t0 = relative(sim, sim->body[nb6_centre(sim, slot)].t0);
    struct nbc_misfit misfit;
    chain_check(&chain->state, &misfit);
    take(file, &misfit, "chains/state.", k);
    judge_merged(file, chain, k);
    judge_chain_masses(file, sim, slot, k);
    if (file->status) return;
    judge_places(file, chain, k);
    nb6_rules_unless(chain->state.t >= t0 - OF_TIME && chain->state.t <= relative(sim, sim->ti_now) + AHEAD, file,
                     "chains/state.t", k, chain->state.t, "a time in the present step of its centre of mass");
}

static void judge_slot(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    if (!nb6_slot_is_used(&sim->subsystems, slot)) return;
    judge_done(file, sim, slot);
    if (nb6_goes_on_demand(&sim->subsystems, slot))
        judge_chain(file, sim, slot);
    else
        judge_ks(file, sim, slot);
}

void nb6_relations_motions(struct nb6_hdf5 *file, const struct nb6_sim *sim)
{
    nb6_rules_each(file, sim, sim->subsystems.n_slot, judge_slot);
}
