#include "nbody6/app/run_session.h"

#include "common/file.h"
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/app/profile_table.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/run_files.h"
#include "nbody6/app/run_lock.h"
#include "nbody6/app/run_names.h"
#include "nbody6/app/run_retry.h"
#include "nbody6/app/shell_word.h"
#include "nbody6/app/signals.h"
#include "nbody6/app/stuck_note.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/events.h"
#include "nbody6/output/log.h"
#include "nbody6/output/run_snapshot.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double STOP_FILE_INTERVAL_S = 0.2;
/* Snapshots that follow each other faster are not brought to the disk one by one, which may take 10 ms each and longer
 * than to compute them: together, by the next one after this time, and before every checkpoint. */
static const double SYNC_INTERVAL_S = 1;
static const char STOP_FILE[] = "STOP";

struct nb6_session nb6_session_empty(void)
{
    return (struct nb6_session){.lock.fd = -1, .log.fd = -1, .events.fd = -1, .escapers.fd = -1, .checkpoint_t = -1};
}

void nb6_session_close(struct nb6_session *session)
{
    nb6_session_close_files(session);
    nb6_free(session->sim);
    session->sim = NULL;
    nb6_run_lock_release(&session->lock);
}

/* ---- checkpoints ---- */

static int sync_snapshots(struct nb6_session *session, struct nbc_error *err)
{
    const int status = session->unsynced ? nbc_file_sync_all(session->names.log, err) : NBC_OK;
    if (!status) session->unsynced = 0;
    return status;
}

/* Add to the message of a failure which checkpoint is left. */
static void say_what_is_left(const struct nb6_session *session, struct nbc_error *err)
{
    if (!err) return;
    size_t used = strlen(err->text);
    if (session->checkpoint_t >= 0)
        snprintf(err->text + used, sizeof err->text - used, "; the checkpoint %s of t = %.10g can be resumed",
                 session->names.checkpoint, session->checkpoint_t);
    else
        snprintf(err->text + used, sizeof err->text - used, "; no checkpoint was written before");
}

static int write_checkpoint(struct nb6_session *session, struct nbc_error *err)
{
    const struct nb6_run_names *names = &session->names;
    struct nb6_run_state state = nb6_session_files(session);
    /* The present checkpoint must not replace a good previous one unless it is known to be good. */
    const char *keep_as = session->checkpoint_t >= 0 ? names->previous : NULL;
    double start = nbc_wtime();
    int status = nb6_bring_home(session->sim, err);
    if (!status) status = nb6_session_sync_files(session, err);
    if (!status) status = sync_snapshots(session, err);
    if (!status) status = nb6_checkpoint_write_run(names->checkpoint, keep_as, session->sim, &state, err);
    session->checkpoint_wanted = 0;
    session->checkpoint_wall = nbc_wtime();
    nb6_profile_stage(session->sim, NB6_STAGE_OUTPUT, session->checkpoint_wall - start);
    if (!status) session->checkpoint_t = nb6_time_now(session->sim);
    return status;
}

/* A state that the run must not continue from by itself, kept apart from the checkpoints. */
static void write_fault(struct nb6_session *session, const struct nb6_run_state *files, struct nbc_error *err)
{
    struct nbc_error ignored = {0};
    if (!err || nb6_checkpoint_write_run(session->names.fault, NULL, session->sim, files, &ignored)) return;
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "; the state before is in %s", session->names.fault);
}

/* ---- observer ---- */

/* Name the system that the run is waiting for. */
static void say_busy(struct nb6_session *session, const struct nb6_event *event)
{
    const int n = event->chain.n;
    const int64_t *name = n > 0 ? event->chain.name : event->pair.name;
    nb6_progress_note(&session->progress,
                      "note: at t = %.10g the %s of stars %lld, %lld%s has done %.0f %% of the work of the run so far "
                      "(tightest orbit: period %.3g)",
                      event->t, n > 0 ? "chain" : "pair", (long long)name[0], (long long)name[1], n > 2 ? ", ..." : "",
                      100 * event->value[1], n > 0 ? event->chain.period : event->pair.period);
}

static int on_event(void *context, nb6_t *sim, const struct nb6_event *event, struct nbc_error *err)
{
    struct nb6_session *session = context;
    int status = nb6_events_add(&session->events, event, err);
    if (!status && event->kind == NB6_EVENT_ESCAPE && session->escapers.fd >= 0)
        status = nb6_escapers_add(&session->escapers, event, &sim->run.units, sim->ageing != NULL, err);
    if (event->kind == NB6_EVENT_ENERGY_JUMP)
        nb6_progress_warn(&session->progress, "warning: the energy error up to t = %.10g is %.2e, above QE = %.2e",
                          event->t, event->value[0], event->value[1]);
    if (event->kind == NB6_EVENT_BUSY) say_busy(session, event);
    if (event->kind == NB6_EVENT_STUCK) nb6_stuck_note(&session->progress, sim, event->t, &event->stuck);
    if (event->kind == NB6_EVENT_FORCE_CHECK)
        nb6_progress_note(&session->progress,
                          "forces at t = %.10g against a direct sum: acceleration %.2e (median), %.2e (maximum); "
                          "jerk %.2e, %.2e",
                          event->t, event->value[0], event->value[1], event->value[2], event->value[3]);
    if (event->kind == NB6_EVENT_TREE_CHECK)
        nb6_progress_note(&session->progress,
                          "regular forces by tree at t = %.10g against direct sums, %lld of them: acceleration %.2e "
                          "(median), %.2e (99 percent); jerk %.2e, %.2e; %lld lists differ",
                          event->t, (long long)event->targets, event->value[0], event->value[1], event->value[2],
                          event->value[3], (long long)event->lists);
    return status;
}

