/** Back to the last adjust with smaller steps when the energy error of an interval is too large (KZ(2) > 1). The state
 *  after each adjust is kept in NAME.retry.h5, a checkpoint, so that where the run goes back to does not follow the
 *  clock. Private to run*.c. */
#ifndef NB6_RUN_RETRY_H
#define NB6_RUN_RETRY_H

#include "common/nbc.h"

struct nb6_run_state;
struct nb6_session;

/** Keep the state, which is that after an adjust.   @param[in] files  their lengths   @return NBC_OK; NBC_FILE */
int nb6_retry_keep(struct nb6_session *session, const struct nb6_run_state *files, struct nbc_error *err);

/** After NBC_ENERGY: may the interval be done again? At most config.run.energy_retries times, and only if its beginning
 *  was kept, by this session or an earlier one. */
int nb6_retry_is_possible(const struct nb6_session *session);

/** The session goes on from the beginning of the interval with half of ETAI and ETAR, as log and stdout report; files
 *  are cut back.   @param[in,out] err  the error; cleared on success
 *  @return NBC_OK; NBC_FILE; NBC_NO_MEMORY; NBC_DEVICE */
int nb6_retry_go_back(struct nb6_session *session, struct nbc_error *err);

/** The run has reached its end. */
void nb6_retry_forget(struct nb6_session *session);

#endif
