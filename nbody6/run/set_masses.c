/* New masses and velocities of stars between calls of nb6_evolve, as one transaction. */
#include "common/nbc.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/new_masses.h"
#include "nbody6/run/image_edit.h"
#include "nbody6/run/live.h"
#include "nbody6/run/mass_edit.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/transaction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the request */

struct request {
    int64_t n;
    const int64_t *name;
    const double *mass, (*v)[3];
    enum nb6_mass_change how;
};

/* A star of the request, by its name. */
struct named {
    int64_t name, at;
};

static int by_name(const void *a, const void *b)
{
    const struct named *p = a, *q = b;
    return (p->name > q->name) - (p->name < q->name);
}

static int check_star(const struct request *r, int64_t k, struct nbc_error *err)
{
    if (!isfinite(r->mass[k]))
        return nbc_fail(err, NBC_NON_FINITE, "nb6_set_masses: star %lld: the new mass is not finite",
                        (long long)r->name[k]);
    if (r->mass[k] < 0)
        return nbc_fail(err, NBC_BAD_INPUT, "nb6_set_masses: star %lld: the new mass %g is negative",
                        (long long)r->name[k], r->mass[k]);
    if (r->v && !isfinite(r->v[k][0] + r->v[k][1] + r->v[k][2]))
        return nbc_fail(err, NBC_NON_FINITE, "nb6_set_masses: star %lld: the new velocity is not finite",
                        (long long)r->name[k]);
    return NBC_OK;
}

static int check_request(const struct nb6_sim *sim, const struct request *r, struct nbc_error *err)
{
    int status = NBC_OK;
    if (!sim->body) return nbc_fail(err, NBC_BAD_STATE, "nb6_set_masses: the simulation has no stars yet");
    if (sim->ageing)
        return nbc_fail(err, NBC_BAD_STATE,
                        "nb6_set_masses: stars age (KZ(19) > 0), and their masses follow from that; make the run with "
                        "KZ(19)=0");
    if (r->n < 0 || r->n > sim->n)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_set_masses: %lld stars of %lld", (long long)r->n,
                        (long long)sim->n);
    if (r->n && (!r->name || !r->mass)) return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_set_masses: name or mass is NULL");
    if (r->how != NB6_MASS_SLOW && r->how != NB6_MASS_SUDDEN)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_set_masses: a change is NB6_MASS_SLOW or NB6_MASS_SUDDEN, not %d",
                        (int)r->how);
    if (r->v && r->how == NB6_MASS_SLOW)
        return nbc_fail(err, NBC_BAD_ARGUMENT,
                        "nb6_set_masses: stars get new velocities suddenly: NB6_MASS_SUDDEN, or no velocities");
    for (int64_t k = 0; k < r->n && !status; k++) status = check_star(r, k, err);
    return status;
}

/* ---- stars by their names */

/* Arrays in the order of the stars. */
struct wanted {
    nb6_index *star;
    double *mass, (*v)[3];
};

static void free_wanted(struct wanted *w)
{
    nbc_free(w->star);
    nbc_free(w->mass);
    nbc_free(w->v);
}

static int refuse_name(const struct nb6_sim *sim, int64_t n, const struct named *named, struct nbc_error *err)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t i = 0;
        if (k > 0 && named[k].name == named[k - 1].name)
            return nbc_fail(err, NBC_BAD_INPUT, "nb6_set_masses: star %lld is given twice", (long long)named[k].name);
        while (i < sim->n && sim->star[i].name != named[k].name) i++;
        if (i == sim->n)
            return nbc_fail(err, NBC_BAD_INPUT, "nb6_set_masses: there is no star %lld: nb6_get_bodies has the names",
                            (long long)named[k].name);
        if (nb6_has_merged(&sim->star[i]))
            return nbc_fail(err, NBC_BAD_INPUT, "nb6_set_masses: star %lld has merged into star %lld",
                            (long long)named[k].name, (long long)sim->star[nb6_merged_into(&sim->star[i])].name);
    }
    return nbc_fail(err, NBC_INTERNAL, "nb6_set_masses: stars were not found");
}

static void want(const struct request *r, nb6_index star, int64_t at, int64_t k, struct wanted *w)
{
    w->star[k] = star;
    w->mass[k] = r->mass[at];
    if (r->v) memcpy(w->v[k], r->v[at], sizeof w->v[k]);
}

