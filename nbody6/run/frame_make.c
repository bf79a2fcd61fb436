#include "nbody6/run/frame_make.h"

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/correct.h"
#include "nbody6/fewbody/pairs/galaxy.h"
#include "nbody6/fewbody/pairs/motions.h"
#include "nbody6/run/tree_potential.h"
#include "nbody6/state/body.h"
#include "nbody6/state/galaxy_work.h"
#include "nbody6/state/members.h"
#include "nbody6/state/predict_fully.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

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

/* With all known derivatives, as nb6_predict_fully, and the forces by them. */
static void predict_body(const struct nb6_body *body, const struct nb6_star *star, nb6_time t, struct nb6_frame *frame,
                         int64_t i)
{
    double s = nb6_time_to_double(t - body->t0), r = nb6_time_to_double(t - star->t0_reg);
    nb6_predict_fully(body, star, t, frame->x[i], frame->v[i]);
    for (int k = 0; k < 3; k++) {
        double si = star->snap_irr[k], ci = star->crackle_irr[k], sr = star->snap_reg[k], cr = star->crackle_reg[k];
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

static void remember(struct nb6_sim *sim, nb6_time t, int64_t n)
{
    sim->potential.t = t;
    sim->potential.blocks = sim->run.counters.blocks;
    sim->potential.n = n;
}

/* Whether the potential that was begun with is that of a frame. */
static int is_started_for(const struct nb6_potential_cache *cache, const struct nb6_frame *frame)
{
    if (frame->n != cache->started) return 0;
    int differ = 0;
    for (int64_t i = 0; i < frame->n; i++) {
        differ |= cache->mass[i] != frame->mass[i];
        for (int k = 0; k < 3; k++) differ |= cache->x[i][k] != frame->x[i][k];
    }
    return !differ;
}

/* That of the stars at the start, which was begun with, if it is that of the frame: members of pairs have others. */
static int take_started(struct nb6_sim *sim, nb6_time t, const struct nb6_frame *frame, struct nbc_error *err)
{
    if (!sim->potential.started) return NBC_OK;
    const int status = gpunb_potential_wait(sim->reg), is_that = is_started_for(&sim->potential, frame);
    nb6_potential_give_up(sim);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(sim->reg));
    if (is_that) remember(sim, t, frame->n);
    if (is_that) sim->potential.error = 0;
    return NBC_OK;
}

static int potential(struct nb6_sim *sim, nb6_time t, struct nb6_frame *frame, struct nbc_error *err)
{
    struct nb6_potential_cache *cache = &sim->potential;
    size_t n = (size_t)frame->n;
    int status = take_started(sim, t, frame, err);
    if (status) return status;
    if (cache->n != frame->n || cache->t != t || cache->blocks != sim->run.counters.blocks) {
        cache->n = 0;
        nbc_free(cache->pot);
        cache->pot = nbc_alloc(n, sizeof *cache->pot);
        if (!cache->pot) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the potential");
        status = nb6_potential_make(sim->reg, nb6_potential_wants_tree(&sim->run.config, frame->n), frame->n,
                                    frame->mass, (const double(*)[3])frame->x, cache->pot, &cache->error, err);
        if (status) return status;
        remember(sim, t, frame->n);
    }
    memcpy(frame->pot, cache->pot, n * sizeof *frame->pot);
    return NBC_OK;
}

static void describe_pair(const struct nb6_sim *sim, const struct ks_pair *ks, nb6_slot slot, struct nb6_frame *bodies)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    struct nb6_frame_pair *pair = &bodies->pair[bodies->n_pair++];
    struct ks_elements e;
    ks_elements(ks, &e);
    *pair = (struct nb6_frame_pair){.star = {nb6_subsystems_name(sim, slot, 0), nb6_subsystems_name(sim, slot, 1)},
                                    .mass = {ks->mass[0], ks->mass[1]},
                                    .a = e.a,
                                    .e = e.e,
                                    .period = e.period,
                                    .binding = ks->mass[0] * ks->mass[1] / ks->m * ks_energy(ks),
                                    .gamma = nb6_subsystems_is_perturbed(p, slot) ? ks->gamma : 0,
                                    .kappa = ks->kappa,
                                    .t_formed = p->system[slot].t_formed,
                                    .perturbers = p->pert[slot].n,
                                    .primordial = p->system[slot].primordial,
                                    .slot = (nb6_stored_slot)slot,
                                    .place = nb6_source_place(p, nb6_centre(sim, slot))};
    ks_relative(ks, pair->dx, pair->dv);
    if (pair->place < 0) return; /* frozen: the outer pair has its position */
    memcpy(pair->x, bodies->x[pair->place], sizeof pair->x);
    memcpy(pair->v, bodies->v[pair->place], sizeof pair->v);
}

