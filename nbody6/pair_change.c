/* Formation and termination of pairs at the time of the last block (NBODY6: KSREG, KSTERM). */
#include "hermite.h"
#include "sim.h"
#include "start.h"
#include "step.h"

#include <math.h>
#include <string.h>

/* Slow-down makes one orbit do the work of kappa ones as long as that work stays below this perturbation. */
static const double GAMMA_SLOW = 1e-5, KAPPA_MAX = 1000;

/* ---- membership */

static int64_t free_slot(const struct nb6_pairs *p)
{
    for (int64_t slot = 0; slot < p->n_slot; slot++)
        if (p->pair[slot].member[0] < 0) return slot;
    return p->n_slot;
}

/* A body that takes no part: GPUIRR predicts it with the others, and it must stay finite. */
static int put_to_rest(struct nb6_sim *sim, int32_t i, struct nbc_error *err)
{
    static const double zero[3];
    nb6_schedule_remove(sim->schedule, i);
    gpuirr_set_list(sim->irr, (size_t)i, 0, NULL);
    sim->star[i].nnb = 0;
    int status = gpuirr_set_jp(sim->irr, (size_t)i, zero, zero, zero, zero, 0, 0);
    return status ? nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr)) : NBC_OK;
}

static void make_centre(struct nb6_sim *sim, int32_t i, int32_t j, int32_t c, nb6_time t)
{
    const struct nb6_body *a = &sim->body[i], *b = &sim->body[j];
    struct nb6_body *centre = &sim->body[c];
    struct nb6_star *star = &sim->star[c];
    memset(centre, 0, sizeof *centre);
    memset(star, 0, sizeof *star);
    centre->mass = a->mass + b->mass;
    centre->t0 = star->t0_reg = t;
    double wa = a->mass / centre->mass, wb = b->mass / centre->mass;
    for (int k = 0; k < 3; k++) {
        centre->x0[k] = wa * a->x0[k] + wb * b->x0[k];
        centre->v0[k] = wa * a->v0[k] + wb * b->v0[k];
    }
    star->name = sim->book.name_zero + sim->star[i].name;
    star->r_nb = fmax(sim->star[i].r_nb, sim->star[j].r_nb);
}

int nb6_pair_make(struct nb6_sim *sim, int32_t i, int32_t j, nb6_time t, int64_t *made, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    const struct nb6_pair_config *config = &sim->config.pair;
    const struct nb6_body *a = &sim->body[i], *b = &sim->body[j];
    const struct ks_options options = {config->eta_u, config->slow_down ? GAMMA_SLOW : 0, KAPPA_MAX};
    const double mass[2] = {a->mass, b->mass};
    double x[2][3], v[2][3];
    for (int k = 0; k < 3; k++) { /* seen from one of them: differences of differences are exact */
        x[0][k] = a->x0[k] - b->x0[k];
        v[0][k] = a->v0[k] - b->v0[k];
        x[1][k] = v[1][k] = 0;
    }
    int64_t slot = free_slot(p);
    int status = ks_init(&p->ks[slot], &options, mass, (const double(*)[3])x, (const double(*)[3])v,
                         nb6_relative_time(sim, t), err);
    if (status) return status;
    struct ks_elements e;
    ks_elements(&p->ks[slot], &e);
    p->pair[slot] = (struct nb6_pair){.member = {i, j}, .t_formed = nb6_time_to_double(t)};
    p->pair[slot].r_end = fmax(e.r, sim->book.r_min * fmax(1, 0.5 * (mass[0] + mass[1]) / sim->mean_mass));
    make_centre(sim, i, j, (int32_t)(sim->n + slot), t);
    if (slot == p->n_slot) p->n_slot++;
    p->resolved_by[sim->n + slot] = 0;
    p->count++;
    sim->star[i].owner = sim->star[j].owner = (int32_t)slot + 1;
    sim->counters.pairs_formed++;
    *made = slot;
    status = put_to_rest(sim, i, err);
    return status ? status : put_to_rest(sim, j, err);
}

static void release_star(struct nb6_sim *sim, int32_t i, const struct nb6_star *centre, nb6_time t, const double x[3],
                         const double v[3])
{
    struct nb6_body *body = &sim->body[i];
    struct nb6_star *star = &sim->star[i];
    int64_t name = star->name;
    double mass = body->mass;
    memset(body, 0, sizeof *body);
    memset(star, 0, sizeof *star);
    star->name = name;
    star->r_nb = centre->r_nb;
    star->t0_reg = body->t0 = t;
    body->mass = mass;
    memcpy(body->x0, x, sizeof body->x0);
    memcpy(body->v0, v, sizeof body->v0);
}

