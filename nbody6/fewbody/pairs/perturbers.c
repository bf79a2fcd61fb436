#include "nbody6/fewbody/pairs/perturbers.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/field.h"
#include "nbody6/fewbody/pairs/remote.h"
#include "nbody6/fewbody/pairs/tides.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/input/config.h"
#include "nbody6/state/body.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A chain resolves no weaker perturbers than this, whatever GMIN says: each of them cuts its steps. */
static const double GAMMA_CHAIN = 1e-6;

enum { SELECTIONS_OF_A_PART = 16, PARALLEL_PAIRS = 16 };

/* The perturbers of a pair stay until a neighbour may have come nearer by this part of its distance, or gone: none of
 * the limits that decide about them is known better than that, and the tide of the others follows from its derivative.
 * A pair that passes another one makes ten to twenty steps meanwhile. */
static const double SAME = 0.05;

/* Relative motion of a neighbour. */
struct seen {
    double x[3], v[3], now, v2; /* squares of distance and velocity */
};

static void look_at(const struct nb6_sim *sim, nb6_index j, nb6_time t, const double x[3], const double v[3],
                    struct seen *seen)
{
    nb6_get_predicted(sim, j, t, seen->x, seen->v);
    seen->now = seen->v2 = 0;
    for (int d = 0; d < 3; d++) {
        seen->x[d] -= x[d];
        seen->v[d] -= v[d];
        seen->now += seen->x[d] * seen->x[d];
        seen->v2 += seen->v[d] * seen->v[d];
    }
}

/* The galaxy acts on every motion that is integrated anyway, and on a pair without perturbers if its tide is as strong
 * as one. */
static int is_galactic(const struct nb6_sim *sim, nb6_slot slot, int64_t n_perturbers)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    if (!sim->run.external.active) return 0;
    if (n_perturbers > 0 || pair->chain) return 1;
    return nb6_pair_galactic_tide(sim, slot) >
           (pair->galactic ? nb6_perturber_keep() : 1) * sim->run.config.pair.gamma_min;
}

static double mean_mass_inside(const struct nb6_sim *sim, nb6_index i)
{
    nb6_index star[CHAIN_MAX];
    return nb6_get_body(sim, i)->mass / nb6_stars_of(sim, i, star);
}

/* Weaker perturbers are left out, which costs up to this part of the binding energy. Of a pair that is bound more
 * strongly than the whole cluster it is less, if slow-down keeps the orbits few that have to be integrated then. */
static double weakest(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_pair_config *config = &sim->run.config.pair;
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    if (!nb6_kind_of(&sim->subsystems, slot)->is_pair) return fmax(config->gamma_min, GAMMA_CHAIN);
    if (!config->slow_down) return config->gamma_min;
    const double h = pair->remote ? pair->orbit.h : ks->h;
    return config->gamma_min * nb6_inexact_share(sim, ks->mass[0] * ks->mass[1] / ks->m * h);
}

struct nb6_perturber_rule nb6_pair_perturber_rule(const struct nb6_sim *sim, nb6_slot slot)
{
    const nb6_index i = nb6_centre(sim, slot);
    const double r = nb6_slot_reference_radius(sim, slot);
    struct nb6_perturber_rule rule = {.r2 = r * r, .unit = 2 / (nb6_get_body(sim, i)->mass * weakest(sim, slot))};
    nb6_perturber_set_lightest(&rule, mean_mass_inside(sim, i));
    return rule;
}

/* The third body counts as no heavier than the pair: a heavier one is a perturber much farther away. */
struct nb6_perturber_rule nb6_pair_look_rule(const struct nb6_sim *sim, nb6_slot slot)
{
    struct nb6_perturber_rule rule = nb6_pair_perturber_rule(sim, slot);
    if (!nb6_hierarchies_enabled(sim) || !nb6_kind_of(&sim->subsystems, slot)->can_freeze ||
        !nb6_pair_is_hard(sim, slot))
        return rule;
    const double heavy = nb6_get_body(sim, nb6_centre(sim, slot))->mass / sim->mean_mass;
    const double reach = NB6_COMPACT * sim->book.r_min * fmax(1, heavy);
    nb6_perturber_set_lightest(&rule,
                               fmax(rule.lightest, reach * reach * reach / (rule.unit * rule.r2 * sqrt(rule.r2))));
    return rule;
}

