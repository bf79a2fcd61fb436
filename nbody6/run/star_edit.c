#include "nbody6/run/star_edit.h"

#include "common/nbc.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/fewbody/rename.h"
#include "nbody6/input/config.h"
#include "nbody6/run/mass_edit.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/nearest.h"
#include "nbody6/state/renumber.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/touched.h"
#include "nbody6/state/transaction.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/radius.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which changes */

/* Of all stars, so few that going through all of them for each is no loss beside making the simulation anew. */
static int64_t most_stars(const struct nb6_sim *sim)
{
    return sim->n / 32;
}

/* Criteria of few stars follow each of them. */
static int is_large(const struct nb6_sim *sim, int64_t n)
{
    enum { LEAST = 32 };
    return n >= LEAST && sim->book.nnb_opt < (double)(n - 1) && sim->run.config.integration.r_nb_init == 0;
}

static int goes_on(const struct nb6_sim *sim)
{
    return sim->run.book.energy_known && !sim->potential.started && !sim->ageing &&
           !sim->run.config.integration.fixed_nnb && is_large(sim, sim->n) && !nb6_mass_edit_check(sim, NULL);
}

static int by_name(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

/* Names, ascending, and the stars that have them. */
struct named {
    int64_t n, found; /* -1: one is there twice, or two stars have it */
    int64_t *name;
    nb6_index *star; /* [found] ascending */
};

static void free_named(struct named *named)
{
    nbc_free(named->name);
    nbc_free(named->star);
}

static void find_stars(const struct nb6_sim *sim, struct named *named)
{
    named->found = 0;
    for (int64_t k = 1; k < named->n; k++)
        if (named->name[k] == named->name[k - 1]) named->found = -1;
    for (int64_t i = 0; i < sim->n && named->found >= 0; i++) {
        const int64_t *name = &sim->star[i].name;
        if (nb6_has_merged(&sim->star[i]) || !bsearch(name, named->name, (size_t)named->n, sizeof *name, by_name))
            continue;
        if (named->found == named->n)
            named->found = -1;
        else
            named->star[named->found++] = (nb6_index)i;
    }
}

static int find_named(const struct nb6_sim *sim, int64_t n, const int64_t *name, struct named *named,
                      struct nbc_error *err)
{
    const size_t count = (size_t)n;
    *named = (struct named){
        .n = n, .name = nbc_alloc(count, sizeof *named->name), .star = nbc_alloc(count, sizeof *named->star)};
    if (!named->name || !named->star) {
        free_named(named);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld names", (long long)n);
    }
    memcpy(named->name, name, count * sizeof *name);
    qsort(named->name, count, sizeof *name, by_name);
    find_stars(sim, named);
    return NBC_OK;
}

/* Whether stars that wait for the next adjust have merged into one of these, which ascend. */
static int have_absorbed(const struct nb6_sim *sim, const struct named *named)
{
    for (int64_t i = 0; i < sim->n; i++) {
        if (!nb6_has_merged(&sim->star[i])) continue;
        if (nb6_list_find(named->star, (size_t)named->found, nb6_merged_into(&sim->star[i])) >= 0) return 1;
    }
    return 0;
}

static int can_go(const struct nb6_sim *sim, const struct nb6_star_edit *edit, int *serves, struct nbc_error *err)
{
    struct named named;
    const int status = find_named(sim, edit->n_gone, edit->name, &named, err);
    if (status) return status;
    *serves = named.found == edit->n_gone && is_large(sim, sim->n - edit->n_gone);
    for (int64_t k = 0; k < named.found; k++) *serves &= !nb6_is_member(&sim->star[named.star[k]]);
    *serves = *serves && !have_absorbed(sim, &named);
    free_named(&named);
    return NBC_OK;
}

/* Two stars, or a star and a system, that may be a hard pair: bound, and nearer to each other than two close radii,
 * which grow with their mass (fewbody/criteria.h, pairs/start.c). Two at one place are such. */
static int are_apart(const struct nb6_sim *sim, double mass, const double x[2][3], const double v[2][3], double *r)
{
    const double near = 2 * sim->book.r_min * fmax(1, mass / (2 * sim->mean_mass));
    double r2 = 0, v2 = 0;
    for (int k = 0; k < 3; k++) {
        r2 += (x[0][k] - x[1][k]) * (x[0][k] - x[1][k]);
        v2 += (v[0][k] - v[1][k]) * (v[0][k] - v[1][k]);
    }
    *r = sqrt(r2);
    return *r > 0 && (!nb6_subsystems_enabled(sim) || *r > near || v2 / 2 > mass / *r);
}

/* From so many bodies on threads are worth their start. */
enum { PARALLEL_BODIES = 4096 };

/* The nearest body to a star; -1: there is none. */
struct nearest {
    int64_t body;
    double r;
    int is_too_near; /* 1: one is */
};

static void look_at(const struct nb6_sim *sim, const struct nb6_star_edit *edit, int64_t k, nb6_index i,
                    struct nearest *nearest)
{
    const struct nb6_body *body = &sim->body[i];
    double x[2][3], v[2][3], r;
    memcpy(x[0], edit->x[k], sizeof x[0]);
    memcpy(v[0], edit->v[k], sizeof v[0]);
    nb6_predict(body, nb6_time_to_double(sim->ti_reached - body->t0), x[1], v[1]);
    if (!are_apart(sim, edit->mass[k] + body->mass, (const double(*)[3])x, (const double(*)[3])v, &r))
        nearest->is_too_near = 1;
    else if (r < nearest->r)
        *nearest = (struct nearest){i, r, nearest->is_too_near};
}

/* The nearest body of the run to star k, at the present time; -1: one is too near. Of several the first one. */
static int64_t nearest_to(const struct nb6_sim *sim, const struct nb6_star_edit *edit, int64_t k, double *least)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    struct nearest all = {-1, INFINITY, 0};
#pragma omp parallel if (p->n_source > PARALLEL_BODIES)
    {
        struct nearest own = {-1, INFINITY, 0};
#pragma omp for schedule(static) nowait
        for (int64_t m = 0; m < p->n_source; m++) look_at(sim, edit, k, p->source[m], &own);
#pragma omp critical(nearest_to)
        {
            all.is_too_near |= own.is_too_near;
            if (own.r < all.r || (own.r == all.r && own.body < all.body)) {
                all.body = own.body;
                all.r = own.r;
            }
        }
    }
    *least = all.r;
    return all.is_too_near ? -1 : all.body;
}

