/* Stars and centres of mass of a checkpoint: members and owners, bodies that take part, times, lists. */
#include "common/nbc.h"
#include "nbody6/output/checkpoint_relations.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/output/checkpoint_state.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/step/radius.h"
#include "regularization/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer are not worth a second thread. */
enum { MANY_BODIES = 4096 };

/* ---- slots and their members ---- */

static int is_owner(const struct nb6_sim *sim, int64_t body, nb6_slot slot)
{
    return nb6_is_member(&sim->star[body]) && nb6_owner_slot(&sim->star[body]) == slot;
}

static void judge_free(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    if (pair->member[1] >= 0)
        nb6_rules_refuse(file, "pairs/member", slot, pair->member[1], "-1, as the first one: the slot is free");
    if (pair->chain != 0) nb6_rules_refuse(file, "pairs/chain", slot, pair->chain, "0: the slot is free");
    if (sim->subsystems.pert[slot].n != 0)
        nb6_rules_refuse(file, "perturber_numbers/n", slot, sim->subsystems.pert[slot].n, "0: the slot is free");
}

/* A chain and its slot refer to each other, and the chain to its stars, by number and by name. */
static void judge_chain(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    const int64_t k = sim->subsystems.system[slot].chain - 1;
    const struct nb6_chain *chain = &sim->subsystems.chain[k];
    if (chain->slot != slot)
        nb6_rules_refuse(file, "chains/slot", k, chain->slot, "the slot of the pair that names this chain");
    if (chain->state.n < 2) nb6_rules_refuse(file, "chains/state.n", k, chain->state.n, "2 or more");
    for (int m = 0; m < chain->state.n && !file->status; m++) {
        const int32_t star = chain->star[m];
        if (!is_owner(sim, star, slot))
            nb6_rules_refuse(file, "chains/star", k, star, "a star whose owner is this chain");
        else if (sim->star[star].name != chain->state.id[m])
            nb6_rules_refuse(file, "chains/state.id", k, (double)chain->state.id[m],
                             "the name of the star in this place");
        for (int l = 0; l < m; l++)
            if (chain->star[l] == star) nb6_rules_refuse(file, "chains/star", k, star, "no star twice");
    }
}

/* Two bodies of a pair; the kind of the system follows from their kinds. */
static void judge_pair(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    if (pair->member[0] == pair->member[1])
        nb6_rules_refuse(file, "pairs/member", slot, pair->member[1], "another one than the first");
    for (int m = 0; m < 2; m++)
        if (!is_owner(sim, pair->member[m], slot))
            nb6_rules_refuse(file, "pairs/member", slot, pair->member[m], "a body whose owner is this pair");
    const int has_centre = nb6_is_centre(sim, pair->member[0]) || nb6_is_centre(sim, pair->member[1]);
    if (pair->kind == NB6_CHAIN || pair->kind == (has_centre ? NB6_PAIR : NB6_HIERARCHY))
        nb6_rules_refuse(file, "pairs/kind", slot, pair->kind, "that of a system with these members");
}

static void judge_used(struct nb6_hdf5 *file, const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    if (pair->member[1] < 0) {
        nb6_rules_refuse(file, "pairs/member", slot, pair->member[1], "the number of a body: the slot is in use");
    } else if (pair->chain == 0) {
        judge_pair(file, sim, slot);
    } else {
        if (pair->kind != NB6_CHAIN) nb6_rules_refuse(file, "pairs/kind", slot, pair->kind, "that of a chain");
        judge_chain(file, sim, slot);
    }
}

/* A body has one owner, and systems are within each other a few times at most.   @return 0: it comes back to itself */
static int has_end(const struct nb6_sim *sim, nb6_slot slot)
{
    for (int depth = 0; depth < CHAIN_MAX; depth++) {
        const struct nb6_star *centre = &sim->star[nb6_centre(sim, slot)];
        if (!nb6_is_member(centre)) return 1;
        slot = nb6_owner_slot(centre);
    }
    return 0;
}

/* Stars in a system, after has_end of all. */
static int stars_in(const struct nb6_sim *sim, int64_t body)
{
    if (!nb6_is_centre(sim, body)) return 1;
    const struct nb6_subsystem *pair = &sim->subsystems.system[nb6_slot_of(sim, body)];
    if (pair->chain) return sim->subsystems.chain[pair->chain - 1].state.n;
    return stars_in(sim, pair->member[0]) + stars_in(sim, pair->member[1]);
}