/* Time in which a neighbour moves by that part, and does not fall by more.   @param[in] mass  of both */
static double time_of_same(const struct seen *seen, double mass)
{
    const double r = sqrt(seen->now);
    return SAME * r / sqrt(seen->v2 + 2 * mass / (r + DBL_MIN) + DBL_MIN);
}

void nb6_pair_select(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, nb6_index *body, struct nb6_selection *s)
{
    nb6_index i = nb6_centre(sim, slot);
    const struct nb6_perturber_rule rule = nb6_pair_perturber_rule(sim, slot), look = nb6_pair_look_rule(sim, slot);
    const double dt = nb6_step_length(nb6_get_star(sim, i)->level_irr);
    double x[3], v[3];
    double mass = rule.lightest, limit = nb6_perturber_limit2(&rule, mass), /* of the neighbour before */
        look_limit = nb6_perturber_limit2(&look, mass);
    size_t nnb = 0;
    const nb6_index *list = nb6_get_list(sim, i, &nnb);
    nb6_get_predicted(sim, i, t, x, v);
    *s = (struct nb6_selection){
        .safe = INFINITY, .same = INFINITY, .remote = 1, .tide.t = t, .far = sim->subsystems.system[slot].far};
    for (size_t k = 0; k < nnb; k++) {
        struct seen seen;
        look_at(sim, list[k], t, x, v, &seen);
        const double m = nb6_get_body(sim, list[k])->mass;
        if (fmax(m, rule.lightest) != mass) {
            mass = fmax(m, rule.lightest);
            limit = nb6_perturber_limit2(&rule, mass);
            look_limit = nb6_perturber_limit2(&look, mass);
        }
        const double d2 = nb6_nearest2(seen.x, seen.v, dt);
        s->same = fmin(s->same, time_of_same(&seen, nb6_get_body(sim, i)->mass + m));
        s->safe = fmin(s->safe, nb6_time_to_reach(sqrt(seen.now), sqrt(look_limit), seen.v2));
        const int perturbs =
            d2 < limit || (d2 < nb6_let_go2(limit) && nb6_subsystems_resolves(&sim->subsystems, slot, list[k]));
        s->remote = s->remote && nb6_is_far_from(sim, slot, list[k], perturbs, d2, seen.now, seen.v2);
        if (perturbs)
            body[s->n++] = list[k];
        else if (seen.now > 0)
            nb6_tide_add(m, seen.x, seen.v, &s->tide);
    }
    s->remote = s->remote && nb6_pair_may_be_remote(sim, slot, s->n);
    s->galactic = is_galactic(sim, slot, s->n);
    s->feels_far = s->n > 0 || !nb6_kind_of(&sim->subsystems, slot)->is_pair;
    if (s->feels_far && nb6_pair_far_tide_is_old(sim, slot, t))
        s->sums_far = nb6_pair_begin_far_tide(sim, slot, t, &s->far);
}

int nb6_pair_selections_finish(struct nb6_sim *sim, int64_t n, const nb6_stored_slot *slot,
                               struct nb6_selection *selection, struct nbc_error *err)
{
    int64_t n_sum = 0;
    for (int64_t k = 0; k < n; k++) n_sum += selection[k].sums_far;
    if (n_sum > 0) {
        struct nb6_far_sum *sum = nbc_alloc((size_t)n_sum, sizeof *sum);
        if (!sum) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the tides on pairs");
        for (int64_t k = 0, m = 0; k < n; k++)
            if (selection[k].sums_far) sum[m++] = (struct nb6_far_sum){slot[k], &selection[k].far};
        const int status = nb6_far_tides(sim, n_sum, sum, err);
        nbc_free(sum);
        if (status) return status;
    }
    for (int64_t k = 0; k < n; k++)
        if (selection[k].feels_far) nb6_tide_join(&selection[k].far, &selection[k].tide);
    return NBC_OK;
}

