/** The files of a session that grow: log, events, escapers. Private to run*.c. */
#ifndef NB6_RUN_FILES_H
#define NB6_RUN_FILES_H

#include "nbody6/app/run_session.h"
#include "nbody6/output/checkpoint.h"

/** Open them; `state` NULL: as new files, else cut back to it. Shorter ones are only noted.
 *  @return NBC_OK; NBC_FILE */
int nb6_session_open_files(struct nb6_session *session, const struct nb6_run_state *state, struct nbc_error *err);
/** Bring everything to the disk. */
int nb6_session_sync_files(struct nb6_session *session, struct nbc_error *err);
/** Their lengths and the id of their run, for checkpoints. */
struct nb6_run_state nb6_session_files(const struct nb6_session *session);
void nb6_session_close_files(struct nb6_session *session);

#endif