/* Members of each slot by owners: no body belongs to a system that does not have it. A chain has a star less for each
 * merger that is not committed to the run yet.   @param[in] found [n_slot] scratch */
static void judge_owners(struct nb6_hdf5 *file, const struct nb6_sim *sim, int32_t *found)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    memset(found, 0, (size_t)p->n_slot * sizeof *found);
    for (int64_t i = 0; i < nb6_bodies(sim) && !file->status; i++) {
        const struct nb6_star *star = &sim->star[i];
        if (nb6_has_merged(star) && (nb6_is_centre(sim, i) || nb6_merged_into(star) == i))
            nb6_rules_refuse(file, "stars/owner", i, star->owner, "not less than 0: only stars merge, and into others");
        if (!nb6_is_member(star)) continue;
        if (!nb6_slot_is_used(p, nb6_owner_slot(star)))
            nb6_rules_refuse(file, "stars/owner", i, star->owner, "1 + the number of a slot in use");
        else
            found[nb6_owner_slot(star)]++;
    }
    for (nb6_slot slot = 0; slot < p->n_slot && !file->status; slot++) {
        if (!nb6_slot_is_used(p, slot)) continue;
        const struct nb6_chain *chain = nb6_chain_of(p, slot);
        const int64_t members = chain ? chain->state.n : 2, gone = chain ? chain->n_merged : 0;
        if (found[slot] < members || found[slot] > members + gone)
            nb6_rules_refuse(file, "pairs/member", slot, found[slot],
                             "as many as stars and centres say that they belong to it");
    }
}

static void judge_slots(struct nb6_hdf5 *file, const struct nb6_sim *sim)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int64_t used = 0;
    for (nb6_slot slot = 0; slot < p->n_slot && !file->status; slot++) {
        used += nb6_slot_is_used(p, slot);
        if (nb6_slot_is_used(p, slot))
            judge_used(file, sim, slot);
        else
            judge_free(file, sim, slot);
    }
    if (used != p->count)
        nb6_rules_refuse(file, "state/pairs.count", -1, (double)p->count, "the number of slots in use");
    if (used != p->n_slot && !sim->book.pairs_announced)
        nb6_rules_refuse(file, "bookkeeping/pairs_announced", -1, 0, "1: pairs have come or gone since the start");
    for (int64_t k = 0; k < p->n_chain && !file->status; k++)
        if (p->chain[k].slot >= 0 && (p->chain[k].slot >= p->n_slot || p->system[p->chain[k].slot].chain != k + 1))
            nb6_rules_refuse(file, "chains/slot", k, p->chain[k].slot, "-1, or that of a pair that names this chain");
}

static void judge_depth(struct nb6_hdf5 *file, const struct nb6_sim *sim)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (nb6_slot slot = 0; slot < p->n_slot && !file->status; slot++)
        if (nb6_slot_is_used(p, slot) && !has_end(sim, slot))
            nb6_rules_refuse(file, "pairs/member", slot, p->system[slot].member[0],
                             "no system that is a part of itself");
    for (nb6_slot slot = 0; slot < p->n_slot && !file->status; slot++)
        if (nb6_slot_is_used(p, slot) && stars_in(sim, nb6_centre(sim, slot)) > CHAIN_MAX)
            nb6_rules_refuse(file, "pairs/member", slot, p->system[slot].member[0],
                             "that of a system of 16 stars at most");
}

void nb6_relations_members(struct nb6_hdf5 *file, const struct nb6_sim *sim)
{
    if (file->status) return;
    int32_t *found = nbc_alloc((size_t)sim->subsystems.n_slot, sizeof *found);
    if (!found) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its pairs");
        return;
    }
    judge_slots(file, sim);
    if (!file->status) judge_owners(file, sim, found);
    if (!file->status) judge_depth(file, sim);
    nbc_free(found);
}

/* ---- bodies that take part ---- */

/* A step begins at a multiple of its length, and goes on at the present time. When it began it may have been longer
 * than that of its level, but not longer than the longest one. */
static int is_irregular_time(nb6_time t0, int level, nb6_time now)
{
    return (t0 & (nb6_step_ticks(level) - 1)) == 0 && t0 <= now && now - t0 < nb6_step_ticks(NB6_TIME_BITS);
}

