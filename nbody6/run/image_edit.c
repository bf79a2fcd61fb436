#include "nbody6/run/image_edit.h"

#include "common/nbc.h"
#include "common/sum.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/run/changed_bodies.h"
#include "nbody6/run/edit_systems.h"
#include "nbody6/run/mass_books.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/predict_fully.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/transaction.h"

#include <math.h>

/* ---- which changes */

/* Whether neither a body nor those that see it begin anew. */
static int goes_on(const struct nb6_sim *sim, const struct nb6_new_masses *masses, nb6_index i)
{
    return fabs(nb6_changed_by(sim, masses, i)) <= nb6_sudden_share * sim->body[i].mass &&
           (masses->is_slow || !nb6_is_centre(sim, i)) && nb6_edit_systems_serve(sim, i);
}

int nb6_image_edit_serves(struct nb6_sim *sim, const struct nb6_new_masses *masses)
{
    int serves = !masses->v && !nb6_external_does_work(&sim->run.external);
    for (int64_t k = 0; k < masses->n && serves; k++)
        serves = goes_on(sim, masses, nb6_body_with(sim, masses->star[k]));
    return serves && nb6_engines_take_edits(sim);
}

/* ---- the change */

/* Bodies of the change, and those that are seen beside them: [systems.n_seen]. */
struct image_edit {
    const struct nb6_new_masses *masses;
    nb6_time ti;
    struct nb6_edit_systems systems;
    int64_t n; /* bodies with stars that change */
    nb6_index *body;
    struct nb6_changed *changed;
    struct nb6_gathered *gathered;
    double (*x)[3], (*v)[3], *was, *is; /* as a frame has them at that time; masses */
};

static int no_memory(struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to change masses");
}

static int find_bodies(const struct nb6_sim *sim, struct image_edit *e, struct nbc_error *err)
{
    const size_t n = (size_t)e->masses->n;
    e->body = nbc_alloc(n, sizeof *e->body);
    e->changed = nbc_alloc(n, sizeof *e->changed);
    if (!e->body || !e->changed) return no_memory(err);
    e->n = nb6_changed_bodies(sim, e->masses, e->body);
    const int status = nb6_edit_systems_find(sim, e->n, e->body, &e->systems, err);
    if (status) return status;
    const size_t seen = (size_t)e->systems.n_seen;
    e->gathered = nbc_alloc(seen, sizeof *e->gathered);
    e->x = nbc_alloc(seen, sizeof *e->x);
    e->v = nbc_alloc(seen, sizeof *e->v);
    e->was = nbc_alloc(seen, sizeof *e->was);
    e->is = nbc_alloc(seen, sizeof *e->is);
    return e->gathered && e->x && e->v && e->was && e->is ? NBC_OK : no_memory(err);
}

static void release(struct image_edit *e)
{
    nb6_edit_systems_free(&e->systems);
    nbc_free(e->body);
    nbc_free(e->changed);
    nbc_free(e->gathered);
    nbc_free(e->x);
    nbc_free(e->v);
    nbc_free(e->was);
    nbc_free(e->is);
}

static int64_t seen_at(const struct image_edit *e, int64_t k)
{
    return nb6_list_find(e->systems.seen, (size_t)e->systems.n_seen, e->body[k]);
}

static int see_bodies(struct nb6_sim *sim, struct image_edit *e, struct nbc_error *err)
{
    const struct nb6_edit_systems *s = &e->systems;
    const int status = nb6_engines_gather(sim, e->ti, s->n_seen, s->seen, e->gathered, err);
    for (int64_t k = 0; k < s->n_seen && !status; k++) {
        const struct nb6_gathered *from = &e->gathered[k];
        nb6_predict_fully(&from->body, &from->star, e->ti, e->x[k], e->v[k]);
        e->was[k] = e->is[k] = from->body.mass;
    }
    return status;
}

/* Bodies in host memory become those of the image. */
static int take_bodies(struct nb6_sim *sim, const struct image_edit *e, struct nbc_error *err)
{
    const struct nb6_edit_systems *s = &e->systems;
    nb6_index star[CHAIN_MAX];
    int status = NBC_OK;
    for (int64_t k = 0; k < s->n_seen && !status; k++) status = nb6_save_body(sim, s->seen[k], err);
    for (int64_t k = 0; k < e->n; k++) {
        const int n = nb6_stars_of(sim, e->body[k], star);
        for (int m = 0; m < n && !status; m++) status = nb6_save_body(sim, star[m], err);
    }
    for (int64_t k = 0; k < s->n_seen && !status; k++) sim->body[s->seen[k]] = e->gathered[k].body;
    return status;
}

