#include "nbody6/app/collisionless/run.h"

#include "common/file.h"
#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/app/collisionless/check.h"
#include "nbody6/app/collisionless/forces_note.h"
#include "nbody6/app/collisionless/note.h"
#include "nbody6/app/collisionless/on_ranks.h"
#include "nbody6/app/collisionless/row.h"
#include "nbody6/app/collisionless/start.h"
#include "nbody6/app/collisionless/stop.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/run.h"
#include "nbody6/app/run_changes.h"
#include "nbody6/app/run_lock.h"
#include "nbody6/app/run_names.h"
#include "nbody6/app/run_owner.h"
#include "nbody6/app/shell_word.h"
#include "nbody6/app/signals.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/input/units.h"
#include "nbody6/model/model.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/collisionless_checkpoint.h"
#include "nbody6/output/log.h"
#include "nbody6/output/run_snapshot.h"
#include "nbody6/output/textfile.h"
#include "nbody6/run/change.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/run_record.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char ENGINE[] = "collisionless";

struct session {
    struct nb6_run_record run; /* without stars, which are bodies of the system */
    struct nb6_collisionless *system;
    struct nb6_world *world; /* ranks that have the bodies */
    struct nb6_run_names names;
    struct nb6_run_lock lock;
    struct nb6_textfile log;
    struct nb6_progress progress;
    double wall_start, checkpoint_wall;
    double checkpoint_t; /* of the last checkpoint of this run; < 0: none */
    int checkpoint_wanted;
    int force_times; /* 1: shown at the end */
    int64_t snapshots_before;
    struct nb6_changes changes; /* of an input with changes */
    char reason[NB6_STOP_TEXT]; /* why the run ends before its end; "": it does not */
};

static void session_open(struct session *s, const struct nb6_run_options *options)
{
    *s = (struct session){.lock.fd = -1, .log.fd = -1, .checkpoint_t = -1};
    s->progress.quiet = options->quiet;
    s->force_times = options->force_times;
    s->world = options->world;
}

static void session_close(struct session *s)
{
    nb6_textfile_close(&s->log);
    nb6_collisionless_free(s->system);
    nb6_properties_free(s->run.properties);
    nb6_run_lock_release(&s->lock);
}

/* ---- files ---- */

static void count_steps(struct session *s)
{
    s->run.counters.blocks = s->system->n_blocks;
    s->run.counters.steps_irr = s->system->n_steps;
}

static int open_log(struct session *s, int64_t keep, struct nbc_error *err)
{
    int64_t found = 0;
    int status = nb6_textfile_open(&s->log, s->names.log, keep, &found, err);
    if (!status && found < keep)
        nb6_progress_warn(&s->progress,
                          "note: %s is shorter than when the checkpoint was written: what is missing "
                          "stays missing",
                          s->names.log);
    if (!status && s->log.bytes == 0)
        status = nb6_log_begin(&s->log, s->run.id, ENGINE, nb6_collisionless_row_kind(s->system), err);
    return status;
}

static int write_checkpoint(struct session *s, struct nbc_error *err)
{
    struct nb6_run_state state = {.log_bytes = s->log.bytes};
    int status = nb6_collisionless_home(s->system, err);
    if (status) return status;
    memcpy(state.id, s->run.id, sizeof state.id);
    count_steps(s);
    status = nb6_textfile_sync(&s->log, err);
    if (!status)
        status = nb6_collisionless_checkpoint_write(
            s->names.checkpoint, s->checkpoint_t >= 0 ? s->names.previous : NULL, &s->run, s->system, &state, err);
    s->checkpoint_wanted = 0;
    s->checkpoint_wall = nbc_wtime();
    if (!status) s->checkpoint_t = nb6_collisionless_time(s->system);
    return status;
}

static int write_snapshot(struct session *s, const struct nb6_frame *frame, struct nbc_error *err)
{
    char path[NB6_NAME_BYTES + 40];
    nb6_run_names_snapshot(&s->names, s->run.book.snapshot_count, path);
    int status = nb6_run_snapshot_write(path, frame, &s->run, 0, err);
    if (!status) s->run.book.snapshot_count++;
    return status;
}

/* ---- output and checks due at a time ---- */

