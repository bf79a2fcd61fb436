/* Relative motions of pairs and chains in time. */
#include "nbody6/fewbody/pairs/advance.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/field.h"
#include "nbody6/fewbody/pairs/galaxy.h"
#include "nbody6/fewbody/pairs/remote.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

/* Fewer groups than this are advanced by one thread. */
enum { PARALLEL_GROUPS = 16 };

/* Evaluations of forces that all groups together may make in one call, and one of them at least. With some microseconds
 * each, a call lasts well below a second. The share of a group depends on how many are due, and on nothing else: where
 * it pauses does not depend on the number of threads. */
static const int64_t EVALUATIONS_OF_A_CALL = 65536, EVALUATIONS_OF_A_GROUP = 512;
static const int64_t UNLIMITED = INT64_MAX / 2;

/* Pairs perturbed by more than this, a fifth of the limit at which pairs end (pairs/end.c), do not follow later, nor
 * those with more steps than this, which take a millisecond. */
static const double GAMMA_CALM = 0.01, STEPS_TO_FOLLOW = 1024;

static int failure(const struct nb6_sim *sim, nb6_slot slot, int status, const struct nbc_error *why,
                   struct nbc_error *err)
{
    return nbc_fail(err, status, "the %s of stars %lld and %lld: %s", nb6_kind_of(&sim->subsystems, slot)->name,
                    (long long)nb6_subsystems_name(sim, slot, 0), (long long)nb6_subsystems_name(sim, slot, 1),
                    why->text);
}

/* ---- one group */

/* The pair of a group with the earliest end of a step; -1 when all end after t. */
static nb6_slot first_of_group(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot leader, double t)
{
    nb6_slot first = NB6_NO_SLOT;
    double earliest = INFINITY;
    for (nb6_slot slot = leader; slot >= 0; slot = sim->subsystems.follower[slot]) {
        const double end = nb6_slot_step_end(&sim->subsystems, motion, slot);
        if (end < earliest) {
            earliest = end;
            first = slot;
        }
    }
    return earliest <= t ? first : NB6_NO_SLOT;
}

static int is_needed(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    const struct nb6_kind *kind = nb6_kind_of(&sim->subsystems, slot);
    return kind->is_needed && kind->is_needed(sim, slot, t);
}

/* Sets f->paused if the chain is not there yet. */
static int advance_chain(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot,
                         double t, struct nbc_error *err)
{
    struct nbc_error why = {0};
    double start = nbc_wtime();
    nb6_field_set(f, sim, motion, slot);
    int status = nb6_kind_of(&sim->subsystems, slot)->advance(f, motion, slot, t, &why);
    f->chain_s += nbc_wtime() - start;
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}

/* Chains that resolve a pair and are resolved by it, to the time at which the pair asks for them: the end of its step.
 */
static int chains_to(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot,
                     double t, struct nbc_error *err)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    int status = NBC_OK;
    for (int32_t k = pert->n - 1; k >= 0 && nb6_is_centre(sim, pert->body[k]) && !status && !f->paused; k--) {
        nb6_slot other = nb6_slot_of(sim, pert->body[k]);
        if (!nb6_goes_on_demand(&sim->subsystems, other) || !nb6_slots_are_mutual(sim, slot, other)) continue;
        if (nb6_slot_time(&sim->subsystems, motion, other) < t) status = advance_chain(f, sim, motion, other, t, err);
    }
    return status;
}

/* One step of a pair of a group, after the chains that it needs. */
static int step_together(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot,
                         struct nbc_error *err)
{
    struct nbc_error why = {0};
    int status = chains_to(f, sim, motion, slot, nb6_slot_step_end(&sim->subsystems, motion, slot), err);
    if (status || f->paused) return status;
    nb6_field_set(f, sim, motion, slot);
    status = nb6_kind_of(&sim->subsystems, slot)->step(f, motion, slot, &why);
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}

/* Members of a group step in the order of time, so that each finds the others within a step. Chains go ahead to the end
 * of each step, and then, if they are due, to the end; but for those of a copy that were stopped beyond it. */
