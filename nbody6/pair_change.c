/* What changes at the end of a block (NBODY6: KSREG, KSTERM), and the start of all that is new. */
#include "change.h"
#include "start.h"

#include <string.h>

int nb6_change_finish_others(struct nb6_sim *sim, int32_t vanishing, struct nb6_change *c, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    int status = NBC_OK;
    if (p->resolved_by[vanishing] == 0) return NBC_OK;
    for (int64_t slot = 0; slot < p->n_slot && !status; slot++) {
        if (c->touched[slot] || p->pert[slot].n == 0 || !nb6_pairs_resolves(p, slot, vanishing)) continue;
        c->touched[slot] = 1;
        status = nb6_pair_finish(sim, slot, sim->ti_now, err);
    }
    return status;
}

void nb6_change_add(struct nb6_change *c, int32_t fresh)
{
    for (int64_t k = 0; k < c->n_fresh; k++)
        if (c->fresh[k] == fresh) return;
    c->fresh[c->n_fresh++] = fresh;
}

struct nb6_announcement *nb6_change_say(struct nb6_change *c, enum nb6_event_kind kind)
{
    struct nb6_announcement *say = &c->say[c->n_say++];
    *say = (struct nb6_announcement){.event.kind = kind, .after = {-1, -1}};
    return say;
}

static int end_one(struct nb6_sim *sim, int64_t slot, struct nb6_change *c, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    const struct ks_pair *ks = &p->ks[slot];
    const int32_t centre = (int32_t)(sim->n + slot), star[2] = {p->pair[slot].member[0], p->pair[slot].member[1]};
    const int32_t remove[2] = {centre, centre};
    double xr[3], vr[3], x[2][3], v[2][3], r_nb = sim->star[centre].r_nb;
    int status = nb6_change_finish_others(sim, centre, c, err);
    if (!status) status = nb6_pair_finish(sim, slot, sim->ti_now, err);
    if (status) return status;
    struct nb6_announcement *say = nb6_change_say(c, NB6_EVENT_PAIR_ENDED);
    nb6_describe_pair(sim, slot, (enum nb6_pair_reason)(p->pair[slot].ending - 1), &say->event);
    say->before = nb6_potential_apart(sim, slot, sim->ti_now, -1);
    ks_relative(ks, xr, vr);
    ks_components(ks, sim->body[centre].x0, sim->body[centre].v0, xr, vr, x, v);
    status = nb6_lists_split(sim, centre, star, err);
    if (!status) status = nb6_slot_clear(sim, slot, err);
    if (!status) status = nb6_perturbers_replace(sim, remove, star, err);
    for (int m = 0; m < 2; m++) {
        nb6_body_place(sim, star[m], sim->body[star[m]].mass, x[m], v[m], r_nb, sim->ti_now);
        nb6_change_add(c, star[m]);
    }
    sim->counters.pairs_ended++;
    c->touched[slot] = 0;
    nb6_pairs_set_sources(sim);
    return status;
}

static int form_one(struct nb6_sim *sim, const int32_t star[2], struct nb6_change *c, struct nbc_error *err)
{
    int64_t slot;
    int status = nb6_change_finish_others(sim, star[0], c, err);
    if (!status) status = nb6_change_finish_others(sim, star[1], c, err);
    if (status) return status;
    /* lists first: they need the stars' polynomials */
    const int32_t centre = (int32_t)(sim->n + nb6_slot_free(&sim->pairs)), add[2] = {-1, centre};
    status = nb6_lists_join(sim, star[0], star[1], centre, err);
    if (!status) status = nb6_pair_make(sim, star[0], star[1], sim->ti_now, &slot, err);
    if (!status) status = nb6_perturbers_replace(sim, star, add, err);
    if (status) return status;
    nb6_change_add(c, centre);
    c->formed[c->n_formed++] = (int32_t)slot;
    struct nb6_announcement *say = nb6_change_say(c, NB6_EVENT_PAIR_FORMED);
    say->event.pair.reason = NB6_PAIR_ENCOUNTER;
    say->after[0] = (int32_t)slot;
    say->described = 1;
    nb6_pairs_set_sources(sim);
    return NBC_OK;
}

