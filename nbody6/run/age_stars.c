#include "nbody6/run/age_stars.h"

#include "nbody6/analysis/frame.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/input/units.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/image_edit.h"
#include "nbody6/run/mass_edit.h"
#include "nbody6/run/merge_aged.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/event.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "stellar/stellar.h"

#include <math.h>
#include <string.h>

/* ---- when a star is due ---- */

/* Stars are due at multiples of powers of two, so that those that change at about one time share a change of the run:
 * the power is an eighth of the time until the change or less, and the bodies change at most 32 times a unit. */
enum { LEAST_GRID = -5, MOST_GRID = 3, PARTS = 8 };

/* A body loses what its star has lost once that is this part: half of what the library calls a change. */
static const double LOSS = 5e-4;

/* Where stars collide, their bodies have radii that are wrong by this part at most: half of what the library calls a
 * change. */
static const double SWELLING = 0.025;

/* Looks ahead, at times at which nothing happens that the run has to know. The number bounds the work of a look: after
 * it the star is due, and looks again. */
enum { LOOKS = 16 };

static nb6_time grid_of(double interval)
{
    int exponent;
    frexp(interval / PARTS, &exponent);
    const int level = exponent - 1 < MOST_GRID ? exponent - 1 : MOST_GRID;
    return (nb6_time)1 << (NB6_TIME_BITS + (level > LEAST_GRID ? level : LEAST_GRID));
}

/* The end of a phase has passed then; a gradual change has not yet, unless that is now. */
static nb6_time next_look(const struct nb6_sim *sim, nb6_time now, const struct stellar_view *view)
{
    const double units = view->ask_again_myr / sim->run.units.time_myr, t = nb6_time_to_double(now);
    const double latest = NB6_T_MAX - 0x1p4; /* a grid beyond is no time any more */
    if (!(units < latest)) return NB6_NEVER_DUE;
    const nb6_time grid = view->phase_ends ? (nb6_time)1 << (NB6_TIME_BITS + LEAST_GRID) : grid_of(units - t);
    const nb6_time down = (nb6_time)(units * 0x1p40) / grid * grid;
    if (!view->phase_ends) return down > now ? down : (now / grid + 1) * grid;
    nb6_time up = down > now ? down : (now / grid + 1) * grid;
    while (nb6_time_to_myr(sim, up) < view->ask_again_myr) up += grid;
    return up;
}

static int acts(const struct nb6_aged *aged, const struct stellar_view *view)
{
    return fabs(view->mass - aged->mass) > LOSS * aged->mass;
}

static int swells(const struct nb6_sim *sim, double radius, const struct stellar_view *view)
{
    return sim->run.config.stellar.collide && fabs(view->radius - radius) > SWELLING * radius;
}

int nb6_age_schedule(const struct nb6_sim *sim, struct nb6_aged *aged, nb6_time now, struct nbc_error *err)
{
    const struct stellar_model *model = sim->ageing->model[aged->model];
    struct stellar_star star = aged->star;
    struct stellar_view view;
    struct stellar_events events = {.n = 0};
    aged->due = NB6_NEVER_DUE;
    if (!aged->ages) return NBC_OK;
    int status = stellar_evolve(model, &star, nb6_time_to_myr(sim, now), &view, NULL, err);
    if (status) return status;
    const double radius = view.radius;
    aged->due = now;
    for (int k = 0; k < LOOKS && !status && events.n == 0; k++) {
        const int ends = view.phase_ends;
        aged->due = next_look(sim, aged->due, &view);
        if (aged->due == NB6_NEVER_DUE || ends) break;
        status = stellar_evolve(model, &star, nb6_time_to_myr(sim, aged->due), &view, &events, err);
        if (acts(aged, &view) || swells(sim, radius, &view)) break;
    }
    return status;
}

/* ---- stars that are due ---- */

/* A star that is due, as it becomes. */
struct due_star {
    nb6_index i;
    struct nb6_aged aged;
    double mass;    /* new one of its body, N-body units; the old one: it stays */
    double kick[3]; /* N-body units */
    int is_sudden;
    double radius;                   /* of its body, N-body units, where stars collide */
    int64_t n_collision;             /* stars with which it becomes one */
    struct nb6_collision *collision; /* [n_collision] */
    struct stellar_events events;
};

struct ageing_step {
    nb6_time t;
    int64_t n;
    struct due_star *star;           /* [n] in the order of their numbers */
    struct nb6_collision *collision; /* of all stars */
    /* of a change, [n] */
    nb6_index *index;
    double *mass, (*v)[3];
    int is_away;                 /* 1: the state stays where an engine has it, */
    enum nb6_image_edit_end end; /* of a change that is made so */
};