static int adjust(struct session *s, const struct nb6_frame *frame, struct nbc_error *err)
{
    struct nb6_adjust_row row;
    struct nb6_run_book *book = &s->run.book;
    const double tolerance = s->run.config.run.energy_tol;
    int status = nb6_collisionless_row(&s->run, s->system, frame, &row, err);
    if (!status) status = nb6_log_row(&s->log, &row, err);
    if (status) return status;
    nb6_progress_row(&s->progress, &row);
    nb6_progress_watch(&s->progress, &s->log);
    if (fabs(row.de_cluster_interval) > 5 * tolerance)
        return nbc_fail(err, NBC_ENERGY,
                        "the relative energy error of the interval up to t = %.12g is %.3g, above 5 QE = %.3g; a "
                        "smaller %s, in a new run, cuts it, a larger QE in an input for --resume accepts it",
                        row.t, row.de_cluster_interval, 5 * tolerance,
                        row.by_tree ? "DT, ETA or FORCE_ERROR" : "DT or ETA");
    if (fabs(row.de_cluster_interval) > tolerance)
        nb6_progress_warn(&s->progress, "warning: the energy error up to t = %.10g is %.2e, above QE = %.2e", row.t,
                          row.de_cluster_interval, tolerance);
    nb6_ledger_end_interval(&book->ledger, row.energy.total - row.e_expected);
    return NBC_OK;
}

/* Counters move on before a checkpoint can be written, so that a run that resumes does nothing twice. */
static int events(struct session *s, struct nbc_error *err)
{
    const struct nb6_run_config *config = &s->run.config.run;
    struct nb6_run_book *book = &s->run.book;
    const nb6_time now = s->system->ti_now;
    const int at_end = nb6_collisionless_time(s->system) >= config->t_crit;
    const int adjust_due = book->ti_next_adjust <= now, output_due = book->ti_next_output <= now;
    struct nb6_frame frame;
    if (!adjust_due && !output_due && !at_end) return NBC_OK;
    count_steps(s);
    int status = nb6_collisionless_frame(s->system, NB6_FRAME_POTENTIAL, &frame, err);
    if (status) return status;
    if (adjust_due || at_end) status = adjust(s, &frame, err);
    if (!status && config->snapshots && (at_end || (output_due && book->output_count % config->n_fix == 0)))
        status = write_snapshot(s, &frame, err);
    nb6_frame_free(&frame);
    if (status) return status;
    if (adjust_due) book->ti_next_adjust = nb6_time_multiple(++book->adjust_count, config->dt_adjust);
    if (output_due) book->ti_next_output = nb6_time_multiple(++book->output_count, config->dt_output);
    if (at_end) book->ti_ended = now;
    s->checkpoint_wanted |= output_due && config->checkpoint_at_output;
    return NBC_OK;
}

/* ---- the way to the end ---- */

static int checkpoint_if_due(struct session *s, struct nbc_error *err)
{
    const double interval = s->run.config.run.checkpoint_interval_s;
    if (!s->checkpoint_wanted && !(interval > 0 && nbc_wtime() - s->checkpoint_wall > interval)) return NBC_OK;
    return write_checkpoint(s, err);
}

/* Longest step by longest step: where all bodies are at one time, the run can be read and stopped. */
static int evolve(struct session *s, struct nbc_error *err)
{
    const double limit = s->run.config.run.wall_limit_s;
    const double end = s->run.config.run.t_crit, step = nb6_collisionless_longest_step(s->system);
    int status = NBC_OK;
    if (nb6_collisionless_time(s->system) == 0 && s->run.book.adjust_count == 0) status = events(s, err);
    while (!status && nb6_collisionless_time(s->system) < end) {
        status = checkpoint_if_due(s, err);
        if (status || nb6_stop_is_wanted(&(struct nb6_stop_rules){limit, s->wall_start, s->names.stop}, s->system,
                                         &s->progress, s->reason))
            return status;
        status = nb6_collisionless_evolve(s->system, nb6_collisionless_time(s->system) + step, err);
        if (!status) status = events(s, err);
        nb6_progress_step(&s->progress, nb6_collisionless_time(s->system), s->system->n);
    }
    return status;
}

