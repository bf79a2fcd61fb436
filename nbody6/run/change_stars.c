/* Stars that come and go between calls of nb6_evolve: a second simulation is made from the present positions, and
 * replaces the first when nothing can fail any more. */
#include "common/nbc.h"
#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/input/config.h"
#include "nbody6/run/adjust.h"
#include "nbody6/run/check_stars.h"
#include "nbody6/run/energy_of_stars.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/live.h"
#include "nbody6/run/mass_books.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/run/remake.h"
#include "nbody6/run/star_edit.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/nearest.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* First steps divide the time: at multiples of 2^-14 few of them are shorter than need be. */
enum { TIME_OF_CHANGE_BITS = NB6_TIME_BITS - 14 };

/* The request of the caller. */
struct request {
    int64_t n_gone, n_new;
    const int64_t *gone; /**< [n_gone] names */
    const int64_t *name; /**< [n_new] NULL: new ones */
    const double *mass, (*x)[3], (*v)[3];
};

/* All of a change. */
struct change {
    struct nb6_frame frame; /**< present stars */
    struct nb6_census census;
    nb6_index *moved; /**< [stars before] new numbers; -1: removed */
    struct nb6_sim *made;
    double energy; /**< that it adds */
    int64_t n_event;
    struct nb6_event *event; /**< [n_event] raised when the change is done */
};

double nb6_time_of_change(double t)
{
    return ldexp(ceil(ldexp(t, NB6_TIME_BITS - TIME_OF_CHANGE_BITS)), TIME_OF_CHANGE_BITS - NB6_TIME_BITS);
}

/* A chain in which stars have collided is ahead of the committed state. */
static int check_mergers(const struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (nb6_slot slot = 0; slot < p->n_slot; slot++)
        if (nb6_slot_is_used(p, slot) && sim->motions_now.motion.chain &&
            nb6_slot_has_mergers_ahead(p, &sim->motions_now.motion, slot))
            return nbc_fail(err, NBC_BAD_STATE,
                            "stars %lld, %lld, ... are about to merge: evolve a little further first",
                            (long long)nb6_subsystems_name(sim, slot, 0), (long long)nb6_subsystems_name(sim, slot, 1));
    for (int64_t i = 0; sim->ageing && i < sim->n; i++)
        if (sim->ageing->aged[i].waits > 0)
            return nbc_fail(err, NBC_BAD_STATE, "star %lld has collided, and is not yet one: evolve a little further",
                            (long long)sim->star[i].name);
    return NBC_OK;
}

/* ---- the stars after the change */

static int by_name(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

/* The stars that stay, in their order; merged ones, which wait for the next adjust, are gone as well. */
static int64_t leave(const struct nb6_sim *sim, const struct request *request, const int64_t *gone, struct change *c)
{
    int64_t found = 0;
    struct nb6_census *census = &c->census;
    for (int64_t i = 0; i < sim->n; i++) {
        const int64_t to = census->n, *name = &sim->star[i].name;
        const int merged = nb6_has_merged(&sim->star[i]);
        const int goes = !merged && bsearch(name, gone, (size_t)request->n_gone, sizeof *gone, by_name) != NULL;
        found += goes;
        c->moved[i] = goes || merged ? -1 : (int32_t)to;
        if (goes || merged) continue;
        census->name[to] = *name;
        census->mass[to] = c->frame.mass[i];
        memcpy(census->x[to], c->frame.x[i], sizeof census->x[to]);
        memcpy(census->v[to], c->frame.v[i], sizeof census->v[to]);
        census->radius[to] = sim->star[i].radius;
        census->mass_start[to] = sim->star[i].mass_start;
        census->n++;
    }
    census->kept = census->n;
    return found;
}

static int refuse_unknown(const struct nb6_sim *sim, int64_t n, const int64_t *gone, struct nbc_error *err)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t i = 0;
        if (k > 0 && gone[k] == gone[k - 1])
            return nbc_fail(err, NBC_BAD_INPUT, "star %lld is to go twice", (long long)gone[k]);
        while (i < sim->n && (sim->star[i].name != gone[k] || nb6_has_merged(&sim->star[i]))) i++;
        if (i == sim->n)
            return nbc_fail(err, NBC_BAD_INPUT, "there is no star %lld: nb6_get_bodies has the names",
                            (long long)gone[k]);
    }
    return nbc_fail(err, NBC_INTERNAL, "stars that are to go were not found");
}

