#include "nbody6/engine/host_service.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/engine/host_service_follow.h"
#include "nbody6/engine/host_service_keep.h"
#include "nbody6/engine/host_service_shown.h"
#include "nbody6/engine/host_service_watch.h"
#include "nbody6/fewbody/contacts.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/correct.h"
#include "nbody6/fewbody/pairs/step.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/members.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/step/decide.h"
#include "nbody6/step/levels.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/step.h"

#include <math.h>

struct nb6_host_service {
    struct nb6_keep keep;
    int is_asked; /**< 1: the host was asked before a block, and its transaction is open */
    int has_rest; /**< 1: there may be motions that the block does not need, after `rest_last` */
    int64_t rest_last;
    int rest_status;
    struct nbc_error rest_error;
    struct nb6_index_set changed_bodies;
    struct nb6_shown shown;
    struct nb6_follow follow;
};

static struct nb6_host_service *provide(struct nb6_sim *sim, struct nbc_error *err)
{
    if (!sim->engine_image.service) sim->engine_image.service = nbc_alloc(1, sizeof *sim->engine_image.service);
    if (!sim->engine_image.service) nbc_fail(err, NBC_NO_MEMORY, "no memory for the share of the host in blocks");
    return sim->engine_image.service;
}

int nb6_host_service_has_events(const struct nb6_sim *sim)
{
    return sim->transaction.n_event > sim->engine_image.told_later;
}

/* The members of the block that the host examines, as bodies in ascending order. */
static void set_members(struct nb6_sim *sim, const struct nb6_dev *home, nb6_time t, int64_t n, const int32_t *member)
{
    struct nb6_active *active = &sim->active;
    active->t = t;
    active->n_irr = n;
    for (int64_t k = 0; k < n; k++) active->irr[k] = home->body_of[member[k]];
    nb6_list_sort(active->irr, n);
}

/* ---- before a block */

static int is_any_ending(const struct nb6_sim *sim)
{
    const struct nb6_active *active = &sim->active;
    for (int64_t at = active->n_irr - 1; at >= 0 && nb6_is_centre(sim, active->irr[at]); at--)
        if (nb6_is_ending(&sim->subsystems, nb6_slot_of(sim, active->irr[at]))) return 1;
    return 0;
}

static int correct(const struct nb6_sim *sim, struct nb6_dev *home, int32_t place)
{
    const int32_t i = home->body_of[place];
    struct nb6_dev_correction *c = &home->correction[place];
    *c = (struct nb6_dev_correction){.longest = INFINITY};
    if (nb6_is_centre(sim, i)) {
        c->longest = nb6_contact_step(sim, nb6_slot_of(sim, i));
        c->radius = nb6_system_radius(sim, nb6_slot_of(sim, i));
    }
    return nb6_subsystems_correct(sim, i, sim->active.t, c->acc, c->jerk);
}

struct correction {
    const struct nb6_sim *sim;
    struct nb6_dev *home;
    int failed;
};

static void correct_part(void *context, int part, int parts)
{
    struct correction *job = context;
    const struct nb6_active *active = &job->sim->active;
    int64_t first, end;
    int failed = 0;
    nbc_range(active->n_irr, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++)
        failed |= correct(job->sim, job->home, job->home->place_of[active->irr[k]]) != NBC_OK;
    if (failed) __atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
}

static int correct_all(struct nb6_sim *sim, struct nb6_dev *home, struct nbc_error *err)
{
    const double start = nbc_wtime();
    struct correction job = {.sim = sim, .home = home};
    nbc_team_run(nbc_parts(sim->active.n_irr, NB6_BODIES_OF_A_PART), correct_part, &job);
    nb6_profile_stage(sim, NB6_STAGE_CORRECT, nbc_wtime() - start);
    return !job.failed ? NBC_OK
                       : nbc_fail(err, NBC_NON_FINITE, "a regularized pair has no prediction at t = %.12g",
                                  nb6_time_to_double(sim->active.t));
}

/* Motions of systems and corrections, within an open transaction. */
static enum nb6_host_service_answer move_systems(struct nb6_sim *sim, struct nb6_dev *home, int64_t n, int *status,
                                                 struct nbc_error *err)
{
    int paused = 0;
    *status = nb6_step_pairs_now(sim, &paused, err);
    if (*status) return NB6_HOST_SERVICE_FAILED;
    if (paused) return NB6_HOST_SERVICE_PAUSED;
    if (sim->active.n_irr != n || is_any_ending(sim)) return NB6_HOST_SERVICE_HOST;
    *status = correct_all(sim, home, err);
    home->control->t_ask = nb6_host_service_next(sim);
    return *status ? NB6_HOST_SERVICE_FAILED : NB6_HOST_SERVICE_GO;
}