static int same(const struct nb6_subsystems *p, nb6_slot slot, const struct nb6_selection *s, const nb6_index *body)
{
    const struct nb6_perturbers *pert = &p->pert[slot];
    return p->system[slot].galactic == s->galactic && pert->n == s->n &&
           (s->n == 0 || memcmp(pert->body, body, (size_t)s->n * sizeof *body) == 0);
}

/* A pair that is wider, or comes apart, has perturbers by its separation, which changes faster than theirs. */
static int is_compact(const struct nb6_sim *sim, nb6_slot slot)
{
    return nb6_slot_reference_radius(sim, slot) <= sim->subsystems.system[slot].r_end;
}

/* Time after which the perturbers of a pair must be selected again. Chains take in and give up bodies at any time, and
 * a remote pair must be checked before it ceases to be one. */
static double time_to_check(const struct nb6_sim *sim, nb6_slot slot, const struct nb6_selection *s)
{
    if (!nb6_kind_of(&sim->subsystems, slot)->is_pair) return 0;
    if (s->n > 0) return !s->remote && is_compact(sim, slot) ? s->same : 0;
    return !s->galactic && nb6_slot_stays(sim, slot) ? s->safe : 0;
}

/* Lists chosen side by side, rows of equal length. */
struct choice {
    struct nb6_sim *sim;
    int64_t n, row;
    nb6_stored_slot *slot;
    nb6_index *body;
    struct nb6_selection *selection;
};

static void select_part(void *context, int part, int parts)
{
    const struct choice *c = context;
    struct nb6_sim *sim = c->sim;
    const double t = nb6_time_to_double(sim->active.t);
    int64_t first, end;
    nbc_range(c->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        struct nb6_selection *s = &c->selection[k];
        nb6_pair_select(sim, c->slot[k], sim->active.t, c->body + k * c->row, s);
        sim->subsystems.system[c->slot[k]].t_check = t + time_to_check(sim, c->slot[k], s);
    }
}

static int choose(struct nb6_sim *sim, struct choice *c, struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    double t = nb6_time_to_double(active->t);
    c->n = 0;
    c->row = 1;
    for (int64_t at = active->n_irr - 1; at >= 0 && nb6_is_centre(sim, active->irr[at]); at--) {
        nb6_slot slot = nb6_slot_of(sim, active->irr[at]);
        if (nb6_is_ending(&sim->subsystems, slot)) continue;
        if (sim->subsystems.system[slot].t_check > t && nb6_get_star(sim, active->irr[at])->t0_reg != active->t)
            continue;
        if (nb6_get_star(sim, active->irr[at])->nnb > c->row) c->row = nb6_get_star(sim, active->irr[at])->nnb;
        sim->subsystems.changed[c->n++] = (nb6_stored_slot)slot;
    }
    if (c->n == 0) return NBC_OK;
    c->slot = sim->subsystems.changed;
    c->selection = nbc_alloc((size_t)c->n, sizeof *c->selection);
    c->body = nbc_alloc((size_t)c->n, (size_t)c->row * sizeof *c->body);
    if (!c->selection || !c->body) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the perturbers of pairs");
    const int status = nb6_save_slots(sim, c->n, c->slot, err);
    if (status) return status;
    nbc_team_run(nbc_parts(c->n, SELECTIONS_OF_A_PART), select_part, c);
    return nb6_pair_selections_finish(sim, c->n, c->slot, c->selection, err);
}

/* A pair that no other one resolves and is resolved by: it may be worked on while others are. */
static int is_alone(const struct nb6_subsystems *p, nb6_slot slot)
{
    return p->leader[slot] == slot && p->follower[slot] < 0;
}

typedef int pair_action(struct nb6_sim *sim, int part, nb6_slot slot, struct nbc_error *err);

/* Job on the pairs of a list. The failure of the first pair in the list counts, in whichever thread. */
struct task {
    struct nb6_sim *sim;
    pair_action *act;
    int64_t n;
    const nb6_stored_slot *slot;
    struct nbc_queue queue;
    int64_t failed;
    int status;
    struct nbc_error why;
};