static void say_what_is_left(const struct session *s, struct nbc_error *err)
{
    if (!err) return;
    const size_t used = strlen(err->text);
    if (s->checkpoint_t >= 0)
        snprintf(err->text + used, sizeof err->text - used, "; the checkpoint %s of t = %.10g can be resumed",
                 s->names.checkpoint, s->checkpoint_t);
    else
        snprintf(err->text + used, sizeof err->text - used, "; no checkpoint was written before");
}

static void summarize(struct session *s)
{
    const struct nb6_adjust_row *last = &s->progress.last;
    nb6_progress_note(&s->progress, "  t = %.10g, N = %lld; accumulated energy error dE/E = %.3g at t = %.10g",
                      nb6_collisionless_time(s->system), (long long)s->system->n, last->de_cluster, last->t);
    nb6_progress_note(&s->progress, "  %llu steps of bodies in %llu blocks; wall time %.3g s",
                      (unsigned long long)s->system->n_steps, (unsigned long long)s->system->n_blocks,
                      nbc_wtime() - s->wall_start);
    nb6_progress_note(&s->progress, "  files: %s, %s, %lld new snapshots %s.snap.*.h5", s->names.log,
                      s->names.checkpoint, (long long)(s->run.book.snapshot_count - s->snapshots_before),
                      s->names.prefix);
    if (s->force_times) nb6_forces_print_times(stdout, s->system);
}

/* From an open log to the last checkpoint. */
static int run_to_end(struct session *s, struct nbc_error *err)
{
    char word[NB6_SHELL_WORD];
    int status = evolve(s, err);
    if (!status) status = write_checkpoint(s, err);
    if (status) {
        say_what_is_left(s, err);
        nb6_progress_note(&s->progress, "the run failed: %s", nbc_status_text(status));
        return status;
    }
    if (s->reason[0])
        nb6_progress_note(&s->progress, "stopped: %s; continue with nbody6-collisionless --resume %s", s->reason,
                          nb6_shell_word(s->names.checkpoint, word));
    else
        nb6_progress_note(&s->progress, "done: the end of the run is reached");
    summarize(s);
    return NBC_OK;
}

static void say_start(struct session *s, const char *what, int quiet)
{
    const struct nb6_run_record *run = &s->run;
    const double t = nb6_collisionless_time(s->system);
    char forces[NB6_FORCES_OF_A_SYSTEM];
    nb6_forces_describe_system(s->system, forces);
    s->wall_start = s->checkpoint_wall = nbc_wtime();
    s->run.wall_start_s = s->wall_start;
    s->snapshots_before = run->book.snapshot_count;
    nb6_progress_begin(&s->progress, "nbody6-collisionless", quiet, t, run->config.run.t_crit, &run->units);
    if (s->system->ranks) s->progress.live = 0; /* a launcher gives its processes a terminal that nobody sees */
    nb6_signals_catch();
    nb6_progress_note(&s->progress,
                      "nbody6-collisionless " NB6_VERSION
                      ": %s, N = %lld, softening %.6g, %s steps up to %.6g, from t = %.10g to %.10g (%.6g Myr), "
                      "backend %s, %s engine, %s",
                      what, (long long)s->system->n, s->system->softening, s->system->block ? "block" : "shared",
                      nb6_collisionless_longest_step(s->system), t, run->config.run.t_crit,
                      run->config.run.t_crit * run->units.time_myr, gpunb_info(s->system->force)->name,
                      nb6_collisionless_engine_name(s->system), forces);
}

/* ---- a new run ---- */

static void say_end(struct session *s, const struct nb6_config *asked)
{
    char text[NB6_END_TEXT];
    if (nb6_config_tell_end(asked, s->run.units.time_myr, text)) nb6_progress_note(&s->progress, "note: %s", text);
}

/* The system of the run, whose model is gone afterwards. */
static int start_run(struct session *s, const struct nb6_config *config, const struct nb6_run_options *options,
                     struct nbc_error *err)
{
    struct nb6_start start;
    int status = nb6_start_make(&start, config, s->world, &s->run, &s->system, err);
    if (!status && options->overwrite) status = nb6_run_names_check(&s->names, 1, err);
    if (!status && config->run.write_data_table) status = nb6_model_write_table(&start.model, s->names.table, err);
    const struct nb6_data_facts data = start.model.data;
    nb6_start_free(&start);
    if (status) return status;
    say_start(s, s->names.prefix, options->quiet);
    say_end(s, config);
    return nb6_collisionless_announce(&s->progress, &s->run.config, &data, s->system, &s->run.units, err);
}

