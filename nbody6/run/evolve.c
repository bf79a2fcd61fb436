#include "common/nbc.h"
#include "nbody6/engine/choice.h"
#include "nbody6/engine/engine.h"
#include "nbody6/engine/engines.h"
#include "nbody6/fewbody/pairs/events.h"
#include "nbody6/fewbody/pairs/motions.h"
#include "nbody6/input/config.h"
#include "nbody6/run/adjust.h"
#include "nbody6/run/age_stars.h"
#include "nbody6/run/change.h"
#include "nbody6/run/live.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"

#include <math.h>
#include <stdio.h>

static nb6_time ticks(double t)
{
    return (nb6_time)llround(ldexp(t, NB6_TIME_BITS));
}

static nb6_time earlier(nb6_time a, nb6_time b)
{
    return a < b ? a : b;
}

/* Of stars that collide within an advance: the host engine makes one block after the other then. */
static nb6_time next_collided(const struct nb6_sim *sim)
{
    return sim->run.config.stellar.collide ? nb6_ageing_next(sim) : NB6_NEVER_DUE;
}

static int poll(struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_observer *observer = &sim->observer;
    return observer->poll ? observer->poll(observer->context, sim, &sim->stopped, err) : NBC_OK;
}

/* An engine with an engine image advances blocks for some hundredths of a second between two polls, and polls do not
 * export the image. The times of polls change no result. */
enum { LEAST_BLOCKS_OF_A_POLL = 64, MOST_BLOCKS_OF_A_POLL = 8192 };

static int64_t blocks_of_next_poll(int64_t blocks, double seconds, enum nb6_stop_reason reason)
{
    const double SHORT = 0.01, LONG = 0.04;
    if (seconds < SHORT && blocks < MOST_BLOCKS_OF_A_POLL) return reason == NB6_STOP_BLOCKS ? 2 * blocks : blocks;
    return seconds > LONG && blocks > LEAST_BLOCKS_OF_A_POLL ? blocks / 2 : blocks;
}

/* The state is in host memory, and what waited for that is told. A failure before stays the status. */
static int come_home(struct nb6_sim *sim, int status, struct nbc_error *err)
{
    struct nbc_error other = {0};
    const int home = nb6_engines_come_home(sim, status ? &other : err);
    return status ? status : home;
}

/* Block steps up to and including time t, or that at which a star is due that collided meanwhile. The state is in host
 * memory then if they ended before. */
static int advance(struct nb6_sim *sim, nb6_time t, struct nbc_error *err)
{
    enum nb6_stop_reason reason = NB6_STOP_BLOCKS;
    int64_t blocks = LEAST_BLOCKS_OF_A_POLL;
    uint64_t mergers = sim->run.counters.mergers;
    int status = NBC_OK;
    if (t > 0 && sim->book.undecided) /* at the start: after the messages and files of t = 0 */
        status = nb6_engines_decide(sim, err);
    while (!status && !sim->stopped) {
        const double start = nbc_wtime();
        if (sim->run.counters.mergers != mergers) t = earlier(t, next_collided(sim));
        mergers = sim->run.counters.mergers;
        status = nb6_engines_advance(sim, t, blocks, &reason, err);
        if (sim->engine_image.ahead) blocks = blocks_of_next_poll(blocks, nbc_wtime() - start, reason);
        if (status || reason == NB6_STOP_REACHED) break;
        status = poll(sim, err);
    }
    return status || sim->stopped ? come_home(sim, status, err) : NBC_OK;
}

/* Chains may take long to reach a time: a run that is asked to stop does not wait for them. */
static int prepare(struct nb6_sim *sim, nb6_time t, struct nbc_error *err)
{
    int status = NBC_OK, paused = sim->subsystems.count > 0;
    while (!status && !sim->stopped && paused) {
        status = nb6_motions_at(sim, t, 1, &paused, err);
        if (!status && paused) status = poll(sim, err);
    }
    return status;
}

static int output(struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_observer *observer = &sim->observer;
    if (!observer->output) return NBC_OK;
    double start = nbc_wtime();
    int status = observer->output(observer->context, sim, err);
    nb6_profile_stage(sim, NB6_STAGE_OUTPUT, nbc_wtime() - start);
    return status;
}

static int is_anything_due(const struct nb6_sim *sim, nb6_time t, int end_of_run)
{
    const struct nb6_run_book *book = &sim->run.book;
    return end_of_run || book->ti_next_adjust <= t || book->ti_next_output <= t;
}

/* Adjusts and outputs due at time t. Counters advance with an adjust, and before an output, so that a checkpoint
 * written by an observer records them as done, and a run that resumes from it does not repeat them. */