static int has_place(const struct nb6_sim *sim, const struct nb6_star_edit *edit, int64_t k)
{
    const double *x = edit->x[k], *v = edit->v[k];
    double pair_x[2][3], pair_v[2][3], r;
    if (!isfinite(x[0] + x[1] + x[2] + v[0] + v[1] + v[2]) || !isfinite(edit->mass[k]) || !(edit->mass[k] > 0))
        return 0;
    memcpy(pair_x[0], x, sizeof pair_x[0]);
    memcpy(pair_v[0], v, sizeof pair_v[0]);
    for (int64_t j = 0; j < k; j++) {
        memcpy(pair_x[1], edit->x[j], sizeof pair_x[1]);
        memcpy(pair_v[1], edit->v[j], sizeof pair_v[1]);
        if (!are_apart(sim, edit->mass[k] + edit->mass[j], (const double(*)[3])pair_x, (const double(*)[3])pair_v, &r))
            return 0;
    }
    return nearest_to(sim, edit, k, &r) >= 0;
}

static int can_come(const struct nb6_sim *sim, const struct nb6_star_edit *edit, int *serves, struct nbc_error *err)
{
    *serves = edit->name || edit->n_come <= NB6_NAME_LARGEST - sim->book.name_zero;
    if (edit->name) {
        struct named named;
        const int status = find_named(sim, edit->n_come, edit->name, &named, err);
        if (status) return status;
        *serves = named.found == 0 && named.name[0] > 0 && named.name[named.n - 1] <= NB6_NAME_LARGEST;
        free_named(&named);
    }
    for (int64_t k = 0; k < edit->n_come && *serves; k++) *serves = has_place(sim, edit, k);
    return NBC_OK;
}

int nb6_star_edit_serves(const struct nb6_sim *sim, const struct nb6_star_edit *edit, int *serves,
                         struct nbc_error *err)
{
    *serves = 0;
    if (!goes_on(sim) || edit->n_come + edit->n_gone > most_stars(sim)) return NBC_OK;
    return edit->n_gone > 0 ? can_go(sim, edit, serves, err) : can_come(sim, edit, serves, err);
}

/* ---- the transaction */

struct star_edit {
    const struct nb6_star_edit *request;
    int64_t n; /* stars that come or go */
    nb6_index *star;
    double *mass;     /* after the change */
    nb6_index *moved; /* [bodies before] new numbers */
};

static int allocate(const struct nb6_sim *sim, struct star_edit *e, struct nbc_error *err)
{
    e->star = nbc_alloc((size_t)e->n, sizeof *e->star);
    e->mass = nbc_alloc((size_t)e->n, sizeof *e->mass);
    e->moved = nbc_alloc((size_t)nb6_bodies(sim), sizeof *e->moved);
    if (e->star && e->mass && e->moved) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld stars that come or go", (long long)e->n);
}

static void release(struct star_edit *e)
{
    nbc_free(e->star);
    nbc_free(e->mass);
    nbc_free(e->moved);
}

static int change_masses(struct nb6_sim *sim, const struct star_edit *e, struct nbc_error *err)
{
    const struct nb6_new_masses masses = {.n = e->n,
                                          .star = e->star,
                                          .mass = e->mass,
                                          .n_come = (int)e->request->n_come,
                                          .n_gone = (int)e->request->n_gone};
    return nb6_mass_edit(sim, &masses, err);
}

