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
#include "nbody6/input/properties.h"
#include "nbody6/state/ascending.h"
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

struct nb6_share {
    struct nb6_keep keep;
    int is_asked; /**< 1: before a block; its transaction is open */
    int has_rest; /**< 1: there may be motions that the block did not need, after `rest_last` */
    int64_t rest_last;
    int rest_status;
    struct nbc_error rest_error;
    struct nb6_places concerned;
    struct nb6_shown shown;
    struct nb6_follow follow;
};

static struct nb6_share *provide(struct nb6_sim *sim, struct nbc_error *err)
{
    if (!sim->elsewhere.share) sim->elsewhere.share = nbc_alloc(1, sizeof *sim->elsewhere.share);
    if (!sim->elsewhere.share) nbc_fail(err, NBC_NO_MEMORY, "no memory for the share of the host in blocks");
    return sim->elsewhere.share;
}

/* The members of the block whom the host knows of, as bodies in ascending order. */
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
        if (nb6_is_ending(&sim->pairs, nb6_slot_of(sim, active->irr[at]))) return 1;
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
    return nb6_pairs_correct(sim, i, sim->active.t, c->acc, c->jerk);
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
    nbc_share(active->n_irr, part, parts, &first, &end);
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

/* What systems do within an open transaction: motions and corrections. */
static enum nb6_share_answer move_systems(struct nb6_sim *sim, struct nb6_dev *home, int64_t n, int *status,
                                          struct nbc_error *err)
{
    int paused = 0;
    *status = nb6_step_pairs_now(sim, &paused, err);
    if (*status) return NB6_SHARE_FAILED;
    if (paused) return NB6_SHARE_PAUSED;
    if (sim->active.n_irr != n || is_any_ending(sim)) return NB6_SHARE_HOST;
    *status = correct_all(sim, home, err);
    home->control->t_ask = nb6_share_next(sim);
    return *status ? NB6_SHARE_FAILED : NB6_SHARE_GO;
}

/* Whether nothing can follow from a block for a system but by a new list: it chooses no perturbers, and what moves it
 * has found nothing to decide. */
static int goes_on(const struct nb6_sim *sim, int64_t slot)
{
    const struct nb6_pairs *p = &sim->pairs;
    return !nb6_is_chain(p, slot) && !nb6_pair_is_wide(sim, slot) && !nb6_radii_act(sim->properties) &&
           !(sim->config.pair.r_star > 0) && p->pair[slot].t_check > nb6_time_to_double(sim->active.t);
}

/* The same of all members, and of the motions that are made meanwhile, of which those of remote pairs have nothing to
 * decide. Who is told of no step has to be asked. */
static int do_all_go_on(const struct nb6_sim *sim)
{
    const struct nb6_active *active = &sim->active;
    if (active->n_irr == 0 || sim->transaction.n_event > 0) return 0;
    for (int64_t at = active->n_irr - 1; at >= 0 && nb6_is_centre(sim, active->irr[at]); at--)
        if (!goes_on(sim, nb6_slot_of(sim, active->irr[at]))) return 0;
    return !nb6_pairs_have_near_rest(sim);
}

static int begin(struct nb6_sim *sim, struct nb6_share *share, nb6_time now, struct nbc_error *err)
{
    int status = nb6_keep_begin(&share->keep, sim, err);
    sim->ti_now = now;
    return status ? status : nb6_transaction_begin(sim, err);
}

