/* Relative motions of pairs and chains in time. */
#include "chains.h"
#include "pair_field.h"
#include "parts.h"
#include "step.h"

#include <math.h>
#include <string.h>

/* Fewer groups than this are advanced by one thread. */
enum { PARALLEL_GROUPS = 16 };

static int failure(const struct nb6_sim *sim, int64_t slot, int status, const struct nbc_error *why,
                   struct nbc_error *err)
{
    return nbc_fail(err, status, "the %s of stars %lld and %lld: %s", sim->pairs.pair[slot].chain ? "chain" : "pair",
                    (long long)nb6_pairs_name(sim, slot, 0), (long long)nb6_pairs_name(sim, slot, 1), why->text);
}

/* The pair of a group whose step ends first; -1 when all end after t. */
static int64_t first_of_group(const struct nb6_sim *sim, const struct ks_pair *ks, int64_t leader, double t)
{
    int64_t first = -1;
    double earliest = INFINITY;
    for (int64_t slot = leader; slot >= 0; slot = sim->pairs.follower[slot]) {
        double end = sim->pairs.pair[slot].chain ? INFINITY : ks[slot].t + ks[slot].dt;
        if (end < earliest) {
            earliest = end;
            first = slot;
        }
    }
    return earliest <= t ? first : -1;
}

static int advance_chain(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, int64_t slot,
                         double t, struct nbc_error *err)
{
    struct nbc_error why = {0};
    double start = nbc_wtime();
    nb6_field_set(f, sim, motion, slot);
    int status = nb6_chain_advance(f, motion, slot, t, &why);
    f->chain_s += nbc_wtime() - start;
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}

/* Chains that resolve a pair and are resolved by it, to the time at which the pair asks for them: the end of its step.
 */
static int chains_to(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, int64_t slot,
                     double t, struct nbc_error *err)
{
    const struct nb6_perturbers *pert = &sim->pairs.pert[slot];
    int status = NBC_OK;
    for (int32_t k = pert->n - 1; k >= 0 && pert->body[k] >= sim->n && !status; k--) {
        int64_t other = pert->body[k] - sim->n;
        if (!sim->pairs.pair[other].chain || !nb6_parts_are_mutual(&sim->pairs, sim->n, slot, other)) continue;
        if (nb6_slot_time(&sim->pairs, motion, other) < t) status = advance_chain(f, sim, motion, other, t, err);
    }
    return status;
}

/* Members of a group step in the order of time, so that each finds the others within a step. Chains go ahead to the end
 * of each step, and then, if they are due, to the end. */
static int advance_together(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion,
                            int64_t leader, nb6_time ti, struct nbc_error *err)
{
    struct nbc_error why = {0};
    struct ks_pair *ks = motion->ks;
    const double t = nb6_relative_time(sim, ti);
    for (int64_t slot; (slot = first_of_group(sim, ks, leader, t)) >= 0;) {
        int status = chains_to(f, sim, motion, slot, ks[slot].t + ks[slot].dt, err);
        if (status) return status;
        nb6_field_set(f, sim, motion, slot);
        status = ks_step(&ks[slot], nb6_field_perturb, f, &why);
        if (status) return failure(sim, slot, status, &why, err);
    }
    for (int64_t slot = leader; slot >= 0; slot = sim->pairs.follower[slot]) {
        const struct nb6_chain *chain = nb6_chain_of(&sim->pairs, slot);
        if (!chain || !nb6_chain_is_due(sim, chain, ti)) continue;
        int status = advance_chain(f, sim, motion, slot, t, err);
        if (status) return status;
    }
    return NBC_OK;
}

/* A pair alone makes all its steps at once. */
static int advance_group(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion,
                         int64_t leader, nb6_time ti, struct nbc_error *err)
{
    struct nbc_error why = {0};
    if (sim->pairs.follower[leader] >= 0 || sim->pairs.pair[leader].chain)
        return advance_together(f, sim, motion, leader, ti, err);
    nb6_field_set(f, sim, motion, leader);
    int status = ks_advance(&motion->ks[leader], nb6_relative_time(sim, ti), nb6_field_perturb, f, &why);
    return status ? failure(sim, leader, status, &why, err) : NBC_OK;
}

static int finish(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, int64_t slot,
                  double t, struct nbc_error *err)
{
    struct nbc_error why = {0};
    if (sim->pairs.pair[slot].chain) return advance_chain(f, sim, motion, slot, t, err);
    int status = chains_to(f, sim, motion, slot, t, err);
    if (status) return status;
    if (sim->pairs.pert[slot].n > 0) {
        nb6_field_set(f, sim, motion, slot);
        status = ks_finish(&motion->ks[slot], t, nb6_field_perturb, f, &why);
    } else {
        status = ks_unperturbed(&motion->ks[slot], t, &why);
    }
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}

/* What one thread makes of its share of the groups. The failure of the lowest slot counts, whoever met it. */
struct shared {
    const struct nb6_sim *sim;
    const struct nb6_motion *motion;
    const int32_t *due;
    int64_t n_due;
    nb6_time t;
    int64_t failed;
    double chain_s;
    int status;
    struct nbc_error *err;
};