/* The pair stands at time t, and so does its centre of mass. */
static int unmake(struct nb6_sim *sim, int64_t slot, nb6_time t, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    const struct ks_pair *ks = &p->ks[slot];
    int32_t c = (int32_t)(sim->n + slot);
    double xr[3], vr[3], x[2][3], v[2][3];
    ks_relative(ks, xr, vr);
    ks_components(ks, sim->body[c].x0, sim->body[c].v0, xr, vr, x, v);
    for (int m = 0; m < 2; m++) release_star(sim, p->pair[slot].member[m], &sim->star[c], t, x[m], v[m]);
    int status = nb6_pairs_set_perturbers(p, slot, 0, NULL, err);
    if (!status) status = put_to_rest(sim, c, err);
    p->pair[slot].member[0] = p->pair[slot].member[1] = -1;
    p->count--;
    while (p->n_slot > 0 && p->pair[p->n_slot - 1].member[0] < 0) nbc_free(p->pert[--p->n_slot].body);
    for (int64_t s = p->n_slot; s <= slot; s++) p->pert[s] = (struct nb6_perturbers){0};
    sim->counters.pairs_ended++;
    return status;
}

/* ---- energy of the change */

/* Potential energy of all others with two masses apart, less that with both in their centre of mass. */
static double potential_apart(const struct nb6_sim *sim, int64_t slot, nb6_time t)
{
    const struct nb6_pairs *p = &sim->pairs;
    const struct ks_pair *ks = &p->ks[slot];
    const struct nb6_body *centre = &sim->body[sim->n + slot];
    static const double rest[3];
    double xr[3], vr[3], x[2][3], v[2][3], sum = 0;
    ks_relative(ks, xr, vr);
    ks_components(ks, rest, rest, xr, vr, x, v);
    for (int64_t m = 0; m < p->n_source; m++) {
        int32_t j = p->source[m];
        const struct nb6_body *other = &sim->body[j];
        if (j == sim->n + slot || j == p->pair[slot].member[0] || j == p->pair[slot].member[1]) continue;
        if (nb6_pairs_resolves(p, slot, j)) continue;
        double y[3], w[3], r2 = 0, r2_part[2] = {0, 0};
        nb6_predict(other, nb6_time_to_double(t - other->t0), y, w);
        for (int k = 0; k < 3; k++) {
            y[k] -= centre->x0[k];
            r2 += y[k] * y[k];
            for (int part = 0; part < 2; part++) r2_part[part] += (y[k] - x[part][k]) * (y[k] - x[part][k]);
        }
        sum += other->mass * (ks->m / sqrt(r2) - ks->mass[0] / sqrt(r2_part[0]) - ks->mass[1] / sqrt(r2_part[1]));
    }
    return sum;
}

static int say(struct nb6_sim *sim, int64_t slot, enum nb6_event_kind kind, enum nb6_pair_reason reason,
               double energy_change, struct nbc_error *err)
{
    const struct nb6_pair *pair = &sim->pairs.pair[slot];
    const struct ks_pair *ks = &sim->pairs.ks[slot];
    struct ks_elements e;
    ks_elements(ks, &e);
    sim->book.e_pair_changes += energy_change;
    if (!sim->observer.event) return NBC_OK;
    struct nb6_event event = {.kind = kind,
                              .t = nb6_time_to_double(sim->ti_now),
                              .name = sim->star[sim->n + slot].name,
                              .mass = ks->m,
                              .energy = 0};
    memcpy(event.x, sim->body[sim->n + slot].x0, sizeof event.x);
    memcpy(event.v, sim->body[sim->n + slot].v0, sizeof event.v);
    event.pair = (struct nb6_event_pair){.reason = reason,
                                         .name = {nb6_pairs_name(sim, slot, 0), nb6_pairs_name(sim, slot, 1)},
                                         .mass = {ks->mass[0], ks->mass[1]},
                                         .a = e.a,
                                         .e = e.e,
                                         .period = e.period,
                                         .r = e.r,
                                         .binding = ks->mass[0] * ks->mass[1] / ks->m * ks->h,
                                         .gamma = ks->gamma,
                                         .gamma_max = fmax(ks->gamma, pair->gamma_max),
                                         .t_formed = pair->t_formed,
                                         .energy_change = energy_change,
                                         .ks_steps = (uint64_t)ks->n_step};
    return sim->observer.event(sim->observer.context, sim, &event, err);
}

int nb6_pair_announce(struct nb6_sim *sim, int64_t slot, enum nb6_pair_reason reason, struct nbc_error *err)
{
    return say(sim, slot, NB6_EVENT_PAIR_FORMED, reason, -potential_apart(sim, slot, sim->ti_now), err);
}

int nb6_pair_report_end(struct nb6_sim *sim, int64_t slot, enum nb6_pair_reason reason, struct nbc_error *err)
{
    return say(sim, slot, NB6_EVENT_PAIR_ENDED, reason, 0, err);
}

int nb6_pairs_announce_first(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t slot = 0; slot < sim->pairs.n_slot && !status; slot++)
        if (sim->pairs.pair[slot].primordial)
            status = say(sim, slot, NB6_EVENT_PAIR_FORMED, NB6_PAIR_PRIMORDIAL, 0, err);
    return status;
}