/* Criteria that follow the number of stars. */
static void set_books(struct nb6_sim *sim, double came)
{
    sim->run.book.mass_start += came;
    sim->book.eta_share = nb6_eta_share(nb6_massive_stars(sim));
}

/* First they lose their masses, then, when nobody feels them any more, their numbers. */
static int go(struct nb6_sim *sim, struct star_edit *e, struct nbc_error *err)
{
    const int64_t bodies = nb6_bodies(sim);
    double gone = 0;
    struct named named;
    int status = find_named(sim, e->n, e->request->name, &named, err);
    if (status) return status;
    memcpy(e->star, named.star, (size_t)e->n * sizeof *e->star);
    free_named(&named);
    for (int64_t k = 0; k < e->n; k++) gone += sim->body[e->star[k]].mass;
    status = change_masses(sim, e, err);
    if (status) return status;
    for (int64_t i = 0, k = 0; i < bodies; i++) {
        const int goes = k < e->n && e->star[k] == i;
        e->moved[i] = goes ? NB6_NOBODY : (nb6_index)(i - k);
        k += goes;
    }
    nb6_touch_numbers(&sim->engine_image.touched, &sim->edits, bodies, e->moved, bodies - e->n);
    status = nb6_bodies_renumber(sim, e->n, bodies, e->moved, err);
    if (!status) status = nb6_subsystems_rename(sim, e->moved, err);
    set_books(sim, -gone);
    return status;
}

/* A sphere that reaches the nearest body, and as far beyond, or as large as its. */
static int place(struct nb6_sim *sim, const struct nb6_star_edit *request, int64_t k, nb6_index i,
                 struct nbc_error *err)
{
    double r;
    const int64_t nearest = nearest_to(sim, request, k, &r);
    if (nearest < 0) return nbc_fail(err, NBC_INTERNAL, "a star comes to the place of another one");
    const double r_nb = fmax(sim->star[nearest].r_nb, 2 * r);
    struct nb6_star *star = &sim->star[i];
    star->name = request->name ? request->name[k] : sim->book.name_zero + 1 + k;
    star->radius = sim->run.config.pair.r_star;
    star->mass_start = request->mass[k];
    return nb6_body_place(sim, i, 0, request->x[k], request->v[k], r_nb, sim->ti_reached, err);
}

static void set_names(struct nb6_sim *sim, int64_t first)
{
    for (int64_t i = first; i < sim->n; i++)
        if (sim->star[i].name > sim->book.name_zero) sim->book.name_zero = sim->star[i].name;
}

/* First they are there without masses, which nobody feels. */
static int come(struct nb6_sim *sim, struct star_edit *e, struct nbc_error *err)
{
    const int64_t bodies = nb6_bodies(sim), first = sim->n;
    double came = 0;
    for (int64_t i = 0; i < bodies; i++) e->moved[i] = (nb6_index)(i < first ? i : i + e->n);
    int status = nb6_save_all_as_they_are(sim, err);
    if (status) return status;
    nb6_touch_numbers(&sim->engine_image.touched, &sim->edits, bodies, e->moved, bodies + e->n);
    status = nb6_bodies_make_room(sim, e->n, err);
    for (int64_t k = 0; k < e->n && !status; k++) {
        e->star[k] = (nb6_index)(first + k);
        e->mass[k] = e->request->mass[k];
        came += e->mass[k];
        status = place(sim, e->request, k, e->star[k], err);
    }
    if (!status) status = nb6_subsystems_rename(sim, e->moved, err);
    if (!status) status = change_masses(sim, e, err);
    set_names(sim, first);
    set_books(sim, came);
    return status;
}

static int change(struct nb6_sim *sim, struct star_edit *e, struct nbc_error *err)
{
    int status = nb6_transaction_begin(sim, err);
    if (status) return status;
    const nb6_time now = sim->ti_now;
    const int64_t slots = sim->subsystems.capacity;
    status = e->request->n_gone > 0 ? go(sim, e, err) : come(sim, e, err);
    nb6_motions_forget(sim); /* copies have the numbers of before */
    if (!status) {
        nb6_nearest_free(sim->nearest);
        sim->nearest = NULL;
        return nb6_transaction_commit_and_notify(sim, err);
    }
    nb6_transaction_rollback(sim);
    sim->subsystems.capacity = slots;
    sim->ti_now = now;
    return nb6_engines_failed(sim, status);
}

int nb6_star_edit(struct nb6_sim *sim, const struct nb6_star_edit *edit, struct nbc_error *err)
{
    struct star_edit e = {.request = edit, .n = edit->n_come + edit->n_gone};
    int status = allocate(sim, &e, err);
    if (!status) status = nb6_sim_reserve_stars(sim, edit->n_come, err);
    if (!status) status = change(sim, &e, err);
    release(&e);
    return status;
}
