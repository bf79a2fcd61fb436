/* Bodies and members: slots of pairs and chains, centres of mass; no forces. */
#include "nbody6/fewbody/pairs/make.h"

#include "common/nbc.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/hierarchies/hierarchies.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/input/config.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <math.h>

/* Slow-down makes one orbit do the work of kappa ones as long as that work stays below this perturbation. */
static const double GAMMA_SLOW = 1e-5, KAPPA_MAX = 1000;

nb6_slot nb6_slot_free(struct nb6_subsystems *p)
{
    while (p->free_from < p->n_slot && nb6_slot_is_used(p, p->free_from)) p->free_from++;
    return p->free_from;
}

int nb6_slot_open(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    int status = nb6_save_slot(sim, slot, err);
    if (status || (slot < p->n_slot && nb6_slot_is_used(p, slot))) return status;
    if (slot == p->n_slot) p->n_slot++;
    nb6_groups_add(p, slot);
    p->resolved_by[nb6_centre(sim, slot)] = NB6_NO_SLOT;
    p->count++;
    return NBC_OK;
}

int nb6_slot_hold_pair(struct nb6_sim *sim, nb6_slot slot, const nb6_index star[2], const double x[2][3],
                       const double v[2][3], nb6_time t, int64_t place, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_pair_config *config = &sim->run.config.pair;
    const struct ks_options options = {config->eta_u, config->slow_down ? GAMMA_SLOW : 0, KAPPA_MAX};
    const double mass[2] = {nb6_get_body(sim, star[0])->mass, nb6_get_body(sim, star[1])->mass};
    struct ks_pair *ks = &p->ks[slot];
    int status = nb6_slot_open(sim, slot, err);
    if (!status) status = ks_init(ks, &options, mass, x, v, nb6_relative_time(sim, t), err);
    if (status) return status;
    ks->options.gamma_slow *= nb6_inexact_share(sim, mass[0] * mass[1] / ks->m * ks->h);
    struct ks_elements e;
    ks_elements(&p->ks[slot], &e);
    nb6_chain_release(p, slot);
    p->system[slot] =
        (struct nb6_subsystem){.member = {star[0], star[1]}, .t_formed = nb6_time_to_double(t), .far.t = -1};
    p->system[slot].r_end = fmax(e.r, nb6_close_radius(sim, 2, mass[0] + mass[1], place));
    p->system[slot].kind = nb6_kind_that_takes(sim, slot);
    nb6_pair_note_approach(sim, slot);
    for (int m = 0; m < 2 && !status; m++) status = nb6_body_join(sim, star[m], slot, err);
    sim->run.counters.pairs_formed++;
    return status;
}

int nb6_pair_make(struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_time t, double energy, int64_t *made,
                  struct nbc_error *err)
{
    const struct nb6_body *a = nb6_get_body(sim, i), *b = nb6_get_body(sim, j);
    const nb6_index star[2] = {i, j};
    double mass = a->mass + b->mass, relative[2][2][3] = {{{0}}}, centre[2][3];
    double r_nb = fmax(nb6_get_star(sim, i)->r_nb, nb6_get_star(sim, j)->r_nb);
    for (int k = 0; k < 3; k++) { /* seen from one of them: differences of differences are exact */
        relative[0][0][k] = a->x0[k] - b->x0[k];
        relative[1][0][k] = a->v0[k] - b->v0[k];
        centre[0][k] = (a->mass / mass) * a->x0[k] + (b->mass / mass) * b->x0[k];
        centre[1][k] = (a->mass / mass) * a->v0[k] + (b->mass / mass) * b->v0[k];
    }
    if (energy != 0) nb6_add_kinetic(a->mass * b->mass / mass, energy, relative[1][0]);
    *made = nb6_slot_free(&sim->subsystems);
    int status = nb6_slot_hold_pair(sim, *made, star, (const double(*)[3])relative[0], (const double(*)[3])relative[1],
                                    t, i, err);
    if (status) return status;
    status = nb6_body_place(sim, nb6_centre(sim, *made), mass, centre[0], centre[1], r_nb, t, err);
    if (!status) status = nb6_body_deactivate(sim, i, err);
    return status ? status : nb6_body_deactivate(sim, j, err);
}

int nb6_slot_clear(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    int status = nb6_save_slot(sim, slot, err);
    if (!status) status = nb6_subsystems_set_perturbers(p, slot, 0, NULL, err);
    if (!status) status = nb6_body_deactivate(sim, nb6_centre(sim, slot), err);
    nb6_chain_release(p, slot);
    p->system[slot].member[0] = p->system[slot].member[1] = NB6_NOBODY;
    p->system[slot].ending = 0;
    p->count--;
    if (slot < p->free_from) p->free_from = slot;
    nb6_subsystems_trim(p);
    return status;
}
