#include "diag.h"

#include <math.h>
#include <string.h>

void nb6_frame_free(struct nb6_frame *frame)
{
    nbc_free(frame->name);
    nbc_free(frame->mass);
    nbc_free(frame->x);
    nbc_free(frame->v);
    nbc_free(frame->acc);
    nbc_free(frame->jerk);
    nbc_free(frame->pot);
    nbc_free(frame->r_nb);
    nbc_free(frame->dt_irr);
    nbc_free(frame->dt_reg);
    nbc_free(frame->nnb);
    nbc_free(frame->pair);
    memset(frame, 0, sizeof *frame);
}

static int allocate(struct nb6_frame *frame, int with_potential)
{
    size_t n = (size_t)frame->n;
    frame->name = nbc_alloc(n, sizeof *frame->name);
    frame->mass = nbc_alloc(n, sizeof *frame->mass);
    frame->x = nbc_alloc(n, sizeof *frame->x);
    frame->v = nbc_alloc(n, sizeof *frame->v);
    frame->acc = nbc_alloc(n, sizeof *frame->acc);
    frame->jerk = nbc_alloc(n, sizeof *frame->jerk);
    frame->r_nb = nbc_alloc(n, sizeof *frame->r_nb);
    frame->dt_irr = nbc_alloc(n, sizeof *frame->dt_irr);
    frame->dt_reg = nbc_alloc(n, sizeof *frame->dt_reg);
    frame->nnb = nbc_alloc(n, sizeof *frame->nnb);
    if (with_potential) frame->pot = nbc_alloc(n, sizeof *frame->pot);
    return frame->name && frame->mass && frame->x && frame->v && frame->acc && frame->jerk && frame->r_nb &&
           frame->dt_irr && frame->dt_reg && frame->nnb && (frame->pot || !with_potential);
}

/* The body's own third-order polynomial, the next two terms of the irregular force from its last step, and those of the
 * regular force, whose corrector comes only at the end of the regular step, from its beginning. */
static void predict_body(const struct nb6_body *body, const struct nb6_star *star, nb6_time t, struct nb6_frame *frame,
                         int64_t i)
{
    double s = nb6_time_to_double(t - body->t0), r = nb6_time_to_double(t - star->t0_reg);
    for (int k = 0; k < 3; k++) {
        double si = star->snap_irr[k], ci = star->crackle_irr[k], sr = star->snap_reg[k], cr = star->crackle_reg[k];
        frame->x[i][k] =
            body->x0[k] +
            s * (body->v0[k] + s * (body->acc[k] / 2 + s * (body->jerk[k] / 6 + s * (si / 24 + s * ci / 120)))) +
            r * r * r * r * (sr / 24 + r * cr / 120);
        frame->v[i][k] = body->v0[k] + s * (body->acc[k] + s * (body->jerk[k] / 2 + s * (si / 6 + s * ci / 24))) +
                         r * r * r * (sr / 6 + r * cr / 24);
        frame->acc[i][k] = star->acc_irr[k] + s * (star->jerk_irr[k] + s * (si / 2 + s * ci / 6)) + star->acc_reg[k] +
                           r * (star->jerk_reg[k] + r * (sr / 2 + r * cr / 6));
        frame->jerk[i][k] = star->jerk_irr[k] + s * (si + s * ci / 2) + star->jerk_reg[k] + r * (sr + r * cr / 2);
    }
    frame->name[i] = star->name;
    frame->mass[i] = body->mass;
    frame->r_nb[i] = star->r_nb;
    frame->nnb[i] = star->nnb;
    frame->dt_irr[i] = nb6_step_length(star->level_irr);
    frame->dt_reg[i] = nb6_step_length(star->level_reg);
}

static int potential(struct nb6_sim *sim, nb6_time t, struct nb6_frame *frame, struct nbc_error *err)
{
    struct nb6_potential_cache *cache = &sim->potential;
    size_t n = (size_t)frame->n;
    if (cache->n != frame->n || cache->t != t || cache->blocks != sim->counters.blocks) {
        cache->n = 0;
        nbc_free(cache->pot);
        cache->pot = nbc_alloc(n, sizeof *cache->pot);
        if (!cache->pot) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the potential");
        int status = gpunb_potential(sim->reg, 0, n, n, frame->mass, (const double(*)[3])frame->x, cache->pot);
        if (status) return nbc_fail(err, status, "%s", gpunb_last_error(sim->reg));
        *cache = (struct nb6_potential_cache){t, sim->counters.blocks, frame->n, cache->pot};
    }
    memcpy(frame->pot, cache->pot, n * sizeof *frame->pot);
    return NBC_OK;
}

