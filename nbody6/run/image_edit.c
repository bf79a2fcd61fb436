#include "nbody6/run/image_edit.h"

#include "common/nbc.h"
#include "common/sum.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/run/changed_bodies.h"
#include "nbody6/run/edit_systems.h"
#include "nbody6/run/mass_books.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/predict_fully.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"

#include <math.h>

/* ---- which changes */

/* Whether a body that is single, if velocities change, gets another one. */
static int is_kicked(const struct nb6_new_masses *masses, nb6_index i)
{
    if (!masses->kick) return masses->v != NULL;
    const int64_t k = nb6_new_masses_place(masses, i);
    return k >= 0 && (masses->kick[k][0] != 0 || masses->kick[k][1] != 0 || masses->kick[k][2] != 0);
}

/* Whether those that have a body in their lists begin anew. */
static int is_felt(const struct nb6_sim *sim, const struct nb6_new_masses *masses, nb6_index i)
{
    return is_kicked(masses, i) || fabs(nb6_changed_by(sim, masses, i)) > nb6_sudden_share * sim->body[i].mass;
}

static int goes_on(const struct nb6_sim *sim, const struct nb6_new_masses *masses, nb6_index i)
{
    return (masses->is_slow || !nb6_is_centre(sim, i)) && nb6_edit_systems_serve(sim, i);
}

static int is_alone(const struct nb6_sim *sim, nb6_index i)
{
    return !nb6_is_centre(sim, i) && !nb6_is_resolved(&sim->subsystems, i);
}

static int is_sudden(const struct nb6_sim *sim, const struct nb6_new_masses *masses)
{
    int sudden = masses->v || masses->kick;
    for (int64_t k = 0; k < masses->n && !sudden; k++)
        sudden = is_felt(sim, masses, nb6_body_with(sim, masses->star[k]));
    return sudden;
}

int nb6_image_edit_serves(struct nb6_sim *sim, const struct nb6_new_masses *masses)
{
    const int sudden = is_sudden(sim, masses);
    int serves = !nb6_external_does_work(&sim->run.external);
    if (sudden) serves &= !sim->run.config.integration.initial_fpoly2;
    for (int64_t k = 0; k < masses->n && serves; k++) {
        const nb6_index i = nb6_body_with(sim, masses->star[k]);
        serves = sudden ? is_alone(sim, i) : goes_on(sim, masses, i);
    }
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
    struct nb6_sudden *sudden; /* NULL: nobody begins anew */
    struct nb6_disturbed disturbed;
    int comes; /* 1: motions of systems have come to that time */
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
    if (is_sudden(sim, e->masses)) e->sudden = nbc_alloc(n, sizeof *e->sudden);
    if (!e->body || !e->changed || (!e->sudden && is_sudden(sim, e->masses))) return no_memory(err);
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
    nbc_free(e->sudden);
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

static int do_masses_change(const struct nb6_sim *sim, const struct nb6_new_masses *masses)
{
    int change = 0;
    for (int64_t k = 0; k < masses->n; k++) change |= masses->mass[k] != sim->body[masses->star[k]].mass;
    return change;
}

/* Energies of masses that change need potentials. */
static int see_bodies(struct nb6_sim *sim, struct image_edit *e, struct nbc_error *err)
{
    const struct nb6_edit_systems *s = &e->systems;
    const int with_potentials = do_masses_change(sim, e->masses);
    const int status = nb6_engines_gather(sim, e->ti, s->n_seen, s->seen, with_potentials, e->gathered, err);
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

/* The k-th body is single. */
static struct nb6_sudden sudden_of(const struct nb6_sim *sim, const struct image_edit *e, int64_t k)
{
    const int64_t at = seen_at(e, k), star = nb6_new_masses_place(e->masses, e->body[k]);
    struct nb6_sudden sudden = {
        .begins = e->masses->v != NULL, .is_felt = is_felt(sim, e->masses, e->body[k]), .was = e->was[at]};
    double v2 = 0;
    for (int d = 0; d < 3; d++) {
        sudden.x[d] = e->x[at][d];
        sudden.v[d] = e->masses->v ? e->masses->v[star][d] : e->v[at][d];
        if (sudden.begins && e->masses->kick) sudden.v[d] += e->masses->kick[star][d];
        v2 += (sudden.v[d] - e->v[at][d]) * (sudden.v[d] - e->v[at][d]);
    }
    sudden.speed = sqrt(v2);
    return sudden;
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
        if (e->sudden) e->sudden[k] = sudden_of(sim, e, k);
    }
}

static struct nb6_edit edit_of(const struct image_edit *e)
{
    return (struct nb6_edit){.t = e->ti,
                             .n = e->n,
                             .changed = e->changed,
                             .n_pulled = e->systems.n_body,
                             .pulled = e->systems.pulled,
                             .with_systems = e->systems.n_slot > 0 || e->comes,
                             .sudden = e->sudden,
                             .disturbed = e->disturbed};
}

/* Those who begin anew, and all motions at that time.   @param[out] ends  as change_systems */
static int disturb(struct nb6_sim *sim, struct image_edit *e, int *ends, struct nbc_error *err)
{
    const nb6_time now = sim->ti_now;
    const struct nb6_edit edit = edit_of(e);
    int status = nb6_engines_disturb(sim, &edit, &e->disturbed, err);
    if (status || sim->subsystems.count == 0) return status;
    e->comes = 1;
    sim->ti_now = e->ti;
    status = nb6_edit_systems_come(sim, &e->systems, ends, err);
    sim->ti_now = now;
    return status;
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
        for (int d = 0; d < 3 && e->sudden; d++) {
            const double *is = e->sudden[k].v;
            nbc_add_exactly(&sum, &low, 0.5 * e->is[at] * (is[d] - v[d]) * (is[d] + v[d]));
        }
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
        const double *v = sign > 0 && e->sudden ? e->sudden[k].v : e->v[at];
        nb6_star_sums_add_star(sign * (sign < 0 ? e->was[at] : e->is[at]), e->x[at], v, sums);
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

static int send(struct nb6_sim *sim, const struct image_edit *e, enum nb6_image_edit_end *end, struct nbc_error *err)
{
    const struct nb6_edit edit = edit_of(e);
    const int status = nb6_engines_edit(sim, &edit, err);
    if (status == NBC_NB_OVERFLOW) *end = NB6_IMAGE_EDIT_AGAIN;
    if (status) return status == NBC_NB_OVERFLOW ? NBC_OK : status;
    nb6_motions_forget(sim);
    sim->potential.n = 0; /* it was that of the masses before */
    return NBC_OK;
}

int nb6_image_edit(struct nb6_sim *sim, const struct nb6_new_masses *masses, enum nb6_image_edit_end *end,
                   struct nbc_error *err)
{
    struct image_edit e = {.masses = masses, .ti = sim->ti_reached, .systems.ti = sim->ti_reached};
    int ends = 0, status = find_bodies(sim, &e, err);
    if (!status) status = see_bodies(sim, &e, err);
    if (!status && e.systems.n_slot > 0) status = change_systems(sim, &e, &ends, err);
    if (!status && !ends) describe(sim, &e);
    if (!status && !ends && e.sudden) status = disturb(sim, &e, &ends, err);
    *end = ends ? NB6_IMAGE_EDIT_ENDS : NB6_IMAGE_EDITED;
    if (!status && !ends) status = book(sim, &e, err);
    if (!status && !ends) status = send(sim, &e, end, err);
    release(&e);
    return status;
}