static void sort(int32_t *list, int64_t n)
{
    for (int64_t k = 1; k < n; k++) {
        int32_t value = list[k];
        int64_t m = k;
        for (; m > 0 && list[m - 1] > value; m--) list[m] = list[m - 1];
        list[m] = value;
    }
}

/* A body that came with one change may have gone with the next. */
static void drop_gone(const struct nb6_sim *sim, struct nb6_change *c)
{
    int64_t n = 0;
    for (int64_t k = 0; k < c->n_fresh; k++)
        if (c->fresh[k] < nb6_bodies(sim) && nb6_takes_part(sim, c->fresh[k])) c->fresh[n++] = c->fresh[k];
    c->n_fresh = n;
}

static int tell(struct nb6_sim *sim, struct nb6_announcement *say, struct nbc_error *err)
{
    double energy = say->before;
    for (int k = 0; k < 2; k++)
        if (say->after[k] >= 0) energy -= nb6_potential_apart(sim, say->after[k], sim->ti_now, -1);
    if (say->described && sim->pairs.pair[say->after[0]].chain)
        nb6_describe_chain(sim, say->after[0], &say->event);
    else if (say->described)
        nb6_describe_pair(sim, say->after[0], say->event.pair.reason, &say->event);
    return nb6_change_tell(sim, &say->event, energy, err);
}

static int start_all(struct nb6_sim *sim, struct nb6_change *c, struct nbc_error *err)
{
    drop_gone(sim, c);
    sort(c->fresh, c->n_fresh);
    int status = nb6_start_bodies(sim, c->n_fresh, c->fresh, err);
    for (int64_t k = 0; k < c->n_formed && !status; k++) status = nb6_pair_start(sim, c->formed[k], err);
    for (int64_t slot = 0; slot < sim->pairs.n_slot && !status; slot++)
        if (c->touched[slot] && sim->pairs.pair[slot].member[0] >= 0) status = nb6_pair_start(sim, slot, err);
    nb6_pairs_set_groups(sim);
    for (int64_t k = 0; k < c->n_say && !status; k++) status = tell(sim, &c->say[k], err);
    return status;
}

static int apply_chain(struct nb6_sim *sim, const struct nb6_chain_change *change, struct nb6_change *c,
                       struct nbc_error *err)
{
    return change->kind == NB6_CHAIN_JOIN ? nb6_chain_join(sim, change->i, change->j, c, err)
                                          : nb6_chain_split(sim, change->i - sim->n, &change->group, c, err);
}

int nb6_pairs_change(struct nb6_sim *sim, const struct nb6_decisions *d, struct nbc_error *err)
{
    const size_t most = (size_t)(d->n_form + d->n_end + d->n_chain);
    struct nb6_change c = {.touched = nbc_alloc((size_t)sim->pairs.capacity, 1)};
    c.fresh = nbc_alloc(2 * most, sizeof *c.fresh);
    c.formed = nbc_alloc(2 * most, sizeof *c.formed);
    c.say = nbc_alloc(3 * most, sizeof *c.say);
    int status =
        c.touched && c.fresh && c.formed && c.say ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for a new pair");
    for (int64_t k = 0; k < d->n_end && !status; k++) status = end_one(sim, d->end[k], &c, err);
    for (int64_t k = 0; k < d->n_chain && !status; k++) status = apply_chain(sim, &d->chain[k], &c, err);
    for (int64_t k = 0; k < d->n_form && !status; k++) status = form_one(sim, d->form[k], &c, err);
    if (!status) status = start_all(sim, &c, err);
    nbc_free(c.touched);
    nbc_free(c.fresh);
    nbc_free(c.formed);
    nbc_free(c.say);
    return status;
}