static void note(struct task *task, int64_t k, int status, const struct nbc_error *why)
{
#pragma omp critical(nb6_pair_perturbers_failure)
    if (task->failed < 0 || k < task->failed) {
        task->failed = k;
        task->status = status;
        task->why = *why;
    }
}

static void act_on_those_alone(void *context, int part, int parts)
{
    (void)parts;
    struct task *task = context;
    for (int64_t k; (k = nbc_take(&task->queue)) < task->n;) {
        const nb6_stored_slot slot = task->slot[k];
        struct nbc_error why = {0};
        int status = is_alone(&task->sim->subsystems, slot) ? task->act(task->sim, part, slot, &why) : NBC_OK;
        if (status) note(task, k, status, &why);
    }
}

/* Do something to all pairs of a list: those alone side by side, then those in groups one after the other. */
static int for_pairs(struct nb6_sim *sim, int64_t n, const nb6_stored_slot *slot, pair_action *act,
                     struct nbc_error *err)
{
    struct task task = {.sim = sim, .act = act, .n = n, .slot = slot, .failed = -1};
    const int parts = n >= PARALLEL_PAIRS ? nbc_parts(n, 1) : 1;
    if (!nb6_field_reserve(sim, parts)) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the perturbers of pairs");
    nbc_team_run(parts, act_on_those_alone, &task);
    if (task.status) {
        if (err) *err = task.why;
        return task.status;
    }
    int status = NBC_OK;
    for (int64_t k = 0; k < n && !status; k++)
        if (!is_alone(&sim->subsystems, slot[k])) status = act(sim, 0, slot[k], err);
    return status;
}

int nb6_pairs_start(struct nb6_sim *sim, int64_t n, const nb6_stored_slot *slot, struct nbc_error *err)
{
    return for_pairs(sim, n, slot, nb6_pair_start_beside, err);
}

static int finish(struct nb6_sim *sim, int part, nb6_slot slot, struct nbc_error *err)
{
    return nb6_pair_finish_beside(sim, part, slot, sim->active.t, err);
}

/* Pairs with a new list are first advanced to the block time with the old one. */
static int apply(struct nb6_sim *sim, struct choice *c, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    int64_t n = 0;
    for (int64_t k = 0; k < c->n; k++) {
        const nb6_index *body = c->body + k * c->row;
        const struct nb6_selection *s = &c->selection[k];
        if (same(p, c->slot[k], s, body)) {
            p->system[c->slot[k]].tide = s->tide;
            p->system[c->slot[k]].far = s->far;
            nb6_pair_set_remote(sim, c->slot[k], s->remote);
            continue;
        }
        c->slot[n] = c->slot[k];
        c->selection[n] = *s;
        if (n < k) memmove(c->body + n * c->row, body, (size_t)s->n * sizeof *body);
        n++;
    }
    if (n == 0) return NBC_OK;
    int status = NBC_OK;
    for (int64_t k = 0; k < n && !status; k++) status = nb6_save_motion(sim, c->slot[k], err);
    if (!status) status = for_pairs(sim, n, c->slot, finish, err);
    for (int64_t k = 0; k < n && !status; k++) {
        p->system[c->slot[k]].tide = c->selection[k].tide;
        p->system[c->slot[k]].far = c->selection[k].far;
        p->system[c->slot[k]].galactic = c->selection[k].galactic;
        status = nb6_subsystems_set_perturbers(p, c->slot[k], c->selection[k].n, c->body + k * c->row, err);
    }
    nb6_groups_link(sim);
    for (int64_t k = 0; k < n && !status; k++) status = nb6_save_motion(sim, c->slot[k], err); /* with the new lists */
    if (!status) status = nb6_pairs_start(sim, n, c->slot, err);
    for (int64_t k = 0; k < n && !status; k++) nb6_pair_set_remote(sim, c->slot[k], c->selection[k].remote);
    nb6_groups_set_next(sim);
    return status;
}

int nb6_subsystems_update(struct nb6_sim *sim, struct nbc_error *err)
{
    struct choice c = {.sim = sim};
    int status = choose(sim, &c, err);
    if (!status && c.n > 0) status = apply(sim, &c, err);
    nbc_free(c.selection);
    nbc_free(c.body);
    return status;
}