/* Pairs at exactly the time of the frame: copies go there, the run's own stay where they are. */
static int pairs_now(const struct nb6_sim *sim, nb6_time t, struct ks_pair **ks, struct nbc_error *err)
{
    int64_t n_due;
    size_t n = (size_t)sim->pairs.n_slot;
    *ks = nbc_alloc(n, sizeof **ks);
    if (!*ks) return nbc_fail(err, NBC_NO_MEMORY, "no memory for %zu pairs", n);
    memcpy(*ks, sim->pairs.ks, n * sizeof **ks);
    return nb6_pairs_advance(sim, *ks, t, 1, &n_due, err);
}

static int describe_pairs(const struct nb6_sim *sim, const struct ks_pair *ks, struct nb6_frame *bodies,
                          struct nbc_error *err)
{
    const struct nb6_pairs *p = &sim->pairs;
    bodies->pair = nbc_alloc((size_t)p->count, sizeof *bodies->pair);
    if (!bodies->pair) return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld pairs", (long long)p->count);
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        if (p->pair[slot].member[0] < 0) continue;
        struct nb6_frame_pair *pair = &bodies->pair[bodies->n_pair++];
        int32_t place = p->place[sim->n + slot];
        struct ks_elements e;
        ks_elements(&ks[slot], &e);
        *pair = (struct nb6_frame_pair){.star = {nb6_pairs_name(sim, slot, 0), nb6_pairs_name(sim, slot, 1)},
                                        .mass = {ks[slot].mass[0], ks[slot].mass[1]},
                                        .a = e.a,
                                        .e = e.e,
                                        .period = e.period,
                                        .binding = ks[slot].mass[0] * ks[slot].mass[1] / ks[slot].m * ks[slot].h,
                                        .gamma = p->pert[slot].n ? ks[slot].gamma : 0,
                                        .kappa = ks[slot].kappa,
                                        .t_formed = p->pair[slot].t_formed,
                                        .perturbers = p->pert[slot].n,
                                        .primordial = p->pair[slot].primordial};
        memcpy(pair->x, bodies->x[place], sizeof pair->x);
        memcpy(pair->v, bodies->v[place], sizeof pair->v);
        ks_relative(&ks[slot], pair->dx, pair->dv);
    }
    bodies->pair_binding = nb6_pairs_binding(sim, ks);
    bodies->pair_potential = nb6_pairs_potential(sim, (const double(*)[3])bodies->x, ks);
    return NBC_OK;
}

static int make_bodies(struct nb6_sim *sim, nb6_time t, int with_potential, struct nb6_frame *made,
                       struct nbc_error *err)
{
    const struct nb6_pairs *p = &sim->pairs;
    int status = NBC_OK;
    struct ks_pair *ks = NULL;
    *made = (struct nb6_frame){.t = nb6_time_to_double(t), .n = p->n_source};
    if (!allocate(made, with_potential))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for a snapshot of %lld stars", (long long)sim->n);
#pragma omp parallel for schedule(static) if (p->n_source > 1000)
    for (int64_t m = 0; m < p->n_source; m++)
        predict_body(&sim->body[p->source[m]], &sim->star[p->source[m]], t, made, m);
    if (p->count > 0) status = pairs_now(sim, t, &ks, err);
    if (!status && p->count > 0) status = describe_pairs(sim, ks, made, err);
    if (!status && with_potential) status = potential(sim, t, made, err);
    nbc_free(ks);
    return status;
}

static void copy_star(const struct nb6_frame *from, int64_t m, struct nb6_frame *to, int64_t i)
{
    memcpy(to->x[i], from->x[m], sizeof to->x[i]);
    memcpy(to->v[i], from->v[m], sizeof to->v[i]);
    memcpy(to->acc[i], from->acc[m], sizeof to->acc[i]);
    memcpy(to->jerk[i], from->jerk[m], sizeof to->jerk[i]);
    to->name[i] = from->name[m];
    to->mass[i] = from->mass[m];
    to->r_nb[i] = from->r_nb[m];
    to->nnb[i] = from->nnb[m];
    to->dt_irr[i] = from->dt_irr[m];
    to->dt_reg[i] = from->dt_reg[m];
    if (to->pot) to->pot[i] = from->pot[m];
}

