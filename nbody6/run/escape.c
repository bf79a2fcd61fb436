#include "nbody6/run/escape.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/fewbody/pair_correct.h"
#include "nbody6/fewbody/pair_events.h"
#include "nbody6/fewbody/rename.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"

#include <math.h>
#include <string.h>

/* Stars leave beyond this many tidal radii (NBODY6); an isolated cluster counts ten half-mass radii as one. */
static const double ESCAPE_RADII = 2, ISOLATED_HALF_MASS_RADII = 10;

double nb6_escape_tidal_radius(const struct nb6_sim *sim, double mass)
{
    double r_tide = nb6_external_tidal_radius(&sim->external, mass);
    return r_tide > 0 ? r_tide : ISOLATED_HALF_MASS_RADII * sim->book.r_half;
}

/* A body seen from the density centre. */
struct view {
    double r2, energy,
        field; /* distance squared; energy per unit mass in the cluster's own potential; that of the field */
};

static struct view view_of(const struct nb6_sim *sim, const struct nb6_frame *frame, int64_t i)
{
    double v2 = 0, x[3];
    struct view view = {0};
    for (int k = 0; k < 3; k++) {
        double dv = frame->v[i][k] - sim->book.v_density[k];
        x[k] = frame->x[i][k] - sim->book.r_density[k];
        view.r2 += x[k] * x[k];
        v2 += dv * dv;
    }
    view.energy = 0.5 * v2 + frame->pot[i];
    view.field = nb6_external_potential(&sim->external, x);
    return view;
}

/* The tidal cut-off of NBODY6++: beyond one tidal radius nobody is as strongly bound as a star at rest there, but
 * members of subsystems. Jacobi's integral is no help out there, where a star that falls away from the cluster may have
 * less than it has at the Lagrangian points. Stars of an isolated cluster must be unbound. */
static int has_escaped(const struct nb6_sim *sim, double r_tide, double mass, const struct view *view)
{
    const int cut_off = sim->external.active && sim->config.escape == NB6_ESCAPE_CUT_OFF;
    const double radii = cut_off ? 1 : ESCAPE_RADII;
    if (!(view->r2 > radii * radii * r_tide * r_tide)) return 0;
    if (cut_off) return view->energy > -mass / r_tide;
    return sim->external.active || view->energy > 0;
}

/* Subtract what the escaper, predicted to the time of body i, adds to the force of i, but leave i where it is at time t
 * and as fast as it is: the pull has acted until then. */
static void take_force(struct nb6_sim *sim, int64_t i, const struct nb6_body *escaper, int is_neighbour, double t)
{
    struct nb6_body *body = &sim->body[i];
    struct nb6_star *star = &sim->star[i];
    double x[3], v[3], r2 = 0, xv = 0;
    nb6_predict(escaper, nb6_time_to_double(body->t0 - escaper->t0), x, v);
    for (int k = 0; k < 3; k++) {
        x[k] -= body->x0[k];
        v[k] -= body->v0[k];
        r2 += x[k] * x[k];
        xv += x[k] * v[k];
    }
    if (!(r2 > 0)) return;
    double m = escaper->mass / (r2 * sqrt(r2)), alpha = 3 * xv / r2;
    double back = nb6_time_to_double(body->t0 - star->t0_reg), s = t - nb6_time_to_double(body->t0);
    for (int k = 0; k < 3; k++) {
        double acc = m * x[k], jerk = m * (v[k] - alpha * x[k]);
        body->x0[k] -= s * s * (acc / 2 + s * jerk / 3);
        body->v0[k] += s * (acc + s * jerk / 2);
        if (is_neighbour) {
            star->acc_irr[k] -= acc;
            star->jerk_irr[k] -= jerk;
        } else {
            star->acc_reg[k] -= acc - back * jerk;
            star->jerk_reg[k] -= jerk;
        }
        body->acc[k] -= acc;
        body->jerk[k] -= jerk;
    }
}