/* A regular step ends with an irregular one, maybe later than the end by its level, which falls with that of the
 * irregular step. Where all are neighbours none ends. */
static int is_regular_time(const struct nb6_sim *sim, nb6_time t0_reg, nb6_time t0)
{
    return t0_reg <= t0 && (nb6_all_are_neighbours(sim) || t0 - t0_reg <= 2 * nb6_step_ticks(NB6_TIME_BITS));
}

static double size_of(const double a[3])
{
    return fabs(a[0]) + fabs(a[1]) + fabs(a[2]);
}

/* The total is the sum of both parts, the regular one at the end of the irregular step: `change` since it was made. So
 * none of the three is much larger than the two others, whatever has been added for bodies that came and went. */
static int is_sum(const double total[3], const double irr[3], const double reg[3], double change)
{
    const double MUCH = 1e6, a = size_of(total), b = size_of(irr), c = size_of(reg);
    return a <= MUCH * (b + c + change) && b <= MUCH * (c + a + change) && c <= MUCH * (a + b + change);
}

static void judge_forces(struct nb6_hdf5 *file, const struct nb6_sim *sim, int64_t i)
{
    const struct nb6_body *body = &sim->body[i];
    const struct nb6_star *star = &sim->star[i];
    const double s = nb6_time_to_double(body->t0 - star->t0_reg);
    const double third = s * size_of(star->crackle_reg), second = s * (size_of(star->snap_reg) + third);
    if (!is_sum(body->acc, star->acc_irr, star->acc_reg, s * (size_of(star->jerk_reg) + second)))
        nb6_rules_refuse(file, "bodies/acc", i, body->acc[0], "the sum of stars/acc_irr and stars/acc_reg");
    if (!is_sum(body->jerk, star->jerk_irr, star->jerk_reg, second))
        nb6_rules_refuse(file, "bodies/jerk", i, body->jerk[0], "the sum of stars/jerk_irr and stars/jerk_reg");
}

static void judge_body(struct nb6_hdf5 *file, const struct nb6_sim *sim, int64_t i)
{
    const struct nb6_body *body = &sim->body[i];
    const struct nb6_star *star = &sim->star[i];
    if (!nb6_takes_part(sim, i)) return;
    if (!is_irregular_time(body->t0, star->level_irr, sim->ti_now))
        nb6_rules_refuse(file, "bodies/t0", i, (double)body->t0,
                         "a multiple of 2^stars/level_irr, and the begin of a step that goes on at state/ti_now");
    if (!is_regular_time(sim, star->t0_reg, body->t0))
        nb6_rules_refuse(file, "stars/t0_reg", i, (double)star->t0_reg,
                         "no later than bodies/t0, nor earlier than the longest step before it");
    if (star->level_reg < star->level_irr)
        nb6_rules_refuse(file, "stars/level_reg", i, star->level_reg, "no less than stars/level_irr");
    if (!(star->r_nb > 0)) nb6_rules_refuse(file, "stars/r_nb", i, star->r_nb, "a number > 0");
    judge_forces(file, sim, i);
}

static int ascends(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Names of stars, a number of bytes apart. */
struct names {
    const int64_t *first;
    size_t stride;
};

static int64_t name_at(const struct names *names, int64_t i)
{
    int64_t name;
    memcpy(&name, (const char *)names->first + (size_t)i * names->stride, sizeof name);
    return name;
}

/* Names of stars are positive, and none is twice. Nearly always they ascend. */
static void judge_names(struct nb6_hdf5 *file, int64_t n, const struct names *names)
{
    int64_t rising = 1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t name = name_at(names, i);
        if (name < 1) nb6_rules_refuse(file, "stars/name", i, (double)name, "a number > 0");
        rising += i > 0 && name > name_at(names, i - 1);
    }
    if (file->status || rising == n) return;
    int64_t *sorted = nbc_alloc((size_t)n, sizeof *sorted);
    if (!sorted) {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for the names of its stars");
        return;
    }
    for (int64_t i = 0; i < n; i++) sorted[i] = name_at(names, i);
    qsort(sorted, (size_t)n, sizeof *sorted, ascends);
    for (int64_t i = 1; i < n; i++)
        if (sorted[i] == sorted[i - 1])
            nb6_rules_refuse(file, "stars/name", -1, (double)sorted[i], "the name of one star only");
    nbc_free(sorted);
}