static int advance_together(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion,
                            nb6_slot leader, nb6_time ti, struct nbc_error *err)
{
    const double t = nb6_relative_time(sim, ti);
    for (nb6_slot slot; (slot = first_of_group(sim, motion, leader, t)) >= 0 && !f->paused;) {
        int status = step_together(f, sim, motion, slot, err);
        if (status) return status;
    }
    for (nb6_slot slot = leader; slot >= 0 && !f->paused; slot = sim->subsystems.follower[slot]) {
        if (!is_needed(sim, slot, ti) || nb6_slot_time(&sim->subsystems, motion, slot) > t) continue;
        int status = advance_chain(f, sim, motion, slot, t, err);
        if (status) return status;
    }
    return NBC_OK;
}

/* A pair alone makes all its steps at once. f->paused is set if the group is not at the end within f->left evaluations;
 * the next call goes on with the same bits. */
static int advance_group(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion,
                         nb6_slot leader, nb6_time ti, struct nbc_error *err)
{
    struct nbc_error why = {0};
    f->paused = 0;
    if (sim->subsystems.follower[leader] >= 0 || nb6_goes_on_demand(&sim->subsystems, leader))
        return advance_together(f, sim, motion, leader, ti, err);
    nb6_field_set(f, sim, motion, leader);
    int status = nb6_kind_of(&sim->subsystems, leader)->advance(f, motion, leader, nb6_relative_time(sim, ti), &why);
    return status ? failure(sim, leader, status, &why, err) : NBC_OK;
}

/* ---- one slot to a time */

static int finish(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot,
                  double t, struct nbc_error *err)
{
    struct nbc_error why = {0};
    f->left = UNLIMITED;
    f->paused = 0;
    if (nb6_goes_on_demand(&sim->subsystems, slot)) return advance_chain(f, sim, motion, slot, t, err);
    int status = chains_to(f, sim, motion, slot, t, err);
    if (status) return status;
    nb6_field_set(f, sim, motion, slot);
    status = nb6_kind_of(&sim->subsystems, slot)->finish(f, motion, slot, t, &why);
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}

/* ---- all groups that are due */

/* Job of the threads, each with a share of the groups. The failure of the lowest slot counts, in whichever thread. */
struct shared {
    const struct nb6_sim *sim;
    const struct nb6_motion *motion;
    int64_t n_due, left;
    nb6_time t;
    struct nbc_queue queue; /* of groups */
    int64_t failed;
    double chain_s;
    int status, paused;
    struct nbc_error *err;
};

static void note_failure(struct shared *s, nb6_slot slot, int status, const struct nbc_error *why)
{
#pragma omp critical(nb6_subsystems_failure)
    if (s->failed < 0 || slot < s->failed) {
        s->failed = slot;
        s->status = status;
        if (s->err) *s->err = *why;
    }
}

static void work(void *context, int part, int parts)
{
    (void)parts;
    struct shared *s = context;
    const nb6_stored_slot *due = s->sim->subsystems.due;
    struct nbc_error why = {0};
    struct nb6_field f = {0};
    int paused = 0;
    const int has_memory = nb6_field_begin(&f, s->sim, part);
    if (!has_memory) {
        nbc_fail(&why, NBC_NO_MEMORY, "no memory for the perturbers of pairs");
        note_failure(s, 0, NBC_NO_MEMORY, &why);
    }
    for (int64_t k; (k = nbc_take(&s->queue)) < s->n_due;) {
        f.left = s->left;
        int status = has_memory ? advance_group(&f, s->sim, s->motion, due[k], s->t, &why) : NBC_NO_MEMORY;
        if (status) note_failure(s, due[k], status, &why);
        paused |= f.paused;
    }
#pragma omp critical(nb6_subsystems_seconds)
    {
        s->chain_s += f.chain_s;
        s->paused |= paused;
    }
}

/* A chain is much work, and worth a thread. */
enum { PAIRS_OF_A_CHAIN = 8 };