static int remove_stars(const struct nb6_sim *sim, const struct request *request, struct change *c,
                        struct nbc_error *err)
{
    int64_t *gone = nbc_alloc((size_t)request->n_gone, sizeof *gone);
    if (!gone) return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld names", (long long)request->n_gone);
    if (request->n_gone) {
        memcpy(gone, request->gone, (size_t)request->n_gone * sizeof *gone);
        qsort(gone, (size_t)request->n_gone, sizeof *gone, by_name);
    }
    int status = NBC_OK;
    if (leave(sim, request, gone, c) != request->n_gone) status = refuse_unknown(sim, request->n_gone, gone, err);
    nbc_free(gone);
    return status;
}

static void add_stars(const struct nb6_sim *sim, const struct request *request, struct nb6_census *census)
{
    for (int64_t k = 0; k < request->n_new; k++) {
        const int64_t to = census->n++;
        census->name[to] = request->name ? request->name[k] : sim->book.name_zero + 1 + k;
        census->mass[to] = census->mass_start[to] = request->mass[k];
        memcpy(census->x[to], request->x[k], sizeof census->x[to]);
        memcpy(census->v[to], request->v[k], sizeof census->v[to]);
        census->radius[to] = sim->run.config.pair.r_star;
    }
}

static double distance2(const double x[3], const double y[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) r2 += (x[k] - y[k]) * (x[k] - y[k]);
    return r2;
}

/* Whether a new star comes so near to a pair that it acts on it with more than this part of the mutual attraction: a
 * soft pair would end (fewbody/pairs/end.c), and first steps of the star, to which a pair is a point, would be too
 * long. */
static const double GAMMA_MOST = 0.05;

static int is_disturbed(const struct nb6_census *census, nb6_index a, nb6_index b)
{
    const double r2 = distance2(census->x[a], census->x[b]), mass = census->mass[a] + census->mass[b];
    for (int64_t i = census->kept; i < census->n; i++) {
        const double d2 = fmin(distance2(census->x[i], census->x[a]), distance2(census->x[i], census->x[b]));
        if (2 * census->mass[i] * r2 * sqrt(r2) > GAMMA_MOST * mass * d2 * sqrt(d2)) return 1;
    }
    return 0;
}

/* Pairs of two stars that both stay go on, unless a star comes between them; others, hierarchies and chains are found
 * anew. */
static int goes_on(const struct nb6_sim *sim, nb6_slot slot, const struct change *c)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    if (!nb6_kind_of(&sim->subsystems, slot)->is_pair || nb6_is_hierarchy(sim, slot)) return 0;
    const nb6_index a = c->moved[pair->member[0]], b = c->moved[pair->member[1]];
    return a >= 0 && b >= 0 && !is_disturbed(&c->census, a, b);
}

static void keep_pairs(const struct nb6_sim *sim, struct change *c)
{
    struct nb6_census *census = &c->census;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot; slot++) {
        if (!nb6_slot_is_used(&sim->subsystems, slot) || !goes_on(sim, slot, c)) continue;
        for (int m = 0; m < 2; m++) census->pair[census->n_pair][m] = c->moved[sim->subsystems.system[slot].member[m]];
        census->slot[census->n_pair++] = slot;
    }
}

static int count_stars(struct nb6_sim *sim, const struct request *request, struct change *c, struct nbc_error *err)
{
    int status = nb6_frame_make(sim, sim->ti_reached, 0, &c->frame, err);
    if (!status) status = check_mergers(sim, err);
    if (!status) status = nb6_census_alloc(&c->census, sim->n + request->n_new, err);
    if (status) return status;
    c->moved = nbc_alloc((size_t)sim->n, sizeof *c->moved);
    if (!c->moved) return nbc_fail(err, NBC_NO_MEMORY, "no memory for new numbers of %lld stars", (long long)sim->n);
    status = remove_stars(sim, request, c, err);
    if (status) return status;
    add_stars(sim, request, &c->census);
    keep_pairs(sim, c);
    struct nb6_nearest *nearest;
    status = nb6_check_stars(c->census.n, c->census.name, c->census.mass, (const double(*)[3])c->census.x,
                             (const double(*)[3])c->census.v, &nearest, err);
    nb6_nearest_free(nearest);
    return status;
}