/* A member of a pair, off the centre of mass. */
static void member_offset(const struct nb6_frame_pair *pair, int m, double x[3], double v[3])
{
    double share = (m ? -1 : 1) * pair->mass[1 - m] / (pair->mass[0] + pair->mass[1]);
    for (int k = 0; k < 3; k++) {
        x[k] = share * pair->dx[k];
        v[k] = share * pair->dv[k];
    }
}

static struct nb6_frame_pair *pair_of_slot(const struct nb6_frame *bodies, nb6_slot slot)
{
    int64_t at = 0, end = bodies->n_pair; /* in the order of slots */
    while (end - at > 1) {
        const int64_t middle = at + (end - at) / 2;
        if (bodies->pair[middle].slot <= slot)
            at = middle;
        else
            end = middle;
    }
    return &bodies->pair[at];
}

static void place_frozen(const struct nb6_sim *sim, struct nb6_frame *bodies)
{
    for (int64_t k = 0; k < bodies->n_pair; k++) {
        const struct nb6_frame_pair *outer = &bodies->pair[k];
        for (int m = 0; m < 2; m++) {
            nb6_slot slot = nb6_inner_slot(sim, outer->slot, m);
            if (slot < 0) continue;
            struct nb6_frame_pair *inner = pair_of_slot(bodies, slot);
            double x[3], v[3];
            member_offset(outer, m, x, v);
            inner->frozen = 1;
            inner->place = outer->place;
            for (int d = 0; d < 3; d++) {
                inner->x[d] = outer->x[d] + x[d];
                inner->v[d] = outer->v[d] + v[d];
            }
        }
    }
}

static void describe_chain(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot,
                           struct nb6_frame *bodies)
{
    const struct nb6_chain *chain = &motion->chain[sim->subsystems.system[slot].chain - 1];
    struct nb6_frame_chain *to = &bodies->chain[bodies->n_chain++];
    to->n = chain->state.n;
    to->place = nb6_source_place(&sim->subsystems, nb6_centre(sim, slot));
    to->binding = nb6_slot_energy(&sim->subsystems, motion, slot);
    memcpy(to->star, chain->star, sizeof to->star);
    memcpy(to->mass, chain->state.mass, sizeof to->mass);
    memcpy(to->dx, chain->x, sizeof to->dx);
    memcpy(to->dv, chain->v, sizeof to->dv);
}

static int describe_pairs(const struct nb6_sim *sim, struct nb6_frame *bodies, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_motion *motion = &bodies->motion;
    bodies->pair = nbc_alloc((size_t)p->count, sizeof *bodies->pair);
    bodies->chain = nbc_alloc((size_t)p->n_chain, sizeof *bodies->chain);
    if (!bodies->pair || !bodies->chain)
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld pairs", (long long)p->count);
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) {
        if (!nb6_slot_is_used(p, slot)) continue;
        if (nb6_kind_of(p, slot)->is_pair)
            describe_pair(sim, &motion->ks[slot], slot, bodies);
        else
            describe_chain(sim, motion, slot, bodies);
    }
    place_frozen(sim, bodies);
    bodies->pair_binding = nb6_subsystems_binding(sim, motion);
    bodies->pair_potential = nb6_subsystems_potential(sim, (const double(*)[3])bodies->x, motion, NULL);
    bodies->pair_tidal = nb6_subsystems_tidal(sim, motion, NULL);
    return NBC_OK;
}

static int make_bodies(struct nb6_sim *sim, nb6_time t, int with_potential, struct nb6_frame *made,
                       struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int status = NBC_OK, paused;
    *made = (struct nb6_frame){.t = nb6_time_to_double(t), .n = p->n_source};
    if (!allocate(made, with_potential))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for a snapshot of %lld stars", (long long)sim->n);
#pragma omp parallel for schedule(static) if (p->n_source > 1000)
    for (int64_t m = 0; m < p->n_source; m++)
        predict_body(nb6_get_body(sim, p->source[m]), nb6_get_star(sim, p->source[m]), t, made, m);
    for (int64_t m = 0; m < p->n_source && sim->run.external.active; m++)
        made->galaxy_work += nb6_galaxy_work(sim, p->source[m], made->t, made->x[m], made->v[m]);
    if (p->count > 0) status = nb6_motions_at(sim, t, 0, &paused, err);
    made->motion = sim->motions_now.motion;
    for (nb6_slot slot = 0; slot < p->n_slot && !status; slot++)
        if (nb6_slot_is_used(p, slot)) made->galaxy_work += nb6_slot_galaxy_work(p, &made->motion, slot);
    if (!status && p->count > 0) status = describe_pairs(sim, made, err);
    if (!status && with_potential) status = potential(sim, t, made, err);
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
    if (to->pot) to->pot[i] = from->pot ? from->pot[m] : 0;
}