/* The groups with their leaders in pairs.due. */
static int advance_due(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_time t, int64_t n_due,
                       int64_t left, struct nb6_advance *did, struct nbc_error *err)
{
    struct shared s = {.sim = sim, .motion = motion, .n_due = n_due, .left = left, .t = t, .failed = -1, .err = err};
    int64_t work_due = n_due;
    for (int64_t k = 0; k < n_due; k++)
        if (nb6_goes_on_demand(&sim->subsystems, sim->subsystems.due[k])) work_due += PAIRS_OF_A_CHAIN - 1;
    const int side_by_side = n_due > 1 && work_due >= PARALLEL_GROUPS;
    const int parts = side_by_side ? nbc_parts(n_due, 1) : 1;
    if (!nb6_field_reserve(sim, parts)) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the perturbers of pairs");
    nbc_team_run(parts, work, &s);
    *did = (struct nb6_advance){.n_due = n_due, .paused = s.paused, .chain_s = s.chain_s};
    return s.status;
}

/* Leaders of the groups with work up to t, ascending: groups already begun, groups with a step that ends, groups with a
 * chain that is needed. */
static int64_t find_due(const struct nb6_sim *sim, nb6_time ti, int with_begun)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const double t = nb6_relative_time(sim, ti);
    int64_t n = 0;
    for (int64_t k = 0; k < p->n_listed; k++) {
        const nb6_stored_slot slot = p->listed[k];
        if (!(p->next[slot] <= t)) continue;
        const int begun = p->system[slot].begun;
        if (!begun || with_begun || nb6_group_step_end(p, slot) <= t) p->due[n++] = slot;
    }
    for (int64_t k = 0; k < p->n_chain; k++) {
        const nb6_stored_slot slot = p->chain[k].slot;
        if (slot < 0) continue;
        const nb6_stored_slot leader = p->leader[slot];
        if ((with_begun && p->system[leader].begun) || is_needed(sim, slot, ti)) n = nb6_list_insert(p->due, n, leader);
    }
    return n;
}

int nb6_group_can_wait(const struct nb6_sim *sim, nb6_slot leader)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (nb6_slot slot = leader; slot >= 0; slot = p->follower[slot])
        if (nb6_goes_on_demand(p, slot) || !nb6_slot_stays(sim, slot)) return 0;
    return 1;
}

static int is_active(const struct nb6_sim *sim, nb6_index i)
{
    return nb6_list_find(sim->active.irr, (size_t)sim->active.n_irr, i) >= 0;
}

/* Does a body of the block need the members of a pair? */
static int is_seen(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    if (is_active(sim, nb6_centre(sim, slot))) return 1;
    for (int32_t k = 0; k < pert->n; k++)
        if (is_active(sim, pert->body[k])) return 1;
    return 0;
}

/* A single, weakly perturbed pair with few steps to make: then its result depends on no other pair, and no call has to
 * end within it. Stars that may touch must be checked at each step. */
static int may_follow(const struct nb6_sim *sim, nb6_slot leader, double t)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct ks_pair *ks = &p->ks[leader];
    if (p->system[leader].begun || p->follower[leader] >= 0 || !nb6_group_can_wait(sim, leader)) return 0;
    if (ks->gamma > GAMMA_CALM || t - ks->t > STEPS_TO_FOLLOW * ks->dt) return 0;
    return !nb6_stars_have_radii(sim) && !is_seen(sim, leader);
}

/* Of those that are due, by whether they may follow. */
static int64_t choose_due(const struct nb6_sim *sim, nb6_time ti, enum nb6_due which, int64_t after, int64_t most)
{
    const int64_t n_due = find_due(sim, ti, 1);
    const double t = nb6_relative_time(sim, ti);
    nb6_stored_slot *due = sim->subsystems.due;
    int64_t n = 0;
    for (int64_t k = 0; k < n_due && n < most; k++) {
        if (due[k] <= after) continue;
        if (which == NB6_DUE_ALL || may_follow(sim, due[k], t) == (which == NB6_DUE_REST)) due[n++] = due[k];
    }
    return n;
}