static void release(struct ageing_step *s)
{
    nbc_free(s->star);
    nbc_free(s->collision);
    nbc_free(s->index);
    nbc_free(s->mass);
    nbc_free(s->v);
}

static int find_due(const struct nb6_sim *sim, struct ageing_step *s, struct nbc_error *err)
{
    const struct nb6_aged *aged = sim->ageing->aged;
    int64_t collisions = 0;
    for (int64_t i = 0; i < sim->n; i++) {
        if (aged[i].due > s->t) continue;
        s->n++;
        collisions += aged[i].waits;
    }
    if (s->n == 0) return NBC_OK;
    s->star = nbc_alloc((size_t)s->n, sizeof *s->star);
    s->collision = nbc_alloc((size_t)collisions + 1, sizeof *s->collision);
    s->index = nbc_alloc((size_t)s->n, sizeof *s->index);
    s->mass = nbc_alloc((size_t)s->n, sizeof *s->mass);
    s->v = nbc_alloc((size_t)s->n, sizeof *s->v);
    if (!s->star || !s->collision || !s->index || !s->mass || !s->v)
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld stars that change", (long long)s->n);
    struct nb6_collision *collision = s->collision;
    for (int64_t i = 0, k = 0; i < sim->n; i++) {
        if (aged[i].due > s->t) continue;
        s->star[k++] =
            (struct due_star){.i = (nb6_index)i, .aged = aged[i], .n_collision = aged[i].waits, .collision = collision};
        collision += aged[i].waits;
    }
    return NBC_OK;
}

/* Nothing is left of some stars. A member of a system keeps a grain, so that the motion goes on until it comes apart.
 */
static const double GRAIN = 1e-9;

/* New mass and velocity of its body. */
static void find_change(const struct nb6_sim *sim, const struct stellar_view *view, struct due_star *star)
{
    const struct nb6_units *units = &sim->run.units;
    const double before = sim->body[star->i].mass;
    int is_changed = acts(&star->aged, view);
    for (int k = 0; k < star->events.n; k++) {
        const struct stellar_event *event = &star->events.event[k];
        int has_kick = 0;
        for (int d = 0; d < 3; d++) {
            star->kick[d] += event->kick_kms[d] / units->velocity_kms;
            has_kick |= event->kick_kms[d] != 0;
        }
        star->is_sudden |= has_kick || event->kind >= STELLAR_SUPERNOVA;
        is_changed |= view->mass != star->aged.mass;
    }
    star->mass = before;
    star->radius = nb6_ageing_radius(sim, view);
    if (!is_changed) return;
    star->aged.mass = view->mass;
    star->mass = view->mass / units->mass_msun;
    if (!(star->mass > 0) && nb6_is_member(&sim->star[star->i])) star->mass = GRAIN * before;
    star->is_sudden |= star->n_collision > 0;
}

static int evolve_star(const struct nb6_sim *sim, nb6_time t, struct due_star *star, struct nbc_error *err)
{
    struct stellar_view view;
    const struct stellar_model *model = sim->ageing->model[star->aged.model];
    const int status =
        star->n_collision > 0
            ? nb6_merge_aged(sim, star->i, t, &star->aged, &view, &star->events, star->collision, err)
            : stellar_evolve(model, &star->aged.star, nb6_time_to_myr(sim, t), &view, &star->events, err);
    if (status) return status;
    find_change(sim, &view, star);
    return nb6_age_schedule(sim, &star->aged, t, err);
}

/* The first star that fails counts, whatever the threads. */
static int evolve_stars(const struct nb6_sim *sim, struct ageing_step *s, struct nbc_error *err)
{
    int64_t failed = s->n;
#pragma omp parallel for schedule(dynamic, 8) if (s->n > 64)
    for (int64_t k = 0; k < s->n; k++)
        if (evolve_star(sim, s->t, &s->star[k], NULL))
#pragma omp critical(age_stars)
            if (k < failed) failed = k;
    if (failed == s->n) return NBC_OK;
    struct due_star *star = &s->star[failed];
    struct nbc_error why = {0};
    star->aged = sim->ageing->aged[star->i];
    const int status = evolve_star(sim, s->t, star, &why);
    return nbc_fail(err, status, "star %lld: %s", (long long)sim->star[star->i].name, why.text);
}

/* ---- what the bodies get ---- */

/* Stars that change their bodies. */
enum which { SLOWLY, SUDDENLY, ALL };

