#include "nbody6/engine/engines.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/choice.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/stuck.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/survey.h"
#include "nbody6/state/touched.h"
#include "nbody6/state/touched_slots.h"
#include "nbody6/state/transaction.h"
#include "nbody6/step/block.h"
#include "nbody6/step/decide.h"
#include "nbody6/step/step.h"
#include "nbody6/step/stuck_tell.h"

#include <math.h>
#include <stdio.h>

static const struct nb6_engine *engine_of(const struct nb6_sim *sim)
{
    return nb6_engine_of((enum nb6_engine_choice)sim->engine);
}

int nb6_engines_failed(struct nb6_sim *sim, int status)
{
    const int on_device = sim->engine != NB6_ENGINE_HOST || nb6_sim_on_gpu(sim) || nb6_sim_irr_on_gpu(sim);
    if (status == NBC_DEVICE && on_device) sim->engine_image.lost = 1;
    return status;
}

struct nb6_pair_cost nb6_engines_cost(const struct nb6_sim *sim)
{
    const struct nb6_engine *engine = engine_of(sim);
    if (engine->cost.irr > 0) return engine->cost;
    return (struct nb6_pair_cost){.irr = gpuirr_info(sim->irr)->ns_per_pair, .reg = gpunb_info(sim->reg)->ns_per_pair};
}

/* Import or export, and its time. After it image and host memory are equal. */
static int move(struct nb6_sim *sim, int (*how)(struct nb6_sim *, struct nbc_error *), struct nbc_error *err)
{
    const double start = nbc_wtime();
    sim->engine_image.is_part = 0;
    const int status = how(sim, err);
    nb6_profile_stage(sim, NB6_STAGE_MOVE, nbc_wtime() - start);
    nb6_profile_count_move(sim, sim->engine_image.is_part);
    if (!status) nb6_touched_begin(&sim->engine_image.touched, sim->edits);
    return status;
}

int nb6_engines_bring_home(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_engine_image *engine_image = &sim->engine_image;
    if (!engine_image->ahead) nb6_host_service_forget(sim);
    if (!engine_image->ahead) return NBC_OK;
    int status = nb6_engines_failed(sim, move(sim, engine_of(sim)->export, err));
    if (status) return status;
    nb6_host_service_forget(sim);
    if (engine_image->undecided) sim->book.undecided = 1;
    engine_image->ahead = engine_image->undecided = 0;
    engine_image->edits = sim->edits;
    return NBC_OK;
}

void nb6_engines_prepare(struct nb6_sim *sim)
{
    const struct nb6_engine *engine = engine_of(sim);
    if (!engine || !engine->prepare || !engine->supports(sim)) return;
    sim->engine_image.owner = engine;
    sim->engine_image.edits = sim->edits - 1; /* an empty image */
    engine->prepare(sim, sim->nb_cap);
}

void nb6_engines_release(struct nb6_sim *sim)
{
    if (sim->engine_image.image) sim->engine_image.owner->release(sim);
    nb6_host_service_free(sim);
    nb6_touched_free(&sim->engine_image.touched);
    nb6_touched_slots_free(&sim->engine_image.touched_slots);
    nb6_survey_free(&sim->engine_image.survey);
    sim->engine_image = (struct nb6_engine_image){0};
}

/* Predictors follow from bodies. An export that failed may have sent some of them. */
static int send_all(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = nb6_rebase_origin(sim, sim->ti_now, err);
    for (int64_t m = 0; m < sim->subsystems.n_source && !status; m++)
        status = nb6_send_body(sim, sim->subsystems.source[m], err);
    return status;
}

int nb6_engines_forget(struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_engine_image *engine_image = &sim->engine_image;
    nb6_host_service_undo(sim);
    if (engine_image->ahead)
        sim->ti_reached = sim->ti_now > engine_image->ti_home ? sim->ti_now : engine_image->ti_home;
    nb6_engines_release(sim);
    nb6_profile_recount(sim);
    return send_all(sim, err);
}