/* Who leaves: places of the bodies in the frame, and what becomes of the numbers of all bodies. */
struct escape {
    int64_t n_bodies, n_gone, n_stars_gone;
    int64_t n_merged; /* of these stars, those that became part of another one */
    int32_t *gone;    /* [n_gone] places in the frame, which are those in sim->pairs.source */
    int32_t *moved;   /* [n_bodies] new number, -1: gone */
    int32_t *list;    /* scratch */
};

/* Forces of the bodies that stay. */
static void take_forces(struct nb6_sim *sim, const struct escape *e, double t)
{
    const int32_t *source = sim->pairs.source;
#pragma omp parallel for schedule(static) if (sim->pairs.n_source > 1000)
    for (int64_t m = 0; m < sim->pairs.n_source; m++) {
        int32_t i = source[m];
        if (e->moved[i] < 0) continue;
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        for (int64_t g = 0; g < e->n_gone; g++) {
            int32_t j = source[e->gone[g]];
            take_force(sim, i, &sim->body[j], nb6_list_find(list, nnb, j) >= 0, t);
        }
    }
}

/* The record of body i, with the neighbours that stay, moves to its new place. */
static int move_body(struct nb6_sim *sim, const struct escape *e, int64_t i, int32_t to)
{
    size_t nnb = 0, length = 0;
    const int32_t *old = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    for (size_t k = 0; k < nnb; k++)
        if (e->moved[old[k]] >= 0) e->list[length++] = e->moved[old[k]];
    sim->body[to] = sim->body[i];
    sim->star[to] = sim->star[i];
    sim->star[to].nnb = (int32_t)length;
    return gpuirr_set_list(sim->irr, (size_t)to, length, e->list);
}

/* Nobody stands at a place any more: no record and no list of a former body stay there. */
static int clear_place(struct nb6_sim *sim, int64_t place)
{
    static const double zero[3];
    memset(&sim->body[place], 0, sizeof sim->body[place]);
    memset(&sim->star[place], 0, sizeof sim->star[place]);
    int status = gpuirr_set_list(sim->irr, (size_t)place, 0, NULL);
    return status ? status : gpuirr_set_jp(sim->irr, (size_t)place, zero, zero, zero, zero, 0, 0);
}

/* Close the gaps: records move down, lists are renamed. Ascending order keeps every record unread until its turn. Slots
 * keep their numbers, so that the place of one whose body is gone must be cleared: another body stood there before. */
static int move_bodies(struct nb6_sim *sim, const struct escape *e)
{
    int status = NBC_OK;
    for (int64_t i = 0; i < e->n_bodies && !status; i++) {
        nb6_schedule_remove(sim->schedule, (int32_t)i);
        (void)gpunb_clear_jp(sim->reg, (size_t)i); /* those that stay are sent again */
        if (e->moved[i] >= 0)
            status = move_body(sim, e, i, e->moved[i]);
        else if (nb6_is_centre(sim, i))
            status = clear_place(sim, i - e->n_stars_gone);
    }
    for (int64_t i = e->n_bodies - e->n_stars_gone; i < e->n_bodies && !status; i++) status = clear_place(sim, i);
    return status;
}

static int compact(struct nb6_sim *sim, const struct escape *e, struct nbc_error *err)
{
    int status = move_bodies(sim, e);
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    sim->n -= e->n_stars_gone;
    status = nb6_pairs_rename(sim, e->moved, err);
    for (int64_t m = 0; m < sim->pairs.n_source && !status; m++) {
        int32_t i = sim->pairs.source[m];
        nb6_schedule_set(sim->schedule, i, sim->star[i].level_irr);
        status = nb6_send_body(sim, i, err);
    }
    return status;
}