/* Names ascend with the stars unless the input had others: then a star may not be found.   @return < 0: it was not */
static int64_t search_star(const struct nb6_sim *sim, int64_t name)
{
    int64_t low = 0, high = sim->n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (sim->star[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sim->n && sim->star[low].name == name && !nb6_has_merged(&sim->star[low]) ? low : -1;
}

/* @return 0: not all were found so, in the order of the stars */
static int search_stars(const struct nb6_sim *sim, const struct request *r, const struct named *named, struct wanted *w)
{
    for (int64_t k = 0; k < r->n; k++) {
        const int64_t i = search_star(sim, named[k].name);
        if (i < 0 || (k > 0 && i <= w->star[k - 1])) return 0;
        want(r, (nb6_index)i, named[k].at, k, w);
    }
    return 1;
}

static int64_t find_stars(const struct nb6_sim *sim, const struct request *r, const struct named *named,
                          struct wanted *w)
{
    int64_t found = 0;
    if (search_stars(sim, r, named, w)) return r->n;
    for (int64_t i = 0; i < sim->n; i++) {
        const struct named key = {.name = sim->star[i].name};
        const struct named *is =
            nb6_has_merged(&sim->star[i]) ? NULL : bsearch(&key, named, (size_t)r->n, sizeof *named, by_name);
        if (is) want(r, (nb6_index)i, is->at, found++, w);
    }
    return found;
}

static int order_stars(const struct nb6_sim *sim, const struct request *r, struct wanted *w, struct nbc_error *err)
{
    const size_t n = (size_t)r->n;
    struct named *named = nbc_alloc(n, sizeof *named);
    w->star = nbc_alloc(n, sizeof *w->star);
    w->mass = nbc_alloc(n, sizeof *w->mass);
    w->v = nbc_alloc(n, sizeof *w->v);
    int status = NBC_OK;
    if (!named || !w->star || !w->mass || !w->v)
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for new masses of %lld stars", (long long)r->n);
    for (int64_t k = 0; k < r->n && !status; k++) named[k] = (struct named){r->name[k], k};
    if (!status) {
        qsort(named, n, sizeof *named, by_name);
        if (find_stars(sim, r, named, w) != r->n) status = refuse_name(sim, r->n, named, err);
    }
    nbc_free(named);
    return status;
}

/* Somebody has to attract. */
static int check_total(const struct nb6_sim *sim, const struct nb6_new_masses *masses, struct nbc_error *err)
{
    for (int64_t i = 0; i < sim->n; i++) {
        const int64_t k = nb6_new_masses_place(masses, (nb6_index)i);
        if ((k < 0 ? sim->body[i].mass : masses->mass[k]) > 0) return NBC_OK;
    }
    return nbc_fail(err, NBC_BAD_INPUT, "nb6_set_masses: the total mass of the stars would be zero");
}

/* ---- the transaction */

/* The state is that before. If a device is lost, it is that of the last time in host memory. */
static int give_up(struct nb6_sim *sim, int status, nb6_time now)
{
    struct nbc_error other = {0};
    nb6_transaction_rollback(sim);
    nb6_motions_forget(sim);
    if (sim->engine_image.lost && sim->engine_image.ahead)
        sim->engine_image.lost = nb6_engines_forget(sim, &other) == NBC_OK;
    else
        sim->ti_now = now;
    return status;
}

/* Where the image is. Its observer hears of it once the state is in host memory.   @param[out] end  as nb6_image_edit
 */
static int edit_image(struct nb6_sim *sim, const struct nb6_new_masses *masses, enum nb6_image_edit_end *end,
                      struct nbc_error *err)
{
    const nb6_time now = sim->ti_now;
    int status = nb6_mass_edit_check(sim, err);
    if (!status) status = nb6_transaction_begin(sim, err);
    if (status) return status;
    status = nb6_image_edit(sim, masses, end, err);
    if (status || *end != NB6_IMAGE_EDITED) return give_up(sim, status, now);
    nb6_transaction_commit(sim);
    sim->engine_image.told_later = sim->transaction.n_event;
    nb6_profile_count_mass_change(sim);
    return NBC_OK;
}

static int edit_state(struct nb6_sim *sim, const struct nb6_new_masses *masses, struct nbc_error *err)
{
    const nb6_time now = sim->ti_now;
    int status = nb6_engines_come_home(sim, err);
    if (!status) status = nb6_mass_edit_check(sim, err);
    if (!status) status = nb6_transaction_begin(sim, err);
    if (status) return status;
    status = nb6_engines_failed(sim, nb6_mass_edit(sim, masses, err));
    if (!status) nb6_profile_count_mass_change(sim);
    return status ? give_up(sim, status, now) : nb6_transaction_commit_and_notify(sim, err);
}

static int edit(struct nb6_sim *sim, const struct nb6_new_masses *masses, struct nbc_error *err)
{
    enum nb6_image_edit_end end = NB6_IMAGE_EDIT_AGAIN;
    int status = nb6_engines_tell(sim, err);
    if (status) return status;
    if (!nb6_image_edit_serves(sim, masses)) return edit_state(sim, masses, err);
    status = edit_image(sim, masses, &end, err);
    while (!status && end == NB6_IMAGE_EDIT_AGAIN) {
        status = nb6_engines_make_room(sim, err);
        if (!status) status = edit_image(sim, masses, &end, err);
    }
    return status || end == NB6_IMAGE_EDITED ? status : edit_state(sim, masses, err);
}

static int set_masses(struct nb6_sim *sim, const struct request *r, struct nbc_error *err)
{
    struct wanted w = {NULL, NULL, NULL};
    int status = check_request(sim, r, err);
    if (status || r->n == 0) return status;
    status = order_stars(sim, r, &w, err);
    const struct nb6_new_masses masses = {.n = r->n,
                                          .star = w.star,
                                          .mass = w.mass,
                                          .v = r->v ? (const double(*)[3])w.v : NULL,
                                          .is_slow = r->how == NB6_MASS_SLOW};
    if (!status) status = check_total(sim, &masses, err);
    if (!status) status = edit(sim, &masses, err);
    free_wanted(&w);
    return status;
}

int nb6_set_masses(nb6_t *sim, int64_t n, const int64_t *name, const double *mass, const double (*v)[3],
                   enum nb6_mass_change how, struct nbc_error *err)
{
    const struct request request = {n, name, mass, v, how};
    const int status = nb6_live_begin(sim, "nb6_set_masses", err);
    return status ? status : nb6_live_end(sim, set_masses(sim, &request, err), err);
}