int nb6_engines_leave_device(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = nb6_sim_on_gpu(sim) ? nb6_sim_use_backend(sim, "cpu", err) : NBC_OK;
    if (!status && nb6_sim_irr_on_gpu(sim)) status = nb6_sim_use_irregular(sim, nb6_sim_irregular_on_cpu(), err);
    if (status) return status;
    nb6_engines_release(sim);
    sim->engine = sim->run.config.run.engine = NB6_ENGINE_HOST;
    snprintf(sim->engine_why, sizeof sim->engine_why, "the device was lost");
    nb6_profile_recount(sim);
    return send_all(sim, err);
}

/* The failure stays the status and its message, whether or not the state before the block can be exported. */
static int export_after_failure(struct nb6_sim *sim, int status, struct nbc_error *err)
{
    struct nbc_error other = {0};
    const int home = nb6_engines_bring_home(sim, status ? &other : err);
    return status ? status : home;
}

/* Report events within systems of earlier blocks, once the state is exported, for observers may read it. */
static int report_events(struct nb6_sim *sim, struct nbc_error *err)
{
    return sim->transaction.n_event > 0 ? nb6_transaction_notify(sim, err) : NBC_OK;
}

/* The same without an export, unless events of edits come before them, which may still be undone. */
static int report_at_once(struct nb6_sim *sim, struct nbc_error *err)
{
    if (!nb6_host_service_has_events(sim)) return NBC_OK;
    const int status = sim->engine_image.told_later > 0 ? nb6_engines_bring_home(sim, err) : NBC_OK;
    return status ? status : report_events(sim, err);
}

int nb6_engines_tell(struct nb6_sim *sim, struct nbc_error *err)
{
    return sim->engine_image.ahead || sim->engine_image.told_later == 0 ? NBC_OK : report_events(sim, err);
}

int nb6_engines_come_home(struct nb6_sim *sim, struct nbc_error *err)
{
    const int status = nb6_engines_bring_home(sim, err);
    return status ? status : nb6_engines_tell(sim, err);
}

static int import(struct nb6_sim *sim, const struct nb6_engine *engine, struct nbc_error *err)
{
    sim->engine_image.owner = engine;
    int status = move(sim, engine->import, err);
    if (status) nb6_engines_release(sim);
    sim->engine_image.edits = sim->edits;
    sim->engine_image.lost = status != NBC_OK;
    return status;
}

/* The image is valid unless the state was edited. What it has of few-body systems also depends on adjusts. */
static int has_bodies(const struct nb6_sim *sim)
{
    const struct nb6_engine_image *engine_image = &sim->engine_image;
    return engine_image->ahead || (engine_image->image && engine_image->edits == sim->edits);
}

static int renew(struct nb6_sim *sim, const struct nb6_engine *engine, struct nbc_error *err)
{
    if (sim->engine_image.ahead || sim->subsystems.count == 0) return NBC_OK;
    const int status = engine->renew(sim, err);
    if (status) nb6_engines_release(sim);
    sim->engine_image.lost = status != NBC_OK;
    return status;
}

/* An image that is ahead is always used: the engine supports its state. */
static int uses_image(struct nb6_sim *sim, const struct nb6_engine *engine)
{
    struct nb6_bookkeeping *book = &sim->book;
    const int64_t blocks = (int64_t)sim->run.counters.blocks;
    if (engine == &nb6_host_engine) return 0;
    if (sim->engine_image.ahead) return 1;
    if (blocks < book->host_until) return 0;
    if (engine->supports(sim)) return 1;
    book->host_until = (blocks / NB6_BLOCKS_OF_HOST + 1) * NB6_BLOCKS_OF_HOST;
    return 0;
}

/* Whether an engine with an image decides with it, and not the host engine alone, which has made the last block. */
static int answers_questions(struct nb6_sim *sim, const struct nb6_engine *engine)
{
    const int64_t until = sim->book.host_until;
    return uses_image(sim, engine) && (until == 0 || (int64_t)sim->run.counters.blocks > until);
}

/* Decide about the last block, as nb6_step does. An engine that answers questions about all bodies needs an image for
 * that, whether or not it has had one: bits follow from the state. */
static int decide(struct nb6_sim *sim, const struct nb6_engine *engine, struct nbc_error *err)
{
    int status = nb6_engines_bring_home(sim, err);
    if (!status) status = report_events(sim, err);
    if (status || !sim->book.undecided) return status;
    const int has_survey = answers_questions(sim, engine);
    if (has_survey && !has_bodies(sim)) status = import(sim, engine, err);
    if (status) return status;
    if (has_survey) nb6_survey_begin(sim, engine->survey);
    status = nb6_step_decide_again(sim, err);
    nb6_survey_end(sim);
    return status;
}

