/* The public calls that make stars, move them along their grids and change their masses. */
#include "stellar/evolve.h"

#include "stellar/check.h"
#include "stellar/phase.h"
#include "stellar/wind.h"

#include <math.h>

/* A star that changes type more often within a call does not exist; it bounds the work for states that were made up. */
enum { STEPS_MOST = 100000 };

static int is_remnant(int type)
{
    return type >= STELLAR_HE_WD;
}

static int birth(const struct stellar_model *model, int type, int64_t name, double mass, double time_myr,
                 struct stellar_star *star, struct nbc_error *err)
{
    struct stellar_star made = {.type = type, .name = name, .z = model->fits.z, .time_myr = time_myr};
    if (!isfinite(time_myr)) return nbc_fail(err, NBC_NON_FINITE, "a time is NaN or infinite");
    made.mass = made.mass_track = mass;
    if (type == STELLAR_HE_MS) made.core_mass = mass;
    *star = made;
    return NBC_OK;
}

int stellar_birth(const struct stellar_model *model, int64_t name, double mass, double time_myr,
                  struct stellar_star *star, struct nbc_error *err)
{
    const int status = stellar_check_mass(mass, STELLAR_MASS_LEAST, err);
    return status
               ? status
               : birth(model, mass < STELLAR_MASS_LOW ? STELLAR_MS_LOW : STELLAR_MS, name, mass, time_myr, star, err);
}

int stellar_birth_helium(const struct stellar_model *model, int64_t name, double mass, double time_myr,
                         struct stellar_star *star, struct nbc_error *err)
{
    const double least = 0.32;
    const int status = stellar_check_mass(mass, least, err);
    return status ? status : birth(model, STELLAR_HE_MS, name, mass, time_myr, star, err);
}

void stellar_add_event(const struct stellar_event *event, struct stellar_events *events)
{
    if (events && events->n < STELLAR_EVENTS_MOST) events->event[events->n++] = *event;
}

/* Move a star to the last point of its grid up to a time.
 * @param[out] step  the step from there, unless it is a remnant */
static int move_to(const struct stellar_model *model, double time_myr, struct stellar_star *star,
                   struct stellar_work *work, struct stellar_step *step, struct stellar_events *events,
                   struct nbc_error *err)
{
    for (int n = 0; n < STEPS_MOST; n++) {
        if (is_remnant(star->type)) return NBC_OK;
        stellar_step_plan(model, star, work, step);
        if (!(step->next.time_myr <= time_myr)) return NBC_OK;
        struct stellar_event event = {.type_before = star->type, .number = -1, .mass_before = step->next.mass};
        *star = step->next;
        work->point = step->point;
        if (step->end != STELLAR_GOES_ON) {
            stellar_phase_end(model, step->end, &work->track, star, &event);
            work->has_point = 0;
            stellar_add_event(&event, events);
        } else if (star->type != event.type_before) { /* a helium giant reaches the branch */
            event.time_myr = star->time_myr;
            event.type_after = star->type;
            event.mass_after = star->mass;
            stellar_add_event(&event, events);
        }
    }
    return nbc_fail(err, NBC_BAD_ARGUMENT, "a state that no star can have: its phase does not end");
}

/* How much a star changes within dt from a point that is `past` after its grid point, in units of the limits of
 * ask_again_myr: the largest of some looks, as radii shrink and grow within a phase. */
static double change_within(const struct stellar_model *model, const struct stellar_star *star,
                            struct stellar_work *work, double past, double dt, const struct stellar_star *now,
                            const struct stellar_point *p)
{
    enum { LOOKS = 8 };
    const double most_mass = 1e-3, most_radius = log(1.05);
    double most = 0;
    for (int k = LOOKS; k > 0 && !(most > 1); k--) {
        struct stellar_star later;
        struct stellar_point q;
        stellar_step_part(model, star, work, past + dt * k / LOOKS, &later, &q, NULL);
        most = fmax(most, fabs(later.mass / now->mass - 1) / most_mass);
        most = fmax(most, fabs(log(q.r / p->r)) / most_radius);
    }
    return most;
}

/* The time until which mass and radius stay within the limits of ask_again_myr, at most dt */
static double quiet_time(const struct stellar_model *model, const struct stellar_star *star, struct stellar_work *work,
                         double past, double dt, const struct stellar_star *now, const struct stellar_point *p)
{
    const double most_of_phase = 1.0 / 8;
    double begin = 0, end = 0;
    stellar_track_make(model, now->type, now->mass_track, &work->track);
    if (stellar_phase(&work->track, now->type, &begin, &end)) dt = fmin(dt, most_of_phase * (end - begin));
    for (int tries = 0; tries < 60; tries++) {
        const double change = change_within(model, star, work, past, dt, now, p);
        if (!(change > 1)) break;
        dt *= fmax(0.1, fmin(0.7, 0.95 / change));
    }
    return dt;
}

static void view_remnant(const struct stellar_model *model, const struct stellar_star *star, double time_myr,
                         struct stellar_view *view)
{
    struct stellar_track none = {.kind = STELLAR_TRACK_NONE};
    struct stellar_point p;
    stellar_point_make(model, &none, star->type, star->mass, star->age_myr + (time_myr - star->time_myr), &p);
    *view = (struct stellar_view){.type = star->type,
                                  .time_myr = time_myr,
                                  .mass = star->mass,
                                  .luminosity = p.l,
                                  .radius = p.r,
                                  .temperature_k = stellar_temperature(p.l, p.r),
                                  .core_mass = star->core_mass,
                                  .co_core_mass = star->co_core_mass,
                                  .spin = star->spin,
                                  .ask_again_myr = HUGE_VAL};
}