static void add_star(const struct nb6_sim *sim, nb6_index star, const double x[3], const double v[3],
                     struct nb6_frame_inside *in)
{
    in->star[in->n] = star;
    in->mass[in->n] = nb6_get_body(sim, star)->mass;
    memcpy(in->x[in->n], x, sizeof in->x[in->n]);
    memcpy(in->v[in->n], v, sizeof in->v[in->n]);
    in->n++;
}

static void add_members(const struct nb6_sim *sim, const struct nb6_frame *bodies, nb6_slot slot, const double x0[3],
                        const double v0[3], struct nb6_frame_inside *in)
{
    const struct nb6_frame_pair *pair = pair_of_slot(bodies, slot);
    for (int m = 0; m < 2; m++) {
        double x[3], v[3];
        member_offset(pair, m, x, v);
        for (int k = 0; k < 3; k++) {
            x[k] += x0[k];
            v[k] += v0[k];
        }
        nb6_slot inner = nb6_inner_slot(sim, slot, m);
        if (inner >= 0)
            add_members(sim, bodies, inner, x, v, in);
        else
            add_star(sim, sim->subsystems.system[slot].member[m], x, v, in);
    }
}

void nb6_frame_look_inside(const struct nb6_sim *sim, const struct nb6_frame *bodies, int64_t place,
                           struct nb6_frame_inside *in)
{
    static const double nowhere[3];
    nb6_slot slot = nb6_slot_of(sim, sim->subsystems.source[place]);
    in->n = 0;
    if (nb6_kind_of(&sim->subsystems, slot)->is_pair) {
        add_members(sim, bodies, slot, nowhere, nowhere, in);
        return;
    }
    const struct nb6_frame_chain *chain = bodies->chain;
    while (chain->place != place) chain++;
    for (int m = 0; m < chain->n; m++) add_star(sim, chain->star[m], chain->dx[m], chain->dv[m], in);
}

/* One member; its place holds the values of the centre of mass already. Add its own position, and the forces of the
 * other members. */
static void place_member(const struct nb6_sim *sim, const struct nb6_frame_inside *in, int m, struct nb6_frame *to)
{
    const nb6_index i = in->star[m];
    to->name[i] = nb6_get_star(sim, i)->name;
    to->mass[i] = in->mass[m];
    for (int k = 0; k < 3; k++) {
        to->x[i][k] += in->x[m][k];
        to->v[i][k] += in->v[m][k];
    }
    for (int o = 0; o < in->n; o++) {
        double x[3], v[3], r2 = 0, xv = 0;
        if (o == m) continue;
        for (int k = 0; k < 3; k++) {
            x[k] = in->x[o][k] - in->x[m][k];
            v[k] = in->v[o][k] - in->v[m][k];
            r2 += x[k] * x[k];
            xv += x[k] * v[k];
        }
        double w = in->mass[o] / (r2 * sqrt(r2)), alpha = 3 * xv / r2;
        for (int k = 0; k < 3; k++) {
            to->acc[i][k] += w * x[k];
            to->jerk[i][k] += w * (v[k] - alpha * x[k]);
        }
        if (to->pot) to->pot[i] -= in->mass[o] / sqrt(r2);
    }
}

/* The potential of all stars at their positions. Distances between members of a pair or chain are known better from
 * relative coordinates than from differences of positions; the terms of the latter are subtracted. */
