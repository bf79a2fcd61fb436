#include "nbody6/app/run_retry.h"

#include "common/nbc.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/run_files.h"
#include "nbody6/app/run_names.h"
#include "nbody6/app/run_session.h"
#include "nbody6/input/config.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/log.h"
#include "nbody6/output/restore.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int nb6_retry_keep(struct nb6_session *session, const struct nb6_run_state *files, struct nbc_error *err)
{
    int status = nb6_bring_home(session->sim, err);
    if (!status) status = nb6_checkpoint_write_run(session->names.retry, NULL, session->sim, files, err);
    if (!status) session->retry_wanted = 0;
    return status;
}

/* The file may be that of another run or time: of a run that was continued from an older checkpoint. It is the right
 * one if as many adjusts had been made as now. */
int nb6_retry_is_possible(const struct nb6_session *session)
{
    const nb6_t *sim = session->sim;
    struct nb6_config config;
    struct nb6_run_state state;
    struct nbc_error ignored = {0};
    if (sim->book.energy_tries >= sim->run.config.run.energy_retries) return 0;
    if (nb6_checkpoint_read_config(session->names.retry, &config, &state, &ignored)) return 0;
    return strcmp(state.id, sim->run.id) == 0 && state.adjusts == sim->run.book.adjust_count;
}

/* The present configuration with smaller steps, and with the backends that wrote the file, so that bits stay the
 * same. */
static void change_steps(const struct nb6_config *written, struct nb6_config *config)
{
    config->integration.eta_irr *= 0.5;
    config->integration.eta_reg *= 0.5;
    memcpy(config->run.device, written->run.device, sizeof config->run.device);
    memcpy(config->run.irr_backend, written->run.irr_backend, sizeof config->run.irr_backend);
}

static int restore(struct nb6_session *session, const struct nb6_config *now, int64_t tries, struct nb6_config *written,
                   struct nb6_run_state *state, struct nbc_error *err)
{
    struct nb6_config config = *now;
    nb6_t *made = NULL;
    int status = nb6_checkpoint_read_config(session->names.retry, written, state, err);
    if (status) return status;
    change_steps(written, &config);
    status = nb6_restore_changed(&made, session->names.retry, &config, err);
    if (status) return status;
    nb6_free(session->sim);
    session->sim = made;
    memcpy(made->run.id, state->id, sizeof made->run.id);
    made->book.energy_tries = tries;
    return NBC_OK;
}

static int tell_step_factor(struct nb6_session *session, const char *name, double before, double after,
                            struct nbc_error *err)
{
    char was[32], is[32];
    snprintf(was, sizeof was, "%.12g", before);
    snprintf(is, sizeof is, "%.12g", after);
    nb6_progress_note(&session->progress, "changed: %s %s -> %s", name, was, is);
    return nb6_log_change(&session->log, name, was, is, nb6_time_now(session->sim), err);
}

static int reopen(struct nb6_session *session, const struct nb6_run_state *state, struct nbc_error *err)
{
    nb6_session_close_files(session);
    return nb6_session_open_files(session, state, err);
}

int nb6_retry_go_back(struct nb6_session *session, struct nbc_error *err)
{
    const struct nb6_config before = session->sim->run.config;
    struct nb6_config written;
    const int64_t tries = session->sim->book.energy_tries + 1;
    const double t_failed = nb6_time_now(session->sim);
    struct nbc_error why = err ? *err : (struct nbc_error){.text = ""};
    struct nb6_run_state state;
    int status = restore(session, &before, tries, &written, &state, err);
    if (!status) status = reopen(session, &state, err);
    if (status) return status;
    nb6_progress_warn(&session->progress, "warning: %s; back to t = %.12g, try %lld of %d", why.text, state.t,
                      (long long)tries, before.run.energy_retries);
    status = nb6_log_again(&session->log, state.t, t_failed, err);
    /* The log, cut back, has no earlier try: it continues from the state. */
    const struct nb6_integration_config *was = &written.integration, *is = &session->sim->run.config.integration;
    if (!status) status = tell_step_factor(session, "ETAI", was->eta_irr, is->eta_irr, err);
    if (!status) status = tell_step_factor(session, "ETAR", was->eta_reg, is->eta_reg, err);
    session->retry_wanted = 0;      /* the row was that of the adjust that failed */
    session->checkpoint_wanted = 1; /* a run resumed from it has them */
    if (!status && err) err->text[0] = 0;
    return status;
}

void nb6_retry_forget(struct nb6_session *session)
{
    if (unlink(session->names.retry) == 0) session->retry_wanted = 0;
}