/* Energy of all relative motions inside the body at a place of the frame. */
static double binding_at(const struct nb6_frame *frame, int64_t place)
{
    double sum = 0;
    for (int64_t k = 0; k < frame->n_pair; k++)
        if (frame->pair[k].place == place) sum += frame->pair[k].binding;
    for (int64_t k = 0; k < frame->n_chain; k++)
        if (frame->chain[k].place == place) sum += frame->chain[k].binding;
    return sum;
}

static double binding_of_escapers(const struct nb6_frame *frame, const struct escape *e)
{
    double sum = 0;
    for (int64_t g = 0; g < e->n_gone; g++) sum += binding_at(frame, e->gone[g]);
    return sum;
}

/* What is lost, when they leave, of the forces between pairs that are seen resolved and the bodies around them, and of
 * those of the galaxy on relative motions. */
static double inner_potential_of_escapers(const struct nb6_sim *sim, const struct nb6_frame *frame,
                                          const struct escape *e)
{
    if (!frame->motion.ks) return 0;
    return frame->pair_potential - nb6_pairs_potential(sim, (const double(*)[3])frame->x, &frame->motion, e->moved) +
           frame->pair_tidal - nb6_pairs_tidal(sim, &frame->motion, e->moved);
}

/* Energy that leaves with the escapers beside that of relative motions in pairs and chains: their kinetic and external
 * energy, and their potential energy with those that stay and, once, among themselves. */
static double energy_of_escapers(const struct nb6_sim *sim, const struct nb6_frame *frame, const struct escape *e)
{
    double energy = inner_potential_of_escapers(sim, frame, e);
    for (int64_t g = 0; g < e->n_gone; g++) {
        int64_t i = e->gone[g];
        const double *v = frame->v[i], *x = frame->x[i];
        double per_mass =
            0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + frame->pot[i] + nb6_external_potential(&sim->external, x);
        for (int64_t h = 0; h < g; h++) {
            const double *y = frame->x[e->gone[h]];
            double r =
                sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) + (x[2] - y[2]) * (x[2] - y[2]));
            if (r > 0) per_mass += frame->mass[e->gone[h]] / r;
        }
        energy += frame->mass[i] * per_mass;
    }
    return energy;
}

/* A star that leaves, dx, dv off the centre of mass of what stands in its place in the frame. */
static int say_star(struct nb6_sim *sim, const struct nb6_frame *frame, int64_t place, int32_t star, double mass,
                    const double dx[3], const double dv[3], double energy, struct nbc_error *err)
{
    struct nb6_event event = {
        .kind = NB6_EVENT_ESCAPE, .t = frame->t, .name = sim->star[star].name, .mass = mass, .energy = energy};
    for (int k = 0; k < 3; k++) {
        event.x[k] = frame->x[place][k] + dx[k] - sim->book.r_density[k];
        event.v[k] = frame->v[place][k] + dv[k] - sim->book.v_density[k];
    }
    return nb6_event_raise(sim, &event, err);
}

static int leave_star(struct nb6_sim *sim, const struct nb6_frame *frame, int64_t place, int32_t star, double mass,
                      const double dx[3], const double dv[3], double energy, struct escape *e, struct nbc_error *err)
{
    e->moved[star] = -1;
    e->n_stars_gone++;
    return say_star(sim, frame, place, star, mass, dx, dv, energy, err);
}

