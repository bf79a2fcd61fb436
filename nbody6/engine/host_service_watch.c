#include "nbody6/engine/host_service_watch.h"

#include "common/nbc.h"
#include "common/select.h"
#include "common/team.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/engine/stages/parcel.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/perturbers.h"
#include "nbody6/fewbody/pairs/remote.h"
#include "nbody6/fewbody/pairs/step.h"
#include "nbody6/fewbody/pairs/tides.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/touched_slots.h"
#include "nbody6/state/transaction.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/step.h"

#include <math.h>
#include <string.h>

/* ---- times */

enum { BODIES_OF_A_PART = 512, SYSTEMS_DEALT = 16 };

/* Times are relative to an origin that follows them (nb6_origin_of). A step that ends later than this is computed
 * again before its end. */
static const double LATEST = 8192;

/* The time of the next question. Ends of steps need not be whole ticks. */
nb6_time nb6_host_service_next(const struct nb6_sim *sim)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    double next = INFINITY;
    if (p->n_listed == 0) return INT64_MAX;
    for (int64_t k = 0; k < p->n_listed; k++) {
        const int32_t slot = p->listed[k];
        if (p->next[slot] == -INFINITY) return 0;
        if (p->next[slot] < next && !nb6_group_can_wait(sim, slot)) next = p->next[slot];
    }
    if (next < 0) return 0;
    const nb6_time end = nb6_origin_end(sim->ti_origin); /* remote pairs might not ask for the next origin */
    const nb6_time t = next < LATEST ? sim->ti_origin + (nb6_time)ceil(ldexp(next, NB6_TIME_BITS)) : end;
    return t < end ? t : end;
}

int nb6_origin_serves(const struct nb6_sim *sim, nb6_time t)
{
    return nb6_origin_of(t) == sim->ti_origin;
}

/* ---- watched bodies */

/* Whether the host moves a system, or examines it in each step. */
static int is_moved(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    return !nb6_kind_of(p, slot)->device_supports || nb6_subsystems_is_perturbed(p, slot) ||
           nb6_pair_is_wide(sim, slot);
}

/* Whether all that resolve a body are remote pairs. */
static int is_resolved_by_remote(const struct nb6_sim *sim, int32_t i)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (nb6_slot slot = nb6_resolver_first(p, i); slot >= 0; slot = nb6_resolver_next(p, slot, i))
        if (!nb6_group_is_remote(sim, slot)) return 0;
    return 1;
}

static int watch_of(const struct nb6_sim *sim, int32_t i)
{
    const int is_resolved = nb6_is_resolved(&sim->subsystems, i);
    if (is_resolved && !is_resolved_by_remote(sim, i))
        return nb6_is_centre(sim, i) ? NB6_DEV_ASK | NB6_DEV_SHOW : NB6_DEV_ASK;
    const int seen = is_resolved ? NB6_DEV_REMOTE : 0;
    if (!nb6_is_centre(sim, i)) return seen;
    const nb6_slot slot = nb6_slot_of(sim, i);
    if (!is_moved(sim, slot)) return NB6_DEV_QUIET | seen;
    return nb6_group_is_remote(sim, slot) ? NB6_DEV_REMOTE : NB6_DEV_ASK | NB6_DEV_SHOW;
}

static struct nb6_dev_system system_of(const struct nb6_sim *sim, nb6_slot slot)
{
    return (struct nb6_dev_system){.radius = nb6_system_radius(sim, slot),
                                   .perturber = sim->subsystems.system[slot].remote ? nb6_pair_perturber_rule(sim, slot)
                                                                                    : nb6_pair_look_rule(sim, slot),
                                   .t_check = sim->subsystems.system[slot].t_check};
}

/* The record of a remote pair for the image, with places in place of bodies. */
static struct nb6_remote remote_of(const struct nb6_sim *sim, const struct nb6_dev *home, nb6_slot slot)
{
    struct nb6_remote remote;
    nb6_pair_get_remote(sim, slot, &remote);
    for (int32_t k = 0; k < remote.n; k++) remote.body[k] = home->place_of[remote.body[k]];
    return remote;
}

static int is_listed(int watch)
{
    return (watch & (NB6_DEV_ASK | NB6_DEV_REMOTE)) != 0;
}