/* Times within another epoch need another origin, of which all bodies have to know. */
enum nb6_share_answer nb6_share_before(struct nb6_sim *sim, struct nb6_dev *home, nb6_time now, nb6_time t, int64_t n,
                                       const int32_t *member, int *status, struct nbc_error *err)
{
    struct nb6_share *share = provide(sim, err);
    *status = share ? NBC_OK : NBC_NO_MEMORY;
    if (share && !nb6_origin_serves(sim, t)) return NB6_SHARE_HOST;
    if (share) *status = nb6_follow_status(&share->follow, err);
    if (!*status) *status = begin(sim, share, now, err);
    if (*status) return NB6_SHARE_FAILED;
    set_members(sim, home, t, n, member);
    const enum nb6_share_answer answer = move_systems(sim, home, n, status, err);
    share->is_asked = share->has_rest = answer == NB6_SHARE_GO;
    share->rest_last = -1;
    if (answer == NB6_SHARE_GO) return do_all_go_on(sim) ? NB6_SHARE_TELL : NB6_SHARE_GO;
    if (answer == NB6_SHARE_PAUSED && !(*status = nb6_keep_saved(&share->keep, sim, err))) {
        nb6_transaction_stand(sim); /* the engines tell of its events */
        return answer;
    }
    nb6_transaction_rollback(sim);
    return *status ? NB6_SHARE_FAILED : answer;
}

void nb6_share_cancel(struct nb6_sim *sim)
{
    struct nb6_share *share = sim->elsewhere.share;
    if (!share || !share->is_asked) return;
    nb6_transaction_rollback(sim);
    share->is_asked = share->has_rest = share->rest_status = 0;
}

/* ---- meanwhile */

/* @return how many were moved */
static int64_t move_rest(struct nb6_sim *sim, struct nb6_share *share, int64_t most)
{
    int64_t n = 0;
    share->rest_status = nb6_step_pairs_rest(sim, &share->rest_last, most, &n, &share->rest_error);
    share->has_rest = n == most && !share->rest_status;
    return n;
}

int nb6_share_meanwhile(struct nb6_sim *sim)
{
    struct nb6_share *share = sim->elsewhere.share;
    if (!share) return 0;
    if (share->is_asked) return share->has_rest && move_rest(sim, share, 1) > 0;
    return nb6_follow_one(sim, &share->follow, &share->keep);
}

void nb6_share_reached(struct nb6_sim *sim, nb6_time t)
{
    struct nb6_share *share = sim->elsewhere.share;
    if (share && !share->is_asked) nb6_follow_reached(sim, &share->follow, t);
}

int nb6_share_settle(struct nb6_sim *sim, nb6_time t, struct nbc_error *err)
{
    if (sim->pairs.n_listed == 0) return NBC_OK;
    struct nb6_share *share = provide(sim, err);
    if (!share) return NBC_NO_MEMORY;
    if (share->is_asked) return NBC_OK;
    nb6_share_reached(sim, t);
    while (nb6_follow_one(sim, &share->follow, &share->keep)) continue;
    return nb6_follow_status(&share->follow, err);
}

/* ---- after it */

/* @param[out] stands  whether all goes on as it is, but for one pair of bodies that may become one */
static int look(struct nb6_sim *sim, int *stands, struct nbc_error *err)
{
    struct nb6_wish *wish = &sim->elsewhere.wish;
    wish->n = 0;
    wish->is_looking = 1;
    const int status = nb6_step_look(sim, stands, err);
    wish->is_looking = 0;
    if (wish->n > 1) *stands = 0;
    return status;
}

/* What follows from the block, in a transaction of its own. The engine is told of changes or of a call, not of both. */
static enum nb6_share_answer decide(struct nb6_sim *sim, struct nb6_share *share, struct nb6_dev *home, int *status,
                                    struct nbc_error *err)
{
    struct nb6_wish *wish = &sim->elsewhere.wish;
    int stands = 0;
    *status = nb6_transaction_begin(sim, err);
    if (*status) return NB6_SHARE_FAILED;
    *status = look(sim, &stands, err);
    if (!*status && stands) *status = nb6_share_renew(sim, home, &share->concerned, err);
    if (wish->n > 0 && share->concerned.n > 0) stands = 0;
    if (!*status && stands) *status = nb6_keep_saved(&share->keep, sim, err);
    if (*status || !stands) {
        nb6_transaction_rollback(sim);
        share->concerned.n = wish->n = 0;
        return *status ? NB6_SHARE_FAILED : NB6_SHARE_HOST;
    }
    nb6_transaction_stand(sim);
    home->control->t_ask = nb6_share_next(sim);
    return wish->n > 0 ? NB6_SHARE_CALLS : NB6_SHARE_GO;
}