/* A pair or chain leaves as stars, whose energies per unit mass are that of their centre of mass. */
static int leave(struct nb6_sim *sim, const struct nb6_frame *frame, int64_t place, double energy, struct escape *e,
                 struct nbc_error *err)
{
    static const double zero[3];
    const int32_t i = sim->pairs.source[place];
    struct nb6_frame_inside in;
    int status = NBC_OK;
    e->gone[e->n_gone++] = (int32_t)place;
    if (!nb6_is_centre(sim, i)) return leave_star(sim, frame, place, i, frame->mass[place], zero, zero, energy, e, err);
    nb6_frame_look_inside(sim, frame, place, &in);
    for (int m = 0; m < in.n && !status; m++)
        status = leave_star(sim, frame, place, in.star[m], in.mass[m], in.x[m], in.v[m], energy, e, err);
    for (int m = 0; m < 2 && !status; m++) {
        int64_t inner = nb6_inner_slot(sim, nb6_slot_of(sim, i), m);
        if (inner < 0) continue;
        e->moved[nb6_centre(sim, inner)] = -1;
        status = nb6_slot_report_end(sim, inner, NB6_PAIR_ESCAPED, err);
    }
    e->moved[i] = -1;
    sim->counters.hierarchies_ended += nb6_is_hierarchy(sim, nb6_slot_of(sim, i)) != 0;
    if (status) return status;
    return nb6_slot_report_end(sim, nb6_slot_of(sim, i), NB6_PAIR_ESCAPED, err);
}

/* Stars that have merged are gone for good. */
static void drop_merged(const struct nb6_sim *sim, struct escape *e)
{
    for (int64_t i = 0; i < sim->n; i++) {
        if (!nb6_has_merged(&sim->star[i])) continue;
        e->moved[i] = -1;
        e->n_stars_gone++;
        e->n_merged++;
    }
}

/* A cluster keeps at least two stars. */
static int may_leave(const struct nb6_sim *sim, const struct escape *e, int64_t place)
{
    int32_t star[CHAIN_MAX];
    return sim->n - e->n_stars_gone - nb6_stars_of(sim, sim->pairs.source[place], star) >= 2;
}

static int find(struct nb6_sim *sim, const struct nb6_frame *frame, struct escape *e, struct nbc_error *err)
{
    double mass = 0;
    int status = NBC_OK;
    for (int64_t i = 0; i < frame->n; i++) mass += frame->mass[i];
    double r_tide = nb6_escape_tidal_radius(sim, mass);
    drop_merged(sim, e);
    for (int64_t i = 0; i < frame->n && !status && sim->config.escape != NB6_ESCAPE_KEEP; i++) {
        const struct view view = view_of(sim, frame, i);
        if (has_escaped(sim, r_tide, mass, &view) && may_leave(sim, e, i))
            status = leave(sim, frame, i, view.energy + view.field, e, err);
    }
    int32_t kept = 0;
    for (int64_t i = 0; i < e->n_bodies; i++) {
        if (i == sim->n) kept = (int32_t)(sim->n - e->n_stars_gone); /* slots go on after the stars, gaps and all */
        int stays = e->moved[i] >= 0;
        if (stays) e->moved[i] = kept;
        kept += stays || nb6_is_centre(sim, i);
    }
    return status;
}

int nb6_escape_remove(struct nb6_sim *sim, const struct nb6_frame *frame, struct nbc_error *err)
{
    if (frame->t <= 0) return NBC_OK;
    struct escape e = {.n_bodies = nb6_bodies(sim)};
    size_t n = (size_t)e.n_bodies;
    e.moved = nbc_alloc(n, sizeof *e.moved);
    e.gone = nbc_alloc(n, sizeof *e.gone);
    e.list = nbc_alloc(n, sizeof *e.list);
    int status = e.moved && e.gone && e.list ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory to remove escapers");
    if (!status) status = find(sim, frame, &e, err);
    if (!status && e.n_stars_gone > 0) {
        double binding = binding_of_escapers(frame, &e), energy = binding + energy_of_escapers(sim, frame, &e);
        sim->book.e_escaped += energy;
        sim->book.e_escaped_binding += binding;
        sim->book.e_expected -= energy;
        sim->book.e_last -= energy;
        sim->counters.escapers += (uint64_t)(e.n_stars_gone - e.n_merged);
        nb6_motions_forget(sim);
        take_forces(sim, &e, frame->t);
        status = compact(sim, &e, err);
    }
    nbc_free(e.moved);
    nbc_free(e.gone);
    nbc_free(e.list);
    return status;
}