static void watch_body(const struct nb6_sim *sim, struct nb6_dev *home, int64_t place)
{
    home->watch[place] = (int8_t)watch_of(sim, home->body_of[place]);
}

static void fill_system(const struct nb6_sim *sim, struct nb6_dev *home, int64_t place)
{
    const nb6_slot slot = nb6_slot_of(sim, home->body_of[place]);
    home->system[place - home->first_centre] = system_of(sim, slot);
    home->remote[place - home->first_centre] = remote_of(sim, home, slot);
}

static void pack_system(const struct nb6_dev *home, struct nb6_dev_parcel *parcel, int64_t k, int32_t place)
{
    parcel->system_at[k] = place;
    if (place < 0) return;
    parcel->system[k] = home->system[place - home->first_centre];
    parcel->remote[k] = home->remote[place - home->first_centre];
}

struct filling {
    const struct nb6_sim *sim;
    struct nb6_dev *home;
    const struct nb6_touched_slots *only; /* these systems; NULL: all */
    struct nb6_dev_parcel *parcel;        /* gets them, and who may be watched in another way; NULL: all may be */
};

/* Where the k-th of these systems is; -1: it takes no part. */
static int32_t place_of_system(const struct filling *job, int64_t k)
{
    if (!job->only) return (int32_t)(job->home->first_centre + k);
    const int64_t centre = nb6_centre(job->sim, job->only->slot[k]);
    return centre < nb6_bodies(job->sim) ? job->home->place_of[centre] : -1;
}

static void fill_systems(const struct filling *job, int64_t first, int64_t end)
{
    for (int64_t k = first; k < end; k++) {
        const int32_t place = place_of_system(job, k);
        if (place >= 0) fill_system(job->sim, job->home, place);
        if (job->parcel) pack_system(job->home, job->parcel, k, place);
    }
}

/* Bodies that may be watched in another way, or all of them. */
static void watch_range(const struct filling *job, int part, int parts)
{
    const struct nb6_dev_parcel *parcel = job->parcel;
    int64_t first, end;
    nbc_range(parcel ? parcel->n_watched : job->home->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++) {
        watch_body(job->sim, job->home, parcel ? parcel->watched[k] : k);
        if (parcel) parcel->watch[k] = job->home->watch[parcel->watched[k]];
    }
}

/* Bodies in one run, so that no two threads write to the same lines; systems, which differ in what they cost, are dealt
 * out. */
static void fill_part(void *context, int part, int parts)
{
    const struct filling *job = context;
    struct nb6_dev *home = job->home;
    const int64_t systems = job->only ? job->only->n : home->n - home->first_centre;
    int64_t first, end;
    nbc_range(home->n, part, parts, &first, &end);
    memset(home->shown + first, NB6_DEV_HIDDEN, (size_t)(end - first));
    watch_range(job, part, parts);
    for (first = (int64_t)part * SYSTEMS_DEALT; first < systems; first += (int64_t)parts * SYSTEMS_DEALT)
        fill_systems(job, first, first + SYSTEMS_DEALT < systems ? first + SYSTEMS_DEALT : systems);
}

static int is_listed_place(const void *context, int64_t place)
{
    const struct filling *job = context;
    return is_listed(job->home->watch[place]);
}

static void list_watched(struct filling *job)
{
    struct nb6_dev *home = job->home;
    struct nb6_dev_parcel *parcel = job->parcel;
    if (!parcel) {
        home->control->n_ask = nbc_select(home->n, BODIES_OF_A_PART, is_listed_place, job, home->ask);
        return;
    }
    for (int64_t k = 0; k < parcel->n_watched; k++)
        if (is_listed(parcel->watch[k])) parcel->ask[parcel->n_ask++] = parcel->watched[k];
    memcpy(home->ask, parcel->ask, (size_t)parcel->n_ask * sizeof *home->ask);
    home->control->n_ask = parcel->n_ask;
}

static struct nb6_slot_criteria criteria_of(const struct nb6_sim *sim)
{
    const struct nb6_bookkeeping *book = &sim->book;
    return (struct nb6_slot_criteria){.r_min = book->r_min,
                                      .dt_min = book->dt_min,
                                      .e_close = book->e_close,
                                      .energy_scale = nb6_energy_scale(sim),
                                      .mean_mass = sim->mean_mass,
                                      .n = sim->n,
                                      .have_radii = nb6_stars_have_radii(sim),
                                      .origin = sim->ti_origin};
}