/* ---- both together */

/* Pairs that have a body in their list which is about to vanish make their last step with it. */
static int finish_others(struct nb6_sim *sim, int32_t vanishing, int8_t *touched, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    int status = NBC_OK;
    if (p->resolved_by[vanishing] == 0) return NBC_OK;
    for (int64_t slot = 0; slot < p->n_slot && !status; slot++) {
        if (touched[slot] || p->pert[slot].n == 0 || !nb6_pairs_resolves(p, slot, vanishing)) continue;
        touched[slot] = 1;
        status = nb6_pair_finish(sim, slot, sim->ti_now, err);
    }
    return status;
}

/* What a change works on. */
struct change {
    int8_t *touched; /* [capacity] pairs whose lists change */
    int32_t *fresh;  /* bodies that are new */
    int64_t n_fresh;
    int64_t n_form;
    int32_t *formed; /* slots */
};

static int end_one(struct nb6_sim *sim, int64_t slot, struct change *c, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    int32_t centre = (int32_t)(sim->n + slot), i = p->pair[slot].member[0], j = p->pair[slot].member[1];
    const int32_t remove[2] = {centre, centre}, add[2] = {i, j};
    int status = finish_others(sim, centre, c->touched, err);
    if (!status) status = nb6_pair_finish(sim, slot, sim->ti_now, err);
    ks_set_slowdown(&p->ks[slot], 1); /* the stars go on from the orbit as it should be */
    if (!status)
        status = say(sim, slot, NB6_EVENT_PAIR_ENDED, (enum nb6_pair_reason)(p->pair[slot].ending - 1),
                     potential_apart(sim, slot, sim->ti_now), err);
    if (!status) status = nb6_lists_split(sim, centre, i, j, err);
    if (!status) status = unmake(sim, slot, sim->ti_now, err);
    if (!status) status = nb6_perturbers_replace(sim, remove, add, err);
    if (status) return status;
    sim->star[i].owner = sim->star[j].owner = 0;
    c->touched[slot] = 0;
    c->fresh[c->n_fresh++] = i;
    c->fresh[c->n_fresh++] = j;
    nb6_pairs_set_sources(sim);
    return NBC_OK;
}

static int form_one(struct nb6_sim *sim, const int32_t star[2], struct change *c, struct nbc_error *err)
{
    int64_t slot;
    int status = finish_others(sim, star[0], c->touched, err);
    if (!status) status = finish_others(sim, star[1], c->touched, err);
    if (status) return status;
    /* lists first: they need the stars' polynomials */
    const int32_t centre = (int32_t)(sim->n + free_slot(&sim->pairs)), add[2] = {-1, centre};
    status = nb6_lists_join(sim, star[0], star[1], centre, err);
    if (!status) status = nb6_pair_make(sim, star[0], star[1], sim->ti_now, &slot, err);
    if (!status) status = nb6_perturbers_replace(sim, star, add, err);
    if (status) return status;
    c->fresh[c->n_fresh++] = centre;
    c->formed[c->n_form++] = (int32_t)slot;
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

static int start_all(struct nb6_sim *sim, const struct change *c, struct nbc_error *err)
{
    sort(c->fresh, c->n_fresh);
    int status = nb6_start_bodies(sim, c->n_fresh, c->fresh, err);
    for (int64_t k = 0; k < c->n_form && !status; k++) status = nb6_pair_start(sim, c->formed[k], err);
    for (int64_t slot = 0; slot < sim->pairs.n_slot && !status; slot++)
        if (c->touched[slot]) status = nb6_pair_start(sim, slot, err);
    nb6_pairs_set_groups(sim);
    for (int64_t k = 0; k < c->n_form && !status; k++)
        status = nb6_pair_announce(sim, c->formed[k], NB6_PAIR_ENCOUNTER, err);
    return status;
}

int nb6_pairs_change(struct nb6_sim *sim, int64_t n_form, const int32_t (*form)[2], int64_t n_end, const int32_t *end,
                     struct nbc_error *err)
{
    struct change c = {.touched = nbc_alloc((size_t)sim->pairs.capacity, 1)};
    c.fresh = nbc_alloc((size_t)(n_form + 2 * n_end), sizeof *c.fresh);
    c.formed = nbc_alloc((size_t)n_form, sizeof *c.formed);
    int status = c.touched && c.fresh && c.formed ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for a new pair");
    for (int64_t k = 0; k < n_end && !status; k++) status = end_one(sim, end[k], &c, err);
    for (int64_t k = 0; k < n_form && !status; k++) status = form_one(sim, form[k], &c, err);
    if (!status) status = start_all(sim, &c, err);
    nbc_free(c.touched);
    nbc_free(c.fresh);
    nbc_free(c.formed);
    return status;
}
