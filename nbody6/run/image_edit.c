#include "nbody6/run/image_edit.h"

#include "common/nbc.h"
#include "common/sum.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/run/mass_books.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/predict_fully.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <math.h>

/* ---- which changes */

static int goes_on(const struct nb6_sim *sim, const struct nb6_new_masses *masses, int64_t k)
{
    const nb6_index i = masses->star[k];
    const double was = sim->body[i].mass;
    return !nb6_is_member(&sim->star[i]) && !nb6_is_resolved(&sim->subsystems, i) &&
           fabs(masses->mass[k] - was) <= nb6_sudden_share * was;
}

int nb6_image_edit_serves(struct nb6_sim *sim, const struct nb6_new_masses *masses)
{
    int serves = !masses->v && !nb6_external_does_work(&sim->run.external);
    for (int64_t k = 0; k < masses->n && serves; k++) serves = goes_on(sim, masses, k);
    return serves && nb6_engines_take_edits(sim);
}

/* ---- the change */

/* Stars of the change, in the order of the request. */
struct image_edit {
    const struct nb6_new_masses *masses;
    nb6_time ti;
    struct nb6_gathered *gathered;
    struct nb6_changed *changed;
    double (*x)[3], (*v)[3], *was; /* as a frame has them at that time */
};

static int allocate(struct image_edit *e, struct nbc_error *err)
{
    const size_t n = (size_t)e->masses->n;
    e->gathered = nbc_alloc(n, sizeof *e->gathered);
    e->changed = nbc_alloc(n, sizeof *e->changed);
    e->x = nbc_alloc(n, sizeof *e->x);
    e->v = nbc_alloc(n, sizeof *e->v);
    e->was = nbc_alloc(n, sizeof *e->was);
    if (e->gathered && e->changed && e->x && e->v && e->was) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to change masses");
}

static void release(struct image_edit *e)
{
    nbc_free(e->gathered);
    nbc_free(e->changed);
    nbc_free(e->x);
    nbc_free(e->v);
    nbc_free(e->was);
}

static void describe(struct image_edit *e)
{
    for (int64_t k = 0; k < e->masses->n; k++) {
        const struct nb6_gathered *from = &e->gathered[k];
        struct nb6_changed *to = &e->changed[k];
        to->body = e->masses->star[k];
        to->mass = e->masses->mass[k];
        e->was[k] = from->body.mass;
        to->lost = e->was[k] - to->mass;
        nb6_predict(&from->body, nb6_time_to_double(e->ti - from->body.t0), to->x, to->v);
        nb6_predict_fully(&from->body, &from->star, e->ti, e->x[k], e->v[k]);
    }
}

/* As nb6_energy_of_change (run/mass_books.h) has it: the potential of those that did not change is in `gathered`. */
static int energy_of(const struct nb6_sim *sim, const struct image_edit *e, double *energy, struct nbc_error *err)
{
    const struct nb6_external *external = &sim->run.external;
    const double t = nb6_time_to_double(e->ti);
    double sum = 0, low = 0;
    const int status = nb6_energy_among(e->masses->n, (const double(*)[3])e->x, e->was, e->masses->mass, &sum, err);
    for (int64_t k = 0; k < e->masses->n; k++) {
        const double gained = -e->changed[k].lost, *v = e->v[k];
        nbc_add_exactly(&sum, &low, 0.5 * gained * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        nbc_add_exactly(&sum, &low, -gained * e->gathered[k].potential);
        if (external->active) nbc_add_exactly(&sum, &low, gained * nb6_external_potential(external, t, e->x[k]));
    }
    *energy = sum + low;
    return status;
}

static int book(struct nb6_sim *sim, const struct image_edit *e, struct nbc_error *err)
{
    const struct nb6_new_masses *masses = e->masses;
    struct nb6_run_book *to = &sim->run.book;
    struct nb6_event event = {.kind = NB6_EVENT_MASSES_CHANGED,
                              .channel = NB6_CHANNEL_STARS,
                              .t = nb6_time_to_double(e->ti),
                              .name = masses->n == 1 ? e->gathered[0].star.name : 0,
                              .value = {(double)masses->n, !masses->is_slow}};
    struct nb6_star_sums sums = {0};
    int status = energy_of(sim, e, &event.energy, err);
    for (int64_t k = 0; k < masses->n; k++) nb6_star_sums_add_star(-e->was[k], e->x[k], e->v[k], &sums);
    for (int64_t k = 0; k < masses->n; k++) nb6_star_sums_add_star(masses->mass[k], e->x[k], e->v[k], &sums);
    if (!status) status = nb6_star_sums_book(&sums, &event, to, err);
    return status || masses->is_untold ? status : nb6_event_raise(sim, &event, err);
}

int nb6_image_edit(struct nb6_sim *sim, const struct nb6_new_masses *masses, struct nbc_error *err)
{
    struct image_edit e = {.masses = masses, .ti = sim->ti_reached};
    int status = allocate(&e, err);
    if (!status) status = nb6_engines_gather(sim, e.ti, masses->n, masses->star, e.gathered, err);
    if (!status) {
        describe(&e);
        status = book(sim, &e, err);
    }
    if (!status) {
        const struct nb6_edit edit = {.t = e.ti, .n = masses->n, .changed = e.changed};
        status = nb6_engines_edit(sim, &edit, err);
    }
    if (!status) {
        nb6_motions_forget(sim);
        sim->potential.n = 0; /* it was that of the masses before */
    }
    release(&e);
    return status;
}