static int is_of(const struct nb6_sim *sim, const struct due_star *star, enum which which)
{
    if (which != ALL && star->is_sudden != (which == SUDDENLY)) return 0;
    return star->is_sudden || star->mass != sim->body[star->i].mass;
}

static int64_t collect(const struct nb6_sim *sim, struct ageing_step *s, enum which which)
{
    int64_t n = 0;
    for (int64_t k = 0; k < s->n; k++) {
        const struct due_star *star = &s->star[k];
        if (!is_of(sim, star, which)) continue;
        s->index[n] = star->i;
        s->mass[n] = star->mass;
        memcpy(s->v[n++], star->kick, sizeof s->v[0]);
    }
    return n;
}

/* Kicks are added to the velocities of now. */
static int add_velocities(struct nb6_sim *sim, struct ageing_step *s, int64_t n, struct nbc_error *err)
{
    struct nb6_frame frame;
    const int status = nb6_frame_make(sim, s->t, 0, &frame, err);
    if (status) return status;
    for (int64_t k = 0; k < n; k++)
        for (int d = 0; d < 3; d++) s->v[k][d] += frame.v[s->index[k]][d];
    nb6_frame_free(&frame);
    return NBC_OK;
}

static struct nb6_new_masses new_masses(const struct nb6_sim *sim, struct ageing_step *s, enum which which)
{
    const int64_t n = collect(sim, s, which);
    return (struct nb6_new_masses){
        .n = n, .star = s->index, .mass = s->mass, .is_slow = which == SLOWLY, .is_untold = 1};
}

/* One change of all bodies that lose mass slowly, one of all others: the attraction of what is lost is summed once for
 * each. */
static int change_state(struct nb6_sim *sim, struct ageing_step *s, enum which which, struct nbc_error *err)
{
    struct nb6_new_masses masses = new_masses(sim, s, which);
    if (masses.n == 0) return NBC_OK;
    int status = which == SUDDENLY ? add_velocities(sim, s, masses.n, err) : NBC_OK;
    if (which == SUDDENLY) masses.v = (const double(*)[3])s->v;
    if (!status) status = nb6_mass_edit(sim, &masses, err);
    if (!status) nb6_profile_count_mass_change(sim);
    return status;
}

/* One change of all where an image is, since it cannot be taken back: of single stars it does not matter how slow one
 * is. */
static struct nb6_new_masses masses_of_image(const struct nb6_sim *sim, struct ageing_step *s)
{
    if (collect(sim, s, SUDDENLY) == 0) return new_masses(sim, s, SLOWLY);
    struct nb6_new_masses masses = new_masses(sim, s, ALL);
    masses.kick = (const double(*)[3])s->v;
    return masses;
}

/* Without any the ages alone change. */
static int change_image(struct nb6_sim *sim, struct ageing_step *s, struct nbc_error *err)
{
    const struct nb6_new_masses masses = masses_of_image(sim, s);
    if (masses.n == 0) return nb6_engines_keep(sim, err);
    const int status = nb6_image_edit(sim, &masses, &s->end, err);
    if (!status && s->end == NB6_IMAGE_EDITED) nb6_profile_count_mass_change(sim);
    return status;
}

/* An image takes these changes, or there is nothing for bodies at all. */
static int can_stay_away(struct nb6_sim *sim, struct ageing_step *s)
{
    const struct nb6_new_masses masses = masses_of_image(sim, s);
    return masses.n > 0 ? nb6_image_edit_serves(sim, &masses) : sim->engine_image.ahead;
}

/* Where stars collide, bodies have the radii of their stars, and members of chains have copies of them. */
static int set_radius(struct nb6_sim *sim, const struct due_star *star, struct nbc_error *err)
{
    const int is_member = nb6_is_member(&sim->star[star->i]);
    const nb6_slot slot = is_member ? nb6_owner_slot(&sim->star[star->i]) : NB6_NO_SLOT;
    struct nb6_chain *chain = is_member ? nb6_chain_of(&sim->subsystems, slot) : NULL;
    if (!sim->run.config.stellar.collide || sim->star[star->i].radius == star->radius) return NBC_OK;
    int status = nb6_save_body(sim, star->i, err);
    if (!status && chain) status = nb6_save_slot(sim, slot, err);
    if (status) return status;
    sim->star[star->i].radius = star->radius;
    if (!chain) return NBC_OK;
    for (int m = 0; m < chain->state.n; m++)
        if (chain->star[m] == star->i) chain->state.radius[m] = star->radius;
    nb6_motions_forget(sim);
    return NBC_OK;
}

/* ---- events ---- */

