/** One session of a run: the simulation, its files, and the observer that writes them. Private to run*.c. */
#ifndef NB6_RUN_SESSION_H
#define NB6_RUN_SESSION_H

#include "nbody6/app/progress.h"
#include "nbody6/app/run.h"
#include "nbody6/app/run_lock.h"
#include "nbody6/app/run_names.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/textfile.h"
#include "nbody6/state/event.h"

struct nb6_session {
    nb6_t *sim;
    struct nb6_run_names names;
    struct nb6_run_lock lock;
    struct nb6_textfile log, events, escapers;
    struct nb6_run_state polled; /**< lengths of the files when all that was due had been written last */
    struct nb6_progress progress;
    const struct nb6_call_counter *profile; /**< NULL: none is wanted */

    double wall_start;                /**< clock at the start of the session */
    double checkpoint_wall;           /**< clock at the last checkpoint */
    double snapshot_wall;             /**< clock when a snapshot was last brought to the disk; 0: none was */
    int unsynced;                     /**< 1: later snapshots may not be on the disk yet */
    double stop_file_wall;            /**< clock when STOP was last looked for */
    int checkpoint_wanted;            /**< at the next consistent state */
    int retry_wanted;                 /**< an adjust was made: the state after it is kept (run_retry.h) */
    double checkpoint_t;              /**< time of the last checkpoint of this run; < 0: none */
    int64_t snapshots_before;         /**< snapshots when the session began */
    char reason[NB6_NAME_BYTES + 40]; /**< why the run ends before its end; "": it does not */
};

/** A session that has nothing yet. */
struct nb6_session nb6_session_empty(void);

/** Evolve to the end of the run, with all that is written on the way and a checkpoint at the end.
 *  @return as nb6_run_new */
int nb6_session_evolve(struct nb6_session *session, struct nbc_error *err);

/** Close the files, release the simulation, and let go of the lock. */
void nb6_session_close(struct nb6_session *session);

#endif