static int on_adjust(void *context, nb6_t *sim, const struct nb6_adjust_row *row, struct nbc_error *err)
{
    struct nb6_session *session = context;
    nb6_progress_row(&session->progress, row);
    session->retry_wanted = sim->run.config.run.energy_retries > 0;
    nb6_progress_watch(&session->progress, &session->log);
    nb6_progress_watch(&session->progress, &session->events);
    nb6_progress_watch(&session->progress, &session->escapers);
    return nb6_log_row(&session->log, row, err);
}

static int write_snapshot(struct nb6_session *session, struct nbc_error *err)
{
    nb6_t *sim = session->sim;
    struct nb6_frame frame;
    char path[NB6_NAME_BYTES + 40];
    const double now = nbc_wtime();
    const int at_once = session->snapshot_wall > 0 && now - session->snapshot_wall < SYNC_INTERVAL_S;
    int status = at_once ? NBC_OK : sync_snapshots(session, err);
    if (!status) status = nb6_frame_make(sim, sim->ti_reached, 1, &frame, err);
    if (status) return status;
    nb6_run_names_snapshot(&session->names, sim->run.book.snapshot_count, path);
    status = nb6_sim_snapshot_write(path, &frame, sim, at_once, err);
    nb6_frame_free(&frame);
    if (status) return status;
    sim->run.book.snapshot_count++;
    session->unsynced |= at_once;
    if (!at_once) session->snapshot_wall = now;
    return NBC_OK;
}

/* Every NFIX-th output time, counted from t = 0, and the end of the run. */
static int on_output(void *context, nb6_t *sim, struct nbc_error *err)
{
    struct nb6_session *session = context;
    const struct nb6_run_config *config = &sim->run.config.run;
    int at_end = nb6_time_now(sim) >= config->t_crit - nb6_time_to_double(1);
    session->checkpoint_wanted |= config->checkpoint_at_output;
    if (!config->snapshots || (!at_end && (sim->run.book.output_count - 1) % config->n_fix != 0)) return NBC_OK;
    return write_snapshot(session, err);
}

/* A STOP file is removed once seen, so that it does not stop the next run as well. */
static int stop_file_found(struct nb6_session *session, const char *path)
{
    if (access(path, F_OK)) return 0;
    snprintf(session->reason, sizeof session->reason, "a file %s was found", path);
    if (unlink(path))
        nb6_progress_warn(&session->progress, "note: cannot remove %s: the next run will stop as well", path);
    return 1;
}

static int should_stop(struct nb6_session *session, double now)
{
    const struct nb6_run_config *config = &session->sim->run.config.run;
    const char *name = nb6_signals_pending();
    if (name) {
        snprintf(session->reason, sizeof session->reason, "%s came", name);
        return 1;
    }
    if (nb6_count(session->sim) <= config->n_crit) {
        snprintf(session->reason, sizeof session->reason, "N has fallen to NCRIT = %lld", (long long)config->n_crit);
        return 1;
    }
    if (config->wall_limit_s > 0 && now - session->wall_start > config->wall_limit_s) {
        snprintf(session->reason, sizeof session->reason, "the wall-clock limit TCOMP = %g s is reached",
                 config->wall_limit_s);
        return 1;
    }
    if (now - session->stop_file_wall < STOP_FILE_INTERVAL_S) return 0;
    session->stop_file_wall = now;
    return stop_file_found(session, STOP_FILE) || stop_file_found(session, session->names.stop);
}

/* The state is consistent here: all that was due up to now is done and written. */
static int on_poll(void *context, nb6_t *sim, int *stop, struct nbc_error *err)
{
    struct nb6_session *session = context;
    double now = nbc_wtime(), interval = sim->run.config.run.checkpoint_interval_s;
    session->polled = nb6_session_files(session);
    nb6_progress_step(&session->progress, nb6_time_now(sim), nb6_count(sim));
    if (session->retry_wanted) {
        const int status = nb6_retry_keep(session, &session->polled, err);
        if (status) return status;
    }
    if (should_stop(session, now)) {
        *stop = 1; /* the checkpoint is written when nb6_evolve has returned */
        return NBC_OK;
    }
    if (!session->checkpoint_wanted && !(interval > 0 && now - session->checkpoint_wall > interval)) return NBC_OK;
    return write_checkpoint(session, err);
}

