#include "nbody6/run/mass_edit.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/fewbody/exchange.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/masses.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/step.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/run/changed_bodies.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/image_edit.h"
#include "nbody6/run/mass_books.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/predict_fully.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/step/disturbed.h"
#include "nbody6/step/start_bodies.h"

#include <math.h>
#include <string.h>

/* A body that loses no more than this part of its mass changes the polynomials of others, who begin anew if it loses
 * more. On a changed polynomial the path up to now is that of the force before to the order of the predictor: the
 * fourth derivative is off by the part q that was lost of what the body adds, so that the error grows with q. Who
 * begins anew loses the corrector of the step that was under way, whatever q is. Measured in places of 50 stars a tenth
 * of a unit later, rms, with ETAI = ETAR = 0.02: on polynomials 4.1e-10, 3.9e-9 and 3.9e-8 for q = 0.005, 0.05 and 0.5;
 * anew 5.9e-9 for each; the run itself is off by 7e-8. They cross at q = 0.08 there, and at less for a star that makes
 * more of the force. */
const double nb6_sudden_share = 0.05;

/* From so many bodies on threads are worth their start. */
enum { PARALLEL_BODIES = 1000 };

/* The change. Bodies and slots are those that take part. */
struct edit {
    const struct nb6_new_masses *masses;
    nb6_time ti;
    double t;
    int64_t n; /* bodies with stars that change */
    nb6_index *body;
    int64_t *place; /* in frames */
    double *speed;  /* change of velocity, where velocities change */
    struct nb6_exchanged *exchanged;
    int8_t *anew, *is_sudden; /* [bodies] 1: begins anew; those that hold it do */
    int64_t n_anew;
    nb6_index *anew_list;
    struct nb6_frame before, after;
    struct nb6_star_sums sums;
    double galaxy; /* work of the galaxy until now, booked or not */
};

/* ---- who takes part */

static int allocate(const struct nb6_sim *sim, struct edit *e, struct nbc_error *err)
{
    const size_t n = (size_t)e->masses->n, bodies = (size_t)nb6_bodies(sim);
    e->body = nbc_alloc(n, sizeof *e->body);
    e->place = nbc_alloc(n, sizeof *e->place);
    e->speed = nbc_alloc(n, sizeof *e->speed);
    e->exchanged = nbc_alloc(n, sizeof *e->exchanged);
    e->anew = nbc_alloc(bodies, sizeof *e->anew);
    e->is_sudden = nbc_alloc(bodies, sizeof *e->is_sudden);
    e->anew_list = nbc_alloc(bodies, sizeof *e->anew_list);
    if (e->body && e->place && e->speed && e->exchanged && e->anew && e->is_sudden && e->anew_list) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to change masses");
}

static void release(struct edit *e)
{
    nbc_free(e->body);
    nbc_free(e->place);
    nbc_free(e->speed);
    nbc_free(e->exchanged);
    nbc_free(e->anew);
    nbc_free(e->is_sudden);
    nbc_free(e->anew_list);
    nb6_frame_free(&e->before);
    nb6_frame_free(&e->after);
}

static void find_bodies(const struct nb6_sim *sim, struct edit *e)
{
    e->n = nb6_changed_bodies(sim, e->masses, e->body);
    for (int64_t k = 0; k < e->n; k++) e->place[k] = nb6_source_place(&sim->subsystems, e->body[k]);
}

static int come_or_go(const struct edit *e)
{
    return e->masses->n_come + e->masses->n_gone > 0;
}

/* Nothing but its own stars feels more of it than its mass, and slowly it cannot come apart. */
static int only_expands(const struct nb6_sim *sim, const struct edit *e, nb6_slot slot)
{
    return e->masses->is_slow && !nb6_goes_on_demand(&sim->subsystems, slot) && !nb6_is_hierarchy(sim, slot) &&
           !nb6_subsystems_is_perturbed(&sim->subsystems, slot);
}

