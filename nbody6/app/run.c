#include "nbody6/app/run.h"

#include "common/file.h"
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/bulk.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/app/data_note.h"
#include "nbody6/app/new_sim.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/run_changes.h"
#include "nbody6/app/run_files.h"
#include "nbody6/app/run_lock.h"
#include "nbody6/app/run_names.h"
#include "nbody6/app/run_owner.h"
#include "nbody6/app/run_session.h"
#include "nbody6/app/setup_advice.h"
#include "nbody6/app/signals.h"
#include "nbody6/app/stars/stars_note.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/input/units.h"
#include "nbody6/model/model.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/log.h"
#include "nbody6/output/restore.h"
#include "nbody6/output/run_snapshot.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Failures of a device or backend: there is always a way to go on. */
static int advise_device(int status, struct nbc_error *err)
{
    if ((status == NBC_DEVICE || status == NBC_UNAVAILABLE) && err && !strstr(err->text, "--device") &&
        !strstr(err->text, "--engine")) {
        const size_t used = strlen(err->text);
        const int has_others = strstr(err->text, "list of CUDA devices") && !getenv("GPU_LIST");
        snprintf(err->text + used, sizeof err->text - used, "; %s",
                 has_others ? "--device cuda takes those that are there" : "--device cpu does the same run without it");
    }
    return status;
}

static void start_clock(struct nb6_session *session, const struct nb6_run_options *options)
{
    const nb6_t *sim = session->sim;
    session->wall_start = nbc_wtime();
    session->checkpoint_wall = session->wall_start;
    session->snapshots_before = sim->run.book.snapshot_count;
    nb6_progress_begin(&session->progress, "nbody6", options->quiet, nb6_time_now(sim), sim->run.config.run.t_crit,
                       &sim->run.units);
}

/* From this line on the user may stop the run softly. */
static void say_start(struct nb6_session *session, const char *what)
{
    const nb6_t *sim = session->sim;
    nb6_signals_catch();
    nb6_progress_note(&session->progress,
                      "nbody6 " NB6_VERSION
                      ": %s, N = %lld, from t = %.10g to %.10g (%.6g Myr), backends %s and %s, %s engine",
                      what, (long long)nb6_count(sim), nb6_time_now(sim), sim->run.config.run.t_crit,
                      sim->run.config.run.t_crit * sim->run.units.time_myr, gpunb_info(sim->reg)->name,
                      gpuirr_info(sim->irr)->name, nb6_engine_name(sim));
    nb6_progress_note(&session->progress, "engine %s: %s", nb6_engine_name(sim), nb6_engine_why(sim));
}

/* Note on stars from a file, and on their binaries. */
static void say_data(struct nb6_session *session, const struct nb6_model *model, const struct nb6_multiples *systems)
{
    char text[NB6_DATA_TEXT];
    const nb6_t *sim = session->sim;
    int64_t regularized = 0;
    if (sim->run.config.model.kind != NB6_MODEL_FILE) return;
    nb6_data_describe(model, systems, 1, text);
    for (int64_t i = 0; i < sim->n; i++) regularized += nb6_get_star(sim, i)->owner != 0;
    nb6_progress_note(&session->progress, "%s: %s; regularized from the start: %lld", sim->run.config.model.data_path,
                      text, (long long)(regularized / 2));
}

/* The stars as they were understood. */
static int say_stars(struct nb6_session *session, const struct nb6_config *settled, const struct nb6_model *model,
                     struct nbc_error *err)
{
    struct nb6_bulk bulk;
    const int status = nb6_stars_find(model, &bulk, err);
    if (status) return status;
    say_data(session, model, &bulk.multiples);
    nb6_stars_announce(&session->progress, settled, &model->data, &bulk, &session->sim->run.units);
    return NBC_OK;
}

