#include "nbody6/run/escape.h"

#include "common/nbc.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/pairs/events.h"
#include "nbody6/fewbody/pairs/galaxy.h"
#include "nbody6/fewbody/pairs/leave.h"
#include "nbody6/fewbody/rename.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/run/escapers.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/mass_books.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/attraction.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/galaxy_work.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/renumber.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "regularization/chain.h"

/* Stars leave beyond this many tidal radii (NBODY6); an isolated cluster counts ten half-mass radii as one. */
static const double ESCAPE_RADII = 2, ISOLATED_HALF_MASS_RADII = 10;

double nb6_escape_tidal_radius(const struct nb6_sim *sim, double mass)
{
    double r_tide = nb6_external_tidal_radius(&sim->run.external, mass);
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
    view.field = nb6_external_potential(&sim->run.external, frame->t, x);
    return view;
}

/* The tidal cut-off of NBODY6++: beyond one tidal radius no star is as strongly bound as a star at rest there, except
 * members of subsystems. Jacobi's integral is no criterion out there: a star that falls away from the cluster may have
 * a lower one than at the Lagrangian points. Stars of an isolated cluster must be unbound. */
static int has_escaped(const struct nb6_sim *sim, double r_tide, double mass, const struct view *view)
{
    const int cut_off = sim->run.external.active && sim->run.config.escape == NB6_ESCAPE_CUT_OFF;
    const double radii = cut_off ? 1 : ESCAPE_RADII;
    if (!(view->r2 > radii * radii * r_tide * r_tide)) return 0;
    if (cut_off) return view->energy > -mass / r_tide;
    if (nb6_external_tidal_radius(&sim->run.external, mass) > 0) return 1;
    return view->energy + view->field > 0; /* without a tide that takes it away it has to be free, of the gas as well */
}

static int say_age(const struct nb6_sim *sim, nb6_index star, struct nb6_event *event, struct nbc_error *err)
{
    struct nb6_event_stellar *s = &event->stellar;
    struct stellar_view view;
    s->t_myr = event->t * sim->run.units.time_myr;
    const int status = nb6_ageing_view(sim->ageing, &sim->ageing->aged[star], s->t_myr, &view, err);
    if (status) return status;
    s->type_after = view.type;
    s->mass_after = view.mass;
    s->radius[0] = view.radius;
    s->luminosity = view.luminosity;
    s->temperature = view.temperature_k;
    return NBC_OK;
}

/* A star that leaves, at dx, dv from the centre of mass of the body at its place in the frame. */
static int say_star(struct nb6_sim *sim, const struct nb6_frame *frame, int64_t place, nb6_index star, double mass,
                    const double dx[3], const double dv[3], double energy, struct nbc_error *err)
{
    struct nb6_event event = {
        .kind = NB6_EVENT_ESCAPE, .t = frame->t, .name = sim->star[star].name, .mass = mass, .energy = energy};
    for (int k = 0; k < 3; k++) {
        event.x[k] = frame->x[place][k] + dx[k] - sim->book.r_density[k];
        event.v[k] = frame->v[place][k] + dv[k] - sim->book.v_density[k];
    }
    const int status = sim->ageing ? say_age(sim, star, &event, err) : NBC_OK;
    return status ? status : nb6_event_raise(sim, &event, err);
}

static int leave_star(struct nb6_sim *sim, const struct nb6_frame *frame, int64_t place, nb6_index star, double mass,
                      const double dx[3], const double dv[3], double energy, struct nb6_escapers *e,
                      struct nbc_error *err)
{
    e->moved[star] = NB6_NOBODY;
    e->n_stars_gone++;
    return say_star(sim, frame, place, star, mass, dx, dv, energy, err);
}

/* A pair or chain leaves as stars; each has the energy per unit mass of their centre of mass. */
static int leave(struct nb6_sim *sim, const struct nb6_frame *frame, int64_t place, double energy,
                 struct nb6_escapers *e, struct nbc_error *err)
{
    static const double zero[3];
    const nb6_index i = sim->subsystems.source[place];
    struct nb6_frame_inside in;
    int status = NBC_OK;
    e->place[e->n_gone] = (int32_t)place;
    e->gone[e->n_gone++] = i;
    if (!nb6_is_centre(sim, i)) return leave_star(sim, frame, place, i, frame->mass[place], zero, zero, energy, e, err);
    nb6_frame_look_inside(sim, frame, place, &in);
    for (int m = 0; m < in.n && !status; m++)
        status = leave_star(sim, frame, place, in.star[m], in.mass[m], in.x[m], in.v[m], energy, e, err);
    for (int m = 0; m < 2 && !status; m++) {
        nb6_slot inner = nb6_inner_slot(sim, nb6_slot_of(sim, i), m);
        if (inner < 0) continue;
        e->moved[nb6_centre(sim, inner)] = NB6_NOBODY;
        status = nb6_slot_report_end(sim, inner, NB6_PAIR_ESCAPED, err);
    }
    e->moved[i] = NB6_NOBODY;
    sim->run.counters.hierarchies_ended += nb6_is_hierarchy(sim, nb6_slot_of(sim, i)) != 0;
    if (status) return status;
    return nb6_slot_report_end(sim, nb6_slot_of(sim, i), NB6_PAIR_ESCAPED, err);
}

