#include "nbody6/step/share_watch.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pair_advance.h"
#include "nbody6/fewbody/pair_perturbers.h"
#include "nbody6/fewbody/pair_step.h"
#include "nbody6/fewbody/pair_tides.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/share.h"
#include "nbody6/step/step.h"

#include <math.h>
#include <string.h>

/* ---- times */

/* Times are relative to an origin that follows them (nb6_origin_of): a step that ends later than this is found again
 * before. */
static const double LATEST = 8192;

/* Ends of steps need not be whole ticks. */
nb6_time nb6_share_next(const struct nb6_sim *sim)
{
    const struct nb6_pairs *p = &sim->pairs;
    double next = INFINITY;
    for (int64_t k = 0; k < p->n_listed; k++) {
        const int32_t slot = p->listed[k];
        if (p->next[slot] == -INFINITY) return 0;
        if (p->next[slot] < next && !nb6_group_can_wait(sim, slot)) next = p->next[slot];
    }
    if (next < 0) return 0;
    return next < LATEST ? sim->ti_origin + (nb6_time)ceil(ldexp(next, NB6_TIME_BITS)) : INT64_MAX;
}

int nb6_origin_serves(const struct nb6_sim *sim, nb6_time t)
{
    return nb6_origin_of(t) == sim->ti_origin;
}

/* ---- who is watched */

/* Whether the host moves a system, or has to look at it in each step. */
static int is_moved(const struct nb6_sim *sim, int64_t slot)
{
    const struct nb6_pairs *p = &sim->pairs;
    return nb6_is_chain(p, slot) || nb6_pairs_is_perturbed(p, slot) || nb6_pair_is_wide(sim, slot) ||
           p->resolved_by[nb6_centre(sim, slot)] > 0;
}

static int watch_of(const struct nb6_sim *sim, int32_t i)
{
    if (!nb6_is_centre(sim, i)) return sim->pairs.resolved_by[i] > 0 ? NB6_DEV_ASK : 0;
    return is_moved(sim, nb6_slot_of(sim, i)) ? NB6_DEV_ASK | NB6_DEV_SHOW : NB6_DEV_QUIET;
}

static struct nb6_dev_system system_of(const struct nb6_sim *sim, int64_t slot)
{
    return (struct nb6_dev_system){.radius = nb6_system_radius(sim, slot),
                                   .perturber = nb6_pair_look_rule(sim, slot),
                                   .t_check = sim->pairs.pair[slot].t_check};
}

void nb6_share_fill(const struct nb6_sim *sim, struct nb6_dev *home)
{
    home->control->t_ask = nb6_share_next(sim);
    home->control->n_ask = 0;
    for (int32_t place = 0; place < home->n; place++) {
        const int32_t i = home->body_of[place];
        home->watch[place] = (int8_t)watch_of(sim, i);
        if (nb6_is_centre(sim, i)) home->system[place - home->first_centre] = system_of(sim, nb6_slot_of(sim, i));
        if (home->watch[place] & NB6_DEV_ASK) home->ask[home->control->n_ask++] = place;
    }
}

void nb6_share_store(const struct nb6_dev *home, struct nb6_sim *sim)
{
    for (int64_t place = home->first_centre; place < home->n; place++)
        if (home->watch[place] & NB6_DEV_QUIET)
            sim->pairs.pair[nb6_slot_of(sim, home->body_of[place])].t_check =
                home->system[place - home->first_centre].t_check;
}

/* ---- what changes */

static int add(struct nb6_places *all, int32_t place, struct nbc_error *err)
{
    if (all->n == all->room) {
        const int64_t wanted = 2 * all->n + 64;
        int32_t *grown = nbc_realloc(all->place, (size_t)all->room, (size_t)wanted, sizeof *grown);
        if (!grown) return nbc_fail(err, NBC_NO_MEMORY, "no memory for those whom a change of perturbers concerns");
        all->place = grown;
        all->room = wanted;
    }
    all->place[all->n++] = place;
    return NBC_OK;
}