/* Everything of a new run that comes after its input is known to be good. */
static int start_new(struct nb6_session *session, const struct nb6_config *settled, struct nb6_model *model,
                     const struct nb6_run_options *options, struct nbc_error *err)
{
    const struct nb6_run_config *config = &session->sim->run.config.run;
    int status = options->overwrite ? nb6_run_names_check(&session->names, 1, err) : NBC_OK;
    if (!status && config->write_data_table) status = nb6_model_write_table(model, session->names.table, err);
    if (!status) status = say_stars(session, settled, model, err);
    nb6_model_free(model); /* not needed during the run */
    start_clock(session, options);
    say_start(session, session->names.prefix);
    if (!status) status = nb6_session_open_files(session, NULL, err);
    session->checkpoint_wanted = config->checkpoint_interval_s > 0; /* from then on, the run can be resumed */
    return status ? status : nb6_session_evolve(session, err);
}

/* Two ends may have been given. */
static void say_end(struct nb6_session *session, const struct nb6_config *asked)
{
    char text[NB6_END_TEXT];
    if (nb6_config_tell_end(asked, session->sim->run.units.time_myr, text))
        nb6_progress_note(&session->progress, "note: %s", text);
}

static int make_new(struct nb6_session *session, const struct nb6_config *config, const struct nb6_run_options *options,
                    struct nbc_error *err)
{
    struct nb6_model model = {0};
    struct nb6_config settled;
    int status = nb6_new_model(config, &settled, &model, err);
    if (status) return status;
    nb6_progress_note(&session->progress, "initial model: %lld stars; first forces and steps ...", (long long)model.n);
    status = advise_device(nb6_new_sim(&settled, &model, &session->sim, err), err);
    if (!status) say_end(session, config);
    if (!status) status = start_new(session, &settled, &model, options, err);
    nb6_model_free(&model);
    return status;
}

int nb6_run_new(const struct nb6_config *config, const struct nb6_run_options *options, struct nbc_error *err)
{
    struct nb6_session session = nb6_session_empty();
    session.profile = options->profile;
    session.progress.quiet = options->quiet;
    int status = nb6_run_names_set(&session.names, config->run.name, err);
    if (!status) status = nb6_run_names_refuse_folder(&session.names, err);
    if (!status) status = nb6_run_lock_take(&session.lock, session.names.lock, err);
    if (!status) status = nb6_run_names_refuse_special(&session.names, err);
    if (!status && config->run.write_data_table) status = nbc_file_refuse_special(session.names.table, err);
    if (!status && !options->overwrite) status = nb6_run_names_check(&session.names, 0, err);
    if (!status) nb6_run_names_sweep(&session.names);
    if (!status) status = make_new(&session, config, options, err);
    nb6_session_close(&session);
    return status;
}

/* ---- resume ---- */

/* A checkpoint: its configuration, with changes, and the lengths of the files of the run. */
struct resumed {
    struct nb6_config written, config;
    struct nb6_run_state state;
    struct nb6_changes changes;
};

static int copy_name(char *to, size_t size, const char *from, const char *option, struct nbc_error *err)
{
    if (!from) return NBC_OK;
    if (nbc_file_name(to, size, from, "")) return nbc_fail(err, NBC_BAD_INPUT, "%s: the text is too long", option);
    return NBC_OK;
}

static int apply_options(struct nb6_config *config, const struct nb6_run_options *options, struct nbc_error *err)
{
    struct nb6_run_config *run = &config->run;
    if (options->t_crit > 0) run->t_crit = options->t_crit;
    if (options->wall_limit_s > 0) run->wall_limit_s = options->wall_limit_s;
    if (options->set_checkpoint_interval) run->checkpoint_interval_s = options->checkpoint_interval_s;
    if (options->force_check) run->force_check = 1;
    int status = copy_name(run->name, sizeof run->name, options->name, "--out", err);
    if (!status) status = copy_name(run->device, sizeof run->device, options->device, "--device", err);
    if (!status)
        status = copy_name(run->irr_backend, sizeof run->irr_backend, options->irr_backend, "--irr-backend", err);
    if (!status && options->engine) status = nb6_input_set(config, "ENGINE", options->engine, err);
    if (!status && options->on_device_loss) status = nb6_input_set(config, "DEVLOSS", options->on_device_loss, err);
    return status;
}

/* Requested changes, and names for the files: those beside the checkpoint unless --out says otherwise. Changes are
 * noted once the lock is held. */