static void fill(struct nb6_sim *sim, struct filling *job)
{
    const struct nb6_slot_criteria criteria = criteria_of(sim);
    job->home->control->t_ask = nb6_host_service_next(sim);
    nbc_team_run(nbc_parts(job->home->n, BODIES_OF_A_PART), fill_part, job);
    list_watched(job);
    nb6_touched_slots_begin(&sim->engine_image.touched_slots, &criteria);
}

void nb6_host_service_fill(struct nb6_sim *sim, struct nb6_dev *home)
{
    struct filling job = {.sim = sim, .home = home};
    fill(sim, &job);
}

/* Records say which pairs resolve each other, and that of a chain has the distance of its neighbours. */
static void touch_others(struct nb6_sim *sim, struct nb6_touched_slots *touched)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const int64_t n = touched->n;
    for (int64_t k = 0; k < n && touched->known; k++) {
        const int32_t centre = nb6_centre(sim, touched->slot[k]);
        if (centre >= nb6_bodies(sim)) continue;
        for (nb6_slot slot = nb6_resolver_first(p, centre); slot >= 0; slot = nb6_resolver_next(p, slot, centre))
            nb6_touch_slot(touched, slot);
    }
    for (int64_t k = 0; k < p->n_chain; k++)
        if (p->chain[k].slot >= 0) nb6_touch_slot(touched, p->chain[k].slot);
}

int64_t nb6_host_service_find_changed(struct nb6_sim *sim, const struct nb6_dev *home, int64_t *n_watched)
{
    struct nb6_touched_slots *touched = &sim->engine_image.touched_slots;
    const struct nb6_slot_criteria criteria = criteria_of(sim);
    if (memcmp(&criteria, &touched->criteria, sizeof criteria) != 0) nb6_touched_slots_any(touched);
    if (touched->known) touch_others(sim, touched);
    *n_watched = home->control->n_ask + touched->n;
    for (int64_t k = 0; k < touched->n; k++) *n_watched += sim->subsystems.pert[touched->slot[k]].n;
    return touched->known ? touched->n : -1;
}

/* Places that are there now.   @return their number with these */
static int64_t add_places(const struct nb6_dev *home, int32_t n, const nb6_index *body, int32_t *to, int64_t n_to)
{
    for (int32_t k = 0; k < n; k++)
        if (home->place_of[body[k]] >= 0) to[n_to++] = home->place_of[body[k]];
    return n_to;
}

/* Where bodies were that are listed, and where systems are and were, all are watched as without a system. */
static void begin_watch(struct nb6_dev *home, const struct nb6_dev_parcel *moved)
{
    const int64_t before = moved->first_before, now = home->first_centre;
    const int64_t first = before < now ? before : now, end = before < now ? now : before;
    for (int64_t k = 0; k < home->control->n_ask; k++)
        home->watch[home->ask[k]] = home->ask[k] < before ? 0 : NB6_DEV_QUIET;
    for (int64_t place = first; place < end && place < home->n; place++)
        home->watch[place] = nb6_dev_watch_alone(home, place);
    for (int64_t place = moved->n_before; place < home->n; place++)
        home->watch[place] = nb6_dev_watch_alone(home, place);
}

/* A body is watched in another way if a system has changed that is its own, or resolves it now, or resolved it before
 * and so had it watched; or if it has come. Groups are watched as a whole. Places are ascending, each once. */
static void find_watched(const struct filling *job)
{
    const struct nb6_dev *home = job->home;
    struct nb6_dev_parcel *moved = job->parcel;
    int32_t *const to = moved->watched;
    int64_t n = 0;
    for (int64_t k = 0; k < home->control->n_ask; k++)
        if (!nb6_dev_has_gone(moved, home->ask[k])) to[n++] = nb6_dev_present_place(moved, home->ask[k]);
    for (int32_t k = 0; k < moved->n_come; k++) to[n++] = moved->come[k];
    for (int64_t k = 0; k < job->only->n; k++) {
        const struct nb6_perturbers *resolved = &job->sim->subsystems.pert[job->only->slot[k]];
        const int32_t centre = place_of_system(job, k);
        if (centre >= 0) to[n++] = centre;
        n = add_places(home, resolved->n, resolved->body, to, n);
    }
    nb6_list_sort(to, n);
    moved->n_watched = 0;
    for (int64_t k = 0; k < n; k++)
        if (k == 0 || to[k] != to[k - 1]) to[moved->n_watched++] = to[k];
}