/* Whether a block can only change a system by a new list: the system selects no perturbers, and its motion leaves
 * nothing to decide. */
static int goes_on(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    return nb6_kind_of(p, slot)->device_supports && !nb6_pair_is_wide(sim, slot) && !nb6_stars_have_radii(sim) &&
           p->system[slot].t_check > nb6_time_to_double(sim->active.t);
}

/* goes_on for all members, and for the motions that are made meanwhile; those of remote pairs leave nothing to
 * decide. With no member to note the host has to be asked. */
static int do_all_go_on(const struct nb6_sim *sim)
{
    const struct nb6_active *active = &sim->active;
    if (active->n_irr == 0 || nb6_host_service_has_events(sim)) return 0;
    for (int64_t at = active->n_irr - 1; at >= 0 && nb6_is_centre(sim, active->irr[at]); at--)
        if (!goes_on(sim, nb6_slot_of(sim, active->irr[at]))) return 0;
    return !nb6_subsystems_have_near_rest(sim);
}

static int begin(struct nb6_sim *sim, struct nb6_host_service *service, nb6_time now, struct nbc_error *err)
{
    int status = nb6_keep_begin(&service->keep, sim, err);
    sim->ti_now = now;
    return status ? status : nb6_transaction_begin(sim, err);
}

/* In another epoch times need another origin, which changes all bodies, so the host engine advances the block. */
enum nb6_host_service_answer nb6_host_service_before(struct nb6_sim *sim, struct nb6_dev *home, nb6_time now,
                                                     nb6_time t, int64_t n, const int32_t *member, int *status,
                                                     struct nbc_error *err)
{
    struct nb6_host_service *service = provide(sim, err);
    *status = service ? NBC_OK : NBC_NO_MEMORY;
    if (service && !nb6_origin_serves(sim, t)) return NB6_HOST_SERVICE_HOST;
    if (!*status) *status = nb6_external_extend_to(&sim->run.external, nb6_time_to_double(t), err);
    if (!*status) *status = nb6_follow_status(&service->follow, err);
    if (!*status) *status = begin(sim, service, now, err);
    if (*status) return NB6_HOST_SERVICE_FAILED;
    set_members(sim, home, t, n, member);
    const enum nb6_host_service_answer answer = move_systems(sim, home, n, status, err);
    service->is_asked = service->has_rest = answer == NB6_HOST_SERVICE_GO;
    service->rest_last = -1;
    if (answer == NB6_HOST_SERVICE_GO) return do_all_go_on(sim) ? NB6_HOST_SERVICE_TELL : NB6_HOST_SERVICE_GO;
    if (answer == NB6_HOST_SERVICE_PAUSED && !(*status = nb6_keep_saved(&service->keep, sim, err))) {
        nb6_transaction_commit(sim); /* engines.c reports its events */
        return answer;
    }
    nb6_transaction_rollback(sim);
    return *status ? NB6_HOST_SERVICE_FAILED : answer;
}

void nb6_host_service_cancel(struct nb6_sim *sim)
{
    struct nb6_host_service *service = sim->engine_image.service;
    if (!service || !service->is_asked) return;
    nb6_transaction_rollback(sim);
    service->is_asked = service->has_rest = service->rest_status = 0;
}

/* ---- meanwhile */

/* @return number of motions made */
static int64_t move_rest(struct nb6_sim *sim, struct nb6_host_service *service, int64_t most)
{
    int64_t n = 0;
    service->rest_status = nb6_step_pairs_rest(sim, &service->rest_last, most, &n, &service->rest_error);
    service->has_rest = n == most && !service->rest_status;
    return n;
}

int nb6_host_service_meanwhile(struct nb6_sim *sim)
{
    struct nb6_host_service *service = sim->engine_image.service;
    if (!service) return 0;
    if (service->is_asked) return service->has_rest && move_rest(sim, service, 1) > 0;
    return nb6_follow_one(sim, &service->follow, &service->keep);
}

void nb6_host_service_reached(struct nb6_sim *sim, nb6_time t)
{
    struct nb6_host_service *service = sim->engine_image.service;
    if (service && !service->is_asked) nb6_follow_reached(sim, &service->follow, t);
}