/* A star on its way from a grid point to the next one */
static void view_step(const struct stellar_model *model, const struct stellar_star *star,
                      const struct stellar_step *step, struct stellar_work *work, double time_myr,
                      struct stellar_view *view)
{
    const double past = time_myr - star->time_myr;
    struct stellar_star now;
    struct stellar_point p;
    stellar_step_part(model, star, work, past, &now, &p, NULL);
    const double next = step->next.time_myr;
    const double later = fmin(next, time_myr + quiet_time(model, star, work, past, next - time_myr, &now, &p));
    *view = (struct stellar_view){.type = now.type,
                                  .phase_ends = step->end != STELLAR_GOES_ON && later == next,
                                  .time_myr = time_myr,
                                  .mass = now.mass,
                                  .luminosity = p.l,
                                  .radius = p.r,
                                  .temperature_k = stellar_temperature(p.l, p.r),
                                  .core_mass = now.core_mass,
                                  .co_core_mass = now.co_core_mass,
                                  .wind = p.wind,
                                  .spin = star->spin,
                                  .ask_again_myr = later > time_myr ? later : nextafter(time_myr, HUGE_VAL)};
}

/* stellar_evolve after the checks, on a copy of the star */
static int evolve(const struct stellar_model *model, struct stellar_star *star, double time_myr,
                  struct stellar_view *view, struct stellar_events *events, struct nbc_error *err)
{
    struct stellar_work work = {.has_point = 0};
    struct stellar_step step;
    struct stellar_view seen;
    const int status = move_to(model, time_myr, star, &work, &step, events, err);
    if (status || !view) return status;
    if (is_remnant(star->type))
        view_remnant(model, star, time_myr, &seen);
    else
        view_step(model, star, &step, &work, time_myr, &seen);
    const int sound = stellar_check_view(&seen, err);
    if (!sound) *view = seen;
    return sound;
}

int stellar_evolve(const struct stellar_model *model, struct stellar_star *star, double time_myr,
                   struct stellar_view *view, struct stellar_events *events, struct nbc_error *err)
{
    struct stellar_star moved = *star;
    if (events) events->n = 0;
    int status = stellar_check_star(model, star, err);
    if (!status) status = stellar_check_time(star, time_myr, err);
    if (!status) status = evolve(model, &moved, time_myr, view, events, err);
    if (!status)
        *star = moved;
    else if (events)
        events->n = 0;
    return status;
}

int stellar_stand_at(const struct stellar_model *model, double time_myr, struct stellar_star *star,
                     struct stellar_work *work, struct stellar_events *events, struct nbc_error *err)
{
    struct stellar_step step;
    struct stellar_star now;
    struct stellar_point p;
    const int status = move_to(model, time_myr, star, work, &step, events, err);
    if (status) return status;
    if (is_remnant(star->type)) {
        star->age_myr += time_myr - star->time_myr;
    } else {
        stellar_step_part(model, star, work, time_myr - star->time_myr, &now, &p, NULL);
        *star = now;
        work->has_point = 0;
    }
    star->time_myr = time_myr;
    return NBC_OK;
}

/* stellar_set_mass after the checks, on a copy of the star */
static int set_mass(const struct stellar_model *model, struct stellar_star *star, double time_myr, double mass,
                    struct stellar_events *events, struct nbc_error *err)
{
    struct stellar_work work = {.has_point = 0};
    struct stellar_point p;
    struct stellar_event event;
    const int status = stellar_stand_at(model, time_myr, star, &work, events, err);
    if (status) return status;
    if (star->type == STELLAR_NONE) return nbc_fail(err, NBC_BAD_ARGUMENT, "nothing is left of the star");
    if (is_remnant(star->type)) {
        if (stellar_reweigh_remnant(model, mass, star, &event)) stellar_add_event(&event, events);
        return NBC_OK;
    }
    stellar_reweigh(model, mass, &work, star, &p);
    if (p.envelope > 0) return NBC_OK;
    stellar_phase_end(model, STELLAR_STRIPPED, &work.track, star, &event);
    stellar_add_event(&event, events);
    return NBC_OK;
}

int stellar_set_mass(const struct stellar_model *model, struct stellar_star *star, double time_myr, double mass,
                     struct stellar_view *view, struct stellar_events *events, struct nbc_error *err)
{
    struct stellar_star changed = *star;
    const double least = 1e-3;
    if (events) events->n = 0;
    int status = stellar_check_star(model, star, err);
    if (!status) status = stellar_check_time(star, time_myr, err);
    if (!status) status = stellar_check_mass(mass, least, err);
    if (!status) status = set_mass(model, &changed, time_myr, mass, events, err);
    if (!status) status = evolve(model, &changed, time_myr, view, NULL, err);
    if (!status)
        *star = changed;
    else if (events)
        events->n = 0;
    return status;
}

int stellar_evolve_all(const struct stellar_model *model, int64_t n, struct stellar_star star[], double time_myr,
                       struct stellar_view view[], struct stellar_events events[], struct nbc_error *err)
{
    int64_t failed = n;
#pragma omp parallel for schedule(dynamic, 256) reduction(min : failed) if (n > 256)
    for (int64_t i = 0; i < n; i++)
        if (stellar_evolve(model, &star[i], time_myr, view ? &view[i] : NULL, events ? &events[i] : NULL, NULL) &&
            i < failed)
            failed = i;
    if (failed == n) return NBC_OK;
    struct nbc_error why = {0};
    struct stellar_star again = star[failed];
    const int status = stellar_evolve(model, &again, time_myr, NULL, NULL, &why);
    return nbc_fail(err, status, "star %lld: %.400s", (long long)failed, why.text);
}