int nb6_share_find_far(const struct nb6_sim *sim, const struct nb6_dev *home, struct nb6_places *far,
                       struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    int status = NBC_OK;
    far->n = 0;
    for (int64_t at = active->n_irr - 1; at >= 0 && nb6_is_centre(sim, active->irr[at]) && !status; at--)
        if (nb6_pair_sums_far_tide(sim, nb6_slot_of(sim, active->irr[at]), active->t) && far->n < home->systems)
            status = add(far, home->place_of[active->irr[at]], err);
    return status;
}

static int add_list(const struct nb6_dev *home, struct nb6_places *all, int32_t n, const int32_t *body,
                    struct nbc_error *err)
{
    int status = NBC_OK;
    for (int32_t k = 0; k < n && !status; k++) status = add(all, home->place_of[body[k]], err);
    return status;
}

/* Each once. */
static int find_concerned(const struct nb6_sim *sim, const struct nb6_dev *home, struct nb6_places *all,
                          struct nbc_error *err)
{
    const struct nb6_transaction *t = &sim->transaction;
    int status = NBC_OK;
    all->n = 0;
    for (int64_t k = 0; k < t->n_saved && !status; k++) {
        const struct nb6_saved_slot *was = &t->slot[k];
        const struct nb6_perturbers *is = &sim->pairs.pert[was->slot];
        const size_t bytes = (size_t)is->n * sizeof *is->body;
        status = add(all, home->place_of[nb6_centre(sim, was->slot)], err);
        if (is->n == was->n_perturber && (bytes == 0 || memcmp(is->body, was->perturber, bytes) == 0)) continue;
        if (!status) status = add_list(home, all, was->n_perturber, was->perturber, err);
        if (!status) status = add_list(home, all, is->n, is->body, err);
    }
    nb6_list_sort(all->place, all->n);
    int64_t n = 0;
    for (int64_t k = 0; k < all->n; k++)
        if (n == 0 || all->place[k] != all->place[n - 1]) all->place[n++] = all->place[k];
    all->n = n;
    return status;
}

/* A quiet pair that somebody resolves now: when it looks next is known there. */
static int take_over(struct nb6_sim *sim, const struct nb6_dev *home, int32_t place, struct nbc_error *err)
{
    const int64_t slot = nb6_slot_of(sim, home->body_of[place]);
    int status = nb6_save_slot(sim, slot, err);
    if (!status) sim->pairs.pair[slot].t_check = home->system[place - home->first_centre].t_check;
    return status;
}

static void watch(struct nb6_dev *home, int32_t place, int8_t how)
{
    struct nb6_dev_control *control = home->control;
    const int is = how & NB6_DEV_ASK, was = home->watch[place] & NB6_DEV_ASK;
    home->watch[place] = how;
    if (is && !was) control->n_ask = nb6_list_insert(home->ask, control->n_ask, place);
    if (!is && was)
        control->n_ask =
            nb6_list_remove(home->ask, control->n_ask, nb6_list_find(home->ask, (size_t)control->n_ask, place));
}

/* @param[out] is_news  whether the engine has to know */
static int renew(struct nb6_sim *sim, struct nb6_dev *home, int32_t place, int *is_news, struct nbc_error *err)
{
    const int32_t i = home->body_of[place];
    const int8_t how = (int8_t)watch_of(sim, i);
    int status = NBC_OK;
    *is_news = how != home->watch[place] || how & NB6_DEV_QUIET;
    if (nb6_is_centre(sim, i)) {
        const int was_selected = sim->transaction.slot_is_saved[nb6_slot_of(sim, i)];
        if (home->watch[place] & NB6_DEV_QUIET && !(how & NB6_DEV_QUIET) && !was_selected)
            status = take_over(sim, home, place, err);
        home->system[place - home->first_centre] = system_of(sim, nb6_slot_of(sim, i));
    }
    watch(home, place, how);
    return status;
}

int nb6_share_renew(struct nb6_sim *sim, struct nb6_dev *home, struct nb6_places *changed, struct nbc_error *err)
{
    int64_t n = 0;
    int is_news, status = find_concerned(sim, home, changed, err);
    for (int64_t k = 0; k < changed->n && !status; k++) {
        status = renew(sim, home, changed->place[k], &is_news, err);
        if (is_news) changed->place[n++] = changed->place[k];
    }
    changed->n = n;
    return status;
}