/* Stars that have merged are gone for good. */
static void drop_merged(const struct nb6_sim *sim, struct nb6_escapers *e)
{
    for (int64_t i = 0; i < sim->n; i++) {
        if (!nb6_has_merged(&sim->star[i])) continue;
        e->moved[i] = NB6_NOBODY;
        e->n_stars_gone++;
        e->n_merged++;
    }
}

/* A cluster keeps at least two stars. A chain in which stars have collided stays until the collision is committed: the
 * merged star belongs to no body any more, and its energy is not booked yet. */
static int may_leave(const struct nb6_sim *sim, const struct nb6_frame *frame, const struct nb6_escapers *e,
                     int64_t place)
{
    const nb6_index i = sim->subsystems.source[place];
    nb6_index star[CHAIN_MAX];
    if (nb6_is_centre(sim, i) && nb6_slot_has_mergers_ahead(&sim->subsystems, &frame->motion, nb6_slot_of(sim, i)))
        return 0;
    return sim->n - e->n_stars_gone - nb6_stars_of(sim, i, star) >= 2;
}

static int find(struct nb6_sim *sim, const struct nb6_frame *frame, struct nb6_escapers *e, struct nbc_error *err)
{
    double mass = 0;
    int status = NBC_OK;
    for (int64_t i = 0; i < frame->n; i++) mass += frame->mass[i];
    double r_tide = nb6_escape_tidal_radius(sim, mass);
    drop_merged(sim, e);
    for (int64_t i = 0; i < frame->n && !status && sim->run.config.escape != NB6_ESCAPE_KEEP; i++) {
        const struct view view = view_of(sim, frame, i);
        if (has_escaped(sim, r_tide, mass, &view) && may_leave(sim, frame, e, i))
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

/* Book the energy of all escapers while all bodies are still where the frame has them. */
static int book(struct nb6_sim *sim, const struct nb6_frame *frame, const struct nb6_escapers *e, struct nbc_error *err)
{
    const double binding = nb6_escapers_binding(frame, e), bodies = nb6_escapers_energy(sim, frame, e);
    const struct nb6_event event = {.kind = NB6_EVENT_ENERGY_ESCAPED,
                                    .t = frame->t,
                                    .energy = binding + bodies,
                                    .value = {binding, (double)(e->n_stars_gone - e->n_merged)}};
    struct nb6_star_sums sums = {.mass = {0, 0}};
    struct nb6_star_transfers gone;
    double work = 0; /* that they will end no step to book */
    for (int64_t g = 0; g < e->n_gone; g++)
        work += nb6_galaxy_work(sim, e->gone[g], frame->t, frame->x[e->place[g]], frame->v[e->place[g]]);
    for (int64_t g = 0; g < e->n_gone; g++)
        if (nb6_is_centre(sim, e->gone[g]))
            work += nb6_slot_galaxy_work(&sim->subsystems, &frame->motion, nb6_slot_of(sim, e->gone[g]));
    for (int64_t g = 0; g < e->n_gone; g++) nb6_star_sums_add(sim, frame, e->place[g], -1, &sums);
    nb6_star_sums_end(&sums, &gone, &sim->run.book.transfers.escaped);
    int status = nb6_ledger_book(&sim->run.book.ledger, NB6_CHANNEL_GALAXY, work, err);
    if (!status) status = nb6_ledger_book(&sim->run.book.ledger, NB6_CHANNEL_ESCAPED, -bodies, err);
    if (!status) status = nb6_ledger_book(&sim->run.book.ledger, NB6_CHANNEL_ESCAPED_BINDING, -binding, err);
    return status ? status : nb6_event_raise(sim, &event, err);
}

static int remove_bodies(struct nb6_sim *sim, const struct nb6_frame *frame, const struct nb6_escapers *e,
                         struct nbc_error *err)
{
    int status = nb6_save_all(sim, err);
    if (status) return status;
    if (e->n_gone > 0 && (status = book(sim, frame, e, err))) return status;
    sim->run.counters.escapers += (uint64_t)(e->n_stars_gone - e->n_merged);
    nb6_subsystems_leave(sim, &frame->motion, e->n_gone, e->gone, e->moved, frame->t);
    nb6_subsystems_come_to_copy(sim, &frame->motion, e->moved);
    nb6_motions_forget(sim);
    nb6_attraction_remove(sim, e->n_gone, e->gone, e->moved, frame->t);
    status = nb6_subsystems_vanish(sim, e->moved, err);
    if (!status) status = nb6_bodies_renumber(sim, e->n_stars_gone, e->n_bodies, e->moved, err);
    return status ? status : nb6_subsystems_rename(sim, e->moved, err);
}

int nb6_escape_remove(struct nb6_sim *sim, const struct nb6_frame *frame, struct nbc_error *err)
{
    if (frame->t <= 0) return NBC_OK;
    struct nb6_escapers e = {.n_bodies = nb6_bodies(sim)};
    size_t n = (size_t)e.n_bodies;
    e.moved = nbc_alloc(n, sizeof *e.moved);
    e.gone = nbc_alloc(n, sizeof *e.gone);
    e.place = nbc_alloc(n, sizeof *e.place);
    int status = e.moved && e.gone && e.place ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory to remove escapers");
    if (!status) status = find(sim, frame, &e, err);
    if (!status && e.n_stars_gone > 0) status = remove_bodies(sim, frame, &e, err);
    nbc_free(e.moved);
    nbc_free(e.gone);
    nbc_free(e.place);
    return status;
}