int nb6_host_service_settle(struct nb6_sim *sim, nb6_time t, struct nbc_error *err)
{
    if (sim->subsystems.n_listed == 0) return NBC_OK;
    struct nb6_host_service *service = provide(sim, err);
    if (!service) return NBC_NO_MEMORY;
    if (service->is_asked) return NBC_OK;
    nb6_host_service_reached(sim, t);
    while (nb6_follow_one(sim, &service->follow, &service->keep)) continue;
    return nb6_follow_status(&service->follow, err);
}

/* ---- after it */

/* @param[out] is_synchronised  1: nothing changes, but for one pair of bodies that may become one */
static int look_at_members(struct nb6_sim *sim, int *is_synchronised, struct nbc_error *err)
{
    struct nb6_pending_sync *pending = &sim->engine_image.pending;
    pending->n = 0;
    pending->is_looking = 1;
    const int status = nb6_step_look(sim, is_synchronised, err);
    pending->is_looking = 0;
    if (pending->n > 1) *is_synchronised = 0;
    return status;
}

/* Consequences of the block, in a transaction of its own. The engine gets either changes or bodies to synchronise,
 * not both. */
static enum nb6_host_service_answer decide(struct nb6_sim *sim, struct nb6_host_service *service, struct nb6_dev *home,
                                           int *status, struct nbc_error *err)
{
    struct nb6_pending_sync *pending = &sim->engine_image.pending;
    int is_synchronised = 0;
    *status = nb6_transaction_begin(sim, err);
    if (*status) return NB6_HOST_SERVICE_FAILED;
    *status = look_at_members(sim, &is_synchronised, err);
    if (!*status && is_synchronised) *status = nb6_host_service_renew(sim, home, &service->changed_bodies, err);
    if (pending->n > 0 && service->changed_bodies.n > 0) is_synchronised = 0;
    if (!*status && is_synchronised) *status = nb6_keep_saved(&service->keep, sim, err);
    if (*status || !is_synchronised) {
        nb6_transaction_rollback(sim);
        service->changed_bodies.n = pending->n = 0;
        return *status ? NB6_HOST_SERVICE_FAILED : NB6_HOST_SERVICE_HOST;
    }
    nb6_transaction_commit(sim);
    home->control->t_ask = nb6_host_service_next(sim);
    return pending->n > 0 ? NB6_HOST_SERVICE_SYNCHRONISE : NB6_HOST_SERVICE_GO;
}

/* The block is committed, and so is the work that the host did for it before. Its events are reported when the state
 * is exported. */
static int commit_before(struct nb6_sim *sim, struct nb6_host_service *service, struct nb6_dev *home,
                         struct nbc_error *err)
{
    int status = nb6_keep_begin(&service->keep, sim, err);
    if (!service->is_asked) return status;
    if (service->has_rest) (void)move_rest(sim, service, INT64_MAX);
    home->control->t_ask = nb6_host_service_next(sim);
    if (service->rest_status) *err = service->rest_error;
    if (!status) status = service->rest_status;
    service->is_asked = service->has_rest = service->rest_status = 0;
    if (!status) status = nb6_keep_saved(&service->keep, sim, err);
    nb6_transaction_commit(sim);
    return status;
}

int nb6_host_service_note(struct nb6_sim *sim, struct nb6_dev *home, int64_t n, const struct nb6_dev_note *note,
                          struct nbc_error *err)
{
    struct nb6_host_service *service = provide(sim, err);
    int status = service ? commit_before(sim, service, home, err) : NBC_NO_MEMORY;
    if (!status) status = nb6_follow_status(&service->follow, err);
    if (status) return status;
    sim->ti_now = note->t;
    return nb6_follow_notes(sim, &service->follow, &service->keep, home, n, note, err);
}