static int prepare(const char *checkpoint, const struct nb6_run_options *options, struct nb6_session *session,
                   struct resumed *resumed, int locked, struct nbc_error *err)
{
    char prefix[NB6_NAME_BYTES];
    struct nb6_config *config = &resumed->config;
    int status =
        nb6_run_take_changes(options, resumed->state.t, locked ? stderr : NULL, config, &resumed->changes, err);
    if (!status && !options->name && nb6_run_names_of_checkpoint(checkpoint, prefix))
        status = copy_name(config->run.name, sizeof config->run.name, prefix, "--resume", err);
    if (!status) status = apply_options(config, options, err);
    if (!status) status = nb6_run_names_set(&session->names, config->run.name, err);
    return status ? status : nb6_run_names_refuse_folder(&session->names, err);
}

/* Older checkpoints do not name the GPUs. */
static int is_backend(const char *written, const char *now)
{
    const size_t length = strlen(written);
    return strncmp(written, now, length) == 0 && (!now[length] || (now[length] == ':' && !strchr(written, ':')));
}

static void say_backends(struct nb6_session *session, const struct nb6_config *written, const char *engine)
{
    const char *reg = written->run.device, *irr = written->run.irr_backend, *engine_now = nb6_engine_name(session->sim);
    const char *irr_now = gpuirr_info(session->sim->irr)->name;
    char reg_now[sizeof written->run.device];
    nb6_regular_name(session->sim->reg, reg_now, sizeof reg_now);
    if (!is_backend(reg, reg_now) || strcmp(irr, irr_now) != 0)
        nb6_progress_warn(&session->progress,
                          "note: the checkpoint was written with the backends %s and %s; with other ones the last bits "
                          "differ from those of an uninterrupted run",
                          reg, irr);
    if (strcmp(engine, engine_now) != 0)
        nb6_progress_warn(&session->progress,
                          "note: the checkpoint was written with the %s engine; with the %s engine the last bits "
                          "differ from those of an uninterrupted run",
                          engine, engine_now);
}

static int tell_changes(struct nb6_session *session, const struct nb6_changes *changes, double t, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int k = 0; k < changes->count && !status; k++) {
        const struct nb6_change *c = &changes->change[k];
        nb6_progress_note(&session->progress, "changed: %s %s -> %s", c->name, c->before, c->after);
        status = nb6_log_change(&session->log, c->name, c->before, c->after, t, err);
    }
    session->checkpoint_wanted |= changes->count > 0; /* a run resumed from it has the changes */
    return status;
}

static void warn_of_short_steps(struct nb6_session *session)
{
    const struct nb6_sim *sim = session->sim;
    char text[NB6_ADVICE_ROOM];
    const double left = sim->run.config.run.t_crit - nb6_time_now(sim);
    if (nb6_advise_short_steps(&sim->run.config, sim->n, sim->subsystems.count, left, text))
        nb6_progress_warn(&session->progress, "warning: %s", text);
}

static int say_resumed_stars(struct nb6_session *session, struct nbc_error *err)
{
    nb6_t *sim = session->sim;
    struct nb6_frame frame;
    if (session->progress.quiet) return NBC_OK;
    int status = nb6_frame_make(sim, sim->ti_reached, 0, &frame, err);
    if (status) return status;
    status = nb6_stars_announce_frame(&session->progress, &frame, &sim->run.units, err);
    nb6_frame_free(&frame);
    return status;
}

static int continue_run(struct nb6_session *session, const char *checkpoint, const struct resumed *resumed,
                        const struct nb6_run_options *options, struct nbc_error *err)
{
    const struct nb6_run_state *state = &resumed->state;
    const double t = nb6_time_now(session->sim), end = session->sim->run.config.run.t_crit,
                 tick = nb6_time_to_double(1);
    if ((options->t_crit > 0 || end != resumed->written.run.t_crit) && end < t)
        return nbc_fail(err, NBC_BAD_INPUT, "%s %.10g: %s is at t = %.10g already",
                        options->t_crit > 0 ? "--tcrit" : "TCRIT =", end, checkpoint, t);
    /* A run that was stopped at its last block still has to write the output due at the end. */
    if (nb6_time_to_double(session->sim->run.book.ti_ended) >= end - tick) {
        nb6_progress_note(&session->progress, "%s: the run has reached its end, t = %.10g; --tcrit T takes it further",
                          checkpoint, t);
        return NBC_OK;
    }
    int status = say_resumed_stars(session, err);
    say_start(session, checkpoint);
    if (!status) status = nb6_session_open_files(session, state, err);
    if (!status && strcmp(state->engine, nb6_engine_name(session->sim)) != 0)
        status = nb6_log_engine(&session->log, nb6_engine_name(session->sim), t, err);
    if (!status) status = tell_changes(session, &resumed->changes, t, err);
    if (!status) warn_of_short_steps(session);
    return status ? status : nb6_session_evolve(session, err);
}