static int events(struct nb6_sim *sim, nb6_time t, int end_of_run, struct nbc_error *err)
{
    const struct nb6_run_config *config = &sim->run.config.run;
    struct nb6_run_book *book = &sim->run.book;
    const int adjust_due = book->ti_next_adjust <= t, output_due = book->ti_next_output <= t;
    int status = NBC_OK;
    if (!is_anything_due(sim, t, end_of_run)) return NBC_OK;
    if ((status = prepare(sim, t, err)) || sim->stopped) return status;
    const nb6_time ti_next = adjust_due ? nb6_time_multiple(book->adjust_count + 1, config->dt_adjust) : 0;
    if (adjust_due || end_of_run) status = nb6_adjust(sim, t, ti_next, err);
    if (status || (!output_due && !end_of_run)) return status;
    if (end_of_run) book->ti_ended = t;
    if (output_due) book->ti_next_output = nb6_time_multiple(++book->output_count, config->dt_output);
    return output(sim, err);
}

static int evolve(struct nb6_sim *sim, double t, struct nbc_error *err)
{
    if (!sim->body) return nbc_fail(err, NBC_BAD_STATE, "nb6_evolve: the simulation has no stars yet");
    if (!isfinite(t) || !(t >= -NB6_T_MAX && t <= NB6_T_MAX))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_evolve: time %g; the latest is %g", t, NB6_T_MAX);
    nb6_time end = ticks(t), run_end = ticks(sim->run.config.run.t_crit);
    if (end < sim->ti_reached)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_evolve: time %.12g lies before the present, %.12g", t,
                        nb6_time_to_double(sim->ti_reached));
    sim->stopped = 0;
    int status = nb6_engines_tell(sim, err);
    if (status) return status;
    if (!sim->book.pairs_announced) {
        status = nb6_subsystems_announce_first(sim, err);
        if (status) return status;
        sim->book.pairs_announced = 1;
    }
    for (;;) {
        const struct nb6_run_book *book = &sim->run.book;
        nb6_time next = earlier(earlier(book->ti_next_adjust, book->ti_next_output), end);
        next = earlier(next, nb6_ageing_next(sim));
        status = advance(sim, next, err);
        if (status || sim->stopped) return status;
        next = earlier(next, next_collided(sim));
        const int at_end = next == end, ends = at_end && end >= run_end;
        sim->ti_reached = next;
        status = nb6_age_stars(sim, err);
        if (status || sim->stopped || is_anything_due(sim, next, ends)) status = come_home(sim, status, err);
        if (status || sim->stopped) return status;
        status = events(sim, next, ends, err);
        if (status || at_end || sim->stopped) return status;
        if ((status = poll(sim, err)) || sim->stopped) return status;
    }
}

/* After the loss of an engine the last state in host memory is restored, so that it can be written. */
int nb6_evolve(nb6_t *sim, double t, struct nbc_error *err)
{
    struct nbc_error other = {0};
    int status = nb6_live_begin(sim, "nb6_evolve", err);
    if (status) return status;
    sim->engine_image.lost = 0;
    status = evolve(sim, t, err);
    if (status && sim->engine_image.lost) sim->engine_image.lost = nb6_engines_forget(sim, &other) == NBC_OK;
    return nb6_live_end(sim, status, err);
}

int nb6_device_is_lost(const nb6_t *sim)
{
    return nb6_live_is(sim) && sim->engine_image.lost;
}

int nb6_leave_device(nb6_t *sim, struct nbc_error *err)
{
    int status = nb6_live_begin(sim, "nb6_leave_device", err);
    return status ? status : nb6_live_end(sim, nb6_engines_leave_device(sim, err), err);
}

int nb6_bring_home(nb6_t *sim, struct nbc_error *err)
{
    int status = nb6_live_check(sim, "nb6_bring_home", err);
    if (!status) status = nb6_engines_bring_home(sim, err);
    if (status || sim->is_called || sim->engine_image.told_later == 0) return status;
    status = nb6_live_begin(sim, "nb6_bring_home", err);
    return status ? status : nb6_live_end(sim, nb6_engines_tell(sim, err), err);
}

const char *nb6_engine_name(const nb6_t *sim)
{
    return nb6_live_is(sim) ? nb6_engine_choice_name((enum nb6_engine_choice)sim->engine) : "";
}

const char *nb6_engine_why(const nb6_t *sim)
{
    return nb6_live_is(sim) ? sim->engine_why : "";
}

const char *nb6_engine_for(const struct nb6_config *config, int64_t n, char why[NB6_ENGINE_WHY])
{
    return config && why ? nb6_engine_choice_name(nb6_engine_choose(config, n, why)) : "";
}

const char *nb6_engine_missing(const char *name, char why[NB6_ENGINE_WHY])
{
    if (!why) return "there is no room for the answer";
    const int k = name ? nb6_engine_named(name) : -1;
    if (k >= 0) return nb6_engine_is_here((enum nb6_engine_choice)k, why) ? NULL : why;
    snprintf(why, NB6_ENGINE_WHY, "no engine has this name");
    return why;
}
