#include "nbody6/app/run_files.h"

#include "common/nbc.h"
#include "nbody6/app/progress.h"
#include "nbody6/app/run_names.h"
#include "nbody6/app/run_session.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/events.h"
#include "nbody6/output/log.h"
#include "nbody6/output/textfile.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"

#include <string.h>

static int open_file(struct nb6_session *session, struct nb6_textfile *file, const char *path, int64_t keep,
                     struct nbc_error *err)
{
    int64_t found = 0;
    int status = nb6_textfile_open(file, path, keep, &found, err);
    if (!status && found < keep)
        nb6_progress_warn(
            &session->progress,
            "note: %s has %lld bytes, %lld when the checkpoint was written: what is missing stays missing", path,
            (long long)found, (long long)keep);
    return status;
}

int nb6_session_open_files(struct nb6_session *session, const struct nb6_run_state *state, struct nbc_error *err)
{
    static const struct nb6_run_state fresh;
    const struct nb6_run_names *names = &session->names;
    struct nb6_textfile *log = &session->log, *events = &session->events, *escapers = &session->escapers;
    if (!state) state = &fresh;
    int status = open_file(session, log, names->log, state->log_bytes, err);
    if (!status && log->bytes == 0)
        status = nb6_log_begin(log, session->sim->run.id, nb6_engine_name(session->sim), 0, err);
    if (!status) status = open_file(session, events, names->events, state->events_bytes, err);
    if (!status && events->bytes == 0)
        status = nb6_events_begin(events, nb6_time_now(session->sim), session->sim->run.id, err);
    if (status || !session->sim->run.config.write_escapers) return status;
    status = open_file(session, escapers, names->escapers, state->escapers_bytes, err);
    return status || escapers->bytes
               ? status
               : nb6_escapers_begin(escapers, session->sim->run.id, session->sim->ageing != NULL, err);
}

int nb6_session_sync_files(struct nb6_session *session, struct nbc_error *err)
{
    int status = nb6_textfile_sync(&session->log, err);
    if (!status) status = nb6_textfile_sync(&session->events, err);
    return status ? status : nb6_textfile_sync(&session->escapers, err);
}

struct nb6_run_state nb6_session_files(const struct nb6_session *session)
{
    struct nb6_run_state state = {.log_bytes = session->log.bytes,
                                  .events_bytes = session->events.bytes,
                                  .escapers_bytes = session->escapers.fd < 0 ? 0 : session->escapers.bytes};
    memcpy(state.id, session->sim->run.id, sizeof state.id);
    return state;
}

void nb6_session_close_files(struct nb6_session *session)
{
    nb6_textfile_close(&session->log);
    nb6_textfile_close(&session->events);
    nb6_textfile_close(&session->escapers);
}