void nb6_host_service_fill_changed(struct nb6_sim *sim, struct nb6_dev *home, struct nb6_dev_parcel *parcel)
{
    struct filling job = {sim, home, &sim->engine_image.touched_slots, parcel};
    if (parcel->n_system < 0) {
        nb6_host_service_fill(sim, home);
        return;
    }
    find_watched(&job);
    begin_watch(home, parcel);
    fill(sim, &job);
}

static void store_system(const struct nb6_dev *home, int64_t place, struct nb6_sim *sim)
{
    if (home->watch[place] & NB6_DEV_QUIET)
        sim->subsystems.system[nb6_slot_of(sim, home->body_of[place])].t_check =
            home->system[place - home->first_centre].t_check;
}

/* Others have not been members of a block since. */
void nb6_host_service_store(const struct nb6_dev *home, const struct nb6_dev_parcel *parcel, struct nb6_sim *sim)
{
    if (!parcel->place)
        for (int64_t place = home->first_centre; place < home->n; place++) store_system(home, place, sim);
    else
        for (int64_t k = parcel->n - 1; k >= 0 && parcel->place[k] >= home->first_centre; k--) {
            home->system[parcel->place[k] - home->first_centre].t_check = parcel->t_check[k];
            store_system(home, parcel->place[k], sim);
        }
}

/* ---- changes */

static int add(struct nb6_index_set *all, int32_t place, struct nbc_error *err)
{
    if (!nbc_grow(&all->place, &all->room, all->n + 1, sizeof *all->place))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for those whom a change of perturbers concerns");
    all->place[all->n++] = place;
    return NBC_OK;
}