/* Its own force or what others resolve of it jumps. */
static void mark_near(const struct nb6_sim *sim, struct edit *e, nb6_index i)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const nb6_slot slot = nb6_slot_of(sim, i);
    const int jumps = e->masses->v != NULL || e->masses->n_come > 0;
    if (!nb6_is_centre(sim, i) ? jumps : !only_expands(sim, e, slot)) e->anew[i] = 1;
    for (int32_t k = 0; slot >= 0 && k < p->pert[slot].n; k++) e->anew[p->pert[slot].body[k]] = 1;
    for (nb6_slot other = nb6_resolver_first(p, i); other >= 0; other = nb6_resolver_next(p, other, i))
        e->anew[nb6_centre(sim, other)] = 1;
}

static int is_sudden(const struct nb6_sim *sim, const struct edit *e, nb6_index i)
{
    return e->masses->v || come_or_go(e) ||
           fabs(nb6_changed_by(sim, e->masses, i)) > nb6_sudden_share * sim->body[i].mass;
}

static int holds_one(const struct nb6_sim *sim, nb6_index i, const int8_t *is_in)
{
    size_t nnb = 0;
    const nb6_index *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    for (size_t k = 0; k < nnb; k++)
        if (is_in[list[k]]) return 1;
    return 0;
}

/* Those that have one of these bodies in their lists. */
static void mark_holders(const struct nb6_sim *sim, struct edit *e)
{
    const struct nb6_subsystems *p = &sim->subsystems;
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_BODIES)
    for (int64_t m = 0; m < p->n_source; m++)
        if (holds_one(sim, p->source[m], e->is_sudden)) e->anew[p->source[m]] = 1;
}

/* The largest change of velocity of the stars of a changed body. */
static double speed_of(const struct nb6_sim *sim, const struct edit *e, int64_t place)
{
    struct nb6_frame_inside in = {.n = 1, .star = {sim->subsystems.source[place]}};
    const double *v = e->before.v[place];
    double most = 0;
    if (nb6_is_centre(sim, in.star[0])) nb6_frame_look_inside(sim, &e->before, place, &in);
    for (int m = 0; m < in.n; m++) {
        const int64_t k = nb6_new_masses_place(e->masses, in.star[m]);
        double v2 = 0;
        for (int d = 0; d < 3 && k >= 0; d++) {
            const double change = e->masses->v[k][d] - v[d] - in.v[m][d];
            v2 += change * change;
        }
        most = fmax(most, v2);
    }
    return sqrt(most);
}

/* Whether one of the stars with new velocities will pass a body before its regular step ends. */
static int is_passed(const struct nb6_sim *sim, const struct edit *e, int64_t m)
{
    const struct nb6_star *star = &sim->star[sim->subsystems.source[m]];
    const double left = nb6_time_to_double(star->t0_reg + nb6_step_ticks(star->level_reg) - e->ti);
    const double *x = e->before.x[m];
    for (int64_t k = 0; k < e->n; k++)
        if (nb6_will_pass(e->speed[k], left, e->before.x[e->place[k]], x)) return 1;
    return 0;
}

static void mark_passed(const struct nb6_sim *sim, struct edit *e)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t k = 0; k < e->n; k++) e->speed[k] = speed_of(sim, e, e->place[k]);
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_BODIES)
    for (int64_t m = 0; m < p->n_source; m++)
        if (is_passed(sim, e, m)) e->anew[p->source[m]] = 1;
}

/* Whether a star that comes is in the neighbour sphere of a body, or enters it before the regular step ends. */
static int is_entered(const struct nb6_sim *sim, const struct edit *e, int64_t m)
{
    const nb6_index i = sim->subsystems.source[m];
    const struct nb6_star *star = &sim->star[i];
    const double left = nb6_time_to_double(star->t0_reg + nb6_step_ticks(star->level_reg) - e->ti);
    for (int64_t k = 0; k < e->n; k++) {
        const double *y = e->before.x[e->place[k]], *w = e->before.v[e->place[k]];
        double d2 = 0, dw = 0, w2 = 0;
        for (int d = 0; d < 3; d++) {
            const double dx = y[d] - e->before.x[m][d], dv = w[d] - e->before.v[m][d];
            d2 += dx * dx;
            dw += dx * dv;
            w2 += dv * dv;
        }
        const double nearest = w2 > 0 ? fmin(fmax(-dw / w2, 0), left) : 0;
        if (d2 + nearest * (2 * dw + nearest * w2) < star->r_nb * star->r_nb) return 1;
    }
    return 0;
}

