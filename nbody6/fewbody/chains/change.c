/* Chains that form, grow, shrink and end. Two bodies become one or one becomes two, at the time of the block. */
#include "nbody6/fewbody/chains/change.h"

#include "common/nbc.h"
#include "common/sum.h"
#include "nbody6/fewbody/chains/chains.h"
#include "nbody6/fewbody/change_record.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/events.h"
#include "nbody6/fewbody/pairs/make.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/lists.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

/* Relative error of a step of a chain: in a strong encounter other errors of a cluster exceed the gain of 1e-14. */
static const double TOLERANCE = 1e-13;

/* Largest product of slow-down and perturbation of a pair inside a chain, if it is configured, else GMIN: outside a
 * chain the pair would be unperturbed. Followed orbit by orbit, a pair of period 1e-8 held a run for minutes, and the
 * sum of errors of its steps is no better. */
static const double SLOW = 1e-4;

static int reserve(struct nb6_sim *sim, nb6_slot slot, struct nb6_chain **chain, struct nbc_error *err)
{
    *chain = nb6_chain_take(&sim->subsystems, slot);
    return *chain ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for a chain");
}

static struct chain_body star_at_rest(const struct nb6_sim *sim, nb6_index star)
{
    return (struct chain_body){.id = nb6_get_star(sim, star)->name,
                               .mass = nb6_get_body(sim, star)->mass,
                               .radius = nb6_get_star(sim, star)->radius};
}

/* The two stars of a pair around their centre of mass. */
static void members_of_pair(const struct ks_pair *ks, struct chain_body member[2])
{
    static const double nowhere[3];
    double x[3], v[3], dx[2][3], dv[2][3];
    ks_relative(ks, x, v);
    ks_components(ks, nowhere, nowhere, x, v, dx, dv);
    for (int m = 0; m < 2; m++) {
        memcpy(member[m].x, dx[m], sizeof member[m].x);
        memcpy(member[m].v, dv[m], sizeof member[m].v);
    }
}

/* Stars of a body and their positions relative to x, v, with the rounding errors of these: a tight pair far from x
 * would lose most digits of its separation. The body is at the time of the block, and so are its members.   @return
 * their number */
static int members_of(const struct nb6_sim *sim, nb6_index body, const double x[3], const double v[3], nb6_index star[],
                      struct chain_body member[])
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_body *centre = nb6_get_body(sim, body);
    const nb6_slot slot = nb6_is_centre(sim, body) ? nb6_slot_of(sim, body) : NB6_NO_SLOT;
    const int n = nb6_stars_of(sim, body, star);
    for (int m = 0; m < n; m++) member[m] = star_at_rest(sim, star[m]);
    if (slot >= 0 && nb6_chain_of(p, slot)) chain_bodies(&nb6_chain_of(p, slot)->state, member);
    if (slot >= 0 && !nb6_chain_of(p, slot)) members_of_pair(&p->ks[slot], member);
    for (int m = 0; m < n; m++)
        for (int k = 0; k < 3; k++) {
            nbc_add_exactly(&member[m].x[k], &member[m].x_low[k], centre->x0[k] - x[k]);
            member[m].v[k] += centre->v0[k] - v[k];
        }
    return n;
}

/* Which star each member is, after members came, went or changed places. */
static void find_stars(const struct nb6_sim *sim, struct nb6_chain *chain, int n, const nb6_index star[])
{
    for (int m = 0; m < chain->state.n; m++)
        for (int k = 0; k < n; k++)
            if (nb6_get_star(sim, star[k])->name == chain->state.id[m]) chain->star[m] = star[k];
}

static struct chain_options options_of(const struct nb6_sim *sim)
{
    struct chain_options options;
    chain_options_init(&options);
    options.method = sim->run.config.pair.chain_method;
    options.tolerance = TOLERANCE;
    options.slow = sim->run.config.pair.slow_down > 1 ? SLOW : fmin(SLOW, sim->run.config.pair.gamma_min);
    return options;
}

