/* Relative motions of pairs and chains in time. */
#include "chains.h"
#include "pair_field.h"
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

/* The member of a group whose step ends first; -1 when all end after t. */
static int64_t first_of_group(const struct nb6_sim *sim, const struct ks_pair *ks, int64_t leader, double t)
{
    int64_t first = -1;
    double earliest = INFINITY;
    for (int64_t slot = leader; slot >= 0; slot = sim->pairs.follower[slot]) {
        double end = ks[slot].t + ks[slot].dt;
        if (end < earliest) {
            earliest = end;
            first = slot;
        }
    }
    return earliest <= t ? first : -1;
}

/* A pair alone makes all its steps; members of a group step in the order of time, so that each finds the others within
 * a step. */
static int advance_group(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion,
                         int64_t leader, double t, struct nbc_error *err)
{
    struct nbc_error why = {0};
    struct ks_pair *ks = motion->ks;
    int status = NBC_OK;
    if (sim->pairs.follower[leader] < 0) {
        nb6_field_set(f, sim, motion, leader);
        status = sim->pairs.pair[leader].chain ? nb6_chain_advance(f, motion, leader, t, &why)
                                               : ks_advance(&ks[leader], t, nb6_field_perturb, f, &why);
        return status ? failure(sim, leader, status, &why, err) : NBC_OK;
    }
    for (int64_t slot; (slot = first_of_group(sim, ks, leader, t)) >= 0;) {
        nb6_field_set(f, sim, motion, slot);
        status = ks_step(&ks[slot], nb6_field_perturb, f, &why);
        if (status) return failure(sim, slot, status, &why, err);
    }
    return NBC_OK;
}

static int finish(struct nb6_field *f, const struct nb6_sim *sim, const struct nb6_motion *motion, int64_t slot,
                  double t, struct nbc_error *err)
{
    struct nbc_error why = {0};
    int status;
    nb6_field_set(f, sim, motion, slot);
    if (sim->pairs.pair[slot].chain)
        status = nb6_chain_advance(f, motion, slot, t, &why);
    else if (sim->pairs.pert[slot].n > 0)
        status = ks_finish(&motion->ks[slot], t, nb6_field_perturb, f, &why);
    else
        status = ks_unperturbed(&motion->ks[slot], t, &why);
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}

static int64_t longest_list(const struct nb6_sim *sim)
{
    int64_t longest = 1;
    for (int64_t slot = 0; slot < sim->pairs.n_slot; slot++)
        if (sim->pairs.pert[slot].n > longest) longest = sim->pairs.pert[slot].n;
    return longest;
}

/* What one thread makes of its share of the groups. The failure of the lowest slot counts, whoever met it. */
struct shared {
    const struct nb6_sim *sim;
    const struct nb6_motion *motion;
    const int32_t *due;
    int64_t n_due;
    double t;
    int64_t longest, failed;
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
    if (!nb6_field_alloc(&f, s->longest)) {
        nbc_fail(&why, NBC_NO_MEMORY, "no memory for the perturbers of pairs");
        note_failure(s, 0, NBC_NO_MEMORY, &why);
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t k = 0; k < s->n_due; k++) {
        int status = f.dv ? advance_group(&f, s->sim, s->motion, s->due[k], s->t, &why) : NBC_NO_MEMORY;
        if (status) note_failure(s, s->due[k], status, &why);
    }
    nb6_field_free(&f);
}

/* A chain is much work, and worth a thread. */
enum { PAIRS_OF_A_CHAIN = 8 };

static int advance_due(const struct nb6_sim *sim, const struct nb6_motion *motion, int64_t n_due, double t,
                       struct nbc_error *err)
{
    struct shared s = {sim, motion, sim->pairs.due, n_due, t, longest_list(sim), -1, NBC_OK, err};
    int64_t work_due = n_due;
    for (int64_t k = 0; k < n_due; k++)
        if (sim->pairs.pair[sim->pairs.due[k]].chain) work_due += PAIRS_OF_A_CHAIN - 1;
#pragma omp parallel if (n_due > 1 && work_due >= PARALLEL_GROUPS)
    work(&s);
    return s.status;
}

/* All pairs to exactly t, one after the other: first everybody as far as whole steps go. */
static int finish_all(const struct nb6_sim *sim, const struct nb6_motion *motion, double t, struct nbc_error *err)
{
    struct nb6_field f = {0};
    int status = nb6_field_alloc(&f, longest_list(sim)) ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for pairs");
    for (int64_t slot = 0; slot < sim->pairs.n_slot && !status; slot++)
        if (sim->pairs.pair[slot].member[0] >= 0) status = finish(&f, sim, motion, slot, t, err);
    nb6_field_free(&f);
    return status;
}

int nb6_pairs_advance(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_time ti, int exact,
                      int64_t *n_due, struct nbc_error *err)
{
    const struct nb6_pairs *p = &sim->pairs;
    double t = nb6_relative_time(sim, ti);
    int status = NBC_OK;
    *n_due = 0;
    for (int64_t slot = 0; slot < p->n_slot; slot++)
        if (p->next[slot] <= t) p->due[(*n_due)++] = (int32_t)slot;
    for (int64_t k = 0; k < p->n_chain; k++)
        if (p->chain[k].slot >= 0 && nb6_chain_is_due(sim, &p->chain[k], ti)) p->due[(*n_due)++] = p->chain[k].slot;
    if (*n_due > 0) status = advance_due(sim, motion, *n_due, t, err);
    if (!status && exact) status = finish_all(sim, motion, t, err);
    return status;
}

int nb6_pair_finish(struct nb6_sim *sim, int64_t slot, nb6_time t, struct nbc_error *err)
{
    struct nb6_field f = {0};
    const struct nb6_motion motion = nb6_pairs_motion(&sim->pairs);
    int status = nb6_field_alloc(&f, sim->pairs.pert[slot].n + 1)
                     ? finish(&f, sim, &motion, slot, nb6_relative_time(sim, t), err)
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
    if (!nb6_field_alloc(&f, sim->pairs.pert[slot].n + 1)) {
        status = nbc_fail(&why, NBC_NO_MEMORY, "no memory for its perturbers");
    } else if (sim->pairs.pert[slot].n > 0) {
        nb6_field_set(&f, sim, &motion, slot);
        status = ks_start(ks, nb6_field_perturb, &f, &why);
    } else {
        ks_set_slowdown(ks, 1);
        status = ks_start(ks, NULL, NULL, &why);
    }
    nb6_field_free(&f);
    return status ? failure(sim, slot, status, &why, err) : NBC_OK;
}