static void mark_entered(const struct nb6_sim *sim, struct edit *e)
{
    const struct nb6_subsystems *p = &sim->subsystems;
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_BODIES)
    for (int64_t m = 0; m < p->n_source; m++)
        if (is_entered(sim, e, m)) e->anew[p->source[m]] = 1;
}

static void mark(const struct nb6_sim *sim, struct edit *e)
{
    int64_t sudden = 0;
    if (e->masses->v) mark_passed(sim, e);
    if (e->masses->n_come > 0) mark_entered(sim, e);
    for (int64_t k = 0; k < e->n; k++) {
        mark_near(sim, e, e->body[k]);
        e->is_sudden[e->body[k]] = (int8_t)is_sudden(sim, e, e->body[k]);
        sudden += e->is_sudden[e->body[k]];
    }
    if (sudden > 0) mark_holders(sim, e);
}

/* ---- everything to the present time */

/* Single stars that lose mass alone need no system at this time. */
static int needs_systems(const struct nb6_sim *sim, const struct edit *e)
{
    return sim->active.n_irr > 0 || nb6_is_centre(sim, e->body[e->n - 1]);
}

/* Steps of systems that end before now, as before a block; those that have to end join the bodies that begin anew. */
static int advance_systems(struct nb6_sim *sim, struct edit *e, struct nbc_error *err)
{
    struct nb6_active *active = &sim->active;
    const struct nb6_subsystems *p = &sim->subsystems;
    int paused, status = NBC_OK;
    active->t = e->ti;
    active->n_irr = 0;
    for (int64_t m = 0; m < p->n_source; m++)
        if (e->anew[p->source[m]]) active->irr[active->n_irr++] = p->source[m];
    paused = needs_systems(sim, e);
    while (paused && !status) status = nb6_step_pairs(sim, &paused, err);
    if (status) return status;
    e->n_anew = active->n_irr;
    memcpy(e->anew_list, active->irr, (size_t)e->n_anew * sizeof *active->irr);
    for (int64_t k = 0; k < e->n_anew; k++) e->anew[e->anew_list[k]] = 1;
    return NBC_OK;
}

/* A system, and the frozen ones in it, to exactly now. */
static int finish(struct nb6_sim *sim, nb6_slot slot, nb6_time ti, struct nbc_error *err)
{
    const struct nb6_kind *kind = nb6_kind_of(&sim->subsystems, slot);
    int status = nb6_pair_finish(sim, slot, ti, err);
    if (!status && kind->publish) status = kind->publish(sim, slot, err);
    for (int m = 0; m < 2 && !status; m++)
        if (nb6_inner_slot(sim, slot, m) >= 0) status = nb6_pair_finish(sim, nb6_inner_slot(sim, slot, m), ti, err);
    return status;
}

/* For all systems that begin anew, or have stars that change. */
static int for_systems(struct nb6_sim *sim, const struct edit *e,
                       int (*what)(struct nb6_sim *, nb6_slot, nb6_time, struct nbc_error *), struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t k = 0; k < e->n_anew && !status; k++)
        if (nb6_is_centre(sim, e->anew_list[k])) status = what(sim, nb6_slot_of(sim, e->anew_list[k]), e->ti, err);
    for (int64_t k = 0; k < e->n && !status; k++)
        if (nb6_is_centre(sim, e->body[k]) && !e->anew[e->body[k]])
            status = what(sim, nb6_slot_of(sim, e->body[k]), e->ti, err);
    return status;
}