/* ---- the run ---- */

static void say_files(struct nb6_session *session)
{
    const struct nb6_run_names *names = &session->names;
    const struct nb6_session *s = session;
    nb6_progress_note(&session->progress, "  files: %s, %s%s%s, %s, %lld new snapshots %s.snap.*.h5", names->log,
                      names->events, s->escapers.fd >= 0 ? ", " : "", s->escapers.fd >= 0 ? names->escapers : "",
                      names->checkpoint, (long long)(s->sim->run.book.snapshot_count - s->snapshots_before),
                      names->prefix);
}

static void summarize(struct nb6_session *session)
{
    const struct nb6_profile *profile = nb6_profile_read(session->sim);
    nb6_progress_summary(&session->progress, session->sim);
    if (profile) nb6_profile_print(stdout, profile);
}

/* ---- a lost device */

/* The state is whole, if not the latest: it is the checkpoint that the run goes on from.   @return 1: it is written */
static int keep_what_is_left(struct nb6_session *session, struct nbc_error *err)
{
    struct nbc_error ignored = {0};
    char word[NB6_SHELL_WORD];
    const char *device = nb6_sim_on_gpu(session->sim) ? " --device cpu" : "";
    const int irr_on_gpu = nb6_sim_irr_on_gpu(session->sim);
    const char *option = irr_on_gpu ? " --irr-backend " : "", *irr = irr_on_gpu ? nb6_sim_irregular_on_cpu() : "";
    const char *engine = strcmp(nb6_engine_name(session->sim), "host") == 0 ? "" : " --engine host";
    if (!err || !nb6_device_is_lost(session->sim) || write_checkpoint(session, &ignored)) return 0;
    const size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used,
             "; nbody6 --resume %s%s%s%s%s continues without it from t = %.12g",
             nb6_shell_word(session->names.checkpoint, word), engine, device, option, irr, session->checkpoint_t);
    return 1;
}

/* Reports the loss on stderr and among the notes. */
static int leave_device(struct nb6_session *session, struct nbc_error *err)
{
    nb6_t *sim = session->sim;
    fprintf(stderr, "nbody6: %s; the run continues from t = %.12g with the host engine\n", err->text,
            nb6_time_now(sim));
    int status = nb6_leave_device(sim, err);
    if (status) return status;
    nb6_progress_note(&session->progress,
                      "warning: the device is lost: from t = %.12g on with the host engine, backends %s and %s",
                      nb6_time_now(sim), gpunb_info(sim->reg)->name, gpuirr_info(sim->irr)->name);
    return nb6_log_engine(&session->log, nb6_engine_name(sim), nb6_time_now(sim), err);
}

static int evolve(struct nb6_session *session, struct nbc_error *err)
{
    nb6_t *sim = session->sim;
    int status = nb6_evolve(sim, sim->run.config.run.t_crit, err);
    if (!status || !nb6_device_is_lost(sim) || sim->run.config.run.on_device_loss != NB6_LOSS_HOST) return status;
    status = leave_device(session, err);
    return status ? status : nb6_evolve(sim, sim->run.config.run.t_crit, err);
}

static int fail(struct nb6_session *session, int status, struct nbc_error *err)
{
    /* The row of an adjust that failed is written again when the adjust is done again. */
    const struct nb6_run_state files = status == NBC_ENERGY ? session->polled : nb6_session_files(session);
    if (status == NBC_NON_FINITE || status == NBC_ENERGY || status == NBC_INTERNAL) write_fault(session, &files, err);
    if (!keep_what_is_left(session, err)) say_what_is_left(session, err);
    nb6_progress_note(&session->progress, "the run failed: %s", nbc_status_text(status));
    summarize(session);
    return status;
}

/* To the end of the run, or of the patience with its energy. */
static int evolve_with_retries(struct nb6_session *session, struct nbc_error *err)
{
    const struct nb6_observer observer = {session, on_event, on_adjust, on_output, on_poll};
    for (;;) {
        session->polled = nb6_session_files(session);
        nb6_set_observer(session->sim, &observer);
        int status = session->profile ? nb6_profile_start(session->sim, session->profile, err) : NBC_OK;
        if (!status) status = evolve(session, err);
        if (status != NBC_ENERGY || !nb6_retry_is_possible(session)) return status;
        status = nb6_retry_go_back(session, err);
        if (status) return status;
    }
}

int nb6_session_evolve(struct nb6_session *session, struct nbc_error *err)
{
    char word[NB6_SHELL_WORD];
    int status = evolve_with_retries(session, err);
    if (!status) status = write_checkpoint(session, err);
    if (status) return fail(session, status, err);
    if (!session->reason[0]) nb6_retry_forget(session);
    if (session->reason[0])
        nb6_progress_note(&session->progress, "stopped: %s; continue with nbody6 --resume %s", session->reason,
                          nb6_shell_word(session->names.checkpoint, word));
    else
        nb6_progress_note(&session->progress, "done: the end of the run is reached");
    summarize(session);
    say_files(session);
    return NBC_OK;
}