int nb6_host_service_find_far(const struct nb6_sim *sim, const struct nb6_dev *home, struct nb6_index_set *far,
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

/* Marks of a place: it is in the set; its group is as well. */
enum { IS_THERE = 1, HAS_GROUP = 2 };

static int add_once(struct nb6_index_set *all, int32_t place, struct nbc_error *err)
{
    if (all->mark[place]) return NBC_OK;
    const int status = add(all, place, err);
    if (!status) all->mark[place] = IS_THERE;
    return status;
}

static int add_list(const struct nb6_dev *home, struct nb6_index_set *all, int32_t n, const int32_t *body,
                    struct nbc_error *err)
{
    int status = NBC_OK;
    for (int32_t k = 0; k < n && !status; k++) status = add_once(all, home->place_of[body[k]], err);
    return status;
}

/* Add the members of a group, and the bodies that they resolve: all are watched in another way once a member is not
 * remote any more. */
static int add_group(const struct nb6_sim *sim, const struct nb6_dev *home, struct nb6_index_set *all, nb6_slot slot,
                     struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const int32_t leader = home->place_of[nb6_centre(sim, p->leader[slot])];
    int status = NBC_OK;
    if (all->mark[leader] == HAS_GROUP) return NBC_OK;
    for (int64_t k = p->leader[slot]; k >= 0 && !status; k = p->follower[k]) {
        status = add_once(all, home->place_of[nb6_centre(sim, k)], err);
        if (!status) status = add_list(home, all, p->pert[k].n, p->pert[k].body, err);
    }
    if (!status) all->mark[leader] = HAS_GROUP;
    return status;
}

/* Add the bodies that a slot has resolved before, and the groups that it formed with them. */
static int add_former(const struct nb6_sim *sim, const struct nb6_dev *home, struct nb6_index_set *all,
                      const struct nb6_saved_slot *was, struct nbc_error *err)
{
    int status = add_list(home, all, was->n_perturber, was->perturber, err);
    for (int32_t k = was->n_perturber - 1; k >= 0 && nb6_is_centre(sim, was->perturber[k]) && !status; k--)
        status = add_group(sim, home, all, nb6_slot_of(sim, was->perturber[k]), err);
    return status;
}

/* Each body once. */
static int find_changed_bodies(const struct nb6_sim *sim, const struct nb6_dev *home, struct nb6_index_set *all,
                               struct nbc_error *err)
{
    const struct nb6_transaction *t = &sim->transaction;
    int status = NBC_OK;
    all->n = 0;
    if (!nbc_grow(&all->mark, &all->marks, home->n, sizeof *all->mark))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for those whom a change of perturbers concerns");
    for (int64_t k = 0; k < t->n_saved && !status; k++) {
        const struct nb6_saved_slot *was = &t->slot[k];
        const struct nb6_perturbers *is = &sim->subsystems.pert[was->slot];
        const size_t bytes = (size_t)is->n * sizeof *is->body;
        const int same_list = is->n == was->n_perturber && (bytes == 0 || memcmp(is->body, was->perturber, bytes) == 0);
        status = add_once(all, home->place_of[nb6_centre(sim, was->slot)], err);
        if (same_list && was->system.remote == sim->subsystems.system[was->slot].remote) continue;
        if (!status) status = add_group(sim, home, all, was->slot, err);
        if (!status && !same_list) status = add_former(sim, home, all, was, err);
    }
    for (int64_t k = 0; k < all->n; k++) all->mark[all->place[k]] = 0;
    nb6_list_sort(all->place, all->n);
    return status;
}

/* A quiet pair that another system resolves now: take its search time from the image. */
static int take_over(struct nb6_sim *sim, const struct nb6_dev *home, int32_t place, struct nbc_error *err)
{
    const nb6_slot slot = nb6_slot_of(sim, home->body_of[place]);
    int status = nb6_save_slot(sim, slot, err);
    if (!status) sim->subsystems.system[slot].t_check = home->system[place - home->first_centre].t_check;
    return status;
}

static void watch(struct nb6_dev *home, int32_t place, int8_t how)
{
    struct nb6_dev_control *control = home->control;
    const int is = is_listed(how), was = is_listed(home->watch[place]);
    home->watch[place] = how;
    if (is && !was) control->n_ask = nb6_list_insert(home->ask, control->n_ask, place);
    if (!is && was)
        control->n_ask =
            nb6_list_remove(home->ask, control->n_ask, nb6_list_find(home->ask, (size_t)control->n_ask, place));
}

static int renew_system(struct nb6_sim *sim, struct nb6_dev *home, int32_t place, int8_t how, int *is_changed,
                        struct nbc_error *err)
{
    const nb6_slot slot = nb6_slot_of(sim, home->body_of[place]);
    const int64_t at = place - home->first_centre;
    const int was_selected = sim->transaction.slot_is_saved[slot];
    const struct nb6_remote remote = remote_of(sim, home, slot);
    int status = NBC_OK;
    *is_changed |= how & NB6_DEV_QUIET || memcmp(&remote, &home->remote[at], sizeof remote) != 0;
    if (home->watch[place] & NB6_DEV_QUIET && !(how & NB6_DEV_QUIET) && !was_selected)
        status = take_over(sim, home, place, err);
    home->system[at] = system_of(sim, slot);
    home->remote[at] = remote;
    return status;
}

/* @param[out] is_changed  whether the engine needs the change */
static int renew(struct nb6_sim *sim, struct nb6_dev *home, int32_t place, int *is_changed, struct nbc_error *err)
{
    const int32_t i = home->body_of[place];
    const int8_t how = (int8_t)watch_of(sim, i);
    int status = NBC_OK;
    *is_changed = how != home->watch[place];
    if (nb6_is_centre(sim, i)) status = renew_system(sim, home, place, how, is_changed, err);
    watch(home, place, how);
    return status;
}

int nb6_host_service_renew(struct nb6_sim *sim, struct nb6_dev *home, struct nb6_index_set *changed,
                           struct nbc_error *err)
{
    int64_t n = 0;
    int is_changed, status = find_changed_bodies(sim, home, changed, err);
    for (int64_t k = 0; k < changed->n && !status; k++) {
        status = renew(sim, home, changed->place[k], &is_changed, err);
        if (is_changed) changed->place[n++] = changed->place[k];
    }
    changed->n = n;
    return status;
}