/* A slot, of a pair or free, becomes that of a chain. */
static int hold_chain(struct nb6_sim *sim, nb6_slot slot, int n, const nb6_index star[],
                      const struct chain_body member[], struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const struct chain_options options = options_of(sim);
    struct nb6_chain *chain;
    struct chain *state = nbc_alloc(1, sizeof *state);
    int status = state ? chain_init(state, &options, n, member, nb6_relative_time(sim, sim->ti_now), err)
                       : nbc_fail(err, NBC_NO_MEMORY, "no memory for a chain");
    if (!status) status = nb6_slot_open(sim, slot, err);
    if (!status) p->system[slot] = (struct nb6_subsystem){.t_formed = nb6_time_to_double(sim->ti_now), .far.t = -1};
    if (!status) status = reserve(sim, slot, &chain, err);
    if (!status) {
        chain->state = *state;
        chain->state.options.slow *= nb6_inexact_share(sim, chain_energy(state));
        chain->t_formed = nb6_time_to_double(sim->ti_now);
        sim->run.counters.chains_formed++;
    }
    nbc_free(state);
    if (status) return status;
    find_stars(sim, chain, n, star);
    nb6_chain_refresh(chain);
    return NBC_OK;
}

/* Owners and the names by which the slot is known: its first two stars. */
static int own_members(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    nb6_index star[CHAIN_MAX];
    memcpy(p->system[slot].member, nb6_chain_of(p, slot)->star, sizeof p->system[slot].member);
    int n = nb6_stars_of(sim, nb6_centre(sim, slot), star);
    for (int m = 0; m < n; m++) {
        int status = nb6_body_join(sim, star[m], slot, err);
        if (status) return status;
    }
    return NBC_OK;
}

/* ---- two bodies become one */

/* A system that joins frees its own slot. */
static int give_up(struct nb6_sim *sim, nb6_index body, int keep_slot, struct nb6_change *c, struct nbc_error *err)
{
    nb6_slot slot = nb6_slot_of(sim, body);
    if (!nb6_is_centre(sim, body)) return nb6_body_deactivate(sim, body, err);
    const struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    int status = NBC_OK;
    if (!chain) {
        status = nb6_slot_report_end(sim, slot, NB6_PAIR_CHAIN, err);
        sim->run.counters.pairs_ended++;
    } else if (!keep_slot) {
        status = nb6_slot_report_end(sim, slot, NB6_PAIR_CHAIN, err);
        sim->run.counters.chains_ended++;
    }
    nb6_change_let_go(c, slot);
    if (!status && !keep_slot) status = nb6_slot_clear(sim, slot, err);
    return status;
}

static void say_join(struct nb6_sim *sim, int grows, nb6_slot slot, int n, const nb6_index star[], double before,
                     struct nb6_change *c)
{
    struct nb6_announcement *say = nb6_change_say(c, grows ? NB6_EVENT_CHAIN_JOINED : NB6_EVENT_CHAIN_FORMED);
    say->before = before;
    say->after[0] = (nb6_stored_slot)slot;
    say->described = 1;
    say->event.chain.n_moved = n;
    for (int m = 0; m < n; m++) say->event.chain.moved[m] = nb6_get_star(sim, star[m])->name;
    sim->run.counters.chain_changes += (uint64_t)grows;
}

/* Where the two are together. */
static void merge_places(const struct nb6_sim *sim, nb6_index i, nb6_index j, double *mass, double x[3], double v[3])
{
    const struct nb6_body *a = nb6_get_body(sim, i), *b = nb6_get_body(sim, j);
    *mass = a->mass + b->mass;
    for (int k = 0; k < 3; k++) {
        x[k] = (a->mass / *mass) * a->x0[k] + (b->mass / *mass) * b->x0[k];
        v[k] = (a->mass / *mass) * a->v0[k] + (b->mass / *mass) * b->v0[k];
    }
}