/* Read the checkpoint, with the requested changes, under the lock of the name. The name is known from the checkpoint,
 * which the run that holds the lock may replace: so it is read again. */
static int read_locked(const char *checkpoint, const struct nb6_run_options *options, struct nb6_session *session,
                       struct resumed *resumed, struct nbc_error *err)
{
    for (int locked = 0;; locked = 1) {
        int status = nb6_checkpoint_read_config(checkpoint, &resumed->written, &resumed->state, err);
        resumed->config = resumed->written;
        if (!status) status = prepare(checkpoint, options, session, resumed, locked, err);
        if (status || locked) return status;
        status = nb6_run_lock_take(&session->lock, session->names.lock, err);
        if (status) return status;
    }
}

int nb6_run_resume(const char *checkpoint, const struct nb6_run_options *options, struct nbc_error *err)
{
    struct nb6_session session = nb6_session_empty();
    struct resumed resumed = {.changes.count = 0};
    session.profile = options->profile;
    session.progress.quiet = options->quiet;
    int status = read_locked(checkpoint, options, &session, &resumed, err);
    if (!status) status = nb6_run_names_refuse_special(&session.names, err);
    if (!status) status = nb6_run_owner_check(&session.names, resumed.state.id, checkpoint, err);
    if (!status) nb6_run_names_sweep(&session.names);
    if (!status) status = advise_device(nb6_restore_changed(&session.sim, checkpoint, &resumed.config, err), err);
    if (!status) {
        memcpy(session.sim->run.id, resumed.state.id, sizeof session.sim->run.id);
        start_clock(&session, options);
        say_backends(&session, &resumed.written, resumed.state.engine);
        if (strcmp(checkpoint, session.names.checkpoint) == 0) session.checkpoint_t = nb6_time_now(session.sim);
        status = continue_run(&session, checkpoint, &resumed, options, err);
    }
    nb6_session_close(&session);
    return status;
}

/* ---- the model alone ---- */

static int write_model(const struct nb6_config *config, const struct nb6_model *model,
                       const struct nb6_run_names *names, struct nbc_error *err)
{
    struct nb6_run_record run = {.config = *config,
                                 .units = nb6_units_from(config->rbar_pc, config->zmbar_msun, model->n),
                                 .properties = model->properties};
    int status = nb6_external_make(config, &run.units, &run.external, err);
    if (status) return status;
    const struct nb6_frame frame = {
        .n = model->n, .name = model->name, .mass = model->mass, .x = model->x, .v = model->v};
    status = nb6_run_snapshot_write(names->initial, &frame, &run, 0, err);
    return status ? status : nb6_model_write_table(model, names->table, err);
}

int nb6_run_init_only(const struct nb6_config *config, const struct nb6_run_options *options, struct nbc_error *err)
{
    struct nb6_run_names names;
    struct nb6_model model = {0};
    struct nb6_config settled;
    int status = nb6_run_names_set(&names, config->run.name, err);
    if (!status) status = nb6_run_names_refuse_folder(&names, err);
    if (!status) status = nbc_file_refuse_special(names.initial, err);
    if (!status) status = nbc_file_refuse_special(names.table, err);
    if (status) return status;
    if (!options->overwrite && (nbc_file_exists(names.initial) || nbc_file_exists(names.table)))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s exists; --out NAME gives the model another name, --overwrite replaces it",
                        nbc_file_exists(names.initial) ? names.initial : names.table);
    status = nb6_new_model(config, &settled, &model, err);
    if (status) return status;
    status = write_model(&settled, &model, &names, err);
    if (!status && !options->quiet) printf("%s and %s: %lld stars\n", names.initial, names.table, (long long)model.n);
    nb6_model_free(&model);
    return status;
}