/* ---- books and words */

/* Mass, momentum and angular momentum of the stars that come, less those of the stars that go. */
static void book_sums(struct change *c, struct nb6_star_transfers *channel)
{
    struct nb6_star_sums sums = {.mass = {0, 0}};
    struct nb6_star_transfers came;
    const struct nb6_census *census = &c->census;
    for (int64_t i = census->kept; i < census->n; i++)
        nb6_star_sums_add_star(census->mass[i], census->x[i], census->v[i], &sums);
    for (int64_t i = 0; i < c->frame.n; i++)
        if (c->moved[i] < 0) nb6_star_sums_add_star(-c->frame.mass[i], c->frame.x[i], c->frame.v[i], &sums);
    nb6_star_sums_end(&sums, &came, channel);
}

/* Book the energy as that of stars. Changes of energy by the treatment of pairs and chains are errors, and appear as
 * such. */
static int book(const struct nb6_sim *sim, struct change *c, struct nbc_error *err)
{
    struct nb6_run_book *book = &c->made->run.book;
    struct nb6_frame after;
    struct nb6_energy energy;
    c->energy = nb6_energy_of_new_stars(&c->census, c->frame.t, &sim->run.external) -
                nb6_energy_of_old_stars(&c->frame, c->moved, &sim->run.external);
    if (!book->energy_known) return NBC_OK;
    int status = nb6_frame_make(c->made, c->made->ti_reached, NB6_FRAME_POTENTIAL | NB6_FRAME_BODIES, &after, err);
    if (status) return status;
    nb6_energy_of_frame(&after, &c->made->run.external, &energy);
    nb6_adjust_raise_scales(book, &energy, after.n);
    nb6_frame_free(&after);
    book_sums(c, &book->transfers.changed);
    status =
        nb6_ledger_book(&book->ledger, NB6_CHANNEL_GALAXY, c->frame.galaxy_work, err); /* no step ends to book it */
    return status ? status : nb6_ledger_book(&book->ledger, NB6_CHANNEL_CHANGED, c->energy, err);
}

/* Describe the systems that end as they were. */
static void describe_ends(const struct nb6_sim *sim, struct change *c)
{
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot; slot++) {
        if (!nb6_slot_is_used(&sim->subsystems, slot) || goes_on(sim, slot, c)) continue;
        struct nb6_event *event = &c->event[c->n_event++];
        *event = (struct nb6_event){.kind = nb6_kind_of(&sim->subsystems, slot)->ends};
        nb6_slot_describe(sim, slot, NB6_PAIR_REMADE, event);
        if (nb6_kind_of(&sim->subsystems, slot)->is_pair)
            c->made->run.counters.pairs_ended++;
        else
            c->made->run.counters.chains_ended++;
        c->made->run.counters.hierarchies_ended += nb6_is_hierarchy(sim, slot) != 0;
    }
}

static void describe_new_pairs(struct change *c)
{
    for (nb6_slot slot = c->census.n_pair; slot < c->made->subsystems.n_slot; slot++) {
        struct nb6_event *event = &c->event[c->n_event++];
        *event = (struct nb6_event){.kind = NB6_EVENT_PAIR_FORMED};
        nb6_slot_describe(c->made, slot, NB6_PAIR_ENCOUNTER, event);
    }
}

static int describe_change(const struct nb6_sim *sim, const struct request *request, struct change *c,
                           struct nbc_error *err)
{
    c->event = nbc_alloc((size_t)(sim->subsystems.n_slot + c->made->subsystems.n_slot + 1), sizeof *c->event);
    if (!c->event) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the event of a change of stars");
    describe_ends(sim, c);
    c->event[c->n_event++] = (struct nb6_event){.kind = NB6_EVENT_STARS_CHANGED,
                                                .channel = NB6_CHANNEL_CHANGED,
                                                .t = nb6_time_to_double(sim->ti_reached),
                                                .energy = c->energy,
                                                .value = {(double)request->n_new, (double)request->n_gone}};
    describe_new_pairs(c);
    return NBC_OK;
}