static int make_run(struct session *s, const struct nb6_config *config, const struct nb6_run_options *options,
                    struct nbc_error *err)
{
    int status = start_run(s, config, options, err);
    if (!status) status = open_log(s, 0, err);
    s->checkpoint_wanted = config->run.checkpoint_interval_s > 0; /* from then on, the run can be resumed */
    return status ? status : run_to_end(s, err);
}

int nb6_collisionless_run_new(const struct nb6_config *config, const struct nb6_run_options *options,
                              struct nbc_error *err)
{
    struct session s;
    int status = config->run.t_crit_myr == 0 ? nb6_collisionless_check(config, err) : NBC_OK;
    session_open(&s, options);
    if (!status) status = nb6_run_names_set(&s.names, config->run.name, err);
    if (!status) status = nb6_run_names_refuse_folder(&s.names, err);
    if (!status) status = nb6_run_lock_take(&s.lock, s.names.lock, err);
    if (!status) status = nb6_run_names_refuse_special(&s.names, err);
    if (!status && config->run.write_data_table) status = nbc_file_refuse_special(s.names.table, err);
    if (!status && !options->overwrite) status = nb6_run_names_check(&s.names, 0, err);
    if (!status) nb6_run_names_sweep(&s.names);
    if (!status) status = make_run(&s, config, options, err);
    session_close(&s);
    return status;
}

int nb6_collisionless_run_check(const struct nb6_config *config, struct nb6_world *world, struct nbc_error *err)
{
    struct nb6_collisionless_options options;
    struct nb6_config settled;
    struct nb6_model model = {0};
    int status = config->run.t_crit_myr == 0 ? nb6_collisionless_check(config, err) : NBC_OK;
    if (!status) status = nb6_collisionless_options_on(config, world, &options, err);
    if (!status) status = nb6_start_model(config, &settled, &model, err);
    if (status) return status;
    char text[NB6_END_TEXT];
    const struct nb6_units units = nb6_units_from(settled.rbar_pc, settled.zmbar_msun, model.n);
    status = nb6_collisionless_print(&settled, &model, stdout, err);
    if (!status) nb6_on_ranks_print(world, model.n, stdout);
    if (!status && nb6_config_tell_end(config, units.time_myr, text)) printf("  %s\n", text);
    nb6_model_free(&model);
    return status;
}

/* ---- resume ---- */

static int copy_text(char *to, size_t size, const char *from, const char *option, struct nbc_error *err)
{
    if (from && nbc_file_name(to, size, from, ""))
        return nbc_fail(err, NBC_BAD_INPUT, "%s: the text is too long", option);
    return NBC_OK;
}

/* Changes by the command line, and names of files: those beside the checkpoint unless --out says otherwise. */
static int take_options(struct session *s, const char *checkpoint, const struct nb6_run_options *options, double t,
                        FILE *notes, struct nbc_error *err)
{
    char prefix[NB6_NAME_BYTES];
    struct nb6_run_config *run = &s->run.config.run;
    int status = nb6_run_take_changes(options, t, notes, &s->run.config, &s->changes, err);
    if (status) return status;
    if (options->t_crit > 0) run->t_crit = options->t_crit;
    if (options->wall_limit_s > 0) run->wall_limit_s = options->wall_limit_s;
    if (options->set_checkpoint_interval) run->checkpoint_interval_s = options->checkpoint_interval_s;
    status = copy_text(run->device, sizeof run->device, options->device, "--device", err);
    if (!status && options->engine) status = nb6_input_set(&s->run.config, "ENGINE", options->engine, err);
    if (!status && options->name)
        status = copy_text(run->name, sizeof run->name, options->name, "--out", err);
    else if (!status && nb6_run_names_of_checkpoint(checkpoint, prefix))
        status = copy_text(run->name, sizeof run->name, prefix, "--resume", err);
    if (!status) status = nb6_config_check(&s->run.config, err);
    if (!status) status = nb6_collisionless_check(&s->run.config, err);
    if (!status) status = nb6_run_names_set(&s->names, run->name, err);
    return status ? status : nb6_run_names_refuse_folder(&s->names, err);
}