static int star_potential(const struct nb6_sim *sim, const struct nb6_frame *bodies, struct nb6_frame *made,
                          struct nbc_error *err)
{
    const size_t n = (size_t)made->n;
    double *inside = nbc_alloc(n, sizeof *inside);
    if (!inside) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the potential");
    memcpy(inside, made->pot, n * sizeof *inside);
    double error;
    int status = nb6_potential_make(sim->reg, nb6_potential_wants_tree(&sim->run.config, made->n), made->n, made->mass,
                                    (const double(*)[3])made->x, made->pot, &error, err);
    for (int64_t m = 0; m < sim->subsystems.n_source && !status; m++) {
        struct nb6_frame_inside in;
        if (!nb6_is_centre(sim, sim->subsystems.source[m])) continue;
        nb6_frame_look_inside(sim, bodies, m, &in);
        for (int a = 0; a < in.n; a++) {
            double *pot = &made->pot[in.star[a]];
            for (int b = 0; b < in.n; b++) {
                double r2 = 0;
                const double *x = made->x[in.star[a]], *y = made->x[in.star[b]];
                for (int k = 0; k < 3; k++) r2 += (y[k] - x[k]) * (y[k] - x[k]);
                if (r2 > 0) *pot += in.mass[b] / sqrt(r2);
            }
            *pot += inside[in.star[a]];
        }
    }
    nbc_free(inside);
    return status;
}

/* A star that has merged, or does so between the last block and the time of the frame, has no mass, and the position of
 * the star that it became part of. */
static void place_merged(const struct nb6_sim *sim, const struct nb6_frame *bodies, struct nb6_frame *to)
{
    for (int64_t i = 0; i < sim->n; i++) {
        const struct nb6_star *star = nb6_get_star(sim, i);
        if (to->name[i]) continue;
        if (nb6_has_merged(star))
            copy_star(to, nb6_merged_into(star), to, i);
        else
            copy_star(bodies, nb6_source_place(&sim->subsystems, nb6_centre(sim, nb6_owner_slot(star))), to, i);
        to->name[i] = nb6_get_star(sim, i)->name;
        to->mass[i] = 0;
    }
}

/* The star, or the members of the system, at a place among the bodies. */
static void expand_body(const struct nb6_sim *sim, const struct nb6_frame *bodies, int64_t place,
                        struct nb6_frame *made)
{
    const nb6_index i = sim->subsystems.source[place];
    struct nb6_frame_inside in;
    if (!nb6_is_centre(sim, i)) {
        copy_star(bodies, place, made, i);
        return;
    }
    nb6_frame_look_inside(sim, bodies, place, &in);
    for (int k = 0; k < in.n; k++) copy_star(bodies, place, made, in.star[k]);
    for (int k = 0; k < in.n; k++) place_member(sim, &in, k, made);
}

/* Every star in its place. */
static int expand(const struct nb6_sim *sim, int with_potential, struct nb6_frame *bodies, struct nb6_frame *made,
                  struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    *made = (struct nb6_frame){.t = bodies->t, .n = sim->n};
    if (!allocate(made, with_potential))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for a snapshot of %lld stars", (long long)sim->n);
#pragma omp parallel for schedule(static) if (p->n_source > 1000)
    for (int64_t m = 0; m < p->n_source; m++) expand_body(sim, bodies, m, made);
    place_merged(sim, bodies, made);
    int status = made->pot ? star_potential(sim, bodies, made, err) : NBC_OK;
    made->pair_binding = bodies->pair_binding;
    made->pair_potential = bodies->pair_potential;
    made->pair_tidal = bodies->pair_tidal;
    made->galaxy_work = bodies->galaxy_work;
    made->n_pair = bodies->n_pair;
    made->pair = bodies->pair;
    made->n_chain = bodies->n_chain;
    made->chain = bodies->chain;
    bodies->pair = NULL;
    bodies->chain = NULL;
    return status;
}

int nb6_frame_make(struct nb6_sim *sim, nb6_time t, int options, struct nb6_frame *frame, struct nbc_error *err)
{
    struct nb6_frame bodies = {0}, stars = {0};
    const int as_bodies = (options & NB6_FRAME_BODIES) || sim->subsystems.n_source == sim->n;
    int status = nb6_engines_bring_home(sim, err);
    if (!status) status = make_bodies(sim, t, as_bodies && (options & NB6_FRAME_POTENTIAL), &bodies, err);
    if (!status && as_bodies) {
        *frame = bodies;
        return NBC_OK;
    }
    if (options & NB6_FRAME_POTENTIAL) nb6_potential_give_up(sim); /* this asks for another one, of all stars */
    if (!status) status = expand(sim, options & NB6_FRAME_POTENTIAL, &bodies, &stars, err);
    nb6_frame_free(&bodies);
    if (status)
        nb6_frame_free(&stars);
    else
        *frame = stars;
    return status;
}