int nb6_subsystems_have_near_rest(const struct nb6_sim *sim)
{
    const int64_t n_due = choose_due(sim, sim->active.t, NB6_DUE_REST, -1, INT64_MAX);
    for (int64_t k = 0; k < n_due; k++)
        if (!nb6_group_is_remote(sim, sim->subsystems.due[k])) return 1;
    return 0;
}

/* The groups with their leaders in pairs.due. */
static int advance_some(struct nb6_sim *sim, nb6_time t, int64_t n_due, int64_t left, struct nb6_advance *did,
                        struct nbc_error *err)
{
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    int status = NBC_OK;
    *did = (struct nb6_advance){.n_due = n_due};
    if (n_due == 0) return NBC_OK;
    for (int64_t k = 0; k < n_due; k++)
        for (nb6_slot slot = sim->subsystems.due[k]; slot >= 0 && !status; slot = sim->subsystems.follower[slot])
            status = nb6_save_slot(sim, slot, err);
    if (status) return status;
    for (int64_t k = 0; k < n_due; k++) {
        sim->subsystems.system[sim->subsystems.due[k]].begun = 1;
        sim->subsystems.next[sim->subsystems.due[k]] = -INFINITY;
    }
    return advance_due(sim, &motion, t, n_due, left, did, err);
}

int nb6_subsystems_advance(struct nb6_sim *sim, nb6_time t, enum nb6_due which, int64_t after, int64_t most,
                           struct nb6_advance *did, struct nbc_error *err)
{
    const int64_t n_due = choose_due(sim, t, which, after, most);
    const int64_t share = which == NB6_DUE_REST || n_due == 0 ? UNLIMITED : EVALUATIONS_OF_A_CALL / n_due;
    return advance_some(sim, t, n_due, share > EVALUATIONS_OF_A_GROUP ? share : EVALUATIONS_OF_A_GROUP, did, err);
}

static int is_one_of(const struct nb6_perturbers *pert, int64_t n, const nb6_index *body)
{
    for (int64_t k = 0; k < n; k++)
        if (nb6_list_find(pert->body, (size_t)pert->n, body[k]) >= 0) return 1;
    return 0;
}

/* Whether a group has one of these bodies as a centre of mass, or a member that resolves it. */
static int concerns(const struct nb6_sim *sim, nb6_slot leader, int64_t n, const nb6_index *body)
{
    for (nb6_slot slot = leader; slot >= 0; slot = sim->subsystems.follower[slot]) {
        for (int64_t k = 0; k < n; k++)
            if (body[k] == nb6_centre(sim, slot)) return 1;
        if (is_one_of(&sim->subsystems.pert[slot], n, body)) return 1;
    }
    return 0;
}

static int lags(const struct nb6_sim *sim, nb6_stored_slot slot, double t)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    return p->next[slot] <= t && !p->system[slot].begun && nb6_group_is_remote(sim, slot);
}

int nb6_subsystems_follow(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, struct nb6_advance *did,
                          struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int64_t n_due = 0;
    for (int64_t k = 0; k < p->n_listed; k++)
        if (lags(sim, p->listed[k], nb6_relative_time(sim, t)) && concerns(sim, p->listed[k], n, body))
            p->due[n_due++] = p->listed[k];
    return advance_some(sim, t, n_due, UNLIMITED, did, err);
}

int nb6_subsystems_follow_next(struct nb6_sim *sim, nb6_time t, int64_t after, struct nb6_advance *did,
                               struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int64_t n_due = 0;
    for (int64_t k = 0; k < p->n_listed && n_due == 0; k++)
        if (p->listed[k] > after && lags(sim, p->listed[k], nb6_relative_time(sim, t))) p->due[n_due++] = p->listed[k];
    return advance_some(sim, t, n_due, UNLIMITED, did, err);
}

/* ---- copies at a time of their own */