static void note_failure(struct shared *s, int64_t slot, int status, const struct nbc_error *why)
{
#pragma omp critical(nb6_pairs_failure)
    if (s->failed < 0 || slot < s->failed) {
        s->failed = slot;
        s->status = status;
        if (s->err) *s->err = *why;
    }
}

static void work(struct shared *s)
{
    struct nbc_error why = {0};
    struct nb6_field f = {0};
    if (!nb6_field_alloc(&f, s->sim)) {
        nbc_fail(&why, NBC_NO_MEMORY, "no memory for the perturbers of pairs");
        note_failure(s, 0, NBC_NO_MEMORY, &why);
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t k = 0; k < s->n_due; k++) {
        int status = f.dv ? advance_group(&f, s->sim, s->motion, s->due[k], s->t, &why) : NBC_NO_MEMORY;
        if (status) note_failure(s, s->due[k], status, &why);
    }
#pragma omp critical(nb6_pairs_seconds)
    s->chain_s += f.chain_s;
    nb6_field_free(&f);
}

/* A chain is much work, and worth a thread. */
enum { PAIRS_OF_A_CHAIN = 8 };

static int advance_due(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_time t, struct nb6_advance *did,
                       struct nbc_error *err)
{
    struct shared s = {sim, motion, sim->pairs.due, did->n_due, t, -1, 0, NBC_OK, err};
    int64_t n_due = did->n_due, work_due = n_due;
    for (int64_t k = 0; k < n_due; k++)
        if (sim->pairs.pair[sim->pairs.due[k]].chain) work_due += PAIRS_OF_A_CHAIN - 1;
#pragma omp parallel if (n_due > 1 && work_due >= PARALLEL_GROUPS)
    work(&s);
    did->chain_s = s.chain_s;
    return s.status;
}

/* All pairs to exactly t, one after the other: first everybody as far as whole steps go. */
static int finish_all(const struct nb6_sim *sim, const struct nb6_motion *motion, double t, struct nbc_error *err)
{
    struct nb6_field f = {0};
    int status = nb6_field_alloc(&f, sim) ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for pairs");
    for (int chains = 1; chains >= 0; chains--) /* first: they predict the pairs, and pairs find them at t */
        for (int64_t slot = 0; slot < sim->pairs.n_slot && !status; slot++)
            if (sim->pairs.pair[slot].member[0] >= 0 && (sim->pairs.pair[slot].chain != 0) == chains)
                status = finish(&f, sim, motion, slot, t, err);
    nb6_field_free(&f);
    return status;
}

/* The group of a chain, unless it is in the list already. */
static void add_leader(const struct nb6_pairs *p, int64_t slot, int64_t *n_due)
{
    for (int64_t k = 0; k < *n_due; k++)
        if (p->due[k] == p->leader[slot]) return;
    p->due[(*n_due)++] = p->leader[slot];
}

int nb6_pairs_advance(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_time ti, int exact,
                      struct nb6_advance *did, struct nbc_error *err)
{
    const struct nb6_pairs *p = &sim->pairs;
    double t = nb6_relative_time(sim, ti);
    int status = NBC_OK;
    *did = (struct nb6_advance){0, 0};
    for (int64_t slot = 0; slot < p->n_slot; slot++)
        if (p->next[slot] <= t) p->due[did->n_due++] = (int32_t)slot;
    for (int64_t k = 0; k < p->n_chain; k++)
        if (p->chain[k].slot >= 0 && nb6_chain_is_due(sim, &p->chain[k], ti))
            add_leader(p, p->chain[k].slot, &did->n_due);
    if (did->n_due > 0) status = advance_due(sim, motion, ti, did, err);
    if (!status && exact) status = finish_all(sim, motion, t, err);
    return status;
}

int nb6_pair_finish(struct nb6_sim *sim, int64_t slot, nb6_time t, struct nbc_error *err)
{
    struct nb6_field f = {0};
    const struct nb6_motion motion = nb6_pairs_motion(&sim->pairs);
    int status = nb6_field_alloc(&f, sim) ? finish(&f, sim, &motion, slot, nb6_relative_time(sim, t), err)
                                          : nbc_fail(err, NBC_NO_MEMORY, "no memory for the perturbers of a pair");
    nb6_field_free(&f);
    return status;
}

/* A chain goes on with whatever perturbs it. */
int nb6_pair_start(struct nb6_sim *sim, int64_t slot, struct nbc_error *err)
{
    struct nbc_error why = {0};
    struct nb6_field f = {0};
    const struct nb6_motion motion = nb6_pairs_motion(&sim->pairs);
    struct ks_pair *ks = &sim->pairs.ks[slot];
    int status = NBC_OK;
    if (sim->pairs.pair[slot].chain) return NBC_OK;
    ks_set_slowdown(ks, 1); /* what the new list adds to the orbit's variation must not come kappa times */
    if (!nb6_field_alloc(&f, sim)) {
        status = nbc_fail(&why, NBC_NO_MEMORY, "no memory for its perturbers");
    } else if (sim->pairs.pert[slot].n > 0) {
        status = chains_to(&f, sim, &motion, slot, ks->t, &why);
        nb6_field_set(&f, sim, &motion, slot);
        if (!status) status = ks_start(ks, nb6_field_perturb, &f, &why);
    } else {
        status = ks_start(ks, NULL, NULL, &why);
    }
    nb6_field_free(&f);
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}