/* The name is known from the checkpoint, which the run that holds the lock may replace: so it is read again. */
static int read_locked(struct session *s, const char *checkpoint, const struct nb6_run_options *options,
                       struct nb6_collisionless *then, struct nb6_run_state *state, struct nbc_error *err)
{
    const int with_bodies = nb6_world_size(s->world) == 1; /* several ranks get them in pieces */
    for (int locked = 0;; locked = 1) {
        nb6_properties_free(s->run.properties);
        s->run = (struct nb6_run_record){0};
        nb6_collisionless_checkpoint_release(then);
        int status = nb6_collisionless_checkpoint_read(checkpoint, with_bodies, &s->run, then, state, err);
        const struct nb6_config before = s->run.config;
        if (!status) status = take_options(s, checkpoint, options, state->t, locked ? stderr : NULL, err);
        if (!status) nb6_change_times(&s->run, then->ti_now, &before);
        if (status || locked) return status;
        status = nb6_run_lock_take(&s->lock, s->names.lock, err);
        if (status) return status;
    }
}

/* The next checkpoint has the changes. */
static int tell_changes(struct session *s, double t, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int k = 0; k < s->changes.count && !status; k++) {
        const struct nb6_change *c = &s->changes.change[k];
        nb6_progress_note(&s->progress, "changed: %s %s -> %s", c->name, c->before, c->after);
        status = nb6_log_change(&s->log, c->name, c->before, c->after, t, err);
    }
    s->checkpoint_wanted |= s->changes.count > 0;
    return status;
}

static int go_on(struct session *s, const char *checkpoint, const struct nb6_run_state *state,
                 const struct nb6_run_options *options, struct nbc_error *err)
{
    const double t = nb6_collisionless_time(s->system), end = s->run.config.run.t_crit;
    if (end < t) return nbc_fail(err, NBC_BAD_INPUT, "--tcrit %.10g: %s is at t = %.10g already", end, checkpoint, t);
    if (end == t) {
        nb6_progress_note(&s->progress, "%s: the run has reached its end, t = %.10g; --tcrit T takes it further",
                          checkpoint, t);
        return NBC_OK;
    }
    if (strcmp(checkpoint, s->names.checkpoint) == 0) s->checkpoint_t = t;
    say_start(s, checkpoint, options->quiet);
    int status = nb6_collisionless_announce_resumed(&s->progress, s->system, &s->run.units, err);
    if (!status) status = open_log(s, state->log_bytes, err);
    if (!status) status = tell_changes(s, t, err);
    return status ? status : run_to_end(s, err);
}

int nb6_collisionless_run_resume(const char *checkpoint, const struct nb6_run_options *options, struct nbc_error *err)
{
    struct session s;
    struct nb6_collisionless then = {0};
    struct nb6_run_state state = {0};
    session_open(&s, options);
    int status = read_locked(&s, checkpoint, options, &then, &state, err);
    if (!status) {
        struct nb6_collisionless_options system;
        memcpy(s.run.id, state.id, sizeof s.run.id);
        status = nb6_collisionless_options_on(&s.run.config, s.world, &system, err);
        if (!status) status = nb6_run_names_refuse_special(&s.names, err);
        if (!status) status = nb6_run_owner_check(&s.names, s.run.id, checkpoint, err);
        if (!status) nb6_run_names_sweep(&s.names);
        if (!status) status = nb6_collisionless_check_tree(&s.run.config, then.n, err);
        struct nb6_collisionless_bodies bodies = {checkpoint, &then};
        const struct nb6_body_source from = {nb6_collisionless_checkpoint_give, &bodies};
        if (!then.x0) system.bodies = &from;
        if (!status) status = nb6_collisionless_resume(&s.system, &then, &system, err);
    }
    nb6_collisionless_checkpoint_release(&then);
    if (!status) status = go_on(&s, checkpoint, &state, options, err);
    session_close(&s);
    return status;
}