int nb6_engines_decide(struct nb6_sim *sim, struct nbc_error *err)
{
    return nb6_engines_failed(sim, decide(sim, engine_of(sim), err));
}

/* Decide about the last block, after the host has examined some of its members. Bodies to synchronise are
 * synchronised in the image. */
static int decide_on_image(struct nb6_sim *sim, const struct nb6_engine *engine, struct nbc_error *err)
{
    struct nb6_engine_image *engine_image = &sim->engine_image;
    int are_ready = 1, status = NBC_OK;
    if (engine_image->pending.n > 0) {
        const double start = nbc_wtime();
        status = engine->synchronise(sim, engine_image->pending.body, &are_ready, err);
        nb6_profile_stage(sim, NB6_STAGE_PAIRS, nbc_wtime() - start);
    }
    engine_image->pending.n = 0;
    if (status) return status;
    if (are_ready) return decide(sim, engine, err);
    engine_image->undecided = 0;
    return report_at_once(sim, err);
}

/* After a call that has left the image as it is after whole blocks. */
static int after_advance(struct nb6_sim *sim, const struct nb6_engine *engine, nb6_time t_stop,
                         enum nb6_stop_reason *reason, struct nbc_error *err)
{
    switch (*reason) {
    case NB6_STOP_ENCOUNTER:
        return decide_on_image(sim, engine, err);
    case NB6_STOP_PAUSED:
        return report_at_once(sim, err);
    case NB6_STOP_OVERFLOW:
    case NB6_STOP_HOST:
        break;
    default:
        return NBC_OK;
    }
    int status = nb6_engines_make_room(sim, err);
    if (status || *reason == NB6_STOP_OVERFLOW) return status;
    nb6_survey_begin(sim, engine->survey);
    status = nb6_host_engine.advance(sim, t_stop, 1, reason, err);
    nb6_survey_end(sim);
    return status;
}

/* How far an engine that does not extend the orbit of the galaxy can go: to t_stop at the most. */
static nb6_time end_of_orbit(const struct nb6_sim *sim, nb6_time t_stop)
{
    const double known = nb6_external_known_until(&sim->run.external);
    return known < nb6_time_to_double(t_stop) ? (nb6_time)floor(ldexp(known, NB6_TIME_BITS)) : t_stop;
}

static int extend_orbit(struct nb6_sim *sim, nb6_time end, struct nbc_error *err)
{
    return nb6_external_extend_to(&sim->run.external, nb6_time_to_double(end + 1), err);
}

/* One piece of the orbit after the other. */
static int advance_on_orbit(struct nb6_sim *sim, const struct nb6_engine *engine, nb6_time t_stop, int64_t max_blocks,
                            enum nb6_stop_reason *reason, struct nbc_error *err)
{
    nb6_time end = end_of_orbit(sim, t_stop);
    int status = engine->advance(sim, end, max_blocks, reason, err);
    while (!status && *reason == NB6_STOP_REACHED && end < t_stop) {
        status = extend_orbit(sim, end, err);
        end = end_of_orbit(sim, t_stop);
        if (!status) status = engine->advance(sim, end, max_blocks, reason, err);
    }
    return status;
}

/* An image of the present state, whose host memory is what a lost device leaves. */
static int have_image(struct nb6_sim *sim, const struct nb6_engine *engine, struct nbc_error *err)
{
    if (!sim->engine_image.ahead) {
        sim->engine_image.ti_home = sim->ti_reached;
        nb6_host_service_forget(sim);
    }
    return has_bodies(sim) ? renew(sim, engine, err) : import(sim, engine, err);
}

static int advance_image(struct nb6_sim *sim, const struct nb6_engine *engine, nb6_time t_stop, int64_t max_blocks,
                         enum nb6_stop_reason *reason, struct nbc_error *err)
{
    struct nb6_engine_image *engine_image = &sim->engine_image;
    *reason = NB6_STOP_DEVICE;
    int status = have_image(sim, engine, err);
    if (status) return status;
    status = advance_on_orbit(sim, engine, t_stop, max_blocks, reason, err);
    engine_image->undecided = *reason == NB6_STOP_ENCOUNTER;
    if (!status) return after_advance(sim, engine, t_stop, reason, err);
    status = export_after_failure(sim, status, err);
    nb6_touched_any(&engine_image->touched);
    engine_image->edits = sim->edits - 1;
    return status;
}