/* A collision on the way may have taken one of the stars. */
static int check_mergers(const struct nb6_sim *sim, const struct edit *e, struct nbc_error *err)
{
    for (int64_t k = 0; k < e->masses->n; k++) {
        const struct nb6_star *star = &sim->star[e->masses->star[k]];
        if (nb6_has_merged(star))
            return nbc_fail(err, NBC_BAD_INPUT, "nb6_set_masses: star %lld merges into star %lld just now",
                            (long long)star->name, (long long)sim->star[nb6_merged_into(star)].name);
    }
    return NBC_OK;
}

/* Position and velocity now, and the polynomial of the force before. */
static void stand(struct nb6_sim *sim, nb6_index i, nb6_time ti)
{
    struct nb6_body *body = &sim->body[i];
    const double s = nb6_time_to_double(ti - body->t0);
    double x[3], v[3];
    nb6_predict_fully(body, &sim->star[i], ti, x, v);
    memcpy(body->x0, x, sizeof body->x0);
    memcpy(body->v0, v, sizeof body->v0);
    for (int k = 0; k < 3; k++) body->acc[k] += s * body->jerk[k];
    body->t0 = ti;
}

/* All lose pulls. These change in other ways too. */
static int save_bodies(struct nb6_sim *sim, const struct edit *e, struct nbc_error *err)
{
    int status = nb6_save_all_as_they_are(sim, err);
    for (int64_t k = 0; k < e->n && !status; k++) status = nb6_save_body(sim, e->body[k], err);
    for (int64_t k = 0; k < e->n_anew && !status; k++) status = nb6_save_body(sim, e->anew_list[k], err);
    return status;
}

static int come_to_now(struct nb6_sim *sim, struct edit *e, struct nbc_error *err)
{
    int status = advance_systems(sim, e, err);
    if (!status) status = for_systems(sim, e, finish, err);
    if (!status) status = check_mergers(sim, e, err);
    if (!status) status = save_bodies(sim, e, err);
    if (status) return status;
    for (int64_t k = 0; k < e->n; k++)
        e->exchanged[k] = (struct nb6_exchanged){.body = e->body[k], .before = sim->body[e->body[k]]};
    for (int64_t k = 0; k < e->n_anew; k++) stand(sim, e->anew_list[k], e->ti);
    if (e->n_anew > 0) sim->ti_now = e->ti;
    return NBC_OK;
}

/* ---- the change */

static int set_masses(struct nb6_sim *sim, struct edit *e, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t k = 0; k < e->n && !status; k++) {
        status = nb6_body_set_masses(sim, e->body[k], e->masses, err);
        nb6_exchanged_set(&e->exchanged[k], &sim->body[e->body[k]]);
    }
    if (status) return status;
    nb6_motions_forget(sim);
    status = nb6_exchange_pulls(sim, e->n, e->exchanged, e->anew, e->ti, err);
    return status ? status : nb6_send_bodies(sim, sim->subsystems.n_source, sim->subsystems.source, err);
}

static int start(struct nb6_sim *sim, nb6_slot slot, nb6_time ti, struct nbc_error *err)
{
    (void)ti;
    int status = NBC_OK;
    for (int m = 0; m < 2 && !status; m++)
        if (nb6_inner_slot(sim, slot, m) >= 0) status = nb6_pair_start(sim, nb6_inner_slot(sim, slot, m), err);
    return status ? status : nb6_pair_start(sim, slot, err);
}

/* Whether it goes on: the decisions before the next block apply what is found here. */
static int look(struct nb6_sim *sim, nb6_slot slot, nb6_time ti, struct nbc_error *err)
{
    (void)ti;
    (void)err;
    if (!nb6_is_ending(&sim->subsystems, slot)) nb6_kind_of(&sim->subsystems, slot)->look(sim, slot);
    return NBC_OK;
}

static int begin_anew(struct nb6_sim *sim, struct edit *e, struct nbc_error *err)
{
    int status = e->n_anew > 0 ? nb6_start_bodies(sim, e->n_anew, e->anew_list, err) : NBC_OK;
    if (!status) status = for_systems(sim, e, start, err);
    nb6_groups_link(sim);
    nb6_groups_set_next(sim);
    if (status || e->n_anew == 0) return status;
    sim->book.undecided = 1;
    return for_systems(sim, e, look, err);
}

