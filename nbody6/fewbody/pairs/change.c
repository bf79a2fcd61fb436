/* Changes at the end of a block (NBODY6: KSREG, KSTERM), and the start of new bodies. */
#include "nbody6/fewbody/pairs/change.h"
#include "nbody6/state/body.h"

#include "common/nbc.h"
#include "nbody6/fewbody/change_record.h"
#include "nbody6/fewbody/hierarchies/hierarchies.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/events.h"
#include "nbody6/fewbody/pairs/make.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/event.h"
#include "nbody6/state/lists.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

/* Present positions and velocities of the members of a pair. Those of a hierarchy get the energy of their tide back. */
static void place_members(const struct nb6_sim *sim, nb6_slot slot, double x[2][3], double v[2][3])
{
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    const nb6_index *member = sim->subsystems.system[slot].member, centre = nb6_centre(sim, slot);
    const double *x0 = nb6_get_body(sim, centre)->x0, *v0 = nb6_get_body(sim, centre)->v0;
    const int64_t perturbers[2] = {slot, slot};
    double xr[3], vr[3];
    ks_relative(ks, xr, vr);
    ks_components(ks, x0, v0, xr, vr, x, v);
    if (!nb6_is_hierarchy(sim, slot)) return;
    double energy = -nb6_tidal_energy(sim, member[0], member[1], x[0], x[1], perturbers);
    nb6_add_kinetic(ks->mass[0] * ks->mass[1] / ks->m, energy, vr);
    ks_components(ks, x0, v0, xr, vr, x, v);
}

/* Frozen pairs that are members of a pair, to the present time. */
static int finish_inner(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int m = 0; m < 2 && !status; m++)
        if (nb6_inner_slot(sim, slot, m) >= 0)
            status = nb6_pair_finish(sim, nb6_inner_slot(sim, slot, m), sim->ti_now, err);
    return status;
}

int nb6_pair_end(struct nb6_sim *sim, nb6_slot slot, struct nb6_change *c, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const nb6_index centre = nb6_centre(sim, slot), member[2] = {p->system[slot].member[0], p->system[slot].member[1]};
    const nb6_index remove[2] = {centre, centre};
    double x[2][3], v[2][3], r_nb = nb6_get_star(sim, centre)->r_nb;
    int status = nb6_change_finish_others(sim, centre, c, err);
    if (!status) status = nb6_pair_finish(sim, slot, sim->ti_now, err);
    if (!status) status = finish_inner(sim, slot, err);
    if (status) return status;
    ks_set_slowdown(&p->ks[slot], 1); /* the stars go on from the orbit as it should be */
    struct nb6_announcement *say = nb6_change_say(c, NB6_EVENT_PAIR_ENDED);
    nb6_slot_describe(sim, slot, nb6_end_reason(p, slot), &say->event);
    status = nb6_add_apart(sim, slot, sim->ti_now, 0, NULL, &say->before, err);
    if (status) return status;
    place_members(sim, slot, x, v);
    sim->run.counters.pairs_ended++;
    sim->run.counters.hierarchies_ended += nb6_is_hierarchy(sim, slot) != 0;
    status = nb6_lists_split(sim, centre, member, err);
    if (!status) status = nb6_slot_clear(sim, slot, err);
    if (!status) status = nb6_perturbers_replace(sim, remove, member, err);
    for (int m = 0; m < 2 && !status; m++) {
        status = nb6_body_place(sim, member[m], nb6_get_body(sim, member[m])->mass, x[m], v[m], r_nb, sim->ti_now, err);
        nb6_change_add(c, member[m]);
        if (!nb6_is_centre(sim, member[m])) continue;
        c->formed[c->n_formed++] = (int32_t)nb6_slot_of(sim, member[m]);
        say->after[m] = (int32_t)nb6_slot_of(sim, member[m]);
    }
    nb6_change_let_go(c, slot);
    nb6_subsystems_change_sources(sim, 3, (const int32_t[]){member[0], member[1], centre});
    return status;
}

/* The perturbers' force loses the motion within the pair at once: they start anew, as do pairs among them. */
static int restart_perturbers(struct nb6_sim *sim, nb6_slot slot, struct nb6_change *c, struct nbc_error *err)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    int is_new, status = NBC_OK;
    for (int32_t k = 0; k < pert->n && !status; k++) {
        const nb6_slot other = nb6_slot_of(sim, pert->body[k]);
        nb6_change_add(c, pert->body[k]);
        status = nb6_save_body(sim, pert->body[k], err);
        if (!status && other >= 0) status = nb6_change_touch(c, other, &is_new, err);
        if (other < 0 || status || !is_new) continue;
        status = nb6_save_slot(sim, other, err);
        if (!status) status = nb6_pair_finish(sim, other, sim->ti_now, err);
        sim->subsystems.system[other].t_check = nb6_time_to_double(sim->ti_now);
    }
    return status;
}