/* Decide first: after a failure, or before the first block, unless output at t = 0 comes before. */
static int is_to_decide(const struct nb6_sim *sim, nb6_time t_stop)
{
    if (sim->engine_image.undecided) return 1;
    return sim->book.undecided && (sim->ti_now > 0 || nb6_block_next(sim) <= t_stop);
}

static int advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                   struct nbc_error *err)
{
    const struct nb6_engine *engine = engine_of(sim);
    if (engine != &nb6_host_engine && is_to_decide(sim, t_stop)) {
        int status = decide(sim, engine, err);
        if (status) return status;
    }
    if (uses_image(sim, engine)) return advance_image(sim, engine, t_stop, max_blocks, reason, err);
    return nb6_host_engine.advance(sim, t_stop, 1, reason, err);
}

/* The event needs the state in host memory. It comes before the next block, so that a run resumed from a checkpoint
 * in between reports the same. */
static int report_stuck(struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_engine_image *engine_image = &sim->engine_image;
    const int64_t blocks = engine_image->ahead ? engine_image->stuck_blocks : sim->book.stuck.blocks;
    if (blocks != NB6_STUCK_BLOCKS) return NBC_OK;
    const int status = nb6_engines_come_home(sim, err);
    return status ? status : nb6_stuck_tell(sim, err);
}

int nb6_engines_advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                        struct nbc_error *err)
{
    int status = report_stuck(sim, err);
    if (!status) status = advance(sim, t_stop, max_blocks, reason, err);
    return nb6_engines_failed(sim, status);
}

/* ---- edits */

int nb6_engines_take_edits(struct nb6_sim *sim)
{
    const struct nb6_engine *engine = engine_of(sim);
    const int is_decided = !sim->book.undecided && !sim->engine_image.undecided;
    return engine && engine->edit && is_decided && uses_image(sim, engine);
}

int nb6_engines_gather(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, int with_potentials,
                       struct nb6_gathered *gathered, struct nbc_error *err)
{
    const struct nb6_engine *engine = engine_of(sim);
    int status = have_image(sim, engine, err);
    if (!status) status = engine->gather(sim, t, n, body, with_potentials, gathered, err);
    if (!status) status = nb6_host_service_keep_bodies(sim, n, body, err);
    return nb6_engines_failed(sim, status);
}

int nb6_engines_field(struct nb6_sim *sim, nb6_time t, const struct nb6_field_points *points, struct nbc_error *err)
{
    const struct nb6_engine *engine = engine_of(sim);
    int status = have_image(sim, engine, err);
    if (!status) status = engine->field(sim, t, points, err);
    return nb6_engines_failed(sim, status);
}

int nb6_engines_disturb(struct nb6_sim *sim, const struct nb6_edit *edit, struct nb6_disturbed *disturbed,
                        struct nbc_error *err)
{
    return nb6_engines_failed(sim, engine_of(sim)->disturb(sim, edit, disturbed, err));
}

int nb6_engines_edit(struct nb6_sim *sim, const struct nb6_edit *edit, struct nbc_error *err)
{
    const int status = engine_of(sim)->edit(sim, edit, err);
    if (status == NBC_NB_OVERFLOW) return status;
    if (status) sim->engine_image.edits = sim->edits - 1;
    if (status) return nb6_engines_failed(sim, status);
    sim->engine_image.ahead = 1;
    for (int64_t k = 0; k < edit->n; k++) sim->body[edit->changed[k].body].mass = edit->changed[k].mass;
    return NBC_OK;
}

int nb6_engines_make_room(struct nb6_sim *sim, struct nbc_error *err)
{
    const int status = nb6_engines_bring_home(sim, err);
    sim->engine_image.edits = sim->edits - 1; /* the next import makes room */
    return status;
}

int nb6_engines_keep(struct nb6_sim *sim, struct nbc_error *err)
{
    return sim->engine_image.ahead ? nb6_host_service_keep_bodies(sim, 0, NULL, err) : NBC_OK;
}