/* One member of a pair: the centre of mass, and the companion's attraction. */
static void place_member(const struct nb6_frame_pair *pair, int member, struct nb6_frame *to, int64_t i)
{
    double sign = member ? -1 : 1, m = pair->mass[1 - member], share = m / (pair->mass[0] + pair->mass[1]);
    double r2 = 0, xv = 0;
    for (int k = 0; k < 3; k++) {
        r2 += pair->dx[k] * pair->dx[k];
        xv += pair->dx[k] * pair->dv[k];
    }
    double w = -sign * m / (r2 * sqrt(r2)), alpha = 3 * xv / r2;
    for (int k = 0; k < 3; k++) {
        to->x[i][k] += sign * share * pair->dx[k];
        to->v[i][k] += sign * share * pair->dv[k];
        to->acc[i][k] += w * pair->dx[k];
        to->jerk[i][k] += w * (pair->dv[k] - alpha * pair->dx[k]);
    }
    to->name[i] = pair->star[member];
    to->mass[i] = pair->mass[member];
    if (to->pot) to->pot[i] -= m / sqrt(r2);
}

static double distance(const double x[3], const double y[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) r2 += (y[k] - x[k]) * (y[k] - x[k]);
    return sqrt(r2);
}

/* Stars of a body. */
static int stars_of(const struct nb6_sim *sim, int32_t body, int32_t star[2])
{
    if (body < sim->n) {
        star[0] = body;
        return 1;
    }
    memcpy(star, sim->pairs.pair[body - sim->n].member, 2 * sizeof *star);
    return 2;
}

/* The potential of a pair and a body that acts on it is that of their stars; the points of mass are taken off. */
static void resolve_potential(const struct nb6_sim *sim, int32_t centre, int32_t body, const struct nb6_frame *bodies,
                              struct nb6_frame *made)
{
    const struct nb6_pairs *p = &sim->pairs;
    int32_t own[2], other[2];
    int n_own = stars_of(sim, centre, own), n_other = stars_of(sim, body, other);
    double apart = 1 / distance(bodies->x[p->place[centre]], bodies->x[p->place[body]]);
    for (int a = 0; a < n_own; a++)
        for (int b = 0; b < n_other; b++) {
            double change = apart - 1 / distance(made->x[own[a]], made->x[other[b]]);
            made->pot[own[a]] += made->mass[other[b]] * change;
            made->pot[other[b]] += made->mass[own[a]] * change;
        }
}

static void resolve_potentials(const struct nb6_sim *sim, const struct nb6_frame *bodies, struct nb6_frame *made)
{
    const struct nb6_pairs *p = &sim->pairs;
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        int32_t centre = (int32_t)(sim->n + slot);
        for (int32_t k = 0; k < p->pert[slot].n; k++) {
            int32_t body = p->pert[slot].body[k];
            int64_t other = body - sim->n; /* two pairs that resolve each other count once */
            if (other >= 0 && other < slot && nb6_pairs_resolves(p, other, centre)) continue;
            resolve_potential(sim, centre, body, bodies, made);
        }
    }
}

/* Every star in its place. */
static int expand(const struct nb6_sim *sim, struct nb6_frame *bodies, struct nb6_frame *made, struct nbc_error *err)
{
    const struct nb6_pairs *p = &sim->pairs;
    *made = (struct nb6_frame){.t = bodies->t, .n = sim->n};
    if (!allocate(made, bodies->pot != NULL))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for a snapshot of %lld stars", (long long)sim->n);
    int64_t pair = 0;
    for (int64_t m = 0; m < p->n_source; m++) {
        int32_t i = p->source[m];
        if (i < sim->n) {
            copy_star(bodies, m, made, i);
            continue;
        }
        for (int member = 0; member < 2; member++) {
            int32_t star = p->pair[i - sim->n].member[member];
            copy_star(bodies, m, made, star);
            place_member(&bodies->pair[pair], member, made, star);
        }
        pair++;
    }
    if (made->pot) resolve_potentials(sim, bodies, made);
    made->pair_binding = bodies->pair_binding;
    made->pair_potential = bodies->pair_potential;
    made->n_pair = bodies->n_pair;
    made->pair = bodies->pair;
    bodies->pair = NULL;
    return NBC_OK;
}

int nb6_frame_make(struct nb6_sim *sim, nb6_time t, int options, struct nb6_frame *frame, struct nbc_error *err)
{
    struct nb6_frame bodies = {0}, stars = {0};
    int status = make_bodies(sim, t, options & NB6_FRAME_POTENTIAL, &bodies, err);
    if (!status && ((options & NB6_FRAME_BODIES) || sim->pairs.count == 0)) {
        *frame = bodies;
        return NBC_OK;
    }
    if (!status) status = expand(sim, &bodies, &stars, err);
    nb6_frame_free(&bodies);
    if (status)
        nb6_frame_free(&stars);
    else
        *frame = stars;
    return status;
}