enum nb6_host_service_answer nb6_host_service_after(struct nb6_sim *sim, struct nb6_dev *home, nb6_time t, int64_t n,
                                                    const int32_t *member, int has_tides, int *status,
                                                    struct nbc_error *err)
{
    struct nb6_host_service *service = provide(sim, err);
    *status = service ? commit_before(sim, service, home, err) : NBC_NO_MEMORY;
    if (!*status) *status = nb6_follow_status(&service->follow, err);
    if (*status) return NB6_HOST_SERVICE_FAILED;
    const double start = nbc_wtime();
    sim->ti_now = t;
    if (nb6_host_service_has_events(sim)) return NB6_HOST_SERVICE_HOST;
    if (has_tides) *status = nb6_shown_fetch_tides(sim, &service->shown, home, &service->changed_bodies, err);
    for (int64_t k = 0; k < n && !has_tides && !*status; k++)
        *status = nb6_shown_fetch(sim, &service->shown, &service->keep, home, member[k], err);
    set_members(sim, home, t, n, member);
    if (!*status && !has_tides) *status = nb6_host_service_find_far(sim, home, &service->changed_bodies, err);
    if (*status) return NB6_HOST_SERVICE_FAILED;
    enum nb6_host_service_answer answer = NB6_HOST_SERVICE_GO;
    if (!has_tides && service->changed_bodies.n > 0)
        answer = NB6_HOST_SERVICE_TIDES;
    else if (n > 0)
        answer = decide(sim, service, home, status, err);
    sim->subsystems.n_far = 0;
    nb6_profile_stage(sim, NB6_STAGE_PAIRS, nbc_wtime() - start);
    return answer;
}

const int32_t *nb6_host_service_changed(const struct nb6_sim *sim, int64_t *n)
{
    *n = sim->engine_image.service->changed_bodies.n;
    return sim->engine_image.service->changed_bodies.place;
}

/* ---- the state is exported, or lost */

int nb6_host_service_keep_bodies(struct nb6_sim *sim, int64_t n, const nb6_index *body, struct nbc_error *err)
{
    struct nb6_host_service *service = provide(sim, err);
    int status = service ? nb6_keep_begin(&service->keep, sim, err) : NBC_NO_MEMORY;
    if (!status) status = nb6_keep_aged(&service->keep, sim, err);
    for (int64_t k = 0; k < n && !status; k++) status = nb6_keep_body(&service->keep, sim, body[k], 0, err);
    return status;
}

int nb6_host_service_keep_watched(struct nb6_sim *sim, const struct nb6_dev *home, struct nbc_error *err)
{
    struct nb6_host_service *service = provide(sim, err);
    int status = service ? nb6_keep_begin(&service->keep, sim, err) : NBC_NO_MEMORY;
    for (int64_t k = 0; k < home->control->n_ask && !status; k++)
        status = nb6_keep_body(&service->keep, sim, home->body_of[home->ask[k]], 0, err);
    return status;
}

/* No list of perturbers changes, so that no pair is quiet that was not, or the other way: renewing systems needs no
 * memory once they are found. */
int nb6_host_service_edit_systems(struct nb6_sim *sim, struct nb6_dev *home, struct nbc_error *err)
{
    struct nb6_host_service *service = provide(sim, err);
    int status = service ? nb6_keep_saved(&service->keep, sim, err) : NBC_NO_MEMORY;
    if (!status) status = nb6_host_service_renew(sim, home, &service->changed_bodies, err);
    if (!status) home->control->t_ask = nb6_host_service_next(sim);
    return status;
}

/* The record of its own correctors only if the host knows its list. */
void nb6_host_service_take_watched(struct nb6_sim *sim, const struct nb6_dev *home)
{
    for (int64_t k = 0; k < home->control->n_ask; k++) {
        const int32_t place = home->ask[k], i = home->body_of[place];
        sim->body[i] = home->body[place];
        if (sim->star[i].t0_reg == home->star[place].t0_reg) sim->star[i] = home->star[place];
    }
}

void nb6_host_service_forget(struct nb6_sim *sim)
{
    struct nb6_host_service *service = sim->engine_image.service;
    if (!service) return;
    nb6_follow_end(sim, &service->follow);
    nb6_keep_drop(&service->keep);
}

void nb6_host_service_undo(struct nb6_sim *sim)
{
    struct nb6_host_service *service = sim->engine_image.service;
    nb6_host_service_cancel(sim);
    if (!service) return;
    if (service->keep.began) nb6_transaction_forget_events(sim);
    nb6_keep_restore(&service->keep, sim);
    nb6_follow_end(sim, &service->follow);
}

void nb6_host_service_free(struct nb6_sim *sim)
{
    struct nb6_host_service *service = sim->engine_image.service;
    if (!service) return;
    nb6_keep_free(&service->keep);
    nbc_free(service->changed_bodies.place);
    nbc_free(service->changed_bodies.mark);
    nb6_shown_free(&service->shown);
    nb6_follow_free(&service->follow);
    nbc_free(service);
    sim->engine_image.service = NULL;
}