/* Cannot fail. */
static void take_place(struct nb6_sim *sim, struct change *c)
{
    const struct nb6_sim old = *sim;
    c->made->profile = old.profile;
    c->made->is_called = old.is_called;
    *sim = *c->made;
    *c->made = old;
    c->made->profile = NULL;
    nb6_release(c->made);
    c->made = NULL;
}

static void release(struct change *c)
{
    nb6_frame_free(&c->frame);
    nb6_census_free(&c->census);
    nbc_free(c->moved);
    nbc_free(c->event);
    nb6_release(c->made);
}

/* New names go on above all that there were. */
static int check_names(const struct nb6_sim *sim, const struct request *request, struct nbc_error *err)
{
    if (request->name || request->n_new <= NB6_NAME_LARGEST - sim->book.name_zero) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "nb6_add_bodies: above %lld, the largest name of a star so far, there are no names for %lld more: "
                    "give them names",
                    (long long)sim->book.name_zero, (long long)request->n_new);
}

/* In the run as it is.   @param[out] is_done  0: it has to be made anew */
static int edit_stars(struct nb6_sim *sim, const struct request *request, int *is_done, struct nbc_error *err)
{
    const struct nb6_star_edit edit = {.n_come = request->n_new,
                                       .n_gone = request->n_gone,
                                       .name = request->n_gone > 0 ? request->gone : request->name,
                                       .mass = request->mass,
                                       .x = request->x,
                                       .v = request->v};
    const int status = sim->body ? nb6_star_edit_serves(sim, &edit, is_done, err) : NBC_OK;
    return status || !*is_done ? status : nb6_star_edit(sim, &edit, err);
}

static int change_stars(struct nb6_sim *sim, const struct request *request, struct nbc_error *err)
{
    struct change c = {.n_event = 0};
    int is_done = 0, status = nb6_engines_bring_home(sim, err);
    if (!status) status = nb6_engines_tell(sim, err);
    if (!status) status = edit_stars(sim, request, &is_done, err);
    if (status || is_done) return status;
    status = sim->body ? check_names(sim, request, err)
                       : nbc_fail(err, NBC_BAD_STATE, "the simulation has no stars yet: nb6_set_bodies comes first");
    if (!status) status = count_stars(sim, request, &c, err);
    if (!status) status = nb6_remake(sim, &c.census, &c.made, err);
    if (!status) status = book(sim, &c, err);
    if (!status) status = describe_change(sim, request, &c, err);
    if (!status) {
        const int announced = sim->book.pairs_announced != 0;
        take_place(sim, &c);
        for (int64_t k = 0; k < c.n_event && !status && !sim->is_freed; k++)
            if (announced || c.event[k].kind == NB6_EVENT_STARS_CHANGED)
                status = nb6_event_raise(sim, &c.event[k], err);
    }
    release(&c);
    return status;
}

int nb6_add_bodies(nb6_t *sim, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                   const double (*v)[3], struct nbc_error *err)
{
    const struct request request = {.n_new = n, .name = name, .mass = mass, .x = x, .v = v};
    int status = nb6_live_begin(sim, "nb6_add_bodies", err);
    if (status) return status;
    if (n < 0 || n > INT32_MAX - 1 - sim->n)
        status =
            nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_add_bodies: %lld stars beside %lld", (long long)n, (long long)sim->n);
    else if (n && (!mass || !x || !v))
        status = nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_add_bodies: mass, x or v is NULL");
    else if (n)
        status = change_stars(sim, &request, err);
    return nb6_live_end(sim, status, err);
}

int nb6_remove_bodies(nb6_t *sim, int64_t n, const int64_t *name, struct nbc_error *err)
{
    const struct request request = {.n_gone = n, .gone = name};
    int status = nb6_live_begin(sim, "nb6_remove_bodies", err);
    if (status) return status;
    if (n < 0 || n > sim->n)
        status =
            nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_remove_bodies: %lld stars of %lld", (long long)n, (long long)sim->n);
    else if (n && !name)
        status = nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_remove_bodies: name is NULL");
    else if (n)
        status = change_stars(sim, &request, err);
    return nb6_live_end(sim, status, err);
}