/* Predict the members of a body to the present time; stars continue from the orbit that a slowed pair should have. */
static int stand(struct nb6_sim *sim, nb6_index i, struct nbc_error *err)
{
    nb6_slot slot = nb6_slot_of(sim, i);
    if (slot < 0) return NBC_OK;
    int status = nb6_pair_finish(sim, slot, sim->ti_now, err);
    if (nb6_kind_of(&sim->subsystems, slot)->is_pair) ks_set_slowdown(&sim->subsystems.ks[slot], 1);
    return status;
}

/* Bodies that become one: the first is the one that keeps its slot. */
struct union_of {
    int n;
    nb6_index body[CHAIN_MAX];
};

/* Predict all of them, and the systems with them in their lists, to the present time.   @param[out] before  their
 * description in events */
static int stand_all(struct nb6_sim *sim, const struct union_of *all, struct nb6_change *c, double *before,
                     struct nbc_error *err)
{
    int status = NBC_OK;
    for (int b = 0; b < all->n && !status; b++) status = nb6_change_finish_others(sim, all->body[b], c, err);
    for (int b = 0; b < all->n && !status; b++) status = stand(sim, all->body[b], err);
    *before = 0;
    for (int b = 0; b < all->n && !status; b++)
        if (nb6_is_centre(sim, all->body[b]))
            status = nb6_add_apart(sim, nb6_slot_of(sim, all->body[b]), sim->ti_now, all->n, all->body, before, err);
    return status;
}

/* Body j comes into the slot of i, which becomes that of a chain unless it is one.   @return n_star, n_new: how many
 * stars are in it, and how many of them came, the last of `star` */
static int take_in(struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_index star[], int *n_star, int *n_new,
                   struct nb6_change *c, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const nb6_slot slot = nb6_slot_of(sim, i);
    const nb6_index add[2] = {NB6_NOBODY, i}, remove[2] = {i, j};
    struct chain_body member[2 * CHAIN_MAX];
    double x[3], v[3], mass, r_nb = fmax(nb6_get_star(sim, i)->r_nb, nb6_get_star(sim, j)->r_nb);
    merge_places(sim, i, j, &mass, x, v);
    const double *x_i = nb6_get_body(sim, i)->x0, *v_i = nb6_get_body(sim, i)->v0;
    int n = members_of(sim, i, x_i, v_i, star, member), n_j = members_of(sim, j, x_i, v_i, star + n, member + n);
    struct nb6_chain *chain = nb6_chain_of(p, slot);
    *n_star = n + n_j;
    *n_new = chain ? n_j : n + n_j;
    int status = nb6_lists_join(sim, i, j, i, err);
    if (!status) status = give_up(sim, i, 1, c, err);
    if (!status) status = give_up(sim, j, 0, c, err);
    if (!status) status = nb6_subsystems_set_perturbers(p, slot, 0, NULL, err);
    if (!status)
        status = chain ? chain_absorb(&chain->state, n_j, member + n, err)
                       : hold_chain(sim, slot, n + n_j, star, member, err);
    if (status) return status;
    chain = nb6_chain_of(p, slot);
    find_stars(sim, chain, n + n_j, star);
    nb6_chain_refresh(chain);
    status = own_members(sim, slot, err);
    if (!status) status = nb6_body_place(sim, i, mass, x, v, r_nb, sim->ti_now, err);
    return status ? status : nb6_perturbers_replace(sim, remove, add, err);
}

int nb6_chain_join(struct nb6_sim *sim, const struct nb6_chain_change *join, struct nb6_change *c,
                   struct nbc_error *err)
{
    const nb6_index i = join->i;
    const int grows = nb6_chain_of(&sim->subsystems, nb6_slot_of(sim, i)) != NULL;
    struct union_of all = {.n = 2 + join->n_more, .body = {i, join->j}};
    nb6_index star[2 * CHAIN_MAX];
    int n_star = 0, n_new = 0, n_came = 0;
    double before;
    memcpy(all.body + 2, join->more, (size_t)join->n_more * sizeof *join->more);
    int status = stand_all(sim, &all, c, &before, err);
    for (int b = 1; b < all.n && !status; b++) {
        status = take_in(sim, i, all.body[b], star, &n_star, &n_new, c, err);
        n_came += n_new;
    }
    if (status) return status;
    nb6_change_add(c, i);
    say_join(sim, grows, nb6_slot_of(sim, i), n_came, star + n_star - n_came, before, c);
    nb6_subsystems_change_sources(sim, all.n, all.body);
    return NBC_OK;
}