/* With systems that concerns: perturbers are looked for from now on.   @param[out] ends  1: this cannot be done here */
static int change_systems(struct nb6_sim *sim, struct image_edit *e, int *ends, struct nbc_error *err)
{
    const nb6_time now = sim->ti_now;
    int status = take_bodies(sim, e, err);
    sim->ti_now = e->ti;
    if (!status) status = nb6_edit_systems_come(sim, &e->systems, ends, err);
    if (!status && !*ends)
        status = nb6_edit_systems_change(sim, e->masses, e->n, e->body, (const double(*)[3])e->x,
                                         (const double(*)[3])e->v, &e->systems, err);
    sim->ti_now = now;
    return status;
}

/* The engine is told this of them. */
static void describe(const struct nb6_sim *sim, struct image_edit *e)
{
    for (int64_t k = 0; k < e->n; k++) {
        const int64_t at = seen_at(e, k), star = nb6_new_masses_place(e->masses, e->body[k]);
        const struct nb6_body *from = &e->gathered[at].body;
        struct nb6_changed *to = &e->changed[k];
        e->is[at] = star >= 0 ? e->masses->mass[star] : sim->body[e->body[k]].mass;
        *to = (struct nb6_changed){.body = e->body[k], .mass = e->is[at], .lost = e->was[at] - e->is[at]};
        nb6_predict(from, nb6_time_to_double(e->ti - from->t0), to->x, to->v);
    }
}

/* ---- the books */

/* As nb6_energy_of_change (run/mass_books.h) has it: the potential of those that are not seen is in `gathered`. */
static int energy_of(const struct nb6_sim *sim, const struct image_edit *e, double *energy, struct nbc_error *err)
{
    const struct nb6_external *external = &sim->run.external;
    const double t = nb6_time_to_double(e->ti);
    double sum = 0, low = 0;
    const int status = nb6_energy_among(e->systems.n_seen, (const double(*)[3])e->x, e->was, e->is, &sum, err);
    for (int64_t k = 0; k < e->n; k++) {
        const int64_t at = seen_at(e, k);
        const double gained = -e->changed[k].lost, *v = e->v[at];
        nbc_add_exactly(&sum, &low, 0.5 * gained * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        nbc_add_exactly(&sum, &low, -gained * e->gathered[at].potential);
        if (external->active) nbc_add_exactly(&sum, &low, gained * nb6_external_potential(external, t, e->x[at]));
    }
    nbc_add_exactly(&sum, &low, e->systems.energy);
    *energy = sum + low;
    return status;
}

/* Those of pairs are there already. */
static void count_single_stars(const struct nb6_sim *sim, const struct image_edit *e, double sign,
                               struct nb6_star_sums *sums)
{
    for (int64_t k = 0; k < e->n && !nb6_is_centre(sim, e->body[k]); k++) {
        const int64_t at = seen_at(e, k);
        nb6_star_sums_add_star(sign * (sign < 0 ? e->was[at] : e->is[at]), e->x[at], e->v[at], sums);
    }
}

static int book(struct nb6_sim *sim, const struct image_edit *e, struct nbc_error *err)
{
    const struct nb6_new_masses *masses = e->masses;
    struct nb6_run_book *to = &sim->run.book;
    struct nb6_event event = {.kind = NB6_EVENT_MASSES_CHANGED,
                              .channel = NB6_CHANNEL_STARS,
                              .t = nb6_time_to_double(e->ti),
                              .name = masses->n == 1 ? sim->star[masses->star[0]].name : 0,
                              .value = {(double)masses->n, !masses->is_slow}};
    struct nb6_star_sums sums = e->systems.stars;
    int status = energy_of(sim, e, &event.energy, err);
    count_single_stars(sim, e, -1, &sums);
    count_single_stars(sim, e, 1, &sums);
    if (!status) status = nb6_star_sums_book(&sums, &event, to, err);
    return status || masses->is_untold ? status : nb6_event_raise(sim, &event, err);
}

static int send(struct nb6_sim *sim, const struct image_edit *e, struct nbc_error *err)
{
    const struct nb6_edit edit = {.t = e->ti,
                                  .n = e->n,
                                  .changed = e->changed,
                                  .n_pulled = e->systems.n_body,
                                  .pulled = e->systems.pulled,
                                  .with_systems = e->systems.n_slot > 0};
    const int status = nb6_engines_edit(sim, &edit, err);
    if (status) return status;
    nb6_motions_forget(sim);
    sim->potential.n = 0; /* it was that of the masses before */
    return NBC_OK;
}

int nb6_image_edit(struct nb6_sim *sim, const struct nb6_new_masses *masses, int *ends, struct nbc_error *err)
{
    struct image_edit e = {.masses = masses, .ti = sim->ti_reached, .systems.ti = sim->ti_reached};
    *ends = 0;
    int status = find_bodies(sim, &e, err);
    if (!status) status = see_bodies(sim, &e, err);
    if (!status && e.systems.n_slot > 0) status = change_systems(sim, &e, ends, err);
    if (!status && !*ends) {
        describe(sim, &e);
        status = book(sim, &e, err);
        if (!status) status = send(sim, &e, err);
    }
    release(&e);
    return status;
}