int nb6_pair_merge(struct nb6_sim *sim, nb6_slot slot, struct nb6_change *c, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const struct ks_pair *ks = &p->ks[slot];
    const nb6_index centre = nb6_centre(sim, slot), *member = p->system[slot].member;
    const double r1 = nb6_get_star(sim, member[0])->radius, r2 = nb6_get_star(sim, member[1])->radius;
    struct ks_elements e;
    int status = nb6_change_finish_others(sim, centre, c, err);
    if (!status) status = restart_perturbers(sim, slot, c, err);
    if (!status) status = nb6_pair_finish(sim, slot, sim->ti_now, err);
    if (status) return status;
    ks_set_slowdown(&p->ks[slot], 1);
    ks_elements(ks, &e);
    const struct nb6_merger merger = {.t = nb6_relative_time(sim, sim->ti_now),
                                      .star = {member[0], member[1]},
                                      .mass = ks->m,
                                      .radius = cbrt(r1 * r1 * r1 + r2 * r2 * r2),
                                      .energy = ks->mass[0] * ks->mass[1] / ks->m * ks_energy(ks) +
                                                nb6_potential_inside(sim, slot, sim->ti_now),
                                      .r = e.a * (1 - e.e)};
    const nb6_index add[2] = {NB6_NOBODY, member[0]}, remove[2] = {centre, centre};
    double x[3], v[3], r_nb = nb6_get_star(sim, centre)->r_nb;
    memcpy(x, nb6_get_body(sim, centre)->x0, sizeof x);
    memcpy(v, nb6_get_body(sim, centre)->v0, sizeof v);
    struct nb6_announcement *say = nb6_change_say(c, NB6_EVENT_PAIR_ENDED);
    nb6_slot_describe(sim, slot, NB6_PAIR_MERGED, &say->event);
    status = nb6_add_apart(sim, slot, sim->ti_now, 0, NULL, &say->before, err);
    if (status) return status;
    sim->run.counters.pairs_ended++;
    status = nb6_lists_split(sim, centre, add, err);
    if (!status) status = nb6_slot_clear(sim, slot, err);
    if (!status) status = nb6_perturbers_replace(sim, remove, add, err);
    if (!status) status = nb6_merge_stars(sim, &merger, x, v, err);
    if (!status) status = nb6_body_place(sim, merger.star[0], merger.mass, x, v, r_nb, sim->ti_now, err);
    nb6_change_add(c, merger.star[0]);
    nb6_change_let_go(c, slot);
    nb6_subsystems_change_sources(sim, 3, (const int32_t[]){merger.star[0], merger.star[1], centre});
    return status;
}

/* A pair that is to be frozen as a member of another one: it goes on without perturbers. The last announcement is of
 * the other one. */
static int freeze(struct nb6_sim *sim, nb6_index body, int32_t companion, struct nb6_change *c, struct nbc_error *err)
{
    nb6_slot slot = nb6_slot_of(sim, body);
    if (slot < 0) return NBC_OK;
    const int status = nb6_add_apart(sim, slot, sim->ti_now, 1, &companion, &c->say[c->n_say - 1].before, err);
    if (status) return status;
    nb6_change_let_go(c, slot);
    sim->subsystems.system[slot].galactic = 0;
    return nb6_subsystems_set_perturbers(&sim->subsystems, slot, 0, NULL, err);
}

/* Energy that two bodies gain by being points: the tide between their parts. */
static int energy_of_freezing(struct nb6_sim *sim, const nb6_index body[2], double *energy, struct nbc_error *err)
{
    const nb6_slot slot[2] = {nb6_slot_of(sim, body[0]), nb6_slot_of(sim, body[1])};
    int status = NBC_OK;
    *energy = 0;
    for (int m = 0; m < 2 && !status; m++) {
        if (slot[m] < 0) continue;
        status = nb6_pair_finish(sim, slot[m], sim->ti_now, err);
        ks_set_slowdown(&sim->subsystems.ks[slot[m]], 1);
    }
    if (slot[1] >= 0)
        *energy = nb6_tidal_energy(sim, body[0], body[1], nb6_get_body(sim, body[0])->x0,
                                   nb6_get_body(sim, body[1])->x0, slot);
    return status;
}

int nb6_pair_form(struct nb6_sim *sim, const nb6_index body[2], struct nb6_change *c, struct nbc_error *err)
{
    nb6_slot slot;
    double energy;
    int status = nb6_change_finish_others(sim, body[0], c, err);
    if (!status) status = nb6_change_finish_others(sim, body[1], c, err);
    if (!status) status = energy_of_freezing(sim, body, &energy, err);
    if (status) return status;
    struct nb6_announcement *say = nb6_change_say(c, NB6_EVENT_PAIR_FORMED);
    say->event.pair.reason = !nb6_is_centre(sim, body[1]) ? NB6_PAIR_ENCOUNTER : NB6_PAIR_HIERARCHY;
    status = freeze(sim, body[0], body[1], c, err);
    if (!status) status = freeze(sim, body[1], body[0], c, err);
    /* lists first: they need the bodies' polynomials */
    const nb6_index centre = nb6_centre(sim, nb6_slot_free(&sim->subsystems)), add[2] = {NB6_NOBODY, centre};
    if (!status) status = nb6_lists_join(sim, body[0], body[1], centre, err);
    if (!status) status = nb6_pair_make(sim, body[0], body[1], sim->ti_now, energy, &slot, err);
    if (!status) status = nb6_perturbers_replace(sim, body, add, err);
    if (status) return status;
    nb6_change_add(c, centre);
    c->formed[c->n_formed++] = (nb6_stored_slot)slot;
    say->after[0] = (nb6_stored_slot)slot;
    say->described = 1;
    sim->run.counters.hierarchies_formed += nb6_is_centre(sim, body[1]) != 0;
    nb6_subsystems_change_sources(sim, 3, (const int32_t[]){body[0], body[1], centre});
    return NBC_OK;
}