/* Whether a motion has gone ahead of t by more than can be undone: it was stopped within a block. */
static int is_ahead(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot, double t)
{
    if (nb6_goes_on_demand(&sim->subsystems, slot)) return nb6_slot_time(&sim->subsystems, motion, slot) > t;
    return sim->subsystems.system[sim->subsystems.leader[slot]].begun && motion->ks[slot].t > t;
}

/* Chains, or pairs, to exactly t, one after the other. */
static int finish_kind(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, int chains,
                       double t, int64_t left, struct nbc_error *err)
{
    int status = NBC_OK;
    f->left = left;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot && !status && !f->paused; slot++) {
        if (!nb6_slot_is_used(&sim->subsystems, slot) || (nb6_goes_on_demand(&sim->subsystems, slot) != 0) != chains)
            continue;
        if (is_ahead(sim, motion, slot, t)) continue;
        status = chains ? advance_chain(f, sim, motion, slot, t, err) : finish(f, sim, motion, slot, t, err);
    }
    return status;
}

/* First all systems by whole steps, then chains, which predict the pairs, then pairs, which find the chains at t. */
int nb6_subsystems_advance_copy(const struct nb6_sim *sim, const struct nb6_motion *copy, nb6_time ti, int pausing,
                                int *paused, struct nbc_error *err)
{
    const double t = nb6_relative_time(sim, ti);
    const int64_t left = pausing ? EVALUATIONS_OF_A_CALL : UNLIMITED, n_due = find_due(sim, ti, 0);
    struct nb6_advance did = {0};
    struct nb6_field f = {0};
    int status = n_due > 0 ? advance_due(sim, copy, ti, n_due, left / n_due + 1, &did, err) : NBC_OK;
    *paused = did.paused;
    if (status || *paused) return status;
    if (!nb6_field_reserve(sim, 1) || !nb6_field_begin(&f, sim, 0))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the perturbers of pairs");
    status = finish_kind(&f, sim, copy, 1, t, left, err);
    if (!status && !f.paused) status = finish_kind(&f, sim, copy, 0, t, UNLIMITED, err);
    *paused = f.paused;
    return status;
}

/* ---- one slot */

static int no_scratch(struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the perturbers of a pair");
}

int nb6_pair_finish_beside(struct nb6_sim *sim, int part, nb6_slot slot, nb6_time t, struct nbc_error *err)
{
    struct nb6_field f = {0};
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    int status = nb6_save_motion(sim, slot, err);
    if (status) return status;
    if (!nb6_field_begin(&f, sim, part)) return no_scratch(err);
    return finish(&f, sim, &motion, slot, nb6_relative_time(sim, t), err);
}

int nb6_pair_finish(struct nb6_sim *sim, nb6_slot slot, nb6_time t, struct nbc_error *err)
{
    if (!nb6_field_reserve(sim, 1)) return no_scratch(err);
    nb6_note_motion(&sim->subsystems, slot);
    const int status = nb6_pair_finish_beside(sim, 0, slot, t, err);
    return status ? status : nb6_slot_book_galaxy_work(sim, slot, err);
}

int nb6_pair_start_beside(struct nb6_sim *sim, int part, nb6_slot slot, struct nbc_error *err)
{
    struct nbc_error why = {0};
    struct nb6_field f = {.left = UNLIMITED};
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    const struct nb6_kind *kind = nb6_kind_of(&sim->subsystems, slot);
    if (!kind->start) return NBC_OK;
    int status = nb6_save_motion(sim, slot, err);
    if (status) return status;
    if (!nb6_field_begin(&f, sim, part)) return no_scratch(err);
    status = chains_to(&f, sim, &motion, slot, nb6_slot_time(&sim->subsystems, &motion, slot), &why);
    if (!status) {
        nb6_field_set(&f, sim, &motion, slot);
        status = kind->start(&f, &motion, slot, &why);
    }
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}

int nb6_pair_start(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    nb6_note_motion(&sim->subsystems, slot);
    return nb6_field_reserve(sim, 1) ? nb6_pair_start_beside(sim, 0, slot, err) : no_scratch(err);
}