void nb6_relations_bodies(struct nb6_hdf5 *file, const struct nb6_sim *sim)
{
    nb6_rules_each(file, sim, nb6_bodies(sim), judge_body);
    if (!file->status) judge_names(file, sim->n, &(struct names){&sim->star->name, sizeof *sim->star});
}

void nb6_relations_collisionless(struct nb6_hdf5 *file, int64_t n, const int64_t *name)
{
    if (!file->status && n < 1) nb6_rules_refuse(file, "state/n", -1, (double)n, "1 or more");
    if (!file->status && name) judge_names(file, n, &(struct names){name, sizeof *name});
}

/* ---- lists ---- */

static const char LISTED[] = "bodies that take part, ascending, without the body that has the list";

/* Bodies that take part, and the place where the list of each begins, close together: lists are long. */
struct lists {
    int64_t bodies, *begin; /* [bodies + 1] */
    int8_t *takes_part;     /* [bodies] */
};

/* @param[in] all_take_part  1: bodies in the list have to; perturbers are renewed at their next selection
 * @return the first entry that is wrong, n: none is */
static int64_t first_wrong(const struct lists *lists, int64_t self, const int32_t *list, int64_t n, int all_take_part)
{
    int64_t before = -1;
    for (int64_t k = 0; k < n; k++) {
        const int64_t j = list[k];
        if (j <= before || j >= lists->bodies || j == self || (all_take_part && !lists->takes_part[j])) return k;
        before = j;
    }
    return n;
}

static void judge_neighbours(struct nb6_hdf5 *file, const struct lists *lists, const int32_t *nblist)
{
    int64_t first = lists->bodies;
#pragma omp parallel for schedule(static) reduction(min : first) if (lists->bodies > MANY_BODIES)
    for (int64_t i = 0; i < lists->bodies; i++) {
        const int64_t n = lists->begin[i + 1] - lists->begin[i];
        if (i < first && first_wrong(lists, i, nblist + lists->begin[i], n, 1) < n) first = i;
    }
    if (first == lists->bodies) return;
    const int64_t row = lists->begin[first];
    const int64_t k = row + first_wrong(lists, first, nblist + row, lists->begin[first + 1] - row, 1);
    nb6_rules_refuse(file, "neighbours", k, nblist[k], LISTED);
}

static void judge_perturbers(struct nb6_hdf5 *file, const struct nb6_sim *sim, const struct lists *lists)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int64_t row = 0;
    for (nb6_slot slot = 0; slot < p->n_slot && !file->status; slot++) {
        const int64_t n = p->pert[slot].n;
        const int64_t k = first_wrong(lists, nb6_centre(sim, slot), p->pert[slot].body, n, 0);
        if (k < n) nb6_rules_refuse(file, "perturbers", row + k, p->pert[slot].body[k], "other bodies, ascending");
        row += n;
    }
}

static void fill_lists(struct nb6_hdf5 *file, const struct nb6_sim *sim, struct lists *lists)
{
    for (int64_t i = 0; i < lists->bodies; i++) {
        lists->takes_part[i] = (int8_t)nb6_takes_part(sim, i);
        lists->begin[i + 1] = lists->begin[i] + sim->star[i].nnb;
        if (sim->star[i].nnb > 0 && !lists->takes_part[i])
            nb6_rules_refuse(file, "stars/nnb", i, sim->star[i].nnb, "0 of a body that takes no part");
    }
}

void nb6_relations_lists(struct nb6_hdf5 *file, const struct nb6_sim *sim, const int32_t *nblist)
{
    struct lists lists = {.bodies = nb6_bodies(sim)};
    if (file->status) return;
    lists.begin = nbc_alloc((size_t)lists.bodies + 1, sizeof *lists.begin);
    lists.takes_part = nbc_alloc((size_t)lists.bodies, sizeof *lists.takes_part);
    if (lists.begin && lists.takes_part) {
        fill_lists(file, sim, &lists);
        if (!file->status) judge_neighbours(file, &lists, nblist);
        if (!file->status) judge_perturbers(file, sim, &lists);
    } else {
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for its lists");
    }
    nbc_free(lists.begin);
    nbc_free(lists.takes_part);
}