static int tell_as(struct nb6_sim *sim, enum nb6_event_kind kind, const struct due_star *star,
                   const struct stellar_event *from, nb6_time t, struct nbc_error *err)
{
    struct nb6_event event = {.kind = kind,
                              .t = nb6_time_to_double(t),
                              .name = sim->star[star->i].name,
                              .stellar = {.kind = from->kind,
                                          .type_before = from->type_before,
                                          .type_after = from->type_after,
                                          .t_myr = from->time_myr,
                                          .mass_before = from->mass_before,
                                          .mass_after = from->mass_after,
                                          .fallback = from->fallback}};
    memcpy(event.stellar.kick_kms, from->kick_kms, sizeof event.stellar.kick_kms);
    return nb6_event_raise(sim, &event, err);
}

static int tell(struct nb6_sim *sim, const struct due_star *star, nb6_time t, struct nbc_error *err)
{
    struct nb6_counters *counters = &sim->run.counters;
    int status = NBC_OK;
    for (int64_t k = 0; k < star->n_collision && !status; k++)
        status = nb6_merge_aged_tell(sim, &star->collision[k], t, err);
    for (int k = 0; k < star->events.n && !status; k++) {
        const struct stellar_event *event = &star->events.event[k];
        const int leaves = event->type_after != STELLAR_NONE;
        counters->type_changes++;
        if (event->kind == STELLAR_CHANGE) status = tell_as(sim, NB6_EVENT_TYPE_CHANGE, star, event, t, err);
        if (event->kind >= STELLAR_SUPERNOVA) {
            counters->supernovae++;
            status = tell_as(sim, NB6_EVENT_SUPERNOVA, star, event, t, err);
        }
        if (event->kind == STELLAR_CHANGE || !leaves || status) continue;
        counters->remnants++;
        status = tell_as(sim, NB6_EVENT_REMNANT, star, event, t, err);
    }
    return status;
}

/* ---- the transaction ---- */

/* An edit of an image comes last: it cannot be taken back. */
static int change(struct nb6_sim *sim, struct ageing_step *s, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t k = 0; k < s->n && !status; k++) {
        status = nb6_save_aged(sim, s->star[k].i, err);
        if (status) break;
        sim->ageing->aged[s->star[k].i] = s->star[k].aged;
        status = set_radius(sim, &s->star[k], err);
    }
    for (int64_t k = 0; k < s->n && !status; k++) status = tell(sim, &s->star[k], s->t, err);
    if (!status && s->is_away) return change_image(sim, s, err);
    if (!status) status = change_state(sim, s, SLOWLY, err);
    return status ? status : change_state(sim, s, SUDDENLY, err);
}

/* @param[in,out] s  end: whether anything was changed */
static int try_to_commit(struct nb6_sim *sim, struct ageing_step *s, struct nbc_error *err)
{
    const nb6_time now = sim->ti_now;
    int status = nb6_mass_edit_check(sim, err);
    if (!status) status = nb6_transaction_begin(sim, err);
    if (status) return status;
    s->end = NB6_IMAGE_EDITED;
    status = nb6_engines_failed(sim, change(sim, s, err));
    if (!status && s->end == NB6_IMAGE_EDITED) {
        nb6_transaction_commit(sim);
        return NBC_OK;
    }
    nb6_transaction_rollback(sim);
    nb6_motions_forget(sim);
    sim->ti_now = now;
    return status;
}

/* An observer hears of it once the state is in host memory. */
static int commit(struct nb6_sim *sim, struct ageing_step *s, struct nbc_error *err)
{
    int status = s->is_away ? try_to_commit(sim, s, err) : NBC_OK;
    while (!status && s->is_away && s->end == NB6_IMAGE_EDIT_AGAIN) {
        status = nb6_engines_make_room(sim, err);
        if (!status) status = try_to_commit(sim, s, err);
    }
    if (status) return status;
    if (s->is_away && s->end == NB6_IMAGE_EDITED) {
        sim->engine_image.told_later = sim->transaction.n_event;
        return NBC_OK;
    }
    s->is_away = 0;
    status = nb6_engines_come_home(sim, err);
    if (!status) status = try_to_commit(sim, s, err);
    return status ? status : nb6_transaction_notify(sim, err);
}

int nb6_age_stars(struct nb6_sim *sim, struct nbc_error *err)
{
    struct ageing_step s = {.t = sim->ti_reached};
    if (nb6_ageing_next(sim) > s.t) return NBC_OK;
    int status = find_due(sim, &s, err);
    if (!status) status = evolve_stars(sim, &s, err);
    if (!status) s.is_away = can_stay_away(sim, &s);
    if (!status) status = commit(sim, &s, err);
    release(&s);
    return status;
}