/* ---- the books */

static struct nb6_event event_of(const struct nb6_sim *sim, const struct edit *e)
{
    const struct nb6_new_masses *masses = e->masses;
    if (come_or_go(e))
        return (struct nb6_event){.kind = NB6_EVENT_STARS_CHANGED,
                                  .channel = NB6_CHANNEL_CHANGED,
                                  .t = e->t,
                                  .value = {masses->n_come, masses->n_gone}};
    return (struct nb6_event){.kind = NB6_EVENT_MASSES_CHANGED,
                              .channel = NB6_CHANNEL_STARS,
                              .t = e->t,
                              .name = masses->n == 1 ? sim->star[masses->star[0]].name : 0,
                              .value = {(double)masses->n, !masses->is_slow}};
}

static int book(struct nb6_sim *sim, struct edit *e, struct nbc_error *err)
{
    struct nb6_run_book *book = &sim->run.book;
    struct nb6_event event = event_of(sim, e);
    int status = nb6_frame_make(sim, e->ti, NB6_FRAME_BODIES, &e->after, err);
    if (!status) status = nb6_energy_of_change(sim, &e->before, &e->after, e->n, e->place, &event.energy, err);
    if (status) return status;
    for (int64_t k = 0; k < e->n; k++) nb6_star_sums_add(sim, &e->after, e->place[k], 1, &e->sums);
    if (book->energy_known) {
        const double work = e->galaxy - book->ledger.booked[NB6_CHANNEL_GALAXY] - e->after.galaxy_work;
        status = nb6_ledger_book(&book->ledger, NB6_CHANNEL_GALAXY, work, err);
    }
    if (!status) status = nb6_star_sums_book(&e->sums, &event, book, err);
    return status || e->masses->is_untold ? status : nb6_event_raise(sim, &event, err);
}

static int prepare(struct nb6_sim *sim, struct edit *e, struct nbc_error *err)
{
    int status = allocate(sim, e, err);
    if (!status) status = nb6_external_extend_to(&sim->run.external, e->t, err);
    if (!status) status = nb6_frame_make(sim, e->ti, NB6_FRAME_BODIES, &e->before, err);
    if (status) return status;
    e->galaxy = sim->run.book.ledger.booked[NB6_CHANNEL_GALAXY] + e->before.galaxy_work;
    find_bodies(sim, e);
    for (int64_t k = 0; k < e->n; k++) nb6_star_sums_add(sim, &e->before, e->place[k], -1, &e->sums);
    mark(sim, e);
    return NBC_OK;
}

int nb6_mass_edit(struct nb6_sim *sim, const struct nb6_new_masses *masses, struct nbc_error *err)
{
    struct edit e = {.masses = masses, .ti = sim->ti_reached, .t = nb6_time_to_double(sim->ti_reached)};
    int status = prepare(sim, &e, err);
    if (!status) status = come_to_now(sim, &e, err);
    if (!status) status = set_masses(sim, &e, err);
    if (!status) status = begin_anew(sim, &e, err);
    if (!status) status = book(sim, &e, err);
    if (!status) sim->potential.n = 0; /* it was that of the masses before */
    release(&e);
    return status;
}

int nb6_mass_edit_check(const struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_motion motion = nb6_subsystems_motion(p);
    const double t = nb6_relative_time(sim, sim->ti_reached);
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) {
        if (!nb6_slot_is_used(p, slot) || !(nb6_slot_time(p, &motion, slot) > t)) continue;
        if (nb6_goes_on_demand(p, slot) || p->system[p->leader[slot]].begun)
            return nbc_fail(err, NBC_BAD_STATE,
                            "nb6_set_masses: the run was stopped within a block step, and stars %lld, %lld, ... are "
                            "ahead: evolve a little further first",
                            (long long)nb6_subsystems_name(sim, slot, 0), (long long)nb6_subsystems_name(sim, slot, 1));
    }
    return NBC_OK;
}