/* ---- stars become one */

/* Change the lists of all others, and lists of perturbers, when a star joins the system with centre of mass
 * `centre`. */
static int enter_lists(struct nb6_sim *sim, nb6_index star, nb6_index with, nb6_index centre, struct nbc_error *err)
{
    const nb6_index add[2] = {NB6_NOBODY, centre}, remove[2] = {star, with};
    const int status = nb6_lists_join(sim, star, with, centre, err);
    return status ? status : nb6_perturbers_replace(sim, remove, add, err);
}

/* Centre of mass of some members. */
static double centre_of(int n, const struct chain_body member[], double x[3], double v[3])
{
    double mass = 0;
    for (int k = 0; k < 3; k++) x[k] = v[k] = 0;
    for (int m = 0; m < n; m++) {
        mass += member[m].mass;
        for (int k = 0; k < 3; k++) {
            x[k] += member[m].mass * member[m].x[k];
            v[k] += member[m].mass * member[m].v[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        x[k] /= mass;
        v[k] /= mass;
    }
    return mass;
}

/* Places of all members so far: lists need them of the centre of mass. */
static int place_together(struct nb6_sim *sim, nb6_index centre, int n, const nb6_index star[],
                          const struct chain_body member[], struct nbc_error *err)
{
    const struct nb6_body *first = nb6_get_body(sim, star[0]);
    double x[3], v[3], mass = centre_of(n, member, x, v), r_nb = 0;
    for (int m = 0; m < n; m++) r_nb = fmax(r_nb, nb6_get_star(sim, star[m])->r_nb);
    for (int k = 0; k < 3; k++) {
        x[k] += first->x0[k];
        v[k] += first->v0[k];
    }
    return nb6_body_place(sim, centre, mass, x, v, r_nb, sim->ti_now, err);
}

int nb6_chain_gather(struct nb6_sim *sim, const struct nb6_chain_change *gather, struct nb6_change *c,
                     struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const nb6_slot slot = nb6_slot_free(p);
    const nb6_index centre = nb6_centre(sim, slot);
    const int n = 2 + gather->n_more;
    nb6_index star[CHAIN_MAX] = {gather->i, gather->j};
    struct chain_body member[CHAIN_MAX];
    int status = NBC_OK;
    memcpy(star + 2, gather->more, (size_t)gather->n_more * sizeof *star);
    for (int m = 0; m < n && !status; m++) {
        const struct nb6_body *first = nb6_get_body(sim, star[0]);
        status = nb6_change_finish_others(sim, star[m], c, err);
        members_of(sim, star[m], first->x0, first->v0, &star[m], &member[m]);
    }
    if (!status) status = hold_chain(sim, slot, n, star, member, err);
    for (int m = 1; m < n && !status; m++) {
        status = enter_lists(sim, star[m], m == 1 ? star[0] : centre, centre, err);
        if (!status) status = place_together(sim, centre, m + 1, star, member, err);
    }
    if (!status) status = own_members(sim, slot, err);
    for (int m = 0; m < n && !status; m++) status = nb6_body_deactivate(sim, star[m], err);
    if (status) return status;
    nb6_change_add(c, centre);
    c->formed[c->n_formed++] = (nb6_stored_slot)slot;
    say_join(sim, 0, slot, n, star, 0, c);
    nb6_subsystems_change_sources(sim, n, star);
    nb6_subsystems_change_sources(sim, 1, &centre);
    return NBC_OK;
}

/* ---- one body becomes two */

static int32_t star_named(const struct nb6_sim *sim, const nb6_index star[], int64_t name)
{
    while (nb6_get_star(sim, *star)->name != name) star++;
    return *star;
}

/* Two members become a pair in a slot, in the order of their numbers. */
static int hold_pair(struct nb6_sim *sim, nb6_slot slot, const nb6_index star[], const struct chain_body member[],
                     int64_t place, struct nbc_error *err)
{
    int first = star[0] < star[1] ? 0 : 1;
    const int32_t pair[2] = {star[first], star[1 - first]};
    double x[2][3], v[2][3];
    for (int k = 0; k < 3; k++) {
        x[0][k] = (member[first].x[k] - member[1 - first].x[k]) + (member[first].x_low[k] - member[1 - first].x_low[k]);
        v[0][k] = member[first].v[k] - member[1 - first].v[k];
        x[1][k] = v[1][k] = 0;
    }
    return nb6_slot_hold_pair(sim, slot, pair, (const double(*)[3])x, (const double(*)[3])v, sim->ti_now, place, err);
}

/* A part of the old system, of members seen from x0, v0, becomes the body of a slot or a star.
 * @param[in] place  the body of the old system   @param[out] body  its number */
static int place_part(struct nb6_sim *sim, nb6_slot slot, int64_t place, int n, const nb6_index star[],
                      const struct chain_body member[], const double x0[3], const double v0[3], double r_nb,
                      struct nb6_change *c, nb6_index *body, struct nbc_error *err)
{
    double x[3], v[3], mass = centre_of(n, member, x, v);
    int status = NBC_OK;
    *body = n == 1 ? star[0] : nb6_centre(sim, slot);
    for (int k = 0; k < 3; k++) {
        x[k] += x0[k];
        v[k] += v0[k];
    }
    if (n == 2) status = hold_pair(sim, slot, star, member, place, err);
    if (n > 2 && !nb6_chain_of(&sim->subsystems, slot)) status = hold_chain(sim, slot, n, star, member, err);
    if (status) return status;
    if (n > 2) status = own_members(sim, slot, err);
    if (!status) status = nb6_body_place(sim, *body, mass, x, v, r_nb, sim->ti_now, err);
    if (status) return status;
    nb6_change_add(c, *body);
    if (n == 1) return NBC_OK;
    c->formed[c->n_formed++] = (nb6_stored_slot)slot;
    if (n > 2) return NBC_OK;
    struct nb6_announcement *say = nb6_change_say(c, NB6_EVENT_PAIR_FORMED);
    say->event.pair.reason = NB6_PAIR_CHAIN;
    say->after[0] = (nb6_stored_slot)slot;
    say->described = 1;
    return NBC_OK;
}

/* Members that go first, then those that stay.   @return how many go */
static int sort_out(const struct nb6_sim *sim, const struct nb6_chain *chain, const struct chain_group *group,
                    nb6_index star[], struct chain_body member[])
{
    struct chain_body all[CHAIN_MAX];
    int gone = 0, n = 0;
    chain_bodies(&chain->state, all);
    for (int pass = 0; pass < 2; pass++)
        for (int m = 0; m < chain->state.n; m++) {
            int leaves = 0;
            for (int k = 0; k < group->n; k++) leaves |= group->id[k] == all[m].id;
            if (leaves == pass) continue;
            star[n] = star_named(sim, chain->star, all[m].id);
            member[n++] = all[m];
            gone += leaves;
        }
    return gone;
}

/* The event of a split: of the chain as it was, or, if it goes on, as it will be. */
static int say_split(const struct nb6_sim *sim, nb6_slot slot, int goes_on, const struct chain_group *group,
                     struct nb6_change *c, struct nbc_error *err)
{
    struct nb6_announcement *say = nb6_change_say(c, goes_on ? NB6_EVENT_CHAIN_LEFT : NB6_EVENT_CHAIN_ENDED);
    nb6_slot_describe(sim, slot, NB6_PAIR_CHAIN, &say->event);
    say->after[0] = goes_on ? (nb6_stored_slot)slot : NB6_NO_SLOT;
    say->described = goes_on;
    say->event.chain.n_moved = group->n;
    memcpy(say->event.chain.moved, group->id, (size_t)group->n * sizeof *group->id);
    return nb6_add_apart(sim, slot, sim->ti_now, 0, NULL, &say->before, err);
}

/* Mergers have left two stars. */
static int become_pair(struct nb6_sim *sim, nb6_slot slot, const nb6_index star[], const struct chain_body member[],
                       struct nb6_change *c, struct nbc_error *err)
{
    const nb6_index centre = nb6_centre(sim, slot);
    const struct chain_group nobody = {.n = 0};
    double x0[3], v0[3];
    nb6_index body;
    memcpy(x0, nb6_get_body(sim, centre)->x0, sizeof x0);
    memcpy(v0, nb6_get_body(sim, centre)->v0, sizeof v0);
    int status = say_split(sim, slot, 0, &nobody, c, err);
    sim->run.counters.chains_ended++;
    nb6_change_let_go(c, slot);
    const int met = nb6_chain_has_met(nb6_chain_of(&sim->subsystems, slot));
    if (!status) status = nb6_subsystems_set_perturbers(&sim->subsystems, slot, 0, NULL, err);
    if (!status)
        status = place_part(sim, slot, centre, 2, star, member, x0, v0, nb6_get_star(sim, centre)->r_nb, c, &body, err);
    if (!status && met) nb6_pair_set_met(sim, slot);
    return status;
}

int nb6_chain_split(struct nb6_sim *sim, nb6_slot slot, const struct chain_group *group, struct nb6_change *c,
                    struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    struct nb6_chain *chain = nb6_chain_of(p, slot);
    const nb6_index centre = nb6_centre(sim, slot), remove[2] = {centre, centre};
    nb6_index star[CHAIN_MAX], part[2];
    struct chain_body member[CHAIN_MAX], left[CHAIN_MAX];
    double x0[3], v0[3], r_nb = nb6_get_star(sim, centre)->r_nb;
    int status = nb6_change_finish_others(sim, centre, c, err);
    if (!status) status = nb6_save_slot(sim, slot, err);
    if (status) return status;
    chain_slow_end(&chain->state); /* the stars go on from the orbits as they should be */
    nb6_chain_refresh(chain);
    const int n = chain->state.n, gone = sort_out(sim, chain, group, star, member), stay = n - gone;
    if (n == 2) return become_pair(sim, slot, star, member, c, err);
    status = say_split(sim, slot, stay > 2, group, c, err);
    if (status) return status;
    memcpy(x0, nb6_get_body(sim, centre)->x0, sizeof x0);
    memcpy(v0, nb6_get_body(sim, centre)->v0, sizeof v0);
    if (stay > 2) {
        status = chain_emit(&chain->state, group->n, group->id, left, err);
        if (status) return status;
        find_stars(sim, chain, n, star);
        nb6_chain_refresh(chain);
        sim->run.counters.chain_changes++;
    } else {
        sim->run.counters.chains_ended++;
    }
    status = nb6_subsystems_set_perturbers(p, slot, 0, NULL, err);
    if (!status)
        status = place_part(sim, slot, centre, stay, star + gone, member + gone, x0, v0, r_nb, c, &part[1], err);
    if (!status) status = place_part(sim, nb6_slot_free(p), centre, gone, star, member, x0, v0, r_nb, c, &part[0], err);
    if (status) return status;
    const nb6_index add[2] = {part[0] < part[1] ? part[0] : part[1], part[0] < part[1] ? part[1] : part[0]};
    status = nb6_lists_split(sim, centre, add, err);
    if (!status) status = nb6_perturbers_replace(sim, remove, add, err);
    nb6_change_let_go(c, slot);
    nb6_subsystems_change_sources(sim, n, star);
    nb6_subsystems_change_sources(sim, 3, (const nb6_index[]){part[0], part[1], centre});
    return status;
}