/* The block stands: so does what was done for it before. What is to be told of that waits until the state is home. */
static int stand(struct nb6_sim *sim, struct nb6_share *share, struct nb6_dev *home, struct nbc_error *err)
{
    int status = nb6_keep_begin(&share->keep, sim, err);
    if (!share->is_asked) return status;
    if (share->has_rest) (void)move_rest(sim, share, INT64_MAX);
    home->control->t_ask = nb6_share_next(sim);
    if (share->rest_status) *err = share->rest_error;
    if (!status) status = share->rest_status;
    share->is_asked = share->has_rest = share->rest_status = 0;
    if (!status) status = nb6_keep_saved(&share->keep, sim, err);
    nb6_transaction_stand(sim);
    return status;
}

int nb6_share_note(struct nb6_sim *sim, struct nb6_dev *home, int64_t n, const struct nb6_dev_note *note,
                   struct nbc_error *err)
{
    struct nb6_share *share = provide(sim, err);
    int status = share ? stand(sim, share, home, err) : NBC_NO_MEMORY;
    if (!status) status = nb6_follow_status(&share->follow, err);
    if (status) return status;
    sim->ti_now = note->t;
    return nb6_follow_notes(sim, &share->follow, &share->keep, home, n, note, err);
}

enum nb6_share_answer nb6_share_after(struct nb6_sim *sim, struct nb6_dev *home, nb6_time t, int64_t n,
                                      const int32_t *member, int has_tides, int *status, struct nbc_error *err)
{
    struct nb6_share *share = provide(sim, err);
    *status = share ? stand(sim, share, home, err) : NBC_NO_MEMORY;
    if (!*status) *status = nb6_follow_status(&share->follow, err);
    if (*status) return NB6_SHARE_FAILED;
    const double start = nbc_wtime();
    sim->ti_now = t;
    if (sim->transaction.n_event > 0) return NB6_SHARE_HOST;
    if (has_tides) *status = nb6_shown_fetch_tides(sim, &share->shown, home, &share->concerned, err);
    for (int64_t k = 0; k < n && !has_tides && !*status; k++)
        *status = nb6_shown_fetch(sim, &share->shown, &share->keep, home, member[k], err);
    set_members(sim, home, t, n, member);
    if (!*status && !has_tides) *status = nb6_share_find_far(sim, home, &share->concerned, err);
    if (*status) return NB6_SHARE_FAILED;
    enum nb6_share_answer answer = NB6_SHARE_GO;
    if (!has_tides && share->concerned.n > 0)
        answer = NB6_SHARE_TIDES;
    else if (n > 0)
        answer = decide(sim, share, home, status, err);
    sim->pairs.n_far = 0;
    nb6_profile_stage(sim, NB6_STAGE_PAIRS, nbc_wtime() - start);
    return answer;
}

const int32_t *nb6_share_concerned(const struct nb6_sim *sim, int64_t *n)
{
    *n = sim->elsewhere.share->concerned.n;
    return sim->elsewhere.share->concerned.place;
}

/* ---- home, or lost */

void nb6_share_forget(struct nb6_sim *sim)
{
    struct nb6_share *share = sim->elsewhere.share;
    if (!share) return;
    nb6_follow_end(sim, &share->follow);
    nb6_keep_drop(&share->keep);
}

void nb6_share_undo(struct nb6_sim *sim)
{
    struct nb6_share *share = sim->elsewhere.share;
    nb6_share_cancel(sim);
    if (!share) return;
    if (share->keep.began) nb6_transaction_forget_events(sim);
    nb6_keep_restore(&share->keep, sim);
    nb6_follow_end(sim, &share->follow);
}

void nb6_share_free(struct nb6_sim *sim)
{
    struct nb6_share *share = sim->elsewhere.share;
    if (!share) return;
    nb6_keep_free(&share->keep);
    nbc_free(share->concerned.place);
    nbc_free(share->concerned.mark);
    nb6_shown_free(&share->shown);
    nb6_follow_free(&share->follow);
    nbc_free(share);
    sim->elsewhere.share = NULL;
}
